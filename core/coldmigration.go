package core

import (
	"maps"
	"slices"
	"time"
)

// ColdMigration is a cold migration that Lockstep began, until its end is seen: confirmed, reverted, or failed.
type ColdMigration struct {
	Name  string    // of the instance, as it was called then
	From  string    // the host that it left
	Known int       // the newest migration record before it
	At    time.Time // when it was begun (cluster time)
	By    string
}

// noteCold remembers that Lockstep began a cold migration, or that this may have come of what it sent, until Lockstep has seen it
// confirmed or reverted.
func noteCold(cold map[string]ColdMigration, i Intent, ended OperationState, m ColdMigration) {
	switch i.Kind {
	case IntentColdMigrate:
		if ended == OperationDone || ended == OperationUnknown {
			cold[i.Instance] = m
		}
	case IntentConfirmResize, IntentRevertResize:
		if ended == OperationDone {
			delete(cold, i.Instance)
		}
	}
}

// cold is the cold migration of which a record of a write tells. The host that it left is that of the write's beginning.
func (r Record) cold() ColdMigration {
	c := ColdMigration{At: r.At, By: r.By}
	if r.Object != nil {
		c.Name = r.Object.Name
	}
	if r.Begun != nil {
		c.From, c.Known, c.At = r.Begun.Host, r.Begun.Known, r.Begun.At
	}
	return c
}

// coldState is where a cold migration that Lockstep began stands.
type coldState int

const (
	coldUnseen    coldState = iota // nothing is known of it now
	coldMoves                      // it is being copied, confirmed or reverted
	coldUndecided                  // it waits in VERIFY_RESIZE for a decision
	coldOver                       // it has ended, or the instance has
)

// coldOf tells where a cold migration that Lockstep began stands, by what is known now. A later record of another migration says that
// this one is over: no other begins before.
func (s *Snapshot) coldOf(id string, c ColdMigration) coldState {
	if !s.known(SourceInstances) || s.Sources[SourceInstances].State != SourceLive {
		if in := s.Instances[id]; in != nil && in.Status == "VERIFY_RESIZE" {
			return coldUndecided
		}
		return coldUnseen
	}
	in, m := s.Instances[id], s.LatestMigration(id)
	if m != nil && m.ID <= c.Known {
		m = nil // its own does not show yet
	}
	switch {
	case in == nil:
		return coldOver
	case m != nil && (m.Type != MigrationCold || m.SourceHost != c.From):
		return coldOver
	case in.Status == "VERIFY_RESIZE" && in.TaskState == "":
		return coldUndecided
	case in.TaskState != "" || in.Status == "RESIZE" || in.Status == "REVERT_RESIZE" || m != nil && m.Running():
		return coldMoves
	case in.Host != c.From, m != nil && slices.Contains(coldEnds, m.Status):
		return coldOver
	}
	return coldUnseen // it may not show yet
}

// coldEnds are the statuses in which a cold migration's record stays.
var coldEnds = []string{"confirmed", "reverted", "error", "failed", "cancelled"}

// ownCold are the instances whose cold migration by Lockstep has not come to its end, by name, then ID.
func (s *Snapshot) ownCold(states ...coldState) []*Instance {
	var out []*Instance
	for id, c := range s.History.Cold {
		if in := s.Instances[id]; in != nil && slices.Contains(states, s.coldOf(id, c)) {
			out = append(out, in)
		}
	}
	return byName(out)
}

// openCold names them, with where each is.
func (s *Snapshot) openCold() []string {
	var out []string
	for _, in := range s.ownCold(coldUndecided, coldMoves) {
		out = append(out, instanceLabel(in)+" ("+oneLine(in.Status, 30)+dashedOn(s.hostLabel(in.Host))+")")
	}
	return out
}

func dashedOn(host string) string {
	if host == "" {
		return ""
	}
	return " on " + oneLine(host, 64)
}

// coldSteps confirm or revert what Lockstep cold-migrated, one instance after the other.
func (s *Snapshot) coldSteps() []Step {
	var out []Step
	for _, in := range s.ownCold(coldUndecided) {
		out = append(out, s.decideStep(in, s.History.Cold[in.ID].From))
	}
	return out
}

// decideStep confirms the migration of an instance that was cold-migrated off a host; or, as the other way, reverts it.
func (s *Snapshot) decideStep(in *Instance, from string) Step {
	st := Plan(s, Intent{Kind: IntentConfirmResize, Instance: in.ID})
	st.Why = join("It is on "+s.hostLabel(in.Host)+" now, and "+s.hostLabel(from)+" keeps its files until somebody decides.", st.Why)
	if st.State != StepRunning && st.State != StepFailed {
		st.Status = "is on " + s.hostLabel(in.Host) + " now; " + s.hostLabel(from) + " keeps its place"
	}
	st.Alternatives = []Step{Plan(s, Intent{Kind: IntentRevertResize, Instance: in.ID})}
	return st
}

// observeCold forgets, and records, the cold migrations of Lockstep's that are seen to be over.
func (e *Engine) observeCold(s *Snapshot, h History) History {
	if len(h.Cold) == 0 {
		return h
	}
	cold := h.Cold
	for _, id := range slices.Sorted(maps.Keys(h.Cold)) {
		c := h.Cold[id]
		if s.coldOf(id, c) != coldOver {
			continue
		}
		text := "the instance does not exist any more"
		if in := s.Instances[id]; in != nil {
			text = "is " + in.Status + " on " + s.hostLabel(in.Host)
		}
		cold = maps.Clone(cold)
		delete(cold, id)
		e.see(Record{Kind: RecordMigrated, Object: &Ref{Kind: KindInstance, Name: c.Name, UID: id}, From: c.From, Text: text})
	}
	h.Cold = cold
	return h
}

// ownMigrations are the cold migrations that Lockstep began and that wait for a decision, wherever the instances are now. What its
// host's own entry says already is not told again.
func (f *attentionFacts) ownMigrations() {
	for _, in := range f.s.ownCold(coldUndecided) {
		c, node := f.s.History.Cold[in.ID], ""
		if n := f.s.NodeOfHost(in.Host); n != nil {
			node = n.Name
		}
		if f.tellsOf(in, node) {
			continue
		}
		a := Attention{Rule: RuleOwnMigration, Key: in.ID, Severity: SeverityWarning, Subject: in.Ref(),
			Node: node, Instance: in.ID, Label: instanceLabel(in),
			Since: Since{At: c.At, Exact: true}, Resolve: &ProcedureKey{Kind: ProcedureInstance, Subject: in.ID}}
		if m := f.s.LatestMigration(in.ID); m != nil && m.Type == MigrationCold && m.Updated.After(c.At) && m.Status == "finished" {
			a.Since.At = m.Updated
		}
		a.Reason = "confirm or revert its migration: Lockstep moved it from " + f.s.hostLabel(c.From) + " to " + f.s.hostLabel(in.Host)
		a.Detail = "In VERIFY_RESIZE nothing migrates or stops it, so it will hold " + f.s.hostLabel(in.Host) + "; " + f.s.hostLabel(c.From) +
			" keeps its files and its place until somebody decides."
		f.add(a)
	}
}

// tellsOf tells whether an entry says of the instance that it has to be decided about.
func (f *attentionFacts) tellsOf(in *Instance, node string) bool {
	view, _ := f.s.InstanceView(in.ID)
	return slices.ContainsFunc(f.found, func(a Attention) bool {
		return a.Instance == in.ID || node != "" && view.Blocks && a.Rule == RuleNodeWaits && a.Node == node
	})
}
