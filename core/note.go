package core

import "time"

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
}

// NoteOn is what a Note is about. At most one of its IDs is set; none: the update as a whole.
type NoteOn struct {
	Entry    string `json:"entry,omitempty"`    // ID of the entry of "Needs you"
	Node     string `json:"node,omitempty"`     // its name in Kubernetes
	Instance string `json:"instance,omitempty"` // its ID
	Label    string `json:"label,omitempty"`    // what to call it
}
