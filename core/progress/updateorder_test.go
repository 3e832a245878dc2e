package progress

import (
	"slices"
	"testing"

	"lockstep/core"
)

func TestNodesComeInTheOrderOfTheirGroupsAndIndexes(t *testing.T) {
	m := &core.ManagementInventory{Cluster: "mos",
		Groups: []core.UpdateGroup{{Name: "mos-default", Index: 2}, {Name: "rack-b", Index: 3}, {Name: "rack-a", Index: 1}},
		Machines: []core.Machine{
			{Name: "m1", Node: "n1", Group: "rack-b", Index: 1}, {Name: "m2", Node: "n2", Index: 9}, {Name: "m3", Node: "n3"},
			{Name: "m4", Node: "n4", Group: "rack-a"}, {Name: "m5", Node: "n5", Group: "rack-a", Index: 7}, {Name: "m6", Group: "rack-a", Index: 1},
		}}
	if got, want := UpdateOrder(m), []string{"n5", "n4", "n2", "n3", "n1"}; !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
	if UpdateOrder(nil) != nil {
		t.Error("nothing is known, and there is an order")
	}
}
