package core

import (
	"context"
	"slices"
	"time"
)

// ActionBegun is what an action on an instance began from: by it how it ended is told, also after Lockstep was away.
type ActionBegun struct {
	Host      string    `json:"host,omitempty"`
	Status    string    `json:"status,omitempty"`
	Migration int       `json:"migration,omitempty"` // the record that it acts on; 0: none
	Known     int       `json:"known,omitempty"`     // the newest migration record before it; 0: none
	At        time.Time `json:"at,omitzero"`         // cluster time
}

// beginsFrom is what the action that is about to be sent begins from.
func (w *instanceChecker) beginsFrom(at time.Time) *ActionBegun {
	return &ActionBegun{Host: w.change.Host, Status: w.change.Status, Migration: w.change.MigrationID, Known: w.known, At: at}
}

// pastWrite is a write of an earlier run of which that run did not see the end.
type pastWrite struct {
	operation string
	item      int // of a batch; -1: the operation is this one write
	intent    Intent
	object    Ref
	begun     *ActionBegun // nil of what is no action on an instance
	at        time.Time    // cluster time
	wall      time.Time
}

// leftUnseen is what an operation says that an earlier run began and did not see the end of.
const leftUnseen = "Lockstep ended before the result was seen"

// nothingShows is how old a write has to be to count as one that nothing came of, when the cluster shows nothing of it.
const nothingShows = 30 * time.Second

// lookUp tells from what is known now how a write of an earlier run ended, or how it goes; false when nothing tells.
func (s *Snapshot) lookUp(w pastWrite) (outcome, bool) {
	if rule, ok := instanceRules[w.intent.Kind]; ok && w.begun != nil {
		return s.lookUpAction(w, rule)
	}
	if !s.settled() {
		return outcome{}, false
	}
	st := Plan(s, w.intent)
	if _, unmet := st.Unmet(GuardFresh); unmet {
		return outcome{}, false
	}
	if st.State != StepDone || st.Target.UID != w.object.UID {
		return outcome{}, false
	}
	return outcome{state: OperationDone, text: textOf(st.Status, "the cluster shows it")}, true
}

// lookUpAction is the same of an action on an instance, judged as it is judged while Lockstep watches it.
func (s *Snapshot) lookUpAction(w pastWrite, rule instanceRule) (outcome, bool) {
	for _, id := range []SourceID{SourceInstances, SourceMigrations} {
		if !s.known(id) || s.Sources[id].State != SourceLive {
			return outcome{}, false
		}
	}
	in := s.Instances[w.intent.Instance]
	if in == nil {
		return outcome{state: OperationSkipped, text: "the instance does not exist any more"}, true
	}
	iw := &instanceChecker{
		nova: knownNova{s: s}, now: func() time.Time { return s.Now }, label: func(host string) string { return s.hostLabel(host) }, known: w.begun.Known,
		change: InstanceAction{Do: w.intent.Kind, Instance: in.Ref(), Host: w.begun.Host, Status: w.begun.Status, MigrationID: w.begun.Migration},
	}
	o := iw.outcome(context.Background(), sent{began: w.begun.At})
	switch {
	case o.err != nil:
		return outcome{}, false
	case o.state.Ended():
		o.at = iw.endedAt(in, w.at)
		return o, true
	case o.moving:
		return o, true
	case s.Wall.Sub(w.wall) < nothingShows:
		return outcome{}, false
	}
	where := textOf(s.hostLabel(in.Host), "no host")
	if in.Host != w.begun.Host {
		return outcome{state: OperationDone, text: "it is " + in.Status + " on " + where + " now", at: iw.endedAt(in, w.at)}, true
	}
	return outcome{state: OperationFailed, text: "nothing shows that it was done: it is " + in.Status + " on " + where}, true
}

// endedAt is when an action that began at a moment ended, as Nova notes it; zero when it does not.
func (w *instanceChecker) endedAt(in *Instance, began time.Time) time.Time {
	at := in.Updated
	if m, _, err := w.own(context.Background()); err == nil && m != nil {
		at = m.Updated
	}
	if at.Before(began) {
		return time.Time{}
	}
	return at
}

// knownNova answers from a Snapshot what is asked of Nova to tell how an action ended. Nothing else may be asked of it.
type knownNova struct {
	OpenStackChecker
	s *Snapshot
}

// Instance implements OpenStackChecker.
func (n knownNova) Instance(_ context.Context, id string) (*Instance, error) {
	if in := n.s.Instances[id]; in != nil {
		return in, nil
	}
	return nil, &APIError{Kind: ErrNotFound, Server: ServerOpenStack, Call: "show instance " + id}
}

// MigrationsOf implements OpenStackChecker.
func (n knownNova) MigrationsOf(_ context.Context, instance string) ([]*Migration, error) {
	return n.s.Migrations[instance], nil
}

// lookUp tells of the operations of earlier runs how they ended, or how they go, by a Snapshot. Ended are those of which the last write
// that was not seen has found its end.
func (o *operations) lookUp(s *Snapshot) (ended []Operation, changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.unseen) == 0 {
		return nil, false
	}
	var left []pastWrite
	touched := map[string]bool{}
	for _, w := range o.unseen {
		i := slices.IndexFunc(o.past, func(op Operation) bool { return op.ID == w.operation })
		if i < 0 {
			continue
		}
		found, ok := s.lookUp(w)
		if !ok {
			left = append(left, w)
			continue
		}
		if !found.state.Ended() {
			left = append(left, w)
		}
		if o.past[i].tell(w.item, found) {
			touched[w.operation], changed = true, true
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
				op.Ended = later(op.Ended, item.Ended)
			}
		}
		if !slices.ContainsFunc(left, func(w pastWrite) bool { return w.operation == op.ID }) {
			ended = append(ended, *op)
		}
	}
	return ended, changed
}

// tell notes how the operation, or an item of it, ended or goes, and tells whether that is news.
func (o *Operation) tell(item int, found outcome) bool {
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
	o.Items = slices.Clone(o.Items) // Snapshots have the other one
	it = &o.Items[item]
	it.State, it.Text, it.Ended = found.state, found.text, found.at
	return true
}

// lookUpPast looks up what earlier runs did not see the end of, and records what it finds. It tells whether anything is news.
func (e *Engine) lookUpPast(s *Snapshot) bool {
	ended, changed := e.ops.lookUp(s)
	for _, op := range ended {
		e.record(e.ops.endOf(op), true)
	}
	return changed
}

// endOf is the record of the end of an operation of an earlier run.
func (o *operations) endOf(op Operation) Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.records[op.ID]
	r.Kind, r.At, r.State, r.Text, r.LookedUp = RecordEnded, op.Ended, string(op.State), op.Text, true
	r.Began, r.Items = op.Started.UTC(), recordsOf(op.Items)
	return r
}
