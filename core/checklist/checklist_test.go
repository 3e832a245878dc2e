package checklist_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/core/evacuation"
	"lockstep/core/procedure"
	"lockstep/scene"
)

func pointOf(t *testing.T, r checklist.Report, id string) checklist.Point {
	t.Helper()
	i := slices.IndexFunc(r.Points, func(p checklist.Point) bool { return p.ID == id })
	if i < 0 {
		t.Fatalf("the report has no point %s", id)
	}
	return r.Points[i]
}

// pointScene is what speaks against a point: the verdict, and what is said.
type pointScene struct {
	point string
	given func(sc scene.Scene) checklist.Room
	want  checklist.Verdict
	says  string
}

func pointScenes() map[string]pointScene {
	type given func(sc scene.Scene) checklist.Room
	only := func(f func(sc scene.Scene)) given {
		return func(sc scene.Scene) checklist.Room { f(sc); return checklist.Room{} }
	}
	always := func(room checklist.Room) given { return func(scene.Scene) checklist.Room { return room } }
	return map[string]pointScene{
		"a node that is cordoned": {"cordons", only(func(sc scene.Scene) {
			sc.Nodes["cmp-01"].Cordoned = true
		}), checklist.Warn, "cmp-01: cordoned"},
		"a node that is not Ready": {"nodes", only(func(sc scene.Scene) {
			sc.Nodes["cmp-01"].Ready = "False"
		}), checklist.Fail, "cmp-01: not Ready"},
		"a full disk": {"pressure", only(func(sc scene.Scene) {
			sc.Nodes["cmp-01"].Pressure = []string{"DiskPressure"}
		}), checklist.Fail, "cmp-01: DiskPressure"},
		"short of memory": {"pressure", only(func(sc scene.Scene) {
			sc.Nodes["cmp-01"].Pressure = []string{"MemoryPressure"}
		}), checklist.Warn, "cmp-01: MemoryPressure"},
		"a backup without room": {"backups", only(func(sc scene.Scene) {
			sc.Nodes["cmp-01"].Pressure = []string{"DiskPressure"}
		}), checklist.Warn, "cmp-01: DiskPressure: its disk is nearly full"},
		"a request that was left": {"requests", only(func(sc scene.Scene) {
			sc.Request("cmp-01", time.Hour)
		}), checklist.Fail, "cmp-01: its maintenance request is there"},
		"a removal": {"removals", only(func(sc scene.Scene) {
			sc.Deletions["cmp-01"] = &core.NodeNotice{Node: "cmp-01"}
		}), checklist.Fail, "cmp-01: has a NodeDeletionRequest"},
		"a lock that stays": {"node-locks", only(func(sc scene.Scene) {
			sc.NodeLock("cmp-01", "openstack").RawState = core.LockInactive
		}), checklist.Fail, "cmp-01: openstack: the lock is not active (inactive)"},
		"a lock in deletion": {"left-locks", only(func(sc scene.Scene) {
			sc.ClusterLock("openstack").Deleting = scene.Ago(time.Hour)
		}), checklist.Fail, "the cluster: its lock of openstack is being removed, and kept by nothing"},
		"a mode that Rockoon denies": {"modes", only(func(sc scene.Scene) {
			sc.Mode("cmp-01", "livee")
		}), checklist.Fail, "cmp-01: "},
		"mode skip with an instance": {"skip", only(func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeSkip)
			sc.Instance("cmp-01", "web")
		}), checklist.Warn, "cmp-01: mode skip: "},
		"mode manual": {"waits", only(func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
		}), checklist.Warn, "cmp-01: mode manual"},
		"undecided": {"states", only(func(sc scene.Scene) {
			sc.Instance("cmp-01", "web").Status = "VERIFY_RESIZE"
		}), checklist.Fail, "1 instance in VERIFY_RESIZE: web"},
		"in ERROR, and off": {"states", only(func(sc scene.Scene) {
			in := sc.Instance("cmp-01", "x")
			in.Status, in.VMState, in.Power = "ERROR", "stopped", core.PowerShutdown
		}), checklist.Pass, ""},
		"a migration": {"migrations", only(func(sc scene.Scene) {
			sc.Migration(sc.Instance("cmp-01", "web"), "running", "cmp-02", 3*time.Hour)
		}), checklist.Warn, "web: live-migration"},
		"Ceph is degraded": {"ceph", only(func(sc scene.Scene) {
			sc.Ceph = cephOf(core.CephWarn, "PG_DEGRADED")
		}), checklist.Fail, "HEALTH_WARN — PG_DEGRADED: it is so"},
		"Ceph copies while a storage node is away": {"ceph", only(func(sc scene.Scene) {
			sc.Ceph = cephOf(core.CephWarn, "OSDMAP_FLAGS", "PG_DEGRADED")
			sc.Nodes["cmp-01"].Roles = append(sc.Nodes["cmp-01"].Roles, core.RoleStorage)
			sc.Maintained("cmp-01", "")
		}), checklist.Warn, "PG_DEGRADED"},
		"Ceph in error while a storage node is away": {"ceph", only(func(sc scene.Scene) {
			sc.Ceph = cephOf(core.CephError, "PG_DAMAGED")
			sc.Nodes["cmp-01"].Roles = append(sc.Nodes["cmp-01"].Roles, core.RoleStorage)
			sc.Maintained("cmp-01", "")
		}), checklist.Fail, "PG_DAMAGED"},
		"Ceph with a flag": {"ceph", only(func(sc scene.Scene) {
			sc.Ceph = cephOf(core.CephWarn, "OSDMAP_FLAGS")
		}), checklist.Warn, "HEALTH_WARN — OSDMAP_FLAGS: it is so"},
		"Ceph is fine": {"ceph", only(func(sc scene.Scene) {
			sc.Ceph = cephOf(core.CephOK)
		}), checklist.Pass, ""},
		"a cloud without Ceph": {"ceph", only(func(sc scene.Scene) {
			sc.Source(core.SourceCeph, core.SourceAbsent)
		}), checklist.Pass, ""},
		"Ceph that may not be read": {"ceph", only(func(sc scene.Scene) {
			sc.Source(core.SourceCeph, core.SourceForbidden)
		}), checklist.Unknown, "cephclusters: "},
		"no OpenStack API": {"agents", only(func(sc scene.Scene) {
			sc.Source(core.SourceNetworkAgents, core.SourceOff)
		}), checklist.Unknown, "network agents: not configured"},
		"a compute that is disabled": {"compute", only(func(sc scene.Scene) {
			s := sc.Services["cmp-01"]
			s.Enabled, s.DisabledReason = false, core.DisabledReasonMaintenance
		}), checklist.Warn, "cmp-01: its nova-compute is disabled"},
		"a quorum that lacks a pod": {"quorums", only(func(sc scene.Scene) {
			sc.Stateful(core.NamespaceOpenStack, "mariadb-server", "ctl-01", "ctl-02", "ctl-03")
			sc.DaemonPods[sc.StatefulSets[0].UID][1].Ready = false
		}), checklist.Fail, "mariadb-server: 2 of 3 ready"},
		"a quorum whose member is away with its node": {"quorums", only(func(sc scene.Scene) {
			sc.Stateful(core.NamespaceOpenStack, "mariadb-server", "ctl-01", "ctl-02", "ctl-03")
			sc.DaemonPods[sc.StatefulSets[0].UID][1].Ready = false
			sc.Maintained("ctl-02", "")
		}), checklist.Warn, "mariadb-server: 2 of 3 ready"},
		"a quorum that lacks more than its node": {"quorums", only(func(sc scene.Scene) {
			sc.Stateful(core.NamespaceOpenStack, "mariadb-server", "ctl-01", "ctl-02", "ctl-03")
			sc.DaemonPods[sc.StatefulSets[0].UID][1].Ready = false
			sc.DaemonPods[sc.StatefulSets[0].UID][2].Ready = false
			sc.Maintained("ctl-02", "")
		}), checklist.Fail, "mariadb-server: 1 of 3 ready"},
		"a quorum that lacks a pod while a compute is in maintenance": {"quorums", only(func(sc scene.Scene) {
			sc.Stateful(core.NamespaceOpenStack, "mariadb-server", "ctl-01", "ctl-02", "ctl-03")
			sc.DaemonPods[sc.StatefulSets[0].UID][1].Ready = false
			sc.Maintained("cmp-01", "")
		}), checklist.Fail, "mariadb-server: 2 of 3 ready"},
		"a quorum whose pods may not be read": {"quorums", only(func(sc scene.Scene) {
			sc.Stateful("openstack-redis", "rfr-openstack-redis", "ctl-01", "ctl-02", "ctl-03")
			sc.Source(core.SourceRedisPods, core.SourceForbidden)
		}), checklist.Unknown, ""},
		"unmanaged":         {"lcm", only(func(scene.Scene) {}), checklist.Unknown, "the management cluster is not connected"},
		"unasked":           {"room", always(checklist.Room{Why: "it was not asked for"}), checklist.Unknown, "it was not asked for"},
		"no room":           {"room", always(roomFor(evacuation.FateBlocks)), checklist.Warn, "cmp-01: held by 1 instance: erp (no room)"},
		"one that may fail": {"room", always(roomFor(evacuation.FateMayFail)), checklist.Warn, "cmp-01: 1 instance may fail to move: erp"},
		"room for all":      {"room", always(roomFor(evacuation.FateMoves)), checklist.Pass, ""},
		"by people":         {"release-notes", only(func(scene.Scene) {}), checklist.Unknown, "no API that Lockstep reads shows it"},
		"no OpenStack": {"seen", only(func(sc scene.Scene) {
			sc.Source(core.SourceInstances, core.SourceOff)
		}), checklist.Fail, "OpenStack: not configured"},
		"forbidden": {"seen", only(func(sc scene.Scene) {
			sc.Source(core.SourceNodeLocks, core.SourceForbidden)
		}), checklist.Fail, ""},
		"volumes on a node's disks": {"own-disks", only(func(sc scene.Scene) {
			scene.WithOwnDisks(sc, sc.Instance("cmp-02", "far"))
		}), checklist.Warn, "far on cmp-02"},
		"in maintenance": {"in-maintenance", only(func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Instance("cmp-01", "web")
			sc.Maintained("cmp-01", "")
		}), checklist.Fail, "cmp-01"},
	}
}

// What speaks against each point, as a table: the verdict and what is said.
func TestPoints(t *testing.T) {
	for name, tt := range pointScenes() {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			room := tt.given(sc)
			p := pointOf(t, checklist.Of(sc.Snapshot, room), tt.point)
			if p.Verdict != tt.want {
				t.Errorf("it is %s, not %s: %+v", p.Verdict, tt.want, p)
			}
			if tt.says != "" && !strings.Contains(p.Text(), tt.says) {
				t.Errorf("it says %q, not %q", p.Text(), tt.says)
			}
		})
	}
}

func cephOf(health string, checks ...string) []*core.CephCluster {
	c := &core.CephCluster{Health: health}
	for _, name := range checks {
		c.Checks = append(c.Checks, core.CephHealth{Name: name, Severity: core.CephWarn, Message: "it is so"})
	}
	return []*core.CephCluster{c}
}

func roomFor(fate evacuation.Fate) checklist.Room {
	return checklist.Room{Forecast: &evacuation.Forecast{Cluster: "mos", Nodes: []evacuation.NodeForecast{{Node: "cmp-01", Label: "cmp-01",
		Instances: []evacuation.InstanceForecast{{Name: "erp", Fate: fate, Reasons: []evacuation.Reason{{Text: "no room"}}}}}}}}
}

// A healthy cluster fails nothing, and a report is the same when it is read again.
func TestAHealthyClusterFailsNothing(t *testing.T) {
	r := checklist.Of(scene.Resting().Join().Snapshot, checklist.Room{Why: "it was not asked for"})
	for _, p := range r.Points {
		if p.Verdict == checklist.Fail || p.Verdict == checklist.Warn {
			t.Errorf("%s: %s %s", p.ID, p.Verdict, p.Text())
		}
	}
	raw, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	again, err := checklist.Read(raw)
	if err != nil {
		t.Fatal(err)
	}
	if c := again.Since(r); len(c) > 0 {
		t.Errorf("it differs from itself: %+v", c)
	}
	if _, err := checklist.Read([]byte(`{"format": 9}`)); err == nil {
		t.Error("a document of another format was read")
	}
	if _, err := checklist.Read([]byte(`no`)); err == nil {
		t.Error("what is no document was read")
	}
}

// Every entry of "Needs you" speaks against a point: each rule is in exactly one row. And each point after an update is a part of a row,
// but for the UpdateAutoPause, which before an update is wanted.
func TestNothingThatNeedsYouIsLeftOut(t *testing.T) {
	rules, after := checklist.Covers()
	for _, rule := range namedRules(t) {
		if rules[rule] != 1 {
			t.Errorf("the rule %s is in %d rows", rule, rules[rule])
		}
	}
	sc := scene.Resting().Join()
	for _, p := range procedure.AfterUpdate(sc.Snapshot) {
		if p.ID != "auto-pause" && p.Pods == "" && !after[p.ID] {
			t.Errorf("the point %s after an update is in no row", p.ID)
		}
	}
}

// What stands in a point that is left out while an update runs is told all the same.
func TestWhileAnUpdateRuns(t *testing.T) {
	sc := scene.Healthy()
	sc.Update(time.Hour)
	sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh"}, State: "FAILED"}}
	r := checklist.Of(sc.Snapshot, checklist.Room{})
	if slices.ContainsFunc(r.Points, func(p checklist.Point) bool { return p.ID == "openstack" }) {
		t.Error("a point about the rest is asked")
	}
	if p := pointOf(t, r, "in-maintenance"); p.Verdict == checklist.Pass {
		t.Errorf("a failed deployment is not told: %+v", p)
	}
}

// What an update broke is what its list has and the earlier one does not. What is not known is neither broken nor mended.
func TestWhatTheUpdateBroke(t *testing.T) {
	before := scene.Healthy()
	before.Nodes["cmp-01"].Cordoned = true
	was := checklist.Of(before.Snapshot, checklist.Room{})
	after := scene.Healthy()
	after.Nodes["cmp-02"].Cordoned = true
	after.Nodes["cmp-02"].Ready = "False"
	after.Source(core.SourceNetworkAgents, core.SourceForbidden)
	is := checklist.Of(after.Snapshot, checklist.Room{})
	var got []string
	for _, c := range is.Since(was) {
		line := c.ID + " " + string(c.Was) + "→" + string(c.Now)
		for _, f := range c.New {
			line += " +" + f.Of
		}
		for _, f := range c.Mended {
			line += " -" + f.Of
		}
		got = append(got, line)
	}
	for _, want := range []string{"nodes pass→fail +cmp-02", "cordons warn→warn +cmp-02 -cmp-01", "agents pass→not known"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

// The headline says what the list is about: the update that is offered, that runs, or that is over.
func TestWhatTheListIsAbout(t *testing.T) {
	over := core.UpdateRecord{UID: "cmr", Release: "21.0.0+25.2", Started: scene.Ago(6 * time.Hour), Ended: scene.Ago(time.Hour)}
	for _, tt := range []struct {
		want  string
		given func() scene.Scene
	}{
		{"mos: an update — nothing that is known stops it", func() scene.Scene { return scene.Resting().Join() }},
		{"mos: the update to 21.0.0 — ", func() scene.Scene {
			m := scene.Resting()
			m.Cluster.Available = []core.OfferedRelease{{Name: "mosk-21-0-0-25-2", Version: "21.0.0"}}
			return m.Join()
		}},
		{"mos: the update to 21.0.0+25.2, which runs — ", func() scene.Scene {
			sc := scene.Healthy()
			sc.Update(time.Hour)
			return sc
		}},
		{"mos: after the update to 21.0.0+25.2 — nothing that is known would stop another", func() scene.Scene {
			sc := scene.Resting().Join()
			sc.History.Update = over
			return sc
		}},
		{"mos: after the update to 21.0.0+25.2 — nothing that is known would stop another", func() scene.Scene {
			sc := scene.Healthy() // without its management cluster nothing is known of another
			sc.History.Update = over
			return sc
		}},
		{"mos: after the update to 21.0.0+25.2 — nothing that is known would stop another", func() scene.Scene {
			m := scene.Resting() // nobody watched it
			m.Planned(5).Status = core.PlanCompleted
			return m.Join()
		}},
		{"mos: after the update to 21.0.0+25.2 — 1 thing would stop another", func() scene.Scene {
			sc := scene.Resting().Join()
			sc.History.Update = over
			sc.Nodes["cmp-01"].Ready = "False"
			return sc
		}},
	} {
		r := checklist.Of(tt.given().Snapshot, checklist.Room{})
		if got := r.Headline(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}

// An update that ended while no Lockstep ran is the one to compare with, by its plan's own time; a plan that was watched is told by what
// was seen.
func TestWhenTheLastUpdateBegan(t *testing.T) {
	seen := core.UpdateRecord{UID: "cmr", Release: "17.4.0+25.1", Started: scene.Ago(800 * time.Hour), Ended: scene.Ago(790 * time.Hour)}
	watched := core.UpdateRecord{UID: "cmr", Release: "21.0.0+25.2", Started: scene.Ago(170 * time.Minute), Ended: scene.Ago(time.Hour)}
	for _, tt := range []struct {
		name    string
		history core.UpdateRecord
		status  string
		want    time.Time
	}{
		{"nobody watched any", core.UpdateRecord{}, core.PlanCompleted, scene.Ago(3 * time.Hour)},
		{"an earlier one was watched", seen, core.PlanCompleted, scene.Ago(3 * time.Hour)},
		{"it was watched", watched, core.PlanCompleted, watched.Started},
		{"the plan has not begun", seen, core.PlanNotStarted, seen.Started},
	} {
		m := scene.Resting()
		plan := m.Planned(5)
		plan.Status = tt.status
		if plan.Status != core.PlanCompleted {
			plan.Started = time.Time{}
		}
		m.History.Update = tt.history
		if got := checklist.Began(m.Join().Snapshot); !got.Equal(tt.want) {
			t.Errorf("%s: it began %s, want %s", tt.name, got, tt.want)
		}
	}
}

// namedRules are the rules that core names.
func namedRules(t *testing.T) (rules []core.AttentionRule) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "attentionrule.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, v := range spec.Values {
				text, _ := strconv.Unquote(v.(*ast.BasicLit).Value)
				rules = append(rules, core.AttentionRule(text))
			}
		}
		return true
	})
	if len(rules) < 50 {
		t.Fatalf("only %d rules were found", len(rules))
	}
	return rules
}

// What fails stops the update's next step; what only warns, is not known, or core/step judges itself does not.
func TestWhatStopsTheNextStep(t *testing.T) {
	sc := scene.Healthy()
	sc.Nodes["cmp-01"].Cordoned = true
	sc.Nodes["cmp-02"].Ready = "False"
	sc.Ceph = cephOf(core.CephError, "OSD_DOWN")
	sc.Instance("cmp-01", "web").Status = "VERIFY_RESIZE"
	var keys []string
	for _, stop := range checklist.Stops(sc.Snapshot) {
		if stop.Text == "" || stop.Remedy == "" {
			t.Errorf("%+v", stop)
		}
		keys = append(keys, stop.Key)
	}
	for _, want := range []string{"check/ceph//HEALTH_ERR //OSD_DOWN", "check/states/cmp-01/1 instance in VERIFY_RESIZE: web"} {
		if !slices.Contains(keys, want) {
			t.Errorf("%q is missing in %q", want, keys)
		}
	}
	for _, key := range keys {
		if strings.HasPrefix(key, "check/cordons") || strings.HasPrefix(key, "check/nodes") {
			t.Errorf("%s stops it, too", key)
		}
	}
}

// A machine at which LCM's work fails stops the next step, as it fails the check.
func TestWhatFailsAtLCMStopsTheNextStep(t *testing.T) {
	m := scene.Resting()
	m.Agents["cmp-02"].State = "Reconfigure"
	m.Agents["cmp-02"].Items = []core.StateItem{{Name: "kubelet", ExitCode: 1, Attempt: 1, Message: "no space left",
		Started: scene.Ago(time.Hour), Finished: scene.Ago(50 * time.Minute)}}
	var found []core.Stop
	for _, stop := range checklist.Stops(m.Join().Snapshot) {
		if strings.Contains(stop.Text, "kubelet") {
			found = append(found, stop)
		}
	}
	if len(found) != 1 {
		t.Errorf("%d stops are of the failing item: %+v", len(found), found)
	}
}
