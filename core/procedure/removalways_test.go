package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
)

// removed is a cluster in which cmp-01 is to be removed and is empty.
func removed() scene.Scene {
	sc := scene.Healthy()
	sc.Instances, sc.ByHost = core.Instances{}, map[string][]*core.Instance{}
	sc.Deletions["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Name: "cmp-01", UID: "ndr", Created: scene.Ago(time.Hour)},
		Kind: core.KindNodeDeletionRequest, Node: "cmp-01"}
	return sc
}

// Shows what takes an instance off a node that is to be removed, by the instance's status and by whether its host is alive. Where
// Lockstep has no step, it says what a person has to do, and never to stop the instance.
func TestWhatTakesAnInstanceOffARemovedNode(t *testing.T) {
	const dead = true
	for _, tc := range []struct {
		status  string
		power   core.PowerState
		dead    bool
		want    []core.IntentKind // the step and its alternatives; none: only advice
		blocked string
		says    string // of the status
		command string // of the advice, without the ID
	}{
		{"ACTIVE", core.PowerRunning, !dead, []core.IntentKind{core.IntentLiveMigrate, core.IntentColdMigrate, core.IntentShelve}, "",
			"holds the removal of its node: it is ACTIVE", ""},
		{"SHUTOFF", core.PowerShutdown, !dead, []core.IntentKind{core.IntentColdMigrate, core.IntentShelve}, "", "it is SHUTOFF", ""},
		{"SUSPENDED", core.PowerSuspended, !dead, []core.IntentKind{core.IntentResume, core.IntentShelve}, "", "it is SUSPENDED", ""},
		{"ERROR", core.PowerRunning, !dead, []core.IntentKind{core.IntentResetState}, "", "it is ERROR", ""},
		{"ERROR", core.PowerNoState, !dead, nil, "", "its owner rebuilds it, and it can be migrated then", "openstack server rebuild "},
		{"RESCUE", core.PowerRunning, !dead, nil, "", "end its rescue first", "openstack server unrescue "},
		{"SHELVED", core.PowerShutdown, !dead, nil, "", "take it off its host", "openstack server shelve --offload "},
		{"UNHEARD_OF", core.PowerRunning, !dead, nil, "", "wait until Nova is done with it", ""},
		{"ACTIVE", core.PowerRunning, dead, []core.IntentKind{core.IntentEvacuate}, "", "nova-compute of its host is down", ""},
		{"SHUTOFF", core.PowerShutdown, dead, []core.IntentKind{core.IntentEvacuate}, "", "nova-compute of its host is down", ""},
		{"ERROR", core.PowerRunning, dead, []core.IntentKind{core.IntentEvacuate}, "", "nova-compute of its host is down", ""},
		{"PAUSED", core.PowerPaused, dead, nil, "", "Nova evacuates what is ACTIVE, SHUTOFF, ERROR", "openstack server set --state error "},
		{"SUSPENDED", core.PowerSuspended, dead, nil, "", "written down as ERROR it can be evacuated", "openstack server set --state error "},
	} {
		sc := removed()
		in := sc.Instance("cmp-01", "db")
		in.Status, in.Power = tc.status, tc.power
		if tc.dead {
			sc.Dies("cmp-01")
		}
		p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
		i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Target.UID == in.ID })
		if i < 0 {
			t.Fatalf("%s: nothing is said of it: %q", tc.status, scene.Outline(p))
		}
		st := p.Steps[i]
		var got []core.IntentKind
		if st.Intent.Kind != "" {
			got = append(got, st.Intent.Kind)
		}
		for _, a := range st.Alternatives {
			got = append(got, a.Intent.Kind)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s, dead %t: offered are %q, want %q", tc.status, tc.dead, got, tc.want)
		}
		if len(tc.want) > 0 && !st.Doable() {
			t.Errorf("%s, dead %t: %s is blocked: %s", tc.status, tc.dead, st.Title, st.Blocker())
		}
		if !strings.Contains(st.Status, tc.says) {
			t.Errorf("%s, dead %t: it says %q, want %q", tc.status, tc.dead, st.Status, tc.says)
		}
		if tc.command != "" && !slices.Equal(st.Commands, []string{tc.command + in.ID}) {
			t.Errorf("%s, dead %t: commands %q", tc.status, tc.dead, st.Commands)
		}
		if text := st.Status + st.Why + st.Title; strings.Contains(text, "stop it") || strings.Contains(text, "live-migrates it") {
			t.Errorf("%s, dead %t: what is no help is said: %q", tc.status, tc.dead, text)
		}
	}
}

// A batch of live migrations does not help on a host that is down.
func TestNoBatchOffADeadHost(t *testing.T) {
	for _, up := range []bool{true, false} {
		sc := removed()
		sc.Instance("cmp-01", "a")
		sc.Instance("cmp-01", "b")
		sc.Services["cmp-01"].Up = up
		p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
		has := slices.ContainsFunc(p.Steps, func(st core.Step) bool { return st.Intent.Kind == core.IntentLiveMigrateAll })
		if has != up {
			t.Errorf("nova-compute up %t: the batch is offered: %t", up, has)
		}
	}
}

// A node on its way out of the cluster is neither rebooted nor put into maintenance mode.
func TestANodeOnItsWayOutIsNotRebooted(t *testing.T) {
	offered := func(sc scene.Scene) bool {
		p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
		return slices.ContainsFunc(p.Steps, func(st core.Step) bool {
			return st.Intent.Kind == core.IntentReboot || st.Intent.Kind == core.IntentEnterMachine
		})
	}
	if !offered(scene.Resting().Join()) {
		t.Fatal("it is never offered")
	}
	for name, leave := range map[string]func(m *scene.Managed){
		"a NodeDeletionRequest": func(m *scene.Managed) {
			m.Deletions["cmp-01"] = &core.NodeNotice{Kind: core.KindNodeDeletionRequest, Node: "cmp-01"}
		},
		"its Machine is deleted": func(m *scene.Managed) { m.Machines["cmp-01"].Deleting = scene.Noon },
	} {
		m := scene.Resting()
		leave(m)
		sc := m.Join()
		for _, i := range []core.Intent{{Kind: core.IntentReboot, Nodes: []string{"cmp-01"}}, {Kind: core.IntentEnterMachine, Node: "cmp-01"}} {
			if got := scene.Failing(step.Plan(sc.Snapshot, i)); !slices.Contains(got, "stays") {
				t.Errorf("%s: %s is held by %q only", name, i.Kind, got)
			}
		}
		if offered(sc) {
			t.Errorf("%s: offered all the same", name)
		}
	}
}
