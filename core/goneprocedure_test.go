package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A node that is gone has an outline of its own: nobody asks for it, nobody migrates anything. What holds its cleanup is
// named, with where to look (text U).
func TestProcedureOfANodeThatIsGone(t *testing.T) {
	sc := healthy()
	sc.lock("cmp-09", ControllerOpenStack, LockInactive).Message = "2026-03-14 11:59:00.0 The node cmp-09 is hard locked by etcd."
	v, _ := sc.NodeView("cmp-09")
	if v.Stage != StageWaiting || v.Reason != "the node is gone; its cleanup is held by etcd" {
		t.Errorf("stage %s: %s", v.Stage, v.Reason)
	}
	p, ok := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-09"})
	got := outline(p)
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
	commands := []string{"kubectl -n openstack get statefulset etcd-etcd", "kubectl -n openstack get pods -o wide | grep '^etcd-etcd-'", "kubectl -n openstack get pvc | grep -e -etcd-etcd-"}
	if len(p.Steps) > 1 && !slices.Equal(p.Steps[1].Commands, commands) {
		t.Errorf("commands %q, want %q", p.Steps[1].Commands, commands)
	}
	var told []string
	for _, a := range sc.Attention() {
		if a.Node == "cmp-09" {
			told = append(told, a.ID)
		}
	}
	if len(told) != 1 {
		t.Errorf("it is told of as %q", told)
	}
}

// Without a text nothing is idle either: the cleanup waits for the controller, or for the machine that is disabled.
func TestProcedureOfANodeThatIsGoneWithoutAWord(t *testing.T) {
	sc := healthy()
	sc.lock("cmp-09", ControllerOpenStack, LockActive)
	got := func() []string {
		p, _ := sc.again().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-09"})
		return outline(p)
	}
	if want := []string{"done: cmp-09 is gone", "waiting: the lock of openstack is removed | active"}; !slices.Equal(got(), want) {
		t.Errorf("%q, want %q", got(), want)
	}
	sc.Disablings["cmp-09"] = &NodeNotice{Meta: Meta{Created: ago(time.Hour)}, Kind: KindNodeDisableNotification, Node: "cmp-09"}
	if !slices.ContainsFunc(got(), func(line string) bool { return strings.Contains(line, "is enabled again, or removed | disabled since") }) {
		t.Errorf("disabled: %q", got())
	}
	sc.request("cmp-09", time.Minute)
	if slices.Contains(got(), "done: cmp-09 is gone") {
		t.Errorf("with a request: %q", got())
	}
}
