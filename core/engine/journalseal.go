package engine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// JournalSeal is a line of a journal, by its number and its sum, that is noted elsewhere: in a handover or a report. As each line holds
// the sum of the line before, a journal that still has this line has all lines up to it as they were.
type JournalSeal struct {
	File string `json:"file,omitempty"` // of the journal that it is of
	Seq  int64  `json:"seq"`            // the number of the line
	Sum  string `json:"sha256"`         // of the line, in hex
}

// How much of a sum is printed, and is asked for, in hex digits. Nobody finds another line with the same 64 bits.
const sealDigits = 16

// String is the seal as people note it: "184:7c12ab49ab2fc6c8".
func (s JournalSeal) String() string {
	return fmt.Sprintf("%d:%s", s.Seq, s.Sum[:min(sealDigits, len(s.Sum))])
}

// ParseJournalSeal reads what String, or a verification, prints: a number, a colon, and at least 16 digits of the sum.
func ParseJournalSeal(text string) (JournalSeal, error) {
	number, sum, _ := strings.Cut(strings.TrimSpace(text), ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	sum = strings.ToLower(strings.TrimSpace(sum))
	if err != nil || seq < 1 || strings.Trim(sum, "0123456789abcdef") != "" || len(sum) < sealDigits || len(sum) > 64 {
		return JournalSeal{}, fmt.Errorf("%q is no seal: it is the number of a line, a colon, and %d to 64 digits of its sum: "+
			"184:7c12ab49ab2fc6c8", text, sealDigits)
	}
	return JournalSeal{Seq: seq, Sum: sum}, nil
}

// SealJournal is the seal of the last whole line of the journal at path. It is zero where the journal has no line with a number.
func SealJournal(path string) (JournalSeal, error) {
	f, _, err := openCurrent(path)
	if err != nil {
		return JournalSeal{}, err
	}
	if f == nil {
		return JournalSeal{}, fmt.Errorf("read the journal: %s: %w", path, os.ErrNotExist)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return JournalSeal{}, fmt.Errorf("read the journal: %w", err)
	}
	var seal JournalSeal
	_, err = backwards(f, info.Size(), func(line []byte) bool {
		if l, whole := linkOf(line); whole && l.Seq > 0 {
			seal = JournalSeal{File: path, Seq: l.Seq, Sum: lineSum(line)}
		}
		return seal.Seq == 0
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return JournalSeal{}, fmt.Errorf("read the journal: %w", err)
	}
	return seal, nil
}

// sealed holds a line against the seals of its number.
func (v *verifier) sealed(seq int64, sum string) {
	for i, s := range v.seals {
		if s.Seq != seq || v.met[i] {
			continue
		}
		v.met[i] = true
		if strings.HasPrefix(sum, s.Sum) {
			v.note("up to number %d it is as the seal %s has it", seq, s)
		} else {
			v.find(v.line, DamageChanged, "it is not the line of the seal %s: it, or lines before it, were written anew", s)
		}
	}
}

// unmet tells of the seals whose lines were not found.
func (v *verifier) unmet() {
	for i, s := range v.seals {
		switch {
		case v.met[i]:
		case s.Seq > v.seq:
			v.find(v.line, DamageMissing, "it ends with number %d, and the seal %s is of a later line: lines were taken off its end", v.seq, s)
		case len(v.gone) > 0 || v.first > s.Seq:
			v.note("whether it is as the seal %s has it is not known: the file with that line is not there", s)
		default:
			v.find(v.line, DamageMissing, "number %d is missing, the line of the seal %s", s.Seq, s)
		}
	}
}
