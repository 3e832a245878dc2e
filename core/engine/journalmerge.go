package engine

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"

	"lockstep/core"
)

// ReadInOrder reads one journal, or several as one, in the order of the times that the records tell. A journal itself is in the order in
// which it was written: what must last before it is told, and what was reconstructed, stands in it below what came later. Records of the
// same time keep the order in which they were written.
func ReadInOrder(paths []string, each func(JournalLine)) (skipped int, err error) {
	if len(paths) != 1 {
		return MergeJournals(paths, each)
	}
	var lines []JournalLine
	skipped, err = ReadJournalLines(paths[0], func(l JournalLine) { lines = append(lines, l) })
	inOrder(lines)
	take, end := inTurn(each)
	for _, l := range lines {
		take(l)
	}
	end()
	return skipped, err
}

// inOrder puts lines in the order of the times that they tell.
func inOrder(lines []JournalLine) {
	slices.SortStableFunc(lines, func(a, b JournalLine) int { return a.When().Compare(b.When()) })
}

// inTurn passes lines on that come in the order of their times: the stages that a node came into at the same time in their order. It keeps
// the lines of one moment until the next one's, or the end.
func inTurn(each func(JournalLine)) (take func(JournalLine), end func()) {
	var moment []JournalLine
	end = func() {
		core.InTurn(moment, func(l JournalLine) (object, from, to string) {
			if l.Kind != RecordStage || l.Object == nil {
				return "", "", ""
			}
			return l.Object.UID, l.From, l.To
		})
		for _, l := range moment {
			each(l)
		}
		moment = moment[:0]
	}
	return func(l JournalLine) {
		if len(moment) > 0 && !moment[0].When().Equal(l.When()) {
			end()
		}
		moment = append(moment, l)
	}, end
}

// MergeJournals reads several journals of one cluster, of operators on different machines, say, and passes on their records as one: in
// the order of the times that they tell, and what several have seen once, as the first of them recorded it. Who was behind may have seen a
// state when it was over already. What one of them reconstructed stands only where nobody saw it.
// What was done is never left out, unless two of the files have the very same line. Every line has its place in the file that it is
// from.
func MergeJournals(paths []string, each func(JournalLine)) (skipped int, err error) {
	var all []mergedSource
	known := map[[sha256.Size]byte]bool{}
	for _, path := range paths {
		var lines, later []JournalLine
		own := map[[sha256.Size]byte]bool{}
		n, err := ReadJournalLines(path, func(l JournalLine) {
			if sum := l.sum(); !known[sum] {
				if own[sum] = true; l.Reconstructed != "" {
					later = append(later, l)
				} else {
					lines = append(lines, l)
				}
			}
		})
		if skipped += n; err != nil {
			return skipped, err
		}
		for sum := range own {
			known[sum] = true
		}
		inOrder(lines)
		inOrder(later)
		all = append(all, mergedSource{lines, true}, mergedSource{later, false})
	}
	again := doubles(all)
	take, end := inTurn(each)
	defer end()
	next := make([]int, len(all))
	for {
		first := -1
		for i, source := range all {
			if next[i] < len(source.lines) && (first < 0 || source.lines[next[i]].When().Before(all[first].lines[next[first]].When())) {
				first = i
			}
		}
		if first < 0 {
			return skipped, nil
		}
		if at := next[first]; !again[first][at] {
			take(all[first].lines[at])
		}
		next[first]++
	}
}

// mergedSource is what one journal saw, or what it reconstructed.
type mergedSource struct {
	lines []JournalLine // in the order of their times
	saw   bool
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

// known tells how what the record tells is known: somebody watched (0), the API has its time (1), or it was found later (2).
func (r Record) known() int {
	switch {
	case r.Reconstructed != "":
		return 1
	case (r.Kind == RecordStage || r.Kind == RecordLock) && !r.Exact,
		r.Kind == RecordUpdate && r.Update != nil && !r.Update.Ended.IsZero() && !r.Update.EndSeen,
		r.Kind == RecordRound && r.Round != nil && r.Round.EndUnseen,
		r.Kind == RecordPhase && r.Phase != nil && !(r.Phase.Started.Exact && (r.Phase.Ended.At.IsZero() || r.Phase.Ended.Exact)):
		return 2
	}
	return 0
}

// doubles are, of each source, the indexes of the lines that tell what another line tells, too.
func doubles(sources []mergedSource) []map[int]bool {
	again := make([]map[int]bool, len(sources))
	histories := map[string][]sighted{}
	var looked looks // of the sources so far
	for i, source := range sources {
		again[i] = map[int]bool{}
		own, runs := map[string][]sighted{}, map[string]stretch{}
		for k, l := range source.lines {
			run, had := runs[l.Run]
			if at := l.When(); !had {
				runs[l.Run] = stretch{at, at}
			} else if at.After(run.to) {
				runs[l.Run] = stretch{run.from, at}
			}
			if about, value, ok := l.observation(); ok {
				own[about] = append(own[about], sighted{value: value, by: []sighting{{i, k, l.When(), l.known()}}})
			}
		}
		var ownLooks looks
		if source.saw {
			ownLooks = slices.Collect(maps.Values(runs))
		}
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
