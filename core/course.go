package core

import (
	"slices"
	"time"
)

// CourseStage is one stage of a node's course.
type CourseStage struct {
	Stage Stage
	Since Since  // Exact: Lockstep watched when the node came into the stage; otherwise it saw the stage later
	Why   string `json:",omitempty"` // why the node stands still there; empty for a stage in which it goes on. At most MostWhy bytes

	Reconstructed bool `json:",omitempty"` // nobody looked then: the time is one of the API's own
}

// Course is the stages that a node went through, oldest first; no two stages that follow each other are the same. It is never changed in
// place.
type Course []CourseStage

// MostCourseStages is how many stages of a node's course are kept, the newest. A node goes through about ten in its maintenance.
const MostCourseStages = 64

// MostWhy is the length in bytes to which the reason why a node stands still is cut.
const MostWhy = 240

// With is the course with the stage that comes next.
func (c Course) With(p CourseStage) Course {
	if n := len(c); n > 0 && c[n-1].Stage == p.Stage {
		return c
	}
	first := max(len(c)+1-MostCourseStages, 0)
	return append(append(make(Course, 0, len(c)-first+1), c[first:]...), p) // no more room than that: each node has one
}

// Insert is the course with a stage that was reconstructed, at its place. A stage that was only found later gives way to it. Servers tell
// times in whole seconds: among stages of the same time it comes behind the one that the node was in before, as far as that is known.
func (c Course) Insert(p CourseStage, from Stage) Course {
	i := 0
	for i < len(c) && !c[i].Since.At.After(p.Since.At) {
		i++
	}
	for k := i; k > 0 && from != "" && c[k-1].Since.At.Equal(p.Since.At); k-- {
		if c[k-1].Stage == from {
			i = k
			break
		}
		if c[k-1].Reconstructed && i == k {
			i = k - 1
		}
	}
	gives := func(o CourseStage) bool { return o.Stage == p.Stage && !o.Since.Exact && !o.Reconstructed }
	first, rest := c[:i], c[i:]
	switch {
	case i > 0 && gives(c[i-1]): // the evidence for it was older than the stage
		p.Why, first = c[i-1].Why, c[:i-1]
	case i > 0 && c[i-1].Stage == p.Stage:
		return c
	case i < len(c) && gives(c[i]):
		p.Why, rest = c[i].Why, c[i+1:]
	}
	out := slices.Concat(first, Course{p}, rest)
	return out[max(len(out)-MostCourseStages, 0):]
}

// StandstillCause is why an update did not go on.
type StandstillCause string

// The causes of a standstill. They are written into the journal, and never change.
const (
	StandsByAlert   StandstillCause = "auto-pause" // an alert paused a step of the update plan
	StandsForStep   StandstillCause = "commence"   // the next step of the plan was not commenced
	StandsByPlan    StandstillCause = "plan-stuck" // LCM says that a step of the plan is stuck
	StandsForPerson StandstillCause = "operator"   // a node waited for the operator
	StandsFailed    StandstillCause = "failed"     // a node or a lock failed
	StandsOverdue   StandstillCause = "overdue"    // the phase took much longer than the documents allow, or its services got no further
	StandsOtherwise StandstillCause = "other"      // its phase waited or was stuck for another reason
)

// Standstill is a time in which a phase of the update did not go on without somebody.
type Standstill struct {
	Cause       StandstillCause
	Subject     string    `json:",omitempty"` // the node, alert or plan step that it was about first; empty when it is about none
	Since       Since     // Exact: Lockstep watched when it began
	Until       time.Time // zero while it lasts
	UntilUnseen bool      `json:",omitempty"` // nobody watched when it ended: it ended at Until or before
	Why         string
}

// MostStandstills is how many standstills of one phase are kept, the newest.
const MostStandstills = 64

// WithStandstill is a phase's list of standstills, oldest first, with this one: in place of the last if that began at the same moment
// for the same cause, and is only told again. The list itself is not changed.
func WithStandstill(list []Standstill, s Standstill) []Standstill {
	if n := len(list); n > 0 && list[n-1].Cause == s.Cause && list[n-1].Since.At.Equal(s.Since.At) {
		return append(slices.Clone(list[:n-1]), s)
	}
	return append(slices.Clone(list[max(len(list)+1-MostStandstills, 0):]), s)
}
