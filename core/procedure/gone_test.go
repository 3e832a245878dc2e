package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A node that is gone is not idle without a text either: the clean-up waits for the controller, or for the disabled machine.
func TestProcedureOfANodeThatIsGoneWithoutAWord(t *testing.T) {
	sc := scene.Healthy()
	sc.Lock("cmp-09", core.ControllerOpenStack, core.LockActive)
	got := func() []string {
		p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-09"})
		return scene.Outline(p)
	}
	if want := []string{"done: cmp-09 is gone", "waiting: the lock of openstack is removed | active"}; !slices.Equal(got(), want) {
		t.Errorf("%q, want %q", got(), want)
	}
	sc.Disablings["cmp-09"] = &core.NodeNotice{Meta: core.Meta{Created: scene.Ago(time.Hour)}, Kind: core.KindNodeDisableNotification,
		Node: "cmp-09"}
	if !slices.ContainsFunc(got(), func(line string) bool { return strings.Contains(line, "is enabled again, or removed | disabled since") }) {
		t.Errorf("disabled: %q", got())
	}
	sc.Request("cmp-09", time.Minute)
	if slices.Contains(got(), "done: cmp-09 is gone") {
		t.Errorf("with a request: %q", got())
	}
}
