package engine

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
)

// MergeJournals reads several journals of one cluster, of operators on different machines, say, and passes on their records as one: in
// the order of the cluster's time, each journal's own order kept, and what several have seen once, as the first of them recorded it. Who
// was behind may have seen a state when it was over already.
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
	again := doubles(all)
	next := make([]int, len(all))
	for {
		first := -1
		for i, lines := range all {
			if next[i] < len(lines) && (first < 0 || lines[next[i]].When().Before(all[first][next[first]].When())) {
				first = i
			}
		}
		if first < 0 {
			return skipped, nil
		}
		if at := next[first]; !again[first][at] {
			each(all[first][at])
		}
		next[first]++
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

// doubles are, of each source, the indexes of the lines that tell what another line tells, too.
func doubles(sources [][]JournalLine) []map[int]bool {
	again := make([]map[int]bool, len(sources))
	histories := map[string][]sighted{}
	var looked looks // of the sources so far
	for i, lines := range sources {
		again[i] = map[int]bool{}
		own, runs := map[string][]sighted{}, map[string]stretch{}
		for k, l := range lines {
			run, had := runs[l.Run]
			if at := l.When(); !had {
				runs[l.Run] = stretch{at, at}
			} else if at.After(run.to) {
				runs[l.Run] = stretch{run.from, at}
			}
			if about, value, ok := l.observation(); ok {
				own[about] = append(own[about], sighted{value: value, by: []sighting{{source: i, line: k, at: l.When()}}})
			}
		}
		ownLooks := looks(slices.Collect(maps.Values(runs)))
		for about, all := range own {
			histories[about] = align(histories[about], bounded(all), looked, ownLooks)
		}
		looked = append(looked, ownLooks...)
	}
	for _, all := range histories {
		for i, tells := range telling(all) {
			for _, s := range all[i].by {
				if s != tells {
					again[s.source][s.line] = true
				}
			}
		}
	}
	return again
}
