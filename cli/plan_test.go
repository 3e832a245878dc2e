package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/evacuation"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

var updateGoldens = flag.Bool("update", false, "write the golden outputs anew")

// aPlan is a forecast of two nodes with an instance of each fate, at a fixed time.
func aPlan() *evacuation.Forecast {
	span := func(d time.Duration) *evacuation.Span { return new(evacuation.Span(d)) }
	reason := func(kind evacuation.ReasonKind, level evacuation.Level, text, remedy string) evacuation.Reason {
		return evacuation.Reason{Kind: kind, Level: level, Text: text, Remedy: remedy}
	}
	first := evacuation.NodeForecast{Node: "kaas-node-1", Label: "cmp-01", Zone: "az-1", Mode: core.ModeLive, Wave: 1,
		Time: span(3 * time.Minute), Slow: span(5 * time.Minute),
		Counts: evacuation.Counts{Instances: 6, Blocks: 1, MayFail: 1, Unknown: 1, Moves: 1, GoesDown: 1, Stays: 1},
		Spare:  &evacuation.SpareHost{Host: "cmp-03", Left: 1},
		Instances: []evacuation.InstanceForecast{
			{ID: "i1", Name: "gpu|1", Project: "science", Status: "ACTIVE", Flavor: "g1", RAMMiB: 8192, Action: core.ActionLiveMigrate,
				Origin: core.OriginNode, Fate: evacuation.FateBlocks,
				Reasons: []evacuation.Reason{reason(evacuation.KindDevice, evacuation.LevelBlocks,
					"PCI device a100:1: Nova refuses to live-migrate it", "cold-migrate it"),
					reason(evacuation.KindVolume, evacuation.LevelRisk, "volume keys is encrypted", "see that Barbican answers")}},
			{ID: "i2", Name: "pinned", Project: "science", Status: "ACTIVE", Flavor: "c1", RAMMiB: 8192, Action: core.ActionLiveMigrate,
				Origin: core.OriginTag, Fate: evacuation.FateMayFail, Target: "cmp-03",
				Time: span(90 * time.Second), Reasons: []evacuation.Reason{reason(evacuation.KindTopology, evacuation.LevelRisk,
					"pinned CPUs: moves only to a host with the same free in its NUMA cells", "cold-migrate it")}},
			{ID: "i3", Name: "db", Project: "shop", Status: "ACTIVE", Flavor: "m1", RAMMiB: 4096, Action: core.ActionLiveMigrate,
				Origin: core.OriginNode, Fate: evacuation.FateUnknown, Target: "cmp-02",
				Time: span(50 * time.Second), Reasons: []evacuation.Reason{reason(evacuation.KindVolume, evacuation.LevelUnknown,
					"volumes: not checked", "")}},
			{ID: "i4", Name: "web", Project: "shop", Status: "ACTIVE", Flavor: "m1", RAMMiB: 4096, Action: core.ActionLiveMigrate,
				Origin: core.OriginNode, Fate: evacuation.FateMoves, Target: "cmp-02",
				From: "cmp-00", Time: span(50 * time.Second), Reasons: []evacuation.Reason{}},
			{ID: "i5", Name: "batch", Project: "science", Status: "ACTIVE", Flavor: "m1", RAMMiB: 4096, Action: core.ActionPowerOff,
				Origin: core.OriginTag, Fate: evacuation.FateDown,
				Reasons: []evacuation.Reason{reason(evacuation.KindAction, evacuation.LevelNote,
					"goes down with the host and comes back with it (its tag)", "")}},
			{ID: "i6", Name: "old", Project: "shop", Status: "SHUTOFF", Flavor: "m1", RAMMiB: 4096, Action: core.ActionLiveMigrate,
				Origin: core.OriginNode, Fate: evacuation.FateStays,
				Reasons: []evacuation.Reason{reason(evacuation.KindState, evacuation.LevelNote,
					"stopped: nothing runs that the host could take down", "")}},
		}}
	second := evacuation.NodeForecast{Node: "kaas-node-2", Label: "cmp-02", Zone: "az-1", Mode: core.ModeSkip, Wave: 2, Time: span(0),
		Slow: span(0), Instances: []evacuation.InstanceForecast{}}
	return &evacuation.Forecast{Cluster: "mos", Made: time.Date(2026, 3, 14, 16, 43, 10, 0, time.UTC),
		AsOf: time.Date(2026, 3, 14, 16, 43, 8, 0, time.UTC), Whole: true, AtOnce: 1,
		Nodes: []evacuation.NodeForecast{first, second}, Counts: first.Counts,
		Speed: evacuation.MigrationSpeed{Observations: 7, MiBPerSecond: 102.4, Slow: 61.2},
		Time:  span(3 * time.Minute), Slow: span(5 * time.Minute),
		Rounds: &evacuation.NodePace{Rounds: 4, Middle: evacuation.Span(22 * time.Minute)},
		Unknown: []evacuation.Unknown{{What: core.FactsVolumes, Why: "list volumes: forbidden",
			Means: "encrypted volumes, and volumes on a host's own disks, are not seen"}},
		Closed:    []evacuation.ClosedHost{{Host: "cmp-09", Why: "nova-compute is disabled: disk is broken"}},
		LeftOut:   []string{"cmp-07", "cmp-08"},
		Otherwise: []string{"It is a forecast."}}
}

func TestAPlanAsItIsPrinted(t *testing.T) {
	for _, tc := range []struct {
		format, file string
		all          bool
	}{{"table", "plan.table", false}, {"table", "plan-all.table", true}, {"markdown", "plan.md", false}, {"json", "plan.json", false}} {
		var out bytes.Buffer
		if err := planPrinters[tc.format](&out, aPlan(), tc.all); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", tc.file+".golden")
		if *updateGoldens {
			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v (run the test with -update)", err)
		}
		if out.String() != string(want) {
			t.Errorf("%s is not as it was; look at it and run with -update.\n--- was\n%s\n--- is\n%s", file, want, out.String())
		}
	}
}

// Plans of the simulated cloud that has a blocker of each kind; it stands still.
func TestPlansOfACloudThatIsHardToMove(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		c := started(t, sim.Options{User: kubeapi.Readonly, Paused: true, Scenario: told(t, "hard-to-move")})
		planOfEachBlocker(t, c)
		planOfAWholeUpdate(t, c)
		planOfANodeFromWhichEverythingMoves(t, c)
		noPlan(t, c)
		planOfNights(t, c)
	})
}

// While instances move, a plan is the same whether each host is asked who takes what there, or only those where that is not known.
func TestAPlanWhileInstancesMoveIsTheSameWithFewerQuestions(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "manual-nodes")})
		st.begin()
		st.until("all is live", sessiontest.AllKnown)
		moved := 0
		for range 3 {
			time.Sleep(time.Minute)
			st.Clock.Pause()
			time.Sleep(time.Minute) // until Lockstep has seen how it stands
			snap := st.s.Engine.Snapshot()
			for _, in := range snap.Instances.All() {
				if in.Status == "MIGRATING" {
					moved++
				}
			}
			var r evacuation.Request
			for _, name := range snap.NodeNames() {
				if snap.Nodes[name].Is(core.RoleCompute) {
					r.Nodes = append(r.Nodes, name)
				}
			}
			plan := func(q core.EvacuationQuery) string {
				p, err := evacuation.NewForecast(snap, st.s.OpenStack.EvacuationFacts(t.Context(), q, nil), r)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := p.JSON()
				if err != nil {
					t.Fatal(err)
				}
				return string(raw)
			}
			asked := func() (hosts int) {
				for _, r := range st.OpenStack.Requests() {
					if strings.HasSuffix(r.Path, "/allocations") {
						hosts++
					}
				}
				st.OpenStack.ForgetRequests()
				return hosts
			}
			asked()
			q := evacuation.Query(snap, r)
			few := plan(q)
			if n := asked(); n != 0 {
				t.Errorf("%d hosts were asked: all that is held there is known", n)
			}
			q.Loads = nil
			each := plan(q)
			if n := asked(); n != len(r.Nodes) {
				t.Errorf("%d hosts were asked, want all %d", n, len(r.Nodes))
			}
			if few != each {
				t.Errorf("the plan is\n%s\nand when each host is asked\n%s", few, each)
			}
			st.Clock.Resume()
		}
		if moved == 0 {
			t.Error("nothing moved")
		}
	})
}

// The scenario's own description: one instance of each kind on cmp-01, and what a plan says about it.
func planOfEachBlocker(t *testing.T, c *sim.Cloud) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plan.json")
	code, out, errs := runOn(t, c, "plan", "cmp-01", "-o", "json", "--out", file)
	if code != exitAttention || !strings.HasPrefix(out, "Wrote "+file+". 1 node, 22 instances: ") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v)", info.Mode(), err)
	}
	var p struct {
		Nodes []struct {
			Instances []struct {
				Name, Fate string
				Reasons    []struct{ Kind string }
			}
		}
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, x := range p.Nodes[0].Instances {
		why := ""
		if len(x.Reasons) > 0 {
			why = x.Reasons[0].Kind
		}
		got[x.Name] = strings.TrimSpace(x.Fate + " " + why)
	}
	for name, want := range map[string]string{
		"web-1": "moves", "old-ci": "stays state", "scratch": "goes down action", "licence": "blocks action", "pay-1": "moves locked",
		"broken":  "blocks state",
		"resized": "blocks state", "rescued": "blocks state", "pinned": "may fail topology", "numa": "may fail topology", "gpu": "blocks device",
		"vgpu":  "blocks device",
		"vault": "blocks confidential", "router": "may fail port", "ledger": "may fail volume", "cache": "may fail volume",
		"etcd-1": "blocks anti-affinity",
		"hpc-1":  "blocks affinity", "hpc-2": "blocks affinity", "erp-db": "blocks room", "archive": "moves", "index": "moves",
	} {
		if got[name] != want {
			t.Errorf("%s %s, want %s", name, got[name], want)
		}
	}
	if code, _, errs := runOn(t, c, "plan", "cmp-01", "--out", file); code != exitError || !strings.Contains(errs, "--force") {
		t.Errorf("the file was replaced without a word: exit %d, %s", code, errs)
	}
	for _, w := range c.Kube.Requests() {
		if w.Verb != "get" && w.Verb != "list" && w.Verb != "watch" && w.User == kubeapi.Readonly && !strings.Contains(w.Path, "selfsubject") {
			t.Errorf("plan wrote: %s %s", w.Verb, w.Path)
		}
	}
}

func planOfAWholeUpdate(t *testing.T, c *sim.Cloud) {
	t.Helper()
	code, out, errs := runOn(t, c, "plan")
	if code != exitAttention {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"6 nodes", "no other host of zone az-2 takes instances", "manual: the operator moves it",
		"Nothing has moved."} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
}

// A node that needs nobody has a plan with nothing to do.
func planOfANodeFromWhichEverythingMoves(t *testing.T, c *sim.Cloud) {
	t.Helper()
	code, out, errs := runOn(t, c, "plan", "cmp-00")
	if code != exitFine || !strings.Contains(out, "1 node, 2 instances: 1 moves, 1 goes down with its host.") ||
		strings.Contains(out, "FATE") {
		t.Errorf("exit %d:\n%s%s", code, out, errs)
	}
}

// Without a cloud there is no plan, but a reason; the same goes for a node that does not exist.
func noPlan(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.CloudsYAML = nil
	code, out, errs := runIn(t, p, "plan", "--kubeconfig", c.KubeconfigPath)
	if code != exitError || out != "" || !strings.Contains(errs, "OpenStack") {
		t.Errorf("exit %d, output %q, message %q", code, out, errs)
	}
	for _, args := range [][]string{{"plan", "cmp-99"}, {"plan", "-o", "yaml"}, {"plan", "--at-once", "0"}} {
		code, out, errs := runOn(t, c, args...)
		if code != exitError || out != "" || !strings.Contains(errs, args[len(args)-1]) {
			t.Errorf("%q: exit %d, output %q, message %q", args, code, out, errs)
		}
	}
}
