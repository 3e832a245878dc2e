package tui

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/core"
	"lockstep/tui/draw"
)

// What the page of a log keeps at most: the oldest lines go first.
const (
	ringLines = 20_000
	ringBytes = 8 << 20
)

// podLine is a line of a log that is kept, with what was drawn of it.
type podLine struct {
	core.LogLine
	place  time.Time // where it stands among the others: its time, or of a line without one that of the newest line before it
	number int       // of all lines that came; the order of those with one time
	drawn  []draw.Line
	shape  lineShape // for which it was drawn
	folded string    // for the search; empty until it is needed
}

// lineShape is what the drawing of a line depends on besides the line.
type lineShape struct {
	width        int
	several, cut bool
	day          int // of the present: a line of another day says which
}

// compare is the one order of lines: by time, and lines of one time as they came.
func (r *podLine) compare(other *podLine) int {
	return cmp.Or(r.place.Compare(other.place), cmp.Compare(r.number, other.number))
}

// size is about how much memory the row takes, in bytes: its text may be there as it came, folded, and drawn.
func (r *podLine) size() int { return 3*len(r.Text) + len(r.Pod) + 200 }

// contains tells whether the folded text is in the row.
func (r *podLine) contains(want string) bool {
	if r.folded == "" {
		r.folded = folded(r.Text)
	}
	return strings.Contains(r.folded, want)
}

// logRing keeps the last lines of a log.
type logRing struct {
	rows    []*podLine
	bytes   int
	came    int // lines so far
	dropped int // of them no longer kept
	last    time.Time
}

// add adds lines. Lines of several pods are put into the order of their times.
func (r *logRing) add(lines []core.LogLine) {
	sorted := true
	for _, l := range lines {
		row := &podLine{LogLine: l, place: l.At, number: r.came}
		if l.At.IsZero() {
			row.place = r.last
		}
		if l.Notice {
			row.At = row.place
		}
		sorted = sorted && !row.place.Before(r.last)
		if row.place.After(r.last) {
			r.last = row.place
		}
		r.rows = append(r.rows, row)
		r.came++
		r.bytes += row.size()
	}
	if !sorted {
		slices.SortFunc(r.rows, (*podLine).compare)
	}
	drop := 0
	for drop < len(r.rows) && (len(r.rows)-drop > ringLines || r.bytes > ringBytes) {
		r.bytes -= r.rows[drop].size()
		drop++
	}
	r.dropped += drop
	if r.rows = r.rows[drop:]; cap(r.rows) > 4*ringLines {
		r.rows = slices.Clone(r.rows)
	}
}

// logFeed is between what reads a log and the page that shows it: the one goroutine puts lines in, the screen takes them out.
type logFeed struct {
	mu      sync.Mutex
	lines   []core.LogLine
	bytes   int
	lost    int // lines that came faster than they were taken
	pods    []core.LogPod
	trouble *core.APIError
	well    bool // something was read
	ended   bool
	err     error
}

// put takes a part of the log.
func (f *logFeed) put(p core.LogPart) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range p.Lines {
		f.bytes += len(l.Text)
	}
	if f.lines = append(f.lines, p.Lines...); len(f.lines) > ringLines || f.bytes > ringBytes {
		half := len(f.lines) / 2
		for _, l := range f.lines[:half] {
			f.bytes -= len(l.Text)
		}
		f.lines, f.lost = slices.Clone(f.lines[half:]), f.lost+half
	}
	if p.Pods != nil {
		f.pods = p.Pods
	}
	switch {
	case p.Trouble != nil:
		f.trouble = p.Trouble
	case p.Well || len(p.Lines) > 0:
		f.trouble, f.well = nil, true
	}
}

// end says that nothing comes any more.
func (f *logFeed) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.err = true, err
}

// take moves what came into the ring and the state; it tells whether anything has changed.
func (f *logFeed) take(ring *logRing, s *logState) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := f.lines
	f.lines, f.bytes = nil, 0
	was := *s
	s.pods, s.trouble, s.well, s.ended, s.err = f.pods, f.trouble, f.well, f.ended, f.err
	ring.dropped += f.lost - s.lost
	s.lost = f.lost
	ring.add(lines)
	return len(lines) > 0 || was.trouble != s.trouble || was.well != s.well || was.ended != s.ended || len(was.pods) != len(s.pods)
}

// logState is how the reading of a log goes.
type logState struct {
	pods    []core.LogPod
	trouble *core.APIError
	well    bool
	lost    int
	ended   bool
	err     error
}
