package scenario

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"lockstep/sim/bubble/lane"
)

const fleet = `
name: fleet
title: A test
release: {from: "1", to: "2"}
kubelet: {from: v1, to: v2}
rockoon: {from: "1", to: "2"}
history: {startAt: workers, begun: 2h, released: 1h}
seed: 7
fleet:
  nodes: {master: 3, compute: 40, gateway: 2, storage: 1}
  zones: {a: 3, b: 1}
  racks: 4
  modes: {live: 1, manual: 1}
  done: 8
  began: 2
  groups: 2
  projects: 3
  instances: 600
  flavors: {m1.small: 9, m1.medium: 1}
  statuses: {ACTIVE: 8, SHUTOFF: 1, SHELVED_OFFLOADED: 1, VERIFY_RESIZE: 1}
  actions: {none: 1, notify: 1}
  troubles: {fails: 5}
`

func TestAFleetIsWhatItsShortFormSays(t *testing.T) {
	s, err := Parse([]byte(fleet))
	if err != nil {
		t.Fatal(err)
	}
	roles, zones, modes, past := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	ram, zoneOf := map[string]int{}, ""
	for _, n := range s.Nodes {
		for _, role := range n.Roles {
			roles[role]++
		}
		if n.Done > 0 {
			past["done"]++
		} else if n.Began > 0 {
			past["began"]++
		}
		if !n.Has(RoleCompute) {
			continue
		}
		if n.Zone < zoneOf {
			t.Errorf("%s is in zone %s after one of zone %s: the update would go back and forth", n.Machine, n.Zone, zoneOf)
		}
		zoneOf = n.Zone
		zones[n.Zone]++
		modes[n.Annotations[modeAnnotation]]++
		ram[n.Machine] = n.RAM()
		if n.Done > 0 && modes["manual"] > 0 {
			t.Errorf("%s is done and manual", n.Machine)
		}
	}
	want := map[string]int{RoleMaster: 3, RoleController: 3, RoleCompute: 40, RoleGateway: 2, RoleStorage: 1}
	if !maps.Equal(want, roles) {
		t.Errorf("roles: %v, want %v", roles, want)
	}
	if zones["a"] != 30 || zones["b"] != 10 || past["done"] != 3+8 || past["began"] != 2 || modes["manual"] < 5 || modes["manual"] > 25 {
		t.Errorf("zones %v, past %v, modes %v", zones, past, modes)
	}
	sizes, states, peculiar := map[string]int{}, map[string]int{}, 0
	for _, f := range s.Flavors {
		sizes[f.Name] = f.RAM()
	}
	for _, in := range s.Instances {
		states[in.Status]++
		if ram[in.Host] -= sizes[in.Flavor]; ram[in.Host] < 0 && in.Host != "" {
			t.Errorf("%s has more instances than room", in.Host)
		}
		if in.FailLive.Times < 0 {
			peculiar++
		}
		if in.Status == "VERIFY_RESIZE" && in.CameFrom == in.Host {
			t.Errorf("%s came from where it is", in.Name)
		}
	}
	if len(s.Instances) != 600 || states["SHUTOFF"] == 0 || states["ACTIVE"] < 5*states["SHUTOFF"] || peculiar == 0 || peculiar > 5 {
		t.Errorf("%d instances, %v, %d peculiar", len(s.Instances), states, peculiar)
	}
	if m := s.Management; m == nil || len(m.Groups) != 3 || len(m.Groups[0].Machines) != 20 || len(m.Groups[2].Machines) != 3 {
		t.Errorf("update groups: %+v", s.Management)
	}
	again, err := Parse([]byte(fleet))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s, again) {
		t.Error("the same file is another fleet")
	}
	other, err := Parse([]byte(strings.Replace(fleet, "seed: 7", "seed: 8", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(s.Instances, other.Instances) {
		t.Error("another seed is the same fleet")
	}
}

func TestAFleetSpelledOutIsReadAgain(t *testing.T) {
	s, err := Parse([]byte(fleet))
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := s.Write(&file); err != nil {
		t.Fatal(err)
	}
	again, err := Parse([]byte(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(s.Instances, again.Instances) || !reflect.DeepEqual(s.Nodes, again.Nodes) {
		t.Error("the file that was written is another fleet")
	}
}

func TestWrongFleetsSayWhatIsWrong(t *testing.T) {
	lane.Single(t)
	for name, c := range map[string]struct{ old, new, want string }{
		"no such role":         {"compute: 40", "computes: 40", "line 10: fleet.nodes.computes: want counts of some of"},
		"negative count":       {"gateway: 2", "gateway: -2", "line 10: fleet.nodes.gateway: is -2"},
		"too many":             {"compute: 40", "compute: 40000", "line 10: fleet.nodes: there are more than 10000"},
		"more racks than":      {"racks: 4", "racks: 50", "line 12: fleet.racks: is 50: want 0 to 40"},
		"more done than":       {"done: 8", "done: 41", "line 14: fleet.done: is 41: want 0 to 40"},
		"no such mode":         {"manual: 1", "manul: 1", "line 13: fleet.modes.manul: want some of [live manual skip]; did you mean manual?"},
		"no such status":       {"SHUTOFF: 1", "STOPPED: 1", "line 20: fleet.statuses.STOPPED"},
		"no such action":       {"notify: 1", "tell: 1", "line 21: fleet.actions.tell"},
		"no such flavor":       {"m1.medium: 1", "m1.tiny: 1", "line 19: fleet.flavors.m1.tiny"},
		"no such trouble":      {"fails: 5", "crashes: 5", "line 22: fleet.troubles.crashes"},
		"all weights zero":     {"{live: 1, manual: 1}", "{live: 0}", "line 13: fleet.modes: all weights are 0"},
		"no room":              {"instances: 600", "instances: 200000", "line 18: fleet.instances: only"},
		"not at the workers":   {"startAt: workers, begun: 2h, released: 1h", "startAt: openstack, begun: 2h", "line 14: fleet.done"},
		"a count that is none": {"racks: 4", "racks: some", `line 12: fleet.racks: is "some": want a whole number`},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(fleet, c.old, c.new, 1)
			if text == fleet {
				t.Fatal("the test changes nothing")
			}
			if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
}
