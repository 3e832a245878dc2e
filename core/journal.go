package core

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
	"unicode/utf8"
)

// RecordKind says what a Record tells of.
type RecordKind string

// The kinds of records.
const (
	RecordStart    RecordKind = "start"    // Lockstep began to watch
	RecordStop     RecordKind = "stop"     // it left in good order
	RecordUpdate   RecordKind = "update"   // a cluster update was seen to begin or to end
	RecordPhase    RecordKind = "phase"    // a phase was seen to begin or to end
	RecordStage    RecordKind = "stage"    // a node came into a stage
	RecordLock     RecordKind = "lock"     // a lock came into a state
	RecordRound    RecordKind = "round"    // a node's maintenance was seen to begin or to end
	RecordArm      RecordKind = "arm"      // writing was armed
	RecordDisarm   RecordKind = "disarm"   // writing was disarmed
	RecordGrant    RecordKind = "grant"    // the operator confirmed a step
	RecordBefore   RecordKind = "before"   // a write is about to be sent
	RecordAfter    RecordKind = "after"    // the server answered, or did not
	RecordVerified RecordKind = "verified" // the cluster showed how it ended
	RecordMigrated RecordKind = "migrated" // a cold migration that Lockstep began was seen to have come to its end
	RecordRefusal  RecordKind = "refusal"  // Nova was seen to refuse the OpenStack controller a migration
	RecordRefused  RecordKind = "refused"  // the gate did not let a write through
	RecordEnded    RecordKind = "ended"    // an operation came to its end, with all items of a batch
	RecordControl  RecordKind = "control"  // the operator paused, resumed, skipped, stopped or acknowledged
)

// Record is one line of the journal. Which fields are set depends on its kind; the strings of servers are cut to 4 KiB.
type Record struct {
	Kind RecordKind `json:"kind"`
	Wall time.Time  `json:"wall"`         // when it was written
	At   time.Time  `json:"at,omitzero"`  // the cluster's time
	By   string     `json:"by,omitempty"` // user@host

	Cluster   string   `json:"cluster,omitempty"`
	Version   string   `json:"version,omitempty"`
	Operation string   `json:"operation,omitempty"` // joins grant, before, after, verified
	Step      string   `json:"step,omitempty"`
	Intent    *Intent  `json:"intent,omitempty"`
	Object    *Ref     `json:"object,omitempty"`
	Node      string   `json:"node,omitempty"`
	Title     string   `json:"title,omitempty"`
	Commands  []string `json:"commands,omitempty"`
	Basis     []Fact   `json:"basis,omitempty"`
	Typed     string   `json:"typed,omitempty"`

	From  string `json:"from,omitempty"` // the value or state before
	To    string `json:"to,omitempty"`   // the value or state after
	State string `json:"state,omitempty"`
	Exact bool   `json:"exact,omitempty"` // the transition was seen, not inferred
	Error string `json:"error,omitempty"`
	Text  string `json:"text,omitempty"`

	Stage  *StageRecord      `json:"stage,omitempty"`
	Round  *Round            `json:"round,omitempty"`
	Phase  *PhaseRecord      `json:"phase,omitempty"`
	Number PhaseID           `json:"number,omitempty"`
	Update *UpdateRecord     `json:"update,omitempty"`
	Change *AnnotationChange `json:"change,omitempty"`
	Tags   *TagChange        `json:"tags,omitempty"`

	Begun *ActionBegun `json:"begun,omitempty"` // of an action on an instance

	Override *Override      `json:"override,omitempty"`
	Refusal  *RefusalRecord `json:"refusal,omitempty"` // of the instance that is the object

	Items []ItemRecord `json:"items,omitempty"` // of a batch that ended
}

// ItemRecord is how one item of a batch ended.
type ItemRecord struct {
	Label    string         `json:"label"`
	Instance string         `json:"instance,omitempty"` // ID
	State    OperationState `json:"state"`
	Text     string         `json:"text,omitempty"`
}

// maxRecordText is how much of a server's text one field of a Record keeps, in bytes.
const maxRecordText = 4096

// Journal is the append-only record of what was seen and done, one JSON object a line. It is safe for use by several
// goroutines, and by several processes on one file: a line is written in one call.
type Journal struct {
	mu   sync.Mutex
	file *os.File
	path string
	torn bool // the last line was cut off: the disk was full, say
	sync func() error
}

// OpenJournal opens the journal at path for appending, and makes it and its folder, readable by the user alone, where
// they are missing.
func OpenJournal(path string) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the journal's folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	// A line that was cut off by a crash must not swallow the next one.
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			if _, err := f.WriteString("\n"); err != nil {
				f.Close()
				return nil, fmt.Errorf("write to the journal: %w", err)
			}
		}
	}
	return &Journal{file: f, path: path, sync: f.Sync}, nil
}

// Path is the journal's file.
func (j *Journal) Path() string { return j.path }

// Write appends a record. With durable it returns only when the record is on the disk: nothing is written to a cluster
// before that.
func (j *Journal) Write(r Record, durable bool) error {
	r.Error, r.Text = clip(r.Error, maxRecordText), clip(r.Text, maxRecordText)
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode a journal record: %w", err)
	}
	if bytes.Contains(line, []byte("://")) {
		if line, err = withoutSecrets(line); err != nil {
			return err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.torn {
		line = append([]byte{'\n'}, line...) // what was cut off must not swallow this one
	}
	n, err := j.file.Write(append(line, '\n'))
	j.torn = err != nil && (n > 0 || j.torn)
	if err != nil {
		return fmt.Errorf("write to the journal %s: %w", j.path, err)
	}
	if durable {
		if err := j.sync(); err != nil {
			return fmt.Errorf("write the journal %s to the disk: %w", j.path, err)
		}
	}
	return nil
}

// Close closes the journal.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.Close()
}

// ReadJournal reads the records at path in order. Lines that are not records (cut off by a crash, or written by a newer
// version) are skipped and counted. A missing file is no record at all.
func ReadJournal(path string, each func(Record)) (skipped int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the journal: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var rec Record
			if json.Unmarshal(line, &rec) != nil || rec.Kind == "" {
				skipped++
			} else {
				each(rec)
			}
		}
		if err == io.EOF {
			return skipped, nil
		}
		if err != nil {
			return skipped, fmt.Errorf("read the journal %s: %w", path, err)
		}
	}
}

// clip cuts s to at most n bytes at a rune's border, and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	cut := n
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + " …(cut)"
}
