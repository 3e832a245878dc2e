package procedure

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// Every instance holds a node that is to be removed, whatever the instance's state and the node's mode (text S): each has a step
// that takes it off, and stopping it is not one.
func TestRemovalOfANode(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-1", core.RoleCompute)
	sc.Mode("cmp-1", core.ModeSkip)
	sc.Deletions["cmp-1"] = &core.NodeNotice{Meta: core.Meta{Name: "cmp-1", UID: "ndr", Created: scene.Ago(time.Hour)},
		Kind: core.KindNodeDeletionRequest, Node: "cmp-1"}
	for status, vm := range map[string]string{"ACTIVE": "active", "SHUTOFF": "stopped", "PAUSED": "paused", "VERIFY_RESIZE": "resized",
		"RESCUE": "rescued"} {
		in := sc.Instance("cmp-1", strings.ToLower(status))
		in.Status, in.VMState = status, vm
	}
	p, ok := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
	if !ok || !strings.Contains(p.Goal, "removed") {
		t.Fatalf("the procedure is %q: %s", p.Title, p.Goal)
	}
	want := map[string]core.IntentKind{"active": core.IntentLiveMigrate, "shutoff": core.IntentColdMigrate, "paused": core.IntentLiveMigrate,
		"verify_resize": core.IntentConfirmResize, "rescue": ""}
	for _, st := range p.Steps {
		kind, is := want[st.Label]
		if is && st.Target.Kind == core.KindInstance {
			if st.Intent.Kind != kind {
				t.Errorf("%s: offered is %q, want %q", st.Label, st.Intent.Kind, kind)
			}
			delete(want, st.Label)
		}
		for _, other := range append(st.Alternatives, st) {
			switch other.Intent.Kind {
			case core.IntentStop, core.IntentSetMode, core.IntentDeclareSafe:
				t.Errorf("%s is offered, and is no help", other.Title)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
}
