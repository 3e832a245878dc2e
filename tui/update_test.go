package tui

import (
	"fmt"
	"testing"
	"time"

	"lockstep/core"
)

// drivenWorld is managedWorld between two steps of its plan: the masters are done, the workers wait to be commenced, and one node is not
// back in service.
func drivenWorld() *core.Snapshot {
	s := managedWorld()
	s.Write.Armed, s.Write.Mine = true, true
	s.MoreStops = &core.StopFinder{Find: func(*core.Snapshot) []core.Stop {
		return []core.Stop{{Key: "check/backup", Text: "MariaDB has no backup of today", Remedy: "run the job of its backup"}}
	}}
	plan := *s.Management.Plan()
	plan.Steps = append([]core.PlanStep(nil), plan.Steps...)
	st := &plan.Steps[2]
	st.Status, st.Commence, st.Started, st.Message = core.PlanNotStarted, false, time.Time{}, ""
	s.Management.Plans = []*core.UpdatePlan{&plan}
	return s
}

// The page that drives the update: a step that something stops, and what it says to the operator who goes past it by name.
func TestDrivingTheUpdate(t *testing.T) {
	for _, size := range sizes {
		golden(t, fmt.Sprintf("drive-%dx%d", size.w, size.h), stripped(drive(drivenWorld(), size.w, size.h).keys("2", "u").shows()))
		for name, past := range map[string]bool{"stopped": false, "past": true} {
			d := drive(drivenWorld(), size.w, size.h)
			d.run(d.confirm(core.Intent{Kind: core.IntentCommence, PlanStep: "k8s-workers-mos-default", PastStops: past}, ""))
			golden(t, fmt.Sprintf("drive-confirm-%s-%dx%d", name, size.w, size.h), stripped(d.shows()))
		}
	}
}

// Where no plan leads on and several releases are offered, the operator chooses one: no row is chosen for them.
func TestTheChoiceOfARelease(t *testing.T) {
	offered := func() *core.Snapshot {
		s := atRest()
		s.History.Update = core.UpdateRecord{}
		s.Management.Plans = nil
		s.Management.Cluster.Target = s.Management.Cluster.Release
		s.Management.Cluster.Available = []core.OfferedRelease{{Name: "mosk-17-4-6-25-1-6", Version: "17.4.6"},
			{Name: "mosk-21-0-0-25-2", Version: "21.0.0", Reboot: true}, {Version: "22.0.0"}}
		return s
	}
	for _, size := range sizes {
		golden(t, fmt.Sprintf("drive-releases-%dx%d", size.w, size.h), stripped(drive(offered(), size.w, size.h).keys("2", "u").shows()))
	}
}
