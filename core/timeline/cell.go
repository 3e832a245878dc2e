package timeline

import (
	"cmp"
	"reflect"
	"slices"
	"sort"
	"time"

	"lockstep/core"
)

// Cell is what one column of the screen shows of a row.
type Cell struct {
	Span  Span // what the column is about; its Bar is None when nothing happened
	First bool // the span begins in this column, or before the first one
}

// CellOf is what a row's spans have from a moment up to another: what stood still, else what took most of the time, else what was first.
func CellOf(spans []Span, from, to time.Time) Cell {
	best, most := -1, time.Duration(-1)
	for i := firstAfter(spans, from); i < len(spans) && spans[i].Start.Before(to); i++ {
		part := core.Earlier(spans[i].End, to).Sub(core.Later(spans[i].Start, from))
		if spans[i].Bar.Stands() {
			part += 100000 * time.Hour // longer than any column
		}
		if part > most {
			best, most = i, part
		}
	}
	if best < 0 {
		return Cell{}
	}
	return Cell{Span: spans[best], First: !spans[best].Start.Before(from)}
}

// firstAfter is the first of the spans that ends after a moment.
func firstAfter(spans []Span, at time.Time) int {
	return sort.Search(len(spans), func(i int) bool { return spans[i].End.After(at) })
}

// Within are the spans that have a part from a moment up to another.
func Within(spans []Span, from, to time.Time) []Span {
	at := firstAfter(spans, from)
	end := at
	for end < len(spans) && spans[end].Start.Before(to) {
		end++
	}
	return spans[at:end]
}

// Move is a migration that ended.
type Move struct {
	At       time.Time
	Failed   bool // it ended without moving the instance
	Instance string
	To       string // host
}

// moves are the migrations by the host that they left.
type moves struct {
	start, ended time.Time
	of           map[string][]*core.Migration
	byHost       map[string][]Move
}

var moved core.Derivation[moves]

// Underway are the migrations from the node that had begun at a moment and had not ended, in the order in which they began, as far as Nova
// still lists them. At is when they began.
func Underway(s *core.Snapshot, node string, at time.Time) []Move {
	host := s.HostOf(node)
	var out []Move
	for _, list := range s.Migrations {
		for _, m := range list {
			done, failed := ends(m)
			if m.SourceHost == host && !m.Created.After(at) && (m.Updated.After(at) || !done && !failed && m.Running()) {
				out = append(out, Move{m.Created, false, m.InstanceID, m.DestHost})
			}
		}
	}
	slices.SortFunc(out, func(a, b Move) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Instance, b.Instance)) })
	return out
}

// Moves are the migrations from the node that ended in the time of the timeline, oldest first, as far as Nova still lists them.
func Moves(s *core.Snapshot, node string) []Move {
	return moved.After(s, func(s *core.Snapshot, earlier moves) moves {
		t := begin(s)
		out := moves{start: t.Start, ended: t.Ended, of: s.Migrations}
		if earlier.byHost != nil && earlier.start.Equal(out.start) && earlier.ended.Equal(out.ended) &&
			reflect.ValueOf(earlier.of).Pointer() == reflect.ValueOf(out.of).Pointer() {
			return earlier // the lists of a Snapshot are never changed in place
		}
		out.byHost = map[string][]Move{}
		for _, list := range s.Migrations {
			for _, m := range list {
				if m.Created.Before(t.Start) {
					break // newest first
				}
				if done, failed := ends(m); (done || failed) && (t.Ended.IsZero() || m.Updated.Before(t.Ended)) {
					out.byHost[m.SourceHost] = append(out.byHost[m.SourceHost], Move{m.Updated, failed, m.InstanceID, m.DestHost})
				}
			}
		}
		for _, list := range out.byHost {
			slices.SortFunc(list, func(a, b Move) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Instance, b.Instance)) })
		}
		return out
	}).byHost[s.HostOf(node)]
}

// ends tells how a migration ended: the instance has left its host, or not.
func ends(m *core.Migration) (done, failed bool) {
	if m.Type == core.MigrationResize {
		return false, false
	}
	switch m.Status {
	case "completed", "done", "finished", "confirmed":
		return true, false
	}
	return false, m.Failed()
}

// MovesWithin counts the migrations that ended from a moment up to another.
func MovesWithin(list []Move, from, to time.Time) (done, failed int) {
	at, _ := slices.BinarySearchFunc(list, from, func(m Move, at time.Time) int { return m.At.Compare(at) })
	for _, m := range list[at:] {
		switch {
		case !m.At.Before(to):
			return done, failed
		case m.Failed:
			failed++
		default:
			done++
		}
	}
	return done, failed
}
