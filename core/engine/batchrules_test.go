package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// movesHeld is a batch of three moves. The first is under way until finish is called.
func movesHeld(t *testing.T) (b *bench, id string, finish func()) {
	t.Helper()
	return movesHeldIn(t, newTestCloud())
}

func movesHeldIn(t *testing.T, cloud *testCloud) (b *bench, id string, finish func()) {
	t.Helper()
	b = newBench(t, t.TempDir(), cloud)
	b.cloud.migrating = true
	b.arm()
	id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"})
	if err != nil {
		t.Fatal(err)
	}
	b.await(id, func(op core.Operation) bool { return op.Items[0].State == core.OperationVerifying })
	return b, id, func() {
		b.cloud.mu.Lock()
		defer b.cloud.mu.Unlock()
		b.cloud.migrating = false
		b.cloud.finish("id-web-1")
	}
}

func itemStates(op core.Operation) []core.OperationState {
	var out []core.OperationState
	for _, item := range op.Items {
		out = append(out, item.State)
	}
	return out
}

// A batch begins nothing on stale facts. It pauses, names the stale source, stays paused when it is told to go on too early, and
// continues where it was, with nothing lost, once the facts are fresh again.
func TestBatchPausesOnStaleFacts(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id, finish := movesHeld(t)
		defer b.end()
		b.engine.Apply(core.Delta{Source: core.SourceInstances, State: core.SourceStale,
			Err: &core.APIError{Kind: core.ErrUnreachable, Call: "list instances"}, At: time.Now()})
		b.engine.call(b.engine.drain)
		finish()
		pausedStale := func(op core.Operation) bool {
			return op.State == core.OperationPaused && strings.Contains(op.Text, "not fresh") && strings.Contains(op.Text, "instances")
		}
		op := b.await(id, pausedStale)
		if want := []core.OperationState{core.OperationDone, core.OperationQueued, core.OperationQueued}; !slices.Equal(itemStates(op), want) {
			t.Fatalf("it paused with %v, want %v", itemStates(op), want)
		}
		resume(b, id)
		b.await(id, pausedStale)
		b.sync()
		op = b.await(id, func(op core.Operation) bool {
			if op.State == core.OperationPaused { // what it saw last may still have been stale; or it has gone on, and ended, since then
				_ = b.engine.Control(id, core.ControlResume)
			}
			return op.State.Ended()
		})
		if op.State != core.OperationDone {
			t.Errorf("it ended as %s: %s", op.State, op.Text)
		}
		if got := b.cloud.written(); len(got) != 3 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// When an item that is still to be done changes, the batch pauses before it begins anything more, not only when that item's turn
// comes, and says so once. A changed item is not done without its own grant.
func TestBatchPausesWhenWhatIsStillToBeDoneChanges(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id, finish := movesHeld(t)
		defer b.end()
		b.cloud.mu.Lock()
		b.cloud.instances["id-web-3"].Tags = []string{core.TagMaintenanceAction + "notify"}
		b.cloud.mu.Unlock()
		b.sync()
		finish()
		op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
		if want := []core.OperationState{core.OperationDone, core.OperationQueued, core.OperationQueued}; !slices.Equal(itemStates(op), want) ||
			!strings.Contains(op.Text, "web-3, which is still to be done") || !strings.Contains(op.Text, "notify") {
			t.Fatalf("it paused as %q with %v, want %v", op.Text, itemStates(op), want)
		}
		resume(b, id)
		op = b.await(id, func(op core.Operation) bool { return op.Items[2].State.Ended() })
		if want := []core.OperationState{core.OperationDone, core.OperationDone, core.OperationFailed}; !slices.Equal(itemStates(op), want) ||
			!strings.Contains(op.Items[2].Text, "notify") {
			t.Errorf("it went on to %v, %q; want %v", itemStates(op), op.Items[2].Text, want)
		}
		if got := b.cloud.written(); len(got) != 2 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// An instance that has left the host by itself does not stop a batch: there is nothing left to do.
func TestBatchPassesOverWhatIsGone(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id, finish := movesHeld(t)
		defer b.end()
		b.cloud.mu.Lock()
		delete(b.cloud.instances, "id-web-3")
		b.cloud.mu.Unlock()
		b.sync()
		finish()
		op := b.awaitEnd(id)
		if want := []core.OperationState{core.OperationDone, core.OperationDone, core.OperationSkipped}; !slices.Equal(itemStates(op), want) ||
			op.State != core.OperationDone {
			t.Errorf("it ended as %s with %v, want %v", op.State, itemStates(op), want)
		}
	})
}

// If the grant says so, a batch goes on past a failure, which stays on its item. It does not go past the gate.
func TestBatchGoesOnPastFailuresWhenToldTo(t *testing.T) {
	t.Run("a refusal", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			cloud := newTestCloud()
			cloud.fail["live-migrate"] = &core.APIError{Kind: core.ErrInvalid, Call: "live-migrate", Message: failText, Status: 400}
			b := newBench(t, t.TempDir(), cloud)
			defer b.end()
			b.arm()
			id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1", PastFailures: true})
			if err != nil {
				t.Fatal(err)
			}
			op := b.awaitEnd(id)
			if want := []core.OperationState{core.OperationFailed, core.OperationDone, core.OperationDone}; !slices.Equal(itemStates(op), want) ||
				op.State != core.OperationFailed || !strings.Contains(op.Items[0].Text, failText) {
				t.Errorf("it ended as %s with %v (%s), want failed with %v", op.State, itemStates(op), op.Items[0].Text, want)
			}
		})
	})
	// While the API server cannot be asked who may write, nothing is sent, and nothing has failed: all that is left goes on afterwards.
	t.Run("a server is away", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			cloud := newTestCloud()
			b := newBench(t, t.TempDir(), cloud)
			defer b.end()
			b.arm()
			away := func(err error) {
				cloud.mu.Lock()
				cloud.unsure = err
				cloud.mu.Unlock()
			}
			away(&core.APIError{Kind: core.ErrServer, Call: "get the operator lease", Message: "etcd leader changed", Status: 500})
			id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1", PastFailures: true})
			if err != nil {
				t.Fatal(err)
			}
			op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
			if want := slices.Repeat([]core.OperationState{core.OperationQueued}, 3); !slices.Equal(itemStates(op), want) ||
				!strings.Contains(op.Text, "etcd leader changed") || len(cloud.written()) > 0 {
				t.Errorf("it paused with %v: %s; written: %q", itemStates(op), op.Text, cloud.written())
			}
			// An item that was put back can be left out. One that meets the same once more has failed, and the batch goes past it.
			if err := b.engine.Control(id, core.ControlResume); err != nil {
				t.Fatal(err)
			}
			op = b.await(id, func(op core.Operation) bool {
				return op.State == core.OperationPaused && op.Items[0].State == core.OperationFailed
			})
			if want := []core.OperationState{core.OperationFailed, core.OperationQueued, core.OperationQueued}; !slices.Equal(itemStates(op), want) {
				t.Errorf("it paused once more with %v, want %v", itemStates(op), want)
			}
			if err := b.engine.LeaveOut(id, 1); err != nil {
				t.Errorf("an item that was put back: %v", err)
			}
			away(nil)
			if err := b.engine.Control(id, core.ControlResume); err != nil {
				t.Fatal(err)
			}
			op = b.awaitEnd(id)
			if want := []core.OperationState{core.OperationFailed, core.OperationSkipped, core.OperationDone}; !slices.Equal(itemStates(op), want) {
				t.Errorf("it ended with %v, want %v", itemStates(op), want)
			}
		})
	})
	t.Run("writing is disarmed", func(t *testing.T) {
		bubble.Run(t, func(t *testing.T) {
			b := newBench(t, t.TempDir(), newTestCloud())
			defer b.end()
			b.arm()
			b.cloud.migrating = true
			id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1", PastFailures: true})
			if err != nil {
				t.Fatal(err)
			}
			b.await(id, func(op core.Operation) bool { return op.Items[0].State == core.OperationVerifying })
			b.engine.Disarm()
			b.cloud.mu.Lock()
			b.cloud.finish("id-web-1")
			b.cloud.mu.Unlock()
			op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
			if want := []core.OperationState{core.OperationDone, core.OperationQueued, core.OperationQueued}; !slices.Equal(itemStates(op), want) {
				t.Errorf("it paused with %v, want %v", itemStates(op), want)
			}
		})
	})
}

// Each of these stops every kind of batch, and nothing more begins: the gate closes, a source goes stale, an item fails.
func TestEveryKindOfBatchStopsByItself(t *testing.T) {
	silent := func() *testCloud {
		cloud := newTestCloud()
		sc := scene.NewScene()
		cloud.daemons = testDaemons{hash: "new", broken: map[string]bool{}}
		for workload, agent := range map[string]string{scene.OvsAgents: "neutron-openvswitch-agent",
			"openstack/neutron-l3-agent-default": "neutron-l3-agent"} {
			component := map[string]string{"neutron-openvswitch-agent": "neutron-ovs-agent", "neutron-l3-agent": "l3-agent"}[agent]
			set := sc.DaemonSet(workload, component, false, "cmp-1")
			cloud.daemons.sets = append(cloud.daemons.sets, set)
			cloud.daemons.revisions = append(cloud.daemons.revisions, sc.DaemonRevisions[set.UID]...)
			cloud.daemons.pods = append(cloud.daemons.pods, sc.DaemonPods[set.UID]...)
			cloud.daemons.agents = append(cloud.daemons.agents,
				&core.NetworkAgent{ID: agent, Host: "cmp-1", Binary: agent, Type: agent, AdminUp: true})
		}
		cloud.agents = nil
		return cloud
	}
	for kind, tt := range map[core.IntentKind]struct {
		cloud  func() *testCloud
		intent core.Intent
		rests  core.SourceID
		fails  string // the write that fails
	}{
		core.IntentLiveMigrateAll: {newTestCloud, core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1"}, core.SourceInstances,
			"live-migrate"},
		core.IntentSetMode: {newTestCloud,
			core.Intent{Kind: core.IntentSetMode, Nodes: []string{"cmp-1", "cmp-2", "cmp-3"}, Mode: core.ModeLive}, core.SourceNodes, "annotate"},
		core.IntentSetAttempts: {newTestCloud,
			core.Intent{Kind: core.IntentSetAttempts, Nodes: []string{"cmp-1", "cmp-2", "cmp-3"}, Attempts: 5}, core.SourceNodes, "annotate"},
		core.IntentRestartPods: {func() *testCloud { return newTestCloud().withVRouters() }, scene.RestartAll(), core.SourceNodes,
			"delete-pod"},
		core.IntentRestartAgents: {silent, core.Intent{Kind: core.IntentRestartAgents, Node: "cmp-1"}, core.SourceNodes, "delete-pod"},
	} {
		for name, spoil := range map[string]func(b *bench){
			"writing is disarmed": func(b *bench) { b.engine.Disarm() },
			"the lease is lost":   func(b *bench) { b.cloud.mu.Lock(); b.cloud.held = false; b.cloud.mu.Unlock() },
			"a source goes stale": func(b *bench) {
				b.engine.Apply(core.Delta{Source: tt.rests, State: core.SourceStale, Err: &core.APIError{Kind: core.ErrUnreachable, Call: "list"},
					At: time.Now()})
				b.engine.call(b.engine.drain)
			},
			"the first fails": func(b *bench) {
				b.cloud.mu.Lock()
				b.cloud.fail[tt.fails] = &core.APIError{Kind: core.ErrForbidden, Call: tt.fails, Message: "no right"}
				b.cloud.mu.Unlock()
			},
		} {
			t.Run(string(kind)+", "+name, func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					b := newBench(t, t.TempDir(), tt.cloud())
					defer b.end()
					b.arm()
					once := false
					b.cloud.onWrite = func(string) {
						if !once {
							once = true
							spoil(b)
						}
					}
					step := step.Plan(b.engine.Snapshot(), tt.intent)
					if items := len(step.Change.(core.Batch).Items); items < 2 {
						t.Fatalf("it is a list of %d", items)
					}
					g, err := b.engine.Grant(step, step.Type)
					if err != nil {
						t.Fatal(err)
					}
					if err := b.execute(g); err != nil {
						t.Fatal(err)
					}
					op := b.await(g.ID, func(op core.Operation) bool {
						if op.Items[0].State == core.OperationVerifying {
							b.cloud.mu.Lock()
							for _, a := range b.cloud.daemons.agents { // Neutron hears from the agent of the new pod again
								a.Alive, a.Heartbeat = strings.HasPrefix(op.Items[0].Label, a.Binary), worldTime.Add(time.Minute)
							}
							b.cloud.mu.Unlock()
							for _, d := range b.cloud.deltas(time.Now()) {
								if d.Source != tt.rests {
									b.engine.Apply(d)
								}
							}
						}
						return op.State == core.OperationPaused
					})
					if !op.Items[0].State.Ended() || op.Items[1].State != core.OperationQueued {
						t.Errorf("it paused as %q with %v", op.Text, itemStates(op))
					}
					if got := b.cloud.written(); len(got) != 1 {
						t.Errorf("the servers received %q", got)
					}
					if kind == core.IntentLiveMigrateAll && name == "the first fails" && op.Items[0].State != core.OperationFailed {
						t.Errorf("the failure does not stay: %+v", op.Items[0])
					}
				})
			})
		}
	}
}

// When the request for which a node is emptied is withdrawn, the batch pauses, because nobody needs the node empty any more. It
// goes on when the operator says so.
func TestBatchPausesWhenTheRequestIsWithdrawn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id, finish := movesHeld(t)
		defer b.end()
		b.cloud.mu.Lock()
		delete(b.cloud.requests, "cmp-1")
		b.cloud.mu.Unlock()
		b.sync()
		finish()
		op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
		if want := []core.OperationState{core.OperationDone, core.OperationQueued, core.OperationQueued}; !slices.Equal(itemStates(op), want) ||
			!strings.Contains(op.Text, "nobody asks for the node any more") {
			t.Errorf("it paused as %q with %v", op.Text, itemStates(op))
		}
		resume(b, id)
		if op := b.awaitEnd(id); op.State != core.OperationDone {
			t.Errorf("it ended as %s: %s, %v", op.State, op.Text, itemStates(op))
		}
	})
}

// The same goes for a node that is emptied to be removed.
func TestBatchPausesWhenTheRemovalIsWithdrawn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := atRest()
		cloud.deletions = []*core.NodeNotice{{Meta: core.Meta{Name: "cmp-1", UID: "ndr", Created: worldTime.Add(-time.Hour)},
			Kind: core.KindNodeDeletionRequest, Node: "cmp-1"}}
		b, id, finish := movesHeldIn(t, cloud)
		defer b.end()
		cloud.mu.Lock()
		cloud.deletions = nil
		cloud.mu.Unlock()
		b.sync()
		finish()
		op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
		if want := []core.OperationState{core.OperationDone, core.OperationQueued, core.OperationQueued}; !slices.Equal(itemStates(op), want) ||
			!strings.Contains(op.Text, "the removal of cmp-1 is withdrawn") {
			t.Errorf("it paused as %q with %v", op.Text, itemStates(op))
		}
		resume(b, id)
		if op := b.awaitEnd(id); op.State != core.OperationDone {
			t.Errorf("it ended as %s: %s, %v", op.State, op.Text, itemStates(op))
		}
	})
}

// With more than one item at a time, a second failure can come while the batch is paused for the first: it pauses for that one
// too.
func TestBatchTellsEveryFailure(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		cloud.migrating, cloud.failMoves = true, true
		cloud.annotations["cmp-1"][core.AnnotationMigrationAttempts] = "1"
		for _, name := range []string{"web-4", "web-5"} {
			cloud.add(name, "cmp-1")
		}
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: "cmp-1", AtOnce: 2})
		if err != nil {
			t.Fatal(err)
		}
		b.await(id, func(op core.Operation) bool {
			return op.Items[0].State == core.OperationVerifying && op.Items[1].State == core.OperationVerifying
		})
		for i, name := range []string{"id-web-1", "id-web-2"} {
			cloud.mu.Lock()
			cloud.finish(name)
			cloud.mu.Unlock()
			b.await(id, func(op core.Operation) bool { return op.Items[i].State.Ended() && op.State == core.OperationPaused })
		}
		resume(b, id)
		op := b.await(id, func(op core.Operation) bool {
			return op.State == core.OperationPaused && strings.Contains(op.Text, "web-2")
		})
		if op.Items[2].State != core.OperationQueued {
			t.Errorf("it went on to %v", itemStates(op))
		}
		if got := cloud.written(); len(got) != 2 {
			t.Errorf("the cloud received %q", got)
		}
	})
}

// A control that changes nothing is not recorded: who holds a key down does not fill the journal.
func TestAControlIsRecordedOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id, finish := movesHeld(t)
		defer b.end()
		for _, c := range []core.Control{core.ControlResume, core.ControlPause, core.ControlPause, core.ControlResume, core.ControlResume,
			core.ControlStop, core.ControlStop} {
			if err := b.engine.Control(id, c); err != nil {
				t.Errorf("%s: %v", c, err)
			}
		}
		finish()
		if op := b.awaitEnd(id); op.Items[0].State != core.OperationDone || op.Items[1].State.MayHaveBeenDone() {
			t.Errorf("it ended with %v", itemStates(op))
		}
		var told []string
		for _, r := range b.journal() {
			if r.Kind == RecordControl {
				told = append(told, r.State)
			}
		}
		if want := []string{"pause", "resume", "stop"}; !slices.Equal(told, want) {
			t.Errorf("recorded are %q, want %q", told, want)
		}
	})
}

// What is asked of a batch while an item runs is shown at once, can be taken back until the item has ended, and is done by then.
func TestWhatIsAskedOfABatchIsShownBeforeItComes(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b, id, finish := movesHeld(t)
		defer b.end()
		asked := func(c core.Control) core.Operation {
			if err := b.engine.Control(id, c); err != nil {
				t.Fatal(err)
			}
			b.engine.call(b.engine.drain)
			return b.await(id, func(core.Operation) bool { return true })
		}
		for _, row := range []struct{ control, asked core.Control }{
			{core.ControlPause, core.ControlPause}, {core.ControlResume, ""}, {core.ControlPause, core.ControlPause},
		} {
			if op := asked(row.control); op.State != core.OperationRunning || op.Asked != row.asked {
				t.Errorf("after %s it is %s and has %q asked of it", row.control, op.State, op.Asked)
			}
		}
		finish()
		op := b.await(id, func(op core.Operation) bool { return op.State == core.OperationPaused })
		if op.Asked != "" || op.Items[1].State != core.OperationQueued {
			t.Errorf("held, and %q is asked of it: %v", op.Asked, itemStates(op))
		}
		b.cloud.mu.Lock()
		b.cloud.migrating = true
		b.cloud.mu.Unlock()
		asked(core.ControlResume)
		b.await(id, func(op core.Operation) bool { return op.Items[1].State == core.OperationVerifying })
		if op := asked(core.ControlStop); op.Asked != core.ControlStop {
			t.Errorf("after a stop %q is asked of it", op.Asked)
		}
		b.cloud.mu.Lock()
		b.cloud.finish(op.Items[1].Instance)
		b.cloud.mu.Unlock()
		if op := b.awaitEnd(id); op.Asked != "" || op.Items[2].State != core.OperationStopped {
			t.Errorf("it ended with %q asked of it: %v", op.Asked, itemStates(op))
		}
	})
}
