package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// What the OpenStack controller does beside maintenance nobody does while it is away. The page of the cluster says so where Lockstep plays
// it, and only there; the page of a node that goes down says what that means for it.
func TestWhatNobodyDoesIsSaid(t *testing.T) {
	says := func(s *Snapshot, key ProcedureKey, text string) bool {
		p, _ := s.Procedure(key)
		return slices.ContainsFunc(p.Steps, func(st Step) bool {
			return strings.Contains(st.Why+strings.Join(st.Commands, " "), text) && st.Change == nil
		})
	}
	cluster, node := ProcedureKey{Kind: ProcedureCluster}, ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"}
	for name, tt := range map[string]struct {
		change              func(sc scene)
		cluster, pods, tell bool
	}{
		"played":           {func(scene) {}, true, false, false},
		"it runs":          {func(sc scene) { sc.Controller.Replicas, sc.Controller.Ready = 1, 1 }, false, false, false},
		"not played":       {func(sc scene) { sc.Settings = DefaultSettings(); down(sc, time.Hour) }, false, false, false},
		"a node is down":   {func(sc scene) { down(sc, 3*time.Minute) }, true, true, true},
		"it may be back":   {func(sc scene) { down(sc, time.Minute) }, true, false, false},
		"it is cordoned":   {func(sc scene) { down(sc, time.Hour); sc.Nodes["cmp-01"].Cordoned = true }, true, true, false},
		"nothing is on it": {func(sc scene) { down(sc, time.Hour); delete(sc.ByHost, "cmp-01") }, true, true, false},
		"its lock is given": {func(sc scene) {
			down(sc, time.Hour)
			sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockInactive
		}, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			sc := healthy()
			sc.Settings = playsOpenStack()
			sc.Controller = &Deployment{Meta: Meta{Namespace: "osh-system", Name: "rockoon", UID: "d"}}
			tt.change(sc)
			s := sc.again().Snapshot
			if got := says(s, cluster, "nobody tells Masakari"); got != tt.cluster {
				t.Errorf("the cluster's page says so: %v", got)
			}
			if got := says(s, node, "delete pods --field-selector=spec.nodeName=cmp-01 --grace-period=0"); got != tt.pods {
				t.Errorf("the node's page tells of its pods: %v", got)
			}
			if got := says(s, node, "1 instance on it is not evacuated"); got != tt.tell {
				t.Errorf("the node's page tells of Masakari: %v", got)
			}
		})
	}
}

func down(sc scene, since time.Duration) {
	sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "Unknown", ago(since)
}
