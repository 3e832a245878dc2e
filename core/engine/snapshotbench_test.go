package engine

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/progress"
)

// BenchmarkSnapshot is a Snapshot with all that a screen shows of it, after each forty changes as they come in an update of 2,000 nodes:
// of Kubernetes alone, and of instances, too. Two hundred changes a second come to some five times forty.
func BenchmarkSnapshot(b *testing.B) {
	for _, cloud := range []bool{false, true} {
		name := "kubernetes"
		if cloud {
			name = "openstack"
		}
		b.Run(name, func(b *testing.B) {
			l := newLarge(b)
			c := changes{large: l, chance: rand.New(rand.NewPCG(1, 1)), names: l.scene.NodeNames(), cloud: cloud}
			c.work(20)
			b.ReportAllocs()
			for b.Loop() {
				c.work(1)
			}
		})
	}
}

// changes are those of an update and of the users of a cloud. Texts of locks are half of them.
type changes struct {
	*large
	chance *rand.Rand
	names  []string
	cloud  bool
}

// work makes so many Snapshots with forty changes each.
func (c *changes) work(times int) {
	for range times {
		for range 40 {
			c.change()
		}
		s := c.next()
		attention.NodeNeeds(s, "")
		progress.DaemonViews(s)
		procedure.AfterUpdateLeft(s)
	}
}

func (c *changes) change() {
	s := c.engine.Snapshot()
	any, maintained := c.names[c.chance.IntN(len(c.names))], c.names[100*c.chance.IntN(len(c.names)/100)]
	x := c.chance.IntN(100)
	if c.cloud && x < 25 {
		in := *c.scene.ByHost[any][c.chance.IntN(50)]
		if x < 17 {
			in.Tags = []string{core.TagMaintenanceAction + []string{"notify", "poweroff", "live_migrate"}[c.chance.IntN(3)]}
		} else {
			in.Status = []string{"ACTIVE", "SHUTOFF"}[c.chance.IntN(2)]
		}
		c.take(core.SourceInstances, &in)
		return
	}
	if c.cloud {
		x = (x - 25) * 100 / 75
	}
	switch {
	case x < 50:
		lock := *s.NodeLock(maintained, core.ControllerOpenStack)
		lock.Message = fmt.Sprintf("%s Starting migration for %s", c.now.Format(time.DateTime), c.scene.ByHost[any][c.chance.IntN(50)].ID)
		c.take(core.SourceNodeLocks, &lock)
	case x < 65:
		lock := *s.NodeLock(maintained, core.ControllerCeph)
		lock.RawState = []core.LockState{core.LockActive, core.LockInactive}[c.chance.IntN(2)]
		c.take(core.SourceNodeLocks, &lock)
	case x < 85: // a heartbeat
		n := *s.Nodes[any]
		n.ResourceVersion = fmt.Sprint(c.chance.Int64())
		c.take(core.SourceNodes, &n)
	default:
		n := *s.Nodes[any]
		n.Annotations = map[string]string{core.AnnotationMigrationMode: []string{"manual", "live", "skip"}[c.chance.IntN(3)]}
		c.take(core.SourceNodes, &n)
	}
}
