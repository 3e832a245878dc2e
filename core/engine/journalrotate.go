package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// rotateIfLarge begins another file when this one has become large. If that fails (the disk is full, say), the journal stays in its
// file, and tries again when the file has grown by a quarter of the limit. The caller has the lock.
func (j *Journal) rotateIfLarge() {
	if j.noLocks != nil || j.offset <= max(j.limit, j.retryAt) {
		return // without locks another run may be writing at this moment
	}
	if err := j.rotate(); err != nil {
		j.retryAt = j.offset + j.limit/4
	}
}

// rotate puts the whole file away, and begins another one with what still counts of it. The file alone decides what that is, not what
// this run knows.
func (j *Journal) rotate() error {
	if err := j.sync(j.file); err != nil {
		j.putAway = err
		return err
	}
	d := newDigest(false)
	if _, err := readRecords(io.NewSectionReader(j.file, 0, j.offset), j.path, counts, d.add); err != nil {
		return err
	}
	number := j.number
	for taken(archiveName(j.path, number)) {
		if j.isCurrent(archiveName(j.path, number)) {
			if err := os.Remove(archiveName(j.path, number)); err != nil { // a run was killed in the middle of a rotation
				return err
			}
			break
		}
		number++
	}
	size, err := j.writeNext(number+1, d.records())
	if err != nil {
		os.Remove(nextName(j.path))
		return err
	}
	archive := archiveName(j.path, number)
	if err := os.Link(j.path, archive); err != nil { // a link, so that there is a journal at every moment
		if err := os.Rename(j.path, archive); err != nil { // a file system without links: openCurrent finishes it after a kill
			os.Remove(nextName(j.path))
			return err
		}
	}
	if err := os.Rename(nextName(j.path), j.path); err != nil {
		return fmt.Errorf("begin the journal's next file: %w", err)
	}
	if dir, err := os.Open(filepath.Dir(j.path)); err == nil {
		_ = dir.Sync() // not every file system can do this
		dir.Close()
	}
	if err := j.openCurrent(); err != nil {
		return err
	}
	j.offset = size
	j.limit = max(j.opts.Limit, 4*size)
	return nil
}

func taken(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// isCurrent tells whether name is another name of the current file.
func (j *Journal) isCurrent(name string) bool {
	other, err := os.Stat(name)
	if err != nil {
		return false
	}
	here, err := j.file.Stat()
	return err == nil && os.SameFile(here, other)
}

// writeNext writes the next file beside the current one, and returns its size in bytes.
func (j *Journal) writeNext(number int, carried []Record) (size int64, err error) {
	f, err := os.OpenFile(nextName(j.path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := j.tailNow() // the next file goes on from the last line of this one
	if err != nil {
		return 0, err
	}
	first := Record{Kind: RecordCarried, File: number, Text: "what came before is in " + filepath.Base(archiveName(j.path, number-1))}
	if n := len(carried); n > 0 {
		first.Wall, first.At = carried[n-1].Wall, carried[n-1].At
	}
	for i := -1; i < len(carried); i++ {
		r := first
		if i >= 0 {
			r = carried[i]
			r.Carried = true
		}
		line, err := encodeRecord(r)
		if err != nil {
			return 0, err
		}
		if line, end, err = end.linked(line); err != nil {
			return 0, err
		}
		n, err := j.write(f, line)
		if size += int64(n); err != nil {
			return 0, err
		}
	}
	return size, j.sync(f)
}
