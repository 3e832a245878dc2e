package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
	"pgregory.net/rapid"
)

// handedOver is the same node after its release: every lock is inactive, and LCM has the node.
func handedOver(change func(n *core.Node, sc scene.Scene)) scene.Scene {
	sc := scene.Emptied()
	sc.Mode("cmp-01", core.ModeSkip)
	sc.Changed("cmp-01", "manual", "skip")
	sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
	sc.NodeLock("cmp-01", core.ControllerOpenStack).Message = ""
	n := sc.Nodes["cmp-01"]
	n.Cordoned = true
	sc.Pods["cmp-01"] = &core.NodePods{Node: "cmp-01", Total: 40, Evictable: 12}
	change(n, sc)
	return sc
}

// The procedure of a node is the documents' (docs/mosk.md#manual-migration, #life-of-a-node), at every point of its life.
func TestNodeProcedureAtEveryPoint(t *testing.T) {
	const (
		asked  = "done: LCM asks for cmp-01 | since 11:40, scope os"
		drain  = "later: LCM drains the node"
		update = "later: LCM updates the node"
		back   = "later: the node returns to service"
	)
	cases := []struct {
		name string
		make func() scene.Scene
		want []string
	}{
		{"manual, instances of all kinds in the way", func() scene.Scene {
			sc := scene.InMaintenance()
			sc.Instance("cmp-01", "batch-17", "notify")
			sc.Instance("cmp-01", "db-2")
			sc.Instance("cmp-01", "err-1")
			sc.Status("err-1", "ERROR", "error")
			sc.Instance("cmp-01", "mv-1")
			sc.Migrates("mv-1")
			sc.Instance("cmp-01", "pau-1")
			sc.Status("pau-1", "PAUSED", "paused").Power = core.PowerPaused
			sc.Instance("cmp-01", "res-1")
			sc.Status("res-1", "RESCUE", "rescued")
			sc.Instance("cmp-01", "rs-1")
			sc.CameFrom("rs-1", "cmp-02")
			sc.Lock("cmp-01", core.ControllerCeph, core.LockInactive)
			return sc
		}, []string{asked, "waiting: tell the owners of 8 instances | 1 project; enter lists whom to tell",
			"ready: live-migrate 3 instances from cmp-01 | 3 instances to move, 5 left out",
			"ready: live-migrate batch-17 | notify: its owner decides (project shop) / cold-migrate / stop / shelve / tag-poweroff",
			"ready: live-migrate db-2 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff",
			"ready: reset err-1 to ACTIVE | runs, and cannot be live-migrated: status ERROR — stop it, or reset its state and then migrate it / " +
				"stop",
			"waiting: wait for the migration of mv-1 | 81 %, to cmp-02 / abort-migration / force-complete",
			"ready: live-migrate pau-1 | manual: the operator moves it / shelve / tag-poweroff",
			"waiting: get res-1 out of the way | RESCUE — end its rescue first",
			"ready: confirm the migration of rs-1 | waits for a decision: confirm or revert its migration (VERIFY_RESIZE) / revert-resize",
			"ready: live-migrate web-1 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff",
			"blocked: declare cmp-01 safe",
			"later: the OpenStack controller releases its lock | Some servers are still present on the host.",
			"done: the lock of ceph is released",
			drain, update, back}},
		{"manual, nothing in the way any more", scene.Emptied,
			[]string{asked, "done: no running instance is left | safe: web-1", "ready: declare cmp-01 safe",
				"waiting: the OpenStack controller releases its lock | at its next look, within 60 s", drain, update, back}},
		{"cold-migrated away, and not confirmed", func() scene.Scene {
			sc := scene.InMaintenance()
			in := sc.Status("web-1", "VERIFY_RESIZE", "resized")
			m := sc.Migration(in, "finished", "cmp-02", time.Minute)
			m.Type = core.MigrationCold
			in.Host, sc.ByHost["cmp-01"], sc.ByHost["cmp-02"] = "cmp-02", nil, append(sc.ByHost["cmp-02"], in)
			return sc
		}, []string{asked, "ready: confirm the migration of web-1 | is on cmp-02 now; cmp-01 keeps its place / revert-resize",
			"done: no running instance is left | the host is empty", "ready: declare cmp-01 safe",
			"waiting: the OpenStack controller releases its lock | at its next look, within 60 s", drain, update, back}},
		{"declared safe", func() scene.Scene {
			sc := scene.Emptied()
			sc.Mode("cmp-01", core.ModeSkip)
			sc.Changed("cmp-01", "manual", "skip")
			return sc
		}, []string{asked,
			"done: no running instance is left | safe: web-1", "done: declare cmp-01 safe | the node shows instance_migration_mode=skip",
			"waiting: the OpenStack controller releases its lock | at its next look, within 60 s", drain, update, back,
			"later: give cmp-01 its migration mode back | when the node is back"}},
		{"live, the controller moves them", func() scene.Scene {
			sc := scene.Healthy()
			sc.Maintained("cmp-01", "Waiting servers migration is completed: ['"+scene.Web1+"']")
			sc.Migrates("web-1")
			return sc
		}, []string{asked, "waiting: the OpenStack controller moves the instances | 1 left",
			"waiting: wait for the migration of web-1 | 81 %, to cmp-02 / abort-migration / force-complete",
			"waiting: the OpenStack controller releases its lock | Waiting servers migration is completed: ['" + scene.Web1 + "']", drain, update,
			back}},
		{"live, the controller has given up", func() scene.Scene {
			sc := scene.Healthy()
			sc.Maintained("cmp-01", "Some servers are still present on the host.")
			sc.Migration(sc.Named("web-1"), "error", "", time.Minute).Failure = "No valid host was found."
			return sc
		}, []string{asked, "waiting: make room for web-1 | other hosts of its zone: 2 full or unfit",
			"ready: stop web-1 | live migration failed once: No valid host was found / tag-poweroff / shelve / live-migrate / cold-migrate",
			"blocked: declare cmp-01 safe",
			"later: the OpenStack controller releases its lock | Some servers are still present on the host.", drain, update, back}},
		{"a mode that Rockoon does not know", func() scene.Scene {
			sc := scene.Healthy()
			sc.Mode("cmp-01", "cold")
			sc.Maintained("cmp-01", "")
			return sc
		}, []string{asked, "ready: set migration mode manual on cmp-01", "ready: set migration mode live on cmp-01",
			`ready: live-migrate web-1 | the controller does not know the node's mode "cold" / cold-migrate / stop / shelve / tag-poweroff`,
			"blocked: declare cmp-01 safe",
			"later: the OpenStack controller releases its lock", drain, update, back}},
		{"queued", func() scene.Scene {
			sc := scene.Healthy()
			sc.Maintained("cmp-01",
				"Number of inactive NodeWorkloadLocks exceeds allowed concurrency. "+
					"Deferring processing for node cmp-01").InnerState = core.InnerInactive
			return sc
		}, []string{asked, "waiting: the OpenStack controller begins | others come first", "ready: set migration mode live on cmp-01",
			"ready: set migration mode manual on cmp-01", "ready: set migration mode skip on cmp-01", "ready: set migration attempts 5 on cmp-01",
			"blocked: enable nova-compute of cmp-01",
			"waiting: the OpenStack controller releases its lock | Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring " +
				"processing for node cmp-01",
			drain, update, back}},
		{"draining", func() scene.Scene { return handedOver(func(*core.Node, scene.Scene) {}) },
			[]string{asked, "done: the instances are out of the way", "done: the OpenStack controller releases its lock",
				"waiting: LCM drains the node | 12 pods left", update, back, "later: give cmp-01 its migration mode back | when the node is back"}},
		{"rebooting", func() scene.Scene {
			return handedOver(func(n *core.Node, _ scene.Scene) {
				n.Ready, n.ReadySince, n.ReadyReason = "Unknown", scene.Ago(time.Minute), "NodeStatusUnknown"
			})
		}, []string{asked, "done: the instances are out of the way", "done: the OpenStack controller releases its lock",
			"done: LCM drains the node", "waiting: LCM updates the node | not Ready (NodeStatusUnknown)", back,
			"later: give cmp-01 its migration mode back | when the node is back"}},
		{"returning", func() scene.Scene {
			return handedOver(func(n *core.Node, sc scene.Scene) {
				n.Cordoned, sc.NodeRequest("cmp-01").Deleting = false, scene.Ago(time.Minute)
				sc.Services["cmp-01"].Up = false
			})
		}, []string{asked, "done: the OpenStack controller releases its lock", "done: LCM drains the node", "done: LCM updates the node",
			"waiting: the node returns to service | nova-compute down", "later: give cmp-01 its migration mode back | when the node is back"}},
		{"done, with the annotation to give back", func() scene.Scene {
			return handedOver(func(n *core.Node, sc scene.Scene) {
				n.Cordoned = false
				delete(sc.NodeRequests, "cmp-01")
				l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
				l.RawState, l.InnerState = core.LockActive, core.InnerInactive
				sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
				sc.History.Rounds["uid-cmp-01"] = core.Round{Request: "nmr-cmp-01", Update: "cmr", Started: scene.Ago(time.Hour),
					Ended: scene.Ago(time.Minute)}
			})
		}, []string{"done: cmp-01 went through its maintenance | 11:59", "ready: give cmp-01 its migration mode back",
			"ready: disable nova-compute of cmp-01"}},
		{"before the update", func() scene.Scene { sc := scene.Healthy(); sc.Mode("cmp-01", core.ModeManual); return sc },
			[]string{"ready: set migration mode live on cmp-01",
				"done: set migration mode manual on cmp-01 | the node shows instance_migration_mode=manual", "ready: set migration mode skip on cmp-01",
				"ready: set migration attempts 5 on cmp-01", "ready: disable nova-compute of cmp-01",
				"waiting: tell the owners of web-1 | 1 project; enter lists whom to tell",
				"ready: live-migrate web-1 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff",
				"later: LCM asks for cmp-01 | no update runs"}},
		{"manual, during the update and before its turn", func() scene.Scene {
			sc := scene.Healthy()
			sc.Update(time.Hour)
			sc.Mode("cmp-01", core.ModeManual)
			sc.Instance("cmp-01", "batch-17", "notify")
			sc.Instance("cmp-01", "db-2")
			sc.Instance("cmp-01", "moves", "live_migrate")
			return sc
		}, []string{"waiting: tell the owners of 3 instances | 1 project; enter lists whom to tell",
			"ready: live-migrate 3 instances from cmp-01 | 3 instances to move, 1 left out",
			"ready: live-migrate batch-17 | notify: its owner decides (project shop) / cold-migrate / stop / shelve / tag-poweroff",
			"ready: live-migrate db-2 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff",
			"ready: live-migrate web-1 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff",
			"ready: set migration mode live on cmp-01", "done: set migration mode manual on cmp-01 | the node shows instance_migration_mode=manual",
			"ready: set migration mode skip on cmp-01", "ready: set migration attempts 5 on cmp-01", "ready: disable nova-compute of cmp-01",
			"waiting: LCM asks for cmp-01 | an update runs; its turn has not come"}},
		{"scope drain", func() scene.Scene {
			sc := scene.InMaintenance()
			sc.NodeRequest("cmp-01").Scope = core.ScopeDrain
			return sc
		}, []string{"done: LCM asks for cmp-01 | since 11:40, scope drain",
			"done: no instance has to move", "waiting: the OpenStack controller releases its lock | at its next look, within 60 s", drain, update,
			back}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := tc.make()
			p, ok := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
			if !ok {
				t.Fatal("there is no procedure")
			}
			if got := scene.Outline(p); !slices.Equal(got, tc.want) {
				t.Errorf("stage %s; got\n\t%s\nwant\n\t%s", stageOf(sc, "cmp-01"), strings.Join(got, "\n\t"), strings.Join(tc.want, "\n\t"))
			}
		})
	}
}

func stageOf(sc scene.Scene, node string) core.Stage {
	v, _ := progress.NodeView(sc.Snapshot, node)
	return v.Stage
}

// Lockstep's own migration shows as its own step, with the same ID before, during and after.
func TestOwnMigrationKeepsItsPlaceInTheProcedure(t *testing.T) {
	key := core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"}
	sc := scene.InMaintenance()
	find := func(sc scene.Scene) core.Step {
		p, _ := Of(sc.Snapshot, key)
		i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.ID == "live-migrate/"+scene.Web1 })
		if i < 0 {
			t.Fatalf("web-1 has no step: %q", scene.Outline(p))
		}
		return p.Steps[i]
	}
	if st := find(sc); st.State != core.StepReady {
		t.Errorf("before: %s", st.State)
	}
	sc.Migrates("web-1")
	sc.Doing(core.Operation{Step: "live-migrate/" + scene.Web1, Intent: core.Intent{Kind: core.IntentLiveMigrate}, Node: "cmp-01",
		Instance: scene.Web1,
		Text:     "running"})
	if st := find(sc.Again()); st.State != core.StepRunning || st.Status != "81 %, to cmp-02" || len(st.Alternatives) != 2 ||
		!st.Alternatives[0].Doable() {
		t.Errorf("during: %s, %q, %d alternatives", st.State, st.Status, len(st.Alternatives))
	}
}

// While a batch runs, its step stays and shows its progress.
func TestRunningBatchStaysInTheProcedure(t *testing.T) {
	sc := scene.InMaintenance()
	sc.Doing(core.Operation{Step: "live-migrate-all/uid-cmp-01", Intent: core.Intent{Kind: core.IntentLiveMigrateAll},
		Title: "live-migrate 2 instances from cmp-01", Node: "cmp-01", Items: []core.OperationItem{
			{Instance: "gone-1", State: core.OperationDone}, {Instance: scene.Web1, State: core.OperationQueued}}})
	p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	if want := "running: live-migrate 2 instances from cmp-01 | 1 of 2 done"; !slices.Contains(scene.Outline(p), want) {
		t.Errorf("got\n\t%s\nwant among it\n\t%s", strings.Join(scene.Outline(p), "\n\t"), want)
	}
}

// The owner's word is shown where the decision is made.
func TestNotifyTaggedInstanceSaysThatItsOwnerDecides(t *testing.T) {
	sc := scene.InMaintenance()
	id := sc.Instance("cmp-01", "batch-17", "notify").ID
	p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.ID == "live-migrate/"+id })
	if i < 0 || !strings.Contains(p.Steps[i].Why, "the owner decides") {
		t.Errorf("nothing is said of its owner: %q", scene.Outline(p))
	}
}

// Every step that fits an instance is offered, and no other.
func TestInstanceProcedureOffersWhatFits(t *testing.T) {
	cases := []struct {
		status, vm string
		want       []core.IntentKind
	}{
		{"ACTIVE", "active", []core.IntentKind{core.IntentLiveMigrate, core.IntentColdMigrate, core.IntentStop, core.IntentShelve,
			core.IntentTagPowerOff}},
		{"PAUSED", "paused", []core.IntentKind{core.IntentLiveMigrate, core.IntentShelve, core.IntentTagPowerOff}},
		{"SHUTOFF", "stopped", []core.IntentKind{core.IntentColdMigrate, core.IntentStart, core.IntentShelve, core.IntentTagPowerOff}},
		{"SUSPENDED", "suspended", []core.IntentKind{core.IntentResume, core.IntentShelve, core.IntentTagPowerOff}},
		{"SHELVED", "shelved", []core.IntentKind{core.IntentUnshelve}},
		{"SHELVED_OFFLOADED", "shelved_offloaded", []core.IntentKind{core.IntentUnshelve}},
		{"ERROR", "error", []core.IntentKind{core.IntentResetState, core.IntentStop}},
		{"VERIFY_RESIZE", "resized", []core.IntentKind{core.IntentConfirmResize, core.IntentRevertResize}},
		{"RESCUE", "rescued", []core.IntentKind{""}},
		{"UNHEARD_OF", "odd", []core.IntentKind{""}},
	}
	for _, tc := range cases {
		sc := scene.Healthy()
		sc.Status("web-1", tc.status, tc.vm)
		p, ok := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureInstance, Subject: scene.Web1})
		var got []core.IntentKind
		for _, st := range p.Steps {
			got = append(got, st.Intent.Kind)
		}
		if !ok || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.status, got, tc.want)
		}
	}
	sc := scene.Healthy()
	sc.Migrates("web-1")
	p, _ := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureInstance, Subject: scene.Web1})
	want := []string{"waiting: wait for the migration of web-1 | 81 %, to cmp-02",
		"ready: abort the live migration of web-1 | 81 %, to cmp-02",
		"ready: force the live migration of web-1 | 81 %, to cmp-02"}
	if got := scene.Outline(p); !slices.Equal(got, want) {
		t.Errorf("while it migrates: %q", got)
	}
}

// A source that is down says which call failed, why, and what mends it. The name of its server selects all sources of that server.
func TestSourceProcedure(t *testing.T) {
	sc := scene.Healthy()
	src := sc.Sources[core.SourceInstances]
	src.State, src.AsOf, src.Next = core.SourceFailed, scene.Ago(3*time.Minute), scene.Noon.Add(8*time.Second)
	src.Err = &core.APIError{Kind: core.ErrUnauthorized, Server: core.ServerOpenStack, Call: "list instances",
		Message: "The request you have made requires authentication.", Remedy: "check the password in clouds.yaml"}
	sc.Sources[core.SourceInstances] = src
	p, ok := Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureSource, Subject: "instances"})
	if !ok || len(p.Steps) != 1 {
		t.Fatalf("got %v, %q", ok, scene.Outline(p))
	}
	st := p.Steps[0]
	if st.State != core.StepWaiting || !strings.Contains(st.Status, "seen last 3 m ago") ||
		!strings.Contains(st.Status, "requires authentication") ||
		st.Why != "Check the password in clouds.yaml." || st.Then != "It is tried again in 8 s." {
		t.Errorf("%+v", st)
	}
	p, _ = Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureSource, Subject: string(core.ServerOpenStack)})
	if len(p.Steps) != 7 {
		t.Errorf("by the server's name: %q", scene.Outline(p))
	}
}

// The update as a whole waits for its locks, shown with their controllers' texts.
func TestClusterProcedure(t *testing.T) {
	sc := scene.Healthy()
	key := core.ProcedureKey{Kind: core.ProcedureCluster}
	p, _ := Of(sc.Snapshot, key)
	if got := scene.Outline(p)[1:]; len(got) < 3 || got[0] != "waiting: the update is triggered | no update runs" ||
		got[1] != "later: the cluster lock of ceph is released" && got[1] != "later: the cluster lock of openstack is released" {
		t.Errorf("before the update: %q", got)
	}
	sc.Update(2 * time.Hour)
	for _, l := range sc.ClusterLocks {
		if l.Controller == core.ControllerCeph {
			l.RawState = core.LockInactive
		} else {
			l.Message = "2026-03-14 11:59:00.000001 Waiting osdpl status APPLIED, current state is APPLYING"
		}
	}
	p, _ = Of(sc.Again().Snapshot, key)
	got := scene.Outline(p)
	for _, want := range []string{"done: the update is triggered | since 10:00", "done: the cluster lock of ceph is released",
		"waiting: the cluster lock of openstack is released | Waiting osdpl status APPLIED, current state is APPLYING"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// In any cluster, a procedure's steps have distinct IDs, and a ready step can be done.
func TestEveryProcedureKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.AnyScene(t)
		keys := []core.ProcedureKey{{Kind: core.ProcedureNode, Subject: "cmp-01"}, {Kind: core.ProcedureNode, Subject: "cmp-02"},
			{Kind: core.ProcedureNode, Subject: "gtw-01"}, {Kind: core.ProcedureNode, Subject: "ctl-01"},
			{Kind: core.ProcedureInstance, Subject: scene.Web1},
			{Kind: core.ProcedureSource, Subject: string(core.SourceInstances)}, {Kind: core.ProcedureCluster, Subject: ""}}
		for _, key := range keys {
			p, ok := Of(sc.Snapshot, key)
			if !ok || p.Key != key || p.Title == "" || p.Goal == "" || len(p.Steps) == 0 {
				t.Fatalf("%v: %v, %+v", key, ok, p)
			}
			seen := map[string]bool{}
			for _, st := range p.Steps {
				if seen[st.ID] || st.ID == "" || st.State == "" || st.Title == "" {
					t.Fatalf("%v: a step without an ID of its own, a state or a title: %+v", key, st)
				}
				seen[st.ID] = true
				if st.State == core.StepReady && !st.Doable() {
					t.Fatalf("%v: %s is ready, and cannot be done: %s", key, st.Title, st.Blocker())
				}
				if st.Change != nil && st.Intent.Kind == "" {
					t.Fatalf("%v: %s changes something, and nobody asked for it", key, st.Title)
				}
			}
		}
	})
}
