package kube

import (
	"encoding/json"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
)

// onceFramer divides a watch into its events as client-go does, with a look at brackets and quotation marks only: client-go's own goes
// through each event with a parser before the event is decoded.
type onceFramer struct{ runtime.Framer }

// NewFrameReader implements runtime.Framer.
func (onceFramer) NewFrameReader(r io.ReadCloser) io.ReadCloser { return &frameReader{r: r} }

// frameReader reads one JSON object a time.
type frameReader struct {
	r         io.ReadCloser
	buffer    []byte
	from, to  int           // what was read and not handed on
	remaining []byte        // of the object that is being handed on: it did not fit
	theirs    *json.Decoder // reads on when something else than an object comes; its errors are client-go's
}

// errHalf ends a watch in the middle of an event, for whatever reason. client-go would take most reasons for an end like any other and open
// the watch again where it was. The same half may come again there, and the change would never be seen. So everything is listed.
var errHalf = errors.New("the watch ended in the middle of an event")

// Read hands on the next object. As the Framer's contract says, it returns io.ErrShortBuffer while there is more of the object.
func (f *frameReader) Read(data []byte) (int, error) {
	if len(f.remaining) == 0 {
		next, err := f.next()
		if err != nil {
			return 0, err
		}
		f.remaining = next
	}
	n := copy(data, f.remaining)
	f.remaining = f.remaining[n:]
	if len(f.remaining) > 0 {
		return n, io.ErrShortBuffer
	}
	return n, nil
}

// next is the next object. It is good until the next call.
func (f *frameReader) next() ([]byte, error) {
	if f.theirs != nil {
		var object json.RawMessage
		err := f.theirs.Decode(&object)
		return object, err
	}
	for {
		for f.from < f.to && isSpace(f.buffer[f.from]) {
			f.from++
		}
		if f.from < f.to {
			break
		}
		if err := f.fill(); err != nil {
			return nil, err
		}
	}
	if f.buffer[f.from] != '{' {
		f.theirs = json.NewDecoder(io.MultiReader(&leftover{f.buffer[f.from:f.to]}, f.r))
		return f.next()
	}
	var seen nesting
	for at := f.from; ; {
		if length := seen.end(f.buffer[at:f.to]); length > 0 {
			object := f.buffer[f.from : at+length]
			f.from = at + length
			return object, nil
		}
		read := f.to - f.from
		if err := f.fill(); err != nil {
			return nil, errHalf
		}
		at = f.from + read
	}
}

// smallestRead is how much room there is for a read, at least.
const smallestRead = 4 << 10

// fill reads more, behind what was read.
func (f *frameReader) fill() error {
	if len(f.buffer)-f.to < smallestRead {
		buffer := f.buffer
		if room := f.to - f.from + smallestRead; room > len(buffer) {
			buffer = make([]byte, 2*room)
		}
		f.to = copy(buffer, f.buffer[f.from:f.to])
		f.buffer, f.from = buffer, 0
	}
	for range 100 {
		n, err := f.r.Read(f.buffer[f.to:])
		f.to += n
		if n > 0 {
			return nil // an error comes again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// Close closes the stream.
func (f *frameReader) Close() error { return f.r.Close() }

// leftover reads what was read already.
type leftover struct{ data []byte }

// Read implements io.Reader.
func (l *leftover) Read(to []byte) (int, error) {
	if len(l.data) == 0 {
		return 0, io.EOF
	}
	n := copy(to, l.data)
	l.data = l.data[n:]
	return n, nil
}

// nesting finds the end of an object or a list in text that comes piece by piece. It does not look whether the text is JSON.
type nesting struct {
	depth            int
	inText, shielded bool // between quotation marks, and after a backslash there
}

// end is the length of what belongs to the object in the next piece; 0 when it has not ended there.
func (n *nesting) end(piece []byte) int {
	for i, c := range piece {
		switch {
		case n.shielded:
			n.shielded = false
		case n.inText:
			if c == '"' {
				n.inText = false
			} else if c == '\\' {
				n.shielded = true
			}
		case c == '"':
			n.inText = true
		case c == '{' || c == '[':
			n.depth++
		case c == '}' || c == ']':
			if n.depth--; n.depth <= 0 {
				return i + 1
			}
		}
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
