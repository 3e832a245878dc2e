package tui

import (
	"testing"

	"lockstep/core"
)

// Until the operator has been in the list of what needs them, its cursor is on the most urgent entry: entering it later does not
// open the entry that was first when the program began.
func TestTheListOfNeedsBeginsAtItsTop(t *testing.T) {
	calm := func(s *core.Snapshot) {
		s.Operations, s.NodeRequests, s.NodeLocks, s.OpenStack[0].State = nil, nil, core.ByName[[]*core.WorkloadLock]{}, "FAILED"
	}
	d := drive(world(), 120, 40)
	d.fresh(calm)
	if a, _ := d.needs.Current(); a == nil {
		t.Fatal("nothing needs anybody")
	}
	d.fresh(func(s *core.Snapshot) { s.OpenStack[0].State = "FAILED" })
	if d.needs.Index() != 0 {
		t.Errorf("the cursor is on row %d", d.needs.Index())
	}
	d.fresh(calm).keys("1")
	here, _ := d.needs.Current()
	id := here.ID
	d.keys("3")
	d.fresh(func(s *core.Snapshot) { s.OpenStack[0].State = "FAILED" })
	if a, _ := d.needs.Current(); a == nil || a.ID != id || d.needs.Index() == 0 {
		t.Errorf("the operator was on %q, the cursor is on row %d: %+v", id, d.needs.Index(), a)
	}
}

// When a new Snapshot comes before the cursor has rested on another node, that node's locks and instances are shown from their
// first row, as they would be after the rest.
func TestAnotherNodeIsShownFromItsFirstRow(t *testing.T) {
	d := drive(world(), 120, 40).keys("3")
	d.nodes.Choose("kaas-node-cmp07")
	d.fresh(func(*core.Snapshot) {}).keys("5", "down", "down", "down", "4", "down", "3")
	if d.locks.Index() == 0 || d.instances.Index() == 0 {
		t.Fatal("there are not enough rows")
	}
	d.nodes.Choose("kaas-node-cmp11")
	d.fresh(func(*core.Snapshot) {})
	if d.shown != "kaas-node-cmp11" || d.locks.Index() != 0 || d.instances.Index() != 0 {
		t.Errorf("of %s shown are lock %d and instance %d", d.shown, d.locks.Index(), d.instances.Index())
	}
	d.keys("5", "down")
	d.fresh(func(*core.Snapshot) {})
	if d.locks.Index() != 1 {
		t.Errorf("the cursor does not stay where it was put: row %d", d.locks.Index())
	}
}
