package news

import (
	"cmp"
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
	Quiet time.Duration        // after a call about an entry, how long there is none about the same, unless it becomes more severe
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

	last map[string]called // by entry, the last call about it
	due  []dueLine         // what has not lasted long enough yet, or has to be quiet, in the order in which it came
	made []time.Time       // the calls of the last hour
	held []Line            // what the limit held back, the most severe first and then the oldest
}

// called is a call about an entry.
type called struct {
	at       time.Time
	severity core.Severity
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
		c.last = map[string]called{}
	}
	c.made = slices.DeleteFunc(c.made, func(at time.Time) bool { return wall.Sub(at) >= time.Hour })
	for id, last := range c.last {
		if wall.Sub(last.at) >= max(c.Rules.Quiet, time.Hour) {
			delete(c.last, id)
		}
	}
	for _, l := range lines {
		c.take(l, wall)
	}
	c.due = slices.DeleteFunc(c.due, func(d dueLine) bool {
		if d.at.After(wall) {
			return false
		}
		c.last[d.ID] = called{wall, d.severity}
		if len(c.held) < mostHeld {
			c.held = append(c.held, d.Line)
		}
		return true
	})
	if c.Rules.Limit > 0 { // which call is held back is no matter of who came first
		slices.SortStableFunc(c.held, func(a, b Line) int { return cmp.Compare(b.severity, a.severity) })
	}
	var out []Call
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

// take notes what a line says of an entry about which there is a call, or will be one.
func (c *Caller) take(l Line, wall time.Time) {
	if l.Kind != KindEntry {
		return
	}
	isDue := slices.IndexFunc(c.due, func(d dueLine) bool { return d.ID == l.ID })
	isHeld := slices.IndexFunc(c.held, func(h Line) bool { return h.ID == l.ID })
	if l.What == Settled || l.Aside != nil || !c.concerns(l) { // it is no matter any more, or not now
		if isDue >= 0 {
			c.due = slices.Delete(c.due, isDue, isDue+1)
		}
		if isHeld >= 0 {
			c.held = slices.Delete(c.held, isHeld, isHeld+1)
		}
		return
	}
	if isHeld >= 0 { // told as it is now
		c.held[isHeld] = l
		c.last[l.ID] = called{c.last[l.ID].at, l.severity}
		return
	}
	at := wall.Add(c.Rules.After)
	if last, was := c.last[l.ID]; was && l.severity <= last.severity {
		if end := last.at.Add(c.Rules.Quiet); end.After(at) {
			at = end // if it is there then
		}
	}
	switch {
	case isDue >= 0 && c.due[isDue].at.Before(at):
		c.due[isDue].Line = l
	case isDue >= 0:
		c.due[isDue] = dueLine{l, at}
	case l.What != Better:
		c.due = append(c.due, dueLine{l, at})
	}
}

// concerns tells whether an entry as it is in the line is one to be called about. A reminder is, whatever its severity and whatever else is
// called about: somebody has asked for just that.
func (c *Caller) concerns(l Line) bool {
	from := c.Rules.From
	if from == 0 {
		from = core.SeverityUrgent
	}
	rule := core.AttentionRule(l.Rule)
	asked := rule == core.RulePromise || l.severity >= from && (len(c.Rules.Only) == 0 || slices.Contains(c.Rules.Only, rule))
	return asked && l.Cause == "" && !slices.Contains(c.Rules.Never, rule)
}
