package attention

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
)

// A node that is gone has a procedure of its own: it has no request, and no instance migrates. It names what holds its clean-up,
// and shows where to look (text U).
func TestProcedureOfANodeThatIsGone(t *testing.T) {
	sc := scene.Healthy()
	sc.Lock("cmp-09", core.ControllerOpenStack, core.LockInactive).Message = "2026-03-14 11:59:00.0 The node cmp-09 is hard locked by etcd."
	v, _ := progress.NodeView(sc.Snapshot, "cmp-09")
	if v.Stage != core.StageWaiting || v.Reason != "the node is gone; its cleanup is held by etcd" {
		t.Errorf("stage %s: %s", v.Stage, v.Reason)
	}
	p, ok := procedure.Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-09"})
	got := scene.Outline(p)
	want := []string{
		"done: cmp-09 is gone",
		"waiting: the StatefulSet etcd-etcd can do without cmp-09 | The node cmp-09 is hard locked by etcd.",
		"later: the lock of openstack is removed | when no StatefulSet holds it",
	}
	if !ok || !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if text := strings.Join(p.Summary, "\n"); !strings.Contains(text, "held by etcd") || strings.Contains(text, "mode") {
		t.Errorf("summary %q", text)
	}
	commands := []string{"kubectl -n openstack get statefulset etcd-etcd", "kubectl -n openstack get pods -o wide | grep '^etcd-etcd-'",
		"kubectl -n openstack get pvc | grep -e -etcd-etcd-"}
	if len(p.Steps) > 1 && !slices.Equal(p.Steps[1].Commands, commands) {
		t.Errorf("commands %q, want %q", p.Steps[1].Commands, commands)
	}
	var told []string
	for _, a := range Of(sc.Snapshot) {
		if a.Node == "cmp-09" {
			told = append(told, a.ID)
		}
	}
	if len(told) != 1 {
		t.Errorf("it is told of as %q", told)
	}
}
