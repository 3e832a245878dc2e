package engine

import (
	"context"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// beginsFrom is the state from which the action begins that is about to be sent.
func (w *instanceChecker) beginsFrom(at time.Time) *core.ActionBegun {
	return &core.ActionBegun{Host: w.change.Host, Status: w.change.Status, Migration: w.change.MigrationID, Known: w.known, At: at}
}

// leftUnseen is the text of an operation whose end the run that began it did not see.
const leftUnseen = "Lockstep ended before the result was seen"

// nothingShows is how old a write has to be to count as not done when the cluster shows nothing of it.
const nothingShows = 30 * time.Second

// lookUp tells from a Snapshot how a write of an earlier run ended, or how it goes; false when nothing shows it.
func lookUp(s *core.Snapshot, w core.PastWrite) (outcome, bool) {
	if rule, ok := step.InstanceRules[w.Intent.Kind]; ok && w.Begun != nil {
		return lookUpAction(s, w, rule)
	}
	if !settled(s) {
		return outcome{}, false
	}
	st := step.Plan(s, w.Intent)
	if _, unmet := st.Unmet(core.GuardFresh); unmet {
		return outcome{}, false
	}
	if st.State != core.StepDone || st.Target.UID != w.Object.UID {
		return outcome{}, false
	}
	return outcome{state: core.OperationDone, text: wording.TextOf(st.Status, "the cluster shows it")}, true
}

// lookUpAction does the same for an action on an instance. It judges as Lockstep does while it watches the action.
func lookUpAction(s *core.Snapshot, w core.PastWrite, rule step.InstanceRule) (outcome, bool) {
	for _, id := range []core.SourceID{core.SourceInstances, core.SourceMigrations} {
		if !s.Known(id) || s.Sources[id].State != core.SourceLive {
			return outcome{}, false
		}
	}
	in := s.Instances.At(w.Intent.Instance)
	if in == nil {
		return outcome{state: core.OperationSkipped, text: "the instance does not exist any more"}, true
	}
	iw := &instanceChecker{
		nova: knownNova{s: s}, now: func() time.Time { return s.Now }, label: func(host string) string { return progress.HostLabel(s, host) },
		dead:  func(host string) bool { return progress.HostDead(s, host) },
		known: w.Begun.Known, since: w.Begun.At.Add(-recordSkew),
		change: core.InstanceAction{Do: w.Intent.Kind, Instance: in.Ref(), Host: w.Begun.Host, Status: w.Begun.Status,
			MigrationID: w.Begun.Migration},
	}
	o := iw.outcome(context.Background(), sent{began: w.Begun.At})
	switch {
	case o.err != nil:
		return outcome{}, false
	case o.state.Ended():
		o.at = iw.endedAt(in, w.At)
		return o, true
	case o.moving, o.unsure:
		return o, true
	}
	for _, id := range []core.SourceID{core.SourceInstances, core.SourceMigrations} {
		if s.Sources[id].AsOf.Sub(w.Wall) < nothingShows { // facts from before the write show nothing of it
			return outcome{}, false
		}
	}
	where := wording.TextOf(progress.HostLabel(s, in.Host), "no host")
	if rule.Moves() && in.Host != w.Begun.Host {
		return outcome{state: core.OperationDone, text: "it is " + in.Status + " on " + where + " now", at: iw.endedAt(in, w.At)}, true
	}
	return outcome{state: core.OperationFailed, text: "nothing shows that it was done: it is " + in.Status + " on " + where}, true
}

// endedAt is when an action that began at began ended, by Nova's own times; zero when they do not tell.
func (w *instanceChecker) endedAt(in *core.Instance, began time.Time) time.Time {
	at := in.Updated
	if m, _, err := w.own(context.Background()); err == nil && m != nil {
		at = m.Updated
	}
	if at.Before(began) {
		return time.Time{}
	}
	return at
}

// knownNova answers from a Snapshot what Nova is asked about the end of an action. Its other methods must not be called.
type knownNova struct {
	OpenStackChecker
	s *core.Snapshot
}

// Instance implements OpenStackChecker.
func (n knownNova) Instance(_ context.Context, id string) (*core.Instance, error) {
	if in := n.s.Instances.At(id); in != nil {
		return in, nil
	}
	return nil, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerOpenStack, Call: "show instance " + id}
}

// MigrationsOf implements OpenStackChecker.
func (n knownNova) MigrationsOf(_ context.Context, instance string) ([]*core.Migration, error) {
	return n.s.Migrations[instance], nil
}

// lookUp updates the operations of earlier runs from a Snapshot: how they ended, or how they go. ended are those whose last unseen
// write has now ended.
func (o *operations) lookUp(s *core.Snapshot) (ended []core.Operation, changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.unseen) == 0 {
		return nil, false
	}
	var left []core.PastWrite
	touched := map[string]bool{}
	for _, w := range o.unseen {
		i := slices.IndexFunc(o.past, func(op core.Operation) bool { return op.ID == w.Operation })
		if i < 0 {
			continue
		}
		found, ok := lookUp(s, w)
		if !ok {
			left = append(left, w)
			continue
		}
		if !found.state.Ended() {
			left = append(left, w)
		}
		if tell(&o.past[i], w.Item, found) {
			touched[w.Operation], changed = true, true
		}
	}
	o.unseen = left
	for i := range o.past {
		op := &o.past[i]
		if !touched[op.ID] {
			continue
		}
		if len(op.Items) > 0 {
			op.State, op.Text = sumOf(op.Items)
			op.Ended = time.Time{}
			for _, item := range op.Items {
				op.Ended = core.Later(op.Ended, item.Ended)
			}
		}
		if !slices.ContainsFunc(left, func(w core.PastWrite) bool { return w.Operation == op.ID }) {
			op.Acknowledged = false // what was acknowledged is that its end was not known
			ended = append(ended, *op)
		}
	}
	return ended, changed
}

// tell notes how the operation, or one of its items, ended or goes, and tells whether that is news.
func tell(o *core.Operation, item int, found outcome) bool {
	if item < 0 {
		if o.State == found.state && o.Text == found.text {
			return false
		}
		o.State, o.Text, o.Ended = found.state, found.text, found.at
		return true
	}
	if item >= len(o.Items) {
		return false
	}
	it := &o.Items[item]
	if it.State == found.state && it.Text == found.text {
		return false
	}
	o.Items = slices.Clone(o.Items) // Snapshots hold the old one
	it = &o.Items[item]
	it.State, it.Text, it.Ended = found.state, found.text, found.at
	return true
}

// lookUpPast looks up the operations whose end earlier runs did not see, and records what it finds. It tells whether anything is news.
func (e *Engine) lookUpPast(s *core.Snapshot) bool {
	ended, changed := e.ops.lookUp(s)
	for _, op := range ended {
		e.record(e.ops.endOf(op), true)
	}
	return changed
}

// endOf returns the record of the end of an operation of an earlier run.
func (o *operations) endOf(op core.Operation) Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.records[op.ID]
	r.Kind, r.At, r.State, r.Text, r.LookedUp = RecordEnded, op.Ended, string(op.State), op.Text, true
	r.Began, r.Items = op.Started.UTC(), recordsOf(op.Items)
	if !op.Ended.IsZero() { // nothing tells when it ended
		r.Took = seconds(op.Ended.Sub(op.Started))
	}
	return r
}
