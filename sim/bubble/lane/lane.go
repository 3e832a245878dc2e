// Package lane says which tests are played with the race detector: .ci/run plays all of them in one lane with it, and what it would only
// slow down in another without.
package lane

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// OnlyAStory is what makes a test a story: it skips the test with the race detector, and otherwise fails it when the lane of the
// stories leaves it out.
func OnlyAStory(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("a story: played without the race detector")
	}
	if err := amongTheStories(t.Name()); err != nil {
		t.Error(err)
	}
}

// Single is for a test that stays in one goroutine, where the race detector sees nothing and only takes its time: as with a story, it is
// not played with it.
func Single(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("of one goroutine: played without the race detector")
	}
	if err := amongTheStories(t.Name()); err != nil {
		t.Error(err)
	}
}

// Chosen tells whether to play the i-th of several stories that are alike to the race detector: with it one of this many, otherwise
// all. As with a story, the lane of the stories in .ci/run must play them.
func Chosen(t *testing.T, i, apart int) bool {
	t.Helper()
	if raceDetector {
		return i%apart == 0
	}
	if err := amongTheStories(t.Name()); err != nil {
		t.Error(err)
	}
	return true
}

// amongTheStories returns an error when .ci/run does not play a test of the package in the current folder without the race detector.
func amongTheStories(test string) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	root := folder
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if root == filepath.Dir(root) {
			return fmt.Errorf("no go.mod above %s", folder)
		}
		root = filepath.Dir(root)
	}
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		return err
	}
	in, err := filepath.Rel(root, folder)
	if err != nil {
		return err
	}
	return plays(string(script), "./"+filepath.ToSlash(in), test)
}

// plays returns an error when a script has no command "go test … [-run "…"] package" that plays the test.
func plays(script, in, test string) error {
	script = strings.ReplaceAll(script, "\\\n", "") // a command may go on in the next line
	name, _, _ := strings.Cut(test, "/")
	line := regexp.MustCompile(`go test [^\n]*?(?:-run "([^"\n]*)" )?` + regexp.QuoteMeta(in) + `(?:[\s']|$)`)
	for _, found := range line.FindAllStringSubmatch(script, -1) {
		if chosen, err := regexp.Compile(found[1]); err == nil && chosen.MatchString(name) {
			return nil
		}
	}
	return fmt.Errorf("%s of %s is played by no lane of .ci/run: add it to the stories", name, in)
}
