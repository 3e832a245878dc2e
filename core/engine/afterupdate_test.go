package engine

import (
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// An instance counts as stopped for the update until Lockstep has started it, even after a restart of Lockstep.
func TestStoppedInstancesAreRemembered(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		b := newBench(t, dir, cloud)
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentStop, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		if r := b.engine.Snapshot().History.Stopped["id-web-1"]; r.Name != "web-1" || r.By != "anna@jump01" {
			t.Errorf("%+v", r)
		}
		b.end()
		b = newBench(t, dir, cloud)
		defer b.end()
		if r := b.engine.Snapshot().History.Stopped["id-web-1"]; r.Name != "web-1" {
			t.Errorf("after a restart: %+v", r)
		}
		b.arm()
		if id, err = b.confirm(core.Intent{Kind: core.IntentStart, Instance: "id-web-1"}); err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		if stopped := b.engine.Snapshot().History.Stopped; len(stopped) != 0 {
			t.Errorf("after its start: %v", stopped)
		}
	})
}
