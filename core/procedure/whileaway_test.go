package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// While the OpenStack controller is away, nobody does its work besides maintenance. The cluster's page says so only where Lockstep
// plays the controller; the page of a node that goes down says what that means for it.
func TestWhatNobodyDoesIsSaid(t *testing.T) {
	says := func(s *core.Snapshot, key core.ProcedureKey, text string) bool {
		p, _ := Of(s, key)
		return slices.ContainsFunc(p.Steps, func(st core.Step) bool {
			return strings.Contains(st.Why+strings.Join(st.Commands, " "), text) && st.Change == nil
		})
	}
	cluster, node := core.ProcedureKey{Kind: core.ProcedureCluster}, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"}
	for name, tt := range map[string]struct {
		change              func(sc scene.Scene)
		cluster, pods, tell bool
	}{
		"played":           {func(scene.Scene) {}, true, false, false},
		"it runs":          {func(sc scene.Scene) { sc.Controller.Replicas, sc.Controller.Ready = 1, 1 }, false, false, false},
		"not played":       {func(sc scene.Scene) { sc.Settings = core.DefaultSettings(); down(sc, time.Hour) }, false, false, false},
		"a node is down":   {func(sc scene.Scene) { down(sc, 3*time.Minute) }, true, true, true},
		"it may be back":   {func(sc scene.Scene) { down(sc, time.Minute) }, true, false, false},
		"it is cordoned":   {func(sc scene.Scene) { down(sc, time.Hour); sc.Nodes["cmp-01"].Cordoned = true }, true, true, false},
		"nothing is on it": {func(sc scene.Scene) { down(sc, time.Hour); delete(sc.ByHost, "cmp-01") }, true, true, false},
		"its lock is given": {func(sc scene.Scene) {
			down(sc, time.Hour)
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
		}, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			sc.Settings = scene.PlaysOpenStack()
			sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon", UID: "d"}}
			tt.change(sc)
			s := sc.Again().Snapshot
			if got := says(s, cluster, "nobody tells Masakari"); got != tt.cluster {
				t.Errorf("the cluster's page says so: %v", got)
			}
			if got := says(s, node, "delete pods --field-selector=spec.nodeName=cmp-01 --grace-period=0 --force"); got != tt.pods {
				t.Errorf("the node's page tells of its pods: %v", got)
			}
			if got := says(s, node, "1 instance on it is not evacuated"); got != tt.tell {
				t.Errorf("the node's page tells of Masakari: %v", got)
			}
		})
	}
}

func down(sc scene.Scene, since time.Duration) {
	sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "Unknown", scene.Ago(since)
}
