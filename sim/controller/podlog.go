package controller

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
)

// PodLogs takes the output of containers, for an API server that serves the logs of pods.
type PodLogs interface {
	// WriteLog adds a line to what a container of a workload's pods has written, on a node or (empty) wherever they run.
	WriteLog(namespace, workload, node, container, text string)
}

// Containers of the OpenStack controller whose logs operators read during an update (docs/mosk.md#rockoon).
const (
	rockoonContainer = "nodemaintenancerequest"
	nodeContainer    = "node"
)

// loggerKey is the attribute that names the logger of a line.
const loggerKey = "logger"

// podLog is the log of a controller: it goes to the common log of all controllers and to the log of its pod.
type podLog struct {
	slog.Handler
	write func(record slog.Record)
}

// Enabled is true for the levels that the real controllers log: all except debug.
func (l podLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle writes one line.
func (l podLog) Handle(ctx context.Context, record slog.Record) error {
	l.write(record)
	if !l.Handler.Enabled(ctx, record.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, record)
}

// attributes are the logger of a record and what else it says.
func attributes(record slog.Record, logger string) (name, text string) {
	text = record.Message
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == loggerKey {
			logger = a.Value.String()
		} else {
			text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		}
		return true
	})
	return logger, text
}

// lcmLogging returns LCM's environment with a log that its pod shows, too: in the form of klog, since no document shows the real one.
func (e *env) lcmLogging(logs PodLogs) *env {
	if logs == nil {
		return e
	}
	own := *e
	own.log = slog.New(podLog{Handler: e.log.Handler(), write: func(record slog.Record) {
		_, text := attributes(record, "")
		logs.WriteLog(lcmNamespace, lcmWorkload, "", lcmWorkload, fmt.Sprintf("%c%s       1 lcm] %s", record.Level.String()[0],
			e.clock.Now().UTC().Format("0102 15:04:05.000000"), text))
	}})
	return &own
}

// Where LCM runs on the management cluster (docs/mosk.md#when-it-hangs).
const (
	lcmNamespace = "kaas"
	lcmWorkload  = "lcm-controller"
)

// logging returns the environment with a log that the controller's pod shows, too, in the form of Python's logging. What kopf calls
// for nodes runs in a container of its own.
func (e *env) logging(logs PodLogs) *env {
	if logs == nil {
		return e
	}
	own := *e
	own.log = slog.New(podLog{Handler: e.log.Handler(), write: func(record slog.Record) {
		at := e.clock.Now().UTC()
		logger, text := attributes(record, "rockoon.controllers.maintenance")
		container := rockoonContainer
		if strings.HasPrefix(text, "Acquired NodeWorkloadLock") || strings.HasPrefix(text, "Removing nodeworkloadlock") {
			container, logger = nodeContainer, "rockoon.controllers.node"
		}
		level := strings.Replace(record.Level.String(), "WARN", "WARNING", 1)
		logs.WriteLog(rockoonNamespace, rockoonDeployment, "", container, fmt.Sprintf("%s,%03d [%s] %s: %s",
			at.Format("2006-01-02 15:04:05"), at.Nanosecond()/1e6, level, logger, text))
	}})
	return &own
}
