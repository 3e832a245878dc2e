package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// instanceChecker checks one of Nova's actions on one instance.
type instanceChecker struct {
	nova   OpenStackChecker
	kube   KubernetesChecker // nil: there is no cluster
	change core.InstanceAction
	basis  []core.Fact // of the step
	now    func() time.Time
	settle time.Duration
	label  func(host string) string     // the label of the host's node
	node   func(host string) *core.Node // as the last Snapshot has it; nil when the cluster has none
	dead   func(host string) bool       // progress.HostDead, as the last Snapshot has it
	newest func() *core.Migration       // the instance's newest migration record, as the last Snapshot has it; nil when it has none

	known int       // the newest migration record before the write
	since time.Time // where none is known: when the write began, less recordSkew
	begun bool      // the server has shown that the action began
}

// recordSkew is how far Nova's clock may be behind the cluster's: a record that is older than a write by more than that is not the write's.
const recordSkew = 10 * time.Minute

func checkInstance(e *Engine, step core.Step, c core.InstanceAction) checker {
	return &instanceChecker{nova: e.cfg.OpenStack, change: c, basis: step.Basis, now: e.cfg.Clock, settle: e.cfg.Settle,
		kube:   e.cfg.Kubernetes,
		label:  func(host string) string { return progress.HostLabel(e.Snapshot(), host) },
		node:   func(host string) *core.Node { return e.Snapshot().NodeOfHost(host) },
		dead:   func(host string) bool { return progress.HostDead(e.Snapshot(), host) },
		newest: func() *core.Migration { return e.Snapshot().LatestMigration(c.Instance.UID) }}
}

// instanceActions returns one InstanceAction for each action.
func instanceActions() []core.Change {
	var all []core.Change
	for _, kind := range slices.Sorted(maps.Keys(step.InstanceRules)) {
		all = append(all, core.InstanceAction{Do: kind})
	}
	return all
}

func (w *instanceChecker) check(ctx context.Context) error {
	in, err := w.nova.Instance(ctx, w.change.Instance.UID)
	if err != nil {
		return err
	}
	switch w.change.Do {
	case core.IntentAbortMigration, core.IntentForceComplete:
		m, _, err := w.migration(ctx, w.change.MigrationID)
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
	case step.InstanceRules[w.change.Do].Runs && in.Power != core.PowerRunning:
		return refuse("the guest of %s does not run now: power state %s", in.Name, in.Power)
	}
	if changed := step.ChangedFrom(w.basis, in); changed != "" { // above all its owner's tag
		return refuse("%s has changed: %s", in.Name, changed)
	}
	if step.InstanceRules[w.change.Do].Dead {
		if err := w.hostIsDead(ctx, in.Host); err != nil {
			return err
		}
	}
	ms, err := w.nova.MigrationsOf(ctx, in.ID)
	if err != nil {
		return err
	}
	if newest := w.newest(); newest != nil {
		if len(ms) == 0 { // an answer without its cell
			return refuse("Nova shows no migrations of %s now, and has shown one before", in.Name)
		}
		w.known = newest.ID
	}
	for _, m := range ms {
		w.known = max(w.known, m.ID)
	}
	if w.known == 0 {
		w.since = w.now().Add(-recordSkew)
	}
	if step.Decides(w.change.Do) {
		return w.sourceTakesPart(ctx, in, ms)
	}
	return nil
}

// sourceTakesPart asks whether the instance came from where the operator was told, and whether nova-compute is up there: it cleans up, or
// takes the instance back. The records are the instance's, the newest first.
func (w *instanceChecker) sourceTakesPart(ctx context.Context, in *core.Instance, records []*core.Migration) error {
	i := slices.IndexFunc(w.basis, func(f core.Fact) bool { return f.Name == step.SourceFactName })
	switch {
	case len(records) == 0 || records[0].Status != "finished":
		return refuse("Nova shows no migration of %s that waits for a decision", in.Name)
	case i < 0 || records[0].SourceHost != w.basis[i].Value:
		return refuse("%s came from %s, by its record", in.Name, wording.TextOf(w.label(records[0].SourceHost), "no host"))
	}
	svc, err := w.nova.ComputeService(ctx, records[0].SourceHost)
	if err == nil && (!svc.Up || svc.ForcedDown) {
		err = refuse("nova-compute of %s, from where %s came, is %s now", w.label(svc.Host), in.Name, step.UpText(svc))
	}
	return err
}

// hostIsDead asks Nova whether the host's nova-compute is down, and Kubernetes whether its kubelet reports.
func (w *instanceChecker) hostIsDead(ctx context.Context, host string) error {
	svc, err := w.nova.ComputeService(ctx, host)
	switch {
	case err != nil:
		return err
	case svc.Up && !svc.ForcedDown:
		return refuse("nova-compute of %s is up now", w.label(host))
	}
	of := w.node(host)
	if of == nil || w.kube == nil {
		return nil
	}
	n, err := w.kube.Node(ctx, of.Ref())
	switch {
	case err != nil && isGone(err):
		return nil
	case err != nil:
		return err
	case n.Alive():
		return refuse("the kubelet of %s reports now: Ready is %s", w.label(host), n.Ready)
	}
	return nil
}

func (w *instanceChecker) outcome(ctx context.Context, of sent) outcome {
	in, err := w.nova.Instance(ctx, w.change.Instance.UID)
	if err != nil {
		return outcome{err: err}
	}
	switch w.change.Do {
	case core.IntentLiveMigrate, core.IntentColdMigrate:
		return w.migrated(ctx, in)
	case core.IntentEvacuate:
		return w.rebuilt(ctx, in)
	case core.IntentAbortMigration, core.IntentForceComplete:
		return w.settled(ctx, in)
	}
	return w.stateReached(ctx, in, of.began)
}

// migrated judges a live or cold migration. Only the instance itself tells where it is: a migration's record can say "completed" too
// early. A failure may show in the record alone.
func (w *instanceChecker) migrated(ctx context.Context, in *core.Instance) outcome {
	m, later, err := w.own(ctx)
	if err != nil {
		return outcome{err: err}
	}
	live := w.change.Do == core.IntentLiveMigrate
	switch {
	case later && !m.Running():
		return w.overtaken(m)
	case in.Status == "ERROR":
		return outcome{state: core.OperationFailed, text: "the instance is in ERROR on " + w.label(in.Host) + wording.Because(in.Fault)}
	case live && in.Host != w.change.Host && in.TaskState == "" && (m == nil || !m.Running()):
		return outcome{state: core.OperationDone, text: "runs on " + w.label(in.Host)}
	case !live && in.Status == "VERIFY_RESIZE" && in.TaskState == "":
		return outcome{state: core.OperationDone, text: "is on " + w.label(in.Host) + "; the migration waits to be confirmed or reverted"}
	case !live && in.Host != w.change.Host && in.Host != "" && in.TaskState == "" && (in.Status == "ACTIVE" || in.Status == "SHUTOFF"):
		// confirmed by Nova's resize_confirm_window, or by its owner
		return outcome{state: core.OperationDone, text: "is " + in.Status + " on " + w.label(in.Host) + "; the migration is confirmed already"}
	case in.TaskState == "" && m != nil && m.Status == "cancelled":
		return outcome{state: core.OperationFailed, text: "the migration was aborted; it is still on " + w.label(in.Host)}
	case in.TaskState == "" && m != nil && m.Failed():
		return outcome{state: core.OperationFailed, again: live,
			text: "the migration failed" + wording.Because(m.Failure) + "; it is still on " + w.label(in.Host)}
	case (m != nil && m.Running() || in.TaskState != "") && w.silent(in, m, w.change.Host) != "":
		// Nobody may be left who ends it: Lockstep stops looking after a while, so that something else can be done about the instance.
		w.begun = true
		return outcome{state: core.OperationVerifying, unsure: true,
			text: w.silent(in, m, w.change.Host) + " does not report any more, and the migration has not ended"}
	case m != nil && m.Running():
		w.begun = true
		return outcome{state: core.OperationVerifying, moving: true, stalls: !live && stalls(in), text: w.progress(m)}
	case in.TaskState != "" || in.Status == "MIGRATING" || in.Status == "RESIZE":
		w.begun = true
		return outcome{state: core.OperationVerifying, moving: true, stalls: !live && stalls(in),
			text: strings.ToLower(in.Status) + ", " + in.TaskState}
	}
	text := "Nova accepted the migration, but the instance does not move from " + w.label(in.Host)
	if w.begun {
		text = "the migration ended, and the instance is still on " + w.label(in.Host)
	}
	return outcome{state: core.OperationVerifying, text: text}
}

// silent is the label of a host that has a part in the action and does not report any more: the instance's own, the destination, and the
// others. Empty when all report. The host that an evacuation leaves has no part in it.
func (w *instanceChecker) silent(in *core.Instance, m *core.Migration, others ...string) string {
	hosts := append(others, in.Host)
	if m != nil {
		hosts = append(hosts, m.DestHost)
	}
	for _, host := range hosts {
		if host != "" && (w.change.Do != core.IntentEvacuate || host != w.change.Host) && w.dead(host) {
			return w.label(host)
		}
	}
	return ""
}

// copying are the tasks in which Nova copies a disk or an image, which can take hours and shows nothing meanwhile
// (nova.compute.task_states).
var copying = []string{"migrating", "resize_migrating", "resize_finish", "image_pending_upload", "image_uploading",
	"shelving_image_pending_upload", "shelving_image_uploading", "spawning", "rebuild_spawning"}

// stalls tells whether the instance's task ends soon, unless the message that asks for it was lost.
func stalls(in *core.Instance) bool {
	return in.TaskState != "" && !slices.Contains(copying, in.TaskState)
}

// rebuilt judges an evacuation. It is done when the instance is on another host and has no task.
func (w *instanceChecker) rebuilt(ctx context.Context, in *core.Instance) outcome {
	m, later, err := w.own(ctx)
	if err != nil {
		return outcome{err: err}
	}
	switch {
	case later && !m.Running():
		return w.overtaken(m)
	case in.TaskState != "" || m != nil && m.Running():
		w.begun = true
		if host := w.silent(in, m); host != "" {
			return outcome{state: core.OperationVerifying, unsure: true, text: host + " does not report any more, and was to rebuild it"}
		}
		return outcome{state: core.OperationVerifying, moving: true, stalls: in.TaskState == "" || stalls(in),
			text: wording.TextOf(in.TaskState, "being rebuilt")}
	case in.Host != w.change.Host && in.Host != "" && in.Status != "ERROR":
		return outcome{state: core.OperationDone, text: "is " + in.Status + " on " + w.label(in.Host)}
	case m != nil && m.Failed() || in.Status == "ERROR" && w.change.Status != "ERROR":
		text := "it was not rebuilt"
		if m != nil {
			text += wording.Because(m.Failure)
		}
		return outcome{state: core.OperationFailed, text: text + wording.Because(in.Fault)}
	}
	return outcome{state: core.OperationVerifying, text: "Nova accepted it, but the instance is on " + w.label(in.Host) + " still"}
}

// settled judges an abort or a force-complete. It is done when the migration has ended.
func (w *instanceChecker) settled(ctx context.Context, in *core.Instance) outcome {
	m, later, err := w.migration(ctx, w.change.MigrationID)
	if err != nil {
		return outcome{err: err}
	}
	if later && !m.Running() {
		return w.overtaken(m)
	}
	if m != nil && m.Running() || in.TaskState == "migrating" {
		// An abort is a request: Nova may take its time, or the migration may end first.
		text := "the migration still runs"
		if m != nil {
			text = w.progress(m)
		}
		dead := w.silent(in, m, w.change.Host) != ""
		return outcome{state: core.OperationVerifying, moving: w.change.Do == core.IntentForceComplete && !dead, unsure: dead, text: text}
	}
	aborted := m == nil && in.Host == w.change.Host || m != nil && m.Status == "cancelled"
	switch {
	case w.change.Do == core.IntentAbortMigration && aborted:
		return outcome{state: core.OperationDone, text: "aborted; it runs on " + w.label(in.Host)}
	case w.change.Do == core.IntentAbortMigration && in.Host == w.change.Host:
		return outcome{state: core.OperationDone, text: "the migration ended as " + m.Status + "; it is on " + w.label(in.Host)}
	case w.change.Do == core.IntentAbortMigration:
		return outcome{state: core.OperationFailed, text: "too late: the migration was completed, it runs on " + w.label(in.Host)}
	case in.Host != w.change.Host:
		return outcome{state: core.OperationDone, text: "runs on " + w.label(in.Host)}
	}
	return outcome{state: core.OperationFailed, text: fmt.Sprintf("the migration ended%s; it is still on %s", statusOf(m), w.label(in.Host))}
}

func statusOf(m *core.Migration) string {
	if m == nil {
		return ""
	}
	return " as " + m.Status + wording.Because(m.Failure)
}

// stateReached judges the actions that end in a state of the instance.
func (w *instanceChecker) stateReached(ctx context.Context, in *core.Instance, began time.Time) outcome {
	var ok bool
	switch w.change.Do {
	case core.IntentConfirmResize:
		ok = in.Status == "ACTIVE" || in.Status == "SHUTOFF"
	case core.IntentRevertResize:
		ok = in.Status == "ACTIVE" || in.Status == "SHUTOFF"
	case core.IntentStop:
		ok = in.Status == "SHUTOFF"
	case core.IntentStart, core.IntentResume, core.IntentResetState, core.IntentUnshelve:
		ok = in.Status == "ACTIVE"
	case core.IntentShelve:
		ok = in.Status == "SHELVED" || in.Status == "SHELVED_OFFLOADED"
	}
	switch {
	case in.Status == "ERROR" && w.change.Status != "ERROR": // where it began there, it stays there until Nova is done
		return outcome{state: core.OperationFailed, text: "the instance is in ERROR" + wording.Because(in.Fault)}
	case ok && in.TaskState == "":
		if in.Host == "" {
			return outcome{state: core.OperationDone, text: "is " + in.Status + ", on no host"}
		}
		return outcome{state: core.OperationDone, text: "is " + in.Status + " on " + w.label(in.Host)}
	case in.TaskState != "":
		dead := in.Host != "" && w.dead(in.Host)
		return outcome{state: core.OperationVerifying, moving: !dead, stalls: stalls(in), unsure: dead, text: in.TaskState}
	case w.change.Do == core.IntentConfirmResize:
		return w.confirming(ctx, in, began)
	}
	return outcome{state: core.OperationVerifying, text: "Nova accepted it, but the instance is " + in.Status + " still"}
}

// confirmPatience is how long the source of a cold migration may take to clean up. After that it is no sign of progress any more: the
// request to it may have been lost.
const confirmPatience = 10 * time.Minute

// confirming judges a confirmation that is not finished. Nova sets no task state for it; only the migration's record tells that the
// source is being cleaned up.
func (w *instanceChecker) confirming(ctx context.Context, in *core.Instance, began time.Time) outcome {
	ms, err := w.nova.MigrationsOf(ctx, in.ID)
	if err != nil {
		return outcome{err: err}
	}
	var last *core.Migration
	for _, m := range ms {
		if last == nil || m.ID > last.ID {
			last = m
		}
	}
	if last != nil && last.Status == "confirming" {
		return outcome{state: core.OperationVerifying, moving: w.now().Sub(began) < confirmPatience,
			text: "confirming: " + w.label(last.SourceHost) + " is to clean up; the instance is " + in.Status + " until it has"}
	}
	return outcome{state: core.OperationVerifying, text: "Nova accepted it, but the instance is " + in.Status + " still"}
}

// own is the migration record that this write made: the first one that was not there before. It returns what migration returns. Where none
// was there, the answer may have lacked the instance's cell: then an older one is not meant either.
func (w *instanceChecker) own(ctx context.Context) (m *core.Migration, later bool, err error) {
	return w.record(ctx, func(m *core.Migration) bool {
		return m.ID > w.known && (w.known > 0 || m.Created.IsZero() || !m.Created.Before(w.since))
	})
}

// migration is the record with the number, nil when there is none. later tells whether another migration followed: what the instance
// does now then belongs to that one.
func (w *instanceChecker) migration(ctx context.Context, id int) (m *core.Migration, later bool, err error) {
	return w.record(ctx, func(m *core.Migration) bool { return m.ID == id })
}

// record is the oldest of the instance's records that are meant.
func (w *instanceChecker) record(ctx context.Context, meant func(*core.Migration) bool) (m *core.Migration, later bool, err error) {
	ms, err := w.nova.MigrationsOf(ctx, w.change.Instance.UID)
	if err != nil {
		return nil, false, err
	}
	newest := 0
	for _, one := range ms {
		newest = max(newest, one.ID)
		if meant(one) && (m == nil || one.ID < m.ID) {
			m = one
		}
	}
	return m, m != nil && newest > m.ID, nil
}

// overtaken judges a migration that has ended and was followed by another one; the OpenStack controller begins a new one after an
// abort. Where the instance is, and what it does, tells nothing about the first one any more.
func (w *instanceChecker) overtaken(m *core.Migration) outcome {
	const since = "; another migration of it has begun since"
	moved, aborts := false, w.change.Do == core.IntentAbortMigration
	switch m.Status {
	case "completed", "finished", "confirmed", "done":
		moved = true
	}
	state := core.OperationFailed
	if moved != aborts {
		state = core.OperationDone
	}
	switch {
	case moved && aborts:
		return outcome{state: state, text: "too late: the migration was completed, to " + w.label(m.DestHost) + since}
	case moved:
		return outcome{state: state, text: "was moved to " + w.label(m.DestHost) + since}
	case m.Status == "cancelled":
		return outcome{state: state, text: "the migration was aborted" + since}
	}
	return outcome{state: state, text: "the migration ended" + statusOf(m) + since}
}

func (w *instanceChecker) values() (string, string) {
	return w.change.Status + " on " + wording.TextOf(w.change.Host, "no host"), string(w.change.Do)
}

// progress says how a running migration goes.
func (w *instanceChecker) progress(m *core.Migration) string {
	text := m.Status
	if m.DestHost != "" {
		text += ", to " + w.label(m.DestHost)
	}
	if p := m.Percent(); p >= 0 {
		text += ", " + wording.Itoa(p) + " %"
	}
	return text
}

func actionText(c core.InstanceAction) string {
	return fmt.Sprintf("%s, %s on %s", c.Do, c.Status, c.Host)
}

// instanceIsGone says that the instance does not exist any more, or has left its host.
func instanceIsGone(s *core.Snapshot, c core.InstanceAction) string {
	switch in := s.Instances.At(c.Instance.UID); {
	case in == nil:
		return "it does not exist any more"
	case in.Host != c.Host && in.Host != "":
		return "it is on " + s.Label(in.Host) + " already"
	}
	return ""
}
