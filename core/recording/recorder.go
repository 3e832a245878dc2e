package recording

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/core"
)

// Options say how a Recorder writes. Head and Create are required.
type Options struct {
	Head Head
	// Create makes the file with that number, which must not exist yet.
	Create func(number int) (io.WriteCloser, error)
	// Remove removes the file with that number, which was made, and in which nothing could be written; nil leaves it.
	Remove func(number int) error
	Limit  int64             // the size in bytes from which on the recording continues in another file; 64 MiB when zero
	Told   func(text string) // told when the recording cannot be written, once, and when it can be again; may be nil
}

const (
	fileLimit = 64 << 20

	// flushEvery is how much a kill costs at most.
	flushEvery = 3 * time.Second
	// keyEvery is how far apart Keys are, of which each is the whole world: a jump reads from the last one before its aim. In a large
	// cloud in which little happens they are further apart, and take half of the file at most; but never further than keyMost. Where much
	// happens, as with a simulated cloud whose clock runs faster, a Key follows on as much as the Key before it took, and on keyLeast.
	keyEvery = 10 * time.Minute
	keyMost  = time.Hour
	keyLeast = 1 << 20 // in bytes
	// mostWaiting is how many frames wait for a slow disk. Then they are given up for a Key.
	mostWaiting = 2048
	// retryEvery is how often a disk that refused is tried again.
	retryEvery = time.Minute
	// closeWithin is how long the end of a recording waits for a disk that does not answer.
	closeWithin = 5 * time.Second
)

// Recorder writes a recording beside the Engine, which never waits for it. A disk that is full or does not answer costs the frames of
// that time and nothing else: the recording goes on with a Key when it can be written again.
type Recorder struct {
	opts Options

	mu      sync.Mutex
	world   map[core.SourceID]map[string]core.Object // after the last frame
	last    Frame                                    // without what it alone had
	waiting []item
	lost    bool // frames were given up: a Key comes next
	wake    chan struct{}
	closing chan struct{}
	ended   chan struct{}
	close   sync.Once

	asked atomic.Pointer[time.Time] // when the disk was asked for what it has not answered yet; nil while it is asked for nothing

	out    *output // nil while nothing can be written
	number int     // of the newest file
	failed time.Time
	told   told
}

// item is a frame or an event.
type item struct {
	frame Frame
	event *Event
}

// output is one file that is being written.
type output struct {
	file    io.WriteCloser
	size    int64
	zip     *gzip.Writer
	keyed   time.Time // when the last Key was written
	keySize int64     // how large it was
	keyAt   int64     // where it ended
	unsaved bool
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	o.size += int64(n)
	return n, err
}

// Start begins a recording. It fails when its first file cannot be made.
func Start(o Options) (*Recorder, error) {
	if o.Limit <= 0 {
		o.Limit = fileLimit
	}
	if o.Told == nil {
		o.Told = func(string) {}
	}
	o.Head.Format = Format
	r := &Recorder{opts: o, world: map[core.SourceID]map[string]core.Object{}, wake: make(chan struct{}, 1),
		closing: make(chan struct{}), ended: make(chan struct{})}
	if err := r.begin(); err != nil {
		return nil, err
	}
	go r.run()
	return r, nil
}

// Frame takes a frame. It never waits for the disk.
func (r *Recorder) Frame(f Frame) {
	r.mu.Lock()
	takeIn(r.world, f.Deltas)
	r.put(item{frame: f})
	r.last = f
	r.last.Deltas, r.last.Records = nil, nil
	r.mu.Unlock()
	r.rouse()
}

// Event takes an event. It never waits for the disk.
func (r *Recorder) Event(e Event) {
	r.mu.Lock()
	r.put(item{event: &e})
	r.mu.Unlock()
	r.rouse()
}

func (r *Recorder) put(i item) {
	if len(r.waiting) >= mostWaiting {
		r.waiting, r.lost = nil, true
	}
	r.waiting = append(r.waiting, i)
}

func (r *Recorder) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Close writes what waits, and ends the recording, however long that takes. It gives up only a disk that has not answered for some
// seconds, and says so.
func (r *Recorder) Close() error {
	r.close.Do(func() { close(r.closing) })
	for {
		silent := r.silent()
		if silent >= closeWithin {
			return fmt.Errorf("the end of the recording is not written: its disk has not answered for %s",
				silent.Round(time.Second))
		}
		select {
		case <-r.ended:
			return nil
		case <-time.After(closeWithin - silent):
		}
	}
}

// silent is for how long the disk has not answered.
func (r *Recorder) silent() time.Duration {
	asked := r.asked.Load()
	if asked == nil {
		return 0
	}
	return time.Since(*asked)
}

// ask has the Recorder know since when the disk is asked for something. The answer ends that.
func (r *Recorder) ask() (answered func()) {
	now := time.Now()
	r.asked.Store(&now)
	return func() { r.asked.Store(nil) }
}

// asking is a file on a disk that may not answer.
type asking struct {
	io.WriteCloser
	of *Recorder
}

// Write implements io.Writer.
func (a asking) Write(p []byte) (int, error) {
	defer a.of.ask()()
	return a.WriteCloser.Write(p)
}

// Close implements io.Closer.
func (a asking) Close() error {
	defer a.of.ask()()
	return a.WriteCloser.Close()
}

func (r *Recorder) run() {
	defer close(r.ended)
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	for {
		select {
		case <-r.wake:
			r.write()
		case <-flush.C:
			r.save()
		case <-r.closing:
			r.write()
			r.end()
			return
		}
	}
}

// write writes what waits.
func (r *Recorder) write() {
	if r.out == nil {
		if time.Since(r.failed) < retryEvery {
			r.mu.Lock()
			r.waiting, r.lost = nil, true
			r.mu.Unlock()
			return
		}
		if r.begin() != nil {
			r.failed = time.Now()
			return
		}
	}
	before, key, after := r.take()
	err := r.appendAll(before)
	if err == nil && key != nil {
		if err = r.appendKey(*key); err == nil && !r.failed.IsZero() {
			r.failed = time.Time{}
			r.opts.Told(fmt.Sprintf("the recording goes on, in its file %d", r.number))
		}
	}
	if err == nil { // else there may be no file
		err = r.appendAll(after)
	}
	if err != nil {
		r.fail(err)
	}
}

// take takes what waits and, when it is time for one, a Key that stands between.
func (r *Recorder) take() (before []item, key *Frame, after []item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := r.waiting
	r.waiting = nil
	first := slices.IndexFunc(waiting, func(i item) bool { return i.event == nil })
	switch {
	case r.lost && !r.last.Now.IsZero():
		// What these frames changed is in the Key. Their records and the events are kept.
		f := r.last
		f.Key, f.Begins = keyOf(r.world), true
		for _, i := range waiting {
			f.Records = append(f.Records, i.frame.Records...)
		}
		r.lost = false
		return nil, &f, slices.DeleteFunc(waiting, func(i item) bool { return i.event == nil })
	case r.out.keyed.IsZero() && first < 0:
		r.waiting = waiting // nothing can stand before the first Key
		return nil, nil, nil
	case r.out.keyed.IsZero():
		f := waiting[first].frame
		world := map[core.SourceID]map[string]core.Object{}
		takeIn(world, f.Deltas)
		f.Key, f.Begins = keyOf(world), true
		return nil, &f, slices.Delete(waiting, first, first+1)
	case r.keyDue():
		f := r.last
		f.Key = keyOf(r.world)
		return waiting, &f, nil
	}
	return waiting, nil, nil
}

func takeIn(world map[core.SourceID]map[string]core.Object, deltas []core.Delta) {
	for _, d := range deltas {
		objects := world[d.Source]
		if objects == nil {
			objects = map[string]core.Object{}
			world[d.Source] = objects
		}
		for _, o := range d.Upserts {
			objects[o.Key()] = o
		}
		for _, key := range d.Deletes {
			delete(objects, key)
		}
	}
}

// keyOf is the Key of a world. Its lists are put in order by whoever writes it.
func keyOf(world map[core.SourceID]map[string]core.Object) *Key {
	k := &Key{Objects: make(map[core.SourceID][]core.Object, len(world))}
	for id, objects := range world {
		list := make([]core.Object, 0, len(objects))
		for _, o := range objects {
			list = append(list, o)
		}
		k.Objects[id] = list
	}
	return k
}

func (r *Recorder) appendAll(items []item) error {
	for _, i := range items {
		if err := r.append(i); err != nil {
			return err
		}
	}
	return nil
}

// keyDue tells whether it is time for a Key.
func (r *Recorder) keyDue() bool {
	since, written := time.Since(r.out.keyed), r.out.size-r.out.keyAt
	return r.out.size >= r.opts.Limit || since >= keyMost || written >= r.out.keySize && (since >= keyEvery || written >= keyLeast)
}

func (r *Recorder) append(i item) (err error) {
	var b []byte
	if i.event != nil {
		if b, err = redacting.append([]byte(`{"event":`), *i.event); err == nil {
			b = append(b, "}\n"...)
		}
	} else {
		b, err = r.line(i.frame)
	}
	if err != nil {
		return err
	}
	r.out.unsaved = true
	_, err = r.out.zip.Write(b)
	return err
}

// line is a frame as a line.
func (r *Recorder) line(f Frame) ([]byte, error) {
	if f.Part != nil {
		return appendPart(nil, redacting, f)
	}
	return r.told.appendFrame(nil, redacting, f)
}

var redacting = encoder{redact: func(s string) string { return core.Redact(s) }}

// appendKey begins another part of the file, and another file where this one is full. A reader can begin at each part.
func (r *Recorder) appendKey(f Frame) error {
	if !r.out.keyed.IsZero() && r.out.size >= r.opts.Limit {
		if err := r.finish(); err != nil {
			return err
		}
		if err := r.begin(); err != nil {
			return err
		}
	}
	for _, list := range f.Key.Objects {
		slices.SortFunc(list, func(a, b core.Object) int { return strings.Compare(a.Key(), b.Key()) })
	}
	if f.Sources != nil {
		f.Key.Sources = nil
	}
	for _, id := range slices.Sorted(maps.Keys(f.Sources)) {
		f.Key.Sources = append(f.Key.Sources, f.Sources[id])
	}
	o := r.out
	if !o.keyed.IsZero() {
		if err := o.zip.Close(); err != nil {
			return err
		}
	}
	before := o.size
	o.zip.Reset(o)
	b, err := r.line(f)
	if err != nil {
		return err
	}
	if _, err := o.zip.Write(b); err != nil {
		return err
	}
	if err := o.zip.Flush(); err != nil {
		return err
	}
	o.keyed, o.keySize, o.keyAt = time.Now(), o.size-before, o.size
	return nil
}

// begin makes the next file.
func (r *Recorder) begin() error {
	file, err := r.create()
	if err != nil {
		return err
	}
	h := r.opts.Head
	h.File = r.number
	b, err := redacting.append(nil, h)
	if err == nil {
		_, err = file.Write(append(b, '\n'))
	}
	if err != nil { // a full disk makes an empty file, and refuses what is to stand in it
		err = errors.Join(err, file.Close())
		if r.opts.Remove != nil && r.opts.Remove(r.number) == nil {
			r.number--
		}
		return err
	}
	r.out = &output{file: file, size: int64(len(b)) + 1}
	r.out.zip = gzip.NewWriter(r.out)
	return nil
}

// create makes the next file, which is empty.
func (r *Recorder) create() (io.WriteCloser, error) {
	defer r.ask()()
	file, err := r.opts.Create(r.number + 1)
	if err != nil {
		return nil, err
	}
	r.number++
	return asking{file, r}, nil
}

// save hands the disk what a kill would lose.
func (r *Recorder) save() {
	if r.out == nil || !r.out.unsaved {
		return
	}
	if err := r.out.zip.Flush(); err != nil {
		r.fail(err)
		return
	}
	r.out.unsaved = false
}

// finish ends a file in good order.
func (r *Recorder) finish() error {
	_, err := r.out.zip.Write(endLine)
	err = errors.Join(err, r.out.zip.Close(), r.out.file.Close())
	r.out = nil
	return err
}

func (r *Recorder) end() {
	if r.out == nil {
		return
	}
	if err := r.finish(); err != nil {
		r.fail(err)
	}
}

// fail gives a file up, and tells why, once.
func (r *Recorder) fail(err error) {
	if r.out != nil {
		_ = r.out.file.Close() // it has failed
		r.out = nil
	}
	first := r.failed.IsZero()
	r.failed = time.Now()
	r.mu.Lock()
	r.lost = true
	r.mu.Unlock()
	if first {
		r.opts.Told("the recording cannot be written, and is tried again each minute: " + err.Error())
	}
}
