package tui

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// over is the fixture's cluster after its update: nobody requests anything of it, and a vRouter is old.
func over() *core.Snapshot {
	s := world()
	s.ClusterRequests, s.NodeRequests, s.Operations = nil, nil, nil
	s.History.Update = core.UpdateRecord{UID: "cmr", Release: "21.0.0+25.2", Started: before(5 * time.Hour), Ended: before(time.Hour)}
	for _, id := range []core.SourceID{core.SourceFabricSets, core.SourceFabricRevisions, core.SourceFabricPods} {
		s.Sources[id] = core.Source{ID: id, State: core.SourceLive, Since: before(time.Hour), AsOf: s.Wall}
	}
	set := &core.DaemonSet{Meta: core.Meta{Namespace: "tf", Name: "tf-vrouter-agent", UID: "ds"}, OnDelete: true, Generation: 2,
		Observed: 2, Template: 2,
		Desired: 1, Ready: 1, Component: "vrouter", Selector: "component=vrouter"}
	s.DaemonSets = []*core.DaemonSet{set}
	s.DaemonRevisions = map[string][]*core.DaemonRevision{"ds": {{Meta: core.Meta{Name: "new"}, Owner: "ds", Number: 2, Hash: "new"}}}
	s.DaemonPods = map[string][]*core.DaemonPod{"ds": {{Meta: core.Meta{Namespace: "tf", Name: "tf-vrouter-agent-x", UID: "pod"},
		Owner: "ds", Set: set.Name,
		Node: "kaas-node-cmp03", Hash: "old", Ready: true}}}
	return s
}

func TestTheHeaderLeadsToTheStepsAfterAnUpdate(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		d := drive(over(), size[0], size[1])
		frame := stripped(d.shows())
		header, _, _ := strings.Cut(frame, "\n")
		if !strings.Contains(header, " left (z)") {
			t.Errorf("the header does not lead there: %q", header)
		}
		d.keys("z")
		page, ok := d.top().(*procedurePage)
		if !ok || page.key.Kind != core.ProcedureAfter {
			t.Fatalf("z opens no steps after the update:\n%s", stripped(d.shows()))
		}
		for _, s := range page.proc.Steps {
			if s.Intent.Kind == core.IntentRestartPod {
				page.steps.Choose(s.ID)
			}
		}
		d.keys("enter")
		for _, want := range []string{"Delete pod tf-vrouter-agent-x (cmp-03), uid pod, on cmp-03",
			"network of every instance on the node is cut"} {
			if text := strings.Join(strings.Fields(stripped(d.shows())), " "); !strings.Contains(text, want) {
				t.Errorf("the confirmation at %v does not say %q:\n%s", size, want, stripped(d.shows()))
			}
		}
	}
	d := drive(world(), 120, 40)
	if header, _, _ := strings.Cut(stripped(d.shows()), "\n"); strings.Contains(header, "left") {
		t.Errorf("while an update runs: %q", header)
	}
}

// A source that only other users may see does not make its server look bad.
func TestASourceThatIsOffDarkensNothing(t *testing.T) {
	s := world()
	s.Sources[core.SourceOpenStackDeployment] = core.Source{ID: core.SourceOpenStackDeployment, State: core.SourceOff,
		Err: &core.APIError{Kind: core.ErrForbidden}}
	if got := healths(s)[0]; got.state != core.SourceLive || got.more != 0 {
		t.Errorf("kubernetes is %s, %d more", got.state, got.more)
	}
}
