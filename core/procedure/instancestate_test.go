package procedure

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/scene"
)

// The step says whom the operator has to ask, and that Lockstep unlocks nothing.
func TestLockedInstanceSaysWhomToAsk(t *testing.T) {
	sc := scene.Healthy()
	sc.Named("web-1").Locked = true
	if st := step.Plan(sc.Snapshot, sc.Asked("web-1", core.IntentStop)); !strings.Contains(st.Why,
		"It is locked: ask its owner first (project shop)") {
		t.Errorf("why %q", st.Why)
	}
	p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureInstance, Subject: scene.Web1})
	if got := scene.Outline(p); got[0] != "waiting: tell the owners of web-1 | 1 project; enter lists whom to tell" {
		t.Errorf("steps %q", got)
	}
}

// A lock that does not belong to MOSK's own controllers says whom to ask, and what.
func TestForeignLockSaysWhomToAsk(t *testing.T) {
	sc := scene.Healthy()
	sc.Maintained("cmp-01", "")
	failed := sc.Lock("cmp-01", "backup-agent", core.LockFailed)
	failed.Message = "Detach of volume backup-cmp-01 failed: device is busy"
	sc.Lock("cmp-01", "license-guard", core.LockActive)
	p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	for controller, want := range map[string]string{
		"backup-agent": "backup-agent is not one of MOSK's own controllers: ask who runs it in this cluster. Ask what failed, to have it mended",
		"license-guard": "license-guard is not one of MOSK's own controllers: ask who runs it in this cluster whether it is at work: it says " +
			"nothing.",
	} {
		i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Title == "the lock of "+controller+" is released" })
		if i < 0 || !strings.Contains(p.Steps[i].Why, want) || len(p.Steps[i].Commands) != 2 {
			t.Errorf("%s: %q", controller, scene.Outline(p))
			continue
		}
	}
	sc.Settings.ActAs = []core.ActAs{{Controller: "license-guard"}}
	if text := progress.AskAbout(sc.Snapshot, sc.NodeLock("cmp-01", "license-guard")); text != "" {
		t.Errorf("of a controller that Lockstep plays it says %q", text)
	}
	if text := progress.AskAbout(sc.Snapshot, sc.NodeLock("cmp-01", core.ControllerOpenStack)); text != "" {
		t.Errorf("of the OpenStack controller's lock it says %q", text)
	}
}

// A played controller's lock is a step of the operator's, and nobody else is waited for.
func TestAPlayedLockIsNobodyElsesStep(t *testing.T) {
	titles := func(sc scene.Scene) (all []string) {
		p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureCluster})
		for _, st := range p.Steps {
			all = append(all, st.Title)
		}
		return all
	}
	const theirs, ours = "the cluster lock of openstack is released", "release the lock on the cluster"
	sc := scene.InMaintenance()
	if got := titles(sc); !slices.Contains(got, theirs) || slices.Contains(got, ours) {
		t.Errorf("beside the controller the steps are %q", got)
	}
	sc = scene.InMaintenance()
	sc.Settings.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack}}
	if got := titles(sc); slices.Contains(got, theirs) || !slices.Contains(got, ours) {
		t.Errorf("in the controller's place the steps are %q", got)
	}
}
