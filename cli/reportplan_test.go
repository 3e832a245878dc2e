package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/record"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// planned is what the cloud's own plan says of a step.
type planned struct {
	estimate, status string
	began            time.Time
	took             time.Duration
}

// A whole update by a plan: the report says what was planned, forecast and what came, for each step and for the whole, as the cloud's own
// plan has it.
func TestTheReportHoldsThePlanAgainstWhatCame(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "drive-it"), Timing: paced, Speed: quickly})
		st.place.Management = simManagement(st.Cloud)
		var mu sync.Mutex
		steps := map[string]planned{}
		var order []string
		st.Management.Follow(func(c kubeapi.Change) {
			mu.Lock()
			defer mu.Unlock()
			order = order[:0]
			now := map[string]planned{}
			spec, _, _ := unstructured.NestedSlice(c.Now.Object, "spec", "steps")
			for _, one := range spec {
				step := one.(map[string]any)
				id, _ := step["id"].(string)
				estimate, _, _ := unstructured.NestedString(step, "duration", "estimated")
				now[id] = planned{estimate: estimate}
				order = append(order, id)
			}
			status, _, _ := unstructured.NestedSlice(c.Now.Object, "status", "steps")
			for _, one := range status {
				step := one.(map[string]any)
				id, _ := step["id"].(string)
				p := now[id]
				p.status, _ = step["status"].(string)
				if at, _ := step["startedAt"].(string); at != "" {
					p.began, _ = time.Parse(time.RFC3339, at)
				}
				took, _ := step["duration"].(string)
				p.took, _ = time.ParseDuration(took)
				now[id] = p
			}
			steps = now
		}, "clusterupdateplans")
		st.begin()
		st.arm()
		st.until("the plan is there", func(s *core.Snapshot) bool { return live(s, core.ServerManagement) && s.Management.Plan() != nil })
		for _, key := range []string{"openstack", "k8s-controllers", "k8s-workers-mos-default", "mcc-components"} {
			if key == "k8s-workers-mos-default" {
				estimates(t, st, key, "9h0m0s")
				st.until("the plan says so", func(s *core.Snapshot) bool { return s.Management.Plan().Steps[2].Estimate == "9h0m0s" })
			}
			st.confirm(core.Intent{Kind: core.IntentCommence, PlanStep: key})
			st.until(key+" is over", func(s *core.Snapshot) bool { return planStepSays(s, key) == core.PlanCompleted })
		}
		st.until("the update is over", func(s *core.Snapshot) bool {
			return s.Management.Plan().Status == core.PlanCompleted && s.ClusterRequest() == nil
		})
		time.Sleep(time.Minute)
		st.until("it is at rest", sessiontest.AllKnown)
		foretells(t, st)
		st.stop()

		a := accountOf(t, st)
		mu.Lock()
		defer mu.Unlock()
		holdsThePlan(t, a, order, steps)
		if len(a.Phases) != 5 {
			t.Errorf("%d phases", len(a.Phases))
		}
		for _, p := range a.Phases {
			if !p.Exact || p.Reconstructed || p.Began.IsZero() || p.Ended.IsZero() {
				t.Errorf("phase %d was watched from its beginning to its end, and is told as %+v", p.Number, p)
			}
		}
		for _, f := range a.Plan.Whole.Forecasts {
			if f.Later == nil || f.End.IsZero() || f.Given.After(a.Plan.Whole.Ended.Time) {
				t.Errorf("a forecast of the whole is not held against what came: %+v", f)
			}
		}
		if c := a.Plan.Changes; len(c) != 1 || c[0].What != "group mos-default: estimated 9h0m0s, before 8h0m0s" || c[0].Line.Seq == 0 {
			t.Errorf("that the plan changed: %+v", c)
		}
		tracesToLines(t, a, st.s.Journal.Path())
		var page, text bytes.Buffer
		if err := record.HTML(&page, a, time.UTC); err != nil {
			t.Fatal(err)
		}
		if err := record.Markdown(&text, a, time.UTC); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Plan against actual", "group mos-default", "the first one"} {
			if !strings.Contains(page.String(), want) || !strings.Contains(strings.ReplaceAll(text.String(), `\`, ""), want) {
				t.Errorf("the report does not say %q:\n%s", want, text.String())
			}
		}
		if !strings.Contains(page.String(), `class="planned"`) {
			t.Error("the timeline has no bar of the plan")
		}
	})
}

// foretells looks that what was forecast of each step, of all nodes and of the whole is held against what came, and after a restart, too.
func foretells(t *testing.T, st *story) {
	t.Helper()
	of := func() []string {
		var out []string
		for _, f := range st.last.History.Foretold {
			if f.Given.IsZero() || f.End.IsZero() || !f.Came.After(f.Given) {
				t.Errorf("it is not whole: %+v", f)
			}
			if (f.Kind == core.ForetoldStep) != (f.ID != "" && f.Took() > time.Minute) {
				t.Errorf("how long it took is not known of a step, or is of what is none: %+v", f)
			}
			out = append(out, strings.TrimSpace(string(f.Kind)+" "+f.Title))
		}
		slices.Sort(out)
		return out
	}
	want := []string{"nodes", "step group mos-default", "step step k8s-controllers", "step step mcc-components",
		"step step openstack", "whole"}
	if got := of(); !slices.Equal(got, want) {
		t.Errorf("forecast and came %q, want %q", got, want)
	}
	st.stop()
	st.begin()
	st.until("everything is live again", sessiontest.AllKnown)
	if got := of(); !slices.Equal(got, want) {
		t.Errorf("after a restart %q, want %q", got, want)
	}
}

// estimates writes another estimate into a step of the plan.
func estimates(t *testing.T, st *story, key, estimate string) {
	t.Helper()
	admin, err := dynamic.NewForConfig(st.ManagementConfig())
	if err != nil {
		t.Fatal(err)
	}
	plan := st.last.Management.Plan()
	all := admin.Resource(schema.GroupVersionResource{Group: "kaas.mirantis.com", Version: "v1alpha1", Resource: "clusterupdateplans"})
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/steps/%d/duration/estimated","value":%q}]`, plan.StepAt(key), estimate)
	_, err = all.Namespace(plan.Namespace).Patch(t.Context(), plan.Name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// accountOf is the account of a story's update, from its journal.
func accountOf(t *testing.T, st *story) *record.Account {
	t.Helper()
	r, skipped, err := record.Read([]string{st.s.Journal.Path()})
	if err != nil || skipped > 0 {
		t.Fatalf("%d lines are no records, %v", skipped, err)
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// holdsThePlan compares the account with what the cloud's own plan says.
func holdsThePlan(t *testing.T, a *record.Account, order []string, steps map[string]planned) {
	t.Helper()
	if a.Plan == nil || a.Plan.By != record.PlanByPlan || len(a.Plan.Parts) != len(order) {
		t.Fatalf("the plan: %+v, the cloud has %q", a.Plan, order)
	}
	var sum time.Duration
	for i, p := range a.Plan.Parts {
		own := steps[order[i]]
		estimate, err := time.ParseDuration(own.estimate)
		if err != nil {
			t.Fatal(err)
		}
		if own.estimate == "9h0m0s" {
			estimate = 8 * time.Hour // when the update began
		}
		sum += estimate
		if p.ID != order[i] || p.Planned != estimate.Seconds() || p.PlannedBy != record.PlanByPlan {
			t.Errorf("step %d is planned %+v, the cloud has %s %+v", i, p, order[i], own)
		}
		if !p.Began.Equal(own.began) || !p.Ended.Equal(own.began.Add(own.took)) || p.Took <= 0 {
			t.Errorf("%s: told %s to %s, the cloud has %s and %s", p.ID, p.Began, p.Ended, own.began, own.took)
		}
		if p.Longer == nil || *p.Longer != p.Took-p.Planned {
			t.Errorf("%s took %v, planned %v, longer %v", p.ID, p.Took, p.Planned, p.Longer)
		}
	}
	if w := a.Plan.Whole; w.Planned != sum.Seconds() || !w.Began.Equal(steps[order[0]].began) ||
		!w.Ended.Equal(a.Plan.Parts[len(order)-1].Ended.Time) || len(w.Forecasts) == 0 {
		t.Errorf("the whole: %+v, planned %s", w, sum)
	}
}
