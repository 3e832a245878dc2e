package derivedtest

import (
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/scene"
)

// What was derived from other facts than a Snapshot has is a difference: the comparison can fail.
func TestWhatIsNotDerivedAnewIsFound(t *testing.T) {
	sc := scene.NewScene()
	if got := Differ(sc.Snapshot); len(got) != 0 {
		t.Fatalf("nothing has changed, and it says %q", got)
	}
	attention.Of(sc.Snapshot)
	sc.Source(core.SourceNodes, core.SourceForbidden)
	if got := Differ(sc.Snapshot); len(got) == 0 {
		t.Error("a source that is refused by now is no difference to what was derived before")
	}
}
