package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"lockstep/core"
)

// fleetStatus is the status of a cluster with this many nodes where nothing happens, and three others.
func fleetStatus(idle int) Status {
	now := time.Date(2026, 1, 16, 15, 25, 37, 0, time.UTC)
	at := func(d time.Duration) *time.Time { return moment(now.Add(-d)) }
	seven, none := 7, 0
	s := Status{Cluster: "mos", AsOf: now, Update: StatusUpdate{Running: true, From: "20.0.0+25.1", To: "21.0.0+25.2", Nodes: idle + 3},
		NeedsYou: []StatusAttention{
			{Subject: "cmp-003", Severity: "urgent", Since: at(41 * time.Minute),
				Reason: "monitor-05021 holds the node: runs, and nothing moves it: status ERROR — stop it, or reset its state and then migrate it"},
			{Subject: fmt.Sprintf("%d nodes", idle), Severity: "notice",
				Reason: "989 instances will hold them when their turn comes: cmp-004 (1), cmp-005 (27), cmp-006 (4) and 245 more"},
		},
		Phases: []StatusPhase{{Number: 4, Title: "worker nodes", State: "running", Elapsed: 2760, Total: idle}},
	}
	for i, stage := range []core.Stage{core.StageEvacuating, core.StageWaiting, core.StageQueued} {
		s.Nodes = append(s.Nodes, StatusNode{Label: fmt.Sprintf("cmp-%03d", i+1), Roles: []core.Role{core.RoleCompute, core.RoleStorage},
			Stage: string(stage), Since: at(114 * time.Minute),
			Mode: "manual", Locks: map[string]string{"openstack": "active", "ceph": "inactive", "tungstenfabric": "inactive"}, Instances: &seven,
			Blocking: &none, matters: true})
	}
	for i := range idle {
		stage := core.StageIdle
		if i%3 == 0 {
			stage = core.StageDone
		}
		s.Nodes = append(s.Nodes, StatusNode{Label: fmt.Sprintf("cmp-%03d", i+4), Roles: []core.Role{core.RoleCompute}, Stage: string(stage),
			Mode:  "live",
			Locks: map[string]string{"openstack": "active"}, Instances: &seven, Blocking: &seven})
	}
	return s
}

func table(t *testing.T, how statusTable, s Status) string {
	t.Helper()
	var out strings.Builder
	if err := how.print(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// 500 nodes where nothing happens are one line, and what matters fits on one screen.
func TestStatusOfManyIdleNodesIsShort(t *testing.T) {
	few, many := table(t, statusTable{}, fleetStatus(3)), table(t, statusTable{}, fleetStatus(500))
	if lines := strings.Count(many, "\n"); lines > 24 || lines != strings.Count(few, "\n") {
		t.Errorf("%d lines:\n%s", lines, many)
	}
	if !strings.Contains(many, "\n500 more nodes: 167 done, 333 idle; nothing is wrong there (--all shows them)\n") {
		t.Errorf("they are not counted:\n%s", many)
	}
	all := table(t, statusTable{all: true}, fleetStatus(500))
	if strings.Count(all, "\ncmp-") < 503 || strings.Contains(all, "--all") {
		t.Errorf("%d lines of nodes with --all", strings.Count(all, "\ncmp-"))
	}
	blind := fleetStatus(500)
	blind.Sources = append(blind.Sources, StatusSource{ID: string(core.SourceInstances), State: string(core.SourceFailed)})
	if text := table(t, statusTable{}, blind); !strings.Contains(text, "333 idle; nothing wrong is known there (") {
		t.Errorf("the instances are not seen, and it says\n%s", text)
	}
	nothing := fleetStatus(1)
	nothing.Nodes = nothing.Nodes[3:]
	if text := table(t, statusTable{}, nothing); strings.Contains(text, "NODE  ") ||
		!strings.Contains(text, "\n1 node: 1 done; nothing is wrong there (--all shows them)\n") {
		t.Errorf("got\n%s", text)
	}
}

// A page that is sent to a colleague stands by itself: times of another day have their day, the end is told or why there is none, each
// phase has what the documents allow for it, and the page says how to see more.
func TestStatusStandsByItself(t *testing.T) {
	s := fleetStatus(3)
	began, sleeps := s.AsOf.Add(-31*time.Hour), s.AsOf.Add(20*time.Hour)
	s.Update.Started, s.Update.Elapsed, s.Update.Baseline = &began, 31*3600, 22*24*3600
	s.Update.End, s.Update.Plan = "not known yet: two nodes that are through make a pace", "mos-21.0.0: InProgress, 3 of 5 steps done"
	s.Phases[0].Allowed = 7200
	s.NeedsYou[0].Aside = &StatusNote{Text: "owner called", By: "anna", Until: &sleeps}
	text := table(t, statusTable{}, s)
	for _, want := range []string{
		"1 d 7 h since " + began.Local().Format("Mon 2 Jan 15:04") + "; the documents allow 22 d 0 h, one node after the other\n",
		"\nEnd         not known yet: two nodes that are through make a pace\n",
		"\nPlan        mos-21.0.0: InProgress, 3 of 5 steps done\n",
		"4 worker nodes  running  46 m  2 h 0 m  0/3\n",
		sleeps.Local().Format("Mon 2 Jan 15:04") + "  owner called (anna): ",
		"\n--details adds ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	if text := table(t, statusTable{details: true}, s); strings.Contains(text, "--details") {
		t.Errorf("a page with the details offers them:\n%s", text)
	}
}

// While no update runs the page says at which release the cluster is, and what comes next.
func TestStatusBeforeAnUpdateSaysWhatIsOffered(t *testing.T) {
	s := fleetStatus(3)
	s.NeedsYou = nil
	s.Update = StatusUpdate{Assessment: "no update runs", Release: "20.0.0+25.1", Offered: "mosk-21-0-0-25-2",
		Plan: "mos-21.0.0: NotStarted, 0 of 5 steps done"}
	text := table(t, statusTable{}, s)
	for _, want := range []string{"mos: 20.0.0+25.1   as of ", "\nPlan        mos-21.0.0: NotStarted, 0 of 5 steps done\n",
		"\nOffered     mosk-21-0-0-25-2\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
}

// On a terminal no line is wider than the terminal, and no word is lost; in a pipe each node has one line.
func TestStatusFitsTheTerminal(t *testing.T) {
	s := fleetStatus(5)
	plain := strings.Join(strings.Fields(strings.NewReplacer("INSTANCES", "INST", "BLOCKING",
		"BLOCK").Replace(table(t, statusTable{all: true}, s))), "")
	for _, width := range []int{80, 100, 120, 200} {
		text := table(t, statusTable{all: true, width: width}, s)
		for line := range strings.Lines(text) {
			if w := ansi.StringWidth(strings.TrimRight(line, "\n")); w > width {
				t.Errorf("at %d columns a line has %d: %s", width, w, line)
			}
		}
		for _, word := range []string{"openstack:active", "ceph:inactive", "evacuating", "cmp-002", "1 h 54 m"} {
			if !strings.Contains(text, word) {
				t.Errorf("at %d columns %q is broken:\n%s", width, word, text)
			}
		}
		if width >= 120 {
			continue
		}
		letters := func(s string) map[rune]int {
			n := map[rune]int{}
			for _, r := range s {
				n[r]++
			}
			return n
		}
		got := letters(strings.NewReplacer("INSTANCES", "INST", "BLOCKING", "BLOCK").Replace(strings.Join(strings.Fields(text), "")))
		for r, n := range letters(plain) {
			if got[r] != n {
				t.Errorf("at %d columns %q is there %d times, want %d:\n%s", width, r, got[r], n, text)
			}
		}
	}
	for line := range strings.Lines(table(t, statusTable{}, s)) {
		if strings.HasPrefix(line, "cmp-001") && !strings.Contains(line, "ceph:inactive openstack:active tungstenfabric:inactive") {
			t.Errorf("in a pipe: %s", line)
		}
	}
}

func TestWhichNodesMatter(t *testing.T) {
	ready := &core.Node{Ready: "True"}
	idle := &core.NodeView{Name: "a", Node: ready, Stage: core.StageIdle}
	for name, tc := range map[string]struct {
		change  func(*core.NodeView)
		matters bool
	}{
		"idle":             {func(*core.NodeView) {}, false},
		"through":          {func(v *core.NodeView) { v.Stage = core.StageDone }, false},
		"queued":           {func(v *core.NodeView) { v.Stage = core.StageQueued }, true},
		"failed":           {func(v *core.NodeView) { v.Stage = core.StageFailed }, true},
		"not ready":        {func(v *core.NodeView) { v.Node = &core.Node{Ready: "Unknown"} }, true},
		"cordoned":         {func(v *core.NodeView) { v.Node = &core.Node{Ready: "True", Cordoned: true} }, true},
		"gone":             {func(v *core.NodeView) { v.Node = nil }, true},
		"a lock is amiss":  {func(v *core.NodeView) { v.Problems = []string{"no lock"} }, true},
		"an entry about":   {func(v *core.NodeView) { v.Name = "warned" }, true},
		"a notice about":   {func(v *core.NodeView) { v.Name = "noticed" }, false},
		"an entry of kind": {func(v *core.NodeView) { v.Name = "instance" }, false},
		"its machine's":    {func(v *core.NodeView) { v.Name = "machined" }, true},
	} {
		v := *idle
		tc.change(&v)
		needing := nodesNeedingYou([]core.Attention{
			{Severity: core.SeverityWarning, Subject: core.Ref{Kind: core.KindNode, Name: "warned"}},
			{Severity: core.SeverityNotice, Subject: core.Ref{Kind: core.KindNode, Name: "noticed"}},
			{Severity: core.SeverityUrgent, Subject: core.Ref{Kind: core.KindInstance, Name: "instance"}},
			{Severity: core.SeverityWarning, Subject: core.Ref{Kind: core.KindMachine, Name: "m"}, Node: "machined"},
		})
		if got := nodeMatters(&v, needing); got != tc.matters {
			t.Errorf("%s: %v", name, got)
		}
	}
}
