package core

import "testing"

// An update's end is known to the minute by the run that saw its request go, and by nobody who came later.
func TestTheEndOfAnUpdateIsSeenOrFound(t *testing.T) {
	sources := map[SourceID]Source{SourceClusterRequests: {ID: SourceClusterRequests, State: SourceLive, AsOf: noon}}
	runs := &Snapshot{Facts: Facts{Now: noon, Sources: sources, ClusterRequests: []*MaintenanceRequest{{Kind: KindClusterMaintenanceRequest, Release: "21.0.0+25.2",
		Meta: Meta{Name: "mos", UID: "cmr", Created: ago(3e12)}}}}}
	over := &Snapshot{Facts: Facts{Now: noon, Sources: sources}}
	saw := New(Config{})
	h := saw.observeUpdate(runs, History{})
	if h.Update.UID != "cmr" || !h.Update.Ended.IsZero() {
		t.Fatalf("while it runs: %+v", h.Update)
	}
	if end := saw.observeUpdate(over, h).Update; !end.EndSeen || !end.Ended.Equal(noon) {
		t.Errorf("seen: %+v", end)
	}
	if end := New(Config{}).observeUpdate(over, h).Update; end.EndSeen || !end.Ended.Equal(noon) {
		t.Errorf("found: %+v", end)
	}
}
