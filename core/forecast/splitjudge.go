package forecast

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// judge says what is wrong with the split, and what it rests on.
func (sp *splitting) judge(parts []Part) {
	out, u := &sp.out, sp.u
	warn := func(format string, args ...any) { out.Warnings = append(out.Warnings, fmt.Sprintf(format, args...)) }
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	window := sp.request.Window
	for _, x := range out.Unfit {
		switch n := len(x.Nodes); {
		case x.Why == whyTooMany:
			warn("No more than %d nights are looked at: %s is not planned.", mostNights,
				wording.TextIf(n > 0, wording.Count(n, "node")+" of ", "")+x.Title)
		case x.Why == whyNode:
			warn("No night is long enough for %s of %s: one takes %s, and the window %s has %s. Nothing of them is planned.",
				wording.Count(n, "node"), x.Title, wording.SpanText(x.Takes), window, wording.SpanText(window.Length()))
		default:
			warn("No night is long enough for %s: it takes %s, the window %s has %s, and it cannot rest inside. What comes after it is planned "+
				"as if it had been done.", x.Title, wording.SpanText(x.Takes), window, wording.SpanText(window.Length()))
		}
	}
	var goOn []string
	var until Moment
	for _, it := range out.Running {
		from, to := window.Next(sp.now)
		if from.After(sp.now) || it.End.Until().After(to) {
			goOn = append(goOn, it.Title)
			until = later(until, it.End)
		}
		sp.last = core.Later(sp.last, it.End.Until())
	}
	if n := len(goOn); n > 0 {
		warn("%s %s under way and %s not stop for the window: until %s.", wording.Some(goOn, 6), wording.Verb(n, "is", "are"),
			wording.Verb(n, "does", "do"), MomentText(u.s, until))
	}
	if !sp.first.IsZero() && sp.last.After(sp.first) && len(sp.request.Nodes) == 0 {
		out.Between = sp.last.Sub(sp.first)
	}
	if out.Between > MostBetween {
		warn("The cluster is between two releases for %s, from %s to %s. The documents ask for no more than one day: longer is a risk for "+
			"workloads.%s", daysText(out.Between), clockText(u.s, sp.first), clockText(u.s, sp.last), sp.faster(parts))
	}
	documents, waits, blocked := 0, 0, 0
	for _, n := range out.Nights {
		for _, it := range n.Items {
			if it.Node == "" {
				continue
			}
			if !it.Basis.Learned() {
				documents++
			}
			if it.Waits {
				waits++
			}
			if it.Block > 0 {
				blocked++
			}
		}
	}
	sp.judgeUnseen(warn)
	if waits > 0 {
		warn("%s %s for you in mode manual: the time until you are done is in no forecast.", wording.Count(waits, "node"),
			wording.Verb(waits, "waits", "wait"))
	}
	if blocked > 0 {
		warn("%s %s instances that block %s until somebody acts: `lockstep plan` names them.", wording.Count(blocked, "node"),
			wording.Verb(blocked, "has", "have"), wording.Verb(blocked, "it", "them"))
	}
	if documents > 0 {
		note("No pace is known yet for %s: the documents' numbers are taken, and these have no spread.", wording.Count(documents, "node"))
	}
	if _, known := Order(u.s); !known {
		note("The order of the nodes is not known without the management cluster: masters first, then by name. Inside a group LCM may choose.")
	}
	if u.plan == nil {
		note("No update plan is seen. Without one LCM goes on by itself from one phase to the next, and only computes can be held, by their " +
			"mode manual: nothing else ends a night.")
	} else if slices.ContainsFunc(parts, func(p Part) bool { return p.Whole }) {
		note("The Cluster was given its release, and no step is commenced: LCM goes on by itself from one step to the next, and only " +
			"computes can be held, by their mode manual: nothing else ends a night.")
	} else {
		note("A night ends by not commencing the next step or, inside a group, by taking commence away from its step: nodes in maintenance " +
			"go on to their end (inferred from the automatic pause).")
	}
	if sp.request.Evacuation == nil && sp.request.Unforecast == "" {
		note("How long the instances of each node take was not forecast: all nodes of a kind are taken to be alike.")
	}
	if !u.s.Settings.AcrossZones && slices.ContainsFunc(parts, func(p Part) bool { return p.AtOnce > 1 }) && zones(u.s) > 1 {
		note("Computes of several availability zones are not in maintenance at the same time (respect_nova_az): where the zone changes in the " +
			"order, fewer go at once than is taken here.")
	}
	note("A node begins only if it ends in the same night at the slow end of its time. Waiting for people is in no number.")
}

// judgeUnseen says what could not be looked at: nothing there is known to be well.
func (sp *splitting) judgeUnseen(warn func(format string, args ...any)) {
	s, e := sp.u.s, sp.request.Evacuation
	for _, x := range []struct {
		source core.SourceID
		what   string
	}{{core.SourceClusterRequests, "Whether an update runs"}, {core.SourceNodes, "Which nodes there are"}} {
		if !s.Known(x.source) {
			warn("%s is not known: %s.", x.what, s.WhyUnknown(x.source))
		}
	}
	if why := sp.request.Unforecast; why != "" {
		warn("The evacuation of the nodes could not be forecast: %s. Whether their instances can leave is not known, and all nodes of a kind "+
			"are taken to be alike.", strings.TrimSuffix(core.Tidy(why), "."))
	}
	if e == nil {
		return
	}
	if n := e.Counts.Unknown; n > 0 {
		warn("Of %s it is not known whether %s can leave: `lockstep plan` names %s.", wording.Count(n, "instance"),
			wording.Verb(n, "it", "they"), wording.Verb(n, "it", "them"))
	}
	for _, x := range e.Unknown {
		warn("%s", wording.Sentence(core.Tidy(x.What)+" could not be checked: "+core.Tidy(x.Why)))
	}
}

// zones is how many availability zones have computes.
func zones(s *core.Snapshot) int {
	seen := map[string]bool{}
	for _, svc := range s.Services {
		seen[svc.Zone] = true
	}
	return len(seen)
}

// faster says with how many nodes at once the update would be over within a day; empty when none of the numbers tried does it.
func (sp *splitting) faster(parts []Part) string {
	if sp.request.AtOnce > 0 {
		return ""
	}
	used := 1
	for _, p := range parts {
		used = max(used, p.AtOnce)
	}
	for _, k := range []int{2, 3, 4, 5, 6, 8, 10, 15, 20, 30} {
		if k <= used {
			continue
		}
		r := sp.request
		r.AtOnce = k
		if other := SplitNights(sp.u.s, r); len(other.Unfit) <= len(sp.out.Unfit) && other.Between <= MostBetween {
			return fmt.Sprintf(" With %d workers at a time it would be %s.", k, daysText(other.Between))
		}
	}
	return ""
}

// daysText is a length of hours or days: "2 d 5 h".
func daysText(d time.Duration) string {
	if d < MostBetween {
		return wording.SpanText(d)
	}
	hours := int(d.Round(time.Hour).Hours())
	if hours%24 == 0 {
		return fmt.Sprintf("%d d", hours/24)
	}
	return fmt.Sprintf("%d d %d h", hours/24, hours%24)
}
