package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/sim/bubble"
)

// A server that is slow to take the lease back does not hold up the screen, however writing ended. Arming again meanwhile gets
// the lease afterwards, and keeps it.
func TestASlowServerHoldsUpNobody(t *testing.T) {
	for name, end := range map[string]func(*bench){
		"disarmed": func(b *bench) { go b.engine.Disarm() },
		"lost": func(b *bench) {
			b.locked(func(c *testCloud) { c.held = false })
			time.Sleep(tickEvery)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud())
				defer b.end()
				b.arm()
				b.cloud.onRelease = func(ctx context.Context) { <-ctx.Done() }
				end(b)
				synctest.Wait()
				began := time.Now()
				b.sync()
				if s := b.engine.Snapshot(); s.Write.Armed || s.Wall.Before(began) || time.Since(began) > 0 {
					t.Errorf("armed %v; the snapshot is of %v and took %v", s.Write.Armed, s.Wall, time.Since(began))
				}
				if err := b.engine.Arm(context.Background(), false); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != releaseTimeout {
					t.Errorf("armed again after %v", took)
				}
				time.Sleep(10 * tickEvery)
				if s := b.engine.Snapshot(); !s.Write.Armed || !s.Write.Mine || !b.cloud.Held() {
					t.Errorf("%+v, held %v", s.Write, b.cloud.Held())
				}
			})
		})
	}
}

// Leaving gives the lease back before the last record, and does not wait forever for a server that does not answer.
func TestLeavingWaitsForTheLeaseToBeGivenBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		b.arm()
		b.cloud.onRelease = func(ctx context.Context) { <-ctx.Done() }
		began := time.Now()
		b.end()
		if took := time.Since(began); took != releaseTimeout || b.cloud.Held() {
			t.Errorf("left after %v, held %v", took, b.cloud.Held())
		}
		records := b.journal()
		if last := records[len(records)-1]; last.Kind != RecordStop {
			t.Errorf("the last record is %s", last.Kind)
		}
	})
}
