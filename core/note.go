package core

import (
	"slices"
	"time"
)

// Note is what an operator wrote down about an entry of "Needs you", a node, an instance, or the update as a whole.
type Note struct {
	ID    string    `json:"id"`              // made when it is written; a later record with the same ID replaces it
	On    NoteOn    `json:"on"`              // what it is about
	Text  string    `json:"text"`            // one line
	By    string    `json:"by"`              // who wrote it: an Operator in one line
	At    time.Time `json:"at"`              // when it was written (the cluster's time)
	Until time.Time `json:"until,omitzero"`  // when to be reminded; zero: never (the cluster's time)
	Aside bool      `json:"aside,omitempty"` // its entry waits for somebody else, and is set aside until then
	Done  bool      `json:"done,omitempty"`  // it is seen to: it reminds of nothing, and sets nothing aside

	// Of the entry when it was set aside. One that became more severe, or is about another matter, is set aside no more.
	Severity string `json:"severity,omitempty"`
	Matter   string `json:"matter,omitempty"` // what it said, without numbers
}

// NoteOn is what a Note is about. At most one of its IDs is set; none: the update as a whole.
type NoteOn struct {
	Entry    string `json:"entry,omitempty"`    // ID of the entry of "Needs you"
	Node     string `json:"node,omitempty"`     // its name in Kubernetes
	Instance string `json:"instance,omitempty"` // its ID
	Label    string `json:"label,omitempty"`    // what to call it
}

// Bounds of notes.
const (
	MostNoteText  = 400            // bytes of the text
	MostNotes     = 500            // that are not done: an operator reads them
	MostNotesDone = 100            // that are done and still listed; the journal has all
	MostAside     = 12 * time.Hour // how far ahead an entry can be set aside
)

// WithNote is the list of notes, by the time at which they were written, with one more or with a newer version of one.
func WithNote(notes []Note, n Note) []Note {
	out := slices.DeleteFunc(slices.Clone(notes), func(o Note) bool { return o.ID == n.ID })
	at, _ := slices.BinarySearchFunc(out, n, func(a, b Note) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return -1 // of the same moment, the newest last
	})
	out = slices.Insert(out, at, n)
	done := 0
	for i := len(out) - 1; i >= 0; i-- {
		if out[i].Done {
			if done++; done > MostNotesDone {
				out = slices.Delete(out, i, i+1)
			}
		}
	}
	return out
}

// OpenNotes are the notes about something that are not done, the oldest first: about the entry with the ID, or the node, or the instance.
// Of the three, those that are empty count for nothing.
func (s *Snapshot) OpenNotes(entry, node, instance string) []Note {
	return s.NotesAt(func(n Note) bool {
		return entry != "" && n.On.Entry == entry || node != "" && n.On.Node == node || instance != "" && n.On.Instance == instance
	})
}

// NotesAt are the notes that are not done and fit, the oldest first.
func (s *Snapshot) NotesAt(fits func(Note) bool) []Note {
	var out []Note
	for _, n := range s.Notes {
		if !n.Done && fits(n) {
			out = append(out, n)
		}
	}
	return out
}

// noted are what there are notes on that are not done, by node and by instance.
var noted Derivation[map[NoteOn]bool]

// HasNote tells whether there is a note on the node, or on the instance, that is not done.
func (s *Snapshot) HasNote(node, instance string) bool {
	all := noted.OfFew(s, func(s *Snapshot) map[NoteOn]bool {
		all := map[NoteOn]bool{}
		for _, n := range s.Notes {
			if !n.Done {
				all[NoteOn{Node: n.On.Node, Instance: n.On.Instance}] = true
			}
		}
		return all
	})
	return (node != "" || instance != "") && all[NoteOn{Node: node, Instance: instance}]
}

// NoteByID is the note; false when there is none.
func (s *Snapshot) NoteByID(id string) (Note, bool) {
	i := slices.IndexFunc(s.Notes, func(n Note) bool { return n.ID == id })
	if i < 0 {
		return Note{}, false
	}
	return s.Notes[i], true
}
