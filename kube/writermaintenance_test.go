package kube

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

func lockRef(name string) core.Ref {
	return core.Ref{Kind: core.KindNodeWorkloadLock, Name: name, UID: "uid-" + name}
}

func (c *cluster) lock(name string) *unstructured.Unstructured {
	c.t.Helper()
	u, err := c.admin.Resource(lcm("nodeworkloadlocks")).Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return u
}

// A lock is set by a compare-and-swap on its state: no other change is overwritten, only the status is touched, and a dry-run
// changes nothing.
func TestSetLock(t *testing.T) {
	const bare = `{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: l, uid: uid-l},
	  spec: {controllerName: openstack, nodeName: n1}}`
	const active = `{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: l, uid: uid-l},
	  spec: {controllerName: openstack, nodeName: n1},
	  status: {state: active, errorMessage: Some servers are left, release: "1.0"}}`
	tests := map[string]struct {
		lock   string
		ref    core.Ref
		was    core.LockState
		to     core.LockStatus
		dryRun bool
		fails  core.ErrorKind
		says   string
		want   map[string]any // the status afterwards
	}{
		"released": {lock: active, was: "active", to: core.LockStatus{State: "inactive"},
			want: map[string]any{"state": "inactive", "release": "1.0"}},
		"with a text": {lock: active, was: "active", to: core.LockStatus{State: "failed", Message: "why"},
			want: map[string]any{"state": "failed", "errorMessage": "why", "release": "1.0"}},
		"with a release": {lock: active, was: "active", to: core.LockStatus{State: "active", Release: "2.0"},
			want: map[string]any{"state": "active", "release": "2.0"}},
		"without a status": {lock: bare, was: "", to: core.LockStatus{State: "inactive"}, want: map[string]any{"state": "inactive"}},
		"dry": {lock: active, was: "active", to: core.LockStatus{State: "inactive"}, dryRun: true,
			want: map[string]any{"state": "active", "errorMessage": "Some servers are left", "release": "1.0"}},
		"another state": {lock: active, was: "inactive", to: core.LockStatus{State: "failed"}, fails: core.ErrConflict,
			says: `"active"; expected was "inactive"`,
			want: map[string]any{"state": "active", "errorMessage": "Some servers are left", "release": "1.0"}},
		"another lock": {lock: active, ref: core.Ref{Kind: core.KindNodeWorkloadLock, Name: "l", UID: "old"}, was: "active",
			to: core.LockStatus{State: "inactive"}, fails: core.ErrConflict, says: "made again",
			want: map[string]any{"state": "active", "errorMessage": "Some servers are left", "release": "1.0"}},
		"a lock that is not": {lock: active, ref: lockRef("m"), was: "active", to: core.LockStatus{State: "inactive"},
			fails: core.ErrNotFound, want: map[string]any{"state": "active", "errorMessage": "Some servers are left", "release": "1.0"}},
		"a state that is no one": {lock: active, was: "active", to: core.LockStatus{State: "asleep"}, fails: core.ErrInvalid,
			want: map[string]any{"state": "active", "errorMessage": "Some servers are left", "release": "1.0"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				c.create(tt.lock)
				if tt.ref.Name == "" {
					tt.ref = lockRef("l")
				}
				w := writes(t, c.client(kubeapi.Admin))
				err := w.do(tt.dryRun, core.SetLock{Lock: tt.ref, Was: tt.was, To: tt.to})
				wantError(t, err, tt.fails, tt.says)
				is := c.lock("l")
				if got := fields(is.Object).at("status"); !equalFields(got, tt.want) {
					t.Errorf("the status is %v, want %v", got, tt.want)
				}
				for _, r := range c.writes() {
					if body := string(r.Body); !strings.Contains(body, `"/metadata/uid"`) || !strings.Contains(body, `"/metadata/resourceVersion"`) ||
						!strings.HasSuffix(r.Path, "/status") {
						t.Errorf("%s %s: %s", r.Verb, r.Path, body)
					}
				}
				if tt.fails != "" || tt.dryRun {
					return
				}
				l, err := w.Lock(t.Context(), tt.ref)
				if err != nil || l.RawState != tt.to.State || l.Message != tt.to.Message || l.Controller != "openstack" {
					t.Errorf("read again: %+v, %v", l, err)
				}
			})
		})
	}
}

func equalFields(got fields, want map[string]any) bool {
	if len(got) != len(want) {
		return false
	}
	for k, v := range want {
		if got[k] != v {
			return false
		}
	}
	return true
}

func wantError(t *testing.T, err error, kind core.ErrorKind, says string) {
	t.Helper()
	var e *core.APIError
	switch {
	case kind == "" && err != nil:
		t.Fatal(err)
	case kind != "" && (!errors.As(err, &e) || e.Kind != kind || !strings.Contains(e.Message, says)):
		t.Fatalf("got %v, want %s saying %q", err, kind, says)
	}
}

func TestSetInnerState(t *testing.T) {
	const left = `{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: l, uid: uid-l, annotations: ` +
		`{inner_state: active, other: stays}}, spec: {controllerName: openstack, nodeName: n1}}`
	const none = `{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: l, uid: uid-l}, spec: {controllerName: ` +
		`openstack, nodeName: n1}}`
	tests := map[string]struct {
		lock, was, to string
		fails         core.ErrorKind
		want          string
	}{
		"cleared":            {lock: left, was: "active", to: "inactive", want: "inactive"},
		"removed":            {lock: left, was: "active", to: "", want: ""},
		"where none is":      {lock: none, was: "", to: "active", want: "active"},
		"over another value": {lock: left, was: "inactive", to: "active", fails: core.ErrConflict, want: "active"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				c.create(tt.lock)
				before := c.lock("l").GetAnnotations()
				wantError(t, writes(t, c.client(kubeapi.Admin)).write(core.SetInnerState{Lock: lockRef("l"), Was: tt.was, To: tt.to}), tt.fails, "")
				after := c.lock("l").GetAnnotations()
				if after["inner_state"] != tt.want || after["other"] != before["other"] {
					t.Errorf("annotations %v", after)
				}
			})
		})
	}
}

// Requests and locks are made with the label that names their maker, refused where the name is taken, and deleted by UID.
func TestRequestsAndLocksAreMadeAndDeleted(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		w := writes(t, c.client(kubeapi.Admin))
		r := core.NewRequest{Kind: core.KindNodeMaintenanceRequest, Name: "n1", Node: "n1", Scope: core.ScopeOS, Release: "21.0.0"}
		wantError(t, w.DryRun(t.Context(), core.CreateRequest{Request: r}), "", "")
		_, err := w.Request(t.Context(), r.Ref())
		wantError(t, err, core.ErrNotFound, "")
		wantError(t, w.write(core.CreateRequest{Request: r}), "", "")
		is, err := w.Request(t.Context(), r.Ref())
		if err != nil || !is.ByHand() || is.Node != "n1" || is.Scope != core.ScopeOS || is.Release != "21.0.0" || is.UID == "" {
			t.Fatalf("the request is %+v, %v", is, err)
		}
		wantError(t, w.write(core.CreateRequest{Request: r}), core.ErrConflict, "")
		wantError(t, w.write(core.CreateRequest{Request: core.NewRequest{Kind: core.KindNodeMaintenanceRequest, Name: "n2", Node: "n2",
			Scope: "all"}}), core.ErrInvalid, "")

		other := is.Ref()
		other.UID = "another"
		wantError(t, w.write(core.DeleteObject{Object: other}), core.ErrConflict, "")
		wantError(t, w.DryRun(t.Context(), core.DeleteObject{Object: is.Ref()}), "", "")
		wantError(t, w.write(core.DeleteObject{Object: is.Ref()}), "", "")
		wantError(t, w.write(core.DeleteObject{Object: is.Ref()}), core.ErrNotFound, "")

		l := core.NewLock{Kind: core.KindClusterWorkloadLock, Name: "backup-mos", Controller: "backup"}
		wantError(t, w.write(core.CreateLock{Lock: l}), "", "")
		made, err := w.Lock(t.Context(), l.Ref())
		if err != nil || made.Controller != "backup" || made.State() != core.LockActive || made.RawState != "" {
			t.Fatalf("the lock is %+v, %v", made, err)
		}
		wantError(t, w.write(core.CreateLock{Lock: l}), core.ErrConflict, "")

		l = core.NewLock{Kind: core.KindNodeWorkloadLock, Name: "openstack-n1", Controller: "openstack", Node: "n1", Release: "21.0.0+25.2"}
		wantError(t, w.DryRun(t.Context(), core.CreateLock{Lock: l}), "", "")
		if _, err := w.Lock(t.Context(), l.Ref()); err == nil {
			t.Error("a dry run made it")
		}
		wantError(t, w.write(core.CreateLock{Lock: l}), "", "")
		made, err = w.Lock(t.Context(), l.Ref())
		if err != nil || made.Release != l.Release || made.RawState != core.LockActive || !made.NodeDeletionRequestSupported {
			t.Errorf("the lock is %+v, %v", made, err)
		}
	})
}

// A login without the rights of deploy/rbac-maintenance.yaml is told so.
func TestLocksAreForbiddenWithoutTheRight(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeWorkloadLock, metadata: {name: l, uid: uid-l}, spec: {controllerName: ` +
			`openstack, nodeName: n1}}`)
		w := writes(t, c.client(kubeapi.Readonly))
		wantError(t, w.write(core.SetLock{Lock: lockRef("l"), To: core.LockStatus{State: core.LockInactive}}), core.ErrForbidden, "")
		wantError(t, w.DryRun(t.Context(), core.CreateRequest{Request: core.NewRequest{Kind: core.KindNodeMaintenanceRequest, Name: "n1",
			Node: "n1"}}), core.ErrForbidden, "")
	})
}

// The OpenStack controller's Deployment is read with a reader's rights; forbidden is an error.
func TestTheControllersDeploymentIsRead(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "ann"}}})
		w := writes(t, c.client(kubeapi.Readonly))
		if d, err := w.ControllerDeployment(t.Context()); d != nil || err != nil {
			t.Errorf("where there is none: %+v, %v", d, err)
		}
		c.create(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: rockoon, namespace: osh-system}, spec: {replicas: 2, selector: ` +
			`{matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: i}]}}}, status: {replicas: 1}}`)
		if d, err := w.ControllerDeployment(t.Context()); err != nil || d == nil || d.Replicas != 2 || d.Existing != 1 {
			t.Errorf("it is %+v, %v", d, err)
		}
		if _, err := writes(t, c.client("ann")).ControllerDeployment(t.Context()); kindOf(err) != core.ErrForbidden {
			t.Errorf("who may not list it: %v", err)
		}
	})
}

// A request for a node's removal is read by its name and UID; another of the name is not it, and forbidden is an error. A reader's
// rights are enough.
func TestARequestForARemovalIsRead(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "ann"}}})
		for _, name := range []string{"cmp-1", "cmp-2"} {
			c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: NodeDeletionRequest, metadata: {name: ` + name + `, uid: uid-` + name +
				`}, spec: {nodeName: ` + name + `}}`)
		}
		w := writes(t, c.client(kubeapi.Readonly))
		for _, tt := range []struct {
			name, uid string
			want      bool
		}{{"cmp-1", "uid-cmp-1", true}, {"cmp-1", "uid-cmp-2", false}, {"cmp-3", "uid-cmp-3", false}} {
			d, err := w.DeletionRequest(t.Context(), tt.name, tt.uid)
			if err != nil || (d != nil) != tt.want || d != nil && (d.Node != tt.name || d.Kind != core.KindNodeDeletionRequest) {
				t.Errorf("%s with %s: %+v, %v", tt.name, tt.uid, d, err)
			}
		}
		if _, err := writes(t, c.client("ann")).DeletionRequest(t.Context(), "cmp-1", "uid-cmp-1"); kindOf(err) != core.ErrForbidden {
			t.Errorf("who may not list them: %v", err)
		}
	})
}
