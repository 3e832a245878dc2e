package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"lockstep/core"
)

// ReadInOrder reads one journal, or several of one cluster as one, in the order of the times that the records tell. A journal itself is in
// the order in which it was written: what must last before it is told, and what was reconstructed, stands in it below what came later.
// Records of the same time keep the order in which they were written; of several journals those of the first come first. Every record
// has its place in the file that it is from, and Again where another one tells the same (core.Retold). A record that stands in two of
// the files is passed on once.
func ReadInOrder(paths []string, each func(JournalLine)) (skipped int, err error) {
	return readInOrder(paths, len(paths) > 1, each)
}

// readInOrder is ReadInOrder; with whole, lines keep the fields that this version does not know.
func readInOrder(paths []string, whole bool, each func(JournalLine)) (skipped int, err error) {
	journals, tellings := make([][]JournalLine, 0, len(paths)), make([][]core.Telling, 0, len(paths))
	known := map[[sha256.Size]byte]bool{}
	for _, path := range paths {
		var lines []JournalLine
		own := map[[sha256.Size]byte]bool{}
		n, err := readJournalLines(path, whole, func(l JournalLine) {
			if len(paths) > 1 {
				sum := l.sum()
				if known[sum] {
					return
				}
				own[sum] = true
			}
			lines = append(lines, l)
		})
		if skipped += n; err != nil {
			return skipped, err
		}
		maps.Copy(known, own)
		inOrder(lines)
		told := make([]core.Telling, len(lines))
		for i := range lines {
			told[i] = lines[i].telling()
		}
		journals, tellings = append(journals, lines), append(tellings, told)
	}
	for i, again := range core.Retold(tellings...) {
		for k, is := range again {
			journals[i][k].Again = is
		}
	}
	take, end := inTurn(each)
	defer end()
	for {
		first := -1
		for i, lines := range journals {
			if len(lines) > 0 && (first < 0 || lines[0].turn.Before(journals[first][0].turn)) {
				first = i
			}
		}
		if first < 0 {
			return skipped, nil
		}
		take(journals[first][0])
		journals[first] = journals[first][1:]
	}
}

// ReadOnce is ReadInOrder without the records that tell again what another one tells. What was done is never left out. Its lines keep the
// fields that this version does not know for EncodeJournal.
func ReadOnce(paths []string, each func(JournalLine)) (skipped int, err error) {
	return readInOrder(paths, true, func(l JournalLine) {
		if !l.Again {
			each(l)
		}
	})
}

// inOrder puts the lines of one journal in the order of the times that they tell. What one run did stays in the order in which it was
// written, though its clock was set back meanwhile: a step does not end before it begins.
func inOrder(lines []JournalLine) {
	latest := map[string]time.Time{} // by run: of what it did
	for i := range lines {
		l := &lines[i]
		l.turn = l.When()
		if _, _, seen := l.observation(); !seen && l.Operation != "" {
			l.turn = core.Later(latest[l.Run], l.turn)
			latest[l.Run] = l.turn
		}
	}
	slices.SortStableFunc(lines, func(a, b JournalLine) int { return a.turn.Compare(b.turn) })
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
		if len(moment) > 0 && !moment[0].turn.Equal(l.turn) {
			end()
		}
		moment = append(moment, l)
	}, end
}

// EncodeJournal passes lines on as those of one journal, tied to one another. What a newer version has written into a line stays in it.
func EncodeJournal(write func(line []byte) error) func(JournalLine) error {
	var end tail
	return func(l JournalLine) error {
		line, err := l.encode()
		if err != nil {
			return err
		}
		if line, end, err = end.linked(line); err != nil {
			return err
		}
		return write(line)
	}
}

// encode is the line without its link, with its newline.
func (l JournalLine) encode() ([]byte, error) {
	if l.newer != nil && unkept(l.Change) == "" {
		return encodeText(l.newer), nil
	}
	return encodeRecord(l.Record)
}

// newerFields is a line without its link if it has fields that this version does not know; nil if not.
func newerFields(line []byte) []byte {
	line = bytes.TrimSpace(line)
	var known struct {
		Record
		link
	}
	strict := json.NewDecoder(bytes.NewReader(line))
	strict.DisallowUnknownFields()
	if strict.Decode(&known) == nil {
		return nil
	}
	if i := bytes.LastIndex(line, []byte(`,"v":`)); i > 0 {
		if at, ok := linkOf(append([]byte("{"), line[i+1:]...)); ok && at.Version > 0 {
			return append(bytes.Clone(line[:i]), '}')
		}
	}
	return bytes.Clone(line)
}

// sum is the same for the very same record, wherever it stands.
func (l JournalLine) sum() [sha256.Size]byte {
	line, err := l.encode()
	if err != nil || l.Run == "" {
		line = []byte(l.File + ":" + strconv.Itoa(l.Line))
	}
	return sha256.Sum256(line)
}
