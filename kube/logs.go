package kube

import (
	"context"
	"log/slog"
	"sync"

	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// RedirectLogs sends everything that client-go and its libraries would write to standard error to logger instead: klog, the
// servers' warning headers, and errors that have no caller. Call it once, before Load: it changes these libraries' own global
// state.
func RedirectLogs(logger *slog.Logger) {
	klog.LogToStderr(false)
	klog.SetSlogLogger(logger)
	rest.SetDefaultWarningHandlerWithContext(&warnings{log: logger, seen: map[string]bool{}})
	runtime.ErrorHandlers = []runtime.ErrorHandler{
		func(_ context.Context, err error, msg string, _ ...any) {
			logger.Error("client-go: "+msg, "err", err)
		},
	}
}

// warnings logs each text that servers send with a Warning header once.
type warnings struct {
	log *slog.Logger

	mu   sync.Mutex
	seen map[string]bool
}

// maxWarnings bounds the memory for a server that never warns twice in the same words.
const maxWarnings = 256

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	// 299 is the only code that API servers use (RFC 9110 5.5 retired the header, Kubernetes kept it).
	if code != 299 || text == "" {
		return
	}
	w.mu.Lock()
	known := w.seen[text]
	if !known && len(w.seen) < maxWarnings {
		w.seen[text] = true
	}
	w.mu.Unlock()
	if !known {
		w.log.Warn("the API server warns", "text", cut(text))
	}
}
