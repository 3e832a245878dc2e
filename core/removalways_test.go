package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// removed is a cluster in which cmp-01 is to be removed, with nothing on it.
func removed() scene {
	sc := healthy()
	sc.Instances, sc.ByHost = map[string]*Instance{}, map[string][]*Instance{}
	sc.Deletions["cmp-01"] = &NodeNotice{Meta: Meta{Name: "cmp-01", UID: "ndr", Created: ago(time.Hour)}, Kind: KindNodeDeletionRequest, Node: "cmp-01"}
	return sc
}

// What takes an instance off a node that is to be removed, by its status and by whether its host is alive; where Lockstep has
// no step, what a person does, and never that it is to be stopped.
func TestWhatTakesAnInstanceOffARemovedNode(t *testing.T) {
	const dead = true
	for _, tc := range []struct {
		status  string
		power   PowerState
		dead    bool
		want    []IntentKind // the step and its alternatives; none: advice
		blocked string
		says    string // of the status
		command string // of the advice, without the ID
	}{
		{"ACTIVE", PowerRunning, !dead, []IntentKind{IntentLiveMigrate, IntentColdMigrate, IntentShelve}, "", "holds the removal of its node: it is ACTIVE", ""},
		{"SHUTOFF", PowerShutdown, !dead, []IntentKind{IntentColdMigrate, IntentShelve}, "", "it is SHUTOFF", ""},
		{"SUSPENDED", PowerSuspended, !dead, []IntentKind{IntentResume, IntentShelve}, "", "it is SUSPENDED", ""},
		{"ERROR", PowerRunning, !dead, []IntentKind{IntentResetState}, "", "it is ERROR", ""},
		{"ERROR", PowerNoState, !dead, nil, "", "its owner rebuilds it, and it can be migrated then", "openstack server rebuild "},
		{"RESCUE", PowerRunning, !dead, nil, "", "end its rescue first", "openstack server unrescue "},
		{"SHELVED", PowerShutdown, !dead, nil, "", "take it off its host", "openstack server shelve --offload "},
		{"UNHEARD_OF", PowerRunning, !dead, nil, "", "wait until Nova is done with it", ""},
		{"ACTIVE", PowerRunning, dead, []IntentKind{IntentEvacuate}, "", "nova-compute of its host is down", ""},
		{"SHUTOFF", PowerShutdown, dead, []IntentKind{IntentEvacuate}, "", "nova-compute of its host is down", ""},
		{"ERROR", PowerRunning, dead, []IntentKind{IntentEvacuate}, "", "nova-compute of its host is down", ""},
		{"PAUSED", PowerPaused, dead, nil, "", "Nova evacuates what is ACTIVE, SHUTOFF, ERROR", "openstack server set --state error "},
		{"SUSPENDED", PowerSuspended, dead, nil, "", "written down as ERROR it can be evacuated", "openstack server set --state error "},
	} {
		sc := removed()
		in := sc.instance("cmp-01", "db")
		in.Status, in.Power = tc.status, tc.power
		if tc.dead {
			sc.dies("cmp-01")
		}
		p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
		i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.Target.UID == in.ID })
		if i < 0 {
			t.Fatalf("%s: nothing is said of it: %q", tc.status, outline(p))
		}
		st := p.Steps[i]
		var got []IntentKind
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

// A batch of live migrations is no help on a host that is down.
func TestNoBatchOffADeadHost(t *testing.T) {
	for _, up := range []bool{true, false} {
		sc := removed()
		sc.instance("cmp-01", "a")
		sc.instance("cmp-01", "b")
		sc.Services["cmp-01"].Up = up
		p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
		has := slices.ContainsFunc(p.Steps, func(st Step) bool { return st.Intent.Kind == IntentLiveMigrateAll })
		if has != up {
			t.Errorf("nova-compute up %t: the batch is offered: %t", up, has)
		}
	}
}

// Nobody reboots a node, or puts it into maintenance mode, that is on its way out of the cluster.
func TestANodeOnItsWayOutIsNotRebooted(t *testing.T) {
	offered := func(sc scene) bool {
		p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
		return slices.ContainsFunc(p.Steps, func(st Step) bool { return st.Intent.Kind == IntentReboot || st.Intent.Kind == IntentEnterMachine })
	}
	if !offered(resting().join()) {
		t.Fatal("it is never offered")
	}
	for name, leave := range map[string]func(m *managed){
		"a NodeDeletionRequest": func(m *managed) {
			m.Deletions["cmp-01"] = &NodeNotice{Kind: KindNodeDeletionRequest, Node: "cmp-01"}
		},
		"its Machine is deleted": func(m *managed) { m.machines["cmp-01"].Deleting = noon },
	} {
		m := resting()
		leave(m)
		sc := m.join()
		for _, i := range []Intent{{Kind: IntentReboot, Nodes: []string{"cmp-01"}}, {Kind: IntentEnterMachine, Node: "cmp-01"}} {
			if got := failing(Plan(sc.Snapshot, i)); !slices.Contains(got, "stays") {
				t.Errorf("%s: %s is held by %q only", name, i.Kind, got)
			}
		}
		if offered(sc) {
			t.Errorf("%s: offered all the same", name)
		}
	}
}
