package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
)

// When Nova has no nova-compute service for a compute, the controller fails without a text. That is urgent once the node has a
// request; before, it is shown while there is time (docs/mosk.md#no-compute-service).
func TestAComputeWithoutItsService(t *testing.T) {
	asked := func(inner string) func(scene.Scene) {
		return func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Request("cmp-01", 10*time.Minute)
			sc.NodeLock("cmp-01", core.ControllerOpenStack).InnerState = inner
		}
	}
	for name, tt := range map[string]struct {
		with     func(scene.Scene)
		severity core.Severity // 0: no entry
		says     string
		stage    core.Stage
	}{
		"at rest": {func(scene.Scene) {}, core.SeverityNotice, "would fail on its maintenance without a word",
			core.StageIdle},
		"an update runs": {func(sc scene.Scene) { sc.Update(time.Hour) }, core.SeverityWarning,
			"will fail on its maintenance without a word", core.StageIdle},
		"asked for, and begun": {asked(core.InnerActive), core.SeverityUrgent, "fails on its request without a word",
			core.StageWaiting},
		"asked for, its turn is not yet": {asked(core.InnerInactive), core.SeverityWarning, "will fail on its maintenance without a word",
			core.StageQueued},
		"it returns": {func(sc scene.Scene) {
			asked(core.InnerActive)(sc)
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
			sc.NodeRequest("cmp-01").Deleting = scene.Ago(5 * time.Minute)
		}, core.SeverityUrgent, "fails on its return without a word", core.StageReturning},
		"it is being set up":   {func(sc scene.Scene) { sc.Nodes["cmp-01"].Created = scene.Ago(5 * time.Minute) }, 0, "", core.StageIdle},
		"Nova does not answer": {func(sc scene.Scene) { sc.Source(core.SourceComputeServices, core.SourceForbidden) }, 0, "", core.StageIdle},
		"it is no compute":     {func(sc scene.Scene) { sc.Nodes["cmp-01"].Roles = []core.Role{core.RoleGateway} }, 0, "", core.StageIdle},
	} {
		sc := scene.Healthy()
		delete(sc.Services, "cmp-01")
		tt.with(sc)
		s := sc.Again().Snapshot
		a, told := entryAbout(s, "no-compute-service", "cmp-01")
		if told != (tt.severity != 0) || told && (a.Severity != tt.severity || !strings.Contains(a.Reason, tt.says) || a.Resolve == nil) {
			t.Errorf("%s: told %v as %+v", name, told, a)
		}
		if v, _ := progress.NodeView(s, "cmp-01"); v.Stage != tt.stage {
			t.Errorf("%s: its stage is %s: %s", name, v.Stage, v.Reason)
		}
		if _, twice := entryAbout(s, "node-waits", "cmp-01"); twice {
			t.Errorf("%s: it is told twice", name)
		}
		titles, by := scene.StepsOf(procedure.Of(s, scene.OfNode("cmp-01")))
		st, offered := by["Nova shows a nova-compute of cmp-01"]
		if told && (!offered || !slices.ContainsFunc(st.Commands, func(c string) bool { return strings.Contains(c, "delete pods") })) ||
			offered != progress.Serviceless(s, "cmp-01") {
			t.Errorf("%s: the steps are %q: %+v", name, titles, st)
		}
	}
}
