package nova

import (
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// Polls that come every few seconds reach back far once in half a minute; those that come that seldom all do.
func TestHowFarPollsOfTheChangesReachBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for _, tt := range []struct {
			pause time.Duration
			want  int // far ones, of 12 polls
		}{{migrationsMoving, 2}, {changesMoving, 2}, {migrationsQuiet, 6}, {changesEvery, 12}, {time.Hour, 12}} {
			var r reach
			far := 0
			for i := range 12 {
				switch back := r.next(changesEvery); back {
				case changesOverlap:
					far++
				case changesBetween:
					if i == 0 {
						t.Errorf("every %s: the first one reaches back a little only", tt.pause)
					}
				default:
					t.Errorf("every %s: one reaches back %s", tt.pause, back)
				}
				time.Sleep(tt.pause)
			}
			if far != tt.want {
				t.Errorf("every %s: %d of 12 reach back far, want %d", tt.pause, far, tt.want)
			}
		}
	})
}
