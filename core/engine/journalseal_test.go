package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A seal that was noted elsewhere shows what the links alone do not: lines taken off the end, a changed last line, and a journal that was
// written anew with all sums computed again.
func TestASealShowsWhatTheLinksDoNot(t *testing.T) {
	anew := func(t *testing.T, who string) []byte {
		path := filepath.Join(t.TempDir(), "anew.jsonl")
		j, err := OpenJournal(path, JournalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		numbered(t, j, who, 0, 12)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct {
		do   func(t *testing.T, lines [][]byte) []byte
		want string // the damage; empty: none
		says string
	}{
		"as it was": {func(_ *testing.T, l [][]byte) []byte { return bytes.Join(l, nil) },
			"", "up to number 10 it is as the seal"},
		"cut off": {func(_ *testing.T, l [][]byte) []byte { return bytes.Join(l[:7], nil) },
			"7 missing", "taken off its end"},
		"the last, changed": {func(_ *testing.T, l [][]byte) []byte { return bytes.Replace(bytes.Join(l, nil), l[9], otto(l[9]), 1) },
			"10 changed", "anew"},
		"all written anew": {func(t *testing.T, _ [][]byte) []byte { return anew(t, "otto") }, "10 changed", "anew"},
		"lines came after it": {func(t *testing.T, l [][]byte) []byte { return append(bytes.Join(l, nil), after(t, l)...) },
			"", "up to number 10"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.jsonl")
			lines := chained(t, path, 10)
			seal, err := SealJournal(path)
			if err != nil || seal.Seq != 10 || len(seal.Sum) != 64 || seal.File != path {
				t.Fatalf("%+v, %v", seal, err)
			}
			noted, err := ParseJournalSeal(seal.String()) // as a person notes it
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.do(t, lines), 0o600); err != nil {
				t.Fatal(err)
			}
			if v, err := VerifyJournal(path); err != nil || len(v.Findings) > 0 {
				t.Fatalf("the links tell already: %+v, %v", v, err)
			}
			v, err := VerifyJournal(path, noted)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if len(v.Findings) > 0 || len(v.Notes) != 1 || !strings.Contains(v.Notes[0], c.says) {
					t.Errorf("%+v", v)
				}
				return
			}
			if len(v.Findings) != 1 || fmt.Sprint(v.Findings[0].Line, " ", v.Findings[0].Damage) != c.want ||
				!strings.Contains(v.Findings[0].Text, c.says) {
				t.Errorf("found %+v, want %s", v.Findings, c.want)
			}
		})
	}
}

// otto is a line with another writer.
func otto(line []byte) []byte { return bytes.Replace(line, []byte("anna"), []byte("otto"), 1) }

// after are two lines more that another run writes after these.
func after(t *testing.T, lines [][]byte) []byte {
	path := filepath.Join(t.TempDir(), "later.jsonl")
	if err := os.WriteFile(path, append(bytes.Join(lines, nil), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	all := chained(t, path, 2)
	return append([]byte("\n"), bytes.Join(all[len(lines):], nil)...)
}

// A seal counts lines through all files of a journal. Where the file with its line was taken away, nobody knows; that is no damage.
func TestASealHoldsThroughAllFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	j := openSmall(t, path)
	numbered(t, j, "anna", 0, 50)
	early, err := SealJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	numbered(t, j, "anna", 50, 100)
	late, err := SealJournal(path)
	if err != nil || late.Seq <= early.Seq {
		t.Fatalf("%v after %v: %v", late, early, err)
	}
	v, err := VerifyJournal(path, early, late)
	if err != nil || len(v.Findings) > 0 || len(v.Notes) != 2 || len(v.Files) < 3 {
		t.Errorf("%+v, %v", v, err)
	}
	for _, f := range v.Files[:len(v.Files)-1] {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	if v, err = VerifyJournal(path, early); err != nil || len(v.Findings) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
	if last := v.Notes[len(v.Notes)-1]; !strings.Contains(last, "is not known") {
		t.Errorf("%q", v.Notes)
	}
}

// The seal is of the last whole line: one that is being written, or was cut off, has no sum yet.
func TestASealIsOfAWholeLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	lines := chained(t, path, 5)
	if err := os.WriteFile(path, append(bytes.Join(lines[:4], nil), lines[4][:30]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if seal, err := SealJournal(path); err != nil || seal.Seq != 4 {
		t.Errorf("%+v, %v", seal, err)
	}
}

func TestWhatIsNoSeal(t *testing.T) {
	for _, text := range []string{"", "184", ":7c12ab49ab2fc6c8", "184:", "184:7c12", "0:7c12ab49ab2fc6c8", "-1:7c12ab49ab2fc6c8",
		"184:7c12ab49ab2fc6cz", "184:7c12ab49ab2fc6c8z", "184:" + strings.Repeat("a", 65)} {
		if seal, err := ParseJournalSeal(text); err == nil {
			t.Errorf("%q is taken for %v", text, seal)
		}
	}
	if seal, err := ParseJournalSeal(" 184:7C12AB49AB2FC6C8a "); err != nil || seal.Seq != 184 || seal.Sum != "7c12ab49ab2fc6c8a" {
		t.Errorf("%v, %v", seal, err)
	}
}
