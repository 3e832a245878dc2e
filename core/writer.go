package core

import (
	"context"
	"fmt"
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
	case SetLock, SetInnerState, CreateLock, CreateRequest, DeleteObject, RemoveFinalizer:
		if e.cfg.Kubernetes == nil {
			return nil, refuse("there is no Kubernetes API to write to")
		}
		return e.objectWriter(step, c), nil
	case RestartPod:
		if e.cfg.Kubernetes == nil {
			return nil, refuse("there is no Kubernetes API to write to")
		}
		return &podWriter{e: e, change: c}, nil
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

// annotationWriter sets a node's annotation.
type annotationWriter struct {
	e      *Engine
	step   Step
	change SetNodeAnnotation
}

func (w *annotationWriter) check(ctx context.Context) error {
	if w.step.Intent.Kind == IntentDeclareSafe {
		if err := w.e.hostIsSafe(ctx, w.change.Node.Name); err != nil {
			return err
		}
	}
	return w.e.cfg.Kubernetes.SetNodeAnnotation(ctx, w.change.Node, w.change.Key, w.change.Old, w.change.New, true)
}

// hostIsSafe asks Nova itself, right before the node is let go: after it, whatever still runs there goes down with the host.
func (e *Engine) hostIsSafe(ctx context.Context, node string) error {
	if e.cfg.OpenStack == nil {
		return refuse("Nova cannot be asked what is on the host")
	}
	s := e.Snapshot()
	host := s.HostOf(node)
	found, err := e.cfg.OpenStack.InstancesOf(ctx, host)
	if err != nil {
		return err
	}
	var names []string
	for _, v := range s.withInstances(host, found).inTheWay(node) {
		names = append(names, instanceLabel(v.Instance))
	}
	if len(names) > 0 {
		return refuse("Nova still shows on %s: %s", s.Label(node), clip(strings.Join(names, ", "), 300))
	}
	return nil
}

func (w *annotationWriter) write(ctx context.Context) error {
	return w.e.cfg.Kubernetes.SetNodeAnnotation(ctx, w.change.Node, w.change.Key, w.change.Old, w.change.New, false)
}

func (w *annotationWriter) outcome(ctx context.Context, _ time.Time) outcome {
	v, err := w.e.cfg.Kubernetes.NodeAnnotation(ctx, w.change.Node, w.change.Key)
	if err != nil {
		return outcome{err: err}
	}
	if equalText(v, w.change.New) {
		return outcome{state: OperationDone, text: "the node shows " + annotationText(w.change.Key, v)}
	}
	return outcome{state: OperationVerifying, text: "the node shows " + annotationText(w.change.Key, v)}
}

func (w *annotationWriter) values() (string, string) {
	return textOr(w.change.Old, "(not set)"), textOr(w.change.New, "(not set)")
}

func annotationText(key string, v *string) string {
	_, short, _ := strings.Cut(key, "/")
	return short + "=" + textOr(v, "(not set)")
}

func textOr(v *string, or string) string {
	if v == nil {
		return or
	}
	return *v
}

// serviceWriter enables or disables a compute service.
type serviceWriter struct {
	nova   OpenStackWriter
	change SetComputeService
	before func(context.Context) error // what else has to hold; may be nil
}

func (w *serviceWriter) check(ctx context.Context) error {
	if w.before != nil {
		if err := w.before(ctx); err != nil {
			return err
		}
	}
	svc, err := w.nova.ComputeService(ctx, w.change.Service.Name)
	if err != nil {
		return err
	}
	switch {
	case svc.ID != w.change.Service.UID:
		return refuse("nova-compute of %s is another service now (%s)", svc.Host, svc.ID)
	case svc.Enabled != w.change.WasEnabled || svc.DisabledReason != w.change.WasReason:
		return refuse("nova-compute of %s has changed: %s", svc.Host, serviceText(svc))
	}
	return nil
}

func (w *serviceWriter) write(ctx context.Context) error {
	return w.nova.SetComputeService(ctx, w.change.Service.UID, w.change.Enabled, w.change.Reason)
}

func (w *serviceWriter) outcome(ctx context.Context, _ time.Time) outcome {
	svc, err := w.nova.ComputeService(ctx, w.change.Service.Name)
	if err != nil {
		return outcome{err: err}
	}
	if svc.Enabled == w.change.Enabled && (svc.Enabled || svc.DisabledReason == w.change.Reason) {
		return outcome{state: OperationDone, text: "nova-compute is " + serviceText(svc)}
	}
	return outcome{state: OperationVerifying, text: "nova-compute is " + serviceText(svc)}
}

func (w *serviceWriter) values() (string, string) {
	return serviceText(&ComputeService{Enabled: w.change.WasEnabled, DisabledReason: w.change.WasReason}),
		serviceText(&ComputeService{Enabled: w.change.Enabled, DisabledReason: w.change.Reason})
}

func serviceText(s *ComputeService) string {
	if s.Enabled {
		return "enabled"
	}
	if s.DisabledReason == "" {
		return "disabled, without a reason"
	}
	return "disabled: " + s.DisabledReason
}

// instanceWriter does one of Nova's actions on one instance.
type instanceWriter struct {
	nova   OpenStackWriter
	change InstanceAction
	basis  []Fact // of the step
	now    func() time.Time
	settle time.Duration
	label  func(host string) string // what people call the host's node

	known int  // the newest migration record before the write
	begun bool // the action was seen to have begun
}

func (w *instanceWriter) check(ctx context.Context) error {
	in, err := w.nova.Instance(ctx, w.change.Instance.UID)
	if err != nil {
		return err
	}
	switch w.change.Do {
	case IntentAbortMigration, IntentForceComplete:
		m, err := w.migration(ctx, w.change.MigrationID)
		if err != nil {
			return err
		}
		if m == nil || !m.Running() {
			return refuse("migration %d of %s has ended", w.change.MigrationID, in.Name)
		}
		return nil
	}
	switch {
	case in.Host != w.change.Host:
		return refuse("%s is on %s now, not on %s", in.Name, w.label(in.Host), w.label(w.change.Host))
	case in.Status != w.change.Status:
		return refuse("%s is %s now, not %s", in.Name, in.Status, w.change.Status)
	case in.TaskState != "":
		return refuse("%s is busy: %s", in.Name, in.TaskState)
	case instanceRules[w.change.Do].runs && in.Power != PowerRunning:
		return refuse("the guest of %s does not run now: power state %s", in.Name, in.Power)
	}
	if changed := changedFrom(w.basis, in); changed != "" { // its owner's tag above all
		return refuse("%s has changed: %s", in.Name, changed)
	}
	if instanceRules[w.change.Do].dead {
		if err := w.hostIsDead(ctx, in.Host); err != nil {
			return err
		}
	}
	ms, err := w.nova.MigrationsOf(ctx, in.ID)
	if err != nil {
		return err
	}
	for _, m := range ms {
		w.known = max(w.known, m.ID)
	}
	return nil
}

// hostIsDead asks Nova itself whether nova-compute of the host is down.
func (w *instanceWriter) hostIsDead(ctx context.Context, host string) error {
	svc, err := w.nova.ComputeService(ctx, host)
	switch {
	case err != nil:
		return err
	case svc.Up && !svc.ForcedDown:
		return refuse("nova-compute of %s is up now", w.label(host))
	}
	return nil
}

func (w *instanceWriter) write(ctx context.Context) error {
	id := w.change.Instance.UID
	switch w.change.Do {
	case IntentLiveMigrate:
		return w.nova.LiveMigrate(ctx, id)
	case IntentColdMigrate:
		return w.nova.ColdMigrate(ctx, id)
	case IntentConfirmResize:
		return w.nova.ConfirmResize(ctx, id)
	case IntentRevertResize:
		return w.nova.RevertResize(ctx, id)
	case IntentStop:
		return w.nova.Stop(ctx, id)
	case IntentStart:
		return w.nova.Start(ctx, id)
	case IntentResume:
		return w.nova.Resume(ctx, id)
	case IntentResetState:
		return w.nova.ResetState(ctx, id)
	case IntentShelve:
		return w.nova.Shelve(ctx, id)
	case IntentUnshelve:
		return w.nova.Unshelve(ctx, id)
	case IntentEvacuate:
		return w.nova.Evacuate(ctx, id)
	case IntentAbortMigration:
		return w.nova.AbortMigration(ctx, id, w.change.MigrationID)
	case IntentForceComplete:
		return w.nova.ForceCompleteMigration(ctx, id, w.change.MigrationID)
	}
	return refuse("%q is no action on an instance", w.change.Do)
}

func (w *instanceWriter) outcome(ctx context.Context, began time.Time) outcome {
	in, err := w.nova.Instance(ctx, w.change.Instance.UID)
	if err != nil {
		return outcome{err: err}
	}
	switch w.change.Do {
	case IntentLiveMigrate, IntentColdMigrate:
		return w.migrated(ctx, in)
	case IntentEvacuate:
		return w.rebuilt(ctx, in)
	case IntentAbortMigration, IntentForceComplete:
		return w.settled(ctx, in)
	}
	return w.stateReached(ctx, in, began)
}

// migrated judges a live or cold migration. Only the instance says where it is: a record can say "completed" too early,
// and be all that tells of a failure.
func (w *instanceWriter) migrated(ctx context.Context, in *Instance) outcome {
	m, err := w.newest(ctx)
	if err != nil {
		return outcome{err: err}
	}
	live := w.change.Do == IntentLiveMigrate
	switch {
	case in.Status == "ERROR":
		return outcome{state: OperationFailed, text: "the instance is in ERROR on " + w.label(in.Host) + because(in.Fault)}
	case live && in.Host != w.change.Host && in.TaskState == "" && (m == nil || !m.Running()):
		return outcome{state: OperationDone, text: "runs on " + w.label(in.Host)}
	case !live && in.Status == "VERIFY_RESIZE" && in.TaskState == "":
		return outcome{state: OperationDone, text: "is on " + w.label(in.Host) + "; the migration waits to be confirmed or reverted"}
	case in.TaskState == "" && m != nil && m.Status == "cancelled":
		return outcome{state: OperationFailed, text: "the migration was aborted; it is still on " + w.label(in.Host)}
	case in.TaskState == "" && m != nil && m.Failed():
		return outcome{state: OperationFailed, again: live, text: "the migration failed" + because(m.Failure) + "; it is still on " + w.label(in.Host)}
	case m != nil && m.Running():
		w.begun = true
		return outcome{state: OperationVerifying, moving: true, text: w.progress(m)}
	case in.TaskState != "" || in.Status == "MIGRATING" || in.Status == "RESIZE":
		w.begun = true
		return outcome{state: OperationVerifying, moving: true, text: strings.ToLower(in.Status) + ", " + in.TaskState}
	}
	text := "Nova took the migration, but the instance does not move from " + w.label(in.Host)
	if w.begun {
		text = "the migration ended, and the instance is still on " + w.label(in.Host)
	}
	return outcome{state: OperationVerifying, text: text}
}

// rebuilt judges an evacuation: the instance is on another host, and nothing is done with it any more.
func (w *instanceWriter) rebuilt(ctx context.Context, in *Instance) outcome {
	m, err := w.newest(ctx)
	if err != nil {
		return outcome{err: err}
	}
	switch {
	case in.TaskState != "" || m != nil && m.Running():
		w.begun = true
		return outcome{state: OperationVerifying, moving: true, text: textOf(in.TaskState, "it is being rebuilt")}
	case in.Host != w.change.Host && in.Host != "" && in.Status != "ERROR":
		return outcome{state: OperationDone, text: "is " + in.Status + " on " + w.label(in.Host)}
	case m != nil && m.Failed() || in.Status == "ERROR" && w.change.Status != "ERROR":
		text := "it was not rebuilt"
		if m != nil {
			text += because(m.Failure)
		}
		return outcome{state: OperationFailed, text: text + because(in.Fault)}
	}
	return outcome{state: OperationVerifying, text: "Nova took it, but the instance is on " + w.label(in.Host) + " still"}
}

// settled judges an abort or a force-complete: the migration has to come to its end.
func (w *instanceWriter) settled(ctx context.Context, in *Instance) outcome {
	m, err := w.migration(ctx, w.change.MigrationID)
	if err != nil {
		return outcome{err: err}
	}
	if m != nil && m.Running() || in.TaskState == "migrating" {
		// An abort is a request: Nova may take its time, or the migration may end first. Both are an end.
		text := "the migration still runs"
		if m != nil {
			text = w.progress(m)
		}
		return outcome{state: OperationVerifying, moving: w.change.Do == IntentForceComplete, text: text}
	}
	aborted := m == nil || m.Status == "cancelled"
	switch {
	case w.change.Do == IntentAbortMigration && aborted:
		return outcome{state: OperationDone, text: "aborted; it runs on " + w.label(in.Host)}
	case w.change.Do == IntentAbortMigration && in.Host == w.change.Host:
		return outcome{state: OperationDone, text: "the migration ended as " + m.Status + "; it is on " + w.label(in.Host)}
	case w.change.Do == IntentAbortMigration:
		return outcome{state: OperationFailed, text: "too late: the migration was completed, it runs on " + w.label(in.Host)}
	case in.Host != w.change.Host:
		return outcome{state: OperationDone, text: "runs on " + w.label(in.Host)}
	}
	return outcome{state: OperationFailed, text: fmt.Sprintf("the migration ended%s; it is still on %s", statusOf(m), w.label(in.Host))}
}

func statusOf(m *Migration) string {
	if m == nil {
		return ""
	}
	return " as " + m.Status + because(m.Failure)
}

// stateReached judges the actions that end in a state of the instance.
func (w *instanceWriter) stateReached(ctx context.Context, in *Instance, began time.Time) outcome {
	var ok bool
	switch w.change.Do {
	case IntentConfirmResize:
		ok = in.Status == "ACTIVE" || in.Status == "SHUTOFF"
	case IntentRevertResize:
		ok = in.Status == "ACTIVE" || in.Status == "SHUTOFF"
	case IntentStop:
		ok = in.Status == "SHUTOFF"
	case IntentStart, IntentResume, IntentResetState, IntentUnshelve:
		ok = in.Status == "ACTIVE"
	case IntentShelve:
		ok = in.Status == "SHELVED" || in.Status == "SHELVED_OFFLOADED"
	}
	switch {
	case in.Status == "ERROR" && w.change.Do != IntentResetState:
		return outcome{state: OperationFailed, text: "the instance is in ERROR" + because(in.Fault)}
	case ok && in.TaskState == "":
		if in.Host == "" {
			return outcome{state: OperationDone, text: "is " + in.Status + ", on no host"}
		}
		return outcome{state: OperationDone, text: "is " + in.Status + " on " + w.label(in.Host)}
	case in.TaskState != "":
		return outcome{state: OperationVerifying, moving: true, text: in.TaskState}
	case w.change.Do == IntentConfirmResize:
		return w.confirming(ctx, in, began)
	}
	return outcome{state: OperationVerifying, text: "Nova took it, but the instance is " + in.Status + " still"}
}

// confirmPatience is how long the source of a cold migration may take to clean up before that is no sign of progress any
// more: the request to it may have been lost.
const confirmPatience = 10 * time.Minute

// confirming judges a confirmation that is not through. Nova sets no task state for it; only the record tells that the
// source is being cleaned up.
func (w *instanceWriter) confirming(ctx context.Context, in *Instance, began time.Time) outcome {
	ms, err := w.nova.MigrationsOf(ctx, in.ID)
	if err != nil {
		return outcome{err: err}
	}
	var last *Migration
	for _, m := range ms {
		if last == nil || m.ID > last.ID {
			last = m
		}
	}
	if last != nil && last.Status == "confirming" {
		return outcome{state: OperationVerifying, moving: w.now().Sub(began) < confirmPatience,
			text: "confirming: " + w.label(last.SourceHost) + " is to clean up; the instance is " + in.Status + " until it has"}
	}
	return outcome{state: OperationVerifying, text: "Nova took it, but the instance is " + in.Status + " still"}
}

// newest is the migration record that this write made: the newest one that was not there before; nil when there is none.
func (w *instanceWriter) newest(ctx context.Context) (*Migration, error) {
	ms, err := w.nova.MigrationsOf(ctx, w.change.Instance.UID)
	if err != nil {
		return nil, err
	}
	var found *Migration
	for _, m := range ms {
		if m.ID > w.known && (found == nil || m.ID > found.ID) {
			found = m
		}
	}
	return found, nil
}

func (w *instanceWriter) migration(ctx context.Context, id int) (*Migration, error) {
	ms, err := w.nova.MigrationsOf(ctx, w.change.Instance.UID)
	if err != nil {
		return nil, err
	}
	for _, m := range ms {
		if m.ID == id {
			return m, nil
		}
	}
	return nil, nil
}

func (w *instanceWriter) values() (string, string) {
	return w.change.Status + " on " + textOf(w.change.Host, "no host"), string(w.change.Do)
}

// progress is how a running migration goes.
func (w *instanceWriter) progress(m *Migration) string {
	text := m.Status
	if m.DestHost != "" {
		text += ", to " + w.label(m.DestHost)
	}
	if p := m.Percent(); p >= 0 {
		text += ", " + itoa(p) + " %"
	}
	return text
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return ": " + clip(strings.TrimRight(text, " .\n"), maxRecordText)
}
