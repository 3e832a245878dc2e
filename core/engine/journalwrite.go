package engine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
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
