package controller

import (
	"bufio"
	"errors"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
)

// lines divides a watch into its events by the newline with which an API server ends each of them, and of which there is none within:
// client-go's own framer goes through each event with a parser before the event is decoded.
type lines struct{ runtime.Framer }

// NewFrameReader returns a reader of one event a time.
func (lines) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	return &lineReader{Closer: r, from: bufio.NewReader(r)}
}

type lineReader struct {
	io.Closer
	from *bufio.Reader
	long []byte // of a line that does not fit the buffer
	rest []byte // of the line that is being handed on: it did not fit
}

// Read hands on the next event. As the Framer's contract says, it returns io.ErrShortBuffer while there is more of the event.
func (l *lineReader) Read(data []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
			return 0, err
		}
		l.rest = line
	}
	n := copy(data, l.rest)
	if l.rest = l.rest[n:]; len(l.rest) > 0 {
		return n, io.ErrShortBuffer
	}
	return n, nil
}

// next is the next line without its end. It is good until the next call.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.from.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		for l.long = l.long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = l.from.ReadSlice('\n') {
			l.long = append(l.long, line...)
		}
		l.long = append(l.long, line...)
		line = l.long
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}
