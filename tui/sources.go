package tui

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// health is the state of a server, which is that of its worst source.
type health struct {
	label string
	state core.SourceState
	worst *core.Source
	more  int  // further sources that are not live
	whole bool // all of them have the worst one's trouble, or it is the whole server's and none of them can be seen
}

var badness = map[core.SourceState]int{
	core.SourceOff: -1, core.SourceLive: 0, core.SourceAbsent: 2, core.SourceConnecting: 3, core.SourceStale: 4,
	core.SourceForbidden: 5, core.SourceFailed: 6,
}

// away is added to a trouble that the whole server has: it is worse than any other.
const away = 10

// cause is the error of a source that is not live; nil where its state says enough, as when a watch broke off and is being reopened.
func cause(src *core.Source) *core.APIError {
	if src == nil || src.Err == nil {
		return nil
	}
	switch src.State {
	case core.SourceStale:
		if !src.Err.WholeServer() {
			return nil
		}
		return src.Err
	case core.SourceFailed, core.SourceForbidden:
		return src.Err
	}
	return nil
}

func worse(src *core.Source) int {
	if e := cause(src); e != nil && e.WholeServer() {
		return away + badness[src.State]
	}
	return badness[src.State]
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
		all, alike := 0, map[string]int{}
		asked, unseen := 0, 0 // those of them that nobody forbids
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
				continue // a cloud without Cinder is fine
			}
			if src.State != core.SourceOff && !src.AsksNobody() {
				all++
				if src.State != core.SourceForbidden {
					asked++
				}
				if src.State != core.SourceForbidden && src.State != core.SourceLive {
					unseen++
				}
			}
			if src.State != core.SourceLive && src.State != core.SourceOff {
				h.more++
			}
			if e := cause(&src); e != nil {
				alike[e.Cause()]++
			}
			if h.worst == nil || worse(&src) > worse(h.worst) {
				h.worst = &src
			}
		}
		if h.state = core.SourceConnecting; h.worst != nil {
			h.state = h.worst.State
		}
		h.more = max(h.more-1, 0)
		if e := cause(h.worst); e != nil {
			h.whole = all > 1 && (alike[e.Cause()] == all || e.WholeServer() && unseen == asked)
		}
	}
	if last := len(out) - 1; out[last].worst == nil {
		out = out[:last] // no management cluster is configured
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

// atEase tells whether no server has a trouble, about which the screen says since when.
func atEase(s *core.Snapshot) bool {
	for id, src := range s.Sources {
		switch stateNow(s, src) {
		case core.SourceLive, core.SourceOff:
		case core.SourceAbsent:
			if !id.MayBeAbsent() {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// healthLine is the state of the servers in at most w columns. Where room is short it drops the servers' own words first, then
// the servers that nobody configured, and last everything but each one's cause. It may still be wider: then it must not be cut for the
// sake of something else.
func healthLine(m *Model, w int) (out draw.Line) {
	all := healths(m.snap)
	for _, level := range []struct {
		words func(*core.Snapshot, health) string
		off   bool
	}{{fullWords, true}, {shortWords, true}, {shortWords, false}, {causeWords, false}} {
		var parts []draw.Line
		for _, h := range all {
			if h.state == core.SourceOff && !level.off {
				continue
			}
			k := healthMark(m.look.Glyph, h)
			part := draw.Line{draw.Text(k.tone, k.glyph), draw.Text(themes.Text, " "+h.label)}
			if h.state != core.SourceLive {
				part = part.And(k.tone, " "+level.words(m.snap, h))
			}
			parts = append(parts, part)
		}
		if out = append(draw.Line{draw.Blank(1)}, draw.Join(2, parts...)...); out.Width() <= w {
			break
		}
	}
	return out
}

// healthMark is the mark of a server: the worst one where nothing of it can be seen.
func healthMark(g themes.Glyphs, h health) mark {
	if e := cause(h.worst); e != nil && e.WholeServer() {
		return mark{g.Failed, themes.Bad}
	}
	return sourceMark(g, h.state)
}

// causeWords is a server's trouble, and nothing else.
func causeWords(_ *core.Snapshot, h health) string {
	if e := cause(h.worst); e != nil {
		return e.Cause()
	}
	return string(h.state)
}

// shortWords is a server's trouble: the cause first, then the sources and since when.
func shortWords(s *core.Snapshot, h health) string {
	if h.worst == nil {
		return string(h.state)
	}
	var text string
	src := h.worst
	e := cause(src)
	switch {
	case e != nil:
		text = e.Cause()
		if !h.whole {
			text += ": " + string(src.ID)
		}
		if src.State == core.SourceStale && !src.AsOf.IsZero() {
			text += ", " + age(s.Wall.Sub(src.AsOf)) + " old"
		}
	case src.State == core.SourceConnecting:
		text = "connecting for " + age(s.Wall.Sub(src.Since))
	case src.State == core.SourceStale:
		text = age(s.Wall.Sub(src.AsOf)) + " old"
	case src.State == core.SourceOff:
		text = "off"
	default:
		text = string(src.ID) + " " + string(src.State)
	}
	if h.more > 0 && !h.whole {
		text += ", " + itoa(h.more) + " more"
	}
	return text
}

// fullWords is shortWords with the server's own words and the time of the next try.
func fullWords(s *core.Snapshot, h health) string {
	text := shortWords(s, h)
	if h.worst == nil {
		return text
	}
	if e := h.worst.Err; e != nil {
		own := strings.TrimRight(sanitise.Text(e.Message, 80), " .")
		if cause(h.worst) == nil {
			own = strings.TrimSuffix(string(e.Kind)+": "+own, ": ")
		}
		if own != "" {
			text += ": " + own
		}
	}
	if next := h.worst.Next; !next.IsZero() {
		text += ", again " + ago(s.Wall.Sub(next))
	}
	return text
}

// loadState is the state of a pane's facts: trouble is set when they have not arrived at all, old when they are not fresh.
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
			st.old = older(st.old, &src)
		default:
			if !src.AsOf.IsZero() && src.State != core.SourceOff && src.State != core.SourceAbsent {
				st.old = older(st.old, &src)
			} else if st.trouble == nil {
				st.trouble = &src
			} else {
				st.others = append(st.others, &src)
			}
		}
	}
	return st
}

// older is the one of two sources whose facts are older; of those that are about as old, the one in worse trouble. a may be nil.
func older(a, b *core.Source) *core.Source {
	if a == nil {
		return b
	}
	if by := a.AsOf.Sub(b.AsOf); by > time.Minute || by >= -time.Minute && worse(b) > worse(a) {
		return b
	}
	return a
}

// allTroubleLines are the troubleLines of several sources; sources with the same trouble are named together.
func allTroubleLines(m *Model, all []*core.Source, w int) []draw.Line {
	var out []draw.Line
	told := make(map[core.SourceID]bool)
	for i, src := range all {
		if told[src.ID] {
			continue
		}
		together := *src
		for _, other := range all[i+1:] {
			if other.State == src.State && sameCause(src.Err, other.Err) {
				together.ID += ", " + other.ID
				told[other.ID] = true
			}
		}
		out = append(out, troubleLines(m, &together, w)...)
	}
	return out
}

// sameCause tells whether two sources have the same trouble.
func sameCause(a, b *core.APIError) bool {
	return a != nil && b != nil && (a.Call == b.Call && a.Message == b.Message ||
		a.WholeServer() && a.Cause() == b.Cause() && a.Message == b.Message)
}

// upper capitalises the first letter of a text.
func upper(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// troubleLines say what the trouble is, why, what to do, and which call failed: the cause first, since the last lines may be cut.
func troubleLines(m *Model, src *core.Source, w int) []draw.Line {
	var out []draw.Line
	say := func(tone themes.Token, s string) {
		for _, l := range draw.Wrap(sanitise.Row(s), max(w-2, 8)) {
			out = append(out, draw.Line{draw.Blank(1), draw.Text(tone, l)})
		}
	}
	e := src.Err
	switch {
	case src.State == core.SourceConnecting:
		say(themes.Moves, "Connecting for "+age(m.snap.Wall.Sub(src.Since))+": "+string(src.ID)+".")
	case src.State == core.SourceAbsent:
		say(themes.Warn, "The server does not know "+string(src.ID)+".")
	case src.State == core.SourceOff:
		say(themes.Dim, "Not configured: "+string(src.ID)+".")
	case src.State == core.SourceForbidden:
		say(themes.Bad, "Not allowed: "+string(src.ID)+".")
	case e != nil:
		say(themes.Bad, upper(e.Cause())+": "+string(src.ID)+".")
	default:
		say(themes.Bad, "Failed: "+string(src.ID)+".")
	}
	if e != nil {
		if e.Message != "" {
			say(themes.Text, "why: "+e.Message)
		}
		if e.Remedy != "" {
			say(themes.Key, "do: "+e.Remedy)
		}
		text := "call: " + e.Call
		if e.Status != 0 {
			text += ", answer " + itoa(e.Status)
		}
		say(themes.Dim, text)
	}
	if !src.Next.IsZero() {
		say(themes.Dim, "tried again "+ago(m.snap.Wall.Sub(src.Next)))
	}
	return out
}

func oldNote(m *Model, src *core.Source) draw.Line {
	g := m.look.Glyph
	if e := cause(src); e != nil {
		return draw.Line{draw.Text(themes.Bad, g.Failed+" "+e.Cause()+", "+sourceAge(m.snap.Wall, src)+" old")}
	}
	return draw.Line{draw.Text(themes.Warn, g.Off+" "+string(src.State)+", "+sourceAge(m.snap.Wall, src)+" old")}
}

func sourceAge(wall time.Time, src *core.Source) string {
	if src.AsOf.IsZero() {
		return age(wall.Sub(src.Since))
	}
	return age(wall.Sub(src.AsOf))
}
