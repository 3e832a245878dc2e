package engine

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// journalVersion is the version of the form of the lines. Lines of version 1 have no version, and no link.
const journalVersion = 2

// link is how a line of a journal is tied to the line before it. It stands at the end of the line's object.
type link struct {
	Version int    `json:"v"`
	Seq     int64  `json:"seq"`           // counts the lines with a link, over all files of a journal
	Prev    string `json:"prev"`          // sha256 of the line before without its newline, in hex; empty in the first line of all
	Cut     bool   `json:"cut,omitempty"` // the line before was found cut off: by a crash, or by a full disk
}

// tail is the end of a journal's file.
type tail struct {
	offset int64  // what was read or written up to here, in bytes
	seq    int64  // of the last line with a link
	sum    string // of the last line
	cut    bool   // the last line is not whole
}

// linked ties an encoded line, with its newline, to the end of the journal, and returns the end that it then has.
func (t tail) linked(line []byte) ([]byte, tail, error) {
	raw, err := json.Marshal(link{Version: journalVersion, Seq: t.seq + 1, Prev: t.sum, Cut: t.cut})
	if err != nil {
		return nil, t, fmt.Errorf("encode a journal record: %w", err)
	}
	out := append(bytes.TrimSuffix(line, []byte("}\n")), ',')
	out = append(append(out, raw[1:]...), '\n')
	return out, tail{offset: t.offset + int64(len(out)), seq: t.seq + 1, sum: lineSum(out[:len(out)-1])}, nil
}

func lineSum(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// linkOf reads a line's link. A whole line without one is of an older version, or was not written by Lockstep.
func linkOf(line []byte) (l link, whole bool) {
	whole = json.Unmarshal(line, &l) == nil
	return l, whole
}

// tailNow is the end of the file up to the offset. It reads only what the run did not write itself. The caller has the lock, and has
// caught up.
func (j *Journal) tailNow() (tail, error) {
	if j.tail.offset == j.offset && j.offset > 0 {
		return j.tail, nil
	}
	t, err := tailOf(j.file, j.offset)
	if err != nil {
		return t, fmt.Errorf("read the journal: %w", err)
	}
	j.tail = t
	return t, nil
}

// tailOf reads the end of the first size bytes of a file: mostly its last line alone.
func tailOf(f *os.File, size int64) (tail, error) {
	t := tail{offset: size}
	if size == 0 {
		return t, nil
	}
	line, err := lastLine(f, size)
	if err != nil {
		return t, err
	}
	l, whole := linkOf(line)
	t.sum, t.seq, t.cut = lineSum(line), l.Seq, !whole
	if whole && l.Seq > 0 {
		return t, nil
	}
	// A line that was cut off, or one of an older version: the last number stands further up.
	err = eachLine(io.NewSectionReader(f, 0, size), func(line []byte, _ bool) {
		if l, whole := linkOf(line); whole && l.Seq > 0 {
			t.seq = l.Seq
		}
	})
	return t, err
}

// lastLine reads the last line of the first size bytes of a file, without its newline.
func lastLine(f *os.File, size int64) ([]byte, error) {
	for most := int64(64 << 10); ; most *= 2 {
		part := make([]byte, min(most, size))
		if _, err := f.ReadAt(part, size-int64(len(part))); err != nil && err != io.EOF {
			return nil, err
		}
		part = bytes.TrimSuffix(part, []byte("\n"))
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return part[i+1:], nil
		}
		if most >= size {
			return part, nil
		}
	}
}

// eachLine reads lines without their newlines; ended is false for a last one without a newline.
func eachLine(r io.Reader, each func(line []byte, ended bool)) error {
	b := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := b.ReadBytes('\n')
		ended := bytes.HasSuffix(line, []byte("\n"))
		if len(line) > 0 {
			each(bytes.TrimSuffix(line, []byte("\n")), ended)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
