package record

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// What an account tells in words, the same in Markdown, in HTML and on the screen.

// Lines are the numbers of a thing's lines in the journal, a few of them: "17, 18".
func Lines(places []Place) string { return lines(places...) }

// lines are the numbers of a thing's lines in the journal, a few of them.
func lines(places ...Place) string {
	const most = 6
	var out []string
	for i, p := range places {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(places)-most))
			break
		}
		out = append(out, p.String())
	}
	return strings.Join(out, ", ")
}

// String is "17", the number of the line in the journal. It is "2:17" where the account is of several journals: number 17 in the second
// file; and where the line has no number: the 17th line of that file.
func (p Place) String() string {
	switch {
	case p.Seq > 0 && p.several:
		return fmt.Sprintf("%d:%d", p.File+1, p.Seq)
	case p.Seq > 0:
		return strconv.FormatInt(p.Seq, 10)
	}
	return fmt.Sprintf("%d:%d", p.File+1, p.Line)
}

// Numbers says what the numbers of lines are.
func (a *Account) Numbers() string {
	text := "those of the journal's lines"
	if len(a.Seals) > 1 {
		text += ": 2:17 is number 17 in the second of the files that are named at the end"
	}
	return text + "."
}

// SealOf is what a seal is called: by its file, with the file's number where there are several.
func (a *Account) SealOf(s Seal) string {
	name := filepath.Base(s.File)
	if i := slices.Index(a.Files, s.File); len(a.Seals) > 1 && i >= 0 {
		name = strconv.Itoa(i+1) + ", " + name
	}
	return name
}

// Title is what the report is of: "mos: update 21.0.0 → 21.0.1", "mos: graceful reboots, no update".
func (a *Account) Title() string {
	cluster := core.RehearsalOf(a.Cluster, a.Simulated)
	if a.Outside {
		var what []string
		for _, x := range a.Actions {
			if w := asksFor[core.IntentKind(x.Kind)]; w != "" && !slices.Contains(what, w) {
				what = append(what, w)
			}
		}
		if len(what) == 0 {
			return cluster + ": maintenance outside an update"
		}
		return cluster + ": " + wording.Some(what, 3) + ", no update"
	}
	return cluster + ": " + wording.Update(a.From, a.To)
}

// Summary is the update in a few sentences.
func (a *Account) Summary(zone *time.Location) []string {
	at := func(t Time) string { return t.In(zone).Format("2006-01-02 15:04") }
	var out []string
	switch {
	case a.Running():
		out = append(out, fmt.Sprintf("It began %s and has not ended, as far as the journal tells (%s).", at(a.Began), at(a.Last)))
	case a.EndSeen:
		out = append(out, fmt.Sprintf("It began %s, ended %s, and took %s.", at(a.Began), at(a.Ended), Span(a.Took)))
	case a.EndReconstructed:
		out = append(out, fmt.Sprintf("It began %s. Nobody watched when it ended: by its plan it was complete %s, after %s.", at(a.Began),
			at(a.Ended), Span(a.Took)))
	default:
		out = append(out, fmt.Sprintf("It began %s. Nobody watched when it ended: it was over by %s, after %s at most.",
			at(a.Began), at(a.Ended), Span(a.Took)))
	}
	done := 0
	for _, n := range a.Nodes {
		if slices.ContainsFunc(n.Maintenance, func(m Maintenance) bool { return !m.Ended.IsZero() }) { // seen or not
			done++
		}
	}
	c := a.Counts()
	stood := ""
	if !a.Outside {
		stood = " It stood still for " + Span(a.StoodStill()) +
			wording.TextIf(slices.ContainsFunc(a.Standstills, Standstill.unseen), " at most: nobody saw all of it end", "") + "."
	}
	unknown := ""
	if n := c.unknownSteps; n > 0 {
		unknown = ", and of " + wording.Count(n, "step") + " the end is not known"
	}
	out = append(out, wording.Count(done, "node")+" went through maintenance.",
		fmt.Sprintf("%s moved, by %s and %d cold; %s failed. Operators stopped or shelved %s.", wording.Count(c.Moved, "instance"),
			wording.Count(c.Live, "live migration"), c.Cold, wording.Count(c.Failed, "migration"), wording.Count(c.Stopped, "instance")),
		fmt.Sprintf("Operators confirmed %s; %s failed%s.%s", wording.Count(len(a.Actions), "step"),
			wording.Count(c.FailedSteps-c.unknownSteps, "step"), unknown, stood))
	if n := a.NodesOutside; n > 0 {
		out = append(out, wording.Count(n, "node")+" went through maintenance outside it, before or after: \"lockstep report --outside\" "+
			"tells of what was since.")
	}
	return out
}

// Counts are what the summary counts.
type Counts struct {
	Moved   int `json:"instancesMoved"` // instances that at least one migration has moved
	Live    int `json:"liveMigrations"` // that moved an instance
	Cold    int `json:"coldMigrations"` // the same; evacuations and resizes, too
	Failed  int `json:"failedMigrations"`
	Stopped int `json:"instancesStopped"`

	FailedSteps int `json:"failedSteps"` // failed, or of unknown end

	unknownSteps int // of them, those of unknown end
}

// Counts counts the account.
func (a *Account) Counts() Counts {
	var c Counts
	for _, p := range a.Projects {
		for _, in := range p.Instances {
			moved := false
			for _, m := range in.Moves {
				switch {
				case m.Failed():
					c.Failed++
				case m.Reverted():
				case m.Live():
					c.Live++
					moved = true
				default:
					c.Cold++
					moved = true
				}
			}
			if moved {
				c.Moved++
			}
			if len(in.Stopped) > 0 {
				c.Stopped++
			}
		}
	}
	for _, x := range a.Actions {
		switch core.OperationState(x.State) {
		case core.OperationFailed:
			c.FailedSteps++
		case core.OperationUnknown:
			c.FailedSteps++
			c.unknownSteps++
		}
	}
	return c
}

// unseen tells whether it is over, and nobody saw when it ended.
func (s Standstill) unseen() bool { return !s.Ended.IsZero() && !s.EndSeen }

// StoodStill is for how long the update did not go on, in seconds. Times in which it stood still for several reasons count once.
func (a *Account) StoodStill() float64 {
	var all []stretch
	for _, s := range a.Standstills {
		all = append(all, stretch{s.Began.Time, cmp.Or(s.Ended.Time, a.Last.Time)})
	}
	return covered(all)
}

// covered is how long the stretches are together, in seconds: where several overlap, once. They come in another order.
func covered(all []stretch) float64 {
	slices.SortFunc(all, func(x, y stretch) int { return x.from.Compare(y.from) })
	var total time.Duration
	var upTo time.Time
	for _, s := range all {
		if s.from.Before(upTo) {
			s.from = upTo
		}
		if s.to.After(s.from) {
			total += s.to.Sub(s.from)
			upTo = s.to
		}
	}
	return total.Seconds()
}

// Standstills are several times in which the update did not go on for the same reason, one soon after the other. It began with the first,
// and ended with the last; what it took is the sum of them.
type Standstills struct {
	Standstill
	Times int
}

// standstillsBetween is how long the update may go on between two standstills that are told as one.
const standstillsBetween = 5 * time.Minute

// StoodStillBy are the standstills as they are told: those with the same reason that came soon after one another stand once.
func (a *Account) StoodStillBy() []Standstills {
	var out []Standstills
	for _, s := range a.Standstills {
		i := len(out) - 1
		for ; i >= 0; i-- {
			if o := out[i]; o.Phase == s.Phase && o.Cause == s.Cause && o.Subject == s.Subject && o.Why == s.Why && !o.Ended.IsZero() &&
				s.Began.Sub(o.Ended.Time) < standstillsBetween {
				break
			}
		}
		if i < 0 {
			out = append(out, Standstills{s, 1})
			continue
		}
		o := &out[i]
		o.Ended, o.EndSeen, o.Took, o.Times = s.Ended, s.EndSeen, o.Took+s.Took, o.Times+1
		o.Lines = slices.Concat(o.Lines, s.Lines)
	}
	return out
}

// TimesText is ", 11 times", where there are several.
func (s Standstills) TimesText() string {
	if s.Times < 2 {
		return ""
	}
	return fmt.Sprintf(", %d times", s.Times)
}

// Open are the entries that nobody has settled, the most severe first. That a Lockstep was disarmed is no matter of the update, and the
// next one that runs there may be a colleague's.
func (a *Account) Open() []Entry {
	var open []Entry
	for _, e := range a.Entries {
		if e.Settled.IsZero() && e.Rule != string(core.RuleDisarmed) {
			open = append(open, e)
		}
	}
	slices.SortStableFunc(open, func(x, y Entry) int { return severityRank(y.Severity) - severityRank(x.Severity) })
	return open
}

// During is how long the node was in each stage of a maintenance, in their order: "queued 6 m, evacuating 4 m". A stage that it was in
// several times stands once.
func (n Node) During(m Maintenance) string {
	var order []string
	took := map[string]float64{}
	for _, s := range n.Stages {
		rests := s.Stage == string(core.StageIdle) || s.Stage == string(core.StageDone)
		if rests || s.Took <= 0 || s.Began.Before(m.Began.Time) || !m.Ended.IsZero() && !s.Began.Before(m.Ended.Time) {
			continue
		}
		if _, had := took[s.Stage]; !had {
			order = append(order, s.Stage)
		}
		took[s.Stage] += s.Took
	}
	order = slices.DeleteFunc(order, func(stage string) bool { return took[stage] < 1 })
	for i, stage := range order {
		order[i] = stage + " " + Span(took[stage])
	}
	return strings.Join(order, ", ")
}

// endText says how its end is known, behind the time.
func (m Maintenance) endText() string {
	switch {
	case m.Ended.IsZero() || m.EndSeen:
		return ""
	case m.Reconstructed:
		return ", reconstructed"
	}
	return " or before"
}

func skippedText(n int) string {
	if n == 0 {
		return ""
	}
	return ", and " + wording.Count(n, "line") + wording.Verb(n, " was", " were") + " not understood"
}
