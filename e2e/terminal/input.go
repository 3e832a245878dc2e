package terminal

import (
	"io"
	"sync"
	"time"
)

// escapePause follows an escape key when the program has not asked for unmistakable keys. Such a program recognises a lone escape
// only because nothing follows it, and a test types faster than any person.
const escapePause = 150 * time.Millisecond

// chunk is bytes for the program and the pause after them.
type chunk struct {
	bytes []byte
	pause time.Duration
}

// input is the queue of what the user types and the terminal answers. It has no bound, so that a program that does not read
// blocks nobody.
type input struct {
	mu     sync.Mutex
	filled *sync.Cond
	chunks []chunk
	closed bool
}

func newInput() *input {
	i := &input{}
	i.filled = sync.NewCond(&i.mu)
	return i
}

// add appends a copy of the bytes.
func (i *input) add(bytes []byte, pause time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.chunks = append(i.chunks, chunk{append([]byte(nil), bytes...), pause})
	i.filled.Signal()
}

// close drops the waiting chunks and ends copyTo.
func (i *input) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	i.chunks = nil
	i.filled.Signal()
}

// next waits for a chunk.
func (i *input) next() (chunk, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.chunks) == 0 && !i.closed {
		i.filled.Wait()
	}
	if i.closed {
		return chunk{}, false
	}
	first := i.chunks[0]
	i.chunks = i.chunks[1:]
	return first, true
}

// copyTo writes the chunks until the queue or the writer is closed.
func (i *input) copyTo(w io.Writer) {
	for {
		next, ok := i.next()
		if !ok {
			return
		}
		if _, err := w.Write(next.bytes); err != nil {
			return // the program has gone
		}
		time.Sleep(next.pause)
	}
}
