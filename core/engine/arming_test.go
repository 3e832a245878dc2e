package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/core"
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
				if err := b.engine.Arm(context.Background(), ""); err != nil {
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

// Others learn what runs here, and which step was confirmed last, as long as writing is armed.
func TestTheLeaseIsToldWhatRuns(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		cloud.migrating = true
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		says := func() core.Doing {
			time.Sleep(2 * tickEvery)
			cloud.mu.Lock()
			defer cloud.mu.Unlock()
			return cloud.doing
		}
		if d := says(); d.Said {
			t.Errorf("it says what it does with a lease that it does not have: %+v", d)
		}
		b.arm()
		if d := says(); d != (core.Doing{Said: true}) {
			t.Errorf("nothing was done yet: %+v", d)
		}
		id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrate, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		want := core.Doing{Said: true, Now: "live-migrate web-1", Since: worldTime.UTC(), Last: "live-migrate web-1", LastAt: worldTime.UTC()}
		if d := says(); d != want {
			t.Errorf("it says %+v, want %+v", d, want)
		}
		b.locked(func(c *testCloud) { c.finish("id-web-1") })
		b.sync()
		b.awaitEnd(id)
		want.Now, want.Since = "", time.Time{}
		if d := says(); d != want {
			t.Errorf("it says %+v, want %+v", d, want)
		}
	})
}

// The management cluster says that the nodes are another cluster's than the one that was opened: writing is disarmed, and can be armed only
// once they are that cluster's. Where no machine is a node yet, nothing is certain, and nothing is barred.
func TestAnotherClusterThanTheOneThatWasOpened(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.engine.call(func() {
			place := core.ManagementPlace{Namespace: "prod", Cluster: "mos"}
			b.engine.cfg.Place, b.engine.world.place = place, place
		})
		told := func(node string) {
			at := core.Meta{Namespace: "prod", Name: "mos"}
			b.engine.Apply(core.Delta{Source: core.SourceClusters, State: core.SourceLive, Replace: true,
				Upserts: []core.Object{&core.ManagedCluster{Meta: at}}})
			b.engine.Apply(core.Delta{Source: core.SourceMachines, State: core.SourceLive, Replace: true,
				Upserts: []core.Object{&core.ManagedMachine{Meta: core.Meta{Namespace: "prod", Name: "m-1"}, Cluster: "mos", Node: node}}})
			b.sync()
			time.Sleep(2 * tickEvery)
		}
		told("")
		b.arm()
		told("")
		if s := b.engine.Snapshot(); !s.Write.Armed || s.Write.Barred != "" || b.engine.mayWrite() != nil {
			t.Errorf("before a machine is a node: %+v, %v", s.Write, b.engine.mayWrite())
		}
		told("another-1")
		s := b.engine.Snapshot()
		if s.Write.Armed || !strings.Contains(s.Write.Barred, "the cluster mos") || b.cloud.Held() || s.Write.Lost != s.Write.Barred {
			t.Errorf("its machines are other nodes: %+v, the lease is held: %v", s.Write, b.cloud.Held())
		}
		if err := b.engine.Arm(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "other nodes than these") {
			t.Errorf("it can be armed: %v", err)
		}
		told("cmp-1")
		b.arm()
		if s := b.engine.Snapshot(); !s.Write.Armed || s.Write.Barred != "" {
			t.Errorf("its machine is a node here: %+v", s.Write)
		}
	})
}

// Who armed writing is who writes: when Kubernetes knows the login as somebody else, it is disarmed. A login that is renewed, or not known
// for a while, changes nothing.
func TestALoginOfSomebodyElseDisarms(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.engine.Identify("uid", core.Identity{KubernetesUser: "anna"})
		b.arm()
		for _, user := range []string{"anna", "", "anna"} {
			if b.engine.Identify("uid", core.Identity{KubernetesUser: user}); !b.engine.Snapshot().Write.Armed {
				t.Fatalf("known as %q, it is disarmed", user)
			}
		}
		b.engine.Identify("uid", core.Identity{})
		b.engine.Identify("uid", core.Identity{KubernetesUser: "bob"})
		if w := b.engine.Snapshot().Write; w.Armed || !strings.Contains(w.Lost, "now bob's, and was anna's") {
			t.Errorf("known as somebody else: %+v", w)
		}
		if b.arm(); !b.engine.Snapshot().Write.Armed {
			t.Error("it cannot be armed again")
		}
	})
}
