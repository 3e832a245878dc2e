package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// ACTIVE may be written only of an instance of which it is true: in ERROR, with its guest running, at rest, on a host that
// answers.
func TestResetState(t *testing.T) {
	cases := []struct {
		name   string
		change func(sc scene, in *Instance)
		fails  []GuardID
	}{
		{"in error, its guest runs", func(scene, *Instance) {}, nil},
		{"active", func(_ scene, in *Instance) { in.Status, in.VMState = "ACTIVE", "active" }, []GuardID{"status"}},
		{"never built", func(_ scene, in *Instance) { in.Power = PowerNoState }, []GuardID{"runs"}},
		{"crashed", func(_ scene, in *Instance) { in.Power = PowerCrashed }, []GuardID{"runs"}},
		{"busy", func(_ scene, in *Instance) { in.TaskState = "deleting" }, []GuardID{"no-task"}},
		{"on no host", func(_ scene, in *Instance) { in.Host = "" }, []GuardID{"on-host"}},
		{"its host does not answer", func(sc scene, _ *Instance) { sc.Services["cmp-01"].Up = false }, []GuardID{"compute-up"}},
	}
	for _, tc := range cases {
		sc := healthy()
		in := sc.status("web-1", "ERROR", "error")
		tc.change(sc, in)
		st := Plan(sc.Snapshot, sc.asked("web-1", IntentResetState))
		if got := failing(st); !slices.Equal(got, tc.fails) {
			t.Errorf("%s: failing %q, want %q", tc.name, got, tc.fails)
		}
	}
	sc := healthy()
	sc.status("web-1", "ERROR", "error")
	st := Plan(sc.Snapshot, sc.asked("web-1", IntentResetState))
	if st.Risk != RiskHigh || st.Type != "web-1" || st.Title != "reset web-1 to ACTIVE" ||
		!slices.Equal(st.Commands, []string{"openstack server set --state active " + web1}) || !strings.HasSuffix(st.Undo, "openstack server set --state error "+web1) {
		t.Errorf("%+v", st)
	}
}

func TestShelveAndUnshelve(t *testing.T) {
	sc := healthy()
	if st := Plan(sc.Snapshot, sc.asked("web-1", IntentShelve)); !st.Doable() || st.Risk != RiskHigh || !slices.Equal(st.Commands, []string{"openstack server shelve " + web1}) {
		t.Errorf("shelve: %s, %q", st.Blocker(), st.Commands)
	}
	in := sc.status("web-1", "SHELVED_OFFLOADED", "shelved_offloaded")
	in.Host, in.Power = "", PowerShutdown
	st := Plan(sc.Snapshot, sc.asked("web-1", IntentUnshelve))
	if !st.Doable() || !slices.Equal(st.Commands, []string{"openstack server unshelve " + web1}) {
		t.Errorf("unshelve: %s, %q", st.Blocker(), st.Commands)
	}
	if c := st.Change.(InstanceAction); c.Host != "" || c.Status != "SHELVED_OFFLOADED" {
		t.Errorf("it rests on %+v", c)
	}
	for _, svc := range sc.Services {
		svc.Enabled = false
	}
	if st := Plan(sc.Snapshot, sc.asked("web-1", IntentUnshelve)); !slices.Equal(failing(st), []GuardID{"target"}) {
		t.Errorf("no host takes it, and only %q fails", failing(st))
	}
}

// The engine's own end of the new actions: how the cloud shows that they were done.
func TestStateActionsEnd(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for _, tc := range []struct {
			kind    IntentKind
			prepare func(in *Instance)
			text    string
		}{
			{IntentResetState, func(in *Instance) { in.Status, in.VMState = "ERROR", "error" }, "is ACTIVE on cmp-1"},
			{IntentResume, func(in *Instance) { in.Status, in.VMState, in.Power = "SUSPENDED", "suspended", PowerSuspended }, "is ACTIVE on cmp-1"},
			{IntentShelve, func(*Instance) {}, "is SHELVED_OFFLOADED, on no host"},
			{IntentUnshelve, func(in *Instance) {
				in.Status, in.VMState, in.Power, in.Host = "SHELVED_OFFLOADED", "shelved_offloaded", PowerShutdown, ""
			}, "is ACTIVE on cmp-2"},
		} {
			cloud := newTestCloud()
			tc.prepare(cloud.instances["id-web-1"])
			b := newBench(t, t.TempDir(), cloud)
			b.arm()
			id, err := b.confirm(Intent{Kind: tc.kind, Instance: "id-web-1"})
			if err != nil {
				t.Errorf("%s: %v", tc.kind, err)
				b.end()
				continue
			}
			if op := b.awaitEnd(id); op.State != OperationDone || op.Text != tc.text {
				t.Errorf("%s ended as %s: %q, want %q", tc.kind, op.State, op.Text, tc.text)
			}
			b.end()
		}
	})
}

// Whom the operator has to ask is said, and that Lockstep unlocks nothing.
func TestLockedInstanceSaysWhomToAsk(t *testing.T) {
	sc := healthy()
	sc.named("web-1").Locked = true
	if st := Plan(sc.Snapshot, sc.asked("web-1", IntentStop)); !strings.Contains(st.Why, "It is locked: ask its owner first (project shop)") {
		t.Errorf("why %q", st.Why)
	}
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureInstance, Subject: web1})
	if got := outline(p); got[0] != "waiting: tell the owners of web-1 | 1 project; enter lists whom to tell" {
		t.Errorf("steps %q", got)
	}
}

// Without room no further try comes first, the hosts that could have taken it are told, and what an operator disabled is
// offered to be enabled.
func TestWithoutRoomMakingItComesFirst(t *testing.T) {
	sc := healthy()
	sc.maintained("cmp-01", "Some servers are still present on the host.")
	in := sc.named("web-1")
	in.Flavor = Flavor{Name: "huge", VCPUs: 16, RAMMiB: 96 << 10}
	sc.Services["cmp-02"].Enabled, sc.Services["cmp-02"].DisabledReason = false, "a dead fan"
	old := sc.instance("cmp-03", "old-ci")
	old.Status, old.VMState, old.Flavor = "SHUTOFF", "stopped", Flavor{VCPUs: 2, RAMMiB: 4096}
	first := sc.migration(in, "error", "", 9*time.Minute)
	second := sc.migration(in, "error", "", 6*time.Minute)
	third := sc.migration(in, "error", "", time.Minute)
	for _, m := range []*Migration{first, second, third} {
		m.Failure = "No valid host was found. There are not enough hosts available."
	}
	third.Failure = "" // its reason has not been found yet
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
	got := outline(p)[1:4]
	want := []string{"waiting: make room for web-1 | other hosts of its zone: 1 full or unfit, 1 disabled", "ready: enable nova-compute of cmp-02",
		"ready: stop web-1 | live migration failed 3 times: No valid host was found. There are not enough hosts available / tag-poweroff / shelve / live-migrate / cold-migrate"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	for _, text := range []string{"no host for web-1 (16 vCPU, 96 GiB) in zone nova", "cmp-03 (2 instances take 2 vCPU, 4 GiB; 1 of them stopped)", "Disabled: cmp-02 (a dead fan)",
		"a stopped one keeps its place"} {
		if !strings.Contains(p.Steps[1].Why, text) {
			t.Errorf("%q does not say %q", p.Steps[1].Why, text)
		}
	}
	own, _ := sc.Procedure(ProcedureKey{Kind: ProcedureInstance, Subject: web1})
	if got := outline(own); !strings.HasPrefix(got[0], "waiting: make room") || !strings.HasPrefix(got[2], "ready: stop web-1") || !strings.HasPrefix(got[5], "ready: live-migrate") {
		t.Errorf("on the instance's page: %q", got)
	}
	for _, a := range sc.again().Attention() {
		if a.Instance == web1 && !a.Since.At.Equal(later(second.Created, second.Updated)) {
			t.Errorf("%s is told since %s: a further try that fails makes it no younger", a.ID, a.Since.At)
		}
	}
}

// A lock that none of MOSK's own controllers holds says whom to ask, and what.
func TestForeignLockSaysWhomToAsk(t *testing.T) {
	sc := healthy()
	sc.maintained("cmp-01", "")
	failed := sc.lock("cmp-01", "backup-agent", LockFailed)
	failed.Message = "Detach of volume backup-cmp-01 failed: device is busy"
	sc.lock("cmp-01", "license-guard", LockActive)
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
	for controller, want := range map[string]string{
		"backup-agent":  "backup-agent is none of MOSK's own controllers: ask whoever runs it in this cluster. Ask what failed, to have it mended",
		"license-guard": "license-guard is none of MOSK's own controllers: ask whoever runs it in this cluster whether it is at work: it says nothing.",
	} {
		i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.Title == "the lock of "+controller+" is released" })
		if i < 0 || !strings.Contains(p.Steps[i].Why, want) || len(p.Steps[i].Commands) != 2 {
			t.Errorf("%s: %q", controller, outline(p))
			continue
		}
	}
	sc.Settings.ActAs = []ActAs{{Controller: "license-guard"}}
	if text := sc.AskAbout(sc.NodeLock("cmp-01", "license-guard")); text != "" {
		t.Errorf("of a controller that Lockstep plays it says %q", text)
	}
	if text := sc.AskAbout(sc.NodeLock("cmp-01", ControllerOpenStack)); text != "" {
		t.Errorf("of the OpenStack controller's lock it says %q", text)
	}
}

// A lock of a controller that Lockstep plays is a step of the operator's, and not one that somebody else is waited for.
func TestAPlayedLockIsNobodyElsesStep(t *testing.T) {
	titles := func(sc scene) (all []string) {
		p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureCluster})
		for _, st := range p.Steps {
			all = append(all, st.Title)
		}
		return all
	}
	const theirs, ours = "the cluster lock of openstack is released", "release the lock on the cluster"
	sc := inMaintenance()
	if got := titles(sc); !slices.Contains(got, theirs) || slices.Contains(got, ours) {
		t.Errorf("beside the controller the steps are %q", got)
	}
	sc = inMaintenance()
	sc.Settings.ActAs = []ActAs{{Controller: ControllerOpenStack}}
	if got := titles(sc); slices.Contains(got, theirs) || !slices.Contains(got, ours) {
		t.Errorf("in the controller's place the steps are %q", got)
	}
}

// What waits for the operator does not move.
func TestAWaitingNodeDoesNotMove(t *testing.T) {
	sc := inMaintenance()
	sc.maintained("cmp-02", "Starting migration for "+sc.named("web-2").ID)
	if u := sc.Update(); u.Waiting != 1 || u.Moving != 1 {
		t.Errorf("%d wait, %d move", u.Waiting, u.Moving)
	}
}

// The controller's next try, which fails like those before, makes the node's entry no younger.
func TestAnEntryDoesNotGrowYounger(t *testing.T) {
	since := func(tries ...time.Duration) time.Time {
		sc := healthy()
		sc.maintained("cmp-01", "Some servers are still present on the host.")
		sc.instance("cmp-01", "broken").Status = "ERROR"
		for _, d := range tries {
			sc.migration(sc.named("web-1"), "error", "", d).Failure = "No valid host was found."
		}
		sc.History.Stages["uid-cmp-01"] = StageRecord{Stage: StageEvacuating, Since: Since{At: ago(10 * time.Second), Exact: true}} // the last try has just begun
		for _, a := range sc.Attention() {
			if strings.HasPrefix(a.ID, "node-waits/") {
				return a.Since.At
			}
		}
		t.Fatal("the node does not wait")
		return time.Time{}
	}
	three := since(14*time.Minute, 12*time.Minute, 10*time.Minute)
	more := since(14*time.Minute, 12*time.Minute, 10*time.Minute, 8*time.Minute, 2*time.Minute)
	if want := ago(6 * time.Minute); !three.Equal(want) || !more.Equal(want) { // the second try, when its record was last touched
		t.Errorf("it waits since %s, and after two more tries since %s; want %s", three, more, want)
	}
}
