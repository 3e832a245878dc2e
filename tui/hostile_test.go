package tui

import (
	"testing"
	"time"
	"unicode"

	"lockstep/core"
	"lockstep/core/attention"
)

// A world full of hostile names must not put a single escape sequence of its own on the screen, nor move a line.
func TestAHostileClusterCannotDriveTheTerminal(t *testing.T) {
	const evil = "\x1b[2J\x1b]52;c;ZXZpbA==\x07\u202e\r\nna\u0301\u0301\u0301me👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿"
	s := world()
	s.Cluster, s.Operator = evil, evil
	for _, n := range s.Nodes {
		n.ShortName += evil
		n.KubeletVersion = evil
		n.Annotations["openstack.lcm.mirantis.com/"+evil] = evil
	}
	for _, locks := range s.NodeLocks.All() {
		for _, l := range locks {
			l.Message, l.Release, l.InnerState = evil, evil, evil
		}
	}
	for _, i := range s.Instances.All() {
		i.Name, i.Status, i.TaskState, i.Fault, i.Tags = evil+i.Name, evil, evil, evil, []string{evil}
	}
	s.Operations[0].Title, s.Operations[0].Text = evil, evil
	first := attention.Of(s.CopyFacts())[0]
	s.Notes = []core.Note{
		{ID: "1", On: core.NoteOn{Node: "kaas-node-cmp07", Label: evil}, Text: evil, By: evil, At: before(time.Hour), Until: before(time.Minute)},
		{ID: "2", On: core.NoteOn{Entry: first.ID, Label: evil}, Text: evil, By: evil, At: before(time.Hour)},
	}
	lines := []core.JournalLine{{Seq: 1, Kind: evil, Who: evil, Saw: evil, Run: evil, Node: evil, Instance: evil, Label: evil, What: evil,
		Why: evil, State: evil, Operation: evil, Before: evil, After: evil, Commands: []string{evil}}}
	for _, size := range sizes {
		for _, keys := range [][]string{nil, {"1"}, {"4"}, {"5"}, {"6"}, {"i"}, {"enter"}, {"4", "i"}, {"5", "i"}, {"p"}, {":"},
			{"#"}, {"1", "#"}, {":", "notes", "enter"}, {":", "notes", "enter", "enter"}, {"H"}, {"H", "enter"}, {"H", "n"}, {"H", "p"}} {
			d := drive(s, size.w, size.h)
			d.fake.lines = lines
			d.keys(keys...)
			frame := d.shows()
			checkFrame(t, frame, size.w, size.h)
			rest := sgr.ReplaceAllString(frame, "")
			for _, r := range rest {
				if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
					t.Fatalf("%dx%d %v: %U is on the screen", size.w, size.h, keys, r)
				}
			}
		}
	}
}
