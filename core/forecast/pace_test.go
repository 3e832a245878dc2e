package forecast

import (
	"maps"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The maintenances that are over are collected anew when one is another, when an update begins, and when a node is of another kind; from
// other Snapshots they are taken as they are.
func TestMaintenancesThatAreOverFollowWhatTheyRestOn(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	sc.History.Rounds = map[string]core.Round{
		sc.Nodes["cmp-01"].UID: {Request: "was", Update: "cmr", Started: scene.Ago(2 * time.Hour), Ended: scene.Ago(time.Hour)}}
	last := sc.CopyFacts()
	last.Revision, last.Stamps = 1, core.Stamps{Any: 1, All: 1}
	follow := func(all bool, change func(*core.Snapshot)) *pace {
		next := last.CopyFacts()
		next.Revision++
		if next.Stamps.Any = next.Revision; all {
			next.Stamps.All = next.Revision
		}
		change(next)
		next.Follow(last)
		last = next
		return paceOf(next)
	}
	count := func(what string, p *pace, this, earlier, gateways int) {
		t.Helper()
		if len(p.this.all()) != this || len(p.earlier.all()) != earlier || len(p.this[kindGateway])+len(p.earlier[kindGateway]) != gateways {
			t.Errorf("%s: %d of this update, %d of earlier ones: %+v", what, len(p.this.all()), len(p.earlier.all()), p)
		}
	}
	first := paceOf(last)
	count("at first", first, 0, 1, 0)
	p := follow(false, func(*core.Snapshot) {})
	count("nothing of it has changed", p, 0, 1, 0)
	if &p.earlier[kindCompute][0] != &first.earlier[kindCompute][0] {
		t.Error("they are collected anew, though nothing has changed")
	}
	count("the update begins", follow(false, func(s *core.Snapshot) {
		s.ClusterRequests = []*core.MaintenanceRequest{{Kind: core.KindClusterMaintenanceRequest, Meta: core.Meta{Name: "mos", UID: "cmr",
			Created: scene.Ago(3 * time.Hour)}, Release: "21.0.0"}}
	}), 1, 0, 0)
	count("another one is over", follow(false, func(s *core.Snapshot) {
		s.History.Earlier = maps.Clone(s.History.Rounds)
	}), 2, 0, 0)
	count("the maintenance is of an earlier update", follow(false, func(s *core.Snapshot) {
		s.History.Rounds = map[string]core.Round{
			s.Nodes["cmp-01"].UID: {Request: "was", Update: "old", Started: scene.Ago(9 * time.Hour), Ended: scene.Ago(8 * time.Hour)}}
	}), 1, 1, 0)
	count("its node is a gateway now", follow(true, func(s *core.Snapshot) {
		gateway := *s.Nodes["cmp-01"]
		gateway.Roles = []core.Role{core.RoleGateway}
		s.Nodes = map[string]*core.Node{"cmp-01": &gateway}
	}), 1, 1, 2)
}
