package engine

import (
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// Says is what the record tells, in one line without its time: "cmp-07: updating → ready", "web-1: done: live-migrate web-1, after 61 s".
// It is the line of the page of the history. It is not sanitised for a terminal.
func (r Record) Says() string {
	l, _ := r.line()
	text := l.What + wording.Prefixed(": ", l.Why)
	if l.Label != "" {
		text = l.Label + ": " + text
	}
	if l.Took > 0 {
		text += ", after " + wording.SpanText(l.Took)
	}
	return text
}

// When is the cluster's time of what the record tells, or the wall clock's where it has no other.
func (r Record) When() time.Time {
	if r.At.IsZero() {
		return r.Wall
	}
	return r.At
}

// InstanceName is what the instance is called that the record is about; empty where it is about none, or does not tell.
func (r Record) InstanceName() string {
	switch {
	case r.Object != nil && r.Object.Kind == core.KindInstance:
		return r.Object.Name
	case r.Move != nil:
		return r.Move.Name
	case r.Entry != nil && r.Entry.Instance != "":
		return r.Entry.Label
	case r.Note != nil && r.Note.On.Instance != "":
		return r.Note.On.Label
	}
	return ""
}

// Instances are the IDs of the instances that the record is about.
func (r Record) Instances() []string {
	var out []string
	if r.Intent != nil && r.Intent.Instance != "" {
		out = append(out, r.Intent.Instance)
	}
	for _, item := range r.Items {
		if item.Instance != "" {
			out = append(out, item.Instance)
		}
	}
	if r.Entry != nil && r.Entry.Instance != "" {
		out = append(out, r.Entry.Instance)
	}
	if r.Move != nil {
		out = append(out, r.Move.Instance)
	}
	if r.Note != nil && r.Note.On.Instance != "" {
		out = append(out, r.Note.On.Instance)
	}
	if r.Object != nil && (r.Kind == RecordMigrated || r.Kind == RecordUp || r.Kind == RecordMigrationRefused) {
		out = append(out, r.Object.UID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
