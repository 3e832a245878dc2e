package progress

import (
	"testing"

	"lockstep/scene"
)

// A node that waits for the operator does not count as moving.
func TestAWaitingNodeDoesNotMove(t *testing.T) {
	sc := scene.InMaintenance()
	sc.Maintained("cmp-02", "Starting migration for "+sc.Named("web-2").ID)
	if u := Update(sc.Snapshot); u.Waiting != 1 || u.Moving != 1 {
		t.Errorf("%d wait, %d move", u.Waiting, u.Moving)
	}
}
