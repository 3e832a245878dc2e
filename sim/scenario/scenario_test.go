package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble/lane"
)

func TestEveryEmbeddedScenarioLoadsUnderItsOwnName(t *testing.T) {
	lane.Single(t)
	names := List()
	if len(names) == 0 {
		t.Fatal("there are no scenarios")
	}
	for _, name := range names {
		s, err := Load(name)
		if err != nil {
			t.Fatalf("load %s: %v", name, err)
		}
		if s.Name != name || s.Title == "" || s.Teaches == "" || s.Group == "" {
			t.Errorf("%s: name %q, group %q, title %q, teaches %q", name, s.Name, s.Group, s.Title, s.Teaches)
		}
	}
}

func TestTheCatalogueHasEachScenarioInItsGroup(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(List()) || all[0].Name != Default {
		t.Errorf("%d entries, the first is %s; want %d, and %s first", len(all), all[0].Name, len(List()), Default)
	}
	groups := map[string]int{}
	last := ""
	for _, e := range all {
		if e.Group != last {
			groups[e.Group]++
		}
		last = e.Group
		if e.Title == "" || len(e.Title) > 75 || len(e.Teaches) < 100 {
			t.Errorf("%s: title %q, teaches %q: want a title of one line, and some sentences", e.Name, e.Title, e.Teaches)
		}
	}
	for group, times := range groups {
		if times > 1 {
			t.Errorf("the group %s is in pieces", group)
		}
	}
}

func TestDefaultScenarioHasWhatTheDemoShows(t *testing.T) {
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	manual := map[string]bool{}
	for _, n := range s.Nodes {
		switch {
		case n.Has(RoleMaster):
			count["masters"]++
		case n.Has(RoleCompute):
			count["computes"]++
		case n.Has(RoleGateway):
			count["gateways"]++
		}
		if n.Annotations["openstack.lcm.mirantis.com/instance_migration_mode"] == "manual" {
			manual[n.Machine] = true
		}
	}
	if count["masters"] != 3 || count["computes"] != 8 || count["gateways"] != 2 || len(manual) != 2 {
		t.Errorf("nodes: %v, manual: %v", count, manual)
	}
	statuses := map[string]bool{}
	notifyOnManual, failsTwice, conflicting := false, false, false
	for _, in := range s.Instances {
		statuses[in.Status] = true
		notifyOnManual = notifyOnManual || manual[in.Host] && len(in.Actions) == 1 && in.Actions[0] == "notify"
		failsTwice = failsTwice || in.FailLive.Times == 2
		conflicting = conflicting || len(in.Actions) == 2
	}
	if !notifyOnManual || !failsTwice || !conflicting || len(s.Instances) < 55 {
		t.Errorf("notify on a manual node %v, a migration that fails twice %v, two tags %v, %d instances", notifyOnManual, failsTwice,
			conflicting, len(s.Instances))
	}
	for _, status := range []string{"ACTIVE", "SHUTOFF", "SUSPENDED", "PAUSED", "ERROR", "SHELVED_OFFLOADED"} {
		if !statuses[status] {
			t.Errorf("no instance is %s", status)
		}
	}
}

const small = `
name: small
title: A test
release: {from: "1", to: "2"}
kubelet: {from: v1, to: v2}
rockoon: {from: "1", to: "2"}
projects: [p]
flavors: [{name: f, vcpus: 1, memoryGiB: 1}]
nodes:
- {machine: ctl-01, roles: [master]}
- {machine: cmp-01, roles: [compute]}
instances:
- {name: a, project: p, flavor: f, host: cmp-01}
`

func TestDefaultsAreFilledIn(t *testing.T) {
	s, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Parse([]byte(small))
	n := s.Nodes[1]
	if n.Zone != "nova" || n.VCPUs == 0 || !strings.HasPrefix(n.Name, "kaas-node-") || n.Name != again.Nodes[1].Name ||
		n.Name == s.Nodes[0].Name {
		t.Errorf("compute: %+v", n)
	}
	if got := s.Workers(); len(got) != 1 || got[0] != n.Name {
		t.Errorf("workers: %v", got)
	}
	if s.Instances[0].Status != "ACTIVE" || s.Update.Scope != "os" || s.History.StartAt != StartOperator {
		t.Errorf("defaults: %+v %+v %+v", s.Instances[0], s.Update, s.History)
	}
}

func TestWrongScenariosSayWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"unknown field":       {"title:", "titel:", "line 3: titel: there is no such field; did you mean title?"},
		"unknown inner field": {"host: cmp-01", "hots: cmp-01", "line 13: instances[0].hots: there is no such field; did you mean host?"},
		"field twice":         {"projects: [p]", "projects: [p]\ncluster: a\ncluster: b", "line 9: cluster: is there twice, first in line 8"},
		"no such role": {"[compute]", "[compte]",
			`line 11: nodes[1].roles[0]: node cmp-01: role "compte": want one of [master controller compute gateway storage vrouter]; did you ` +
				`mean compute?`},
		"no such host":         {"host: cmp-01", "host: cmp-09", `line 13: instances[0].host: instance a: host "cmp-09" is not a compute`},
		"no such project":      {"project: p,", "project: q,", `line 13: instances[0].project: instance a: there is no project "q"`},
		"no such flavor":       {"flavor: f,", "flavor: g,", `line 13: instances[0].flavor: instance a: there is no flavor "g"`},
		"no such status":       {"name: a,", "name: a, status: RUNNING,", `line 13: instances[0].status: instance a: status "RUNNING"`},
		"no such action":       {"name: a,", "name: a, actions: [reboot],", `line 13: instances[0].actions[0]: instance a: action "reboot"`},
		"no such power":        {"name: a,", "name: a, power: running mad,", "line 13: instances[0].power"},
		"failure too late":     {"name: a,", "name: a, failCold: {at: 2},", "line 13: instances[0].failCold.at"},
		"resized from nowhere": {"name: a,", "name: a, status: VERIFY_RESIZE,", "line 13: instances[0].cameFrom: instance a: is missing"},
		"no such scope":        {"projects:", "update: {scope: all}\nprojects:", `line 7: update.scope: is "all"`},
		"order of strangers":   {"projects:", "update: {order: [cmp-02]}\nprojects:", `line 7: update.order[0]: there is no node "cmp-02"`},
		"order without one":    {"projects:", "update: {order: [ctl-01]}\nprojects:", "line 7: update.order: leaves out the worker cmp-01"},
		"order with one twice": {"projects:", "update: {order: [cmp-01, cmp-01]}\nprojects:", "line 7: update.order[1]: cmp-01 is there twice"},
		"no such start":        {"projects:", "history: {startAt: end}\nprojects:", "line 7: history.startAt"},
		"start without past":   {"projects:", "history: {startAt: workers}\nprojects:", "line 7: history.begun: is missing"},
		"master not done": {"projects:", "history: {startAt: workers, begun: 2h, released: 1h}\nprojects:",
			"nodes[0].done: node ctl-01 is a master that is not done"},
		"done before it began": {"roles: [compute]", "roles: [compute], done: 5m", "line 11: nodes[1]: cmp-01 is done or began"},
		"not a duration":       {"projects:", "history: {begun: soon}\nprojects:", `line 7: history.begun: duration "soon"`},
		"duration as number": {"projects:", "history: {begun: 5}\nprojects:",
			"line 7: history.begun: a duration is a text such as 1h12m, not 5"},
		"number as text":   {"vcpus: 1", "vcpus: one", `line 8: flavors[0].vcpus: is "one": want a whole number`},
		"text as number":   {`from: "1"`, "from: 1.10", `line 4: release.from: is "1.10": want a text: put it in quotes, "1.10"`},
		"list as text":     {"name: small", "name: [small]", "line 2: name: is a list: want a text"},
		"text as list":     {"projects: [p]", "projects: p", `line 7: projects: is "p": want a list`},
		"mapping as list":  {"nodes:\n", "nodes: {}\nx:\n", "line 9: nodes: is a mapping: want a list"},
		"text as truth":    {"name: a,", "name: a, localDisk: perhaps,", `line 13: instances[0].localDisk: is "perhaps": want true or false`},
		"negative seed":    {"projects:", "seed: -1\nprojects:", "line 7: seed"},
		"alias":            {"projects: [p]", "projects: &x [p]", "line 7: projects: anchors and aliases"},
		"twice":            {"machine: ctl-01", "machine: cmp-01", "line 11: nodes[1].machine: node cmp-01 is there twice"},
		"same kubelet":     {"to: v2", "to: v1", "line 5: kubelet: from and to"},
		"no name":          {"name: small", "seed: 1", "line 2: name: is missing"},
		"not YAML":         {"name: small", "name: [", "did not find"},
		"a tab":            {"projects:", "\tprojects:", "line 7: "},
		"another document": {"projects:", "---\nprojects:", "line 7: a second document begins"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(small, c.old, c.new, 1)
			if text == small {
				t.Fatal("the test changes nothing")
			}
			_, err := Parse([]byte(text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
}

func TestLoadReadsFilesAndNamesWhatThereIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Load(file); err != nil || s.Name != "small" {
		t.Errorf("load a file: %v", err)
	}
	for name, want := range map[string]string{"manual-node": "did you mean manual-nodes?", "Manual-Nodes": "did you mean manual-nodes?",
		"nonsense": "--list"} {
		if _, err := Load(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("an unknown name: %v; want %q", err, want)
		}
	}
	if _, err := Load("missing.yaml"); err == nil {
		t.Error("a missing file loads")
	}
}

func TestPowerStateAndTags(t *testing.T) {
	in := Instance{Power: "running", Actions: []string{"notify"}, Tags: []string{"x"}}
	if n, ok := in.PowerState(); !ok || n != 1 {
		t.Errorf("power state %d %v", n, ok)
	}
	if _, ok := (Instance{}).PowerState(); ok {
		t.Error("an instance without a power state has one")
	}
	if got := strings.Join(in.AllTags(), " "); got != "openstack.lcm.mirantis.com:maintenance_action=notify x" {
		t.Errorf("tags %q", got)
	}
	if Duration(90*time.Second).Of() != 90*time.Second {
		t.Error("a duration is not what it was made from")
	}
}

func TestOnlyTheFirstProblemsAreTold(t *testing.T) {
	text := small + strings.Repeat("- {name: b, project: p, flavor: f, host: nowhere}\n", 100)
	_, err := Parse([]byte(text))
	if err == nil || strings.Count(err.Error(), "\n") != shownProblems || !strings.Contains(err.Error(), "and 187 more") {
		t.Errorf("error %v", err)
	}
}

func TestALargeForeignFileIsRefusedWithoutReadingItAsYAML(t *testing.T) {
	lane.Single(t)
	for what, line := range map[string]string{"log": "E1121 19:30:00.000000 1 controller.go:42: went wrong\n", "table": "1,2,3,4,5,6,7,8\n",
		"words": "a b c d e f "} {
		text := []byte(strings.Repeat(line, maxSize/2/len(line)))
		if allocs := testing.AllocsPerRun(1, func() {
			if _, err := Parse(text); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
				t.Errorf("%s: error %v", what, err)
			}
		}); allocs > 10000 {
			t.Errorf("%s: %v allocations", what, allocs)
		}
	}
	if _, err := Parse(make([]byte, maxSize+1)); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("error %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("name: &a [*a, *a]\n"))
	f.Add([]byte("fleet: {nodes: 3}\nnodes:\n- "))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Parse(raw)
		if (s == nil) == (err == nil) {
			t.Errorf("scenario %v, error %v", s, err)
		}
	})
}
