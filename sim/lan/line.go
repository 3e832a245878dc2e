package lan

import (
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// window is how many bytes may be unread before a writer waits, as on a socket.
const window = 1 << 20

// line carries bytes in one direction. It has one reader and one writer at a time, as in net/http.
type line struct {
	seed    uint64
	way     string        // sender and receiver
	answers *line         // the opposite line, if this one carries the answers to it
	said    atomic.Uint64 // hash of the last message; only if it gets an answer

	mu      sync.Mutex
	parts   []part
	size    int       // of all parts
	last    time.Time // when the newest part arrives
	ended   bool      // the writer has closed: no more parts follow
	broken  bool      // the end is not the writer's own
	left    bool      // the reader has closed
	reading deadline
	writing deadline
	arrives chan struct{} // something other than a message has changed for the reader
	room    chan struct{} // something has changed for the writer

	reader, writer alarm // of the reader and of the writer
}

// part is the data of one write. An empty part is the end.
type part struct {
	data []byte
	at   time.Time // when it arrives
}

func newLine(seed uint64, way string) *line {
	return &line{seed: seed, way: way, arrives: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func (l *line) read(p []byte) (int, error) {
	for {
		l.mu.Lock()
		l.reader.waits = false
		now := time.Now()
		var next time.Time
		switch {
		case l.left:
			l.mu.Unlock()
			return 0, net.ErrClosed
		case l.reading.over(now):
			l.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case len(l.parts) > 0 && !l.parts[0].at.After(now):
			n := 0
			for n < len(p) && len(l.parts) > 0 && !l.parts[0].at.After(now) { // a reader gets all that has arrived, as from a kernel
				more := l.take(p[n:])
				if n += more; more == 0 {
					break
				}
			}
			broken := l.broken
			l.mu.Unlock()
			if n == 0 && len(p) > 0 {
				if broken {
					return 0, io.ErrUnexpectedEOF
				}
				return 0, io.EOF
			}
			return n, nil
		case len(l.parts) > 0:
			next = l.parts[0].at
		}
		if d := l.reading.t; !d.IsZero() && (next.IsZero() || d.Before(next)) {
			next = d
		}
		l.reader.set(next)
		l.mu.Unlock()
		l.reader.wait(l.arrives)
	}
}

// take moves the data that has arrived into p; the end is empty and stays. The caller holds mu.
func (l *line) take(p []byte) int {
	first := &l.parts[0]
	n := copy(p, first.data)
	first.data = first.data[n:]
	l.size -= n
	if n > 0 && len(first.data) == 0 {
		l.parts = l.parts[1:]
	}
	tell(l.room)
	return n
}

func (l *line) write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		l.mu.Lock()
		now := time.Now()
		switch {
		case l.ended:
			l.mu.Unlock()
			return written, net.ErrClosed
		case l.left:
			l.mu.Unlock()
			return written, os.NewSyscallError("write", syscall.EPIPE)
		case l.writing.over(now):
			l.mu.Unlock()
			return written, os.ErrDeadlineExceeded
		case l.size < window:
			some := p[written:min(len(p), written+window-l.size)]
			l.send(now, append([]byte(nil), some...))
			written += len(some)
			l.mu.Unlock()
			continue
		}
		l.writer.set(l.writing.t)
		l.mu.Unlock()
		l.writer.wait(l.room)
	}
	return written, nil
}

// send sends a part; parts arrive in order. The caller holds mu.
func (l *line) send(now time.Time, data []byte) {
	at := now.Add(l.delay(now, data))
	switch {
	case len(data) == 0 && l.last.After(now):
		// A reader of the last message may answer before it sees the end.
		at = l.last.Add(at.Sub(now))
	case at.Before(l.last):
		at = l.last
	}
	l.last = at
	l.parts = append(l.parts, part{data: data, at: at})
	l.size += len(data)
	l.reader.noLaterThan(at, now) // it is not woken up before there is something to read
}

// delay is the travel time of a message: it depends on the network's seed, the sender, the receiver, the time and the
// data. An answer depends on its request instead: a watch may write simultaneous events in one piece or in several, and
// all of them arrive together.
func (l *line) delay(now time.Time, data []byte) time.Duration {
	var subject uint64
	if l.answers != nil {
		subject = l.answers.said.Load()
	} else {
		subject = sum(data)
		l.said.Store(subject)
	}
	return travel(l.seed, l.way, subject, now)
}

// travel is how long a message about a subject takes on its way when it is sent at a time.
func travel(seed uint64, way string, subject uint64, now time.Time) time.Duration {
	var room [128]byte
	about := append(strconv.AppendUint(room[:0], seed, 10), way...)
	about = append(strconv.AppendUint(about, subject, 10), ' ')
	return least + time.Duration(sum(strconv.AppendInt(about, now.UnixNano(), 10))%uint64(spread))
}

// sum is the 64-bit FNV-1a hash of data, without the allocations of hash/fnv: it is computed for every message.
func sum(data []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range data {
		h ^= uint64(b)
		h *= 1099511628211
	}
	return h
}

// end marks the end of the data.
func (l *line) end() { l.finish(false) }

// breakOff ends the data before its end.
func (l *line) breakOff() { l.finish(true) }

func (l *line) finish(broken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.ended, l.broken = true, broken
		l.send(time.Now(), nil)
	}
	tell(l.room)
}

// leave marks that the reader is gone.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = true
	tell(l.arrives)
	tell(l.room)
}

// deadline is when a read or a write times out; zero: never. The line's mu guards it.
type deadline struct{ t time.Time }

// set sets the deadline, and tells who waits by it.
func (d *deadline) set(l *line, t time.Time, changed chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.t.Equal(t) {
		return
	}
	d.t = t
	tell(changed)
}

func (d *deadline) over(now time.Time) bool { return !d.t.IsZero() && !d.t.After(now) }

func tell(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// alarm is a reusable timer: there is at least one wait for every message. The line's mu guards it.
type alarm struct {
	timer *time.Timer
	then  time.Time // when it goes off; zero: never
	waits bool      // somebody waits for it
}

// set says when the wait that begins now ends; zero: without limit.
func (a *alarm) set(then time.Time) {
	a.then, a.waits = then, true
	if a.timer == nil {
		a.timer = time.NewTimer(time.Hour)
	}
	if then.IsZero() {
		a.timer.Stop()
		return
	}
	a.timer.Reset(time.Until(then))
}

// noLaterThan makes a wait that is under way end by then.
func (a *alarm) noLaterThan(then, now time.Time) {
	if !a.waits || !a.then.IsZero() && !then.Before(a.then) {
		return
	}
	a.then = then
	a.timer.Reset(then.Sub(now))
}

// wait waits until something has changed, or until the time that was set.
func (a *alarm) wait(changed <-chan struct{}) {
	select {
	case <-a.timer.C:
	case <-changed:
	}
}
