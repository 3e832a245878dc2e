package progress

import (
	"testing"
	"time"

	"lockstep/scene"
)

func TestAsleepIsWhatASleepingMachineTells(t *testing.T) {
	before := time.Now()
	after := scene.Asleep(before, 2*time.Hour)
	if after.Sub(before) != 0 || after.Round(0).Sub(before) != 2*time.Hour {
		t.Fatalf("%s and %s", before, after)
	}
}
