package rules

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// widest is how many characters a line of a Go file may have.
const widest = 140

// No line of a Go file, e2e's included, is longer than 140 characters: a longer one does not fit beside another in a review.
func TestLinesFitOnAScreen(t *testing.T) {
	t.Chdir("..")
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(path, ".") && path != "." || d.Name() == "testdata" || d.Name() == "bin") {
			return fs.SkipDir // bin has what e2e builds, with its sources
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if n := utf8.RuneCountInString(line); n > widest {
				t.Errorf("%s:%d has %d characters; at most %d fit", path, i+1, n, widest)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("only %d Go files found: is this run from the project's root?", files)
	}
}
