package kube

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// refOf names an object of the management cluster as it is now.
func (c *cluster) refOf(kind core.Kind, name string) core.Ref {
	c.t.Helper()
	u, err := c.admin.Resource(maintained[kind]).Namespace("prod").Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return core.Ref{Kind: kind, Namespace: "prod", Name: name, UID: string(u.GetUID())}
}

// Maintenance mode is set where the flag is there and where it is not, after a dry-run that changes nothing.
func TestMaintenanceModeIsSet(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{})
		w := writesManagement(t, c.client(kubeapi.Operator))
		off := false
		for _, tt := range []struct {
			kind core.Kind
			name string
			old  *bool // the Machine has no flag yet
		}{{core.KindCluster, "mos", &off}, {core.KindMachine, "cmp-1", nil}} {
			ref := c.refOf(tt.kind, tt.name)
			wanted := func() *bool {
				t.Helper()
				is, _, err := w.Maintenance(t.Context(), ref)
				if err != nil {
					t.Fatal(err)
				}
				return is
			}
			if err := w.DryRun(t.Context(), core.SetMaintenance{Object: ref, Old: tt.old, On: true}); err != nil {
				t.Fatalf("dry run on %s: %v", ref, err)
			}
			if is := wanted(); is != nil && *is {
				t.Errorf("the dry run on %s has set it", ref)
			}
			if err := w.write(core.SetMaintenance{Object: ref, Old: tt.old, On: true}); err != nil {
				t.Fatalf("%s: %v", ref, err)
			}
			if is := wanted(); is == nil || !*is {
				t.Errorf("it is not set on %s", ref)
			}
			err := w.write(core.SetMaintenance{Object: ref, Old: tt.old, On: true})
			if kindOf(err) != core.ErrConflict || !strings.Contains(err.Error(), "is true") {
				t.Errorf("a flag that has changed: %v", err)
			}
			another := ref
			another.UID = "another"
			on := true
			if err := w.write(core.SetMaintenance{Object: another, Old: &on, On: false}); kindOf(err) != core.ErrConflict {
				t.Errorf("another object under the name: %v", err)
			}
			if is := wanted(); is == nil || !*is {
				t.Errorf("what was refused has changed %s", ref)
			}
		}
		names, err := w.MachinesInMaintenance(t.Context(), c.refOf(core.KindCluster, "mos"))
		if err != nil || !slices.Equal(names, []string{"cmp-1"}) {
			t.Errorf("in maintenance are %v, %v", names, err)
		}
	})
}

// A graceful reboot is requested once, and never for all machines.
func TestAGracefulRebootIsAskedFor(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{})
		w := writesManagement(t, c.client(kubeapi.Operator))
		mos := c.refOf(core.KindCluster, "mos")
		if _, err := w.RebootRequest(t.Context(), mos); kindOf(err) != core.ErrNotFound {
			t.Fatalf("there is a request: %v", err)
		}
		if err := w.write(core.RequestReboot{Cluster: mos}); kindOf(err) != core.ErrInvalid {
			t.Errorf("a request for all machines: %v", err)
		}
		if err := w.DryRun(t.Context(), core.RequestReboot{Cluster: mos, Machines: []string{"cmp-1"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.RebootRequest(t.Context(), mos); kindOf(err) != core.ErrNotFound {
			t.Errorf("the dry run has made it: %v", err)
		}
		if err := w.write(core.RequestReboot{Cluster: mos, Machines: []string{"cmp-1"}}); err != nil {
			t.Fatal(err)
		}
		r, err := w.RebootRequest(t.Context(), mos)
		if err != nil || !slices.Equal(r.Machines, []string{"cmp-1"}) {
			t.Errorf("%+v, %v", r, err)
		}
		if err := w.write(core.RequestReboot{Cluster: mos, Machines: []string{"cmp-1"}}); kindOf(err) != core.ErrConflict {
			t.Errorf("a second request: %v", err)
		}
	})
}

// A login that lacks a right is told so before anything is sent, with the manifest that gives it.
func TestRightsOnTheManagementClusterAreAskedFirst(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{})
		w := writesManagement(t, c.client(kubeapi.Readonly))
		off := false
		for _, err := range []error{
			w.DryRun(t.Context(), core.SetMaintenance{Object: c.refOf(core.KindCluster, "mos"), Old: &off, On: true}),
			w.DryRun(t.Context(), core.RequestReboot{Cluster: c.refOf(core.KindCluster, "mos"), Machines: []string{"cmp-1"}}),
		} {
			var api *core.APIError
			if !errors.As(err, &api) || api.Kind != core.ErrForbidden || api.Server != core.ServerManagement ||
				!strings.Contains(api.Remedy, "rbac-management-operator.yaml") {
				t.Errorf("%v", err)
			}
		}
		for _, r := range c.Requests() {
			if r.UserAgent == "lockstep/test" && (r.Verb == "patch" || r.Verb == "create" && !strings.Contains(r.Path, "selfsubjectaccessreviews")) {
				t.Errorf("%s %s was sent", r.Verb, r.Path)
			}
		}
	})
}

// A lost answer is uncertain: the object shows whether the write was made.
func TestALostAnswerOfTheManagementClusterIsUncertain(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{})
		w := writesManagement(t, c.client(kubeapi.Operator))
		off := false
		c.AddFault(kubeapi.Fault{Verb: "patch", Match: ours, Code: http.StatusInternalServerError})
		err := w.write(core.SetMaintenance{Object: c.refOf(core.KindCluster, "mos"), Old: &off, On: true})
		var api *core.APIError
		if !errors.As(err, &api) || !api.Uncertain() || api.Server != core.ServerManagement {
			t.Errorf("%v", err)
		}
	})
}
