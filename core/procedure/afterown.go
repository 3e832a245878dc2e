package procedure

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// ModesToRestore are the names of the nodes whose migration mode is still the one that Lockstep set, in the order of their labels.
func ModesToRestore(s *core.Snapshot) []string { return stillChanged(s, s.History.Changes) }

// AttemptsToRestore are the names of the nodes whose number of migration attempts is still the one that Lockstep set.
func AttemptsToRestore(s *core.Snapshot) []string { return stillChanged(s, s.History.Tries) }

func stillChanged(s *core.Snapshot, changes map[string]core.AnnotationChange) []string {
	var out []string
	for _, name := range s.NodeNames() {
		if isChanged(s.Nodes[name], changes) {
			out = append(out, name)
		}
	}
	return out
}

// isChanged tells whether the node's annotation is still the one that Lockstep set.
func isChanged(n *core.Node, changes map[string]core.AnnotationChange) bool {
	if n == nil {
		return false
	}
	c, ok := changes[n.UID]
	return ok && step.EqualText(n.Annotation(c.Key), c.New) && !step.EqualText(c.Old, c.New)
}

func openChanges(s *core.Snapshot) []core.Left {
	return changeTexts(s, ModesToRestore(s), s.History.Changes)
}

// ChangedAttempts names the nodes of AttemptsToRestore with the number that Lockstep set: "cmp-01 (5)".
func ChangedAttempts(s *core.Snapshot) []core.Left {
	return changeTexts(s, AttemptsToRestore(s), s.History.Tries)
}

// RestoreAttempts plans to give a node the number of migration attempts back that it had before Lockstep set one; false when there is
// nothing to restore.
func RestoreAttempts(s *core.Snapshot, name string) (core.Step, bool) {
	if !isChanged(s.Nodes[name], s.History.Tries) {
		return core.Step{}, false
	}
	c := s.History.Tries[s.Nodes[name].UID]
	n, err := strconv.Atoi(strings.TrimSpace(wording.TextOr(c.Old, "0")))
	if err != nil || n < 1 {
		n = 0 // what stood there was no number: the default
	}
	st := step.Plan(s, core.Intent{Kind: core.IntentSetAttempts, Nodes: []string{name}, Attempts: n})
	st.Why = wording.Join("Lockstep set "+step.AnnotationText(c.Key, c.New)+" for this maintenance; before, it was "+
		wording.TextOr(c.Old, "not set")+".", st.Why)
	return st, true
}

func changeTexts(s *core.Snapshot, names []string, changes map[string]core.AnnotationChange) []core.Left {
	var out []core.Left
	for _, name := range names {
		n := s.Nodes[name]
		c := changes[n.UID]
		out = append(out, core.Left{Of: wording.OneLine(n.Label(), 64), How: wording.OneLine(wording.TextOr(c.New, "not set"), 20)})
	}
	return out
}

// setByOthers are the names of the nodes with an annotation that Lockstep did not set, and that may be meant to stay: all but the
// changed ones.
func setByOthers(s *core.Snapshot, key string, changed []string) []string {
	var out []string
	for _, name := range s.NodeNames() {
		if s.Nodes[name].Annotation(key) != nil && !slices.Contains(changed, name) {
			out = append(out, name)
		}
	}
	return out
}

// stoppedAhead is how long before an update an instance may have been stopped for it.
const stoppedAhead = 24 * time.Hour

// TagsToRestore are the instances whose maintenance tags are still those that Lockstep set, by name, then ID.
func TagsToRestore(s *core.Snapshot) []*core.Instance {
	var out []*core.Instance
	for id, c := range s.History.Tags {
		if in := s.Instances.At(id); in != nil && step.SameActions(core.RecognisedTags(in.Tags), c.New) && !step.SameActions(c.Old, c.New) {
			out = append(out, in)
		}
	}
	return progress.SortInstances(out)
}

// StoppedInstances are the instances that Lockstep stopped or shelved for the update and that are still down, by name, then
// ID.
func StoppedInstances(s *core.Snapshot) []*core.Instance {
	var out []*core.Instance
	for id, r := range s.History.Stopped {
		if in := s.Instances.At(id); in != nil && in.BroughtBackBy() != "" && !r.At.Before(s.History.Update.Started.Add(-stoppedAhead)) {
			out = append(out, in)
		}
	}
	return progress.SortInstances(out)
}

func instancesLeft(list []*core.Instance) []core.Left {
	var out []core.Left
	for _, in := range list {
		out = append(out, core.Left{Of: progress.InstanceLabel(in), ID: in.ID})
	}
	return out
}
