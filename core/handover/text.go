package handover

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/core/record"
	"lockstep/core/wording"
)

// Text is the note as plain text, in lines. With markdown it is Markdown: its headings are marked, and names are not markup.
func (h Handover) Text(zone *time.Location, markdown bool) []string {
	t := texter{zone: zone, markdown: markdown, day: h.At.In(zone)}
	t.head("#", fmt.Sprintf("%s, %s: handover", h.Cluster, t.day.Format("2 January 15:04 ")+wording.ZoneText(t.day)))
	update := ""
	if h.To != "" {
		update = "Update to " + h.To + ". "
		if h.From != "" {
			update = "Update " + h.From + " → " + h.To + ". "
		}
	}
	t.line(update + h.Stands)
	t.line("Look first at: " + h.First)
	t.line("Written by " + h.By + ".")
	t.head("##", "Open")
	for _, o := range h.Open {
		text := labelled(o.Label) + o.Reason
		if o.Since != nil {
			text += ", since " + t.at(*o.Since) + o.unsure()
		}
		if o.Impact != "" {
			text += " (" + o.Severity + "; suffers: " + string(o.Impact) + ")"
		}
		if a := o.Aside; a != nil {
			text += "; set aside by " + a.By
			if a.Until != nil {
				text += " until " + t.at(*a.Until)
			}
			text += wording.Prefixed(": ", a.Text)
		}
		t.item(text + wording.Prefixed(". ", o.Hint))
	}
	t.none(len(h.Open), "Nothing needs a person.")
	t.head("##", "Under way")
	for _, r := range h.Running {
		text := r.Title + ", by " + r.By
		if r.Since != nil {
			text += ", since " + t.at(*r.Since)
		}
		t.item(text + wording.Prefixed(": ", r.Goes))
	}
	t.none(len(h.Running), "Nothing that cannot be left alone runs.")
	if len(h.Promise) > 0 {
		t.head("##", "Promised")
		for _, p := range h.Promise {
			text := labelled(p.Of) + p.Text + " (" + p.By + ")"
			if p.Until != nil {
				text += ", until " + t.at(*p.Until)
			}
			if p.Past {
				text += ": its time has come"
			}
			t.item(text)
		}
	}
	t.head("##", "To set back")
	for _, b := range h.SetBack {
		t.item(b.Of + ": " + b.What)
	}
	t.none(len(h.SetBack), "Nothing that Lockstep changed is left.")
	if len(h.Next) > 0 {
		unlearned := slices.ContainsFunc(h.Next, func(n Next) bool { return n.Unlearned })
		t.head("##", "Next"+wording.TextIf(h.Held != "", ", if it goes on now", "")+
			wording.TextIf(unlearned, ", by the times of plan and documents until a pace is known", ""))
		for _, n := range h.Next {
			text := n.What
			if n.At != nil {
				text = "about " + t.at(*n.At) + ": " + text
			}
			t.item(text)
		}
	}
	if len(h.Wrong) > 0 {
		t.head("##", "What went wrong, and is over")
		for _, w := range h.Wrong {
			t.item(t.at(w.From) + "–" + t.at(w.To) + " " + w.What + " (line " + w.Lines + ")")
		}
	}
	if len(h.Unseen) > 0 {
		t.head("##", "Not seen")
		for _, u := range h.Unseen {
			t.item(u)
		}
	}
	if len(h.Seals) > 0 {
		t.gap()
		for _, s := range h.Seals {
			t.line("Journal " + h.sealed(s) + ", seal " + s.String() + " (lockstep journal verify --seal finds what was cut off since).")
		}
	}
	return t.lines
}

// sealed is what the journal of a seal is called: its file's name, with the folder where another one has the same.
func (h Handover) sealed(s record.Seal) string {
	for _, o := range h.Seals {
		if o.File != s.File && filepath.Base(o.File) == filepath.Base(s.File) {
			return s.File
		}
	}
	return filepath.Base(s.File)
}

type texter struct {
	zone     *time.Location
	markdown bool
	day      time.Time
	lines    []string
}

// plainly is a text in which nothing is markup.
func (t *texter) plainly(s string) string {
	s = wording.OneLine(s, 1000)
	if !t.markdown {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "#", `\#`,
		"&", "&amp;", "~", `\~`, "!", `\!`).Replace(s)
}

func (t *texter) head(mark, text string) {
	t.gap()
	if t.markdown {
		text = mark + " " + t.plainly(text)
	}
	t.lines = append(t.lines, text)
	if t.markdown {
		t.lines = append(t.lines, "")
	}
}

func (t *texter) gap() {
	if len(t.lines) > 0 {
		t.lines = append(t.lines, "")
	}
}

func (t *texter) line(text string) {
	if t.markdown {
		text = t.plainly(text) + "  " // a line of its own
	}
	t.lines = append(t.lines, text)
}

func (t *texter) item(text string) { t.lines = append(t.lines, "- "+t.plainly(text)) }

func (t *texter) none(n int, text string) {
	if n == 0 {
		t.lines = append(t.lines, t.plainly(text))
	}
}

// at is a time in the zone, with its day where that is not the note's.
func (t *texter) at(when time.Time) string {
	if when.IsZero() {
		return "?"
	}
	when = when.In(t.zone)
	if when.YearDay() == t.day.YearDay() && when.Year() == t.day.Year() {
		return when.Format("15:04")
	}
	return when.Format("01-02 15:04")
}

// unsure says on which side of the time it began, behind that time; empty where it began then.
func (o Open) unsure() string {
	switch {
	case !o.About:
		return ""
	case o.Later:
		return " or later"
	}
	return " or before"
}
