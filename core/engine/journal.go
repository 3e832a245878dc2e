package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"lockstep/core/wording"
)

// JournalOptions say how a journal is kept. A zero field means its default.
type JournalOptions struct {
	Run   string // the ID of this run of Lockstep; random by default
	Who   string // for people: "anna@jump01, process 4711"; "process 4711" by default
	Limit int64  // the size in bytes from which on the journal continues in another file; 8 MiB by default
}

const journalLimit = 8 << 20

// Journal is the append-only record of what was seen and done, one JSON object a line. Several goroutines and several runs of Lockstep
// may use one file at a time. To write, a run takes the kernel's lock on the file beside it, reads what other runs have written, and
// leaves out what one of them has recorded already. Each run also locks a file of its own while it lives, so that the others know.
//
// A file that has become large is put away whole, under a number, and the next one begins with what still counts of it. There is a
// whole journal under the name at every moment: a kill or a full disk in the middle costs nothing.
type Journal struct {
	path string
	opts JournalOptions

	turn  chan struct{} // holds one token while nobody writes. Not a mutex: its holder may wait for a file lock
	file  *os.File
	lock  *os.File // locked by the run that writes; nil when the journal is closed
	alive *os.File // this run's own file, locked until the run ends

	noLocks error // why runs cannot know of one another here; nil where they can
	number  int   // of the file
	offset  int64 // how far the file was read, or written by this run, in bytes
	limit   int64
	retryAt int64 // the size at which a failed rotation is tried again
	tail    tail  // of the file, as far as it is known; it counts when it is at the offset

	past    []Record // those records at the start that still count
	skipped int
	done    *digest  // what all runs did
	others  []Record // records of other runs that the Engine has not taken yet
	told    told
	waiting []Record // records that could not be written yet
	lost    int      // how many found no room among them
	trouble error    // why they wait

	unsynced []Record // records that must last, and were written, but are not known to be on the disk
	putAway  error    // why the file could not be synced when it was to be put away; the system tells that only once
	again    bool     // records wait that were written, and not synced

	// Seams for tests.
	locks func(f *os.File, shared bool) error
	write func(f *os.File, b []byte) (int, error)
	sync  func(f *os.File) error
}

// maxWaiting is how many records may wait for a disk that is full.
const maxWaiting = 10000

// OpenJournal opens the journal at path for appending, and reads what still counts of it. It makes the file and its folder where they
// are missing, readable by the user alone.
func OpenJournal(path string, o JournalOptions) (*Journal, error) {
	o.Run = cmp.Or(o.Run, newID()[:8])
	o.Who = cmp.Or(o.Who, fmt.Sprintf("process %d", os.Getpid()))
	o.Limit = cmp.Or(o.Limit, journalLimit)
	j := newJournal(path, o)
	if err := j.begin(); err != nil {
		return nil, err
	}
	return j, nil
}

func newJournal(path string, o JournalOptions) *Journal {
	j := &Journal{path: path, opts: o, turn: make(chan struct{}, 1), limit: o.Limit, done: newDigest(true), told: told{},
		locks: tryLock, write: (*os.File).Write, sync: (*os.File).Sync}
	j.turn <- struct{}{}
	return j
}

func (j *Journal) begin() error {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return fmt.Errorf("make the journal's folder: %w", err)
	}
	var err error
	if j.lock, err = os.OpenFile(j.path+".lock", os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("open the journal: %w", err)
	}
	if err := j.open(); err != nil {
		j.closeFiles()
		return err
	}
	return nil
}

func (j *Journal) open() error {
	// Whether there are locks is asked once: a lock server that is away for a moment must not make the other windows strangers for good.
	switch err := j.locks(j.lock, false); {
	case err == nil:
		unlock(j.lock)
	case !errors.Is(err, errLocked):
		j.noLocks = fmt.Errorf("the file system of %s has no locks (%w)", filepath.Dir(j.path), err)
	}
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

// openCurrent opens the newest file, and finishes a rotation that was cut off by a kill.
func (j *Journal) openCurrent() error {
	if _, err := os.Lstat(j.path); errors.Is(err, os.ErrNotExist) && j.noLocks == nil {
		_ = os.Rename(nextName(j.path), j.path) // it was whole before the last one was moved away; mostly there is none
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
	j.file, j.number, j.offset, j.retryAt, j.tail = f, number, 0, 0, tail{}
	return nil
}

// Path is the path of the journal's newest file.
func (j *Journal) Path() string { return j.path }

// Run is the ID of this run of Lockstep.
func (j *Journal) Run() string { return j.opts.Run }

// Past returns those records of the journal at the start that still count, and how many of its lines were not records. Only the first
// call returns the records.
func (j *Journal) Past() (past []Record, skipped int) {
	<-j.turn
	defer j.release()
	past, j.past = j.past, nil
	return past, j.skipped
}

// NoLocks is the error for which runs cannot know of one another: the file system has no locks. It is nil where it has.
func (j *Journal) NoLocks() error { return j.noLocks }

func (j *Journal) release() { j.turn <- struct{}{} }

// How long a writer waits for another run that has the lock. A run keeps it for some milliseconds, unless it was stopped in the middle.
// While others write, nobody keeps it: they only came first.
const (
	lockTries = 200 // since others last wrote
	lockLimit = 4000
	lockPause = 5 * time.Millisecond
)

// exclusive takes the turn among the goroutines of this run, and the lock among the runs.
func (j *Journal) exclusive() (release func(), err error) {
	<-j.turn
	if j.lock == nil {
		j.release()
		return nil, errors.New("the journal is closed")
	}
	var journal os.FileInfo
	for try, since := 0, 0; j.noLocks == nil; try, since = try+1, since+1 {
		switch err := j.locks(j.lock, false); {
		case err == nil:
			return func() { unlock(j.lock); j.release() }, nil
		case !errors.Is(err, errLocked):
			j.release()
			return nil, fmt.Errorf("lock the journal %s: %w", j.path, err)
		case try == lockLimit || since == lockTries:
			j.release()
			return nil, fmt.Errorf("another window of yours has locked the journal %s, and does not release it", j.path)
		default:
			if now, err := os.Stat(j.path); err == nil {
				if journal != nil && (now.Size() != journal.Size() || !os.SameFile(now, journal)) {
					since = 0
				}
				journal = now
			}
			time.Sleep(lockPause)
		}
	}
	return j.release, nil
}

// Write appends a record. With durable it returns only when the record is on the disk: nothing is written to a cluster before that. A
// record that cannot be written is dropped.
func (j *Journal) Write(r Record, durable bool) error {
	release, err := j.exclusive()
	if err != nil {
		return err
	}
	r.Run = j.opts.Run
	if err = j.flush(durable); err == nil {
		err = j.append([]Record{r})
	}
	return j.end(release, durable, err)
}

// end gives the lock back after a write, and then syncs the disk: other runs need not wait for that. Where that fails, what waited for it
// waits again: the disk may not have it. That it may have it, and has it twice then, does no harm.
func (j *Journal) end(release func(), durable bool, err error) error {
	if err == nil {
		j.rotateIfLarge()
	}
	if err != nil || !durable {
		release()
		return err
	}
	file, written, failed := j.file, j.unsynced, j.putAway
	j.unsynced, j.putAway = nil, nil
	release()
	if failed == nil {
		failed = j.sync(file)
	}
	if failed == nil || errors.Is(failed, os.ErrClosed) { // the file was put away meanwhile, and is on the disk
		return nil
	}
	never := errors.Is(failed, errors.ErrUnsupported) || errors.Is(failed, syscall.EINVAL) // the file system has no sync
	failed = fmt.Errorf("write the journal %s to the disk: %w", j.path, failed)
	if len(written) > 0 && !never {
		<-j.turn
		defer j.release()
		j.waiting, j.trouble, j.again = slices.Concat(written, j.waiting), failed, true
	}
	return failed
}

// Keep appends records of what has happened. Records that cannot be written now wait, and are written in their order by Follow, or
// before the next Write that succeeds; the error says why they wait. What another run has recorded already is not recorded again.
func (j *Journal) Keep(durable bool, records ...Record) error {
	<-j.turn
	if len(j.waiting) > 0 { // Follow tries again from time to time
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
	j.trouble = j.flush(durable)
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

// flush reads what other runs wrote, and writes what waits; durable says that it must last. The caller has the lock.
func (j *Journal) flush(durable bool) error {
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
		if durable {
			j.unsynced = append(j.unsynced, news...)
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

// atOnceWritten is how many waiting records are written in one call. It bounds what a try costs while the disk is full.
const atOnceWritten = 256

// beginsAnother tells whether the record is of the beginning of another update than the one that the file tells of. Each update has files
// of its own.
func (j *Journal) beginsAnother(r Record) bool {
	return r.Kind == RecordUpdate && r.Update != nil && r.Update.Ended.IsZero() && j.done.update != "" && r.Update.UID != j.done.update
}

// append writes records in one call, all of them or none. The caller has the lock, and has caught up.
func (j *Journal) append(records []Record) error {
	if len(records) == 0 {
		return nil
	}
	if slices.ContainsFunc(records, j.beginsAnother) && j.noLocks == nil {
		_ = j.rotate() // where it fails, the update is told in the file of the one before
	}
	end, err := j.tailNow()
	if err != nil {
		return err
	}
	var lines []byte
	for _, r := range records {
		line, err := encodeRecord(r)
		if err != nil {
			return err
		}
		if line, end, err = end.linked(line); err != nil {
			return err
		}
		lines = append(lines, line...)
	}
	n, err := j.write(j.file, lines)
	if err != nil {
		if n > 0 {
			_ = j.file.Truncate(j.offset) // if this fails too, healed ends the line
		}
		return fmt.Errorf("write to the journal %s: %w", j.path, err)
	}
	j.offset += int64(n)
	j.tail = end
	for _, r := range records {
		j.done.add(r)
	}
	return nil
}

// healed ends a line that a crash or a full disk has cut off. The caller has the lock and has caught up, so nobody is writing that
// line.
func (j *Journal) healed() error {
	info, err := j.file.Stat()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	if j.offset > info.Size() { // somebody has truncated the file
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

// catchUp reads what other runs have written since, in all files that they have begun.
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
		if err == nil && os.SameFile(here, now) || err != nil && !locked { // another run is putting the next one there
			return nil
		}
		if err := j.readOn(j.file); err != nil { // what came into it since, before it was put away
			return err
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

// readOn reads the file's whole lines from offset on.
func (j *Journal) readOn(f *os.File) (err error) {
	j.offset, err = wholeLines(f, j.offset, func(line []byte) {
		if r, ok, _ := decodeRecord(bytes.TrimSpace(line), nil); ok {
			j.take(r)
		}
	})
	if err != nil {
		return fmt.Errorf("read the journal %s: %w", j.path, err)
	}
	return nil
}

// take takes in a record of another run.
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

// Follow returns the records of what other runs have done since the last call. It also tries to write what waits.
func (j *Journal) Follow() ([]Record, error) {
	<-j.turn
	waits := len(j.waiting) > 0
	var err error
	if j.file != nil && !waits {
		err = j.catchUp(false)
	}
	others := j.others
	j.others = nil
	file, again := j.file, j.again
	j.release()
	if !waits {
		return others, err
	}
	if again { // while nothing can be synced, nothing is written again and again
		if err := j.sync(file); err != nil && !errors.Is(err, os.ErrClosed) {
			return others, fmt.Errorf("write the journal %s to the disk: %w", j.path, err)
		}
	}
	release, err := j.exclusive()
	if err != nil {
		return others, err
	}
	j.again = false
	j.trouble = j.flush(true)
	return others, j.end(release, true, j.trouble)
}

// Done returns the records of what all runs did, as far as they still count.
func (j *Journal) Done() []Record {
	<-j.turn
	defer j.release()
	return j.done.records()
}

// Close writes what waits, and closes the journal. The error says how many records could not be written: they are lost.
func (j *Journal) Close() error {
	_, err := j.Follow()
	<-j.turn
	defer j.release()
	if n := len(j.waiting) + j.lost; err != nil && n > 0 {
		err = fmt.Errorf("it lacks %s that could not be written: %w", wording.Count(n, "record"), err)
	}
	return errors.Join(err, j.closeFiles())
}

func (j *Journal) closeFiles() error {
	var errs []error
	if j.alive != nil {
		_ = os.Remove(j.alive.Name()) // while it is still locked; if this fails, the next run removes it
	}
	for _, f := range []*os.File{j.file, j.alive, j.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	j.file, j.alive, j.lock = nil, nil, nil
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
}
