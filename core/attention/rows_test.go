package attention

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/scene"
	"lockstep/sim/bubble/lane"
)

// everyRule are scenes in which every rule of attention finds something: those of the tables, and one for each rule that is not in
// them.
func everyRule() map[string]scene.Scene {
	all := map[string]scene.Scene{}
	for _, tt := range attentionScenes() {
		sc := scene.Healthy()
		tt.given(sc)
		all[tt.name] = sc
	}
	for _, tt := range managedScenes() {
		m := scene.Healthy().Managed()
		all["managed: "+tt.name] = m.Join(tt.given(m)...)
	}
	going := goingQuorum()
	going.DaemonPods["openstack/mariadb-server"][1].Ready = false
	all["a quorum goes with a node"] = going
	for name, given := range map[string]func(sc scene.Scene){
		"role labels that cannot be read": func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, RoleLabels: "nonsense"}
		},
		"the controller is scaled to nothing": func(sc scene.Scene) {
			sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}}
			sc.Returning("cmp-01", 20*time.Minute, "")
		},
		"a note whose time has come": func(sc scene.Scene) {
			sc.Notes = []core.Note{{ID: "1", Text: "the owner stops it", By: "anna", At: scene.Ago(time.Hour), Until: scene.Ago(time.Minute)}}
		},
		"a silence was ended by somebody else": func(sc scene.Scene) {
			sc.Alertmanager(nil)
			sc.History.Silences = silenced().History.Silences
		},
		"a cluster lock that says what nobody knows": func(sc scene.Scene) { sc.Update(time.Hour); sc.ClusterLocks[0].Message = "Something new" },
		"a lock was set back": func(sc scene.Scene) {
			l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
			sc.Update(time.Hour)
			sc.History.Overrides = map[string]core.Override{l.UID: {Lock: l.Ref(), Was: core.LockActive, To: core.LockInactive,
				At: scene.Ago(30 * time.Minute), By: "anna", Request: sc.Request("cmp-01", time.Minute).UID}}
		},
		"the controller fails": func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.NodeRequest("cmp-01").Kept = core.Bookkeeping{Marked: true, Change: scene.Failed(4, "TypeError")}
		},
		"a request that the controller has never seen": func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
			sc.NodeRequest("cmp-01").Finalizers = nil
			sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, Ready: 1}
			sc.NodeRequests["cmp-02"] = append(sc.NodeRequests["cmp-02"], sc.Request("cmp-02", 0))
			sc.NodeRequests["cmp-02"][0].Kept.Marked = true
			sc.NodeRequests["cmp-02"] = sc.NodeRequests["cmp-02"][:1]
		},
		"Lockstep's own cold migration waits": func(sc scene.Scene) {
			in := sc.Instance("cmp-02", "app-1")
			in.Status = "VERIFY_RESIZE"
			sc.History.Cold = map[string]core.ColdMigration{in.ID: {Name: "app-1", From: "cmp-01", At: scene.Ago(time.Hour), By: "anna"}}
		},
		"pods that have ended": func(sc scene.Scene) {
			sc.Returning("cmp-01", 3*time.Minute, "")
			scene.EndedOn(sc, "cmp-01", "octavia-1")
		},
		"no nova-compute":      func(sc scene.Scene) { sc.Maintained("cmp-01", ""); delete(sc.Services, "cmp-01") },
		"a lock left inactive": func(sc scene.Scene) { sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive },
		"a compute of no role": func(sc scene.Scene) {
			sc.Nodes["cmp-01"].Roles = nil
			sc.NodeLocks = sc.NodeLocks.Without("cmp-01")
			sc.Request("cmp-01", time.Hour)
		},
		"a mode that is no use": func(sc scene.Scene) { sc.Mode("gtw-01", core.ModeManual); sc.Maintained("gtw-01", "") },
		"Ceph is not well": func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.Lock("cmp-01", core.ControllerCeph, core.LockActive)
			sc.Ceph = []*core.CephCluster{{Meta: core.Meta{Name: "ceph"}, Health: core.CephWarn, Checks: []core.CephHealth{{Name: "OSD_DOWN",
				Message: "1 osds down"}}}}
		},
		"volumes left": func(sc scene.Scene) {
			sc.VolumeServices["cmp-01"] = []*core.VolumeService{{Host: "cmp-01@lvm", DisabledReason: core.DisabledReasonMaintenance, Up: true,
				Updated: scene.Ago(time.Hour)}}
		},
		"disks that instances elsewhere use": func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.VolumeService("cmp-01@lvm")
			sc.Volumes["cmp-01"] = &core.HostVolumes{Host: "cmp-01", Volumes: []core.Volume{{ID: "v1", Name: "data-1", Host: "cmp-01@lvm#lvm",
				Status: "in-use", Instances: []string{sc.ByHost["cmp-02"][0].ID}}}}
		},
		"tags left": func(sc scene.Scene) {
			sc.Update(2 * time.Hour)
			in := sc.ByHost["cmp-01"][0]
			in.Tags = []string{core.TagMaintenanceAction + "poweroff"}
			sc.History.Tags[in.ID] = core.TagChange{Instance: "web-1", Old: []core.MaintenanceAction{core.ActionNotify},
				New: []core.MaintenanceAction{core.ActionPowerOff}, At: scene.Ago(time.Hour)}
			sc.History.Rounds["uid-cmp-01"] = core.Round{Request: "r", Update: "cmr", Started: scene.Ago(50 * time.Minute),
				Ended: scene.Ago(10 * time.Minute)}
		},
		"many that will hold": func(sc scene.Scene) {
			sc.Update(time.Hour)
			for i := range 2 * heldFew {
				name := "cmp-1" + strconv.Itoa(i)
				sc.Node(name, core.RoleCompute)
				sc.Instance(name, "batch-"+name, "notify")
			}
		},
		"a removal is held up": func(sc scene.Scene) {
			sc.Deletions["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Created: scene.Ago(30 * time.Minute)}, Kind: core.KindNodeDeletionRequest,
				Node: "cmp-01"}
			sc.NodeLock("cmp-01",
				core.ControllerOpenStack).Message = "2026-03-14 11:59:00.0 Some volumes ['v'] are still present on host cmp-01. Blocking node " +
				"removal unless they removed or migrated."
		},
		"an update of more than a day": func(sc scene.Scene) { sc.Update(30 * time.Hour) },
		"Lockstep plays it": func(sc scene.Scene) {
			sc.Settings = scene.PlaysOpenStack()
			sc.Maintained("cmp-01", "")
		},
		"a batch is paused that is about no node": func(sc scene.Scene) {
			sc.Operations = []core.Operation{{ID: "7", Title: "restart pods", State: core.OperationPaused, Started: scene.Ago(time.Minute),
				Items: []core.OperationItem{{Label: "ovs-1", State: core.OperationFailed, Text: "no"}}}}
		},
		"a batch of instances": func(sc scene.Scene) {
			sc.Operations = []core.Operation{{ID: "7", Title: "move all", Node: "cmp-01", State: core.OperationUnknown,
				Started: scene.Ago(time.Minute), Items: []core.OperationItem{{Label: "web-1", Instance: scene.IDA, State: core.OperationUnknown}}}}
		},
		"the management cluster does not answer": func(sc scene.Scene) {
			for _, id := range core.ManagementSources() {
				sc.Sources[id] = core.Source{ID: id, State: core.SourceStale, Since: scene.Ago(2 * time.Minute), AsOf: scene.Ago(2 * time.Minute),
					Err: &core.APIError{Kind: core.ErrUnreachable, Server: core.ServerManagement, Call: "watch " + string(id),
						Message: "connection refused"}}
			}
		},
		"nothing has answered yet": func(sc scene.Scene) {
			for id := range sc.Sources {
				sc.Source(id, core.SourceConnecting)
			}
		},
	} {
		sc := scene.Healthy()
		given(sc)
		all[name] = sc.Again()
	}
	for name, given := range map[string]func(m *scene.Managed) []core.Object{
		"errors of a machine": func(m *scene.Managed) []core.Object {
			m.Agents["cmp-01"].DrainError, m.Agents["cmp-01"].AgentError, m.Agents["cmp-01"].RebootError = "it cannot be drained",
				"no agent for this image", "it did not go down"
			return nil
		},
		"an alert that pauses": func(m *scene.Managed) []core.Object {
			m.Planned(3).Status = core.PlanAutoPaused
			return []core.Object{&core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod"}, Alerts: []string{"A"}, Firing: []string{"A"},
				Error: "no such alert"}}
		},
		"maintenance mode": func(m *scene.Managed) []core.Object {
			m.Cluster.InMaintenance, m.Cluster.Maintenance = true, new(true)
			return nil
		},
	} {
		m := scene.Healthy().Managed()
		all["managed: "+name] = m.Join(given(m)...)
	}
	outdated := scene.Healthy().Managed()
	outdated.Planned(0)
	outdated.Plan.Status, outdated.Plan.Started = core.PlanNotStarted, time.Time{}
	outdated.Plan.Target = "mosk-21-0-0-25-2"
	all["managed: an older management cluster"] = outdated.Join(&core.ManagementRelease{Meta: core.Meta{Name: "kaas-2-30-0"}, Active: true,
		Version: "2.30.0"},
		&core.ManagementUpgrade{Meta: core.Meta{Name: core.UpgradeName}, Next: "2.31.0"})
	all["a lock in deletion"] = scene.Unlabelled().Again()
	after := scene.Over()
	after.Nodes["cmp-01"].Cordoned = true
	all["after an update"] = after.Again()
	return all
}

// open tells whether the procedure has a step for the operator: to confirm, to mend, or to do by hand.
func open(p core.Procedure) bool {
	return slices.ContainsFunc(p.Steps, func(st core.Step) bool {
		return st.State != core.StepDone && st.State != core.StepLater && (st.Intent.Kind != "" || len(st.Commands) > 0 || len(st.Tell) > 0)
	})
}

// A command that is shown reaches this cluster and this cloud, wherever the operator's shell is: copied into a shell whose current context
// is another cluster, it would change that one.
func TestEveryCommandNamesItsCluster(t *testing.T) {
	lane.Single(t)
	seen, begins := 0, regexp.MustCompile(`(\bkubectl|(^|[|;:(&] )openstack) \S+`)
	check := func(where string, lines ...string) {
		t.Helper()
		for _, line := range lines {
			for _, part := range begins.FindAllString(line, -1) {
				switch seen++; strings.TrimLeft(part, "|;:(& ") {
				case "kubectl --context", "kubectl --kubeconfig", "openstack --os-cloud":
				default:
					t.Errorf("%s: %s", where, line)
				}
			}
		}
	}
	var steps func(where string, all []core.Step)
	steps = func(where string, all []core.Step) {
		for _, st := range all {
			check(where+": "+st.Title, append(st.Commands, st.Undo)...)
			for _, g := range st.Guards {
				check(where+": "+st.Title, g.Remedy)
			}
			steps(where, st.Alternatives)
		}
	}
	for name, sc := range everyRule() {
		sc.Own = core.ClusterPlace{Context: "mos", Cloud: "mos-cloud"}
		sc.Place.Context = "management"
		s := sc.Again().Snapshot
		for _, a := range Of(s) {
			for _, c := range a.Commands {
				check(name+": "+a.ID, c.Line)
			}
			if a.Resolve != nil {
				p, _ := procedure.Of(s, *a.Resolve)
				steps(name, p.Steps)
			}
		}
		for node := range s.Nodes {
			p, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureNode, Subject: node})
			steps(name, p.Steps)
		}
		for _, kind := range []core.ProcedureKind{core.ProcedureCluster, core.ProcedureAfter, core.ProcedureUpdate, core.ProcedureMaintenance} {
			p, _ := procedure.Of(s, core.ProcedureKey{Kind: kind})
			steps(name, p.Steps)
		}
	}
	if seen < 500 {
		t.Errorf("only %d commands were seen", seen)
	}
}

// Every entry has a way on (a step or commands) and its evidence. No rule is left out.
func TestEveryEntryHasAWayOn(t *testing.T) {
	told := map[core.AttentionRule]core.Severity{}
	for name, sc := range everyRule() {
		for _, a := range Of(sc.Snapshot) {
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
			if a.Severity == core.SeverityUrgent && len(a.Evidence) == 0 {
				t.Errorf("%s: no evidence", where)
			}
			for _, e := range a.Evidence {
				if e.Of == "" || e.Says == "" || strings.ContainsAny(e.Of+e.Says, "\n\x1b") {
					t.Errorf("%s: %+v", where, e)
				}
			}
			step := false
			if a.Resolve != nil {
				p, ok := procedure.Of(sc.Snapshot, *a.Resolve)
				if step = ok && open(p); !ok {
					t.Errorf("%s: %+v is not known", where, *a.Resolve)
				}
			}
			if a.Severity == core.SeverityUrgent && !step && len(a.Commands) == 0 {
				t.Errorf("%s: it is urgent, and there is neither a step nor a command", where)
			}
			checkCause(t, Of(sc.Snapshot), a)
		}
	}
	for rule := range rows {
		if told[rule] == 0 {
			t.Errorf("no scene here makes the rule %s tell anything", rule)
		}
	}
	for rule := range told {
		if _, there := rows[rule]; !there {
			t.Errorf("the rule %s has no row", rule)
		}
	}
}

type failer interface {
	Helper()
	Errorf(string, ...any)
}

// checkCause checks that a cause is in the list, has no cause itself, and stands above what follows from it.
func checkCause(t failer, all []core.Attention, a core.Attention) {
	t.Helper()
	if a.Cause == "" {
		return
	}
	cause := slices.IndexFunc(all, func(b core.Attention) bool { return b.ID == a.Cause })
	own := slices.IndexFunc(all, func(b core.Attention) bool { return b.ID == a.ID })
	if cause < 0 || all[cause].Cause != "" || cause >= own {
		t.Errorf("%s follows from %s, at %d and %d", a.ID, a.Cause, own, cause)
	}
}

func TestWhateverIsShownACauseStandsAbove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.DrawScene(t)
		if rapid.Bool().Draw(t, "away") {
			sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: rapid.IntRange(0, 2).Draw(t, "replicas")}
		}
		for _, a := range Of(sc.Snapshot) {
			checkCause(t, Of(sc.Snapshot), a)
			if len(a.Commands) == 0 {
				t.Fatalf("%s has no command", a.ID)
			}
		}
	})
}

// Every rule has its row, and every row a rule.
func TestEveryRuleHasItsRow(t *testing.T) {
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	named := map[core.AttentionRule]bool{}
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
				named[core.AttentionRule(rule)] = true
			}
			return true
		})
	}
	for rule := range named {
		if _, there := rows[rule]; !there {
			t.Errorf("the table has no row of the rule %s", rule)
		}
		if c := consequences[rule]; !slices.Contains(core.Impacts(), c.impact) {
			t.Errorf("what suffers from %s is %q", rule, c.impact)
		}
	}
	if len(named) != len(rows) || len(named) != len(consequences) {
		t.Errorf("found only the rules %q", slices.Sorted(maps.Keys(named)))
	}
}

// An entry that only follows from another one names it and stands below it, whatever its age.
func TestWhatFollowsFromWhat(t *testing.T) {
	away := func(sc scene.Scene) {
		sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}}
	}
	for name, tt := range map[string]struct {
		given func(m *scene.Managed) []core.Object
		want  map[string]string // rules: the one that follows, and its cause
	}{
		"the controller is scaled to 0": {func(m *scene.Managed) []core.Object {
			away(m.Scene)
			m.Returning("cmp-01", 20*time.Minute, "")
			st := &m.Planned(3).Steps[3]
			st.Status, st.Commence, st.Started = core.PlanStuck, true, scene.Ago(2*time.Hour)
			m.Lcm.Stuck, m.Lcm.StuckMessage = true, "takes longer than estimated"
			return nil
		}, map[string]string{"controller-away": "", "node-slow": "controller-away", "plan-stuck": "controller-away",
			"lcm-stuck": "controller-away"}},
		"it does not start": {func(m *scene.Managed) []core.Object {
			m.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, RoleLabels: "nonsense"}
			m.Returning("cmp-01", 20*time.Minute, "")
			return nil
		}, map[string]string{"role-labels": "", "controller-away": "role-labels", "node-slow": "role-labels"}},
		"scaled to 0, its setting is not even read": {func(m *scene.Managed) []core.Object {
			away(m.Scene)
			m.Controller.RoleLabels = "nonsense"
			m.Update(time.Hour)
			return nil
		}, map[string]string{"role-labels": "", "controller-away": ""}},
		"a node waits": {func(m *scene.Managed) []core.Object {
			m.Mode("cmp-01", core.ModeManual)
			m.Maintained("cmp-01", scene.StillPresent)
			st := &m.Planned(3).Steps[3]
			st.Status, st.Commence, st.Started = core.PlanStuck, true, scene.Ago(3*time.Hour)
			return nil
		}, map[string]string{"node-waits": "", "plan-stuck": "node-waits"}},
		"of another group": {func(m *scene.Managed) []core.Object {
			m.Mode("cmp-01", core.ModeManual)
			m.Maintained("cmp-01", scene.StillPresent)
			m.Machines["cmp-01"].Group = "rack-b"
			st := &m.Planned(3).Steps[3]
			st.Status, st.Commence, st.Started = core.PlanStuck, true, scene.Ago(3*time.Hour)
			return nil
		}, map[string]string{"node-waits": "", "plan-stuck": ""}},
		"LCM names another node": {func(m *scene.Managed) []core.Object {
			m.Mode("cmp-01", core.ModeManual)
			m.Maintained("cmp-01", scene.StillPresent)
			m.Lcm.Stuck, m.Lcm.StuckMessage = true, "machine m-cmp-02: node is not Ready"
			return nil
		}, map[string]string{"node-waits": "", "lcm-stuck": ""}},
		"LCM names a machine that is no node": {func(m *scene.Managed) []core.Object {
			m.Mode("cmp-01", core.ModeManual)
			m.Maintained("cmp-01", scene.StillPresent)
			m.Lcm.Stuck, m.Lcm.StuckMessage = true, "machine new-17: not Ready"
			return nil
		}, map[string]string{"node-waits": "", "lcm-stuck": ""}},
		"a drain is refused, and the node is slow": {func(m *scene.Managed) []core.Object {
			m.Handed("cmp-01")
			m.NodeRequest("cmp-01").Created = scene.Ago(10 * time.Hour)
			return []core.Object{scene.Drain("m-cmp-01", scene.BudgetText, 3)}
		}, map[string]string{"drain-blocked": "", "node-slow": "drain-blocked", "phase": "drain-blocked"}},
		"OpenStack answers nobody": {func(m *scene.Managed) []core.Object {
			m.Maintained("cmp-01", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
			for _, id := range []core.SourceID{core.SourceInstances, core.SourceMigrations, core.SourceComputeServices} {
				m.Source(id, core.SourceFailed)
				m.Sources[id].Err.Kind = core.ErrUnreachable
			}
			return nil
		}, map[string]string{"sources": "", "outage": "sources"}},
		"OpenStack answers Lockstep": {func(m *scene.Managed) []core.Object {
			m.Maintained("cmp-01", "Retrying migrate instances from host. Cannot execute openstack commands, error: 503")
			return nil
		}, map[string]string{"outage": ""}},
		"LCM waits for a lock that waits for the operator": {func(m *scene.Managed) []core.Object {
			m.Mode("cmp-01", core.ModeManual)
			m.Maintained("cmp-01", scene.StillPresent)
			return []core.Object{scene.Swarm("m-cmp-01", scene.SwarmWaitText, 4)}
		}, map[string]string{"node-waits": "", "drain-waits": "node-waits"}},
		"the plan is not gone on with for a day": {func(m *scene.Managed) []core.Object {
			m.Planned(3).Started = scene.Ago(30 * time.Hour)
			return nil
		}, map[string]string{"plan-waits": "", "between-releases": "plan-waits"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := scene.Healthy().Managed()
			sc := m.Join(tt.given(m)...)
			all := Of(sc.Snapshot)
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
	sc := scene.Healthy()
	sc.Controller = &core.Deployment{Meta: core.Meta{Namespace: "osh-system", Name: "rockoon"}, Replicas: 1, RoleLabels: "nonsense"}
	sc.Update(time.Hour)
	all := Of(sc.Snapshot)
	if len(all) != 2 || all[0].Rule != "role-labels" || all[0].Severity != core.SeverityUrgent || all[1].Cause != all[0].ID {
		t.Errorf("%+v", all)
	}
	if got := Following(sc.Snapshot, all[0].ID); len(got) != 1 || got[0].ID != "controller-away" {
		t.Errorf("%+v", got)
	}
}
