// Package live gives benchmarks what an engine makes of a scene: Snapshots between which one thing has changed. It is not a part of
// scene, because the engine's own tests use that.
package live

import (
	"context"
	"strconv"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/scene"
)

// Cluster is a scene that a running Engine has taken in.
type Cluster struct {
	engine    *engine.Engine
	snapshots <-chan *core.Snapshot
	lock      core.WorkloadLock // the one whose text changes
	wall      func() time.Time
}

// texts are what the lock says in turn.
var texts = []string{"Waiting servers migration is completed: ['" + scene.IDA + "']", "Starting migration for " + scene.IDB}

// Start runs an Engine on a scene.Fleet until the test or benchmark ends, and waits until its Snapshots show all of it.
func Start(t testing.TB, sc scene.Scene) *Cluster {
	t.Helper()
	begun := time.Now()
	c := &Cluster{lock: *sc.NodeLock(scene.Maintained, core.ControllerOpenStack),
		wall: func() time.Time { return scene.Noon.Add(time.Since(begun)) }}
	var sources []core.SourceID
	for id := range sc.Sources {
		sources = append(sources, id)
	}
	c.engine = engine.New(engine.Config{Cluster: sc.Cluster, Operator: sc.Operator, Wall: c.wall, Settings: sc.Settings, Sources: sources,
		Barred: "a benchmark writes nothing"})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.engine.Run(ctx) // an error only when it is run twice
	}()
	var unsubscribe func()
	c.snapshots, unsubscribe = c.engine.Subscribe()
	t.Cleanup(func() {
		unsubscribe()
		stop()
		<-ended
	})
	facts := sc.Objects()
	for _, id := range sources {
		c.engine.Apply(core.Delta{Source: id, At: c.wall(), State: core.SourceLive, Replace: true, Upserts: facts[id]})
	}
	c.await(func(s *core.Snapshot) bool {
		if len(s.Nodes) < len(sc.Nodes) || s.Instances.Len() < sc.Instances.Len() {
			return false
		}
		for _, src := range s.Sources {
			if src.State != core.SourceLive {
				return false
			}
		}
		return true
	})
	return c
}

func (c *Cluster) await(shows func(*core.Snapshot) bool) *core.Snapshot {
	for s := range c.snapshots {
		if shows(s) {
			return s
		}
	}
	return nil
}

// Change changes the text of the lock that the OpenStack controller holds on scene.Maintained, and returns the Engine's Snapshot that
// shows it.
func (c *Cluster) Change(i int) *core.Snapshot {
	l := c.lock
	l.Message = c.wall().Format("2006-01-02 15:04:05.000000") + " " + texts[i%len(texts)]
	c.engine.Apply(core.Delta{Source: core.SourceNodeLocks, At: c.wall(), Upserts: []core.Object{&l}})
	return c.await(func(s *core.Snapshot) bool {
		shown := s.NodeLock(scene.Maintained, core.ControllerOpenStack)
		return shown != nil && shown.Message == l.Message
	})
}

// changes is how many changes a benchmark looks at, at least: one alone would be chance.
const changes = 5

// Derive measures what derive makes of Snapshots of a scene.Fleet of each size: "full" of the facts alone, "one-lock" of the Engine's
// Snapshot after the text of one lock has changed. There ns/op is what derive takes by itself, and cpu-ns/op the processor time from the
// change to the end of derive, with all that the Engine does meanwhile: what is derived early shows in the second, not in the first.
func Derive(b *testing.B, instances int, derive func(*testing.B, *core.Snapshot)) {
	for _, nodes := range scene.Sizes {
		b.Run(strconv.Itoa(nodes)+"/full", func(b *testing.B) {
			sc := scene.Fleet(nodes, instances)
			b.ReportAllocs()
			for b.Loop() {
				derive(b, sc.Again().Snapshot)
			}
		})
		b.Run(strconv.Itoa(nodes)+"/one-lock", func(b *testing.B) {
			c := Start(b, scene.Fleet(nodes, instances))
			derive(b, c.Change(0))
			var took, processor time.Duration
			n := 0
			for b.Loop() {
				for range changes {
					n++
					before := used()
					s := c.Change(n)
					begun := time.Now()
					derive(b, s)
					took += time.Since(begun)
					processor += used() - before
				}
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(n), "ns/op") // not the wait for the Engine's next Snapshot
			b.ReportMetric(float64(processor.Nanoseconds())/float64(n), "cpu-ns/op")
		})
	}
}
