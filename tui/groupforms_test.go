package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/evacuation"
)

// armedWorld is the fixture with a management cluster, and writing is armed.
func armedWorld() *core.Snapshot {
	s := managedWorld()
	s.Write.Armed, s.Write.Mine = true, true
	return s
}

func TestScreensOfUpdateGroups(t *testing.T) {
	for _, size := range sizes {
		for _, screen := range []struct {
			name string
			keys []string
		}{
			{"move", []string{"3", "/", "cmp-09", "enter", "U", "down"}},
			{"concurrency", []string{"2", "n", "down", "3"}},
			{"concurrency-confirm", []string{"2", "n", "down", "3", "enter"}},
		} {
			name := fmt.Sprintf("groups-%s-%dx%d", screen.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				golden(t, name, stripped(drive(armedWorld(), size.w, size.h).keys(screen.keys...).shows()))
			})
		}
	}
}

// While a form is filled in it says what stands against it, and nothing before something was typed.
func TestAFormOfGroupsSaysAtOnceWhatStandsAgainstIt(t *testing.T) {
	s := armedWorld()
	node := ""
	for name := range s.Nodes {
		if s.Label(name) == "cmp-09" {
			node = name
		}
	}
	for _, tt := range []struct {
		name string
		form *form
		at   int
		text string
		says string // empty: nothing stands against it
	}{
		{"nothing is typed", newConcurrencyForm(s), 0, "", ""},
		{"not a number", newConcurrencyForm(s), 1, "two", `"two" is not a number from 1`},
		{"none at a time", newConcurrencyForm(s), 1, "0", `"0" is not a number from 1`},
		{"a group that is under way", newConcurrencyForm(s), 0, "3", "group mos-default is InProgress"},
		{"one that rests", newConcurrencyForm(s), 1, "3", ""},
		{"far too many", newConcurrencyForm(s), 1, "5000", "from 1 to 1000"},
		{"an index that has passed", newGroupIndexForm(s), 1, "1", "group mos-default has the index 1"},
		{"an index to come", newGroupIndexForm(s), 1, "4", ""},
		{"a group without an index", newMakeGroupForm(s), 0, "rack-a", "a name and an index are needed"},
		{"a group with a bad name", newMakeGroupForm(s), 0, "Rack_A 4", "a name that a label can bear"},
		{"a group of a name that is taken", newMakeGroupForm(s), 0, "late 4", "no group of the name yet"},
		{"a group", newMakeGroupForm(s), 0, "rack-a 4 2", ""},
		{"the group that it is in", newMoveForm(s, []string{node}), 0, "", "it is in mos-default"},
		{"out of a group that is under way", newMoveForm(s, []string{node}), 1, "", "group mos-default is InProgress"},
		{"an index of a machine whose group is under way", newUpgradeIndexForm(s, node), 0, "1", "group mos-default is InProgress"},
		{"not an index", newUpgradeIndexForm(s, node), 0, "first", `"first" is not a number from 1`},
		{"an empty group is removed", newDeleteGroupForm(s), 0, "", ""},
		{"reboots of a group that rests", newGroupRebootForm(s), 1, "", ""},
	} {
		tt.form.at = tt.at
		if tt.form.typed() {
			tt.form.input.SetValue(tt.text)
		}
		if got := tt.form.mind(s); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

// Of many groups the form shows those around the chosen one, and the screen holds them.
func TestAFormOfManyGroupsFits(t *testing.T) {
	s := armedWorld()
	for i := range 40 {
		s.Management.Groups = append(s.Management.Groups, &core.MachineGroup{Meta: core.Meta{Name: fmt.Sprintf("rack-%02d", i), UID: "u"},
			Cluster: "mos", Index: 3 + i, Concurrent: 1})
	}
	d := drive(s, 80, 24).keys("2", "n")
	if got := stripped(d.shows()); !strings.Contains(got, "1 to 8 of 42") || strings.Contains(got, "rack-20") {
		t.Error(got)
	}
	for range 22 {
		d.keys("down")
	}
	checkFrame(t, d.shows(), 80, 24)
	if got := stripped(d.shows()); !strings.Contains(got, "rack-20") || !strings.Contains(got, "of 42") {
		t.Error(got)
	}
}

// The nodes are sorted by their turn, the control plane first.
func TestTheTurnsOfNodes(t *testing.T) {
	d := drive(armedWorld(), 200, 60)
	p := d.pane(ScopeNodes).(*nodesPane)
	for _, v := range p.All() {
		turn := p.turns[v.Name]
		if want := "mos-default"; v.Node.Is(core.RoleMaster) && turn.Group != "mos-default" && turn.Group != "mos-control" || turn.Place < 1 ||
			!v.Node.Is(core.RoleMaster) && turn.Group != want {
			t.Errorf("%s: %+v", v.Label, turn)
		}
	}
	if !p.grouped || !strings.Contains(stripped(d.shows()), "turn") {
		t.Error("the column is not shown")
	}
}

// Before more machines of a group go at a time, the operator reads whether their hosts can be emptied then.
func TestAChangeOfAGroupSaysWhetherItsHostsCanBeEmptied(t *testing.T) {
	for name, tt := range map[string]struct {
		forecast evacuation.Forecast
		err      error
		want     []string
	}{
		"they can": {evacuation.Forecast{Counts: evacuation.Counts{Instances: 9, Moves: 9}}, nil,
			[]string{"can be emptied, 3 at a time: 9 instances to move"}},
		"they cannot": {evacuation.Forecast{Counts: evacuation.Counts{Instances: 9, Moves: 6, Blocks: 2, MayFail: 1},
			Nodes: []evacuation.NodeForecast{{Label: "cmp-11", Counts: evacuation.Counts{Blocks: 2, MayFail: 1}}, {Label: "cmp-12"}}}, nil,
			[]string{"cannot be emptied by itself, 3 at a time: 2 instances in the way, 1 that may fail", "cmp-11: 2 in the way, 1 that may fail"}},
		"nobody knows": {evacuation.Forecast{}, errors.New("Placement is away"), []string{"is not known: Placement is away"}},
	} {
		s := armedWorld()
		for _, v := range s.Management.Machines {
			if n := s.Nodes[v.Node]; v.Machine != nil && n != nil && slices.Contains(n.Roles, core.RoleCompute) {
				v.Machine.Group = "late" // the one that rests
				break
			}
		}
		d := drive(s, 120, 60)
		d.fake.evacuation, d.fake.evacuationErr = tt.forecast, tt.err
		frame := strings.Join(strings.Fields(stripped(d.keys("2", "n", "down", "3", "enter").shows())), " ")
		for _, want := range tt.want {
			if !strings.Contains(frame, want) {
				t.Errorf("%s: it does not say %q:\n%s", name, want, frame)
			}
		}
		if n := len(d.fake.planned); n != 1 || d.fake.planned[0].AtOnce != 3 || len(d.fake.planned[0].Nodes) == 0 {
			t.Errorf("%s: it asked for %+v", name, d.fake.planned)
		}
	}
	d := drive(armedWorld(), 120, 60)
	if d.keys("3", "/", "cmp-07", "enter", "m"); len(d.fake.planned) != 0 {
		t.Error("a step that is not about a group asks for a forecast")
	}
}

// Where the only group of workers is the one that every cluster has, the form says how to come to another.
func TestMovingAMachineWithoutAnotherGroup(t *testing.T) {
	const hint = "make one first"
	s := armedWorld()
	if f := newMoveForm(s, []string{"kaas-node-cmp07"}); strings.Contains(f.about, hint) {
		t.Errorf("with several groups: %s", f.about)
	}
	s.Management.Groups = slices.DeleteFunc(s.Management.Groups, func(g *core.MachineGroup) bool {
		return g.Name != s.Management.DefaultGroup() && g.Name != s.Management.ControlGroup()
	})
	if f := newMoveForm(s, []string{"kaas-node-cmp07"}); !strings.Contains(f.about, hint) {
		t.Errorf("with the default group alone: %s", f.about)
	}
}
