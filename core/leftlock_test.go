package core

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
)

// left is a cluster at rest in which the OpenStack lock of cmp-01 was left inactive, and its host out of scheduling.
func left() scene {
	sc := healthy()
	sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockInactive
	svc := sc.Services["cmp-01"]
	svc.Enabled, svc.DisabledReason = false, DisabledReasonMaintenance
	return sc.again()
}

// A lock that was left inactive without a request is dangerous: the controller prepares nothing at the next maintenance. It is urgent,
// says what it means, is never called a return, and its first step sets it active again (docs/mosk.md#left-over-locks).
func TestALockThatWasLeftInactive(t *testing.T) {
	s := left().Snapshot
	const means = "the next maintenance of cmp-01 will drain and reboot it without moving anything"
	v, _ := s.NodeView("cmp-01")
	if v.Stage != StageWaiting || !strings.Contains(v.Reason, means) {
		t.Errorf("its stage is %s: %s", v.Stage, v.Reason)
	}
	said := 0
	for _, a := range s.Attention() {
		if a.Node == "cmp-01" && a.Severity == SeverityUrgent {
			said++
			if !strings.Contains(a.Reason, means) || a.Resolve == nil {
				t.Errorf("it says %+v", a)
			}
		}
	}
	if said != 1 {
		t.Errorf("it is said %d times: %+v", said, s.Attention())
	}
	titles, by := stepsOf(s.Procedure(ofNode("cmp-01")))
	for _, title := range []string{"set the lock of openstack on cmp-01 active again", "enable nova-compute of cmp-01"} {
		if st := by[title]; st.State != StepReady {
			t.Errorf("%s is %q, %s; the steps are %q", title, st.State, st.Blocker(), titles)
		}
	}
}

// What is no lock that was left: somebody asks for the node, or has asked just now.
func TestALockThatIsNotLeft(t *testing.T) {
	for name, change := range map[string]func(scene){
		"it is in maintenance":         func(sc scene) { sc.maintained("cmp-01", "").RawState = LockInactive },
		"its request is being removed": func(sc scene) { sc.maintained("cmp-01", ""); sc.NodeRequest("cmp-01").Deleting = noon },
		"its removal is asked for": func(sc scene) {
			sc.Deletions["cmp-01"] = &NodeNotice{Meta: Meta{Name: "cmp-01", UID: "d", Created: noon}, Kind: KindNodeDeletionRequest, Node: "cmp-01"}
		},
		"its machine is disabled": func(sc scene) {
			sc.Disablings["cmp-01"] = &NodeNotice{Meta: Meta{Name: "cmp-01", UID: "d", Created: noon}, Node: "cmp-01"}
		},
		"its maintenance has just ended": func(sc scene) {
			sc.History.Rounds = map[string]Round{"uid-cmp-01": {Request: "nmr", Ended: sc.Now.Add(-10 * time.Second)}}
		},
		"the requests are not known": func(sc scene) { sc.source(SourceNodeRequests, SourceConnecting) },
		"the removals are not known": func(sc scene) { sc.source(SourceDeletionRequests, SourceConnecting) },
		"the lock is active":         func(sc scene) { sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockActive },
	} {
		t.Run(name, func(t *testing.T) {
			sc := left()
			if sc.Deletions == nil {
				sc.Deletions = map[string]*NodeNotice{}
			}
			if sc.Disablings == nil {
				sc.Disablings = map[string]*NodeNotice{}
			}
			change(sc)
			s := sc.again().Snapshot
			if s.leftLock("cmp-01") != nil {
				t.Error("it counts as left")
			}
			if st := Plan(s, Intent{Kind: IntentRearmLock, Object: s.NodeLock("cmp-01", ControllerOpenStack).Ref()}); st.Doable() {
				t.Error("it can be set active")
			}
		})
	}
}

// The step does it, whether Lockstep plays the controller or not: where it does, and the controller runs all the same, nobody else would.
func TestALockThatWasLeftIsSetActiveAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		settings Settings
		replicas int
		doable   bool
	}{
		"beside the controller":           {DefaultSettings(), 1, true},
		"while the controller is away":    {DefaultSettings(), 0, true},
		"played, and the controller runs": {playsOpenStack(), 1, true},
		"played alone":                    {playsOpenStack(), 0, false}, // by the steps of the controller's flow
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := atRest()
				c.locks["cmp-1"].RawState = LockInactive
				c.rockoon.Replicas, c.rockoon.Ready = tt.replicas, tt.replicas
				b := newBenchWith(t, t.TempDir(), c, tt.settings)
				defer b.end()
				b.arm()
				rearm := Intent{Kind: IntentRearmLock, Object: c.locks["cmp-1"].Ref()}
				if st := Plan(b.engine.Snapshot(), rearm); st.Doable() != tt.doable {
					t.Fatalf("it is %s, blocked by %q", st.State, st.Blocker())
				}
				if !tt.doable {
					return
				}
				id, err := b.confirm(rearm)
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != OperationDone || c.locks["cmp-1"].State() != LockActive {
					t.Errorf("it ended as %s: %s; the lock is %s", op.State, op.Text, c.locks["cmp-1"].State())
				}
			})
		})
	}
}
