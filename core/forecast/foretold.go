package forecast

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// mostForetold is how many ends that came are listed, the newest.
const mostForetold = 8

// foretoldKinds are the kinds in the order in which they are told, with what several of a kind are called.
var foretoldKinds = []struct {
	kind core.ForetoldKind
	name string
}{
	{core.ForetoldStep, "Steps"}, {core.ForetoldPhase, "Phases"}, {core.ForetoldNodes, "The end of all nodes"},
	{core.ForetoldWhole, "The end of the whole"},
}

// foretold are the ends that were forecast and came, of this update and of earlier ones, the newest first.
func foretold(s *core.Snapshot) []core.Foretold {
	out := slices.Collect(maps.Values(s.History.Foretold))
	slices.SortFunc(out, func(a, b core.Foretold) int {
		return cmp.Or(b.Came.Compare(a.Came), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Update, b.Update))
	})
	return out
}

// goodSection is how good the forecasts were, by kind: of nodes, by what was seen of them; of steps, phases and the whole, by what the
// journal has of the forecasts that were given.
func goodSection(s *core.Snapshot, nodes Record) Section {
	sec := Section{Title: "How good the forecasts were", Lines: nodes.Texts(s)}
	all := foretold(s)
	if len(all) == 0 {
		return sec
	}
	for _, k := range foretoldKinds {
		if text := offTexts(k.name, all, k.kind); text != "" {
			sec.Lines = append(sec.Lines, text)
		}
	}
	sec.Head = []string{"of", "given", "forecast for", "it came", "off"}
	for _, f := range all[:min(len(all), mostForetold)] {
		end := momentText(s, Moment{At: f.End, Spread: f.Spread})
		if f.Unlearned >= time.Minute {
			end += ", " + wording.SpanText(f.Unlearned) + " by documents or plan"
		}
		sec.Rows = append(sec.Rows, []string{foretoldOf(s, f), clockText(s, f.Given), end, clockText(s, f.Came), offText(f.Off())})
	}
	return sec
}

// offTexts is how good the forecasts of a kind were, in a sentence; empty where there is none.
func offTexts(name string, all []core.Foretold, kind core.ForetoldKind) string {
	var off []time.Duration
	spread, within, late := 0, 0, 0
	for _, f := range all {
		if f.Kind != kind {
			continue
		}
		off = append(off, f.Off().Abs())
		if f.Off() > 0 {
			late++
		}
		if f.Spread > 0 {
			if spread++; f.Off().Abs() <= f.Spread {
				within++
			}
		}
	}
	n := len(off)
	if n == 0 {
		return ""
	}
	slices.Sort(off)
	text := fmt.Sprintf("%s: %s, the middle one %s off", name, wording.Count(n, "forecast"), wording.SpanText(off[n/2]))
	if n == 1 {
		text = fmt.Sprintf("%s: 1 forecast, %s off", name, wording.SpanText(off[0]))
	} else if late > 0 && late < n {
		text += fmt.Sprintf("; %d came later, %d earlier", late, n-late)
	} else {
		text += wording.TextIf(late == n, "; all came later", "; none came later")
	}
	if spread > 0 {
		text += fmt.Sprintf("; %d of %d with a spread came within it", within, spread)
	}
	return text + "."
}

func foretoldOf(s *core.Snapshot, f core.Foretold) string {
	what := wording.TextOf(core.Tidy(f.Title), map[core.ForetoldKind]string{core.ForetoldNodes: "all nodes",
		core.ForetoldWhole: "the whole"}[f.Kind])
	return what + wording.TextIf(f.Update != s.History.Update.UID, ", an earlier update", "")
}

// offText is by how much an end came later or earlier than forecast.
func offText(off time.Duration) string {
	if off.Abs() < time.Minute {
		return "less than 1 m"
	}
	return wording.SpanText(off.Abs()) + wording.TextIf(off > 0, " later", " earlier")
}
