package attention

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The OpenStack controller runs and has never seen the cluster's request: OpenStack is not updated, and LCM waits.
func TestAClusterRequestThatTheControllerHasNeverSeen(t *testing.T) {
	for name, tt := range map[string]struct {
		given func(sc scene.Scene)
		told  bool
	}{
		"never seen":             {func(scene.Scene) {}, true},
		"made a moment ago":      {func(sc scene.Scene) { sc.ClusterRequest().Created = scene.Ago(20 * time.Second) }, false},
		"seen":                   {func(sc scene.Scene) { sc.ClusterRequest().Finalizers = scene.HeldBy }, false},
		"the controller is away": {func(sc scene.Scene) { sc.Away() }, false},
		"it is being removed":    {func(sc scene.Scene) { sc.ClusterRequest().Deleting = scene.Ago(time.Minute) }, false},
	} {
		sc := scene.Healthy()
		sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, Existing: 1, Ready: 1}
		sc.Update(3 * time.Hour).Finalizers = nil
		tt.given(sc)
		told := false
		for _, a := range Of(sc.Again().Snapshot) {
			told = told || a.Rule == core.RuleRequestUnseen && a.Node == ""
		}
		if told != tt.told {
			t.Errorf("%s: told %t", name, told)
		}
	}
}
