package tui

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/themes"
)

// draw is the box: what, why, the conditions, the same by hand, what comes after; the buttons below never scroll away.
func (d *confirmDialog) draw(m *Model, w, h int) []string {
	w = min(w, 104)
	if w < 44 {
		w = max(w, 20)
	}
	inner := max(w-4, 10)
	s := d.step
	title := s.Title
	if s.Label != "" && !strings.Contains(s.Title, s.Label) {
		title = s.Label + " " + m.look.glyph.Dot + " " + s.Title
	}
	if d.where != "" {
		title = d.where + " " + m.look.glyph.Dot + " " + title
	}
	note := line{txt(themes.Dim, "risk: "), txt(riskTone(s.Risk), string(s.Risk))}
	foot := d.foot(inner)
	room := max(h-2-len(foot), 1)
	body := d.body(m, inner, true)
	if len(body) > room {
		body = d.body(m, inner, false)
	}
	d.last = max(len(body)-room, 0)
	d.scroll = min(d.scroll, d.last)
	if d.last > 0 {
		more := len(body) - room - d.scroll
		body = body[d.scroll : d.scroll+room]
		if more > 0 {
			body = append(body[:len(body)-1:len(body)-1], one(themes.Key, fmt.Sprintf("%s %d more lines: down", m.look.glyph.Down, more+1)))
		}
	}
	return m.box(one(themes.Strong, title), note, append(body, foot...), w)
}

// body is everything that has to be read. Conditions that hold have a line each when all is set, otherwise they share a
// paragraph, so that what does not hold and the commands are seen first.
func (d *confirmDialog) body(m *Model, w int, all bool) []line {
	s := d.step
	var out []line
	add := func(tone themes.Token, text string) { out = append(out, paragraph(tone, text, w)...) }
	gapLine := func() {
		if len(out) > 0 && len(out[len(out)-1]) > 0 {
			out = append(out, line{})
		}
	}
	if d.next != nil {
		add(themes.Needs, "Changed since you opened it. Read again (r) before you confirm.")
		for _, n := range d.news {
			add(themes.Needs, "  "+n)
		}
		gapLine()
	}
	for _, l := range describe(m.snap, s) {
		add(themes.Text, l)
	}
	if s.Why != "" {
		out = append(out, labelled("Why: ", named(m.snap, s.Why), w)...)
	}
	if s.Status != "" {
		out = append(out, labelled("Now: ", named(m.snap, s.Status), w)...)
	}
	if len(s.Guards) > 0 {
		gapLine()
		add(themes.Dim, "Before this may happen")
		var holding []string
		for _, g := range s.Guards {
			switch {
			case all || !g.Holds:
				out = append(out, guardLines(m, g, w)...)
			case g.Answer != "":
				holding = append(holding, g.Text+" ("+g.Answer+")")
			default:
				holding = append(holding, g.Text)
			}
		}
		for i, l := range wrap(clean(strings.Join(holding, ", "), rowLimit), max(w-4, 8)) {
			lead := line{blank(4)}
			if len(holding) == 0 {
				break
			}
			if i == 0 {
				lead = line{blank(2), txt(themes.Good, m.look.glyph.On+" ")}
			}
			out = append(out, append(lead, txt(themes.Dim, l)))
		}
	}
	if d.preview != nil && (d.preview.DryRun != "" || d.preview.Err != nil) {
		if e := d.preview.Err; e != nil {
			out = append(out, line{txt(themes.Bad, "  "+m.look.glyph.Failed+" "), txt(themes.Text, "the server's dry-run")})
			out = append(out, indented(themes.Bad, e.Error(), 4, w)...)
			if e.Remedy != "" {
				out = append(out, indented(themes.Key, e.Remedy, 4, w)...)
			}
		} else {
			out = append(out, indented(themes.Dim, d.preview.DryRun, 2, w)...)
		}
	}
	if len(s.Commands) > 0 {
		gapLine()
		add(themes.Dim, "The same by hand")
		for _, c := range s.Commands {
			out = append(out, indented(themes.Key, c, 2, w)...)
		}
	}
	gapLine()
	if s.Then != "" {
		out = append(out, labelled("Then: ", s.Then, w)...)
	}
	undo := s.Undo
	if undo == "" {
		undo = "it cannot be undone"
	}
	out = append(out, labelled("To undo: ", undo, w)...)
	gapLine()
	return out
}

// labelled is a paragraph after a dim word, indented below it.
func labelled(label, text string, w int) []line {
	n := width(label)
	var out []line
	for i, s := range wrap(clean(text, rowLimit), max(w-n, 8)) {
		if i == 0 {
			out = append(out, line{txt(themes.Dim, label), txt(themes.Text, s)})
		} else {
			out = append(out, line{blank(n), txt(themes.Text, s)})
		}
	}
	return out
}

func indented(tone themes.Token, text string, n, w int) []line {
	var out []line
	for i, s := range wrap(clean(text, rowLimit), max(w-n-2, 8)) {
		in := n
		if i > 0 {
			in += 2
		}
		out = append(out, line{blank(in), txt(tone, s)})
	}
	return out
}

// guardLines are one condition, what was found, and what to do when it does not hold.
func guardLines(m *Model, g core.Guard, w int) []line {
	k := mark{m.look.glyph.On, themes.Good}
	tone, answer := themes.Text, themes.Dim
	if !g.Holds {
		k, tone, answer = mark{m.look.glyph.Off, themes.Needs}, themes.Needs, themes.Text
	}
	lead := line{blank(2), txt(k.tone, k.glyph+" ")}
	room := w - lead.width()
	text := clean(g.Text, rowLimit)
	found := clean(g.Answer, rowLimit)
	var out []line
	if col := max(room/2, 30); width(text) < col && width(text)+width(found)+2 <= room || width(text) < col && room-col > 20 {
		for i, s := range wrap(found, max(room-col, 8)) {
			if i == 0 {
				out = append(out, append(append(lead, one(tone, text).fit(col, false)...), txt(answer, s)))
			} else {
				out = append(out, line{blank(4 + col), txt(answer, s)})
			}
		}
	} else {
		for i, s := range wrap(text, max(room, 8)) {
			if i == 0 {
				out = append(out, append(lead, txt(tone, s)))
			} else {
				out = append(out, line{blank(4), txt(tone, s)})
			}
		}
		if found != "" {
			out = append(out, indented(answer, found, 6, w)...)
		}
	}
	if !g.Holds && g.Remedy != "" {
		out = append(out, indented(themes.Key, m.look.glyph.Arrow+" "+g.Remedy, 4, w)...)
	}
	return out
}

// foot is what stands before Confirm, the field for the name, and the buttons.
func (d *confirmDialog) foot(w int) []line {
	var out []line
	if d.refusal != "" {
		out = append(out, paragraph(themes.Bad, "Refused: "+d.refusal, w)...)
	}
	confirm := "Confirm"
	switch {
	case d.next != nil:
		confirm = "Read again"
	case d.preview != nil && d.preview.Err != nil && d.blocker() == "":
		confirm = "Ask again"
	}
	var left line
	reason := d.obstacle()
	switch {
	case reason == "" && d.typed():
		left = append(one(themes.Dim, "Typed: "), d.field(w-46)...).and(themes.Good, "  enter confirms")
	case reason == "":
		left = one(themes.Good, "Ready.")
	case d.typed() && d.blocker() == "" && d.next == nil && d.preview != nil && d.preview.Err == nil && !d.asking:
		left = one(themes.Dim, "Type ").and(themes.Strong, d.step.Type).and(themes.Dim, ": ")
		left = append(left, d.field(w-left.width()-26)...)
	default:
		left = one(themes.Warn, "Not yet: "+reason+".")
	}
	focus := 0
	if d.focus == onConfirm {
		focus = 1
	}
	if d.focus == onInput {
		focus = -1
	}
	b := buttons([]string{"Cancel", confirm}, focus)
	if reason != "" && d.next == nil && confirm == "Confirm" && focus != 1 {
		b = append(buttons([]string{"Cancel"}, focus), blank(2), txt(themes.Off, "  "+confirm+"  "))
	}
	if left.width()+b.width()+1 > w {
		out = append(out, left.cut(w))
		left = nil
	}
	return append(out, apart(left, b, w))
}

// field is the text that is being typed, with its cursor.
func (d *confirmDialog) field(w int) line {
	return inputLine(d.input.Value(), d.input.Position(), w, d.focus == onInput)
}

// inputLine draws a text field whose cursor is at the at-th character.
func inputLine(value string, at, w int, focused bool) line {
	w = max(w, 8)
	r := []rune(value)
	at = min(max(at, 0), len(r))
	if !focused {
		return one(themes.Input, value).cut(w)
	}
	from := max(at-w+2, 0)
	under, after := " ", ""
	if at < len(r) {
		under, after = string(r[at]), string(r[at+1:])
	}
	return line{txt(themes.Input, string(r[from:at])), txt(themes.ButtonFocus, under), txt(themes.Input, after)}.cut(w)
}

// describe says exactly what is changed on exactly which object.
func describe(s *core.Snapshot, step core.Step) []string {
	on := kindWord(step.Target.Kind) + " " + step.Target.Name
	if step.Label != "" && step.Label != step.Target.Name {
		on += " (" + step.Label + ")"
	}
	if step.Target.UID != "" && step.Target.UID != step.Target.Name {
		on += ", uid " + step.Target.UID
	}
	switch c := step.Change.(type) {
	case core.SetNodeAnnotation:
		if c.New == nil {
			return []string{"Remove " + c.Key + " (now " + quoted(c.Old) + ") from " + on + "."}
		}
		return []string{"Set " + c.Key + " from " + quoted(c.Old) + " to " + quoted(c.New) + " on " + on + "."}
	case core.InstanceAction:
		text := doing(c) + " " + on
		if c.Host != "" {
			text += ", on " + s.Label(c.Host)
		}
		if c.Status != "" {
			text += ", " + c.Status
		}
		return []string{text + "."}
	case core.SetMaintenanceTags:
		return []string{"Set the maintenance tags of " + on + " from " + actionsText(c.Old) + " to " + actionsText(c.New) + "; its other tags stay."}
	case core.SetComputeService:
		if c.Enabled {
			return []string{"Enable " + on + " (disabled with \"" + c.WasReason + "\")."}
		}
		return []string{"Disable " + on + " with the reason \"" + c.Reason + "\"."}
	case core.SetVolumeService:
		service := "cinder-volume " + c.Service.Name
		if c.Enabled {
			return []string{"Enable " + service + " (disabled with \"" + c.WasReason + "\")."}
		}
		return []string{"Disable " + service + " with the reason \"" + c.Reason + "\"."}
	case core.RestartPod:
		return []string{"Delete " + on + ", on " + s.Label(c.Node) + "; " + c.Set.Namespace + "/" + c.Set.Name + " makes a new one."}
	case core.SetTempest:
		if c.Add {
			return []string{"Add \"tempest\" to spec.features.services of " + on + "."}
		}
		return []string{"Remove \"tempest\" from spec.features.services of " + on + "."}
	case core.Batch:
		out := []string{fmt.Sprintf("%s for %s, %d at a time:", counted(len(c.Items), "change"), on, max(c.AtOnce, 1))}
		for i, item := range c.Items {
			out = append(out, fmt.Sprintf("  %2d  %s", i+1, item.Label))
		}
		if step.MayGoPast() {
			out = append(out, atFailure(c.PastFailures))
		}
		return out
	}
	if step.Target.Name == "" {
		return nil
	}
	return []string{"On " + on + "."}
}

// atFailure says what a batch does when an item fails, and which key has it do the other.
func atFailure(past bool) string {
	if past {
		return "When one fails: it goes on with the next (ctrl+f: it pauses)."
	}
	return "When one fails: it pauses (ctrl+f: it goes on with the next)."
}

// actionsText are maintenance actions in a sentence.
func actionsText(actions []core.MaintenanceAction) string {
	if len(actions) == 0 {
		return "none"
	}
	words := make([]string, len(actions))
	for i, a := range actions {
		words[i] = string(a)
	}
	return strings.Join(words, ", ")
}

func kindWord(k core.Kind) string {
	switch k {
	case core.KindNode:
		return "node"
	case core.KindInstance:
		return "instance"
	case core.KindComputeService:
		return "nova-compute of"
	case core.KindVolumeService:
		return "cinder-volume"
	case core.KindPod:
		return "pod"
	}
	return string(k)
}

// doing is what is done with an instance, as the beginning of a sentence.
func doing(c core.InstanceAction) string {
	switch c.Do {
	case core.IntentLiveMigrate:
		return "Live-migrate"
	case core.IntentColdMigrate:
		return "Cold-migrate"
	case core.IntentConfirmResize:
		return "Confirm the cold migration of"
	case core.IntentRevertResize:
		return "Take back the cold migration of"
	case core.IntentStop:
		return "Stop"
	case core.IntentStart:
		return "Start"
	case core.IntentResume:
		return "Resume"
	case core.IntentResetState:
		return "Write ACTIVE into Nova's record of"
	case core.IntentEvacuate:
		return "Evacuate"
	case core.IntentShelve:
		return "Shelve"
	case core.IntentUnshelve:
		return "Unshelve"
	case core.IntentAbortMigration:
		return fmt.Sprintf("Abort migration %d of", c.MigrationID)
	case core.IntentForceComplete:
		return fmt.Sprintf("Force migration %d to complete of", c.MigrationID)
	}
	return string(c.Do)
}

func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func quoted(s *string) string {
	if s == nil {
		return "(not set)"
	}
	return "\"" + *s + "\""
}

func joined(lines []string) string { return strings.Join(lines, "\n") }
