package tui

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/core"
	"lockstep/core/forecast"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/themes"
	"lockstep/tui/draw"
)

func itoa(n int) string { return strconv.Itoa(n) }

// headerLines are the two lines at the top: what happens, and whether the facts on the screen can be trusted.
func (m *Model) headerLines(w int) []string {
	if m.opts.clusters != nil {
		return m.clustersHeader(w)
	}
	return []string{
		m.look.Draw(m.updateLine(w), w, draw.AsItIs),
		m.look.Draw(m.serverLine(w), w, draw.AsItIs),
	}
}

// updateLine is the cluster, its update, and whether Lockstep can write.
func (m *Model) updateLine(w int) draw.Line {
	right := m.writeWord()
	if m.snap == nil {
		return draw.Apart(draw.One(themes.Strong, " lockstep"), right, w)
	}
	s := m.snap
	u := progress.Update(s)
	narrow := w < 110
	left := draw.Line{draw.Blank(1), draw.Text(themes.Strong, s.Cluster)}
	if s.Simulated {
		left = left.And(themes.Warn, " (simulated)")
	}
	var parts []draw.Line
	if u.To != "" {
		release := draw.Line{draw.Text(themes.Text, u.To)}
		if u.From != "" && u.From != u.To {
			release = draw.Line{draw.Text(themes.Dim, u.From+" "+m.look.Glyph.Arrow+" "), draw.Text(themes.Text, u.To)}
		}
		parts = append(parts, release)
	}
	switch {
	case u.Beside != "":
		parts = append(parts, draw.One(themes.Moves, u.Beside), draw.One(themes.Dim, "no update runs"))
	case u.ByHand:
		parts = append(parts, draw.One(themes.Warn, "maintenance by hand"))
	case !u.Running && u.Phase.State == core.PhaseDone:
		parts = append(parts, draw.One(themes.Good, "update done").And(themes.Dim, tookText(u, narrow)))
		parts = append(parts, m.leftOver()...)
	case !u.Running && !u.Known:
		parts = append(parts, draw.One(themes.Warn, "update not known"))
	case !u.Running:
		parts = append(parts, draw.One(themes.Dim, "no update runs"))
		parts = append(parts, m.leftOver()...)
	case narrow:
		parts = append(parts, draw.One(phaseMark(m.look.Glyph, u.Phase.State).tone, fmt.Sprintf("phase %d/5: %s", u.Phase.ID, u.Phase.Title)))
	default:
		parts = append(parts, draw.Line{draw.Text(themes.Text, fmt.Sprintf("phase %d of 5: ", u.Phase.ID)),
			draw.Text(phaseMark(m.look.Glyph, u.Phase.State).tone, u.Phase.Title)})
	}
	if u.Running && !u.Started.At.IsZero() {
		text := m.instant.since(u.Started)
		if narrow {
			text = m.instant.shortAge(u.Started.At)
		}
		parts = append(parts, draw.Plain(text))
	}
	if end := forecast.Finish(s); !end.At.IsZero() {
		parts = append(parts, finishLine(end, &m.instant, narrow))
	}
	n := 3
	if narrow {
		n = 2
	}
	return draw.Apart(draw.Join(n, append([]draw.Line{left}, parts...)...), right, w)
}

// tookText is how long the ended update took; empty when unknown, with "<" when nobody saw it end.
func tookText(u core.Update, narrow bool) string {
	if u.Started.At.IsZero() || !u.Phase.Ended.At.After(u.Started.At) {
		return ""
	}
	took, less := u.Phase.Ended.At.Sub(u.Started.At), ""
	if !u.EndSeen {
		less = "<"
	}
	if narrow {
		return " " + less + shortAge(took)
	}
	return " in " + less + age(took)
}

// leftOver is how many points are left to do after an update, and the key that leads to them.
func (m *Model) leftOver() []draw.Line {
	left, over := procedure.AfterUpdateLeft(m.snap)
	switch {
	case !over:
		return nil
	case left == 0:
		return []draw.Line{draw.One(themes.Dim, "nothing left"+m.afterKey())}
	}
	return []draw.Line{{draw.Text(themes.Needs, fmt.Sprintf("%d left", left)), draw.Text(themes.Dim, m.afterKey())}}
}

// finishLine is when the nodes will be through. Where they are held up that is the best that can be: what holds them stands elsewhere.
func finishLine(end forecast.End, now *instant, narrow bool) draw.Line {
	at := now.clock(end.At)
	switch {
	case end.Held != "" && narrow:
		return draw.One(themes.Warn, "held up") // there is no room for the time
	case end.Held != "":
		return draw.One(themes.Warn, "held up").And(themes.Dim, ", done at best ").And(themes.Text, at)
	}
	if narrow {
		return draw.One(themes.Dim, "~"+at)
	}
	out := draw.One(themes.Dim, "done about ").And(themes.Text, at)
	if end.Spread > 0 {
		out = out.And(themes.Dim, " ± "+age(end.Spread))
	}
	return out
}

// writeWord says whether anything can be changed now.
func (m *Model) writeWord() draw.Line {
	if m.snap != nil && m.snap.Write.Armed {
		return draw.Line{draw.Text(themes.Armed, " ARMED "), draw.Blank(1)}
	}
	if m.opts.Replay != nil {
		return draw.Line{draw.Text(themes.ReadOnly, " REPLAY "), draw.Blank(1)}
	}
	return draw.Line{draw.Text(themes.ReadOnly, " READ-ONLY "), draw.Blank(1)}
}

// serverLine is the state of the servers, and who holds the lease.
func (m *Model) serverLine(w int) draw.Line {
	if m.snap == nil {
		return draw.Line{draw.Blank(1), draw.Text(themes.Moves, "connecting"), draw.Text(themes.Dim, " for "+age(m.now().Sub(m.opened)))}
	}
	least := healthLine(m, 0).Width() // no server, and no reason why one cannot be seen, is left out for a long name
	var who draw.Line
	for _, short := range []bool{false, true} {
		if who = append(m.whoLine(w, short), draw.Blank(1)); who.Width()+1+least <= w {
			break
		}
	}
	if room := max(w-least-1, 0); room < who.Width() {
		who = who.Cut(room)
	}
	return draw.Apart(healthLine(m, w-who.Width()-1), who, w)
}

// whoLine is who is here, and who holds the lease: that comes first where it is short.
func (m *Model) whoLine(w int, short bool) draw.Line {
	s := m.snap
	out := draw.One(themes.Dim, s.Operator)
	switch {
	case s.Write.Lease == "": // nobody else is here
	case s.Write.Mine && short:
		out = draw.One(themes.Good, "lease: yours")
	case s.Write.Mine:
		out = out.And(themes.Good, " holds the lease")
	case short:
		out = draw.One(themes.Warn, "lease: "+s.Write.Lease)
	default:
		out = draw.One(themes.Warn, s.Write.Lease+" holds the lease")
		if w >= 110 {
			out = append(draw.One(themes.Dim, s.Operator+", "), out...)
		}
	}
	return append(m.actsAs(w), out...)
}

// actsAs names the controllers that Lockstep plays.
func (m *Model) actsAs(w int) draw.Line {
	var names []string
	for _, a := range m.snap.Settings.ActAs {
		names = append(names, a.Controller)
	}
	if len(names) == 0 {
		return nil
	}
	text := "acts as " + strings.Join(names, ", ")
	if w < 110 {
		text = "as " + strings.Join(names, ", ")
	}
	return draw.One(themes.Warn, text+"  ")
}
