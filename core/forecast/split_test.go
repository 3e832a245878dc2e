package forecast

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/evacuation"
	"lockstep/scene"

	"pgregory.net/rapid"
)

func window(t interface{ Fatal(...any) }, text string) Window {
	w, err := ParseWindow(text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// seenRounds lets nodes have gone through their maintenance, one after the other, each in this time, the last an hour ago.
func seenRounds(sc scene.Scene, update string, took time.Duration, nodes ...string) {
	for i, n := range nodes {
		end := time.Hour + time.Duration(len(nodes)-1-i)*took
		sc.History.Rounds["uid-"+n] = core.Round{Request: "was-" + n, Update: update, Started: scene.Ago(end + took), Ended: scene.Ago(end)}
	}
}

// planned is a cluster whose update is at its workers by plan: its masters took 20 minutes each.
func planned(given ...func(m *scene.Managed)) scene.Scene {
	sc := scene.Healthy()
	sc.Update(5 * time.Hour)
	seenRounds(sc, "cmr", 20*time.Minute, "ctl-01", "ctl-02", "ctl-03")
	m := sc.Managed()
	m.Planned(3)
	m.Plan.Steps[3].Status, m.Plan.Steps[3].Commence = core.PlanInProgress, true
	for _, g := range given {
		g(m)
	}
	return m.Join()
}

// nightsText is a split in short: each night with what it has, and what fits into none.
func nightsText(sp Split) string {
	var out []string
	for _, n := range sp.Nights {
		text := n.From.Format("2 Jan")
		for _, it := range n.Items {
			text += fmt.Sprintf(" %s@%s", it.Title, it.Start.At.Format("15:04"))
		}
		out = append(out, text)
	}
	for _, u := range sp.Unfit {
		out = append(out, "never "+u.Title+" "+strings.Join(u.Nodes, ","))
	}
	return strings.Join(out, "; ")
}

func TestAnUpdateIsDividedOverNights(t *testing.T) {
	tests := []struct {
		name   string
		sc     func() scene.Scene
		window string
		atOnce int
		want   string
		says   []string // of the warnings and notes
	}{
		{"one night takes all that is left", func() scene.Scene { return planned() }, "22:00-06:00", 0,
			"14 Mar cmp-01@22:00 cmp-02@22:20 cmp-03@22:40 gtw-01@23:00 step mcc-components@23:20", []string{"by not commencing the next step"}},
		{"by day", func() scene.Scene { return planned() }, "13:00-17:00", 0,
			"14 Mar cmp-01@13:00 cmp-02@13:20 cmp-03@13:40 gtw-01@14:00 step mcc-components@14:20", nil},
		{"what is left of the window now", func() scene.Scene { return planned() }, "08:00-12:50", 0,
			"14 Mar cmp-01@12:00 cmp-02@12:20; 15 Mar cmp-03@08:00 gtw-01@08:20 step mcc-components@08:40",
			nil},
		{"a node begins only if it ends in the window at the slow end", func() scene.Scene { return planned() }, "22:00-22:42", 0,
			"14 Mar cmp-01@22:00; 15 Mar cmp-02@22:00; 16 Mar cmp-03@22:00; 17 Mar gtw-01@22:00; never step mcc-components ",
			[]string{"between two releases for 3 d", "No night is long enough for step mcc-components: it takes 1 h 30 m"}},
		{"no node fits", func() scene.Scene { return planned() }, "22:00-22:15", 0,
			"never group mos-default cmp-01,cmp-02,cmp-03,gtw-01; never step mcc-components ",
			[]string{"No night is long enough for 4 nodes of group mos-default: one takes 22 m, and the window 22:00-22:15 has 15 m"}},
		{"two at a time, and a gateway alone", func() scene.Scene { return planned() }, "22:00-06:00", 2,
			"14 Mar cmp-01@22:00 cmp-02@22:00 cmp-03@22:20 gtw-01@22:20 step mcc-components@22:40", nil},
		{"no pace, no plan, no management cluster: the documents' numbers", scene.Healthy, "22:00-06:00", 0,
			"14 Mar OpenStack and Ceph@22:00 ctl-01@23:58 ctl-02@00:13 ctl-03@00:28 master nodes, Kubernetes@00:43 cmp-01@01:23 cmp-02@02:23 " +
				"cmp-03@03:23; 15 Mar gtw-01@22:00 the rest: StackLight and other applications@22:40",
			[]string{"No pace is known yet for 7 nodes", "No update plan is seen", "The order of the nodes is not known", "1 d 2 h",
				"With 2 workers at a time it would be"}},
		{"what cannot rest inside is longer than the window", scene.Healthy, "22:00-00:30", 0,
			"14 Mar cmp-01@22:00 cmp-02@23:00; 15 Mar cmp-03@22:00; 16 Mar gtw-01@22:00 the rest: StackLight and other applications@22:40; " +
				"never OpenStack and Ceph, then master nodes ctl-01,ctl-02,ctl-03", []string{"it cannot rest inside"}},
		{"a node under way goes on", func() scene.Scene {
			return planned(func(m *scene.Managed) { m.Maintained("cmp-01", "") })
		}, "22:00-06:00", 0, "14 Mar cmp-02@22:00 cmp-03@22:20 gtw-01@22:40 step mcc-components@23:00",
			[]string{"cmp-01 is under way and does not stop for the window"}},
		{"in the order of the machines", func() scene.Scene {
			return planned(func(m *scene.Managed) {
				m.Machines["gtw-01"].UpgradeIndex, m.Machines["cmp-03"].UpgradeIndex = 1, 2
			})
		}, "22:00-06:00", 0, "14 Mar gtw-01@22:00 cmp-03@22:20 cmp-01@22:40 cmp-02@23:00 step mcc-components@23:20", nil},
		{"two groups of one index side by side", func() scene.Scene { return twoGroups(2) }, "22:00-06:00", 0,
			"14 Mar cmp-01@22:00 cmp-02@22:00 cmp-03@22:20 gtw-01@22:40 step mcc-components@23:00", nil},
		{"a night is not long enough for the larger group", func() scene.Scene { return twoGroups(2) }, "22:00-22:42", 0,
			"14 Mar cmp-01@22:00 cmp-02@22:00; 15 Mar cmp-03@22:00; 16 Mar gtw-01@22:00; never step mcc-components ", nil},
		{"groups of one index keep to their numbers without a plan", func() scene.Scene {
			sc := twoGroups(2)
			sc.Management = withoutPlan(sc.Management)
			return sc
		}, "22:00-06:00", 0, "14 Mar cmp-01@22:00 cmp-02@22:00 cmp-03@22:20 gtw-01@22:40 the rest: StackLight and other applications@23:00", nil},
		{"two groups of different indexes one after the other", func() scene.Scene { return twoGroups(1) }, "22:00-06:00", 0,
			"14 Mar cmp-02@22:00 cmp-03@22:20 gtw-01@22:40 cmp-01@23:00 step mcc-components@23:20", nil},
		{"workers are not part of this update", func() scene.Scene {
			return planned(func(m *scene.Managed) { m.Plan.Steps = slices.Delete(m.Plan.Steps, 3, 4) })
		}, "22:00-06:00", 0, "14 Mar step mcc-components@22:00", nil},
		{"a step as long as in an earlier update", func() scene.Scene {
			sc := planned()
			last := core.UpdatePlan{Meta: core.Meta{Name: "mos-20", UID: "old"}, Cluster: "mos", Status: core.PlanCompleted,
				Steps: []core.PlanStep{{ID: "mcc-components", Status: core.PlanCompleted, Duration: "16m"}}}
			sc.Management.Plans = append(sc.Management.Plans, &last)
			return sc
		}, "22:00-22:42", 0, "14 Mar cmp-01@22:00; 15 Mar cmp-02@22:00; 16 Mar cmp-03@22:00; " +
			"17 Mar gtw-01@22:00 step mcc-components@22:20", nil},
		{"a manual node waits for a person", func() scene.Scene {
			sc := planned()
			sc.Mode("cmp-02", core.ModeManual)
			return sc
		}, "22:00-06:00", 0, "14 Mar cmp-01@22:00 cmp-02@22:20 cmp-03@22:40 gtw-01@23:00 step mcc-components@23:20",
			[]string{"1 node waits for you in mode manual"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sp := SplitNights(tt.sc().Snapshot, Request{Window: window(t, tt.window), AtOnce: tt.atOnce})
			if got := nightsText(sp); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			said := strings.Join(append(slices.Clone(sp.Warnings), sp.Notes...), "\n")
			for _, want := range tt.says {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
		})
	}
}

// What could not be looked at speaks against the nights: nobody knows that it is well.
func TestWhatIsNotKnownIsAWarning(t *testing.T) {
	some := evacuation.Forecast{Counts: evacuation.Counts{Instances: 3, Unknown: 2}}
	lists := evacuation.Forecast{Unknown: []evacuation.Unknown{{What: "server groups", Why: "forbidden", Means: "all of them"}}}
	for _, tt := range []struct {
		name    string
		request Request
		change  func(sc scene.Scene)
		says    string
	}{
		{"all is known", Request{Evacuation: &evacuation.Forecast{}}, nil, ""},
		{"no evacuation was asked for", Request{}, nil, ""},
		{"it failed", Request{Unforecast: "Placement is away."}, nil,
			"The evacuation of the nodes could not be forecast: Placement is away. Whether"},
		{"instances are not known", Request{Evacuation: &some}, nil, "Of 2 instances it is not known whether they can leave"},
		{"a list is not known", Request{Evacuation: &lists}, nil, "Server groups could not be checked: forbidden."},
		{"no requests", Request{}, func(sc scene.Scene) { sc.Source(core.SourceClusterRequests, core.SourceForbidden) },
			"Whether an update runs is not known: forbidden."},
		{"no nodes", Request{}, func(sc scene.Scene) { sc.Source(core.SourceNodes, core.SourceForbidden) },
			"Which nodes there are is not known: forbidden."},
	} {
		sc := planned()
		if tt.change != nil {
			tt.change(sc)
		}
		tt.request.Window = window(t, "22:00-06:00")
		d := NewDocument(sc.Snapshot, Ask{Request: tt.request})
		if said := strings.Join(d.Split.Warnings, "\n"); d.Clear() != (tt.says == "") || !strings.Contains(said, tt.says) {
			t.Errorf("%s: clear: %v; it warns of %q, want %q", tt.name, d.Clear(), said, tt.says)
		}
	}
}

// withoutPlan is the management cluster without update plans.
func withoutPlan(m *core.Management) *core.Management {
	out := *m
	out.Plans = nil
	return &out
}

// twoGroups is planned with cmp-01, or these nodes, in the group rack-a of index 2, and the others in rack-b of this index.
func twoGroups(index int, inA ...string) scene.Scene {
	if len(inA) == 0 {
		inA = []string{"cmp-01"}
	}
	sc := scene.Healthy()
	sc.Update(5 * time.Hour)
	seenRounds(sc, "cmr", 20*time.Minute, "ctl-01", "ctl-02", "ctl-03")
	m := sc.Managed()
	m.Planned(3)
	var groups []core.Object
	for i, name := range []string{"rack-b", "rack-a"} {
		groups = append(groups, &core.MachineGroup{Meta: core.Meta{Name: name, Namespace: "prod", UID: name}, Cluster: "mos",
			Index: []int{index, 2}[i], Concurrent: 1, Reboot: true})
	}
	for name, machine := range m.Machines {
		if machine.Group = "rack-b"; slices.Contains(inA, name) {
			machine.Group = "rack-a"
		}
	}
	m.Plan.Steps[3].ID = "k8s-workers-rack-b"
	second := m.Plan.Steps[3]
	second.ID = "k8s-workers-rack-a"
	m.Plan.Steps = slices.Insert(m.Plan.Steps, 4, second)
	return m.Join(groups...)
}

// While a gateway is under way the OpenStack controller begins no other node (docs/mosk.md#concurrency).
func TestAGatewayHoldsTheOthers(t *testing.T) {
	sc := planned(func(m *scene.Managed) { m.Machines["gtw-01"].UpgradeIndex = 1 })
	sp := SplitNights(sc.Snapshot, Request{Window: window(t, "22:00-06:00"), AtOnce: 3})
	if got := nightsText(sp); got != "14 Mar gtw-01@22:00 cmp-01@22:20 cmp-02@22:20 cmp-03@22:20 step mcc-components@22:40" {
		t.Error(got)
	}
}

// The forecast of an evacuation takes the place of the documents' 20 minutes, and shifts what was seen.
func TestEvacuationsInASplit(t *testing.T) {
	span := func(d time.Duration) *evacuation.Span { return new(evacuation.Span(d)) }
	e := &evacuation.Forecast{Nodes: []evacuation.NodeForecast{
		{Node: "cmp-01", Time: span(30 * time.Minute), Slow: span(45 * time.Minute), Counts: evacuation.Counts{Blocks: 2}},
		{Node: "cmp-02", Time: span(0), Slow: span(0)}, {Node: "cmp-03", Time: span(0), Slow: span(0)}}}
	lengths := func(s *core.Snapshot) string {
		var out []string
		for _, n := range SplitNights(s, Request{Window: window(t, "22:00-06:00"), Evacuation: e}).Nights {
			for _, it := range n.Items {
				if it.Node != "" {
					out = append(out, fmt.Sprintf("%s %v+%v", it.Node, it.End.At.Sub(it.Start.At), it.End.Spread-it.Start.Spread))
				}
			}
		}
		return strings.Join(out, ", ")
	}
	if got, want := lengths(scene.Healthy().Snapshot), "ctl-01 15m0s+0s, ctl-02 15m0s+0s, ctl-03 15m0s+0s, cmp-01 1h10m0s+15m0s, "+
		"cmp-02 40m0s+0s, cmp-03 40m0s+0s, gtw-01 40m0s+0s"; got != want {
		t.Errorf("by the documents: %s", got)
	}
	if got, want := lengths(planned().Snapshot), "cmp-01 40m0s+17m0s, cmp-02 10m0s+2m0s, cmp-03 10m0s+2m0s, gtw-01 20m0s+2m0s"; got != want {
		t.Errorf("by this update: %s", got)
	}
	sp := SplitNights(planned().Snapshot, Request{Window: window(t, "22:00-06:00"), Evacuation: e})
	if !slices.ContainsFunc(sp.Warnings, func(w string) bool { return strings.HasPrefix(w, "1 node has instances that block it") }) {
		t.Errorf("%q", sp.Warnings)
	}
}

// Of a group of which the next node does not fit into the night no further one begins; the group beside it goes on.
func TestAGroupRestsByItself(t *testing.T) {
	sc := twoGroups(2, "cmp-01", "cmp-02") // in the order of the update, and gtw-01 and cmp-03 beside them
	long := new(evacuation.Span(100 * time.Minute))
	e := &evacuation.Forecast{Nodes: []evacuation.NodeForecast{{Node: "cmp-02", Time: long, Slow: long},
		{Node: "cmp-01", Time: new(evacuation.Span(0)), Slow: new(evacuation.Span(0))}}}
	sp := SplitNights(sc.Snapshot, Request{Window: window(t, "22:00-23:15"), Evacuation: e})
	if got := nightsText(sp); got != "14 Mar cmp-01@22:00 cmp-03@22:00 gtw-01@22:20; 15 Mar cmp-02@22:00; never step mcc-components " {
		t.Error(got)
	}
}

// A night tells what begins in it in the order in which it begins, also where groups go beside one another.
func TestANightIsInTheOrderOfItsTimes(t *testing.T) {
	sc := twoGroups(2, "cmp-01", "cmp-02")
	sp := SplitNights(sc.Snapshot, Request{Window: window(t, "22:00-06:00")})
	if got := nightsText(sp); !strings.HasPrefix(got, "14 Mar cmp-01@22:00 cmp-03@22:00 cmp-02@22:20 gtw-01@22:20 ") {
		t.Error(got)
	}
}

// A split never puts a node outside of its window, and loses none.
func TestASplitKeepsToItsWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.NewScene()
		var names []string
		for i := range rapid.IntRange(0, 25).Draw(t, "nodes") {
			name := fmt.Sprintf("n-%02d", i)
			role := rapid.SampledFrom([]core.Role{core.RoleMaster, core.RoleController, core.RoleCompute, core.RoleCompute, core.RoleGateway,
				core.RoleStorage}).Draw(t, "role")
			sc.Node(name, role)
			names = append(names, name)
		}
		left := names
		if rapid.Bool().Draw(t, "an update runs") {
			sc.Update(30 * time.Hour)
			left = nil
			for _, name := range names {
				begun, took := rapid.IntRange(61, 900).Draw(t, "begun"), rapid.IntRange(5, 60).Draw(t, "took")
				switch rapid.IntRange(0, 3).Draw(t, "state") {
				case 0:
					update := rapid.SampledFrom([]string{"cmr", "before"}).Draw(t, "update")
					sc.History.Rounds["uid-"+name] = core.Round{Update: update, Started: scene.Ago(time.Duration(begun) * time.Minute),
						Ended: scene.Ago(time.Duration(begun-took) * time.Minute)}
					if update == "before" {
						left = append(left, name)
					}
				case 1:
					if sc.NodeLock(name, core.ControllerOpenStack) != nil {
						sc.Maintained(name, "")
					}
					left = append(left, name)
				default:
					left = append(left, name)
				}
			}
		}
		from, length := rapid.IntRange(0, 24*60-1).Draw(t, "from"), rapid.IntRange(10, 23*60).Draw(t, "length")
		w := Window{from: from, to: (from + length) % (24 * 60)}
		s := sc.Snapshot
		sp := SplitNights(s, Request{Window: w, AtOnce: rapid.IntRange(0, 6).Draw(t, "at once")})
		seen := map[string]int{}
		var end time.Time
		for _, n := range sp.Nights {
			if n.From.Before(end) {
				t.Fatalf("the night from %v begins before %v", n.From, end)
			}
			end = n.To
			if f, to := w.Next(n.From); !f.Equal(n.From) || !to.Equal(n.To) {
				t.Fatalf("%v to %v is no window %s", n.From, n.To, w)
			}
			for _, it := range n.Items {
				if it.Node == "" {
					continue
				}
				seen[it.Node]++
				if it.Start.At.Before(n.From) || it.End.Until().After(n.To) || it.Start.At.Before(s.Now) {
					t.Fatalf("%s from %v to %v, in a night from %v to %v", it.Node, it.Start.At, it.End.Until(), n.From, n.To)
				}
			}
		}
		for _, it := range sp.Running {
			seen[it.Node]++
		}
		for _, u := range sp.Unfit {
			for _, n := range u.Nodes {
				seen[n]++
			}
		}
		through := map[core.PhaseID]bool{}
		for _, p := range Of(s).Parts {
			through[p.Phase] = p.State == PartDone || p.State == PartRuns && p.Phase == core.PhaseMasters
		}
		for _, n := range left {
			if s.Nodes[n].Is(core.RoleMaster) && through[core.PhaseMasters] {
				continue // their part is over, or goes on as a whole
			}
			if seen[n] != 1 {
				t.Fatalf("%s is there %d times: %s", n, seen[n], nightsText(sp))
			}
		}
	})
}

// What is free of a night is told in minutes: nobody plans a night by seconds.
func TestWhatIsFreeOfANight(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "full", 59 * time.Second: "full", 81 * time.Second: "1 m free",
		119 * time.Second: "1 m free", 35 * time.Minute: "35 m free", 8 * time.Hour: "8 h free"} {
		if got := freeText(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// A step whose commence was taken away gives no end as if it went on: the nodes that are under way are finished, and no further one begins.
func TestAHeldStepHoldsTheEnd(t *testing.T) {
	held := func(commence bool) string {
		sc := planned(func(m *scene.Managed) { m.Plan.Steps[3].Commence = commence })
		sc.Maintained("cmp-01", "")
		return Finish(sc.Snapshot).Held
	}
	if got := held(true); got != "" {
		t.Errorf("a step that goes on is held by %q", got)
	}
	if got := held(false); !strings.Contains(got, "is held: no further node begins until it is commenced again") {
		t.Errorf("it is held by %q", got)
	}
}

// The page says "No update runs" only where that is so.
func TestThePageSaysWhetherAnUpdateRuns(t *testing.T) {
	page := func(sc scene.Scene) string {
		f := Of(sc.Snapshot)
		return headline(sc.Snapshot, f) + "\n" + strings.Join(untilSection(sc.Snapshot, f).Lines, "\n")
	}
	rests := scene.Healthy()
	m := rests.Managed()
	m.Planned(0)
	m.Plan.Status, m.Plan.Started = core.PlanNotStarted, time.Time{}
	if got := page(m.Join()); !strings.Contains(got, "No update runs.\nNo update runs. The parts below of the next one") {
		t.Errorf("no update runs: %q", got)
	}
	under := planned()
	under.ClusterRequests = nil
	if got := page(under); strings.Contains(got, "No update runs") || !strings.Contains(got, "What is left of the plan, one after the other") {
		t.Errorf("a plan is under way: %q", got)
	}
	unseen := planned()
	unseen.ClusterRequests = nil
	unseen.Sources[core.SourceClusterRequests] = core.Source{ID: core.SourceClusterRequests, State: core.SourceForbidden}
	if got := page(unseen); strings.Contains(got, "No update runs") || !strings.HasPrefix(got, "Whether an update runs is not known") {
		t.Errorf("nobody can tell: %q", got)
	}
}

// What the documents allow is no pace that a node could be slower than.
func TestANodeIsLateByWhatWasSeenAlone(t *testing.T) {
	late := func(rounds ...string) bool {
		sc := scene.Healthy()
		sc.Update(5 * time.Hour)
		seenRounds(sc, "cmr", 20*time.Minute, rounds...)
		sc.Maintained("cmp-01", "")
		sc.NodeRequests["cmp-01"][0].Created = scene.Ago(3 * time.Hour)
		return Nodes(sc.Snapshot)[0].Late
	}
	if late() {
		t.Error("it is late, and nobody has seen a node")
	}
	if !late("ctl-01", "ctl-02", "ctl-03") {
		t.Error("it takes longer than the nodes before it, and is not late")
	}
}

// A step of the plan that runs is under way also before LCM makes the request, and after it is gone.
func TestAStepThatRunsWithoutARequestIsUnderWay(t *testing.T) {
	s := planned(func(m *scene.Managed) {
		m.Planned(4)
		m.Plan.Steps[4].Status, m.Plan.Steps[4].Commence, m.Plan.Steps[4].Started = core.PlanInProgress, true, scene.Ago(10*time.Minute)
		m.ClusterRequests = nil
	}).Snapshot
	sp := SplitNights(s, Request{Window: window(t, "22:00-06:00")})
	if len(sp.Running) != 1 || sp.Running[0].Title != "step mcc-components" || len(sp.Nights) != 0 {
		t.Errorf("%+v is under way, and the nights are %s", sp.Running, nightsText(sp))
	}
}

// More nights than are looked at are no reason to say that a node fits into none.
func TestMoreNightsThanAreLookedAt(t *testing.T) {
	sc := scene.NewScene()
	for i := range 3 * mostNights {
		sc.Node(fmt.Sprintf("cmp-%04d", i), core.RoleCompute)
	}
	sp := SplitNights(sc.Snapshot, Request{Window: window(t, "22:00-00:10"), AtOnce: 1})
	said := strings.Join(sp.Warnings, "\n")
	if !strings.Contains(said, "No more than 400 nights are looked at") || strings.Contains(said, "No night is long enough for 4") {
		t.Errorf("it says:\n%s", said)
	}
}

// Of named nodes only those are planned side by side whose groups go side by side.
func TestNamedNodesOfOtherGroupsAreNotSideBySide(t *testing.T) {
	parts := []Part{{ID: "a", jobs: namedJobs("a-1")}, {ID: "b", jobs: namedJobs("b-1")}, {ID: "c", jobs: namedJobs("c-1"), Beside: true},
		{ID: "d", jobs: namedJobs("d-1"), Beside: true}}
	for names, want := range map[string]string{"a-1 c-1": "a c", "b-1 d-1": "b+d", "c-1 d-1": "c+d", "a-1 b-1 c-1 d-1": "a b+c+d"} {
		text := ""
		for i, p := range onlyNodes(parts, strings.Fields(names)) {
			if i > 0 {
				text += map[bool]string{true: "+", false: " "}[p.Beside]
			}
			text += p.ID
		}
		if text != want {
			t.Errorf("%s: %s, want %s", names, text, want)
		}
	}
}

func namedJobs(name string) []job { return []job{{view: &core.NodeView{Name: name}}} }

// What is under way may take until a night has begun, and longer: nothing begins there as if it were surely over.
func TestANightBeginsWithWhatMayNotBeOver(t *testing.T) {
	s := planned().Snapshot
	sp := &splitting{u: newUpdate(s), request: Request{Window: window(t, "22:00-06:00")}, now: s.Now,
		at: Moment{At: scene.Noon.Add(9*time.Hour + 30*time.Minute), Spread: time.Hour}}
	if !sp.fits(20*time.Minute) || sp.at != (Moment{At: scene.Noon.Add(10 * time.Hour), Spread: 30 * time.Minute}) {
		t.Errorf("the night begins %+v", sp.at)
	}
	if sp.fits(7*time.Hour + 40*time.Minute); len(sp.nights) != 2 || sp.at.Spread != 0 {
		t.Errorf("what needs the whole night is put into night %d, %+v", len(sp.nights), sp.at)
	}
}
