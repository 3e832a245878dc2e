package core

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// changedNodes are the names of the nodes whose migration mode is still what Lockstep set, in the order of their labels.
func (s *Snapshot) changedNodes() []string { return s.stillChanged(s.History.Changes) }

// triesNodes are those whose number of migration attempts is.
func (s *Snapshot) triesNodes() []string { return s.stillChanged(s.History.Tries) }

func (s *Snapshot) stillChanged(changes map[string]AnnotationChange) []string {
	var out []string
	for _, name := range s.NodeNames() {
		n := s.Nodes[name]
		if c, ok := changes[n.UID]; ok && equalText(n.annotation(c.Key), c.New) && !equalText(c.Old, c.New) {
			out = append(out, name)
		}
	}
	return out
}

func (s *Snapshot) openChanges() []string { return s.changeTexts(s.changedNodes(), s.History.Changes) }

func (s *Snapshot) openTries() []string { return s.changeTexts(s.triesNodes(), s.History.Tries) }

// restoreTries gives a node the number of migration attempts back that it had before Lockstep set one; false when it still has
// its own.
func (s *Snapshot) restoreTries(name string) (Step, bool) {
	if !slices.Contains(s.triesNodes(), name) {
		return Step{}, false
	}
	c := s.History.Tries[s.Nodes[name].UID]
	n, err := strconv.Atoi(strings.TrimSpace(textOr(c.Old, "0")))
	if err != nil || n < 1 {
		n = 0 // what stood there was no number: the default
	}
	st := Plan(s, Intent{Kind: IntentSetAttempts, Nodes: []string{name}, Attempts: n})
	st.Why = join("Lockstep set "+annotationText(c.Key, c.New)+" for this maintenance; before, it was "+textOr(c.Old, "not set")+".", st.Why)
	return st, true
}

func (s *Snapshot) changeTexts(names []string, changes map[string]AnnotationChange) []string {
	var out []string
	for _, name := range names {
		n := s.Nodes[name]
		c := changes[n.UID]
		out = append(out, oneLine(n.Label(), 64)+" ("+oneLine(textOr(c.New, "not set"), 20)+")")
	}
	return out
}

// setByOthers are the names of the nodes that have an annotation which Lockstep did not set: it may be there for good. Lockstep
// changed it on the nodes of changed.
func (s *Snapshot) setByOthers(key string, changed []string) []string {
	var out []string
	for _, name := range s.NodeNames() {
		if s.Nodes[name].annotation(key) != nil && !slices.Contains(changed, name) {
			out = append(out, name)
		}
	}
	return out
}

// stoppedAhead is how long before an update an instance may have been stopped for it.
const stoppedAhead = 24 * time.Hour

// taggedInstances are the instances whose maintenance tags are still what Lockstep set, by name, then ID.
func (s *Snapshot) taggedInstances() []*Instance {
	var out []*Instance
	for id, c := range s.History.Tags {
		if in := s.Instances[id]; in != nil && sameActions(recognisedTags(in.Tags), c.New) && !sameActions(c.Old, c.New) {
			out = append(out, in)
		}
	}
	return byName(out)
}

// broughtBackBy is the step that brings back an instance that was stopped or shelved; empty when it is neither.
func (in *Instance) broughtBackBy() IntentKind {
	switch in.Status {
	case "SHUTOFF":
		return IntentStart
	case "SHELVED", "SHELVED_OFFLOADED":
		return IntentUnshelve
	}
	return ""
}

// stoppedInstances are the instances that Lockstep stopped or shelved for the update and that are still down, by name, then
// ID.
func (s *Snapshot) stoppedInstances() []*Instance {
	var out []*Instance
	for id, r := range s.History.Stopped {
		if in := s.Instances[id]; in != nil && in.broughtBackBy() != "" && !r.At.Before(s.History.Update.Started.Add(-stoppedAhead)) {
			out = append(out, in)
		}
	}
	return byName(out)
}

func byName(list []*Instance) []*Instance {
	slices.SortFunc(list, func(a, b *Instance) int { return strings.Compare(a.Name+"\x00"+a.ID, b.Name+"\x00"+b.ID) })
	return list
}

func instanceLabels(list []*Instance) []string {
	var out []string
	for _, in := range list {
		out = append(out, instanceLabel(in))
	}
	return out
}
