package kube

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

var groupRef = core.Ref{Kind: core.KindUpdateGroup, Namespace: "prod", Name: "canary", UID: "uid-canary"}

const canary = `{apiVersion: kaas.mirantis.com/v1alpha1, kind: UpdateGroup, metadata: {name: canary, namespace: prod, uid: uid-canary, ` +
	`labels: {cluster.sigs.k8s.io/cluster-name: mos}}, spec: {index: 2, concurrentUpdates: 1, note: kept}}`

// An UpdateGroup is changed, removed and made, each after a dry-run that changes nothing, and only as it was confirmed. What the
// change does not name stays.
func TestAnUpdateGroupIsSet(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := planned(t)
		c.create(canary)
		w := writesManagement(t, c.client(kubeapi.Operator))
		says := func() string {
			ref := groupRef
			ref.UID = ""
			u, err := w.object(t.Context(), ref)
			if kindOf(err) == core.ErrNotFound {
				return "-"
			}
			if err != nil {
				t.Fatal(err)
			}
			spec := fields(u.Object).at("spec")
			return fmt.Sprintf("%v %v %v %v %s", spec["index"], spec["concurrentUpdates"], spec["rebootIfUpdateRequires"], spec["note"],
				u.GetLabels()[labelClusterName])
		}
		settings := func(index, concurrent int, reboot bool) *core.GroupSettings {
			return &core.GroupSettings{Index: index, Concurrent: concurrent, Reboot: reboot}
		}
		set := func(old, to *core.GroupSettings) core.SetGroup {
			return core.SetGroup{Group: groupRef, Cluster: "mos", Old: old, New: to}
		}
		absent, other := set(nil, settings(4, 2, false)), set(settings(2, 1, false), settings(2, 5, false))
		absent.Group.UID, other.Cluster = "", "else"
		for _, tt := range []struct {
			what   string
			change core.SetGroup
			after  string
			fails  core.ErrorKind
		}{
			{"there is one already", absent, "2 1 <nil> kept mos", core.ErrConflict},
			{"more at a time", set(settings(2, 1, false), settings(2, 3, false)), "2 3 <nil> kept mos", ""},
			{"changed meanwhile", set(settings(2, 1, false), settings(2, 4, false)), "2 3 <nil> kept mos", core.ErrConflict},
			{"of another cluster", other, "2 3 <nil> kept mos", core.ErrConflict},
			{"a field that is missing", set(settings(2, 3, false), settings(2, 3, true)), "2 3 true kept mos", ""},
			{"another index", set(settings(2, 3, true), settings(1, 3, true)), "1 3 true kept mos", ""},
			{"changed meanwhile, to be removed", set(settings(2, 3, true), nil), "1 3 true kept mos", core.ErrConflict},
			{"nothing", set(nil, nil), "1 3 true kept mos", core.ErrInvalid},
			{"removed", set(settings(1, 3, true), nil), "-", ""},
			{"gone", set(settings(1, 3, true), nil), "-", core.ErrNotFound},
			{"made", absent, "4 2 false <nil> mos", ""},
		} {
			for _, dry := range []bool{true, false} {
				before := says()
				if err := w.do(dry, tt.change); kindOf(err) != tt.fails {
					t.Errorf("%s, dry run %v: %v", tt.what, dry, err)
				}
				if got := says(); dry && got != before || !dry && got != tt.after {
					t.Errorf("%s, dry run %v: %s", tt.what, dry, got)
				}
			}
		}
		if err := w.DryRun(t.Context(), set(settings(4, 2, false), nil)); kindOf(err) != core.ErrConflict {
			t.Errorf("a group that was made anew under the name: %v", err)
		}
	})
}

// A machine's update group and upgrade index are set over what was confirmed, and nowhere else; its other labels stay.
func TestTheOrderOfMachinesIsSet(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := planned(t)
		w := writesManagement(t, c.client(kubeapi.Operator))
		ref := c.refOf(core.KindMachine, "cmp-1")
		is := func() string {
			o, err := w.Object(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			m := o.(*core.ManagedMachine)
			return fmt.Sprint(m.Group, " ", numberText(m.IndexAsked), " ", m.Cluster)
		}
		move := func(old, to string) core.Change { return core.SetMachineGroup{Machine: ref, Old: old, New: to} }
		index := func(old, to *int) core.Change { return core.SetUpgradeIndex{Machine: ref, Old: old, New: to} }
		again := ref
		again.UID = "else"
		for _, tt := range []struct {
			what   string
			change core.Change
			after  string
			fails  core.ErrorKind
		}{
			{"a label that is missing", move("", "canary"), "canary not set mos", ""},
			{"moved meanwhile", move("", "rack-a"), "canary not set mos", core.ErrConflict},
			{"moved on", move("canary", "rack-a"), "rack-a not set mos", ""},
			{"to no group", move("rack-a", ""), "rack-a not set mos", core.ErrConflict},
			{"another machine of the name", core.SetMachineGroup{Machine: again, Old: "rack-a", New: "canary"}, "rack-a not set mos",
				core.ErrConflict},
			{"an index that is missing", index(nil, new(3)), "rack-a 3 mos", ""},
			{"an index, set meanwhile", index(nil, new(4)), "rack-a 3 mos", core.ErrConflict},
			{"another index", index(new(3), new(1)), "rack-a 1 mos", ""},
			{"an index that has changed, to be removed", index(new(3), nil), "rack-a 1 mos", core.ErrConflict},
			{"no index any more", index(new(1), nil), "rack-a not set mos", ""},
		} {
			for _, dry := range []bool{true, false} {
				before := is()
				if err := w.do(dry, tt.change); kindOf(err) != tt.fails {
					t.Errorf("%s, dry run %v: %v", tt.what, dry, err)
				}
				if got := is(); dry && got != before || !dry && got != tt.after {
					t.Errorf("%s, dry run %v: %s", tt.what, dry, got)
				}
			}
		}
		mos := c.refOf(core.KindCluster, "mos")
		names, err := w.MachinesInGroup(t.Context(), mos, "rack-a")
		if err != nil || !slices.Equal(names, []string{"cmp-1"}) {
			t.Errorf("%v, %v", names, err)
		}
		if names, err = w.MachinesInGroup(t.Context(), mos, "canary"); err != nil || len(names) > 0 {
			t.Errorf("%v, %v", names, err)
		}
	})
}

// A login that may only read is told which manifest gives the rights, before anything is sent.
func TestRightsOnUpdateGroupsAreAskedFirst(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := planned(t)
		c.create(canary)
		w := writesManagement(t, c.client(kubeapi.Readonly))
		machine := c.refOf(core.KindMachine, "cmp-1")
		for _, change := range []core.Change{
			core.SetGroup{Group: groupRef, Cluster: "mos", Old: &core.GroupSettings{Index: 2, Concurrent: 1}, New: &core.GroupSettings{Index: 3}},
			core.SetMachineGroup{Machine: machine, New: "canary"}, core.SetUpgradeIndex{Machine: machine, New: new(1)},
		} {
			err := w.DryRun(t.Context(), change)
			if e := Describe(err, ""); e == nil || e.Kind != core.ErrForbidden || !strings.Contains(e.Remedy, "rbac-management-operator.yaml") {
				t.Errorf("%T: %v", change, err)
			}
		}
	})
}
