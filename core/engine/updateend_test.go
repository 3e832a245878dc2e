package engine

import (
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// The run that saw the request go knows the end of an update to the minute; a run that came later does not.
func TestTheEndOfAnUpdateIsSeenOrFound(t *testing.T) {
	sources := map[core.SourceID]core.Source{core.SourceClusterRequests: {ID: core.SourceClusterRequests, State: core.SourceLive,
		AsOf: scene.Noon}}
	runs := &core.Snapshot{Facts: core.Facts{Now: scene.Noon, Sources: sources,
		ClusterRequests: []*core.MaintenanceRequest{{Kind: core.KindClusterMaintenanceRequest, Release: "21.0.0+25.2",
			Meta: core.Meta{Name: "mos", UID: "cmr", Created: scene.Ago(3e12)}}}}}
	over := &core.Snapshot{Facts: core.Facts{Now: scene.Noon, Sources: sources}}
	saw := New(Config{})
	h := saw.observeUpdate(runs, core.History{})
	if h.Update.UID != "cmr" || !h.Update.Ended.IsZero() {
		t.Fatalf("while it runs: %+v", h.Update)
	}
	if end := saw.observeUpdate(over, h).Update; !end.EndSeen || !end.Ended.Equal(scene.Noon) {
		t.Errorf("seen: %+v", end)
	}
	if end := New(Config{}).observeUpdate(over, h).Update; end.EndSeen || !end.Ended.Equal(scene.Noon) {
		t.Errorf("found: %+v", end)
	}
}
