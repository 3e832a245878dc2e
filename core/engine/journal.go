package engine

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// JournalOptions are how a journal is kept. A zero field means its default.
type JournalOptions struct {
	Run   string // what tells this run of Lockstep from all others; by chance
	Who   string // for people: "anna@jump01, process 4711"; the process
	Limit int64  // from which size on the journal goes on in another file, in bytes; 8 MiB
}

const journalLimit = 8 << 20

// Journal is the append-only record of what was seen and done, one JSON object a line. It is safe for use by several goroutines, and
// by several runs of Lockstep on one file: whoever writes has the kernel's lock on the file beside it, has read what the others
// wrote before, and leaves out what another has told. A run that lives holds the lock of a file of its own, by which the others know.
//
// A file that has become large is put away whole, under a number, and the next one begins with what still counts of it. At every
// moment there is a whole journal under the name: a kill or a full disk in the middle costs nothing.
type Journal struct {
	path string
	opts JournalOptions

	turn  chan struct{} // holds one thing while nobody is at it: who waits may wait for a lock, and holds no mutex
	file  *os.File
	lock  *os.File // whoever writes has its lock; nil where there are no locks
	alive *os.File // this run's own, locked until it ends

	noLocks error // why runs cannot know of one another here
	number  int   // of the file
	offset  int64 // up to where the file was read, or written by this run
	limit   int64
	retryAt int64 // the size at which a rotation that failed is tried again

	past    []Record // what the journal held at the start, as far as it counts
	skipped int
	done    *digest  // of what all runs did
	others  []Record // by other runs, which the Engine has not taken yet
	told    told
	waiting []Record // could not be written yet
	lost    int      // those for which there was no room among them
	trouble error    // why they wait

	// Seams for tests.
	write func(f *os.File, b []byte) (int, error)
	sync  func(f *os.File) error
}

// maxWaiting is how many records wait at most for a disk that is full.
const maxWaiting = 10000

// OpenJournal opens the journal at path for appending, reads what counts of it, and makes it and its folder, readable by the user
// alone, where they are missing.
func OpenJournal(path string, o JournalOptions) (*Journal, error) {
	o.Run = cmp.Or(o.Run, newID()[:8])
	o.Who = cmp.Or(o.Who, fmt.Sprintf("process %d", os.Getpid()))
	o.Limit = cmp.Or(o.Limit, journalLimit)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the journal's folder: %w", err)
	}
	j := &Journal{path: path, opts: o, turn: make(chan struct{}, 1), limit: o.Limit, done: newDigest(true), told: told{},
		write: (*os.File).Write, sync: (*os.File).Sync}
	j.turn <- struct{}{}
	var err error
	if j.lock, err = os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	if err := j.open(); err != nil {
		j.closeFiles()
		return nil, err
	}
	return j, nil
}

func (j *Journal) open() error {
	release, err := j.exclusive()
	if err != nil {
		return err
	}
	defer release()
	if err := j.openCurrent(); err != nil {
		return err
	}
	if err := j.beAlive(); err != nil {
		return err
	}
	d := newDigest(false)
	read := func(r Record) {
		d.add(r)
		j.done.add(r)
	}
	if j.skipped, err = readRecords(io.NewSectionReader(j.file, 0, 1<<62), j.path, counts, read); err != nil {
		return err
	}
	j.past = d.records()
	size, err := j.file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	j.offset = size
	if err := j.healed(); err != nil {
		return err
	}
	j.rotateIfLarge()
	return nil
}

// openCurrent opens the newest file, and puts right what a kill in the middle of a rotation left.
func (j *Journal) openCurrent() error {
	if _, err := os.Lstat(j.path); errors.Is(err, os.ErrNotExist) && j.noLocks == nil {
		_ = os.Rename(nextName(j.path), j.path) // whole before the one before it is moved away; mostly there is none
	}
	f, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	number, err := fileNumber(f)
	if err != nil {
		f.Close()
		return fmt.Errorf("open the journal: %w", err)
	}
	if j.file != nil {
		j.file.Close()
	}
	j.file, j.number, j.offset, j.retryAt = f, number, 0, 0
	return nil
}

// Path is the journal's file.
func (j *Journal) Path() string { return j.path }

// Run is what tells this run of Lockstep from all others.
func (j *Journal) Run() string { return j.opts.Run }

// Past is those records of the journal at the start that still count, and how many of its lines were no records. It is given once.
func (j *Journal) Past() (past []Record, skipped int) {
	<-j.turn
	defer j.release()
	past, j.past = j.past, nil
	return past, j.skipped
}

// NoLocks is why runs cannot know of one another here, where the file system has no locks; nil where it has.
func (j *Journal) NoLocks() error { return j.noLocks }

func (j *Journal) release() { j.turn <- struct{}{} }

// How long a writer waits for another run that has the lock: it has it for some milliseconds, unless it was stopped in the middle.
const (
	lockTries = 200
	lockPause = 5 * time.Millisecond
)

// exclusive takes the turn among the goroutines of this run, and the lock among the runs.
func (j *Journal) exclusive() (release func(), err error) {
	<-j.turn
	if j.lock == nil {
		j.release()
		return nil, errors.New("the journal is closed")
	}
	for try := 0; j.noLocks == nil; try++ {
		switch err := tryLock(j.lock, false); {
		case err == nil:
			return func() { unlock(j.lock); j.release() }, nil
		case !errors.Is(err, errLocked):
			j.noLocks = fmt.Errorf("the file system of %s knows no locks (%w)", filepath.Dir(j.path), err)
		case try == lockTries:
			j.release()
			return nil, fmt.Errorf("another window of yours has the journal %s locked, and does not go on", j.path)
		default:
			time.Sleep(lockPause)
		}
	}
	return j.release, nil
}

// Write appends a record. With durable it returns only when the record is on the disk: nothing is written to a cluster before that.
// What cannot be written is not kept.
func (j *Journal) Write(r Record, durable bool) error {
	release, err := j.exclusive()
	if err != nil {
		return err
	}
	r.Run = j.opts.Run
	if err = j.flush(); err == nil {
		err = j.append([]Record{r})
	}
	return j.end(release, durable, err)
}

// end gives the lock back after a write, and has what was written put on the disk: others need not wait for that.
func (j *Journal) end(release func(), durable bool, err error) error {
	if err == nil {
		j.rotateIfLarge()
	}
	file := j.file
	release()
	if err != nil || !durable {
		return err
	}
	if err := j.sync(file); err != nil && !errors.Is(err, os.ErrClosed) { // put away meanwhile: what is put away is on the disk
		return fmt.Errorf("write the journal %s to the disk: %w", j.path, err)
	}
	return nil
}

// Keep appends records of what has happened. What cannot be written now waits, and is written by Follow or before the next Write that
// can be, in its order; the error says why it waits. What another run has seen and told already is not told again.
func (j *Journal) Keep(durable bool, records ...Record) error {
	<-j.turn
	if len(j.waiting) > 0 { // Follow tries again, from time to time
		defer j.release()
		j.wait(records)
		return j.trouble
	}
	j.release()
	release, err := j.exclusive()
	if err != nil {
		<-j.turn
		defer j.release()
		j.trouble = err
		j.wait(records)
		return err
	}
	j.wait(records)
	j.trouble = j.flush()
	return j.end(release, durable, j.trouble)
}

func (j *Journal) wait(records []Record) {
	for _, r := range records {
		if len(j.waiting) >= maxWaiting {
			j.lost++
			continue
		}
		r.Run = j.opts.Run
		j.waiting = append(j.waiting, r)
	}
}

// flush reads what others wrote, and writes what waits. The caller has the lock.
func (j *Journal) flush() error {
	if err := j.catchUp(true); err != nil {
		return err
	}
	if err := j.healed(); err != nil {
		return err
	}
	for len(j.waiting) > 0 {
		some := j.waiting[:min(atOnceWritten, len(j.waiting))]
		var news []Record
		known := j.told.clone()
		for _, r := range some {
			if !known.again(r) {
				news = append(news, r)
			}
		}
		if err := j.append(news); err != nil {
			return err
		}
		j.told, j.waiting = known, j.waiting[len(some):]
		if n := len(j.waiting); n == 0 && j.lost > 0 {
			r := some[len(some)-1]
			j.waiting, j.lost = []Record{{Kind: RecordLost, Wall: r.Wall, At: r.At, By: r.By, Run: r.Run,
				Text: fmt.Sprintf("%d more records could not be written, and are lost", j.lost)}}, 0
		}
	}
	j.waiting = nil
	return nil
}

// atOnceWritten is how many records that wait are written in one call: while the disk is full a try costs no more.
const atOnceWritten = 256

// append writes records in one call, all of them or none. The caller has the lock, and has caught up.
func (j *Journal) append(records []Record) error {
	var lines []byte
	for _, r := range records {
		line, err := encodeRecord(r)
		if err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	if len(lines) == 0 {
		return nil
	}
	n, err := j.write(j.file, lines)
	if err != nil {
		if n > 0 {
			_ = j.file.Truncate(j.offset) // what is cut off and stays all the same, healed ends
		}
		return fmt.Errorf("write to the journal %s: %w", j.path, err)
	}
	j.offset += int64(n)
	for _, r := range records {
		j.done.add(r)
	}
	return nil
}

// healed ends a line that was cut off, by a crash or a full disk. The caller has the lock, and has caught up: nobody is writing it.
func (j *Journal) healed() error {
	info, err := j.file.Stat()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	if j.offset > info.Size() { // somebody has cut it
		j.offset = info.Size()
	}
	size := info.Size()
	if size == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := j.file.ReadAt(last, size-1); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	if last[0] != '\n' {
		if _, err := j.write(j.file, []byte("\n")); err != nil {
			return fmt.Errorf("write to the journal %s: %w", j.path, err)
		}
		size++
	}
	j.offset = size
	return nil
}

// catchUp reads what other runs have written since, through all files that they have begun meanwhile.
func (j *Journal) catchUp(locked bool) error {
	for {
		if err := j.readOn(j.file); err != nil {
			return err
		}
		here, err := j.file.Stat()
		if err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		now, err := os.Stat(j.path)
		if err == nil && os.SameFile(here, now) || err != nil && !locked { // another run is about to put the next one there
			return nil
		}
		before := j.number
		if err := j.openCurrent(); err != nil {
			return err
		}
		for n := before + 1; n < j.number; n++ {
			f, err := os.Open(archiveName(j.path, n))
			if err != nil {
				continue // its owner has put it away
			}
			_, err = readRecords(f, j.path, nil, j.take)
			f.Close()
			if err != nil {
				return err
			}
		}
	}
}

// readOn reads a file's lines from offset on, those that are whole.
func (j *Journal) readOn(f *os.File) error {
	b := bufio.NewReader(io.NewSectionReader(f, j.offset, 1<<62))
	for {
		line, err := b.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the journal %s: %w", j.path, err)
		}
		j.offset += int64(len(line))
		if r, ok, _ := decodeRecord(bytes.TrimSpace(line), nil); ok {
			j.take(r)
		}
	}
}

// take takes in what another run wrote.
func (j *Journal) take(r Record) {
	if r.Carried || r.Kind == RecordCarried {
		return // known already
	}
	j.done.add(r)
	j.told.hear(r)
	if _, _, seen := r.observation(); !seen && counts(r.Kind) {
		j.others = append(j.others, r)
	}
}

// Follow is what other runs have done, by their records, since it was called last. What waits is written where it can be.
func (j *Journal) Follow() ([]Record, error) {
	<-j.turn
	waits := len(j.waiting) > 0
	var err error
	if j.file != nil && !waits {
		err = j.catchUp(false)
	}
	others := j.others
	j.others = nil
	j.release()
	if !waits {
		return others, err
	}
	release, err := j.exclusive()
	if err != nil {
		return others, err
	}
	j.trouble = j.flush()
	return others, j.end(release, true, j.trouble)
}

// Done is what all runs did, as far as it still counts.
func (j *Journal) Done() []Record {
	<-j.turn
	defer j.release()
	return j.done.records()
}

// Close writes what waits, and closes the journal.
func (j *Journal) Close() error {
	_, err := j.Follow()
	<-j.turn
	defer j.release()
	return errors.Join(err, j.closeFiles())
}

func (j *Journal) closeFiles() error {
	var errs []error
	if j.alive != nil {
		_ = os.Remove(j.alive.Name()) // while it is locked still; else the next run tidies it away
	}
	for _, f := range []*os.File{j.file, j.alive, j.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	j.file, j.alive, j.lock = nil, nil, nil
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
}
