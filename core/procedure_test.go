package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// outline is a procedure's steps, one a line: state, title, and how it goes.
func outline(p Procedure) []string {
	var out []string
	for _, st := range p.Steps {
		line := string(st.State) + ": " + st.Title
		if st.Status != "" {
			line += " | " + st.Status
		}
		for _, a := range st.Alternatives {
			line += " / " + string(a.Intent.Kind)
		}
		out = append(out, line)
	}
	return out
}

// handedOver is the same node after its release: every lock inactive, LCM has it.
func handedOver(change func(n *Node, sc scene)) scene {
	sc := emptied()
	sc.mode("cmp-01", ModeSkip)
	sc.changed("cmp-01", "manual", "skip")
	sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockInactive
	sc.NodeLock("cmp-01", ControllerOpenStack).Message = ""
	n := sc.Nodes["cmp-01"]
	n.Cordoned = true
	sc.Pods["cmp-01"] = &NodePods{Node: "cmp-01", Total: 40, Evictable: 12}
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
		make func() scene
		want []string
	}{
		{"manual, instances of all kinds in the way", func() scene {
			sc := inMaintenance()
			sc.instance("cmp-01", "batch-17", "notify")
			sc.instance("cmp-01", "db-2")
			sc.instance("cmp-01", "err-1")
			sc.status("err-1", "ERROR", "error")
			sc.instance("cmp-01", "mv-1")
			sc.migrates("mv-1")
			sc.instance("cmp-01", "pau-1")
			sc.status("pau-1", "PAUSED", "paused").Power = PowerPaused
			sc.instance("cmp-01", "res-1")
			sc.status("res-1", "RESCUE", "rescued")
			sc.instance("cmp-01", "rs-1")
			sc.status("rs-1", "VERIFY_RESIZE", "resized")
			sc.lock("cmp-01", ControllerCeph, LockInactive)
			return sc
		}, []string{asked, "waiting: tell the owners of 8 instances | 1 project; enter lists whom to tell",
			"ready: live-migrate 3 instances from cmp-01 | 3 instances to move, 5 left out",
			"ready: live-migrate batch-17 | notify: its owner decides (project shop) / cold-migrate / stop / shelve / tag-poweroff",
			"ready: live-migrate db-2 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff",
			"ready: reset err-1 to ACTIVE | runs, and cannot be live-migrated: status ERROR — stop it, or reset its state and then migrate it / stop",
			"waiting: wait for the migration of mv-1 | 81 %, to cmp-02 / abort-migration / force-complete",
			"ready: live-migrate pau-1 | manual: the operator moves it / shelve / tag-poweroff",
			"waiting: get res-1 out of the way | RESCUE — end its rescue first",
			"ready: confirm the migration of rs-1 | waits for a decision: confirm or revert its migration (VERIFY_RESIZE) / revert-resize",
			"ready: live-migrate web-1 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff",
			"blocked: declare cmp-01 safe",
			"later: the OpenStack controller releases its lock | Some servers are still present on the host.",
			"done: the lock of ceph is released",
			drain, update, back}},
		{"manual, nothing in the way any more", emptied, []string{asked, "done: no running instance is left | safe: web-1", "ready: declare cmp-01 safe",
			"waiting: the OpenStack controller releases its lock | at its next look, within 60 s", drain, update, back}},
		{"cold-migrated away, and not confirmed", func() scene {
			sc := inMaintenance()
			in := sc.status("web-1", "VERIFY_RESIZE", "resized")
			m := sc.migration(in, "finished", "cmp-02", time.Minute)
			m.Type = MigrationCold
			in.Host, sc.ByHost["cmp-01"], sc.ByHost["cmp-02"] = "cmp-02", nil, append(sc.ByHost["cmp-02"], in)
			return sc
		}, []string{asked, "ready: confirm the migration of web-1 | is on cmp-02 now; cmp-01 keeps its place / revert-resize",
			"done: no running instance is left | the host is empty", "ready: declare cmp-01 safe",
			"waiting: the OpenStack controller releases its lock | at its next look, within 60 s", drain, update, back}},
		{"declared safe", func() scene {
			sc := emptied()
			sc.mode("cmp-01", ModeSkip)
			sc.changed("cmp-01", "manual", "skip")
			return sc
		}, []string{asked,
			"done: no running instance is left | safe: web-1", "done: declare cmp-01 safe | the node shows instance_migration_mode=skip",
			"waiting: the OpenStack controller releases its lock | at its next look, within 60 s", drain, update, back,
			"later: give cmp-01 its migration mode back | when the node is back"}},
		{"live, the controller moves them", func() scene {
			sc := healthy()
			sc.maintained("cmp-01", "Waiting servers migration is completed: ['"+web1+"']")
			sc.migrates("web-1")
			return sc
		}, []string{asked, "waiting: the OpenStack controller moves the instances | 1 left",
			"waiting: wait for the migration of web-1 | 81 %, to cmp-02 / abort-migration / force-complete",
			"waiting: the OpenStack controller releases its lock | Waiting servers migration is completed: ['" + web1 + "']", drain, update, back}},
		{"live, the controller has given up", func() scene {
			sc := healthy()
			sc.maintained("cmp-01", "Some servers are still present on the host.")
			sc.migration(sc.named("web-1"), "error", "", time.Minute).Failure = "No valid host was found."
			return sc
		}, []string{asked, "waiting: make room for web-1 | other hosts of its zone: 2 full or unfit",
			"ready: stop web-1 | live migration failed once: No valid host was found / tag-poweroff / shelve / live-migrate / cold-migrate", "blocked: declare cmp-01 safe",
			"later: the OpenStack controller releases its lock | Some servers are still present on the host.", drain, update, back}},
		{"a mode that Rockoon does not know", func() scene {
			sc := healthy()
			sc.mode("cmp-01", "cold")
			sc.maintained("cmp-01", "")
			return sc
		}, []string{asked, "ready: set migration mode manual on cmp-01", "ready: set migration mode live on cmp-01",
			`ready: live-migrate web-1 | the node's mode "cold" is none that the controller knows / cold-migrate / stop / shelve / tag-poweroff`, "blocked: declare cmp-01 safe",
			"later: the OpenStack controller releases its lock", drain, update, back}},
		{"queued", func() scene {
			sc := healthy()
			sc.maintained("cmp-01", "Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01").InnerState = InnerInactive
			return sc
		}, []string{asked, "waiting: the OpenStack controller begins | others come first", "ready: set migration mode live on cmp-01",
			"ready: set migration mode manual on cmp-01", "ready: set migration mode skip on cmp-01", "ready: set migration attempts 5 on cmp-01", "blocked: enable nova-compute of cmp-01",
			"waiting: the OpenStack controller releases its lock | Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01",
			drain, update, back}},
		{"draining", func() scene { return handedOver(func(*Node, scene) {}) }, []string{asked, "done: the instances are out of the way", "done: the OpenStack controller releases its lock",
			"waiting: LCM drains the node | 12 pods left", update, back, "later: give cmp-01 its migration mode back | when the node is back"}},
		{"rebooting", func() scene {
			return handedOver(func(n *Node, _ scene) {
				n.Ready, n.ReadySince, n.ReadyReason = "Unknown", ago(time.Minute), "NodeStatusUnknown"
			})
		}, []string{asked, "done: the instances are out of the way", "done: the OpenStack controller releases its lock",
			"done: LCM drains the node", "waiting: LCM updates the node | not Ready (NodeStatusUnknown)", back, "later: give cmp-01 its migration mode back | when the node is back"}},
		{"returning", func() scene {
			return handedOver(func(n *Node, sc scene) {
				n.Cordoned, sc.NodeRequest("cmp-01").Deleting = false, ago(time.Minute)
				sc.Services["cmp-01"].Up = false
			})
		}, []string{asked, "done: the OpenStack controller releases its lock", "done: LCM drains the node", "done: LCM updates the node",
			"waiting: the node returns to service | nova-compute down", "later: give cmp-01 its migration mode back | when the node is back"}},
		{"done, with the annotation to give back", func() scene {
			return handedOver(func(n *Node, sc scene) {
				n.Cordoned = false
				delete(sc.NodeRequests, "cmp-01")
				l := sc.NodeLock("cmp-01", ControllerOpenStack)
				l.RawState, l.InnerState = LockActive, InnerInactive
				sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
				sc.History.Rounds["uid-cmp-01"] = Round{Request: "nmr-cmp-01", Update: "cmr", Started: ago(time.Hour), Ended: ago(time.Minute)}
			})
		}, []string{"done: cmp-01 went through its maintenance | 11:59", "ready: give cmp-01 its migration mode back", "ready: disable nova-compute of cmp-01"}},
		{"before the update", func() scene { sc := healthy(); sc.mode("cmp-01", ModeManual); return sc }, []string{"ready: set migration mode live on cmp-01",
			"done: set migration mode manual on cmp-01 | the node shows instance_migration_mode=manual", "ready: set migration mode skip on cmp-01",
			"ready: set migration attempts 5 on cmp-01", "ready: disable nova-compute of cmp-01", "waiting: tell the owners of web-1 | 1 project; enter lists whom to tell",
			"ready: live-migrate web-1 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff", "later: LCM asks for cmp-01 | no update runs"}},
		{"manual, during the update and before its turn", func() scene {
			sc := healthy()
			sc.update(time.Hour)
			sc.mode("cmp-01", ModeManual)
			sc.instance("cmp-01", "batch-17", "notify")
			sc.instance("cmp-01", "db-2")
			sc.instance("cmp-01", "moves", "live_migrate")
			return sc
		}, []string{"waiting: tell the owners of 3 instances | 1 project; enter lists whom to tell", "ready: live-migrate 3 instances from cmp-01 | 3 instances to move, 1 left out",
			"ready: live-migrate batch-17 | notify: its owner decides (project shop) / cold-migrate / stop / shelve / tag-poweroff",
			"ready: live-migrate db-2 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff",
			"ready: live-migrate web-1 | manual: the operator moves it / cold-migrate / stop / shelve / tag-poweroff",
			"ready: set migration mode live on cmp-01", "done: set migration mode manual on cmp-01 | the node shows instance_migration_mode=manual",
			"ready: set migration mode skip on cmp-01", "ready: set migration attempts 5 on cmp-01", "ready: disable nova-compute of cmp-01",
			"waiting: LCM asks for cmp-01 | an update runs; its turn has not come"}},
		{"scope drain", func() scene { sc := inMaintenance(); sc.NodeRequest("cmp-01").Scope = ScopeDrain; return sc }, []string{"done: LCM asks for cmp-01 | since 11:40, scope drain",
			"done: no instance has to move", "waiting: the OpenStack controller releases its lock | at its next look, within 60 s", drain, update, back}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			sc := tc.make()
			p, ok := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
			if !ok {
				t.Fatal("there is no procedure")
			}
			if got := outline(p); !slices.Equal(got, tc.want) {
				t.Errorf("stage %s; got\n\t%s\nwant\n\t%s", stageOf(sc, "cmp-01"), strings.Join(got, "\n\t"), strings.Join(tc.want, "\n\t"))
			}
		})
	}
}

func stageOf(sc scene, node string) Stage {
	v, _ := sc.NodeView(node)
	return v.Stage
}

// What Lockstep moves itself shows as its own step, under the same ID before, during and after.
func TestOwnMigrationKeepsItsPlaceInTheProcedure(t *testing.T) {
	key := ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"}
	sc := inMaintenance()
	find := func(sc scene) Step {
		p, _ := sc.Procedure(key)
		i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.ID == "live-migrate/"+web1 })
		if i < 0 {
			t.Fatalf("web-1 has no step: %q", outline(p))
		}
		return p.Steps[i]
	}
	if st := find(sc); st.State != StepReady {
		t.Errorf("before: %s", st.State)
	}
	sc.migrates("web-1")
	sc.doing(Operation{Step: "live-migrate/" + web1, Intent: Intent{Kind: IntentLiveMigrate}, Node: "cmp-01", Instance: web1,
		Text: "running"})
	if st := find(sc.again()); st.State != StepRunning || st.Status != "81 %, to cmp-02" || len(st.Alternatives) != 2 || !st.Alternatives[0].Doable() {
		t.Errorf("during: %s, %q, %d alternatives", st.State, st.Status, len(st.Alternatives))
	}
}

// While a batch runs, the step of the batch stays, with how far it is.
func TestRunningBatchStaysInTheProcedure(t *testing.T) {
	sc := inMaintenance()
	sc.doing(Operation{Step: "live-migrate-all/uid-cmp-01", Intent: Intent{Kind: IntentLiveMigrateAll}, Title: "live-migrate 2 instances from cmp-01", Node: "cmp-01", Items: []OperationItem{
		{Instance: "gone-1", State: OperationDone}, {Instance: web1, State: OperationQueued}}})
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
	if want := "running: live-migrate 2 instances from cmp-01 | 1 of 2 done"; !slices.Contains(outline(p), want) {
		t.Errorf("got\n\t%s\nwant among it\n\t%s", strings.Join(outline(p), "\n\t"), want)
	}
}

// The owner's word is said where the decision is made.
func TestNotifyTaggedInstanceSaysThatItsOwnerDecides(t *testing.T) {
	sc := inMaintenance()
	id := sc.instance("cmp-01", "batch-17", "notify").ID
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
	i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.ID == "live-migrate/"+id })
	if i < 0 || !strings.Contains(p.Steps[i].Why, "the owner decides") {
		t.Errorf("nothing is said of its owner: %q", outline(p))
	}
}

// All that fits an instance is offered, and nothing else.
func TestInstanceProcedureOffersWhatFits(t *testing.T) {
	cases := []struct {
		status, vm string
		want       []IntentKind
	}{
		{"ACTIVE", "active", []IntentKind{IntentLiveMigrate, IntentColdMigrate, IntentStop, IntentShelve, IntentTagPowerOff}},
		{"PAUSED", "paused", []IntentKind{IntentLiveMigrate, IntentShelve, IntentTagPowerOff}},
		{"SHUTOFF", "stopped", []IntentKind{IntentColdMigrate, IntentStart, IntentShelve, IntentTagPowerOff}},
		{"SUSPENDED", "suspended", []IntentKind{IntentResume, IntentShelve, IntentTagPowerOff}},
		{"SHELVED", "shelved", []IntentKind{IntentUnshelve}},
		{"SHELVED_OFFLOADED", "shelved_offloaded", []IntentKind{IntentUnshelve}},
		{"ERROR", "error", []IntentKind{IntentResetState, IntentStop}},
		{"VERIFY_RESIZE", "resized", []IntentKind{IntentConfirmResize, IntentRevertResize}},
		{"RESCUE", "rescued", []IntentKind{""}},
		{"UNHEARD_OF", "odd", []IntentKind{""}},
	}
	for _, tc := range cases {
		sc := healthy()
		sc.status("web-1", tc.status, tc.vm)
		p, ok := sc.Procedure(ProcedureKey{Kind: ProcedureInstance, Subject: web1})
		var got []IntentKind
		for _, st := range p.Steps {
			got = append(got, st.Intent.Kind)
		}
		if !ok || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.status, got, tc.want)
		}
	}
	sc := healthy()
	sc.migrates("web-1")
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureInstance, Subject: web1})
	want := []string{"waiting: wait for the migration of web-1 | 81 %, to cmp-02", "ready: abort the live migration of web-1 | 81 %, to cmp-02",
		"ready: force the live migration of web-1 | 81 %, to cmp-02"}
	if got := outline(p); !slices.Equal(got, want) {
		t.Errorf("while it migrates: %q", got)
	}
}

// A source that is away says which call failed, why, and what mends it; by its server's name all of them do.
func TestSourceProcedure(t *testing.T) {
	sc := healthy()
	src := sc.Sources[SourceInstances]
	src.State, src.AsOf, src.Next = SourceFailed, ago(3*time.Minute), noon.Add(8*time.Second)
	src.Err = &APIError{Kind: ErrUnauthorized, Server: ServerOpenStack, Call: "list instances", Message: "The request you have made requires authentication.", Remedy: "check the password in clouds.yaml"}
	sc.Sources[SourceInstances] = src
	p, ok := sc.Procedure(ProcedureKey{Kind: ProcedureSource, Subject: "instances"})
	if !ok || len(p.Steps) != 1 {
		t.Fatalf("got %v, %q", ok, outline(p))
	}
	st := p.Steps[0]
	if st.State != StepWaiting || !strings.Contains(st.Status, "seen last 3 m ago") || !strings.Contains(st.Status, "requires authentication") ||
		st.Why != "Check the password in clouds.yaml." || st.Then != "It is tried again in 8 s." {
		t.Errorf("%+v", st)
	}
	p, _ = sc.Procedure(ProcedureKey{Kind: ProcedureSource, Subject: string(ServerOpenStack)})
	if len(p.Steps) != 7 {
		t.Errorf("by the server's name: %q", outline(p))
	}
}

// What the update as a whole waits for is its locks, with their controllers' words.
func TestClusterProcedure(t *testing.T) {
	sc := healthy()
	key := ProcedureKey{Kind: ProcedureCluster}
	p, _ := sc.Procedure(key)
	if got := outline(p)[1:]; len(got) < 3 || got[0] != "waiting: the update is triggered | no update runs" || got[1] != "later: the cluster lock of ceph is released" && got[1] != "later: the cluster lock of openstack is released" {
		t.Errorf("before the update: %q", got)
	}
	sc.update(2 * time.Hour)
	for _, l := range sc.ClusterLocks {
		if l.Controller == ControllerCeph {
			l.RawState = LockInactive
		} else {
			l.Message = "2026-03-14 11:59:00.000001 Waiting osdpl status APPLIED, current state is APPLYING"
		}
	}
	p, _ = sc.again().Procedure(key)
	got := outline(p)
	for _, want := range []string{"done: the update is triggered | since 10:00", "done: the cluster lock of ceph is released",
		"waiting: the cluster lock of openstack is released | Waiting osdpl status APPLIED, current state is APPLYING"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// Whatever the cluster looks like: a procedure's steps have IDs of their own, and a ready step can be done.
func TestEveryProcedureKeepsTheRules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := anyScene(t)
		keys := []ProcedureKey{{ProcedureNode, "cmp-01"}, {ProcedureNode, "cmp-02"}, {ProcedureNode, "gtw-01"}, {ProcedureNode, "ctl-01"}, {ProcedureInstance, web1},
			{ProcedureSource, string(SourceInstances)}, {ProcedureCluster, ""}}
		for _, key := range keys {
			p, ok := sc.Procedure(key)
			if !ok || p.Key != key || p.Title == "" || p.Goal == "" || len(p.Steps) == 0 {
				t.Fatalf("%v: %v, %+v", key, ok, p)
			}
			seen := map[string]bool{}
			for _, st := range p.Steps {
				if seen[st.ID] || st.ID == "" || st.State == "" || st.Title == "" {
					t.Fatalf("%v: a step without an ID of its own, a state or a title: %+v", key, st)
				}
				seen[st.ID] = true
				if st.State == StepReady && !st.Doable() {
					t.Fatalf("%v: %s is ready, and cannot be done: %s", key, st.Title, st.Blocker())
				}
				if st.Change != nil && st.Intent.Kind == "" {
					t.Fatalf("%v: %s changes something, and nobody asked for it", key, st.Title)
				}
			}
		}
	})
}
