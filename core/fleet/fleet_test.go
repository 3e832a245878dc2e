package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

var now = time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)

func meta(name string) core.Meta { return core.Meta{Namespace: "prod", Name: name} }

// mos is a Cluster that is at a release and goes to one.
func mos(is, target string, available ...string) *core.ManagedCluster {
	var offered []core.OfferedRelease
	for _, version := range available {
		offered = append(offered, core.OfferedRelease{Name: version})
	}
	return &core.ManagedCluster{Meta: meta("mos"), Release: is, Target: target, Available: offered, Ready: true, ReadyKnown: true}
}

const from, to = "mosk-17-4-0-25-1", "mosk-21-0-0-25-2"

// plan is an update plan whose steps are given as "id status estimate", those that run since an hour ago; with one word more, it is not
// commenced.
func plan(status string, steps ...string) *core.UpdatePlan {
	p := &core.UpdatePlan{Meta: meta("mos-21.0.0"), Cluster: "mos", Source: from, Target: to, Status: status}
	if p.UnderWay() {
		p.Started = now.Add(-5 * time.Hour)
	}
	for _, text := range steps {
		f := strings.Fields(text)
		st := core.PlanStep{ID: f[0], Status: f[1], Commence: f[1] != core.PlanNotStarted && len(f) == 3, Estimate: f[2]}
		if f[1] == core.PlanInProgress || f[1] == core.PlanStuck {
			st.Started = now.Add(-time.Hour)
		}
		p.Steps = append(p.Steps, st)
	}
	return p
}

func machine(name, state, release string) *core.LCMMachine {
	return &core.LCMMachine{Meta: meta(name), Cluster: "mos", State: state, Release: release}
}

// see makes the view of what live sources of all namespaces have told.
func see(objects ...core.Object) *View {
	c := NewCollector("mgmt")
	by := map[core.SourceID][]core.Object{}
	for _, o := range objects {
		by[sourceOf(o)] = append(by[sourceOf(o)], o)
	}
	for _, id := range []core.SourceID{core.SourceClusters, core.SourceLCMClusters, core.SourceLCMMachines, core.SourceDrains,
		core.SourcePlans, core.SourceGroups, core.SourceAutoPauses, core.SourceReboots, core.SourceReleases, core.SourceManagementUpgrades} {
		c.Apply("", core.Delta{Source: id, At: now, State: core.SourceLive, Replace: true, Upserts: by[id]})
	}
	return c.View(now, now)
}

func sourceOf(o core.Object) core.SourceID {
	switch o.(type) {
	case *core.ManagedCluster:
		return core.SourceClusters
	case *core.LCMCluster:
		return core.SourceLCMClusters
	case *core.LCMMachine:
		return core.SourceLCMMachines
	case *core.DrainState:
		return core.SourceDrains
	case *core.UpdatePlan:
		return core.SourcePlans
	case *core.MachineGroup:
		return core.SourceGroups
	case *core.AutoPause:
		return core.SourceAutoPauses
	case *core.RebootRequest:
		return core.SourceReboots
	case *core.ManagementRelease:
		return core.SourceReleases
	}
	return core.SourceManagementUpgrades
}

// What a line says of a cluster, by the objects of the management cluster alone.
func TestARowSaysWhatTheManagementClusterKnows(t *testing.T) {
	running := []string{"openstack Completed 1h", "k8s-controllers Completed 1h", "k8s-workers-a InProgress 3h", "mcc-components Scheduled 1h"}
	with := func(i int, step string) []string {
		steps := slices.Clone(running)
		steps[i] = step
		return steps
	}
	refused := "error when evicting pods/\"p-0\" -n \"stacklight\": Cannot evict pod as it would violate the pod's disruption budget. The " +
		"disruption budget b needs 1 healthy pods and has 1 currently."
	for name, tt := range map[string]struct {
		objects  []core.Object
		state    State
		releases string // "release target offered…"
		phase    string
		progress string
		end      time.Duration // from now; 0: none
		noEnd    string        // a part of why
		needs    string        // a part of the first
		severity core.Severity
	}{
		"nothing is done to it": {objects: []core.Object{mos(from, from)}, state: StateRests, releases: "17.4.0 -"},
		"a newer release is offered": {objects: []core.Object{mos(from, from, "21.0.0", "18.0.0")}, state: StateOffered,
			releases: "17.4.0 - 18.0.0 21.0.0"},
		"a plan offers it": {objects: []core.Object{mos(from, from), plan(core.PlanNotStarted, "openstack NotStarted 1h")},
			state: StateOffered, releases: "17.4.0 - 21.0.0"},
		"its first step is commenced": {objects: []core.Object{mos(from, from, "21.0.0"), plan(core.PlanScheduled, "openstack Scheduled 1h")},
			state: StateScheduled, releases: "17.4.0 21.0.0", phase: "scheduled"},
		"it updates": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress, running...), machine("m1", "Ready", to),
			machine("m2", "Deploy", to), machine("m3", "Ready", from)}, state: StateUpdates, releases: "17.4.0 21.0.0",
			phase: "4 worker nodes", progress: "1/3 nodes", end: 3 * time.Hour},
		"its machines cannot be read": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress, running...)}, state: StateUpdates,
			releases: "17.4.0 21.0.0", phase: "4 worker nodes", progress: "2/4 steps", end: 3 * time.Hour},
		"groups of one index run together": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress, "k8s-workers-a InProgress 3h",
			"k8s-workers-b InProgress 5h", "k8s-workers-c Scheduled 2h", "mcc-components Scheduled 1h"),
			&core.MachineGroup{Meta: meta("a"), Cluster: "mos", Index: 1}, &core.MachineGroup{Meta: meta("b"), Cluster: "mos", Index: 1},
			&core.MachineGroup{Meta: meta("c"), Cluster: "mos", Index: 2}}, state: StateUpdates, releases: "17.4.0 21.0.0",
			phase: "4 worker nodes", progress: "0/4 steps", end: 7 * time.Hour},
		"its next step is not commenced": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress,
			with(2, "k8s-workers-a NotStarted 3h")...)}, state: StateWaits, releases: "17.4.0 21.0.0", phase: "4 worker nodes",
			progress: "2/4 steps", noEnd: "group a is not commenced", needs: "until somebody commences group a",
			severity: core.SeverityWarning},
		"a later step is not commenced": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress,
			with(3, "mcc-components NotStarted 1h")...)}, state: StateUpdates, releases: "17.4.0 21.0.0", phase: "4 worker nodes",
			progress: "2/4 steps", noEnd: "step mcc-components is not commenced"},
		"its step is held": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress, with(2, "k8s-workers-a InProgress 3h held")...)},
			state: StateWaits, releases: "17.4.0 21.0.0", phase: "4 worker nodes", progress: "2/4 steps", noEnd: "group a is held",
			needs: "group a is held: no further machine is begun", severity: core.SeverityWarning},
		"the cluster was given its release, and no step is commenced": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress,
			"openstack InProgress 3h by-itself", "mcc-components NotStarted 1h")}, state: StateUpdates, releases: "17.4.0 21.0.0",
			phase: "2 OpenStack and Ceph", progress: "0/2 steps", end: 3 * time.Hour},
		"a step is late": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress, with(2, "k8s-workers-a InProgress 30m")...)},
			state: StateUpdates, releases: "17.4.0 21.0.0", phase: "4 worker nodes", progress: "2/4 steps",
			noEnd: "takes longer than the plan estimated, 30 m so far"},
		"a step has no estimate": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress, with(3, "mcc-components Scheduled soon")...)},
			state: StateUpdates, releases: "17.4.0 21.0.0", phase: "4 worker nodes", progress: "2/4 steps", noEnd: "no estimate for step mcc"},
		"an alert has paused it": {objects: []core.Object{mos(from, to), plan(core.PlanAutoPaused, with(2, "k8s-workers-a AutoPaused 3h")...),
			&core.AutoPause{Meta: meta("mos"), Firing: []string{"KubeletDown"}}}, state: StatePaused, releases: "17.4.0 21.0.0",
			phase: "4 worker nodes", progress: "2/4 steps", noEnd: "group a does not go on", needs: "paused: KubeletDown is firing",
			severity: core.SeverityUrgent},
		"a step is stuck": {objects: []core.Object{mos(from, to), plan(core.PlanStuck, with(2, "k8s-workers-a Stuck 3h")...)},
			state: StateStuck, releases: "17.4.0 21.0.0", phase: "4 worker nodes", progress: "2/4 steps", noEnd: "does not go on",
			needs: "group a is Stuck", severity: core.SeverityUrgent},
		"LCM is stuck": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress, running...),
			&core.LCMCluster{Meta: meta("mos"), Stuck: true, StuckMessage: "agent is silent"}}, state: StateStuck, releases: "17.4.0 21.0.0",
			phase: "4 worker nodes", progress: "2/4 steps", end: 3 * time.Hour, needs: "stuck: agent is silent",
			severity: core.SeverityUrgent},
		"a drain is blocked": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress, running...), machine("m1", "Prepare", from),
			&core.DrainState{Meta: meta("cd-m1"), Cluster: "mos", Type: core.DrainKubernetes, Machine: "m1", Wanted: "true", Value: "false",
				Message: refused, Attempt: 5}}, state: StateUpdates, releases: "17.4.0 21.0.0", phase: "4 worker nodes",
			progress: "0/1 nodes", end: 3 * time.Hour, needs: "budget b keeps pod stacklight/p-0", severity: core.SeverityUrgent},
		"a drain waits for locks": {objects: []core.Object{mos(from, to), plan(core.PlanInProgress, running...),
			machine("m1", "Prepare", from), &core.DrainState{Meta: meta("cd-m1"), Cluster: "mos", Type: core.DrainKubernetes, Machine: "m1",
				Wanted: "true", Message: "Error: following    NodeWorkloadLocks are still active - openstack: InProgress"}},
			state: StateUpdates, releases: "17.4.0 21.0.0", phase: "4 worker nodes", progress: "0/1 nodes", end: 3 * time.Hour},
		"an older one updates without a plan": {objects: []core.Object{mos(from, to), machine("m1", "Ready", to),
			machine("m2", "Ready", from)}, state: StateUpdates, releases: "17.4.0 21.0.0", phase: "update", progress: "1/2 nodes",
			noEnd: "no update plan"},
		"its plan is done": {objects: []core.Object{mos(to, to), plan(core.PlanCompleted, "openstack Completed 1h")}, state: StateRests,
			releases: "21.0.0 -"},
		"it is not ready": {objects: []core.Object{&core.ManagedCluster{Meta: meta("mos"), Release: to, Target: to, ReadyKnown: true,
			Conditions: []core.Condition{{Type: "Kubernetes", Message: "not ready machines: m1"}, {Type: "Helm", Ready: true}}}},
			state: StateRests, releases: "21.0.0 -", needs: "not ready: Kubernetes: not ready machines: m1", severity: core.SeverityWarning},
		"it is in maintenance mode": {objects: []core.Object{&core.ManagedCluster{Meta: meta("mos"), Release: to, Target: to,
			InMaintenance: true}}, state: StateMaintenance, releases: "21.0.0 -", phase: "maintenance mode"},
	} {
		t.Run(name, func(t *testing.T) {
			v := see(tt.objects...)
			if len(v.Rows) != 1 || !v.Complete {
				t.Fatalf("%d rows, complete: %v", len(v.Rows), v.Complete)
			}
			r := &v.Rows[0]
			target := r.Target
			if target == "" {
				target = "-"
			}
			if got := strings.Join(append([]string{r.Release, target}, r.Offered...), " "); got != tt.releases {
				t.Errorf("releases are %q, want %q", got, tt.releases)
			}
			if r.State != tt.state || r.PhaseText() != tt.phase || r.ProgressText() != tt.progress {
				t.Errorf("%s, %q, %q; want %s, %q, %q", r.State, r.PhaseText(), r.ProgressText(), tt.state, tt.phase, tt.progress)
			}
			switch {
			case tt.end != 0 && !r.Finish.Equal(now.Add(tt.end)):
				t.Errorf("it ends at %v (%s), want %v", r.Finish, r.NoEnd, now.Add(tt.end))
			case tt.end == 0 && (!r.Finish.IsZero() || !strings.Contains(r.NoEnd, tt.noEnd) || (tt.noEnd == "") != (r.NoEnd == "")):
				t.Errorf("it ends at %v, %q; want none because of %q", r.Finish, r.NoEnd, tt.noEnd)
			}
			first := ""
			if len(r.Needs) > 0 {
				first = r.Needs[0].Reason
			}
			if !strings.Contains(first, tt.needs) || (tt.needs == "") != (first == "") || r.Worst() != tt.severity {
				t.Errorf("it needs %q (%s), want %q (%s)", first, r.Worst(), tt.needs, tt.severity)
			}
		})
	}
}

// Outside an update, too, LCM drains and reboots machines: in maintenance mode, and where a graceful reboot is requested. Machines are
// looked at there, and what holds LCM up is said.
func TestMachinesAreLookedAtWhereverLCMWorks(t *testing.T) {
	quiet, maintained := mos(to, to), mos(to, to)
	maintained.InMaintenance = true
	reboot := &core.RebootRequest{Meta: meta("mos")}
	failed := machine("m1", "Ready", to)
	failed.RebootError = "it does not come up"
	blocked := &core.DrainState{Meta: meta("cd-m1"), Cluster: "mos", Type: core.DrainKubernetes, Machine: "m1", Wanted: "true", Value: "false",
		Message: "error when evicting pods/\"p-0\" -n \"stacklight\": Cannot evict pod as it would violate the pod's disruption budget. The " +
			"disruption budget b needs 1 healthy pods and has 1 currently.", Attempt: 5}
	for name, tt := range map[string]struct {
		objects []core.Object
		watched bool
		needs   string // a part of the first
	}{
		"nothing is done":            {[]core.Object{quiet}, false, ""},
		"maintenance mode":           {[]core.Object{maintained}, true, ""},
		"a drain is blocked in it":   {[]core.Object{maintained, machine("m1", "Ready", to), blocked}, true, "budget b keeps pod stacklight/p-0"},
		"a graceful reboot":          {[]core.Object{quiet, reboot}, true, ""},
		"a machine fails to reboot":  {[]core.Object{quiet, reboot, failed}, true, "it does not come up"},
		"a drain is blocked for one": {[]core.Object{quiet, reboot, machine("m1", "Ready", to), blocked}, true, "budget b keeps pod"},
	} {
		v := see(tt.objects...)
		first := ""
		if len(v.Rows[0].Needs) > 0 {
			first = v.Rows[0].Needs[0].Reason
		}
		if (len(v.Watched()) > 0) != tt.watched || !strings.Contains(first, tt.needs) || (first == "") != (tt.needs == "") {
			t.Errorf("%s: watched are %v; it needs %q, want %q", name, v.Watched(), first, tt.needs)
		}
	}
}

// The management cluster has a Cluster of its own, which is no row.
func TestTheManagementClusterItselfIsNoRow(t *testing.T) {
	own := &core.ManagedCluster{Meta: core.Meta{Namespace: "default", Name: "kaas-mgmt"}, Manages: "kaas-2-30-0"}
	v := see(own, mos(from, from), &core.LCMCluster{Meta: core.Meta{Namespace: "default", Name: "kaas-mgmt"}},
		&core.ManagementUpgrade{Meta: core.Meta{Name: core.UpgradeName}, Next: "2.31.0"})
	if len(v.Rows) != 1 || v.Name != "kaas-mgmt" || v.Version != "2.30.0" || v.Waits != "2.31.0" {
		t.Errorf("%s %s, %s waits: %d rows", v.Name, v.Version, v.Waits, len(v.Rows))
	}
}

// What cannot be read is said of the clusters that it is about; what the operator knows of has a row in any case.
func TestWhatCannotBeReadIsSaid(t *testing.T) {
	c := NewCollector("mgmt", ID{"prod", "mos"}, ID{"secret", "mos-x"}, ID{"", "mos-y"})
	forbidden := &core.APIError{Kind: core.ErrForbidden, Server: core.ServerManagement, Call: "list", Message: "no"}
	live := func(project string, id core.SourceID, objects ...core.Object) {
		c.Apply(project, core.Delta{Source: id, At: now, State: core.SourceLive, Replace: true, Upserts: objects})
	}
	c.Apply("", core.Delta{Source: core.SourceClusters, At: now, State: core.SourceOff, Replace: true})
	if v := c.View(now, now); v.Complete || len(v.Rows) > 0 {
		t.Errorf("before any answer: complete %v, rows %v", v.Complete, v.Rows)
	}
	c.Apply("secret", core.Delta{Source: core.SourceClusters, At: now, State: core.SourceForbidden, Err: forbidden})
	live("prod", core.SourceClusters, mos(from, to))
	if v := c.View(now, now); v.Complete {
		t.Error("it is complete before the plans are known")
	}
	live("prod", core.SourcePlans, plan(core.PlanInProgress, "openstack InProgress 2h"))
	if v := c.View(now, now); v.Complete || !slices.Equal(v.Watched(), []string{"prod"}) {
		t.Errorf("it is complete before the machines are known, or they are not wanted: %v", v.Watched())
	}
	c.Apply("prod", core.Delta{Source: core.SourceLCMMachines, At: now, State: core.SourceForbidden, Err: forbidden})
	v := c.View(now, now)
	if !v.Complete || len(v.Rows) != 3 || len(v.Denied) != 1 || v.Denied[0].Project != "secret" {
		t.Fatalf("complete %v, %d rows, denied %v", v.Complete, len(v.Rows), v.Denied)
	}
	for name, why := range map[string]string{"mos": forbidden.Cause(), "mos-x": forbidden.Cause(), "mos-y": "not among"} {
		i := slices.IndexFunc(v.Rows, func(r Row) bool { return r.Name == name })
		if r := v.Rows[i]; len(r.Missing) != 1 || !strings.Contains(r.Missing[0].Why, why) || (r.State == StateUnknown) != (name != "mos") {
			t.Errorf("%s is %s, lacks %+v", name, r.State, r.Missing)
		}
	}
	c.Apply("prod", core.Delta{Source: core.SourceClusters, At: now, Deletes: []string{"prod/mos"}})
	if v := c.View(now, now); slices.ContainsFunc(v.Rows, func(r Row) bool { return r.Name == "mos" && r.State != StateUnknown }) {
		t.Error("a cluster that was deleted is still there, by its plan")
	}
}

// What could not be read may be urgent: its cluster stands before those at rest. A plan that is read counts, whether or not its Cluster is.
func TestAClusterThatIsReadInPartIsNotQuiet(t *testing.T) {
	bad := &core.APIError{Kind: core.ErrServer, Server: core.ServerManagement, Call: "list", Message: "no"}
	named := func(name string) *core.ManagedCluster {
		return &core.ManagedCluster{Meta: core.Meta{Namespace: name, Name: name}, Release: from, Target: from}
	}
	live := func(c *Collector, project string, id core.SourceID, objects ...core.Object) {
		c.Apply(project, core.Delta{Source: id, At: now, State: core.SourceLive, Replace: true, Upserts: objects})
	}
	c := NewCollector("mgmt")
	for _, project := range []string{"a", "b"} {
		live(c, project, core.SourceClusters, named(project))
		live(c, project, core.SourcePlans)
	}
	c.Apply("b", core.Delta{Source: core.SourcePlans, At: now, State: core.SourceFailed, Err: bad})
	if v := c.View(now, now); len(v.Rows) != 2 || v.Rows[0].Name != "b" || len(v.Rows[0].Missing) != 1 {
		t.Errorf("whose plans failed is not the first: %+v", v.Rows)
	}

	c = NewCollector("mgmt")
	c.Apply("", core.Delta{Source: core.SourceClusters, At: now, State: core.SourceFailed, Err: bad})
	live(c, "", core.SourcePlans, plan(core.PlanStuck, "openstack Completed 1h", "k8s-workers-a Stuck 3h"))
	live(c, "", core.SourceLCMClusters, &core.LCMCluster{Meta: core.Meta{Namespace: "lab", Name: "lab"}, Stuck: true, StuckMessage: "no"})
	v := c.View(now, now)
	if _, urgent := v.Count(); urgent != 2 || len(v.Rows) != 2 {
		t.Fatalf("%d are urgent: %+v", urgent, v.Rows)
	}
	for _, r := range v.Rows {
		want := map[string]string{"mos": "group a is Stuck", "lab": "stuck: no"}[r.Name]
		if len(r.Missing) != 1 || !strings.Contains(r.Needs[0].Reason, want) || (r.State == StateStuck) != (r.Name == "mos") {
			t.Errorf("%s is %s, needs %+v, lacks %+v", r.Name, r.State, r.Needs, r.Missing)
		}
	}
}

// A project whose clusters could not be listed is named, also where the others were.
func TestAProjectThatFailsIsNamed(t *testing.T) {
	c := NewCollector("mgmt")
	bad := &core.APIError{Kind: core.ErrServer, Server: core.ServerManagement, Call: "list", Message: "no"}
	c.Apply("", core.Delta{Source: core.SourceClusters, At: now, State: core.SourceOff, Replace: true})
	for _, project := range []string{"a", "b", "c"} {
		for _, id := range []core.SourceID{core.SourceClusters, core.SourcePlans} {
			c.Apply(project, core.Delta{Source: id, At: now, State: core.SourceLive, Replace: true})
		}
	}
	if v := c.View(now, now); len(v.Failed) > 0 {
		t.Errorf("of those that are live, %v", v.Failed)
	}
	c.Apply("c", core.Delta{Source: core.SourceClusters, At: now, State: core.SourceFailed, Err: bad})
	c.Apply("a", core.Delta{Source: core.SourceClusters, At: now, State: core.SourceStale})
	c.Apply("b", core.Delta{Source: core.SourcePlans, At: now, State: core.SourceFailed, Err: bad}) // which its rows say
	if v := c.View(now, now); len(v.Failed) != 2 || v.Failed[0].Project != "a" || v.Failed[1] != (Denied{"c", bad}) {
		t.Errorf("failed are %v", v.Failed)
	}
}

// The most urgent come first, then what is under way, then the rest by name.
func TestRowsAreInTheOrderOfTheirUrgency(t *testing.T) {
	named := func(name, target string) *core.ManagedCluster {
		return &core.ManagedCluster{Meta: core.Meta{Namespace: name, Name: name}, Release: from, Target: target}
	}
	v := see(named("a", from), named("b", to), named("c", from), named("d", to),
		&core.LCMCluster{Meta: core.Meta{Namespace: "d", Name: "d"}, Stuck: true, StuckMessage: "no"})
	var order []string
	for _, r := range v.Rows {
		order = append(order, r.Name)
	}
	if !slices.Equal(order, []string{"d", "b", "a", "c"}) {
		t.Errorf("the order is %v", order)
	}
	if underWay, urgent := v.Count(); underWay != 2 || urgent != 1 {
		t.Errorf("%d under way, %d urgent", underWay, urgent)
	}
}

func TestVersion(t *testing.T) {
	for name, want := range map[string]string{"mosk-21-0-0-25-2": "21.0.0", "21.0.0+25.2": "21.0.0", "8.5.0-rc+22.1": "8.5.0",
		"kaas-2-30-0": "2.30.0", "21.1.0": "21.1.0", "newest": "newest", "": ""} {
		if got := Version(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// Fifty clusters with two hundred machines each: one changes, or all update and time passes.
func BenchmarkFleet(b *testing.B) {
	c := NewCollector("mgmt")
	put := func(id core.SourceID, objects []core.Object) {
		c.Apply("", core.Delta{Source: id, At: now, State: core.SourceLive, Replace: true, Upserts: objects})
	}
	var clusters, plans, machines []core.Object
	for i := range 50 {
		project := "p" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		at := core.Meta{Namespace: project, Name: "mos"}
		clusters = append(clusters, &core.ManagedCluster{Meta: at, Release: from, Target: to})
		p := plan(core.PlanInProgress, "openstack Completed 1h", "k8s-workers-a InProgress 8h", "mcc-components Scheduled 1h")
		p.Meta = at
		plans = append(plans, p)
		for j := range 200 {
			machines = append(machines, &core.LCMMachine{Meta: core.Meta{Namespace: project, Name: "m" + time.Duration(j).String()},
				Cluster: "mos", State: core.LCMReady, Release: from})
		}
	}
	put(core.SourceClusters, clusters)
	put(core.SourcePlans, plans)
	put(core.SourceLCMMachines, machines)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at := now.Add(time.Duration(i) * ageEvery) // each row is made anew
		if v := c.View(at, at); len(v.Rows) != 50 || v.Rows[0].Nodes != 200 {
			b.Fatal(len(v.Rows))
		}
	}
}

// Where it is not known which projects there are, those that were looked into are named, and the refusal is no trouble of theirs.
func TestAPartOfTheProjectsIsNamed(t *testing.T) {
	c := NewCollector("mgmt", ID{"prod", "other"}, ID{"", "mos-y"})
	forbidden := &core.APIError{Kind: core.ErrForbidden, Server: core.ServerManagement, Call: "list", Message: "no"}
	for _, id := range []core.SourceID{core.SourceClusters, core.SourcePlans} {
		c.Apply("prod", core.Delta{Source: id, At: now, State: core.SourceLive, Replace: true})
	}
	c.Apply("prod", core.Delta{Source: core.SourceClusters, At: now, Upserts: []core.Object{mos(from, from)}})
	c.Apply("gone", core.Delta{Source: core.SourceClusters, At: now, State: core.SourceOff, Replace: true})
	c.Apply("", core.Delta{Source: core.SourceClusters, At: now, State: core.SourceForbidden, Err: forbidden})
	v := c.View(now, now)
	if v.Listed || !v.Complete || v.Part == nil || v.Part.Err != forbidden || !slices.Equal(v.Part.Projects, []string{"prod"}) {
		t.Fatalf("listed %v, complete %v, part %+v", v.Listed, v.Complete, v.Part)
	}
	i := slices.IndexFunc(v.Sources, func(s core.Source) bool { return s.ID == core.SourceClusters })
	if v.Sources[i].State != core.SourceLive {
		t.Errorf("the clusters that are read are %s", v.Sources[i].State)
	}
	for name, why := range map[string]string{"mos": "", "other": "not among", "mos-y": forbidden.Cause()} {
		i := slices.IndexFunc(v.Rows, func(r Row) bool { return r.Name == name })
		r := v.Rows[i]
		if len(r.Missing) > 1 || (len(r.Missing) == 0) != (why == "") || why != "" && !strings.Contains(r.Missing[0].Why, why) {
			t.Errorf("%s lacks %+v", name, r.Missing)
		}
	}
	c.Apply("", core.Delta{Source: core.SourceClusters, At: now, State: core.SourceOff, Replace: true})
	if v := c.View(now, now); v.Part != nil || !v.Listed {
		t.Errorf("the projects are known: %+v, listed %v", v.Part, v.Listed)
	}
}

// After the clusters were watched project by project, all of them are watched at once: what fails there is said of the rows, and nothing
// is complete before it has answered. What a project's own stream says counts while it runs.
func TestTheStreamThatRunsSpeaksForAProject(t *testing.T) {
	bad := &core.APIError{Kind: core.ErrServer, Server: core.ServerManagement, Call: "list", Message: "no"}
	c := NewCollector("mgmt")
	tell := func(project string, id core.SourceID, state core.SourceState, err *core.APIError, objects ...core.Object) {
		c.Apply(project, core.Delta{Source: id, At: now, State: state, Err: err, Replace: true, Upserts: objects})
	}
	for _, id := range []core.SourceID{core.SourceClusters, core.SourcePlans} {
		tell("prod", id, core.SourceLive, nil)
		tell("prod", id, core.SourceOff, nil)
	}
	tell("", core.SourceClusters, core.SourceLive, nil, mos(from, from))
	tell("", core.SourcePlans, core.SourceConnecting, nil)
	if c.View(now, now).Complete {
		t.Error("it is complete before the plans are known")
	}
	tell("", core.SourcePlans, core.SourceFailed, bad)
	if v := c.View(now, now); len(v.Rows) != 1 || len(v.Rows[0].Missing) != 1 || v.Rows[0].Missing[0].Err != bad {
		t.Errorf("the plans of all projects have failed: %+v", v.Rows)
	}
	tell("", core.SourcePlans, core.SourceOff, nil)
	if c.View(now, now).Complete {
		t.Error("it is complete while nobody reads the plans")
	}
	tell("prod", core.SourcePlans, core.SourceForbidden, bad)
	tell("", core.SourcePlans, core.SourceLive, nil)
	if v := c.View(now, now); len(v.Rows[0].Missing) != 1 {
		t.Errorf("the project's own plans are forbidden: %+v", v.Rows)
	}
}

// Whether all clusters are known is another question than whether all of them have been read: a key of the configuration may name
// a cluster that nobody has listed yet.
func TestWhetherAllClustersAreKnown(t *testing.T) {
	forbidden := &core.APIError{Kind: core.ErrForbidden}
	for name, tt := range map[string]struct {
		states map[string]core.SourceState // of the clusters, by project
		want   bool
	}{
		"nothing was told":     {nil, false},
		"all at once":          {map[string]core.SourceState{"": core.SourceLive}, true},
		"all, a while ago":     {map[string]core.SourceState{"": core.SourceStale}, true},
		"no look anywhere":     {map[string]core.SourceState{"": core.SourceForbidden}, false},
		"the first one failed": {map[string]core.SourceState{"": core.SourceFailed}, false},
		"each project":         {map[string]core.SourceState{"": core.SourceOff, "a": core.SourceLive, "b": core.SourceLive}, true},
		"one is being read":    {map[string]core.SourceState{"": core.SourceOff, "a": core.SourceLive, "b": core.SourceConnecting}, false},
		"one fails":            {map[string]core.SourceState{"": core.SourceOff, "a": core.SourceLive, "b": core.SourceFailed}, false},
		"one is closed to us":  {map[string]core.SourceState{"": core.SourceOff, "a": core.SourceLive, "b": core.SourceForbidden}, true},
		"all are closed to us": {map[string]core.SourceState{"": core.SourceOff, "b": core.SourceForbidden}, false},
		"no project is known":  {map[string]core.SourceState{"": core.SourceOff}, false},
		"only the named ones":  {map[string]core.SourceState{"": core.SourceForbidden, "a": core.SourceLive}, false},
		"for now the old ones": {map[string]core.SourceState{"": core.SourceFailed, "a": core.SourceLive}, false},
	} {
		c := NewCollector("management")
		for project, state := range tt.states {
			d := core.Delta{Source: core.SourceClusters, At: time.Now(), State: state}
			if state == core.SourceForbidden {
				d.Err = forbidden
			}
			c.Apply(project, d)
		}
		if v := c.View(time.Now(), time.Now()); v.Listed != tt.want {
			t.Errorf("%s: %v", name, v.Listed)
		}
	}
}
