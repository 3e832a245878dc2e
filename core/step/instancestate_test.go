package step

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// ACTIVE may be written only for an instance that really is active: in ERROR, with its guest running, without a task, on a host
// that answers.
func TestResetState(t *testing.T) {
	cases := []struct {
		name   string
		change func(sc scene.Scene, in *core.Instance)
		fails  []core.GuardID
	}{
		{"in error, its guest runs", func(scene.Scene, *core.Instance) {}, nil},
		{"active", func(_ scene.Scene, in *core.Instance) { in.Status, in.VMState = "ACTIVE", "active" }, []core.GuardID{"status"}},
		{"never built", func(_ scene.Scene, in *core.Instance) { in.Power = core.PowerNoState }, []core.GuardID{"runs"}},
		{"crashed", func(_ scene.Scene, in *core.Instance) { in.Power = core.PowerCrashed }, []core.GuardID{"runs"}},
		{"busy", func(_ scene.Scene, in *core.Instance) { in.TaskState = "deleting" }, []core.GuardID{"no-task"}},
		{"on no host", func(_ scene.Scene, in *core.Instance) { in.Host = "" }, []core.GuardID{"on-host"}},
		{"its host does not answer", func(sc scene.Scene, _ *core.Instance) { sc.Services["cmp-01"].Up = false }, []core.GuardID{"compute-up"}},
	}
	for _, tc := range cases {
		sc := scene.Healthy()
		in := sc.Status("web-1", "ERROR", "error")
		tc.change(sc, in)
		st := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentResetState))
		if got := scene.Failing(st); !slices.Equal(got, tc.fails) {
			t.Errorf("%s: failing %q, want %q", tc.name, got, tc.fails)
		}
	}
	sc := scene.Healthy()
	sc.Status("web-1", "ERROR", "error")
	st := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentResetState))
	if st.Risk != core.RiskHigh || st.Type != "web-1" || st.Title != "reset web-1 to ACTIVE" ||
		!slices.Equal(st.Commands, []string{"openstack server set --state active " + scene.Web1}) ||
		!strings.HasSuffix(st.Undo, "openstack server set --state error "+scene.Web1) {
		t.Errorf("%+v", st)
	}
}

func TestShelveAndUnshelve(t *testing.T) {
	sc := scene.Healthy()
	if st := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentShelve)); !st.Doable() || st.Risk != core.RiskHigh ||
		!slices.Equal(st.Commands, []string{"openstack server shelve " + scene.Web1}) {
		t.Errorf("shelve: %s, %q", st.Blocker(), st.Commands)
	}
	in := sc.Status("web-1", "SHELVED_OFFLOADED", "shelved_offloaded")
	in.Host, in.Power = "", core.PowerShutdown
	st := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentUnshelve))
	if !st.Doable() || !slices.Equal(st.Commands, []string{"openstack server unshelve " + scene.Web1}) {
		t.Errorf("unshelve: %s, %q", st.Blocker(), st.Commands)
	}
	if c := st.Change.(core.InstanceAction); c.Host != "" || c.Status != "SHELVED_OFFLOADED" {
		t.Errorf("it rests on %+v", c)
	}
	for _, svc := range sc.Services {
		svc.Enabled = false
	}
	if st := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentUnshelve)); !slices.Equal(scene.Failing(st), []core.GuardID{"target"}) {
		t.Errorf("no host takes it, and only %q fails", scene.Failing(st))
	}
}
