package lane

import (
	"slices"
	"testing"
)

// A story that .ci/run would never play is found: one that says only by a helper that it is one.
func TestAStoryIsPlayedSomewhere(t *testing.T) {
	const file = `
func TestOne(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {})
}

func TestOther(t *testing.T) { t.Parallel() }

func TestSome(t *testing.T) {
	for i := range 9 {
		if !lane.Chosen(t, i, 3) {
			continue
		}
	}
}

func helper(t *testing.T) { lane.Single(t) }

func TestByAHelper(t *testing.T) { helper(t) }
`
	for _, folder := range []string{".", t.TempDir()} {
		if _, err := scriptAbove(folder); err == nil {
			t.Errorf("there is a script above %s", folder)
		}
	}
	mark, err := markIn("mark='(lane\\.(Single|Chosen)|bubble\\.Story)\\('\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := markedIn(file, mark), []string{"TestOne", "TestSome", "helper"}; !slices.Equal(got, want) {
		t.Errorf("marked: %v, want %v", got, want)
	}
	if _, err := markIn("mark=''"); err == nil {
		t.Error("a script without a mark is taken")
	}
}
