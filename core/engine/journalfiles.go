package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"lockstep/core"
)

// JournalLine is a record with its place in a journal.
type JournalLine struct {
	Record
	File string // its name
	Line int    // in the file, from 1
	Seq  int64  // its number in the journal; 0: it is of an older version, which counts nothing

	Again bool // another record tells the same, and is known better; only ReadInOrder finds that

	turn  time.Time // by which it has its place in the order of times; only ReadInOrder sets it
	newer []byte    // the line without its link, where a newer version wrote fields that this one does not know
}

// JournalFile is one file of a journal.
type JournalFile struct {
	Path    string              `json:"path"`
	Number  int                 `json:"number"`         // from 1; the newest has the highest
	Lines   int                 `json:"lines"`          // of what happened; what was carried over from the file before does not count
	Size    int64               `json:"bytes"`          //
	First   time.Time           `json:"first,omitzero"` // when the first of its lines was written (wall time)
	Last    time.Time           `json:"last,omitzero"`  // and the last
	From    time.Time           `json:"from,omitzero"`  // the earliest of what it tells, by the cluster's clock
	To      time.Time           `json:"to,omitzero"`    // and the latest
	Updates []core.UpdateRecord `json:"updates"`        // of which it tells: as the file's last line about each has it
}

// JournalFiles are the files of the journal at path, the oldest first. A file that was put away is alone when it is named.
func JournalFiles(path string) ([]JournalFile, error) {
	var out []JournalFile
	err := eachFile(path, func(f *os.File, number int) error {
		file := JournalFile{Path: f.Name(), Number: number, Updates: []core.UpdateRecord{}}
		if info, err := f.Stat(); err == nil {
			file.Size = info.Size()
		}
		_, err := readRecords(f, path, nil, file.add)
		out = append(out, file)
		return err
	})
	return out, err
}

func (f *JournalFile) add(r Record) {
	if r.Kind == RecordUpdate && r.Update != nil {
		current := ""
		if n := len(f.Updates); n > 0 && f.Updates[n-1].UID == r.Update.UID {
			f.Updates = f.Updates[:n-1]
		} else if n > 0 {
			current = f.Updates[n-1].UID
		}
		if !r.endsEarlier(current) && (!r.Carried || r.Update.Ended.IsZero()) { // one that is over is told of in the file before
			f.Updates = append(f.Updates, *r.Update)
		}
	}
	if r.Carried || r.Kind == RecordCarried {
		return
	}
	if f.Lines++; f.First.IsZero() {
		f.First = r.Wall
	}
	f.Last = r.Wall
	f.From, f.To = core.Earlier(f.From, r.When()), core.Later(f.To, r.When())
}

// ReadJournalLines reads the whole journal at path as ReadJournal does, and tells the place of each record.
func ReadJournalLines(path string, each func(JournalLine)) (skipped int, err error) {
	return readJournalLines(path, false, each)
}

// readJournalLines is ReadJournalLines; with whole, lines keep the fields that this version does not know.
func readJournalLines(path string, whole bool, each func(JournalLine)) (skipped int, err error) {
	err = eachFile(path, func(f *os.File, _ int) error {
		n := 0
		return eachLine(f, func(line []byte, _ bool) {
			n++
			r, ok, blank := decodeRecord(line, nil)
			switch {
			case !ok && !blank:
				skipped++
			case ok && r.Kind != RecordCarried && !r.Carried:
				at, _ := linkOf(line)
				l := JournalLine{Record: r, File: f.Name(), Line: n, Seq: at.Seq}
				if whole {
					l.newer = newerFields(line)
				}
				each(l)
			}
		})
	})
	return skipped, err
}

// eachFile opens the files of the journal at path one after another, the oldest first. A missing journal has none.
func eachFile(path string, do func(f *os.File, number int) error) error {
	current, number, err := openCurrent(path)
	if err != nil || current == nil {
		return err
	}
	defer current.Close()
	first := 1
	if putAway(path) {
		first = number
	}
	for n := first; n < number; n++ {
		f, err := os.Open(archiveName(path, n))
		if errors.Is(err, os.ErrNotExist) {
			continue // its owner has put it away
		}
		if err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		err = do(f, n)
		f.Close()
		if err != nil {
			return fmt.Errorf("read the journal %s: %w", f.Name(), err)
		}
	}
	if _, err := current.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	if err := do(current, number); err != nil {
		return fmt.Errorf("read the journal %s: %w", current.Name(), err)
	}
	return nil
}
