package engine

import (
	"context"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// noteWithin is how long a note may take to get onto the disk.
const noteWithin = 10 * time.Second

// Note writes a note into the journal: a new one without an ID, or a newer version of the one with its ID. Nothing is written to a
// cluster, so it needs no arming. It returns the note as it was written once it is on the disk and a Snapshot shows it. The error is a
// refusal, which says what is wrong with the note, or why the journal cannot be written.
func (e *Engine) Note(ctx context.Context, n core.Note) (core.Note, error) {
	if e.cfg.Journal == nil {
		return n, refuse("a note cannot be kept: there is no journal to write it into")
	}
	s := e.Snapshot()
	n, err := e.noteAs(s, n)
	if err != nil {
		return n, err
	}
	ctx, cancel := context.WithTimeout(ctx, noteWithin)
	defer cancel()
	r := Record{Kind: RecordNote, Note: &n, Node: n.On.Node}
	switch {
	case n.On.Instance != "":
		r.Object = &core.Ref{Kind: core.KindInstance, Name: n.On.Label, UID: n.On.Instance}
	case n.On.Node != "":
		r.Object = &core.Ref{Kind: core.KindNode, Name: n.On.Node}
		if node := s.Nodes[n.On.Node]; node != nil {
			r.Object.UID = node.UID
		}
	}
	if err := e.journal(ctx, r); err != nil {
		return n, refuse("the note is not kept: the journal cannot be written: %v", err)
	}
	e.call(func() { e.notes = core.WithNote(e.notes, n) }) // once the Engine has ended, the journal alone has it
	return n, nil
}

// noteAs is a note as it is to be kept, or what is wrong with it.
func (e *Engine) noteAs(s *core.Snapshot, n core.Note) (core.Note, error) {
	now := wallTime(e.cfg.Clock())
	old, known := s.NoteByID(n.ID)
	switch {
	case n.ID != "" && !known:
		return n, refuse("there is no note %s", wording.OneLine(n.ID, 40))
	case n.Done && known: // who is done with it does not become its author
		old.Done = true
		return old, nil
	}
	if text := strings.TrimSpace(core.Redact(n.Text)); len(text) > core.MostNoteText {
		return n, refuse("not taken: a note is no longer than %d bytes, and this one has %d", core.MostNoteText, len(text))
	}
	n.Text = wording.OneLine(core.Redact(n.Text), core.MostNoteText)
	n.On.Label = wording.OneLine(n.On.Label, 64)
	n.By, n.At, n.Until = e.cfg.Operator, now.UTC(), n.Until.UTC()
	switch {
	case n.Text == "":
		return n, refuse("a note needs a text")
	case !n.Until.IsZero() && !n.Until.After(now):
		return n, refuse("the time of the note is past")
	case n.Aside && n.On.Entry == "":
		return n, refuse("only an entry of \"needs you\" can be set aside")
	case n.Aside && n.Until.IsZero():
		return n, refuse("an entry is only set aside until a time")
	case n.Aside && n.Until.Sub(now) > core.MostAside:
		return n, refuse("an entry is set aside for at most %s", wording.SpanText(core.MostAside))
	}
	if !n.Aside {
		n.Severity, n.Matter = "", ""
	}
	if n.ID == "" {
		open := 0
		for _, o := range s.Notes {
			if !o.Done {
				open++
			}
		}
		if open >= core.MostNotes {
			return n, refuse("%d notes are not done: mark some of them as done first", open)
		}
		n.ID = e.cfg.NewID()
	}
	return n, nil
}

// notesOf are the notes in records of the journal.
func notesOf(past []Record) []core.Note {
	var notes []core.Note
	for _, r := range past {
		if r.Kind == RecordNote && r.Note != nil {
			notes = core.WithNote(notes, *r.Note)
		}
	}
	return notes
}
