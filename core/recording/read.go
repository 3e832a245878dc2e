package recording

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Recording is a recording that was opened: what is in it, and where. Its files are read again as it is played.
type Recording struct {
	Head   Head
	From   time.Time // the first frame's, by the cluster's clock
	To     time.Time // the last one's
	Frames int
	Events []Event // oldest first
	Cut    bool    // a file has no end, as after a kill: what followed is lost

	files []string
	parts []part // in order
}

// part is what can be read by itself: a Key and what follows it.
type part struct {
	file   int
	offset int64
	at     time.Time
}

// mostHead and mostLine are the greatest lengths of a head and of a line, in bytes: whatever is longer is no recording.
const (
	mostHead = 1 << 20
	mostLine = 1 << 30
)

// headBegins is how a file begins.
const headBegins = `{"lockstepRecording":`

// Is tells whether a file begins as a recording does.
func Is(begin []byte) bool { return bytes.HasPrefix(begin, []byte(headBegins)) }

// Open reads through a recording that begins in the file, and through the files that continue it.
func Open(path string) (*Recording, error) {
	r := &Recording{}
	for n := 1; ; n++ {
		name := FileName(path, n)
		err := r.add(name, n)
		if n > 1 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errAnother)) {
			break
		}
		if n > 1 && errors.Is(err, errNoHead) { // a kill, or a full disk, when it had just been made: the next file goes on
			r.Cut = true
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the recording %s: %w", name, err)
		}
	}
	if len(r.parts) == 0 {
		return nil, fmt.Errorf("read the recording %s: nothing is in it", path)
	}
	slices.SortStableFunc(r.Events, func(a, b Event) int { return a.At.Compare(b.At) })
	return r, nil
}

var (
	errAnother = errors.New("it is of another recording")
	errNoHead  = errors.New("it is no recording of Lockstep: it ends before it begins")
)

// add reads through a file.
func (r *Recording) add(name string, n int) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in := &counted{in: bufio.NewReaderSize(f, 1<<16)}
	h, err := readHead(in)
	switch {
	case err != nil:
		return err
	case n > 1 && (h.Recording != r.Head.Recording || h.File != n):
		return errAnother
	case n == 1:
		r.Head, r.Cut = h, h.Cut
	}
	r.files = append(r.files, name)
	ended := false
	for {
		offset := in.n
		zip, err := gzip.NewReader(in)
		if err != nil {
			r.Cut = r.Cut || !ended
			return nil // the file ends here, in good order or not
		}
		zip.Multistream(false)
		lines := bufio.NewReaderSize(zip, 1<<16)
		first := true
		for {
			begin, err := nextLine(lines)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					r.Cut = true
					return nil
				}
				break
			}
			switch {
			case bytes.HasPrefix(begin, frameBegins):
				at, err := nowOf(begin)
				if err != nil {
					return err
				}
				if first {
					r.parts = append(r.parts, part{len(r.files) - 1, offset, at})
				}
				if r.From.IsZero() {
					r.From = at
				}
				r.To = at
				if key, begins := isKey(begin); !key || begins {
					r.Frames++
				}
			case bytes.HasPrefix(begin, eventBegins):
				var l line
				if json.Unmarshal(begin, &l) == nil && l.Event != nil {
					r.Events = append(r.Events, *l.Event)
				}
			case bytes.Equal(begin, endLine):
				ended = true
			}
			first = false
		}
	}
}

// readHead reads the first line.
func readHead(in *counted) (Head, error) {
	var h Head
	var raw []byte
	for len(raw) < mostHead {
		c, err := in.ReadByte()
		if err != nil && !errors.Is(err, io.EOF) {
			return h, err
		}
		if err != nil && bytes.HasPrefix([]byte(headBegins), raw[:min(len(raw), len(headBegins))]) {
			return h, errNoHead
		}
		if err != nil || c == '\n' {
			break
		}
		raw = append(raw, c)
		if len(raw) == len(headBegins) && !Is(raw) {
			break
		}
	}
	if !Is(raw) || json.Unmarshal(raw, &h) != nil {
		return h, errors.New("it is no recording of Lockstep")
	}
	if h.Format > Format {
		return h, fmt.Errorf("it is of Lockstep %s, in the form %d; this one (form %d) is too old to read it", h.Version, h.Format, Format)
	}
	return h, nil
}

// lineBegin is how much of a line is looked at when a recording is read through; an event has no more.
const lineBegin = 8 << 10

// nextLine is the beginning of the next line. An unfinished line is an error other than io.EOF.
func nextLine(in *bufio.Reader) ([]byte, error) {
	var begin []byte
	for {
		piece, err := in.ReadSlice('\n')
		if room := lineBegin - len(begin); room > 0 {
			begin = append(begin, piece[:min(room, len(piece))]...)
		}
		switch {
		case err == nil:
			return begin, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(begin) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// nowOf is the time of a frame's line.
func nowOf(begin []byte) (time.Time, error) {
	text, _, ok := bytes.Cut(begin[len(frameBegins):], []byte(`"`))
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if !ok || err != nil {
		return time.Time{}, errors.New("a frame without a time")
	}
	return at, nil
}

// counted counts what is read, byte by byte: gzip then reads no further than to the end of a part.
type counted struct {
	in *bufio.Reader
	n  int64
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// ReadByte implements io.ByteReader.
func (c *counted) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// Cursor reads a Recording from some moment on.
type Cursor struct {
	r     *Recording
	file  int
	f     *os.File
	lines *bufio.Reader
	raw   []byte // the line that was read last
	// peeked says that nobody has taken it yet.
	peeked bool
	told   told
	fresh  bool // no frame was read since something may be missing
	ended  bool // the file ends in good order
	every  bool // Keys that only repeat what was read, and events, are given as well; frames have only what changed
}

// At is a Cursor whose first frame is the last Key at or before the moment, or the first of all.
func (r *Recording) At(at time.Time) (*Cursor, error) {
	i := 0
	for n, p := range r.parts {
		if !p.at.After(at) {
			i = n
		}
	}
	c := &Cursor{r: r}
	if err := c.open(r.parts[i].file, r.parts[i].offset); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cursor) open(file int, offset int64) error {
	c.Close()
	f, err := os.Open(c.r.files[file])
	if err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		f.Close()
		return fmt.Errorf("read the recording: %w", err)
	}
	zip, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		f.Close()
		return fmt.Errorf("read the recording: %w", err)
	}
	c.file, c.f, c.lines, c.fresh, c.ended = file, f, bufio.NewReaderSize(zip, 1<<16), true, false
	return nil
}

// Close lets the file go.
func (c *Cursor) Close() {
	if c.f != nil {
		c.f.Close()
		c.f = nil
	}
}

// Next is the next frame; io.EOF after the last one. A Key that only repeats what was read is left out.
func (c *Cursor) Next() (Frame, error) {
	i, err := c.next()
	return i.frame, err
}

// Pass is the next frame without its History, Operations, Write, Notes and Identity, for whoever goes on to a later one: what a frame that
// nobody looks at has is not copied for it.
func (c *Cursor) Pass() (Frame, error) {
	raw, err := c.peek()
	if err != nil {
		return Frame{}, err
	}
	c.peeked = false
	f, err := c.told.pass(raw)
	return c.framed(f, err)
}

// Told gives a frame what Pass has left out of it: it was the last one that was read.
func (c *Cursor) Told(f *Frame) { c.told.give(f) }

// Peek is the time of the next frame; io.EOF after the last one.
func (c *Cursor) Peek() (time.Time, error) {
	raw, err := c.peek()
	if err != nil {
		return time.Time{}, err
	}
	return nowOf(raw)
}

// peek is the next line of a frame or, for a Cursor of every line, of an event. It stays the next one until peeked is false.
func (c *Cursor) peek() ([]byte, error) {
	for !c.peeked {
		raw, err := c.line()
		switch {
		case err != nil:
			// A file may have a head and nothing else: the disk was full, or a kill came.
			next := slices.IndexFunc(c.r.parts, func(p part) bool { return p.file > c.file })
			if next < 0 {
				return nil, io.EOF
			}
			to := c.r.parts[next]
			whole := c.ended && to.file == c.file+1
			if err := c.open(to.file, to.offset); err != nil {
				return nil, err
			}
			c.fresh = !whole
			continue
		case c.every && bytes.HasPrefix(raw, eventBegins):
		case !bytes.HasPrefix(raw, frameBegins):
			c.ended = c.ended || bytes.Equal(raw, endLine)
			continue
		}
		if key, begins := isKey(raw); key && !begins && !c.fresh && !c.every {
			continue // it repeats what was read
		}
		c.peeked = true
	}
	return c.raw, nil
}

// next is the next frame or, for a Cursor of every line, the next event.
func (c *Cursor) next() (item, error) {
	for {
		raw, err := c.peek()
		if err != nil {
			return item{}, err
		}
		c.peeked = false
		if bytes.HasPrefix(raw, eventBegins) {
			var l line
			if json.Unmarshal(raw, &l) == nil && l.Event != nil {
				return item{event: l.Event}, nil
			}
			continue
		}
		var f Frame
		if c.every {
			f, err = partOf(raw)
		} else {
			f, err = c.told.frame(raw)
		}
		f, err = c.framed(f, err)
		return item{frame: f}, err
	}
}

// framed says of a frame whether it begins anew.
func (c *Cursor) framed(f Frame, err error) (Frame, error) {
	if err != nil {
		return Frame{}, fmt.Errorf("read the recording: %w", err)
	}
	f.Begins, c.fresh = f.Begins || c.fresh, false
	return f, nil
}

// line is the next whole line. The next call overwrites it.
func (c *Cursor) line() ([]byte, error) {
	c.raw = c.raw[:0]
	for {
		piece, err := c.lines.ReadSlice('\n')
		c.raw = append(c.raw, piece...)
		switch {
		case err == nil:
			return c.raw, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(c.raw) > mostLine:
			return nil, errors.New("a line is too long")
		}
	}
}
