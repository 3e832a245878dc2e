package engine

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"time"
)

// MergeJournals reads several journals of one cluster, of operators on different machines, say, and passes on their records as one: in
// the order of the cluster's time, each journal's own order kept, and what several have seen once, as the first of them recorded it.
// One that was behind by longer than a state lasted can have it doubled.
// What was done is never left out, unless two of the files have the very same line. Every line has its place in the file that it is
// from.
func MergeJournals(paths []string, each func(JournalLine)) (skipped int, err error) {
	var all [][]JournalLine
	known := map[[sha256.Size]byte]bool{}
	for _, path := range paths {
		var lines []JournalLine
		own := map[[sha256.Size]byte]bool{}
		n, err := ReadJournalLines(path, func(l JournalLine) {
			if sum := l.sum(); !known[sum] {
				own[sum] = true
				lines = append(lines, l)
			}
		})
		if skipped += n; err != nil {
			return skipped, err
		}
		for sum := range own {
			known[sum] = true
		}
		all = append(all, lines)
	}
	seen := merged{}
	for {
		first := -1
		for i, lines := range all {
			if len(lines) > 0 && (first < 0 || lines[0].When().Before(all[first][0].When())) {
				first = i
			}
		}
		if first < 0 {
			return skipped, nil
		}
		l := all[first][0]
		all[first] = all[first][1:]
		if !seen.again(l.Record, strconv.Itoa(first)) {
			each(l)
		}
	}
}

// EncodeJournal passes records on as the lines of one journal, tied to one another.
func EncodeJournal(write func(line []byte) error) func(Record) error {
	var end tail
	return func(r Record) error {
		line, err := encodeRecord(r)
		if err != nil {
			return err
		}
		if line, end, err = end.linked(line); err != nil {
			return err
		}
		return write(line)
	}
}

// sum is the same for the very same record, wherever it stands.
func (l JournalLine) sum() [sha256.Size]byte {
	line, err := encodeRecord(l.Record)
	if err != nil || l.Run == "" {
		line = []byte(l.File + ":" + strconv.Itoa(l.Line))
	}
	return sha256.Sum256(line)
}

// merged is what was seen so far, by what it is about.
type merged map[string]*mergedOf

type mergedOf struct {
	values []mergedValue
	upTo   map[string]int // by source: how many of the values it has seen, or passed over
}

type mergedValue struct {
	value string
	at    time.Time
}

// again tells whether another source has seen what the record tells, and takes it in. Each source's records come in their order.
func (m merged) again(r Record, source string) bool {
	about, value, ok := r.observation()
	if !ok {
		return false
	}
	at := r.When()
	o := m[about]
	if o == nil {
		o = &mergedOf{upTo: map[string]int{}}
		m[about] = o
	}
	from := o.upTo[source]
	i := slices.IndexFunc(o.values[from:], func(v mergedValue) bool { return v.value == value && at.Sub(v.at).Abs() <= toldFor })
	if i >= 0 {
		o.upTo[source] = from + i + 1
		return true
	}
	if n := len(o.values); n > 0 && o.values[n-1].value == value { // it is so still: this source has only begun to look
		o.upTo[source] = n
		return true
	}
	o.values = append(o.values, mergedValue{value, at})
	o.upTo[source] = len(o.values)
	return false
}
