package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/themes"
)

func itoa(n int) string { return strconv.Itoa(n) }

// headerLines are the two lines at the top: what happens, and whether what is seen can be trusted.
func (m *Model) headerLines(w int) []string {
	return []string{
		m.look.draw(m.updateLine(w), w, asItIs),
		m.look.draw(m.serverLine(w), w, asItIs),
	}
}

// updateLine is the cluster, its update, and whether Lockstep can write.
func (m *Model) updateLine(w int) line {
	right := m.writeWord()
	if m.snap == nil {
		return apart(one(themes.Strong, " lockstep"), right, w)
	}
	s := m.snap
	u := s.Update()
	narrow := w < 110
	left := line{blank(1), txt(themes.Strong, s.Cluster)}
	var parts []line
	if u.To != "" {
		release := line{txt(themes.Text, u.To)}
		if u.From != "" && u.From != u.To {
			release = line{txt(themes.Dim, u.From+" "+m.look.glyph.Arrow+" "), txt(themes.Text, u.To)}
		}
		parts = append(parts, release)
	}
	switch {
	case u.Beside != "":
		parts = append(parts, one(themes.Moves, u.Beside), one(themes.Dim, "no update runs"))
	case u.ByHand:
		parts = append(parts, one(themes.Warn, "maintenance by hand"))
	case !u.Running && u.Phase.State == core.PhaseDone:
		parts = append(parts, one(themes.Good, "update done").and(themes.Dim, tookText(u, narrow)))
		parts = append(parts, m.leftOver()...)
	case !u.Running && !u.Known:
		parts = append(parts, one(themes.Warn, "update not known"))
	case !u.Running:
		parts = append(parts, one(themes.Dim, "no update runs"))
		parts = append(parts, m.leftOver()...)
	case narrow:
		parts = append(parts, one(phaseMark(m.look.glyph, u.Phase.State).tone, fmt.Sprintf("phase %d/5: %s", u.Phase.ID, u.Phase.Title)))
	default:
		parts = append(parts, line{txt(themes.Text, fmt.Sprintf("phase %d of 5: ", u.Phase.ID)),
			txt(phaseMark(m.look.glyph, u.Phase.State).tone, u.Phase.Title)})
	}
	if u.Running && !u.Started.At.IsZero() {
		text := sinceText(u.Started, s.Now)
		if narrow {
			text = shortAge(s.Now.Sub(u.Started.At))
		}
		parts = append(parts, plain(text))
	}
	if !u.Finish.IsZero() {
		parts = append(parts, finishLine(u.Finish, u.Spread, s.Now, narrow))
	}
	n := 3
	if narrow {
		n = 2
	}
	return apart(join(n, append([]line{left}, parts...)...), right, w)
}

// tookText is how long the update took that has ended; empty when that is not known. With "<" when its end was not seen: it ended before.
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

// leftOver is how many points there are to see to after an update that has ended, and the key that leads to them.
func (m *Model) leftOver() []line {
	left, over := m.snap.AfterUpdateLeft()
	switch {
	case !over:
		return nil
	case left == 0:
		return []line{one(themes.Dim, "nothing left"+m.afterKey())}
	}
	return []line{{txt(themes.Needs, fmt.Sprintf("%d left", left)), txt(themes.Dim, m.afterKey())}}
}

func finishLine(at time.Time, spread time.Duration, now time.Time, narrow bool) line {
	if narrow {
		return one(themes.Dim, "~"+clock(at, now))
	}
	out := one(themes.Dim, "done about ").and(themes.Text, clock(at, now))
	if spread > 0 {
		out = out.and(themes.Dim, " ± "+age(spread))
	}
	return out
}

// writeWord says whether anything can be changed now.
func (m *Model) writeWord() line {
	if m.snap != nil && m.snap.Write.Armed {
		return line{txt(themes.Armed, " ARMED "), blank(1)}
	}
	return line{txt(themes.ReadOnly, " READ-ONLY "), blank(1)}
}

// serverLine is how the servers do, and who is here.
func (m *Model) serverLine(w int) line {
	if m.snap == nil {
		return line{blank(1), txt(themes.Moves, "connecting"), txt(themes.Dim, " for "+age(m.now().Sub(m.opened)))}
	}
	who := append(m.whoLine(w), blank(1))
	health, causes := healthLine(m, w-who.width()-1)
	if room := w - causes - 1; room < who.width() && room > 0 {
		who = who.cut(room) // rather than why a server cannot be seen
	}
	return apart(health, who, w)
}

func (m *Model) whoLine(w int) line {
	s := m.snap
	out := one(themes.Dim, s.Operator)
	switch {
	case s.Write.Lease == "": // nobody else is here
	case s.Write.Mine:
		out = out.and(themes.Good, " holds the lease")
	default:
		out = one(themes.Warn, s.Write.Lease+" holds the lease")
		if w >= 110 {
			out = append(one(themes.Dim, s.Operator+", "), out...)
		}
	}
	return append(m.actsAs(w), out...)
}

// actsAs names the controllers that Lockstep plays.
func (m *Model) actsAs(w int) line {
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
	return one(themes.Warn, text+"  ")
}
