package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"lockstep/core"
)

// somePods are pods of several namespaces.
func somePods() core.PodList {
	row := func(namespace, name, node, status, restarts string) core.PodRow {
		return core.PodRow{Server: core.ServerKubernetes, Namespace: namespace, Name: name, Node: node, Status: status, Ready: "1/1",
			Restarts: restarts}
	}
	return core.PodList{Pods: []core.PodRow{
		row("openstack", "nova-compute-default-7x2kq", "kaas-node-cmp07", "Running", "0"),
		row("openstack", "nova-compute-default-q9d4s", "kaas-node-cmp11", "CrashLoopBackOff", "12 (3m ago)"),
		row("osh-system", "rockoon-5b7d9f6c4-x2k8p", "kaas-node-ctl01", "Running", "1 (2h ago)"),
		row("rook-ceph", "rook-ceph-osd-3-6c8f7d9b4-abcde", "kaas-node-osd01", "Running", "0"),
		row("tf", "tf-vrouter-agent-zzzzz", "", "Pending", "0"),
	}}
}

func TestScreensOfPods(t *testing.T) {
	some := somePods()
	some.Only, some.Refused = core.PodNamespaces(core.ServerKubernetes), []string{"tf", "stacklight"}
	forbidden := &core.APIError{Kind: core.ErrForbidden, Server: core.ServerKubernetes, Status: 403, Call: "list pods",
		Message: `pods is forbidden: User "anna" cannot list resource "pods" in API group "" at the cluster scope`,
		Remedy:  "You may not list pods: ask an administrator to apply deploy/rbac-readonly.yaml."}
	pod := core.LogPod{Name: "nova-compute-default-q9d4s", Containers: []core.LogContainer{
		{Name: "nova-compute", Restarts: 12, State: "CrashLoopBackOff"}, {Name: "init", State: "Completed"}}}
	for _, size := range sizes {
		for _, screen := range []struct {
			name   string
			looker *fakeLooker
			keys   []string
		}{
			{"pods", &fakeLooker{pods: somePods()}, []string{"3", "A", "nova"}},
			{"pods-some", &fakeLooker{pods: some}, []string{"A"}},
			{"pods-forbidden", &fakeLooker{podsErr: forbidden}, []string{"A"}},
			{"pods-chosen", &fakeLooker{pods: somePods(), pod: pod}, []string{"A", "crash", "enter"}},
		} {
			d := drive(world(), size.w, size.h, withLooker(screen.looker)).keys(screen.keys...)
			d.dirty = true
			golden(t, fmt.Sprintf("%s-%dx%d", screen.name, size.w, size.h), stripped(d.shows()))
		}
	}
}

// Any pod is found by typing a part of what is known of it, and the log of each of its containers and of the run before is read.
func TestAnyPodIsChosenByTyping(t *testing.T) {
	for _, test := range []struct {
		typed string
		want  string
	}{
		{"rockoon", "rockoon-5b7d9f6c4-x2k8p"}, {"crash", "nova-compute-default-q9d4s"}, {"openstack/q9", "nova-compute-default-q9d4s"},
		{"cmp-07", "nova-compute-default-7x2kq"}, {"NOVA cmp-11", "nova-compute-default-q9d4s"}, {"tf", "tf-vrouter-agent-zzzzz"},
	} {
		f := &fakeLooker{pods: somePods(), pod: core.LogPod{Containers: []core.LogContainer{{Name: "main"}, {Name: "side", Restarts: 2}}}}
		d := drive(world(), 120, 40, withLooker(f)).keys("A", test.typed, "enter")
		p, ok := d.top().(*lookPage)
		if !ok || p.label != "pod "+test.want {
			t.Errorf("%q leads to %T", test.typed, d.top())
			continue
		}
		d.keys("j", "j", "enter")
		if got := f.asked[0]; len(f.asked) != 1 || got.Pod != test.want || got.Container != "side" || !got.Previous || got.Follow {
			t.Errorf("%q: asked for %+v", test.typed, f.asked)
		}
		d.keys("esc", "esc")
		if _, back := d.top().(*podsPage); !back {
			t.Errorf("%q: esc does not lead back to the pods", test.typed)
		}
	}
}

// What is not there is not opened: no match, a pod that is gone, a second enter while the first is asked.
func TestAPodThatIsNotThereIsNotOpened(t *testing.T) {
	f := &fakeLooker{pods: somePods(), podErr: &core.APIError{Kind: core.ErrNotFound, Call: "read the log", Message: "the pod does not exist"}}
	d := drive(world(), 80, 24, withLooker(f)).keys("A", "nonesuch", "enter", "enter")
	if shown := stripped(d.shows()); len(f.asked) > 0 || !strings.Contains(shown, "No pod has that") ||
		!strings.Contains(shown, "no pod is selected") {
		t.Errorf("without a match:\n%s", shown)
	}
	for range len("nonesuch") {
		d.keys("backspace")
	}
	d.keys("enter", "enter")
	if shown := stripped(d.shows()); !strings.Contains(shown, "the pod does not exist") {
		t.Errorf("a pod that is gone:\n%s", shown)
	}
	if _, there := d.top().(*podsPage); !there {
		t.Errorf("the page is %T", d.top())
	}
	// The pods of a node are those of the node that is selected.
	f = &fakeLooker{pods: somePods()}
	d = drive(world(), 80, 24, withLooker(f)).keys("3")
	node := d.nodes.subject().node
	d.keys(":", "pods of the node", "enter")
	want := []core.PodsTarget{{Server: core.ServerKubernetes, Node: node, Label: "pods on " + d.snap.Label(node)}}
	if !slices.Equal(f.podsOf, want) {
		t.Errorf("asked for %+v", f.podsOf)
	}
}

// What a server calls its pods drives no terminal.
func TestPodsCannotDriveTheTerminal(t *testing.T) {
	bad := "\x1b]0;owned\x07\u202e\n"
	list := core.PodList{Pods: []core.PodRow{
		{Namespace: "a" + bad, Name: "b" + bad, Node: "c" + bad, Status: "d" + bad, Ready: bad, Restarts: bad}}}
	f := &fakeLooker{pods: list, pod: core.LogPod{Containers: []core.LogContainer{{Name: bad, State: bad, Restarts: 1}}}}
	for _, keys := range [][]string{{"A"}, {"A", "enter"}} {
		d := drive(world(), 80, 24, withLooker(f)).keys(keys...)
		for _, row := range strings.Split(ansi.Strip(d.shows()), "\n") {
			if ansi.StringWidth(row) > 80 || strings.ContainsFunc(row, unicode.IsControl) {
				t.Errorf("%v: the row %q", keys, row)
			}
		}
		if strings.Contains(d.shows(), "\x1b]0;owned") {
			t.Errorf("%v: it sets the title", keys)
		}
	}
}
