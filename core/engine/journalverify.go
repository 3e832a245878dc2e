package engine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// JournalDamage says what is wrong with a line of a journal.
type JournalDamage string

// The kinds of damage.
const (
	DamageChanged  JournalDamage = "changed"  // it is not as it was written
	DamageMissing  JournalDamage = "missing"  // lines before it are gone
	DamageDoubled  JournalDamage = "doubled"  // it stands there twice
	DamageInserted JournalDamage = "inserted" // it is not one of this journal's lines here
	DamageCut      JournalDamage = "cut"      // it is not whole, and no run of Lockstep has noted that
)

// JournalFinding is one thing that is wrong with a journal.
type JournalFinding struct {
	File   string        `json:"file"`
	Line   int           `json:"line"` // from 1
	Damage JournalDamage `json:"damage"`
	Text   string        `json:"text"`
}

// JournalVerification is what the chain of a journal's lines tells. Lines cut off the end are beyond it: only a seal that was noted
// elsewhere tells of them.
type JournalVerification struct {
	Files    []string         `json:"files"`
	Lines    int              `json:"lines"`
	Unlinked int              `json:"unlinked"`       // lines of an older version, which nothing protects
	Seq      int64            `json:"seq"`            // the last number
	Last     string           `json:"last,omitempty"` // sha256 of the last line
	Findings []JournalFinding `json:"findings"`
	Notes    []string         `json:"notes"`
}

// VerifyJournal checks the chain of the journal at path through all its files. A file that was put away is checked by itself when it is
// named. It takes no lock, and writes nothing. A seal is of a line that the journal had when it was noted.
func VerifyJournal(path string, seals ...JournalSeal) (JournalVerification, error) {
	return NewJournalVerifier(path, seals...).Verify()
}

// JournalVerifier verifies one journal again and again. It reads a file that was put away once, and anew when its size or time has changed.
type JournalVerifier struct {
	path  string
	seals []JournalSeal
	kept  []verifiedFile // of the files that were put away, by their numbers
	read  int            // how many files were read so far
}

// verifiedFile is a file that was put away, and what was found up to its end.
type verifiedFile struct {
	size    int64 // -1: it is not there
	written time.Time
	found   verifier
}

// NewJournalVerifier returns a verifier of the journal at path.
func NewJournalVerifier(path string, seals ...JournalSeal) *JournalVerifier {
	return &JournalVerifier{path: path, seals: seals}
}

// Verify does what VerifyJournal does.
func (j *JournalVerifier) Verify() (JournalVerification, error) {
	v := verifier{v: JournalVerification{Files: []string{}, Findings: []JournalFinding{}, Notes: []string{}}, seals: j.seals,
		met: make([]bool, len(j.seals))}
	current, number, err := openCurrent(j.path)
	if err != nil {
		return v.v, err
	}
	if current == nil {
		return v.v, fmt.Errorf("read the journal: %s: %w", j.path, os.ErrNotExist)
	}
	defer current.Close()
	if putAway(j.path) {
		number = 1
	}
	for n := 1; n < number; n++ {
		if err := j.putAway(&v, n); err != nil {
			return v.v, err
		}
	}
	if err := v.file(current); err != nil {
		return v.v, err
	}
	j.read++
	v.unmet()
	return v.v, nil
}

// putAway goes on with a file that was put away.
func (j *JournalVerifier) putAway(v *verifier, number int) error {
	name := archiveName(j.path, number)
	is := verifiedFile{size: -1}
	switch info, err := os.Stat(name); {
	case err == nil:
		is.size, is.written = info.Size(), info.ModTime()
	case !errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("read the journal: %w", err)
	}
	if len(j.kept) >= number {
		if was := j.kept[number-1]; was.size == is.size && was.written.Equal(is.written) {
			*v = was.found.apartFrom()
			return nil
		}
	}
	j.kept = j.kept[:number-1] // what comes after it is another chain as well
	if is.size < 0 {
		v.apart, v.gone = true, append(v.gone, name)
		v.note("%s is not there: how it ends is not known", name)
	} else {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
		err = v.file(f)
		f.Close()
		if err != nil {
			return err
		}
		j.read++
	}
	is.found = v.apartFrom()
	j.kept = append(j.kept, is)
	return nil
}

// apartFrom is a copy for the next file: what is found there does not change the original.
func (v *verifier) apartFrom() verifier {
	next := *v
	next.seen, next.met = nil, slices.Clone(v.met)
	next.v.Files, next.v.Findings, next.v.Notes = slices.Clip(v.v.Files), slices.Clip(v.v.Findings), slices.Clip(v.v.Notes)
	next.gone = slices.Clip(v.gone)
	return next
}

// putAway tells whether the name is that of an earlier file of a journal.
func putAway(path string) bool {
	number, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(path), "."))
	return err == nil && path == archiveName(strings.TrimSuffix(path, filepath.Ext(path)), number)
}

// verifier goes through the lines of a journal.
type verifier struct {
	v     JournalVerification
	name  string
	line  int            // in the file
	seen  map[string]int // the lines of the file by their sums
	seq   int64          // of the last line with a link
	sum   string         // of the line before
	apart bool           // the file before is not there
	torn  bool           // the line before is not whole
	first int64          // the first number that was read
	gone  []string       // files that are not there

	seals []JournalSeal
	met   []bool // the line of the seal at this place was read
}

func (v *verifier) note(format string, args ...any) {
	v.v.Notes = append(v.v.Notes, fmt.Sprintf(format, args...))
}

func (v *verifier) find(line int, damage JournalDamage, format string, args ...any) {
	v.v.Findings = append(v.v.Findings, JournalFinding{v.name, line, damage, fmt.Sprintf(format, args...)})
}

func (v *verifier) file(f *os.File) error {
	v.name, v.line, v.seen = f.Name(), 0, map[string]int{}
	v.v.Files = append(v.v.Files, v.name)
	if err := eachLine(f, v.next); err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	if v.torn {
		v.torn = false
		v.find(v.line, DamageCut, "the last line is not whole: it was cut off, or is being written")
	}
	v.v.Seq, v.v.Last = v.seq, v.sum
	return nil
}

// next takes the next line.
func (v *verifier) next(line []byte, _ bool) {
	v.line++
	v.v.Lines++
	sum, torn := lineSum(line), v.torn
	first, again := v.seen[sum]
	l, whole := linkOf(line)
	if !again {
		v.seen[sum] = v.line
	}
	if again && (!whole || l.Seq > 0) {
		v.find(v.line, DamageDoubled, "it is line %d once more", first)
		return // the chain goes on from the line before
	}
	v.torn = !whole
	if torn && !(l.Cut && l.Prev == v.sum) {
		v.find(v.line-1, DamageCut, "it is not a whole line, and no run has noted that it was cut off")
	} else if torn {
		v.note("%s, line %d was cut off by a crash or a full disk; the next run noted it", v.name, v.line-1)
	}
	switch {
	case !whole: // the next line tells
	case l.Seq == 0 && v.seq == 0:
		v.v.Unlinked++
	case l.Seq == 0:
		v.find(v.line, DamageInserted, "it has no link to the line before: it was written by something else, or by an older version")
	default:
		v.linked(l, line)
		v.seq, v.first = l.Seq, cmp.Or(v.first, l.Seq)
		v.sealed(l.Seq, sum)
	}
	v.sum = sum
}

// linked checks the link of a line that has one.
func (v *verifier) linked(l link, line []byte) {
	begins := false // the line begins a file, and the file before is not there
	if v.line == 1 && (v.apart || v.sum == "") {
		r, ok, _ := decodeRecord(line, nil)
		begins = ok && r.Kind == RecordCarried
		v.apart = false
	}
	switch follows := l.Prev == v.sum; {
	case begins:
		if v.sum == "" {
			v.note("%s begins with number %d: it continues another file", v.name, l.Seq)
		}
	case follows && l.Seq == v.seq+1:
	case follows:
		v.find(v.line, DamageChanged, "its number is %d, and that of the line before is %d", l.Seq, v.seq)
	case l.Seq > v.seq+1:
		v.find(v.line, DamageMissing, "%s before it missing", numbers(v.seq+1, l.Seq-1))
	case l.Seq == v.seq+1 && v.line == 1:
		v.find(1, DamageChanged, "the file before does not end as this one says")
	case l.Seq == v.seq+1:
		v.find(v.line-1, DamageChanged, "it is not as it was written: the sum in line %d is another", v.line)
	default:
		v.find(v.line, DamageInserted, "it is number %d and follows number %d", l.Seq, v.seq)
	}
}

func numbers(from, to int64) string {
	if from == to {
		return fmt.Sprintf("number %d is", from)
	}
	return fmt.Sprintf("numbers %d to %d are", from, to)
}
