package record

import (
	"cmp"
	"fmt"
	"slices"
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
	skipped, err = engine.ReadInOrder(paths, r.Add)
	return r, skipped, err
}

// Add takes the next line, in the order of the times that the lines tell.
func (r *Reader) Add(l engine.JournalLine) {
	if len(r.parts) == 0 {
		r.parts = []part{{}}
	}
	if u := l.Update; l.Kind == engine.RecordUpdate && u != nil && !l.Again {
		r.tellUpdate(*u)
	}
	last := &r.parts[len(r.parts)-1]
	last.lines = append(last.lines, l)
}

// tellUpdate takes what a line tells of an update. The next one opens a part. A line about an update before it does not: who did not look
// when it ended tells its end once the next one runs.
func (r *Reader) tellUpdate(u core.UpdateRecord) {
	for i := range r.parts {
		if known := &r.parts[i].update; known.UID == u.UID {
			from := known.From
			*known = withBetterEnd(u, *known)
			known.From = cmp.Or(u.From, from)
			return
		}
	}
	switch last := &r.parts[len(r.parts)-1].update; {
	case last.UID == "":
		*last = u
	case u.Ended.IsZero() || !u.Started.Before(last.Started):
		r.parts = append(r.parts, part{update: u})
	}
}

// withBetterEnd is the update with its end as that is known best: seen, else reconstructed, else found to be over by then. Of two ends that
// are known as well it is the earlier one.
func withBetterEnd(u, known core.UpdateRecord) core.UpdateRecord {
	rank := func(u core.UpdateRecord) int {
		switch {
		case u.Ended.IsZero():
			return 0
		case u.EndSeen:
			return 3
		case u.Reconstructed:
			return 2
		}
		return 1
	}
	if rank(known) > rank(u) || rank(known) == rank(u) && known.Ended.Before(u.Ended) {
		u.Ended, u.EndSeen, u.Reconstructed = known.Ended, known.EndSeen, known.Reconstructed
	}
	return u
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
// Where the journal tells of no update, it is that of the maintenance outside one.
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
	if release != "" {
		return nil, fmt.Errorf("the journal tells of no update")
	}
	return r.AccountOutside()
}

// AccountOutside is that of the maintenance since the last update, or of all where there was none: graceful reboots, maintenance mode.
func (r *Reader) AccountOutside() (*Account, error) {
	if len(r.parts) == 0 {
		return nil, fmt.Errorf("the journal tells of no update, and of no maintenance")
	}
	p := r.parts[len(r.parts)-1]
	update := p.update
	return r.outside(part{lines: linesAfter(p.lines, update.UID)}, update)
}

// linesAfter are the lines after the last one of the update.
func linesAfter(lines []engine.JournalLine, uid string) []engine.JournalLine {
	for i, l := range slices.Backward(lines) {
		if l.Kind == engine.RecordUpdate && l.Update != nil && l.Update.UID == uid {
			return lines[i+1:]
		}
	}
	return lines
}

func (r *Reader) outside(p part, update core.UpdateRecord) (*Account, error) {
	if update.UID != "" && update.Ended.IsZero() {
		return nil, fmt.Errorf("the update to %s has not ended, as far as the journal tells: it tells of no maintenance outside it",
			update.Release)
	}
	a := r.accountOf(p)
	if a.Began.IsZero() {
		if update.UID != "" {
			return nil, fmt.Errorf("the journal tells of no maintenance since the update to %s", update.Release)
		}
		return nil, fmt.Errorf("the journal tells of no update, and of no maintenance")
	}
	return a, nil
}
