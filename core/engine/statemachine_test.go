package engine

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"pgregory.net/rapid"
)

// Whatever happens around it, and in whatever order: every write has a grant and a record before it, no two steps write on one
// node at once, every operation comes to rest, and a restart proposes the same next steps.
func TestEngineUnderRandomInterleavings(t *testing.T) {
	lane.Fewer(t)
	writes := 0
	rapid.Check(t, func(rt *rapid.T) { bubble.Alone(t, func(t *testing.T) { writes += interleave(t, rt) }) })
	if writes == 0 {
		t.Error("nothing was ever written")
	}
}

// interleave draws one history, and returns how many writes it had.
func interleave(t *testing.T, rt *rapid.T) (writes int) {
	m := newMachine(t, rt)
	defer func() { m.bench.end() }()
	rt.Repeat(map[string]func(*rapid.T){
		"":             m.check,
		"arm":          func(*rapid.T) { m.bench.engine.Arm(context.Background(), m.bench.engine.Snapshot().Write.Lease) },
		"disarm":       func(*rapid.T) { m.bench.engine.Disarm() },
		"lose lease":   func(*rapid.T) { m.locked(func(c *testCloud) { c.held, c.holder = false, "bob@jump02" }) },
		"look":         func(*rapid.T) { m.bench.sync() },
		"confirm":      m.confirm,
		"grant":        m.grant,
		"use a grant":  m.use,
		"control":      m.control,
		"acknowledge":  m.acknowledge,
		"move away":    m.move,
		"nova fails":   m.fail,
		"migrations":   m.migrations,
		"time passes":  func(*rapid.T) { time.Sleep(time.Second) }, // lets operations run, asserts nothing
		"restart":      m.restart,
		"sources fail": m.sources,
	})
	m.rest()
	return len(m.cloud.written())
}

type machine struct {
	t      *testing.T
	rt     *rapid.T
	dir    string
	cloud  *testCloud
	bench  *bench
	grants []core.Grant

	settings core.Settings
}

func newMachine(t *testing.T, rt *rapid.T) *machine {
	dir, err := os.MkdirTemp(t.TempDir(), "state")
	if err != nil {
		t.Fatal(err)
	}
	cloud := newTestCloud()
	cloud.compared = true
	return &machine{t: t, rt: rt, dir: dir, cloud: cloud, bench: newBench(t, dir, cloud), settings: core.DefaultSettings()}
}

func (m *machine) locked(f func(*testCloud)) {
	m.cloud.mu.Lock()
	defer m.cloud.mu.Unlock()
	f(m.cloud)
}

func (m *machine) instance(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"id-web-1", "id-web-2", "id-web-3"}).Draw(rt, "instance")
}

func (m *machine) node(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"cmp-1", "cmp-2", "cmp-3"}).Draw(rt, "node")
}

func (m *machine) intent(rt *rapid.T) core.Intent {
	kind := rapid.SampledFrom([]core.IntentKind{core.IntentLiveMigrate, core.IntentLiveMigrateAll, core.IntentColdMigrate,
		core.IntentConfirmResize, core.IntentRevertResize,
		core.IntentStop, core.IntentStart, core.IntentAbortMigration, core.IntentForceComplete, core.IntentSetMode, core.IntentDeclareSafe,
		core.IntentRestoreMode,
		core.IntentDisableCompute, core.IntentEnableCompute, core.IntentResume, core.IntentResetState, core.IntentShelve, core.IntentUnshelve,
		core.IntentTagPowerOff,
		core.IntentRestoreTags}).Draw(rt, "intent")
	node := m.node(rt)
	return core.Intent{Kind: kind, Node: node, Nodes: []string{node}, Instance: m.instance(rt), Reason: "a test",
		Mode:   rapid.SampledFrom([]core.MigrationMode{core.ModeLive, core.ModeManual, core.ModeSkip}).Draw(rt, "mode"),
		AtOnce: rapid.IntRange(0, 2).Draw(rt, "at once")}
}

// confirm asks for a step that is proposed for the node in maintenance, or for any step at all.
func (m *machine) confirm(rt *rapid.T) {
	if !rapid.Bool().Draw(rt, "proposed") {
		m.bench.confirm(m.intent(rt))
		return
	}
	p, _ := procedure.Of(m.bench.engine.Snapshot(), core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
	var doable []core.Intent
	for _, step := range p.Steps {
		for _, way := range append([]core.Step{step}, step.Alternatives...) {
			if way.Doable() {
				doable = append(doable, way.Intent)
			}
		}
	}
	if len(doable) == 0 {
		rt.Skip("nothing can be confirmed")
	}
	m.bench.confirm(rapid.SampledFrom(doable).Draw(rt, "step"))
}

func (m *machine) grant(rt *rapid.T) {
	step := step.Plan(m.bench.engine.Snapshot(), m.intent(rt))
	if g, err := m.bench.engine.Grant(step, step.Type); err == nil {
		m.grants = append(m.grants, g)
	}
}

// use takes a grant, which may be stale or used by now, twice.
func (m *machine) use(rt *rapid.T) {
	if len(m.grants) == 0 {
		rt.Skip("no grant")
	}
	g := rapid.SampledFrom(m.grants).Draw(rt, "grant")
	_, first := m.bench.engine.Execute(context.Background(), g)
	if _, second := m.bench.engine.Execute(context.Background(), g); first == nil && second == nil {
		rt.Fatal("one grant was used twice")
	}
}

func (m *machine) control(rt *rapid.T) {
	for _, op := range m.bench.engine.Snapshot().Operations {
		if !op.State.Ended() && !op.Past {
			c := rapid.SampledFrom([]core.Control{core.ControlPause, core.ControlResume, core.ControlSkip, core.ControlStop}).Draw(rt, "control")
			m.bench.engine.Control(op.ID, c)
			return
		}
	}
	rt.Skip("nothing runs")
}

func (m *machine) acknowledge(rt *rapid.T) {
	for _, op := range m.bench.engine.Snapshot().Operations {
		m.bench.engine.Acknowledge(op.ID)
	}
}

func (m *machine) move(rt *rapid.T) {
	id, host := m.instance(rt), m.node(rt)
	m.locked(func(c *testCloud) {
		if in := c.instances[id]; in.TaskState == "" {
			in.Host = host
		}
	})
}

func (m *machine) fail(rt *rapid.T) {
	action := rapid.SampledFrom([]string{"live-migrate", "cold-migrate", "stop", "annotate", "service"}).Draw(rt, "action")
	kind := rapid.SampledFrom([]core.ErrorKind{core.ErrConflict, core.ErrTimeout, core.ErrServer, core.ErrForbidden}).Draw(rt, "kind")
	lose := rapid.Bool().Draw(rt, "answer lost")
	m.locked(func(c *testCloud) {
		if lose {
			c.lose[action] = true
			return
		}
		c.fail[action] = &core.APIError{Kind: kind, Call: action, Message: "as the test wants it"}
	})
}

func (m *machine) migrations(rt *rapid.T) {
	slow, failing := rapid.Bool().Draw(rt, "slow"), rapid.Bool().Draw(rt, "failing")
	m.locked(func(c *testCloud) {
		c.migrating, c.failMoves = slow, failing
		for id := range c.instances {
			c.finish(id)
		}
	})
}

func (m *machine) sources(rt *rapid.T) {
	id := rapid.SampledFrom([]core.SourceID{core.SourceInstances, core.SourceNodes, core.SourceNodeLocks}).Draw(rt, "source")
	m.bench.engine.Apply(core.Delta{Source: id, State: core.SourceStale, Err: &core.APIError{Kind: core.ErrUnreachable, Call: "watch"},
		At: time.Now()})
}

// restart kills the engine where it is and starts another one on the same journal and the same cloud.
func (m *machine) restart(rt *rapid.T) {
	m.bench.end()
	m.grants = nil
	m.bench = newBenchWith(m.t, m.dir, m.cloud, m.settings)
	first := m.proposals()
	m.bench.end()
	m.bench = newBenchWith(m.t, m.dir, m.cloud, m.settings)
	if second := m.proposals(); !slices.Equal(first, second) {
		rt.Fatalf("after another restart the proposals are\n%s\nand were\n%s", strings.Join(second, "\n"), strings.Join(first, "\n"))
	}
}

// proposals are the steps of every node, as they can be confirmed.
func (m *machine) proposals() []string {
	s := m.bench.engine.Snapshot()
	var out []string
	for _, name := range []string{"cmp-1", "cmp-2", "cmp-3"} {
		p, ok := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: name})
		if !ok {
			m.rt.Fatalf("there is no procedure for %s", name)
		}
		for _, step := range p.Steps {
			out = append(out, fmt.Sprintf("%s: %s, basis %v", name, step.ID, step.Basis))
		}
	}
	return out
}

// check asserts what holds at every moment.
func (m *machine) check(rt *rapid.T) {
	written := m.cloud.written() // before the journal is read: operations go on meanwhile, and each is recorded before it is written
	records := m.bench.journal()
	grants := map[string]core.Grant{}
	begun, failed := map[string]int{}, map[string]bool{} // failed: its last migration failed
	writes := 0
	writing := map[string]string{} // by node: the operation that is between before and verified
	for _, r := range records {
		parent, _, _ := strings.Cut(r.Operation, "/")
		switch r.Kind {
		case RecordStart:
			clear(writing) // the one before it is dead
		case RecordGrant:
			grants[r.Operation] = core.Grant{ID: r.Operation, Target: *r.Object}
		case RecordBefore:
			if _, ok := grants[parent]; !ok {
				rt.Fatalf("%q was written without a grant", r.Title)
			}
			if begun[r.Operation] > 0 && !failed[r.Operation] || begun[r.Operation] >= core.DefaultMigrationAttempts {
				rt.Fatalf("%q was written twice on one grant", r.Title)
			}
			begun[r.Operation]++
			writes++
			failed[r.Operation] = false
			if r.Intent.Kind == core.IntentAbortMigration || r.Intent.Kind == core.IntentForceComplete {
				continue
			}
			if other := writing[r.Node]; other != "" && other != parent {
				rt.Fatalf("%q began on %s while %s was under way", r.Title, r.Node, other)
			}
			writing[r.Node] = parent
		case RecordVerified:
			failed[r.Operation] = r.Intent.Kind == core.IntentLiveMigrate && strings.HasPrefix(r.Error, "the migration failed")
			if writing[r.Node] == parent {
				delete(writing, r.Node)
			}
		}
	}
	if len(written) > writes {
		rt.Fatalf("the cloud received %d writes, the journal has %d: %q", len(written), writes, written)
	}
}

// rest ends everything that runs: it stops batches and ends migrations. Then nothing may be under way.
func (m *machine) rest() {
	deadline := time.Now().Add(patience)
	for {
		m.locked(func(c *testCloud) {
			c.migrating = false
			for id := range c.instances {
				c.finish(id)
			}
		})
		open := 0
		for _, op := range m.bench.engine.Snapshot().Operations {
			if !op.State.Ended() && !op.Past { // an operation of an earlier run ends when its object is seen to end
				open++
				m.bench.engine.Control(op.ID, core.ControlStop)
			}
		}
		if open == 0 {
			break
		}
		if time.Now().After(deadline) {
			m.rt.Fatalf("%d operations never come to rest: %+v", open, m.bench.engine.Snapshot().Operations)
		}
		time.Sleep(time.Second)
	}
	m.check(m.rt)
}
