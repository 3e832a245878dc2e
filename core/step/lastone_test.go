package step

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// What takes the last instance out of the way lets the node go: the controller releases its lock by itself then, and LCM drains and reboots
// the node. Whoever confirms the step is told that.
func TestTheLastInstanceLetsTheNodeGo(t *testing.T) {
	const (
		other    = "No other instance is in the way on cmp-01: "
		byItself = other + "the OpenStack controller can release its lock then, and asks nobody."
		drains   = byItself + " No other lock holds the node: LCM drains it at once, and may reboot it."
	)
	kinds := []core.IntentKind{core.IntentLiveMigrate, core.IntentColdMigrate, core.IntentStop, core.IntentShelve, core.IntentTagPowerOff,
		core.IntentLiveMigrateAll}
	for name, tt := range map[string]struct {
		change func(sc scene.Scene)
		want   string // empty: nothing is said
	}{
		"no other lock holds it": {func(sc scene.Scene) {}, drains},
		"another lock holds it": {func(sc scene.Scene) { sc.Lock("cmp-01", core.ControllerCeph, core.LockActive) },
			byItself + " LCM still waits for the lock of ceph."},
		"another instance is in the way":  {func(sc scene.Scene) { sc.Instance("cmp-01", "db-1", "notify") }, ""},
		"another goes down with the node": {func(sc scene.Scene) { sc.Instance("cmp-01", "db-1", "poweroff") }, drains},
		"another is being started": {func(sc scene.Scene) {
			in := sc.Instance("cmp-01", "db-1", "notify")
			in.Status, in.VMState, in.Power, in.TaskState = "SHUTOFF", "stopped", core.PowerShutdown, "powering-on"
		}, ""},
		"no maintenance is asked for": {func(sc scene.Scene) { delete(sc.NodeRequests, "cmp-01") }, ""},
		"its maintenance is over":     {func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Deleting = sc.Now }, ""},
		"its turn has not come": {func(sc scene.Scene) { sc.NodeLock("cmp-01", core.ControllerOpenStack).InnerState = core.InnerInactive },
			""},
		"it is let go already": {func(sc scene.Scene) { sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive }, ""},
		"Lockstep plays the controller": {func(sc scene.Scene) { sc.Settings = scene.PlaysOpenStack() },
			other + "its lock can be released then."},
		"its turn is not known":               {func(sc scene.Scene) { sc.NodeLock("cmp-01", core.ControllerOpenStack).InnerState = "" }, ""},
		"the controller looks at no instance": {func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Scope = core.ScopeDrain }, ""},
		"the controller fails on its request": {func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Scope = "" }, ""},
		"the controller is away": {func(sc scene.Scene) {
			sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, Existing: 1}
			sc.Source(core.SourceOpenStackController, core.SourceLive)
		}, other + "the OpenStack controller can release its lock once it is up, and asks nobody."},
		"the node is to be removed, too": {func(sc scene.Scene) { sc.Deletions["cmp-01"] = &core.NodeNotice{Node: "cmp-01"} },
			byItself + " The node's removal is asked for: LCM takes it out of the cluster when no lock holds it"},
		"its services hold the node": {func(sc scene.Scene) {
			sc.NodeLock("cmp-01", core.ControllerOpenStack).Message = "Some services blocks nmr handling: ['neutron']"
		}, ""},
	} {
		for _, kind := range kinds {
			sc := scene.Healthy()
			sc.Maintained("cmp-01", "")
			sc.Lock("cmp-01", core.ControllerTungstenFabric, core.LockInactive)
			tt.change(sc)
			i := sc.Asked("web-1", kind)
			if kind == core.IntentLiveMigrateAll {
				i = core.Intent{Kind: kind, Node: "cmp-01"}
			}
			then := Plan(sc.Again().Snapshot, i).Then
			down := strings.Contains(then, "1 instance goes down with it: web-1")
			if goes := strings.Contains(then, "1 instance goes with it: web-1"); goes != (name == "the node is to be removed, too" &&
				(kind == core.IntentStop || kind == core.IntentTagPowerOff)) {
				t.Errorf("%s, %s: then %q", name, kind, then)
			}
			want := tt.want
			if kind == core.IntentTagPowerOff && strings.Contains(then, "LCM drains") { // its guest is told to shut down with the host
				want, down = strings.TrimSuffix(want, "."), !down
			}
			if want == "" && strings.Contains(then, "in the way") || !strings.Contains(then, want) || down {
				t.Errorf("%s, %s: then %q, want %q", name, kind, then, tt.want)
			}
		}
	}
	for source, said := range map[string]bool{"cmp-01": false, "cmp-02": true} {
		sc := scene.Healthy()
		sc.Maintained("cmp-01", "")
		in := sc.Named("web-1")
		in.Status, in.VMState = "VERIFY_RESIZE", "resized"
		sc.Migration(in, "finished", "cmp-01", time.Hour).SourceHost = source
		if then := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentRevertResize)).Then; strings.Contains(then, other) != said {
			t.Errorf("a resize from %s is reverted: then %q", source, then)
		}
	}
	sc := scene.Healthy()
	sc.Maintained("cmp-01", "")
	if then := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentAbortMigration)).Then; strings.Contains(then, "in the way") {
		t.Errorf("an aborted migration leaves it where it is: %q", then)
	}
}
