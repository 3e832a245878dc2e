// Package lane says which tests are played with the race detector: .ci/run plays all of them in one lane with it, and what it would only
// slow down in another without.
package lane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
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

// Part is how many of so many things that are alike to the race detector are played: with it this part of them, otherwise all. As with a
// story, the lane of the stories in .ci/run must play them.
func Part(t *testing.T, all, part int) int {
	t.Helper()
	if raceDetector {
		return (all + part - 1) / part
	}
	if err := amongTheStories(t.Name()); err != nil {
		t.Error(err)
	}
	return all
}

// Fewer is for a test with random draws of which the whole package has fewer with the race detector. As with a story, the lane of the
// stories in .ci/run must play it.
func Fewer(t *testing.T) {
	t.Helper()
	Part(t, 0, 1)
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
	played, err := stories()
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(test, "/")
	if !played[name] {
		return fmt.Errorf("%s is played by no lane of .ci/run: it must say itself, not by a helper, that it is a story", name)
	}
	return nil
}

// stories are the tests of the package in the current folder that the lane of the stories plays.
var stories = sync.OnceValues(func() (map[string]bool, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	script, err := scriptAbove(folder)
	if err != nil {
		return nil, err
	}
	mark, err := markIn(script)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	played := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, test := range markedIn(string(text), mark) {
			played[test] = true
		}
	}
	return played, nil
})

// scriptAbove is .ci/run of the module with the folder.
func scriptAbove(folder string) (string, error) {
	root := folder
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
			return string(script), err
		}
		if root == filepath.Dir(root) {
			return "", fmt.Errorf("no go.mod above %s", folder)
		}
		root = filepath.Dir(root)
	}
}

// markIn is the script's regular expression for the lines by which a test says that it is a story.
func markIn(script string) (*regexp.Regexp, error) {
	found := regexp.MustCompile(`(?m)^mark='(.+)'$`).FindStringSubmatch(script)
	if found == nil {
		return nil, errors.New(".ci/run has no line mark='…', which says what makes a test a story")
	}
	return regexp.Compile(found[1])
}

var function = regexp.MustCompile(`^func (\w*)`)

// markedIn are the functions of a file with such a line, as the script finds them.
func markedIn(file string, mark *regexp.Regexp) (marked []string) {
	name := ""
	for line := range strings.Lines(file) {
		if found := function.FindStringSubmatch(line); found != nil {
			name = found[1]
		}
		if mark.MatchString(line) {
			marked = append(marked, name)
		}
	}
	return marked
}
