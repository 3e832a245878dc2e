package news

import (
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// Rules say about what somebody is called.
type Rules struct {
	From  core.Severity        // the least severity; 0: urgent
	Only  []core.AttentionRule // only entries of these rules; none: of all
	Never []core.AttentionRule // not of these
	After time.Duration        // how long it must last before somebody is called: what comes and goes by itself is no call
	Quiet time.Duration        // after a call about an entry, how long there is none about the same
	Limit int                  // calls in an hour; 0: no limit
}

// Call is one call: something became so that somebody is to know.
type Call struct {
	Line
	Held int `json:"held"` // how many there would have been meanwhile, had there been no limit
}

// Text is the call in one line.
func (c Call) Text() string {
	text := c.Severity + wording.Prefixed(": ", c.Subject) + ": " + c.Line.Text
	if c.Held > 0 {
		text += " (and " + wording.Count(c.Held, "other") + ", held back by the limit)"
	}
	return text
}

// Caller decides about what somebody is called. What only follows from another entry is no reason: its cause is.
type Caller struct {
	Rules Rules

	last map[string]time.Time // by entry, the last call about it
	due  []dueLine            // what has not lasted long enough yet, in the order in which it came
	made []time.Time          // the calls of the last hour
	held []Line               // what the limit held back, the oldest first
}

// dueLine is a line about which somebody is called if it is not settled by then.
type dueLine struct {
	Line
	at time.Time
}

// mostHeld is how many lines are kept of those that the limit held back; of the others only their number counts.
const mostHeld = 1000

// Next are the calls to make now for the lines of a Snapshot. It is also asked without lines, as time passes: what the limit held back is
// made up for when it allows.
func (c *Caller) Next(lines []Line, wall time.Time) []Call {
	if c.last == nil {
		c.last = map[string]time.Time{}
	}
	c.made = slices.DeleteFunc(c.made, func(at time.Time) bool { return wall.Sub(at) >= time.Hour })
	for id, at := range c.last {
		if wall.Sub(at) >= max(c.Rules.Quiet, time.Hour) {
			delete(c.last, id)
		}
	}
	var out []Call
	for _, l := range lines {
		if l.Kind == KindEntry && (l.What == Settled || l.Aside != nil) {
			// It is no matter any more, or not now.
			c.held = slices.DeleteFunc(c.held, func(h Line) bool { return h.ID == l.ID })
			c.due = slices.DeleteFunc(c.due, func(d dueLine) bool { return d.ID == l.ID })
			continue
		}
		if c.concerns(l) && !slices.ContainsFunc(c.due, func(d dueLine) bool { return d.ID == l.ID }) {
			c.due = append(c.due, dueLine{l, wall.Add(c.Rules.After)})
		}
	}
	c.due = slices.DeleteFunc(c.due, func(d dueLine) bool {
		if d.at.After(wall) {
			return false
		}
		if at, called := c.last[d.ID]; called && wall.Sub(at) < c.Rules.Quiet {
			return true
		}
		c.last[d.ID] = wall
		if len(c.held) < mostHeld {
			c.held = append(c.held, d.Line)
		}
		return true
	})
	for len(c.held) > 0 && (c.Rules.Limit == 0 || len(c.made) < c.Rules.Limit) {
		call := Call{Line: c.held[0]}
		c.held = c.held[1:]
		if c.Rules.Limit > 0 && len(c.made) == c.Rules.Limit-1 && len(c.held) > 0 {
			call.Held, c.held = len(c.held), nil // the last one that is allowed speaks for all
		}
		c.made = append(c.made, wall)
		out = append(out, call)
	}
	return out
}

func (c *Caller) concerns(l Line) bool {
	from := c.Rules.From
	if from == 0 {
		from = core.SeverityUrgent
	}
	rule := core.AttentionRule(l.Rule)
	return l.Kind == KindEntry && (l.What == Came || l.What == Worse || l.What == Back) && l.severity >= from && l.Cause == "" &&
		(len(c.Rules.Only) == 0 || slices.Contains(c.Rules.Only, rule)) && !slices.Contains(c.Rules.Never, rule)
}
