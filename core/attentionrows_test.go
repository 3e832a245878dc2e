package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// everyRule are scenes in which every rule of attention has something to tell: those of the tables, and one of each rule that is in none.
func everyRule() map[string]scene {
	all := map[string]scene{}
	for _, tt := range attentionScenes() {
		sc := healthy()
		tt.given(sc)
		all[tt.name] = sc
	}
	for _, tt := range managedScenes() {
		m := healthy().managed()
		all["managed: "+tt.name] = m.join(tt.given(m)...)
	}
	for name, given := range map[string]func(sc scene){
		"role labels that cannot be read": func(sc scene) {
			sc.update(time.Hour)
			sc.Controller = &Deployment{Meta: Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, RoleLabels: "nonsense"}
		},
		"the controller is scaled to nothing": func(sc scene) {
			sc.Controller = &Deployment{Meta: Meta{Namespace: "osh-system", Name: "rockoon"}}
			sc.returning("cmp-01", 20*time.Minute, "")
		},
		"a cluster lock that says what nobody knows": func(sc scene) { sc.update(time.Hour); sc.ClusterLocks[0].Message = "Something new" },
		"a lock was set back": func(sc scene) {
			l := sc.NodeLock("cmp-01", ControllerOpenStack)
			sc.update(time.Hour)
			sc.History.Overrides = map[string]Override{l.UID: {Lock: l.Ref(), Was: LockActive, To: LockInactive, At: ago(30 * time.Minute), By: "anna", Request: sc.request("cmp-01", time.Minute).UID}}
		},
		"the controller fails": func(sc scene) {
			sc.maintained("cmp-01", "")
			sc.NodeRequest("cmp-01").Kept = Bookkeeping{Marked: true, Change: failed(4, "TypeError")}
		},
		"a request that the controller has never seen": func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.NodeRequest("cmp-01").Finalizers = nil
			sc.Controller = &Deployment{Meta: Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, Ready: 1}
			sc.NodeRequests["cmp-02"] = append(sc.NodeRequests["cmp-02"], sc.request("cmp-02", 0))
			sc.NodeRequests["cmp-02"][0].Kept.Marked = true
			sc.NodeRequests["cmp-02"] = sc.NodeRequests["cmp-02"][:1]
		},
		"Lockstep's own cold migration waits": func(sc scene) {
			in := sc.instance("cmp-02", "app-1")
			in.Status = "VERIFY_RESIZE"
			sc.History.Cold = map[string]ColdMigration{in.ID: {Name: "app-1", From: "cmp-01", At: ago(time.Hour), By: "anna"}}
		},
		"pods that have ended": func(sc scene) { sc.returning("cmp-01", 3*time.Minute, ""); endedOn(sc, "cmp-01", "octavia-1") },
		"no nova-compute":      func(sc scene) { sc.maintained("cmp-01", ""); delete(sc.Services, "cmp-01") },
		"a lock left inactive": func(sc scene) { sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockInactive },
		"a compute of no role": func(sc scene) {
			sc.Nodes["cmp-01"].Roles = nil
			delete(sc.NodeLocks, "cmp-01")
			sc.request("cmp-01", time.Hour)
		},
		"a mode that is no use": func(sc scene) { sc.mode("gtw-01", ModeManual); sc.maintained("gtw-01", "") },
		"volumes left": func(sc scene) {
			sc.VolumeServices["cmp-01"] = []*VolumeService{{Host: "cmp-01@lvm", DisabledReason: DisabledReasonMaintenance, Up: true, Updated: ago(time.Hour)}}
		},
		"tags left": func(sc scene) {
			sc.update(2 * time.Hour)
			in := sc.ByHost["cmp-01"][0]
			in.Tags = []string{TagMaintenanceAction + "poweroff"}
			sc.History.Tags[in.ID] = TagChange{Instance: "web-1", Old: []MaintenanceAction{ActionNotify}, New: []MaintenanceAction{ActionPowerOff}, At: ago(time.Hour)}
			sc.History.Rounds["uid-cmp-01"] = Round{Request: "r", Update: "cmr", Started: ago(50 * time.Minute), Ended: ago(10 * time.Minute)}
		},
		"many that will hold": func(sc scene) {
			sc.update(time.Hour)
			for i := range 2 * heldFew {
				name := "cmp-1" + strconv.Itoa(i)
				sc.node(name, RoleCompute)
				sc.instance(name, "batch-"+name, "notify")
			}
		},
		"a removal is held up": func(sc scene) {
			sc.Deletions["cmp-01"] = &NodeNotice{Meta: Meta{Created: ago(30 * time.Minute)}, Kind: KindNodeDeletionRequest, Node: "cmp-01"}
			sc.NodeLock("cmp-01", ControllerOpenStack).Message = "2026-03-14 11:59:00.0 Some volumes ['v'] are still present on host cmp-01. Blocking node removal unless they removed or migrated."
		},
		"an update of more than a day": func(sc scene) { sc.update(30 * time.Hour) },
		"Lockstep plays it": func(sc scene) {
			sc.Settings = playsOpenStack()
			sc.maintained("cmp-01", "")
		},
		"a batch is paused that is about no node": func(sc scene) {
			sc.Operations = []Operation{{ID: "7", Title: "restart pods", State: OperationPaused, Started: ago(time.Minute), Items: []OperationItem{{Label: "ovs-1", State: OperationFailed, Text: "no"}}}}
		},
		"a batch of instances": func(sc scene) {
			sc.Operations = []Operation{{ID: "7", Title: "move all", Node: "cmp-01", State: OperationUnknown, Started: ago(time.Minute), Items: []OperationItem{{Label: "web-1", Instance: idA, State: OperationUnknown}}}}
		},
		"the management cluster does not answer": func(sc scene) {
			for _, id := range ManagementSources() {
				sc.Sources[id] = Source{ID: id, State: SourceStale, Since: ago(2 * time.Minute), AsOf: ago(2 * time.Minute),
					Err: &APIError{Kind: ErrUnreachable, Server: ServerManagement, Call: "watch " + string(id), Message: "connection refused"}}
			}
		},
		"nothing has answered yet": func(sc scene) {
			for id := range sc.Sources {
				sc.source(id, SourceConnecting)
			}
		},
	} {
		sc := healthy()
		given(sc)
		all[name] = sc.again()
	}
	for name, given := range map[string]func(m *managed) []Object{
		"errors of a machine": func(m *managed) []Object {
			m.agents["cmp-01"].DrainError, m.agents["cmp-01"].AgentError, m.agents["cmp-01"].RebootError = "it cannot be drained", "no agent for this image", "it did not go down"
			return nil
		},
		"an alert that pauses": func(m *managed) []Object {
			m.planned(3).Status = PlanAutoPaused
			return []Object{&AutoPause{Meta: Meta{Name: "mos", Namespace: "prod"}, Alerts: []string{"A"}, Firing: []string{"A"}, Error: "no such alert"}}
		},
		"maintenance mode": func(m *managed) []Object {
			m.cluster.InMaintenance, m.cluster.Maintenance = true, new(true)
			return nil
		},
	} {
		m := healthy().managed()
		all["managed: "+name] = m.join(given(m)...)
	}
	outdated := healthy().managed()
	outdated.planned(0)
	outdated.plan.Status, outdated.plan.Started = PlanNotStarted, time.Time{}
	outdated.plan.Target = "mosk-21-0-0-25-2"
	all["managed: an older management cluster"] = outdated.join(&ManagementRelease{Meta: Meta{Name: "kaas-2-30-0"}, Active: true, Version: "2.30.0"},
		&ManagementUpgrade{Meta: Meta{Name: upgradeName}, Next: "2.31.0"})
	all["a lock in deletion"] = unlabelled().again()
	after := over()
	after.Nodes["cmp-01"].Cordoned = true
	all["after an update"] = after.again()
	return all
}

// open tells whether the procedure has a step that is the operator's: to confirm, to mend, or to do by hand.
func (p Procedure) open() bool {
	return slices.ContainsFunc(p.Steps, func(st Step) bool {
		return st.State != StepDone && st.State != StepLater && (st.Intent.Kind != "" || len(st.Commands) > 0 || len(st.Tell) > 0)
	})
}

// Whatever is told, there is a way on from it: a step, or commands; and it says what it rests on. No rule is left out.
func TestEveryEntryHasAWayOn(t *testing.T) {
	told := map[AttentionRule]Severity{}
	for name, sc := range everyRule() {
		for _, a := range sc.Attention() {
			told[a.Rule] = max(told[a.Rule], a.Severity)
			where := name + ": " + a.ID + ": " + a.Reason
			if len(a.Commands) == 0 {
				t.Errorf("%s: no command", where)
			}
			for _, c := range a.Commands {
				if c.For == "" || strings.ContainsAny(c.For+c.Line, "\n\x1b") || len(c.For) > 30 {
					t.Errorf("%s: %+v", where, c)
				}
			}
			if a.Severity == SeverityUrgent && len(a.Evidence) == 0 {
				t.Errorf("%s: no evidence", where)
			}
			for _, e := range a.Evidence {
				if e.Of == "" || e.Says == "" || strings.ContainsAny(e.Of+e.Says, "\n\x1b") {
					t.Errorf("%s: %+v", where, e)
				}
			}
			step := false
			if a.Resolve != nil {
				p, ok := sc.Procedure(*a.Resolve)
				if step = ok && p.open(); !ok {
					t.Errorf("%s: %+v is not known", where, *a.Resolve)
				}
			}
			if a.Severity == SeverityUrgent && !step && len(a.Commands) == 0 {
				t.Errorf("%s: it is urgent, and there is neither a step nor a command", where)
			}
			checkCause(t, sc.Attention(), a)
		}
	}
	for rule := range attentionRows {
		if told[rule] == 0 {
			t.Errorf("no scene here makes the rule %s tell anything", rule)
		}
	}
	for rule := range told {
		if _, there := attentionRows[rule]; !there {
			t.Errorf("the rule %s has no row", rule)
		}
	}
}

type failer interface {
	Helper()
	Errorf(string, ...any)
}

// checkCause checks that a cause is in the list, has no cause itself, and stands above what follows from it.
func checkCause(t failer, all []Attention, a Attention) {
	t.Helper()
	if a.Cause == "" {
		return
	}
	cause := slices.IndexFunc(all, func(b Attention) bool { return b.ID == a.Cause })
	own := slices.IndexFunc(all, func(b Attention) bool { return b.ID == a.ID })
	if cause < 0 || all[cause].Cause != "" || cause >= own {
		t.Errorf("%s follows from %s, at %d and %d", a.ID, a.Cause, own, cause)
	}
}

func TestWhateverIsShownACauseStandsAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScene(t)
		if rapid.Bool().Draw(t, "away") {
			sc.Controller = &Deployment{Meta: Meta{Name: "rockoon"}, Replicas: rapid.IntRange(0, 2).Draw(t, "replicas")}
		}
		for _, a := range sc.Attention() {
			checkCause(t, sc.Attention(), a)
			if len(a.Commands) == 0 {
				t.Fatalf("%s has no command", a.ID)
			}
		}
	})
}

// Every rule has its row, and every row a rule.
func TestEveryRuleHasItsRow(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[AttentionRule]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "AttentionRule" {
				rule, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				named[AttentionRule(rule)] = true
			}
			return true
		})
	}
	for rule := range named {
		if _, there := attentionRows[rule]; !there {
			t.Errorf("the table has no row of the rule %s", rule)
		}
	}
	if len(named) != len(attentionRows) {
		t.Errorf("found only the rules %q", slices.Sorted(maps.Keys(named)))
	}
}

// What only follows from another entry names it, and stands below it, whatever its age.
func TestWhatFollowsFromWhat(t *testing.T) {
	away := func(sc scene) {
		sc.Controller = &Deployment{Meta: Meta{Namespace: "osh-system", Name: "rockoon"}}
	}
	for name, tt := range map[string]struct {
		given func(m *managed) []Object
		want  map[string]string // what follows, and from what: rules
	}{
		"the controller is scaled to 0": {func(m *managed) []Object {
			away(m.scene)
			m.returning("cmp-01", 20*time.Minute, "")
			st := &m.planned(3).Steps[3]
			st.Status, st.Commence, st.Started = PlanStuck, true, ago(2*time.Hour)
			m.lcm.Stuck, m.lcm.StuckMessage = true, "takes longer than estimated"
			return nil
		}, map[string]string{"controller-away": "", "node-slow": "controller-away", "plan-stuck": "controller-away", "lcm-stuck": "controller-away"}},
		"it does not start": {func(m *managed) []Object {
			m.Controller = &Deployment{Meta: Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, RoleLabels: "nonsense"}
			m.returning("cmp-01", 20*time.Minute, "")
			return nil
		}, map[string]string{"role-labels": "", "controller-away": "role-labels", "node-slow": "role-labels"}},
		"scaled to 0, its setting is not even read": {func(m *managed) []Object {
			away(m.scene)
			m.Controller.RoleLabels = "nonsense"
			m.update(time.Hour)
			return nil
		}, map[string]string{"role-labels": "", "controller-away": ""}},
		"a node waits": {func(m *managed) []Object {
			m.mode("cmp-01", ModeManual)
			m.maintained("cmp-01", stillPresent)
			st := &m.planned(3).Steps[3]
			st.Status, st.Commence, st.Started = PlanStuck, true, ago(3*time.Hour)
			return nil
		}, map[string]string{"node-waits": "", "plan-stuck": "node-waits"}},
		"of another group": {func(m *managed) []Object {
			m.mode("cmp-01", ModeManual)
			m.maintained("cmp-01", stillPresent)
			m.machines["cmp-01"].Group = "rack-b"
			st := &m.planned(3).Steps[3]
			st.Status, st.Commence, st.Started = PlanStuck, true, ago(3*time.Hour)
			return nil
		}, map[string]string{"node-waits": "", "plan-stuck": ""}},
		"LCM names another node": {func(m *managed) []Object {
			m.mode("cmp-01", ModeManual)
			m.maintained("cmp-01", stillPresent)
			m.lcm.Stuck, m.lcm.StuckMessage = true, "machine m-cmp-02: node is not Ready"
			return nil
		}, map[string]string{"node-waits": "", "lcm-stuck": ""}},
		"LCM names a machine that is no node": {func(m *managed) []Object {
			m.mode("cmp-01", ModeManual)
			m.maintained("cmp-01", stillPresent)
			m.lcm.Stuck, m.lcm.StuckMessage = true, "machine new-17: not Ready"
			return nil
		}, map[string]string{"node-waits": "", "lcm-stuck": ""}},
		"a drain is refused, and the node is slow": {func(m *managed) []Object {
			m.handed("cmp-01")
			m.NodeRequest("cmp-01").Created = ago(10 * time.Hour)
			return []Object{drain("m-cmp-01", budgetText, 3)}
		}, map[string]string{"drain-blocked": "", "node-slow": "drain-blocked", "phase": "drain-blocked"}},
		"OpenStack answers nobody": {func(m *managed) []Object {
			m.maintained("cmp-01", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
			for _, id := range []SourceID{SourceInstances, SourceMigrations, SourceComputeServices} {
				m.source(id, SourceFailed)
				m.Sources[id].Err.Kind = ErrUnreachable
			}
			return nil
		}, map[string]string{"sources": "", "outage": "sources"}},
		"OpenStack answers Lockstep": {func(m *managed) []Object {
			m.maintained("cmp-01", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
			return nil
		}, map[string]string{"outage": ""}},
		"LCM waits for a lock that waits for the operator": {func(m *managed) []Object {
			m.mode("cmp-01", ModeManual)
			m.maintained("cmp-01", stillPresent)
			return []Object{swarm("m-cmp-01", swarmWaitText, 4)}
		}, map[string]string{"node-waits": "", "drain-waits": "node-waits"}},
		"the plan is not gone on with for a day": {func(m *managed) []Object {
			m.planned(3).Started = ago(30 * time.Hour)
			return nil
		}, map[string]string{"plan-waits": "", "between-releases": "plan-waits"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := healthy().managed()
			sc := m.join(tt.given(m)...)
			all := sc.Attention()
			got := map[string]string{}
			for _, a := range all {
				cause, _, _ := strings.Cut(a.Cause, "/")
				got[string(a.Rule)] = cause
				checkCause(t, all, a)
			}
			if !maps.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// A cause is as urgent as the most urgent of what follows from it.
func TestACauseIsAsUrgentAsWhatFollows(t *testing.T) {
	sc := healthy()
	sc.Controller = &Deployment{Meta: Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, RoleLabels: "nonsense"}
	sc.update(time.Hour)
	all := sc.Attention()
	if len(all) != 2 || all[0].Rule != "role-labels" || all[0].Severity != SeverityUrgent || all[1].Cause != all[0].ID {
		t.Errorf("%+v", all)
	}
	if got := sc.FollowFrom(all[0].ID); len(got) != 1 || got[0].ID != "controller-away" {
		t.Errorf("%+v", got)
	}
}
