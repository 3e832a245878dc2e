package procedure

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// An instance in RESCUE runs, and nothing moves it: text J names it. Its owner has to be told, and the step shows how the rescue
// ends.
func TestHowARescueEndsIsSaid(t *testing.T) {
	sc := scene.Healthy()
	sc.Maintained("cmp-01", "Some servers are still present on the host. Servers with unset maintenance action: ['"+scene.Web1+"']")
	sc.Status("web-1", "RESCUE", "rescued")
	p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Title == "get web-1 out of the way" })
	if i < 0 || !slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.Title == "tell the owners of web-1" }) {
		t.Fatalf("the steps are\n%s", strings.Join(scene.Outline(p), "\n"))
	}
	if st := p.Steps[i]; st.Status != "RESCUE — end its rescue first" ||
		!slices.Equal(st.Commands, []string{"openstack server unrescue " + scene.Web1}) {
		t.Errorf("%q, %q", st.Status, st.Commands)
	}
	sc.Named("web-1").TaskState = "unrescuing"
	p, _ = Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	if i = slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Title == "get web-1 out of the way" }); i < 0 ||
		len(p.Steps[i].Commands) > 0 {
		t.Errorf("while it ends: %q", scene.Outline(p))
	}
}
