package record

import (
	"cmp"
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/engine"
)

// Reader takes the lines of a journal, in order, and makes accounts of the updates in it. Lines before the first update belong to that;
// what follows an update's end belongs to it, until the next one begins.
type Reader struct {
	parts   []part
	seals   []Seal
	several bool // journals: their numbers of lines alone do not tell lines apart
}

// part is the lines of one update.
type part struct {
	update core.UpdateRecord
	lines  []engine.JournalLine
}

// Read reads journals of one cluster: one, or several as one.
func Read(paths []string) (r *Reader, skipped int, err error) {
	r = &Reader{several: len(paths) > 1}
	for _, path := range paths { // before the lines: what is written meanwhile is beyond the seal
		seal, err := engine.SealJournal(path)
		if err != nil {
			return nil, 0, err
		}
		if seal.Seq > 0 {
			r.seals = append(r.seals, seal)
		}
	}
	if len(paths) == 1 {
		skipped, err = engine.ReadJournalLines(paths[0], r.Add)
	} else {
		skipped, err = engine.MergeJournals(paths, r.Add)
	}
	return r, skipped, err
}

// Add takes the next line.
func (r *Reader) Add(l engine.JournalLine) {
	if len(r.parts) == 0 {
		r.parts = []part{{}}
	}
	last := &r.parts[len(r.parts)-1]
	if u := l.Update; l.Kind == engine.RecordUpdate && u != nil {
		if last.update.UID != "" && u.UID != last.update.UID {
			r.parts = append(r.parts, part{})
			last = &r.parts[len(r.parts)-1]
		}
		from := last.update.From
		last.update = *u
		last.update.From = cmp.Or(u.From, from)
	}
	last.lines = append(last.lines, l)
}

// Updates are those that the journal tells of, the last one last.
func (r *Reader) Updates() []core.UpdateRecord {
	var out []core.UpdateRecord
	for _, p := range r.parts {
		if p.update.UID != "" {
			out = append(out, p.update)
		}
	}
	return out
}

// Account is that of the update to the release; empty: of the last one. An update that was asked for several times is told as its last.
func (r *Reader) Account(release string) (*Account, error) {
	for i := len(r.parts) - 1; i >= 0; i-- {
		if u := r.parts[i].update; u.UID != "" && (release == "" || u.Release == release) {
			return r.accountOf(r.parts[i]), nil
		}
	}
	var known []string
	for _, u := range r.Updates() {
		known = append(known, u.Release)
	}
	if release != "" && len(known) > 0 {
		return nil, fmt.Errorf("the journal tells of no update to %s; it has those to %s", release, strings.Join(known, ", "))
	}
	return nil, fmt.Errorf("the journal tells of no update")
}
