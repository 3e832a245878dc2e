package tui

import (
	"strings"
	"time"

	"lockstep/core"
	"lockstep/themes"
)

// health is how a server does: its worst source speaks for it.
type health struct {
	label string
	state core.SourceState
	worst *core.Source
	more  int // further sources that are not live
}

var badness = map[core.SourceState]int{
	core.SourceOff: -1, core.SourceLive: 0, core.SourceAbsent: 2, core.SourceConnecting: 3, core.SourceStale: 4,
	core.SourceForbidden: 5, core.SourceFailed: 6,
}

// healths are the servers in their order. A source that is live but was not confirmed for too long counts as stale.
func healths(s *core.Snapshot) []health {
	out := []health{{label: "kubernetes"}, {label: "openstack"}, {label: "management"}}
	ids := make([]core.SourceID, 0, len(s.Sources))
	for id := range s.Sources {
		ids = append(ids, id)
	}
	sortSources(ids)
	for i, server := range []core.Server{core.ServerKubernetes, core.ServerOpenStack, core.ServerManagement} {
		h := &out[i]
		for _, id := range ids {
			if id.Server() != server {
				continue
			}
			src := s.Sources[id]
			src.State = stateNow(s, src)
			if older := server == core.ServerManagement && src.State == core.SourceAbsent && h.worst != nil; older {
				continue // a kind that older releases of it do not have; without Clusters it is another cluster
			}
			if src.State == core.SourceAbsent && id.MayBeAbsent() {
				continue // a cloud without Cinder lacks nothing
			}
			if src.State != core.SourceLive && src.State != core.SourceOff {
				h.more++
			}
			if h.worst == nil || badness[src.State] > badness[h.worst.State] {
				h.worst = &src
			}
		}
		if h.state = core.SourceConnecting; h.worst != nil {
			h.state = h.worst.State
		}
		h.more = max(h.more-1, 0)
	}
	if last := len(out) - 1; out[last].worst == nil {
		out = out[:last] // nobody told of a management cluster
	}
	return out
}

func sortSources(ids []core.SourceID) {
	for i := range ids {
		for j := i; j > 0 && ids[j] < ids[j-1]; j-- {
			ids[j], ids[j-1] = ids[j-1], ids[j]
		}
	}
}

func stateNow(s *core.Snapshot, src core.Source) core.SourceState {
	if src.State == core.SourceLive && !src.AsOf.IsZero() && s.Wall.Sub(src.AsOf) > s.Settings.StaleAfterOf(src.ID) {
		return core.SourceStale
	}
	return src.State
}

// healthLine is how the servers do, in at most w columns: with the servers' own words, and without them where there is no
// room; then without those that were never asked for, and at last by their state alone.
func healthLine(m *Model, w int) line {
	all := healths(m.snap)
	var out line
	for _, level := range []struct {
		words func(*core.Snapshot, health) string
		off   bool
	}{{fullWords, true}, {shortWords, true}, {shortWords, false}, {stateWords, false}} {
		var parts []line
		for _, h := range all {
			if h.state == core.SourceOff && !level.off {
				continue
			}
			k := sourceMark(m.look.glyph, h.state)
			part := line{txt(k.tone, k.glyph), txt(themes.Text, " "+h.label)}
			if h.state != core.SourceLive {
				part = part.and(k.tone, " "+level.words(m.snap, h))
			}
			parts = append(parts, part)
		}
		if out = append(line{blank(1)}, join(2, parts...)...); out.width() <= w {
			break
		}
	}
	return out
}

// stateWords is the state of a server, and nothing else.
func stateWords(_ *core.Snapshot, h health) string { return string(h.state) }

// shortWords is the state of a server that is not live.
func shortWords(s *core.Snapshot, h health) string {
	if h.worst == nil {
		return string(h.state)
	}
	var text string
	switch src := h.worst; src.State {
	case core.SourceConnecting:
		text = "connecting for " + age(s.Wall.Sub(src.Since))
	case core.SourceStale:
		text = age(s.Wall.Sub(src.AsOf)) + " old"
	case core.SourceOff:
		text = "off"
	default:
		text = string(src.ID) + " " + string(src.State)
	}
	if h.more > 0 {
		text += ", " + itoa(h.more) + " more"
	}
	return text
}

// fullWords is shortWords with why, and when it is tried again.
func fullWords(s *core.Snapshot, h health) string {
	text := shortWords(s, h)
	if h.worst == nil {
		return text
	}
	if e := h.worst.Err; e != nil {
		text += ": " + strings.TrimSuffix(string(e.Kind)+": "+clean(e.Message, 80), ": ")
	}
	if next := h.worst.Next; !next.IsZero() {
		text += ", again " + ago(s.Wall.Sub(next))
	}
	return text
}

// loadState is what a pane shows instead of rows, and what it says of its age: trouble is set when its facts have not
// arrived at all, old when they are not fresh.
type loadState struct {
	trouble *core.Source
	others  []*core.Source // further ones of which nothing has arrived
	old     *core.Source
}

func loadStateOf(s *core.Snapshot, ids []core.SourceID) loadState {
	var st loadState
	for _, id := range ids {
		src, ok := s.Sources[id]
		if !ok {
			continue
		}
		switch src.State = stateNow(s, src); src.State {
		case core.SourceLive:
		case core.SourceStale:
			st.old = &src
		default:
			if !src.AsOf.IsZero() && src.State != core.SourceOff && src.State != core.SourceAbsent {
				st.old = &src
			} else if st.trouble == nil {
				st.trouble = &src
			} else {
				st.others = append(st.others, &src)
			}
		}
	}
	return st
}

// allTroubleLines are the troubleLines of several sources: those that have the same trouble are named together.
func allTroubleLines(m *Model, all []*core.Source, w int) []line {
	var out []line
	told := make(map[core.SourceID]bool)
	for i, src := range all {
		if told[src.ID] {
			continue
		}
		together := *src
		for _, other := range all[i+1:] {
			if other.State == src.State && src.Err != nil && other.Err != nil && other.Err.Call == src.Err.Call && other.Err.Message == src.Err.Message {
				together.ID += ", " + other.ID
				told[other.ID] = true
			}
		}
		out = append(out, troubleLines(m, &together, w)...)
	}
	return out
}

// troubleLines say which call failed, why, and what to do.
func troubleLines(m *Model, src *core.Source, w int) []line {
	var out []line
	say := func(tone themes.Token, s string) {
		for _, l := range wrap(clean(s, rowLimit), max(w-2, 8)) {
			out = append(out, line{blank(1), txt(tone, l)})
		}
	}
	switch src.State {
	case core.SourceConnecting:
		say(themes.Moves, "Connecting for "+age(m.snap.Wall.Sub(src.Since))+": "+string(src.ID)+".")
	case core.SourceAbsent:
		say(themes.Warn, "The server does not know "+string(src.ID)+".")
	case core.SourceOff:
		say(themes.Dim, "Not configured: "+string(src.ID)+".")
	case core.SourceForbidden:
		say(themes.Bad, "Not allowed: "+string(src.ID)+".")
	default:
		say(themes.Bad, "Failed: "+string(src.ID)+".")
	}
	if e := src.Err; e != nil {
		text := "call: " + e.Call
		if e.Status != 0 {
			text += ", answer " + itoa(e.Status)
		}
		say(themes.Dim, text)
		say(themes.Text, "why: "+strings.TrimSuffix(string(e.Kind)+": "+e.Message, ": "))
		if e.Remedy != "" {
			say(themes.Key, "do: "+e.Remedy)
		}
	}
	if !src.Next.IsZero() {
		say(themes.Dim, "tried again "+ago(m.snap.Wall.Sub(src.Next)))
	}
	return out
}

func oldNote(m *Model, src *core.Source) line {
	g := m.look.glyph
	return line{txt(themes.Warn, g.Off+" "+string(src.State)+", "+sourceAge(m.snap.Wall, src)+" old")}
}

func sourceAge(wall time.Time, src *core.Source) string {
	if src.AsOf.IsZero() {
		return age(wall.Sub(src.Since))
	}
	return age(wall.Sub(src.AsOf))
}
