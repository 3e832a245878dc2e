package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestEveryEmbeddedScenarioLoadsUnderItsOwnName(t *testing.T) {
	names := List()
	if len(names) == 0 {
		t.Fatal("there are no scenarios")
	}
	for _, name := range names {
		s, err := Load(name)
		if err != nil {
			t.Fatalf("load %s: %v", name, err)
		}
		if s.Name != name || s.Title == "" || s.Teaches == "" {
			t.Errorf("%s: name %q, title %q, teaches %q", name, s.Name, s.Title, s.Teaches)
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
		t.Errorf("notify on a manual node %v, a migration that fails twice %v, two tags %v, %d instances", notifyOnManual, failsTwice, conflicting, len(s.Instances))
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
	if n.Zone != "nova" || n.VCPUs == 0 || !strings.HasPrefix(n.Name, "kaas-node-") || n.Name != again.Nodes[1].Name || n.Name == s.Nodes[0].Name {
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
		"unknown field":        {"title:", "titel:", "titel"},
		"no such role":         {"[compute]", "[computer]", `node cmp-01: role "computer"`},
		"no such host":         {"host: cmp-01", "host: cmp-09", `instance a: host "cmp-09" is no compute`},
		"no such project":      {"project: p,", "project: q,", `no project "q"`},
		"no such flavor":       {"flavor: f,", "flavor: g,", `no flavor "g"`},
		"no such status":       {"name: a,", "name: a, status: RUNNING,", `status "RUNNING"`},
		"no such action":       {"name: a,", "name: a, actions: [reboot],", `action "reboot"`},
		"no such power":        {"name: a,", "name: a, power: on,", "power"},
		"no such scope":        {"projects:", "update: {scope: all}\nprojects:", "update.scope"},
		"order of strangers":   {"projects:", "update: {order: [cmp-02]}\nprojects:", "cmp-02"},
		"order without one":    {"projects:", "update: {order: [ctl-01]}\nprojects:", "leaves out the worker cmp-01"},
		"no such start":        {"projects:", "history: {startAt: end}\nprojects:", "history.startAt"},
		"start without past":   {"projects:", "history: {startAt: workers}\nprojects:", "history.begun is missing"},
		"master not done":      {"projects:", "history: {startAt: workers, begun: 2h, released: 1h}\nprojects:", "master that is not done"},
		"done before it began": {"roles: [compute]", "roles: [compute], done: 5m", "done or began"},
		"not a duration":       {"projects:", "history: {begun: soon}\nprojects:", `duration "soon"`},
		"duration as number":   {"projects:", "history: {begun: 5}\nprojects:", "not 5"},
		"twice":                {"machine: ctl-01", "machine: cmp-01", "node cmp-01 is there twice"},
		"same kubelet":         {"to: v2", "to: v1", "kubelet"},
		"not YAML":             {"name: small", "name: [", "did not find"},
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
	if _, err := Load("nonsense"); err == nil || !strings.Contains(err.Error(), Default) {
		t.Errorf("an unknown name: %v; want the names that there are", err)
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
