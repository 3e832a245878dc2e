package tui

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/sim/bubble/lane"
)

// Whatever goes and comes back, the selection of the pane with the focus stays on its object or is empty, and the panes below
// show no other node than before. While nothing is selected, no key affects a neighbour.
func TestNoPaneSelectsByItself(t *testing.T) {
	lane.Single(t)
	nodes := []string{"kaas-node-cmp07", "kaas-node-cmp11", "kaas-node-cmp06", "kaas-node-cmp03", "kaas-node-ctl01"}
	rapid.Check(t, func(rt *rapid.T) {
		d := drive(world(), 120, 40).keys("3", "home")
		selected := func() string { // by ID, because no two rows have the same
			s := d.focused().subject()
			switch {
			case d.focused().Gone() != "":
				return ""
			case s.attention != nil:
				return s.attention.ID
			case s.lock != nil:
				return s.lock.UID
			case s.instance != "":
				return s.instance
			}
			return s.node
		}
		rt.Repeat(map[string]func(*rapid.T){
			"news": func(rt *rapid.T) {
				goes := rapid.SliceOfDistinct(rapid.SampledFrom(nodes), rapid.ID).Draw(rt, "nodes that are gone")
				moved := rapid.SliceOfDistinct(rapid.IntRange(0, 9), rapid.ID).Draw(rt, "instances that are gone")
				had, shown := selected(), d.shown
				rows, _ := d.focused().Count()
				d.fresh(func(s *core.Snapshot) {
					for _, name := range goes {
						without(name)(s)
					}
					for _, n := range moved {
						s.Instances.Remove(instanceID(n))
						for host, list := range s.ByHost {
							s.ByHost[host] = slices.DeleteFunc(slices.Clone(list), func(i *core.Instance) bool { return i.ID == instanceID(n) })
						}
					}
				})
				if now := selected(); rows > 0 && now != had && now != "" {
					rt.Fatalf("in pane %s the selection went from %q to %q by itself", d.focus, had, now)
				}
				if d.shown != shown && d.shown != "" {
					rt.Fatalf("what hangs on %q was shown, and now on %q", shown, d.shown)
				}
			},
			"key": func(rt *rapid.T) {
				d.keys(rapid.SampledFrom([]string{"1", "3", "4", "5", "down", "up", "home", "end", "s"}).Draw(rt, "key"))
			},
			"do": func(rt *rapid.T) {
				key := rapid.SampledFrom([]string{"enter", "m", "i", "e", "u", "y"}).Draw(rt, "key")
				had, lost := selected(), d.focused().Gone() != ""
				known := d.actionFor(key) != nil
				d.keys(key)
				if lost && known && (d.top() != nil || d.focus != ScopeLocks && !strings.HasPrefix(d.toast.text, "nothing is selected: ")) &&
					key != "e" {
					rt.Fatalf("nothing is selected, and %s opens %T, or says %q", key, d.top(), d.toast.text)
				}
				if c, ok := d.top().(*confirmDialog); ok && d.focus == ScopeInstances && c.step.Intent.Instance != had {
					rt.Fatalf("%q is selected, and %s is to be done with %q", had, key, c.step.Intent.Instance)
				}
				for d.top() != nil {
					d.close(d.top())
				}
			},
		})
	})
}
