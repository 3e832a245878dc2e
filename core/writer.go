package core

import (
	"context"
	"strings"
	"time"
)

// writer does one kind of Change: asks the server itself whether everything is still as the step says, writes, and tells
// from the server how it ended.
type writer interface {
	// check reads from the server, not from what is known, whether the change may be made.
	check(ctx context.Context) error
	write(ctx context.Context) error
	// outcome tells what the server shows now of a write made at began (cluster time).
	outcome(ctx context.Context, began time.Time) outcome
	// values are what the change replaces and what it sets, for the journal.
	values() (from, to string)
}

// outcome is what the server shows of a write.
type outcome struct {
	state  OperationState // an end, or OperationVerifying
	text   string
	moving bool  // something happens: keep looking, however long it takes
	again  bool  // of a failure: it was taken and did not work out, and another try may; never of a refusal or a lost answer
	err    error // the server could not be asked

	at time.Time // when it ended, where that is known of one that nobody watched
}

func (e *Engine) writerFor(step Step, c Change) (writer, error) {
	switch c := c.(type) {
	case SetNodeAnnotation:
		if e.cfg.Kubernetes == nil {
			return nil, refuse("there is no Kubernetes API to write to")
		}
		return &annotationWriter{e: e, step: step, change: c}, nil
	case InstanceAction:
		if e.cfg.OpenStack == nil {
			return nil, refuse("there is no OpenStack API to write to")
		}
		return &instanceWriter{nova: e.cfg.OpenStack, change: c, basis: step.Basis, now: e.cfg.Clock, settle: e.cfg.Settle,
			label: func(host string) string { return e.Snapshot().hostLabel(host) }}, nil
	case SetMaintenanceTags:
		if e.cfg.OpenStack == nil {
			return nil, refuse("there is no OpenStack API to write to")
		}
		return &tagWriter{nova: e.cfg.OpenStack, change: c}, nil
	case SetComputeService:
		if e.cfg.OpenStack == nil {
			return nil, refuse("there is no OpenStack API to write to")
		}
		return &serviceWriter{nova: e.cfg.OpenStack, change: c, before: e.actCheck(step)}, nil
	case SetVolumeService:
		if e.cfg.OpenStack == nil {
			return nil, refuse("there is no OpenStack API to write to")
		}
		return &volumeWriter{cinder: e.cfg.OpenStack, change: c, before: e.actCheck(step), up: step.Intent.Kind == IntentActVolumeIn}, nil
	case SetLock, SetInnerState, CreateLock, CreateRequest, DeleteObject, AddFinalizer, RemoveFinalizer:
		if e.cfg.Kubernetes == nil {
			return nil, refuse("there is no Kubernetes API to write to")
		}
		return e.objectWriter(step, c), nil
	case RestartPod:
		if e.cfg.Kubernetes == nil {
			return nil, refuse("there is no Kubernetes API to write to")
		}
		return &podWriter{e: e, change: c}, nil
	case DeleteClaim:
		if e.cfg.Kubernetes == nil {
			return nil, refuse("there is no Kubernetes API to write to")
		}
		return &claimWriter{e: e, change: c, before: e.actCheck(step)}, nil
	case DeletePod:
		if e.cfg.Kubernetes == nil {
			return nil, refuse("there is no Kubernetes API to write to")
		}
		return &endedPodWriter{e: e, change: c}, nil
	case SetTempest:
		if e.cfg.Kubernetes == nil {
			return nil, refuse("there is no Kubernetes API to write to")
		}
		return &tempestWriter{e: e, change: c}, nil
	case SetMaintenance, RequestReboot:
		return e.managementWriterFor(c)
	}
	return nil, refuse("%s: a change of type %T cannot be done", step.Title, c)
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + clip(strings.TrimRight(text, " .\n"), maxRecordText)
}
