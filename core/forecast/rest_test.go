package forecast

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// restsText is where an update can rest, in short.
func restsText(s *core.Snapshot) string {
	var out []string
	for _, r := range Rests(s) {
		out = append(out, r.After+"@"+r.At.At.Format("15:04")+" before "+r.Next)
	}
	return strings.Join(out, "; ")
}

func TestWhereAnUpdateCanRest(t *testing.T) {
	tests := []struct {
		name string
		sc   func() scene.Scene
		want string
	}{
		{"no update", scene.Healthy, ""},
		{"by plan: between nodes and between steps", func() scene.Scene { return planned() },
			"cmp-01@12:20 before cmp-02; cmp-02@12:40 before cmp-03; cmp-03@13:00 before gtw-01; " +
				"group mos-default@13:20 before step mcc-components"},
		{"by plan, at rest", func() scene.Scene {
			return planned(func(m *scene.Managed) { m.Plan.Steps[3].Status, m.Plan.Steps[3].Commence = core.PlanNotStarted, false })
		}, "step k8s-controllers@12:00 before group mos-default; cmp-01@12:20 before cmp-02; cmp-02@12:40 before cmp-03; " +
			"cmp-03@13:00 before gtw-01; group mos-default@13:20 before step mcc-components"},
		{"without a plan only computes can be held", func() scene.Scene {
			sc := scene.Healthy()
			sc.Update(5 * time.Hour)
			seenRounds(sc, "cmr", 20*time.Minute, "ctl-01", "ctl-02", "ctl-03")
			return sc
		}, "cmp-01@12:20 before cmp-02; cmp-02@12:40 before cmp-03"},
		{"by release: no step is commenced, and LCM goes on by itself", func() scene.Scene {
			return planned(func(m *scene.Managed) {
				for i := range m.Plan.Steps {
					m.Plan.Steps[i].Commence = false
				}
			})
		}, "cmp-01@12:20 before cmp-02; cmp-02@12:40 before cmp-03"},
		{"nodes under way go on to their end", func() scene.Scene {
			return planned(func(m *scene.Managed) { m.Maintained("cmp-01", ""); m.Maintained("cmp-02", "") })
		}, "cmp-02@12:00 before cmp-03; group mos-default@12:20 before step mcc-components"},
		{"two groups of one index go side by side", func() scene.Scene { return twoGroups(2) },
			"step k8s-controllers@12:00 before group rack-b, group rack-a; cmp-01@12:20 before cmp-03; cmp-03@12:40 before gtw-01; " +
				"group rack-b, group rack-a@13:00 before step mcc-components"},
		{"two groups, one after the other", func() scene.Scene { return twoGroups(1) },
			"step k8s-controllers@12:00 before group rack-b; cmp-02@12:20 before cmp-03; cmp-03@12:40 before gtw-01; " +
				"group rack-b@13:00 before group rack-a; group rack-a@13:20 before step mcc-components"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := restsText(tt.sc().Snapshot); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestCanItStopBefore(t *testing.T) {
	s := planned().Snapshot
	tests := []struct {
		before time.Duration // from now
		want   string
	}{
		{10 * time.Minute, "No: before 12:10 no point is reached where it can rest. The first is after cmp-01, about 12:20 ± 2 m."},
		{21 * time.Minute, "Perhaps after cmp-01, about 12:20 ± 2 m: at the slow end that is too late, and there is no point before it."},
		{30 * time.Minute, "Yes: before 12:30 it can rest after cmp-01, which is reached about 12:20 ± 2 m."},
		{63 * time.Minute, "Yes: before 13:03 it can rest after cmp-02, which is reached about 12:40 ± 4 m."},
		{2 * time.Hour, "Yes: before 14:00 it can rest after group mos-default, which is reached about 13:20 ± 8 m."},
		{4 * time.Hour, "It is over before 16:00, even at the slow end, if each step is commenced at once and nobody is waited for."},
	}
	for _, tt := range tests {
		texts := StopBefore(s, scene.Noon.Add(tt.before)).Texts(s)
		if len(texts) == 0 || texts[0] != tt.want {
			t.Errorf("%v: %q", tt.before, texts)
		}
	}
	again := strings.Join(StopBefore(s, scene.Noon.Add(30*time.Minute)).Texts(s), " ")
	for _, want := range []string{"Take commence away from group mos-default", "At once: cmp-02", "4 of 7 nodes through"} {
		if want == "At once: cmp-02" {
			want = "Before 12:20, when cmp-02 begins"
		}
		if !strings.Contains(again, want) {
			t.Errorf("it does not say %q: %s", want, again)
		}
	}
}

// Where the Cluster was given its release, nothing stops LCM between two steps: no answer and no plan of nights rests on it.
func TestNothingHoldsAnUpdateThatGoesAsAWhole(t *testing.T) {
	s := planned(func(m *scene.Managed) {
		for i := range m.Plan.Steps {
			m.Plan.Steps[i].Commence = false
		}
	}).Snapshot
	for _, after := range []time.Duration{10 * time.Minute, 30 * time.Minute, 2 * time.Hour} {
		if text := strings.Join(StopBefore(s, scene.Noon.Add(after)).Texts(s), " "); strings.Contains(text, "commence away") ||
			strings.Contains(text, "Do not commence") || strings.Contains(text, "after group") {
			t.Errorf("before %s: %s", after, text)
		}
	}
	// While OpenStack is updated, Ceph and the masters are under way with it: no night begins with them.
	early := planned(func(m *scene.Managed) {
		for i := range m.Plan.Steps {
			st := &m.Plan.Steps[i]
			st.Status, st.Commence, st.Started, st.Duration = core.PlanNotStarted, false, time.Time{}, ""
		}
		m.Plan.Steps[0].Status, m.Plan.Steps[0].Started = core.PlanInProgress, scene.Ago(10*time.Minute)
	}).Snapshot
	night, err := ParseWindow("22:00-06:00")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range SplitNights(early, Request{Window: night}).Nights {
		for _, it := range n.Items {
			if it.Part == "ceph" || it.Part == "k8s-controllers" {
				t.Errorf("%s is put into the night of %s, and LCM goes on to it by itself", it.Title, n.From)
			}
		}
	}
	if notes := strings.Join(SplitNights(s, Request{Window: night}).Notes, " "); !strings.Contains(notes, "LCM goes on by itself") ||
		strings.Contains(notes, "taking commence away") {
		t.Errorf("the split notes: %s", notes)
	}
}

// The forecast is tested on what came: each time only with what had ended until then.
func TestHowGoodForecastsWere(t *testing.T) {
	at := func(m int) time.Time { return scene.Noon.Add(time.Duration(m) * time.Minute) }
	var rounds []core.Round
	for i, took := range []int{20, 20, 22, 40, 20} {
		began := []int{0, 20, 40, 62, 102}[i]
		rounds = append(rounds, core.Round{Update: "u", Started: at(began), Ended: at(began + took)})
	}
	r := RecordOf(rounds)
	var got []string
	for _, told := range r.Next {
		got = append(got, fmt.Sprintf("after %d: %v within %v", told.After, told.Off(), told.Within()))
	}
	if want := "after 2: 2m0s within true; after 3: 20m0s within false; after 4: -2m0s within true"; strings.Join(got, "; ") != want {
		t.Errorf("the next ones: %s", strings.Join(got, "; "))
	}
	if last := r.Last[0]; !last.Forecast.At.Equal(at(100)) || last.Off() != 22*time.Minute {
		t.Errorf("after two of five, the last was forecast for %v, off by %v", last.Forecast.At, last.Off())
	}
	// What comes later changes nothing of what was forecast before.
	if short := RecordOf(rounds[:4]); short.Next[0] != r.Next[0] || short.Next[1] != r.Next[1] {
		t.Errorf("%+v, and with one more node %+v", short.Next, r.Next)
	}
	if rec := RecordOf(rounds[:2]); len(rec.Next)+len(rec.Last) != 0 {
		t.Errorf("two nodes make a record: %+v", rec)
	}
}

func TestTheFormulaWithTheClustersNumbers(t *testing.T) {
	f := FormulaOf(scene.Healthy().Snapshot)
	if want := (45+50+15*3+40+20*3+40*4)*time.Minute + 1439120*time.Millisecond; (f.Sum - want).Abs() > time.Second {
		t.Errorf("the sum is %v, want %v", f.Sum, want)
	}
	tests := []struct {
		name string
		s    func() *core.Snapshot
		says string
	}{
		{"no plan", func() *core.Snapshot { return scene.Healthy().Snapshot }, "taken as 1"},
		{"a plan with workers", func() *core.Snapshot { return planned().Snapshot }, "RE is 1"},
		{"a plan without workers", func() *core.Snapshot {
			return planned(func(m *scene.Managed) { m.Plan.Steps = m.Plan.Steps[:3] }).Snapshot
		}, "RE is 0"},
		{"the instances are not known", func() *core.Snapshot {
			sc := scene.Healthy()
			sc.Source(core.SourceInstances, core.SourceForbidden)
			return sc.Snapshot
		}, "D, the instances on a compute, is not known"},
		{"the nodes are not known", func() *core.Snapshot {
			sc := scene.Healthy()
			sc.Source(core.SourceNodes, core.SourceForbidden)
			return sc.Snapshot
		}, "the formula has no numbers"},
		{"Tungsten Fabric", func() *core.Snapshot {
			sc := scene.Healthy()
			sc.Lock("", core.ControllerTungstenFabric, core.LockActive)
			return sc.Snapshot
		}, "Open vSwitch only"},
	}
	for _, tt := range tests {
		if said := strings.Join(FormulaOf(tt.s()).Ambiguous, "\n"); !strings.Contains(said, tt.says) {
			t.Errorf("%s: %s", tt.name, said)
		}
	}
}

// Each node that is left has a span, in the order of the update, that ends after it begins; the last one's end is the header's.
func TestTheNodesThatAreLeft(t *testing.T) {
	sc := planned(func(m *scene.Managed) { m.Maintained("cmp-01", "") })
	var got []string
	for _, n := range Nodes(sc.Snapshot) {
		got = append(got, fmt.Sprintf("%s %s-%s±%v began %v", n.Label, n.Start.At.Format("15:04"), n.End.At.Format("15:04"), n.End.Spread,
			n.Began))
	}
	want := "cmp-01 11:40-12:00±2m0s began true\ncmp-02 12:00-12:20±4m0s began false\ncmp-03 12:20-12:40±6m0s began false\n" +
		"gtw-01 12:40-13:00±8m0s began false"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if end := Finish(sc.Snapshot); end != (End{At: scene.Noon.Add(time.Hour), Spread: 8 * time.Minute}) {
		t.Errorf("%+v", end)
	}
	if spans := Nodes(scene.Healthy().Snapshot); len(spans) != 0 {
		t.Errorf("no update runs, and there are %v", spans)
	}
}

// Only a plan has steps that somebody commences: without one nothing is said of them.
func TestWhatAForecastTakesForGranted(t *testing.T) {
	sc := scene.Healthy()
	sc.Update(5 * time.Hour)
	seenRounds(sc, "cmr", 20*time.Minute, "ctl-01", "ctl-02", "ctl-03", "cmp-01")
	for name, tt := range map[string]struct {
		s       *core.Snapshot
		planned bool
	}{"a plan": {planned().Snapshot, true}, "no plan": {sc.Snapshot, false}} {
		texts := strings.Join(StopBefore(tt.s, scene.Noon.Add(48*time.Hour)).Texts(tt.s), " ")
		if !strings.Contains(texts, "It is over before") || strings.Contains(texts, "commenced") != tt.planned {
			t.Errorf("%s: %q", name, texts)
		}
	}
}

// A step that has lost its commence rests by itself, when the nodes in maintenance have ended: nothing has to be taken away from it.
func TestAHeldStepRestsByItself(t *testing.T) {
	held := func(m *scene.Managed) { m.Plan.Steps[3].Status, m.Plan.Steps[3].Commence = core.PlanAutoPaused, false }
	for name, tt := range map[string]struct {
		sc   scene.Scene
		want string
		says string
	}{
		"no node is in maintenance": {planned(held), "step k8s-controllers@12:00 before group mos-default; group mos-default@13:20 before " +
			"step mcc-components", "Yes: before 12:10 it can rest after step k8s-controllers, which is reached now."},
		"a node is": {planned(held, func(m *scene.Managed) { m.Maintained("cmp-01", "") }),
			"cmp-01@12:00 before group mos-default; group mos-default@13:00 before step mcc-components",
			"Yes: before 12:10 it can rest after cmp-01, which is reached about 12:00 ± 2 m."},
	} {
		s := tt.sc.Snapshot
		if got := restsText(s); got != tt.want {
			t.Errorf("%s: got  %s\nwant %s", name, got, tt.want)
		}
		text := strings.Join(StopBefore(s, scene.Noon.Add(10*time.Minute)).Texts(s), " ")
		if !strings.HasPrefix(text, tt.says) || !strings.Contains(text, "Do not commence group mos-default again.") ||
			strings.Contains(text, "commence away") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// Of two ends the later one counts, and its slow end reaches to the later slow end.
func TestTheLaterOfTwoEndsReachesToBothSlowEnds(t *testing.T) {
	at := func(minute, spread int) Moment {
		return Moment{At: scene.Noon.Add(time.Duration(minute) * time.Minute), Spread: time.Duration(spread) * time.Minute}
	}
	for _, tt := range []struct{ a, b, want Moment }{
		{at(0, 20), at(5, 3), at(5, 15)}, {at(0, 2), at(5, 3), at(5, 3)}, {at(5, 3), at(5, 8), at(5, 8)}, {Moment{}, at(5, 3), at(5, 3)},
		{Moment{}, Moment{}, Moment{}},
	} {
		for _, got := range []Moment{later(tt.a, tt.b), later(tt.b, tt.a)} {
			if got != tt.want {
				t.Errorf("%v and %v: %v, want %v", tt.a, tt.b, got, tt.want)
			}
		}
	}
}

// The forecasts of a large update are tested after every so many nodes: each test looks at all of them.
func TestTheForecastsOfALargeUpdateAreTestedAtSomeNodes(t *testing.T) {
	var rounds []core.Round
	for i := range 2000 {
		began := scene.Noon.Add(time.Duration(i) * 20 * time.Minute)
		rounds = append(rounds, core.Round{Update: "u", Started: began, Ended: began.Add(20 * time.Minute)})
	}
	r := RecordOf(rounds)
	if r.Of != 2000 || r.Each != 20 || len(r.Next) != 100 || r.Next[1].After != 22 {
		t.Errorf("of %d nodes, after each %d, %d forecasts", r.Of, r.Each, len(r.Next))
	}
	texts := strings.Join(r.Texts(scene.Healthy().Snapshot), "\n")
	for _, want := range []string{"After each 20 nodes of", "100 of 100 came within the spread", "After 482 of 2000 nodes"} {
		if !strings.Contains(texts, want) {
			t.Errorf("it does not say %q:\n%s", want, texts)
		}
	}
}
