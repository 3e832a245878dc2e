package procedure

import (
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
	"pgregory.net/rapid"
)

func TestPhasesAreTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.DrawScene(t)
		phases := progress.Phases(sc.Snapshot)
		if len(phases) != 5 {
			t.Fatalf("%d phases", len(phases))
		}
		for i, p := range phases {
			if p.ID != core.PhaseID(i+1) || p.Title == "" || len(p.Evidence) == 0 {
				t.Fatalf("%+v", p)
			}
			if _, ok := phaseStep[p.State]; !ok {
				t.Fatalf("state %q", p.State)
			}
			if p.Done > p.Total || p.Elapsed(scene.Noon) < 0 || p.State != core.PhaseDone && !p.Ended.At.IsZero() {
				t.Fatalf("%+v", p)
			}
		}
		u := progress.Update(sc.Snapshot)
		if u.Phase.ID == 0 || u.Done+u.Moving > u.Nodes || u.Running != (sc.ClusterRequest() != nil) {
			t.Fatalf("%+v", u)
		}
	})
}
