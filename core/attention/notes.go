package attention

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/wording"
)

// setAside gives each entry that waits for somebody else the note that says so.
func (f *facts) setAside() {
	for _, n := range f.s.Notes {
		if !n.Aside || n.Done {
			continue
		}
		for i := range f.found {
			if a := &f.found[i]; a.ID == n.On.Entry && f.isAside(n, *a) {
				a.Aside = &n
			}
		}
	}
}

// isAside tells whether the note still sets the entry aside: its time has not come, and the entry is what it was.
func (f *facts) isAside(n core.Note, a core.Attention) bool {
	until := core.Earlier(n.Until, n.At.Add(core.MostAside)) // however it came into the journal
	return WhyNotAside(a) == "" && a.Severity <= severityOf(n.Severity) && sameMatter(n.Matter, Matter(a)) &&
		!until.IsZero() && !f.s.Reached(until)
}

// WhyNotAside is why an entry cannot wait for somebody else; empty where it can.
func WhyNotAside(a core.Attention) string {
	switch {
	case a.Impact == core.ImpactData:
		return "it puts data at risk: it is not set aside"
	case a.Rule == core.RulePromise:
		return "it is a note's reminder: give the note another time"
	}
	return ""
}

// SetAside is the note as one that sets the entry aside until then. Check WhyNotAside first.
func SetAside(n core.Note, a core.Attention, until time.Time) core.Note {
	n.Aside, n.Until = true, until
	n.Severity, n.Matter = a.Severity.String(), Matter(a)
	return n
}

func severityOf(word string) core.Severity {
	for _, s := range []core.Severity{core.SeverityUrgent, core.SeverityWarning, core.SeverityNotice} {
		if s.String() == word {
			return s
		}
	}
	return 0
}

// Matter is what an entry is about beside its ID: what it says, and its known cause. Numbers and times are left out: they change while
// the matter is the same.
func Matter(a core.Attention) string {
	var words []string
	if a.Diagnosis != nil {
		words = append(words, string(a.Diagnosis.ID)+":")
	}
	if a.Fault != "" {
		words = append(words, a.Fault+":")
	}
	after := false // a number
	fields := strings.Fields(a.Reason)
	for i, word := range fields {
		number := strings.IndexFunc(word, unicode.IsDigit) >= 0 && strings.IndexFunc(word, unicode.IsLetter) < 0
		if unit := after && isUnit(word); !number && !unit {
			if word = strings.Trim(word, ".,:;"); after { // "1 instance", "2 instances"
				word = strings.TrimSuffix(word, "s")
			}
			words = append(words, word)
		}
		if number && i+1 < len(fields) && strings.HasPrefix(fields[i+1], "more") { // "web-1, web-2 and 3 more"
			words = append(words, more+word)
		}
		after = number
	}
	return wording.OneLine(strings.Join(words, " "), core.MostNoteText)
}

// more marks how many others an entry is about that it does not name.
const more = "+"

// sameMatter tells whether an entry that was about one matter is still about it: it may say less ("web-1, web-2", then "web-2"), and
// nothing new.
func sameMatter(was, is string) bool {
	words := strings.Fields(was)
	for _, word := range strings.Fields(is) {
		if n, ok := othersIn(word); ok {
			if !slices.ContainsFunc(words, func(was string) bool { before, ok := othersIn(was); return ok && before >= n }) {
				return false
			}
		} else if !slices.Contains(words, word) {
			return false
		}
	}
	return true
}

// othersIn is how many others a word of a Matter stands for.
func othersIn(word string) (int, bool) {
	text, ok := strings.CutPrefix(word, more)
	n, err := strconv.Atoi(text)
	return n, ok && err == nil
}

// isUnit tells whether the word is a unit of wording.SpanText.
func isUnit(word string) bool {
	switch strings.TrimRight(word, ".,:;)") {
	case "s", "m", "h":
		return true
	}
	return false
}

// promises finds notes whose time has come. A note that set an entry aside counts as long as that entry is there.
func (f *facts) promises() {
	for _, n := range f.s.Notes {
		if n.Done || n.Until.IsZero() || !f.s.Reached(n.Until) || n.Aside && !f.has(n.On.Entry) {
			continue
		}
		a := core.Attention{Rule: core.RulePromise, Key: n.ID, Severity: core.SeverityWarning, Node: n.On.Node, Instance: n.On.Instance,
			Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}, Label: wording.TextOf(n.On.Label, "note"),
			Since:  core.Since{At: n.Until, Exact: true},
			Reason: "promised: " + n.Text + " (until " + f.clock(n.Until) + ", now past)", Hint: "its page: done, or another time"}
		if i := slices.IndexFunc(f.found, func(b core.Attention) bool { return n.On.Entry != "" && b.ID == n.On.Entry }); i >= 0 {
			about := f.found[i]
			a.Subject, a.Node, a.Instance, a.Label = about.Subject, about.Node, about.Instance, about.Label
		}
		switch in, node := f.s.Instances.At(n.On.Instance), f.s.Nodes[n.On.Node]; {
		case in != nil:
			a.Subject = in.Ref()
		case node != nil:
			a.Subject = node.Ref()
		}
		f.add(a)
	}
}

func (f *facts) has(id string) bool {
	for _, a := range f.found {
		if a.ID == id {
			return true
		}
	}
	return false
}

// clock is a moment in the operator's zone, with its day where that is not near.
func (f *facts) clock(at time.Time) string {
	if f.s.NearNow(at) {
		return at.Local().Format("15:04")
	}
	return at.Local().Format("Jan 2 15:04")
}

// NoteOf is the note that an entry reminds of; false for any other entry.
func NoteOf(s *core.Snapshot, a core.Attention) (core.Note, bool) {
	if a.Rule != core.RulePromise {
		return core.Note{}, false
	}
	return s.NoteByID(a.Key)
}

// seenNote is who wrote the note that an entry reminds of, and what is known of what it is about.
func seenNote(f *facts, a core.Attention) []core.Evidence {
	n, ok := NoteOf(f.s, a)
	if !ok {
		return nil
	}
	out := []core.Evidence{{Of: "note", Says: "written by " + wording.OneLine(n.By, 100) + " at " + f.clock(n.At)}}
	if in := f.s.Instances.At(n.On.Instance); in != nil {
		out = append(out, core.Evidence{Of: wording.OneLine(in.Name, 64), Says: wording.OneLine(in.Status, 40)})
	}
	if n.On.Entry != "" && !f.has(n.On.Entry) {
		out = append(out, core.Evidence{Of: "entry", Says: "what it was about needs nobody any more"})
	}
	return out
}

func doneNote(_ *facts, a core.Attention) []core.Command {
	return []core.Command{procedure.ToLook("all notes", wording.ShellCommand("lockstep", "notes")),
		{For: "mark it as done", Line: wording.ShellCommand("lockstep", "note", "--done", a.Key), Changes: true}}
}
