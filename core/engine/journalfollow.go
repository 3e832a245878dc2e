package engine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// Follower reads a journal on, and writes nothing into it: what runs do that are there at the same time. It takes no lock, and keeps no
// file open. Only one goroutine may use it.
type Follower struct {
	path   string
	number int   // of the file that it is in
	offset int64 // how far that was read, in bytes
	done   *digest
}

// OpenFollower reads those records of the journal at path that still count: a History and the operations of earlier runs are made from
// them. What comes after them, Follow returns. A journal that is missing may come later.
func OpenFollower(path string) (f *Follower, past []Record, skipped int, err error) {
	f = &Follower{path: path, number: 1, done: newDigest(true)}
	file, number, err := openCurrent(path)
	if file == nil {
		return f, nil, 0, err
	}
	defer file.Close()
	f.number = number
	d := newDigest(false)
	f.offset, err = wholeLines(file, 0, func(line []byte) {
		switch r, ok, blank := decodeRecord(bytes.TrimSpace(line), counts); {
		case ok:
			d.add(r)
			f.done.add(r)
		case !blank:
			skipped++
		}
	})
	if err != nil {
		err = fmt.Errorf("read the journal %s: %w", path, err)
	}
	return f, d.records(), skipped, err
}

// Follow returns the records of what was done since the last call.
func (f *Follower) Follow() ([]Record, error) {
	current, number, err := openCurrent(f.path)
	if current == nil {
		return nil, err
	}
	defer current.Close()
	var did []Record
	take := func(line []byte) {
		r, ok, _ := decodeRecord(bytes.TrimSpace(line), nil)
		if !ok || r.Carried || r.Kind == RecordCarried {
			return
		}
		f.done.add(r)
		if _, _, seen := r.observation(); !seen && counts(r.Kind) {
			did = append(did, r)
		}
	}
	for ; f.number < number; f.number++ { // the rest of those that were put away meanwhile
		file, err := os.Open(archiveName(f.path, f.number))
		if err == nil {
			_, err = wholeLines(file, f.offset, take)
			file.Close()
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) { // its owner has put that one away
			return did, fmt.Errorf("read the journal: %w", err)
		}
		f.offset = 0
	}
	if f.offset, err = wholeLines(current, f.offset, take); err != nil {
		err = fmt.Errorf("read the journal %s: %w", f.path, err)
	}
	return did, err
}

// Done returns the records of what all runs did, as far as they still count.
func (f *Follower) Done() []Record { return f.done.records() }

// wholeLines reads the lines of a file from offset on that have an end, and returns how far it came. Of a file that is shorter than that
// it reads what is written from now on.
func wholeLines(f *os.File, offset int64, each func(line []byte)) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return offset, err
	}
	if offset = min(offset, info.Size()); offset == info.Size() {
		return offset, nil // as a rule, once a second
	}
	b := bufio.NewReader(io.NewSectionReader(f, offset, 1<<62))
	for {
		line, err := b.ReadBytes('\n')
		if err == io.EOF {
			return offset, nil
		}
		if err != nil {
			return offset, err
		}
		offset += int64(len(line))
		each(line)
	}
}
