package step

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// An override says when the lock's owner looks next, and what happens to the text that the owner wrote.
func TestWhatAnOverrideSaysOfItsOwner(t *testing.T) {
	sc := scene.Healthy()
	l := sc.Maintained("cmp-01", "Waiting servers migration is completed: ['a']")
	plan := func(text string) string {
		return Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentOverrideLock, Object: l.Ref(), State: core.LockInactive, Reason: text}).Then
	}
	if then := plan(""); !strings.Contains(then, "At its next look, within 60 s") ||
		!strings.Contains(then, `The text that its owner wrote is removed: "`) {
		t.Errorf("then %q", then)
	}
	if then := plan("the guests may go down"); !strings.Contains(then, "Your text takes the place of its owner's") {
		t.Errorf("then %q", then)
	}
	sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", UID: "d"}, Replicas: 1}
	if then := plan(""); !strings.Contains(then, "nobody looks until it is up") {
		t.Errorf("with the controller down: %q", then)
	}
}
