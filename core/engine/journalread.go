package engine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxJournalLine is how long a line of a journal may be, in bytes. A longer line is not a record.
const maxJournalLine = 16 << 20

// ReadJournal reads the whole journal at path in order, with its earlier files, one record at a time. Lines that are not records (cut
// off by a crash, or written by a newer version) are skipped and counted. A missing journal is an empty one.
func ReadJournal(path string, each func(Record)) (skipped int, err error) {
	whole := func(r Record) {
		if r.Kind != RecordCarried && !r.Carried { // the others were read before
			each(r)
		}
	}
	current, number, err := openCurrent(path)
	if err != nil {
		return 0, err
	}
	if current != nil {
		defer current.Close()
	}
	for n := 1; n < number; n++ {
		f, err := os.Open(archiveName(path, n))
		if errors.Is(err, os.ErrNotExist) {
			continue // its owner has put it away
		}
		if err != nil {
			return skipped, fmt.Errorf("read the journal: %w", err)
		}
		more, err := readRecords(f, path, nil, whole)
		f.Close()
		if skipped += more; err != nil {
			return skipped, err
		}
	}
	if current == nil {
		return skipped, nil
	}
	more, err := readRecords(current, path, nil, whole)
	return skipped + more, err
}

// archiveName is the name of an earlier file of a journal.
func archiveName(path string, number int) string { return fmt.Sprintf("%s.%04d", path, number) }

// nextName is the name of the next file before it takes the journal's name.
func nextName(path string) string { return path + ".new" }

// openCurrent opens the journal's newest file for reading and returns its number; the file is nil when there is none.
func openCurrent(path string) (*os.File, int, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		f, err = os.Open(nextName(path)) // it was whole before the last one was moved away
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, 1, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the journal: %w", err)
	}
	number, err := fileNumber(f)
	if err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("read the journal: %w", err)
	}
	return f, number, nil
}

// fileNumber reads the number of a journal's file from its first line. It does not move the file's offset.
func fileNumber(f *os.File) (int, error) {
	head := make([]byte, 4096)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	var r Record
	if json.Unmarshal(line, &r) == nil && r.Kind == RecordCarried && r.File > 1 {
		return r.File, nil
	}
	return 1, nil
}

// readRecords reads records to the end of r. It does not decode lines of kinds that are not wanted; nil wants all.
func readRecords(r io.Reader, path string, wanted func(RecordKind) bool, each func(Record)) (skipped int, err error) {
	b := bufio.NewReaderSize(r, 1<<16)
	var line []byte
	for {
		part, err := b.ReadSlice('\n')
		if len(line) <= maxJournalLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if rec, ok, blank := decodeRecord(line, wanted); ok {
			each(rec)
		} else if !blank {
			skipped++
		}
		line = line[:0]
		if err == io.EOF {
			return skipped, nil
		}
		if err != nil {
			return skipped, fmt.Errorf("read the journal %s: %w", path, err)
		}
	}
}

// decodeRecord decodes a line. It is blank when it is empty, or of a kind that is not wanted.
func decodeRecord(line []byte, wanted func(RecordKind) bool) (r Record, ok, blank bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return r, false, true
	}
	if wanted != nil {
		if kind, found := bytes.CutPrefix(line, []byte(`{"kind":"`)); found {
			if kind, _, found = bytes.Cut(kind, []byte(`"`)); found && !wanted(RecordKind(kind)) {
				return r, false, line[len(line)-1] == '}'
			}
		}
	}
	if len(line) > maxJournalLine || json.Unmarshal(line, &r) != nil || r.Kind == "" {
		return Record{}, false, false
	}
	return r, true, false
}
