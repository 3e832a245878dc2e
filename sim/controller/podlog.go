package controller

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// PodLogs takes the output of containers, for an API server that serves the logs of pods.
type PodLogs interface {
	// SetLog sets all lines that a container of a pod has written so far.
	SetLog(namespace, pod, container string, lines []string)
}

// rockoonContainer is the container whose log operators read during an update (docs/mosk.md#rockoon).
const rockoonContainer = "nodemaintenancerequest"

// keptLines is how many lines of a log an operator can read back.
const keptLines = 500

// podLog is the log of the OpenStack controller: it goes to the common log of all controllers and to the log of its
// pod.
type podLog struct {
	slog.Handler
	env  *env
	logs PodLogs

	kept *lines
}

// lines holds the last lines of a log.
type lines struct {
	mu  sync.Mutex
	all []string
}

// Enabled is true for the levels that the real controller logs: all except debug.
func (l podLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle writes one line, in the form of Python's logging.
func (l podLog) Handle(ctx context.Context, record slog.Record) error {
	at := l.env.clock.Now().UTC()
	level := strings.Replace(record.Level.String(), "WARN", "WARNING", 1)
	line := fmt.Sprintf("%s,%03d [%s] rockoon.controllers.maintenance: %s", at.Format("2006-01-02 15:04:05"), at.Nanosecond()/1e6, level,
		record.Message)
	record.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	l.kept.mu.Lock()
	l.kept.all = append(l.kept.all, line)
	if extra := len(l.kept.all) - keptLines; extra > 0 {
		l.kept.all = l.kept.all[extra:]
	}
	for _, object := range l.env.view.mirrors[podsResource].List() {
		if pod, ok := object.(*corev1.Pod); ok && pod.Namespace == rockoonNamespace && pod.DeletionTimestamp == nil &&
			strings.HasPrefix(pod.Name, rockoonDeployment+"-") {
			l.logs.SetLog(pod.Namespace, pod.Name, rockoonContainer, l.kept.all)
		}
	}
	l.kept.mu.Unlock()
	if !l.Handler.Enabled(ctx, record.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, record)
}

// logging returns the environment with a log that the controller's pod shows, too.
func (e *env) logging(logs PodLogs) *env {
	if logs == nil {
		return e
	}
	own := *e
	own.log = slog.New(podLog{Handler: e.log.Handler(), env: e, logs: logs, kept: &lines{}})
	return &own
}
