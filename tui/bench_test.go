package tui

import (
	"fmt"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
)

// worldOf is the fixture with n nodes.
func worldOf(n int) *core.Snapshot {
	s := world()
	model := s.Nodes["kaas-node-cmp12"]
	for i := len(s.Nodes); i < n; i++ {
		node := *model
		node.Name, node.ShortName, node.UID = fmt.Sprintf("kaas-node-x%04d", i), fmt.Sprintf("x-%04d", i), fmt.Sprint("uid-x", i)
		s.Nodes[node.Name] = &node
		for _, l := range s.NodeLocks.At(model.Name) {
			lock := *l
			lock.Node, lock.Name, lock.UID = node.Name, l.Controller+"-"+node.Name, fmt.Sprint(l.UID, i)
			s.NodeLocks = s.NodeLocks.Put(node.Name, append(s.NodeLocks.At(node.Name), &lock))
		}
	}
	return s
}

// BenchmarkFrame shows a new Snapshot on the screen, and moves the cursor.
func BenchmarkFrame(b *testing.B) {
	for _, size := range sizes {
		for _, nodes := range []int{50, 2000} {
			name := fmt.Sprintf("%dx%d/%d-nodes", size.w, size.h, nodes)
			b.Run("snapshot/"+name, func(b *testing.B) {
				d := drive(worldOf(nodes), size.w, size.h)
				progress.NodeViews(d.snap) // core's share is not the screen's
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					d.nodes.Redraw()
					d.dirty = true
					d.run(d.refresh())
					_ = d.shows()
				}
			})
			b.Run("cursor/"+name, func(b *testing.B) {
				d := drive(worldOf(nodes), size.w, size.h)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					d.keys([]string{"down", "up"}[i%2])
					_ = d.shows()
				}
			})
		}
	}
}
