package kube

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// planned is a management cluster with what drives the update of its cluster.
func planned(t *testing.T) *cluster {
	t.Helper()
	c := managed(t, kubeapi.Options{})
	for _, manifest := range []string{
		`{apiVersion: kaas.mirantis.com/v1alpha1, kind: ClusterUpdatePlan, metadata: {name: mos-21.0.0, namespace: prod, uid: uid-plan}, ` +
			`spec: {cluster: mos, source: mosk-17-4-0-25-1, target: mosk-21-0-0-25-2, steps: [` +
			`{id: openstack, name: Update OpenStack, commence: false}, {id: ceph, name: Update Ceph}]}, ` +
			`status: {status: NotStarted, steps: [{id: openstack, status: NotStarted}, {id: ceph, status: NotStarted}]}}`,
		`{apiVersion: kaas.mirantis.com/v1alpha1, kind: UpdateAutoPause, metadata: {name: mos, namespace: prod, uid: uid-pause}, ` +
			`spec: {alerts: [A]}}`,
	} {
		c.create(manifest)
	}
	return c
}

// steps returns id=commence of the plan's steps as the server has them; "-" where the field is missing.
func (c *cluster) steps() string {
	c.t.Helper()
	u, err := c.admin.Resource(gvrUpdatePlans).Namespace("prod").Get(c.t.Context(), "mos-21.0.0", metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	var out []string
	for _, st := range fields(u.Object).at("spec").objects("steps") {
		is := "-"
		if b := st.flag("commence"); b != nil {
			is = fmt.Sprint(*b)
		}
		out = append(out, st.text("id")+"="+is)
	}
	return strings.Join(out, " ")
}

// Commence is set on exactly the step that was confirmed, where the field is there and where it is not, and is taken away again; not if
// the step is another one by now, has gone on, or has what is asked for.
func TestCommenceIsSetOnExactlyTheStep(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := planned(t)
		w := writesManagement(t, c.client(kubeapi.Operator))
		first := core.SetCommence{Plan: planRef, Index: 0, ID: "openstack", Name: "Update OpenStack", Status: "NotStarted", On: true}
		second := core.SetCommence{Plan: planRef, Index: 1, ID: "ceph", Name: "Update Ceph", Status: "NotStarted", On: true}
		with := func(of core.SetCommence, change func(*core.SetCommence)) core.SetCommence { change(&of); return of }
		for _, tt := range []struct {
			what   string
			change core.SetCommence
			why    string // it is refused for; empty: it is written
			after  string
		}{
			{"the field is false", first, "", "openstack=true ceph=-"},
			{"it is so already", first, "already", "openstack=true ceph=-"},
			{"the field is missing", second, "", "openstack=true ceph=true"},
			{"withdrawn", with(second, func(c *core.SetCommence) { c.On = false }), "", "openstack=true ceph=false"},
			{"another step there", with(second, func(c *core.SetCommence) { c.ID = "k8s-controllers" }), "another step 2: ceph",
				"openstack=true ceph=false"},
			{"the step has gone on", with(second, func(c *core.SetCommence) { c.Status = "Scheduled" }), `says "NotStarted"`,
				"openstack=true ceph=false"},
			{"the step is gone", with(second, func(c *core.SetCommence) { c.Index = 2 }), "no step 3", "openstack=true ceph=false"},
			{"another plan of the name", with(second, func(c *core.SetCommence) { c.Plan.UID = "else" }), "deleted and made again",
				"openstack=true ceph=false"},
		} {
			before := c.steps()
			for _, dry := range []bool{true, false} {
				err := w.do(dry, tt.change)
				if (err == nil) != (tt.why == "") || err != nil && (kindOf(err) != core.ErrConflict || !strings.Contains(err.Error(), tt.why)) {
					t.Errorf("%s, dry run %v: %v", tt.what, dry, err)
				}
				if got := c.steps(); dry && got != before || !dry && got != tt.after {
					t.Errorf("%s, dry run %v: %s", tt.what, dry, got)
				}
			}
		}
		o, err := w.Object(t.Context(), planRef)
		if plan, ok := o.(*core.UpdatePlan); err != nil || !ok || !plan.Steps[0].Commence || plan.UID != planRef.UID {
			t.Errorf("%+v, %v", o, err)
		}
	})
}

// The Cluster's release is replaced where it is the one that was confirmed, and nowhere else.
func TestTheReleaseIsSetOverTheOneThatWasSeen(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := planned(t)
		w := writesManagement(t, c.client(kubeapi.Operator))
		mos := c.refOf(core.KindCluster, "mos")
		target := func() string {
			o, err := w.Object(t.Context(), mos)
			if err != nil {
				t.Fatal(err)
			}
			return o.(*core.ManagedCluster).Target
		}
		change := core.SetRelease{Cluster: mos, Old: "mosk-17-4-0-25-1", New: "mosk-21-0-0-25-2"}
		if err := w.DryRun(t.Context(), change); err != nil || target() != change.Old {
			t.Fatalf("dry run: %v, %s", err, target())
		}
		if err := w.write(change); err != nil || target() != change.New {
			t.Fatalf("%v, %s", err, target())
		}
		if err := w.write(change); kindOf(err) != core.ErrConflict || !strings.Contains(err.Error(), `has the release "mosk-21`) {
			t.Errorf("a release that has changed: %v", err)
		}
	})
}

// The UpdateAutoPause is changed, removed and made, each after a dry-run that changes nothing, and only as it was confirmed.
func TestWhatPausesTheUpdateIsSet(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := planned(t)
		w := writesManagement(t, c.client(kubeapi.Operator))
		alerts := func() string {
			any := pauseRef
			any.UID = ""
			o, err := w.Object(t.Context(), any)
			if kindOf(err) == core.ErrNotFound {
				return "-"
			}
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(o.(*core.AutoPause).Alerts, " ")
		}
		absent := pauseRef
		absent.UID = ""
		for _, tt := range []struct {
			what   string
			change core.SetAutoPause
			after  string
			fails  core.ErrorKind
		}{
			{"there is one already", core.SetAutoPause{Pause: absent, New: []string{"C"}}, "A", core.ErrConflict},
			{"changed", core.SetAutoPause{Pause: pauseRef, Old: []string{"A"}, New: []string{"A", "B"}}, "A B", ""},
			{"changed meanwhile", core.SetAutoPause{Pause: pauseRef, Old: []string{"A"}, New: []string{"C"}}, "A B", core.ErrConflict},
			{"changed meanwhile, to be removed", core.SetAutoPause{Pause: pauseRef, Old: []string{"A"}}, "A B", core.ErrConflict},
			{"removed", core.SetAutoPause{Pause: pauseRef, Old: []string{"A", "B"}}, "-", ""},
			{"gone", core.SetAutoPause{Pause: pauseRef, Old: []string{"A", "B"}}, "-", core.ErrNotFound},
			{"made", core.SetAutoPause{Pause: absent, New: []string{"C"}}, "C", ""},
		} {
			for _, dry := range []bool{true, false} {
				before := alerts()
				if err := w.do(dry, tt.change); kindOf(err) != tt.fails {
					t.Errorf("%s, dry run %v: %v", tt.what, dry, err)
				}
				if got := alerts(); dry && got != before || !dry && got != tt.after {
					t.Errorf("%s, dry run %v: %s", tt.what, dry, got)
				}
			}
		}
	})
}
