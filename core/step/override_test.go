package step

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// To release the last lock of a node that is to be removed takes the node out of the cluster, with what is on it; the step rests on that
// request (docs/mosk.md#removal).
func TestWhatAnOverrideSaysOfARemoval(t *testing.T) {
	sc := scene.Healthy()
	for _, l := range sc.NodeLocks.At("cmp-01") {
		if l.Controller != core.ControllerOpenStack {
			l.RawState = core.LockInactive
		}
	}
	i := core.Intent{Kind: core.IntentOverrideLock, Object: sc.NodeLock("cmp-01", core.ControllerOpenStack).Ref(), State: core.LockInactive}
	before := Plan(sc.Again().Snapshot, i)
	if !strings.Contains(before.Then, "Nobody asks for it now") {
		t.Errorf("without a removal: %q", before.Then)
	}
	sc.Removes("cmp-01")
	removed := Plan(sc.Again().Snapshot, i)
	for _, says := range []string{"Its removal is asked for", "out of the cluster; 1 instance goes with it: web-1",
		"when the removal is withdrawn"} {
		if !strings.Contains(removed.Then, says) {
			t.Errorf("%q does not say %q", removed.Then, says)
		}
	}
	if slices.Equal(before.Basis, removed.Basis) {
		t.Error("a removal that is asked for after the look changes nothing that the step rests on")
	}
	delete(sc.Deletions, "cmp-01")
	sc.Source(core.SourceDeletionRequests, core.SourceForbidden)
	if then := Plan(sc.Again().Snapshot, i).Then; !strings.Contains(then, "Whether its removal is asked for is not known") {
		t.Errorf("where removals are not known: %q", then)
	}
}

// What LCM does with a lock that is set inactive, or released by Lockstep as its controller, rests on who else holds the node and on how it
// is asked for: whoever confirmed it before has not confirmed this.
func TestWhatLCMDoesNextIsPartOfWhatIsConfirmed(t *testing.T) {
	for name, tt := range map[string]struct {
		changes func(sc scene.Scene)
		fact    string
	}{
		"another lock lets go": {func(sc scene.Scene) { sc.NodeLock("cmp-01", core.ControllerCeph).RawState = core.LockInactive },
			"held by others"},
		"the host may reboot": {func(sc scene.Scene) { sc.NodeRequest("cmp-01").Scope = core.ScopeOS }, "scope"},
		"LCM asks for it":     {func(sc scene.Scene) { sc.NodeRequest("cmp-01").MadeBy = "" }, "made by hand"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			l := sc.Maintained("cmp-01", "")
			sc.Settings = scene.PlaysOpenStack()
			sc.NodeRequest("cmp-01").Scope, sc.NodeRequest("cmp-01").MadeBy = core.ScopeDrain, core.MadeByLockstep
			sc.Lock("cmp-01", core.ControllerCeph, core.LockActive)
			override := func(to core.LockState) core.Intent {
				return core.Intent{Kind: core.IntentOverrideLock, Object: l.Ref(), State: to}
			}
			plan := func() []core.Step {
				s := sc.Again().Snapshot
				return []core.Step{Plan(s, override(core.LockInactive)),
					Plan(s, core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: "cmp-01"}),
					Plan(s, override(core.LockFailed))}
			}
			before := plan()
			tt.changes(sc)
			for i, now := range plan() {
				changed := strings.Join(ChangedFacts(before[i].Basis, now.Basis), "; ")
				if says := strings.Contains(changed, tt.fact+":"); says != (i < 2) {
					t.Errorf("%s: %q has changed", now.Title, changed)
				}
			}
		})
	}
}

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
