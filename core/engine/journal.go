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
