package kube

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

const mode = core.AnnotationMigrationMode

func ptr(s string) *string { return &s }

func nodeRef(name string) core.Ref {
	return core.Ref{Kind: core.KindNode, Name: name, UID: "uid-" + name}
}

func (c *cluster) annotations(name string) map[string]string {
	c.t.Helper()
	u, err := c.admin.Resource(gvrNodes).Get(c.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return u.GetAnnotations()
}

// writes are the program's own writes so far.
func (c *cluster) writes() []kubeapi.Request {
	var own []kubeapi.Request
	for _, r := range c.Requests() {
		if r.UserAgent == "lockstep/test" && r.Write() {
			own = append(own, r)
		}
	}
	return own
}

func TestSetNodeAnnotation(t *testing.T) {
	const bare = `{apiVersion: v1, kind: Node, metadata: {name: n1, uid: uid-n1}}`
	const other = `{apiVersion: v1, kind: Node, metadata: {name: n1, uid: uid-n1, annotations: {a: b}}}`
	const manual = `{apiVersion: v1, kind: Node, metadata: {name: n1, uid: uid-n1, annotations: {a: b, ` +
		`openstack.lcm.mirantis.com/instance_migration_mode: manual}}}`
	const empty = `{apiVersion: v1, kind: Node, metadata: {name: n1, uid: uid-n1, annotations: ` +
		`{openstack.lcm.mirantis.com/instance_migration_mode: ""}}}`
	tests := map[string]struct {
		node     string
		ref      core.Ref
		key      string
		old, new *string
		dryRun   bool
		fails    core.ErrorKind
		says     string
		is       *string // the annotation afterwards
	}{
		"over a value":                {node: manual, old: ptr("manual"), new: ptr("skip"), is: ptr("skip")},
		"over the empty value":        {node: empty, old: ptr(""), new: ptr("skip"), is: ptr("skip")},
		"to the empty value":          {node: manual, old: ptr("manual"), new: ptr(""), is: ptr("")},
		"removed":                     {node: manual, old: ptr("manual"), is: nil},
		"where no annotation is":      {node: bare, new: ptr("manual"), is: ptr("manual")},
		"where others are":            {node: other, new: ptr("manual"), is: ptr("manual")},
		"nothing to nothing":          {node: bare, is: nil},
		"dry, over a value":           {node: manual, old: ptr("manual"), new: ptr("skip"), dryRun: true, is: ptr("manual")},
		"dry, where no annotation is": {node: bare, new: ptr("skip"), dryRun: true, is: nil},
		"dry, removed":                {node: manual, old: ptr("manual"), dryRun: true, is: ptr("manual")},
		"dry, over another value": {node: manual, old: ptr("live"), new: ptr("skip"), dryRun: true, fails: core.ErrConflict,
			says: `"live" and is "manual"`, is: ptr("manual")},
		"over another value": {node: manual, old: ptr("live"), new: ptr("skip"), fails: core.ErrConflict,
			says: `was expected "live" and is "manual"`, is: ptr("manual")},
		"over a value that is gone": {node: other, old: ptr("live"), new: ptr("skip"), fails: core.ErrConflict,
			says: `"live" and is not set`, is: nil},
		"over a value, no annotations":  {node: bare, old: ptr("live"), new: ptr("skip"), fails: core.ErrConflict, says: "not set", is: nil},
		"removing a value that is gone": {node: bare, old: ptr("live"), fails: core.ErrConflict, says: "not set", is: nil},
		"where a value has come": {node: manual, new: ptr("skip"), fails: core.ErrConflict, says: `not set and is "manual"`,
			is: ptr("manual")},
		"another node of this name": {node: manual, ref: core.Ref{Name: "n1", UID: "uid-old"}, old: ptr("manual"), new: ptr("skip"),
			fails: core.ErrConflict, says: "made again", is: ptr("manual")},
		"another bare node of this name": {node: bare, ref: core.Ref{Name: "n1", UID: "uid-old"}, new: ptr("skip"), fails: core.ErrConflict,
			says: "made again", is: nil},
		"a node that is not there": {node: bare, ref: nodeRef("n2"), old: ptr("manual"), new: ptr("skip"), fails: core.ErrNotFound,
			is: nil},
		"a bare node that is not there":    {node: bare, ref: nodeRef("n2"), new: ptr("skip"), fails: core.ErrNotFound, is: nil},
		"a key that the API does not take": {node: bare, key: "two words", new: ptr("skip"), fails: core.ErrInvalid, is: nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				c.create(tt.node)
				if tt.key == "" {
					tt.key = mode
				}
				if tt.ref.Name == "" {
					tt.ref = nodeRef("n1")
				}
				before := c.annotations("n1")
				err := writes(t, c.client(kubeapi.Operator)).do(tt.dryRun, core.SetNodeAnnotation{Node: tt.ref, Key: tt.key, Old: tt.old, New: tt.new})
				if tt.fails == "" && err != nil {
					t.Fatal(err)
				}
				if tt.fails != "" {
					var e *core.APIError
					if !errors.As(err, &e) || e.Kind != tt.fails || !strings.Contains(e.Message, tt.says) {
						t.Fatalf("got %v, want %s saying %q", err, tt.fails, tt.says)
					}
				}
				after := c.annotations("n1")
				if value, ok := after[tt.key]; ok != (tt.is != nil) || ok && value != *tt.is {
					t.Errorf("%s is %q afterwards", tt.key, after)
				}
				for key, value := range before {
					if key != tt.key && after[key] != value {
						t.Errorf("annotation %s was lost", key)
					}
				}
				for _, r := range c.writes() {
					if r.ContentType != "application/json-patch+json" || r.Query.Get("fieldManager") != "lockstep" || r.DryRun != tt.dryRun {
						t.Errorf("%s %s, content %s, query %v", r.Verb, r.Path, r.ContentType, r.Query)
					}
					if body := string(r.Body); !strings.Contains(body, `{"op":"test","path":"/metadata/uid","value":"`+tt.ref.UID+`"}`) {
						t.Errorf("a patch without a test of the UID: %s", body)
					}
				}
			})
		})
	}
}

func TestAnnotationPathEscapesAsJSONPointersDo(t *testing.T) {
	if got, want := annotationPath("a.io/b~c"), "/metadata/annotations/a.io~1b~0c"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// between is a transport that does something once, right before a request.
type between struct {
	next    http.RoundTripper
	matches func(*http.Request) bool
	before  func()
	lose    bool // let the request through and lose its answer
	done    bool
}

func (b *between) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.done || !b.matches(r) {
		return b.next.RoundTrip(r)
	}
	b.done = true
	if b.before != nil {
		b.before()
	}
	resp, err := b.next.RoundTrip(r)
	if b.lose && err == nil {
		resp.Body.Close()
		return nil, context.DeadlineExceeded
	}
	return resp, err
}

// intercept puts b between the client and the server.
func intercept(t *testing.T, client *Client, b *between) {
	t.Helper()
	config := rest.CopyConfig(client.session.Load().config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		b.next = next
		return b
	})
	s, err := newSession(config, client.secrets, nil)
	if err != nil {
		t.Fatal(err)
	}
	client.session.Store(s)
}

func method(m string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == m }
}

func TestKubeletsWriteDoesNotSpoilAnAddedAnnotation(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		client := c.client(kubeapi.Operator)
		intercept(t, client, &between{matches: method(http.MethodPatch), before: func() {
			c.update(gvrNodes, "", "n1", func(n map[string]any) { n["spec"] = map[string]any{"unschedulable": true} })
		}})
		if err := writes(t, client).write(core.SetNodeAnnotation{Node: nodeRef("n1"), Key: mode, New: ptr("manual")}); err != nil {
			t.Fatal(err)
		}
		if got := c.annotations("n1")[mode]; got != "manual" {
			t.Errorf("the mode is %q", got)
		}
		if writes := len(c.writes()); writes != 2 {
			t.Errorf("%d patches, want one that was refused and one that was not", writes)
		}
	})
}

func TestAnnotationThatAppearsBetweenReadingAndWritingIsNotOverwritten(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(node("n1"))
		client := c.client(kubeapi.Operator)
		intercept(t, client, &between{matches: method(http.MethodPatch), before: func() {
			c.update(gvrNodes, "", "n1", func(n map[string]any) {
				n["metadata"].(map[string]any)["annotations"] = map[string]any{mode: "live"}
			})
		}})
		err := writes(t, client).write(core.SetNodeAnnotation{Node: nodeRef("n1"), Key: mode, New: ptr("skip")})
		if e := Describe(err, ""); e == nil || e.Kind != core.ErrConflict || !strings.Contains(e.Message, `is "live"`) {
			t.Errorf("got %v", err)
		}
		if got := c.annotations("n1")[mode]; got != "live" {
			t.Errorf("the mode is %q", got)
		}
	})
}

func TestFailedWrites(t *testing.T) {
	for name, tt := range map[string]struct {
		fault     kubeapi.Fault
		user      string
		kind      core.ErrorKind
		uncertain bool
		remedy    string
	}{
		"forbidden": {user: kubeapi.Readonly, kind: core.ErrForbidden,
			remedy: "You may not patch nodes: ask an administrator to apply deploy/rbac-operator.yaml."},
		"unauthorized": {fault: kubeapi.Fault{Code: 401}, kind: core.ErrUnauthorized, remedy: "log in again"},
		"in trouble":   {fault: kubeapi.Fault{Code: 500}, kind: core.ErrServer, uncertain: true},
		"cut":          {fault: kubeapi.Fault{Cut: true}, kind: core.ErrUnreachable, uncertain: true},
		"no answer":    {fault: kubeapi.Fault{Hang: true}, kind: core.ErrTimeout, uncertain: true},
		"busy":         {fault: kubeapi.Fault{Code: 429}, kind: core.ErrTooManyRequests},
		"asks to wait": {fault: kubeapi.Fault{Code: 429, RetryAfter: 7}, kind: core.ErrTooManyRequests, remedy: "try again in 7s"},
		"asks in plain text": {fault: kubeapi.Fault{Code: 429, RetryAfter: 7, Plain: true, Message: "Too many requests, please try again later."},
			kind: core.ErrTooManyRequests, remedy: "try again in 7s"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				c.create(`{apiVersion: v1, kind: Node, metadata: {name: n1, uid: uid-n1, annotations: ` +
					`{openstack.lcm.mirantis.com/instance_migration_mode: manual}}}`)
				if tt.user == "" {
					tt.user = kubeapi.Operator
					tt.fault.Verb = "patch"
					c.AddFault(tt.fault)
				}
				began := time.Now()
				err := writes(t, c.client(tt.user)).write(core.SetNodeAnnotation{Node: nodeRef("n1"), Key: mode, Old: ptr("manual"), New: ptr("skip")})
				var e *core.APIError
				if !errors.As(err, &e) || e.Kind != tt.kind || e.Uncertain() != tt.uncertain || !strings.Contains(e.Remedy, tt.remedy) ||
					e.Call != "patch node n1" {
					t.Errorf("got %+v", e)
				}
				if took := time.Since(began); took > callTimeout+time.Second || tt.fault.Hang && took < callTimeout {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestNodeAnnotation(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(`{apiVersion: v1, kind: Node, metadata: {name: n1, uid: uid-n1, annotations: ` +
			`{openstack.lcm.mirantis.com/instance_migration_mode: manual}}}`)
		w := writes(t, c.client(kubeapi.Operator))
		if got, err := w.NodeAnnotation(t.Context(), nodeRef("n1"), mode); err != nil || got == nil || *got != "manual" {
			t.Errorf("the mode: %v, %v", got, err)
		}
		if got, err := w.NodeAnnotation(t.Context(), nodeRef("n1"), core.AnnotationMigrationAttempts); err != nil || got != nil {
			t.Errorf("the attempts, which are not set: %v, %v", got, err)
		}
		_, err := w.NodeAnnotation(t.Context(), core.Ref{Name: "n1", UID: "uid-old"}, mode)
		if e := Describe(err, ""); e == nil || e.Kind != core.ErrConflict {
			t.Errorf("another node of this name: %v", err)
		}
	})
}

// Of a node no more is taken off than the finalizer that was confirmed, and only once somebody has deleted it. Nobody here deletes one.
func TestTheFinalizerOfANodeThatWasDeleted(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(`{apiVersion: v1, kind: Node, metadata: {name: n1, uid: uid-n1, finalizers: [a.b/c, lcm.mirantis.com/rockoon.node-finalizer]}}`)
		w := writes(t, c.client(kubeapi.Operator))
		off := core.RemoveFinalizer{Object: nodeRef("n1"), Finalizer: "lcm.mirantis.com/rockoon.node-finalizer"}
		if e := Describe(w.write(off), ""); e == nil || e.Kind != core.ErrConflict || !strings.Contains(e.Message, "not being removed") {
			t.Errorf("a node that nobody deleted: %v", e)
		}
		if err := w.write(core.DeleteObject{Object: nodeRef("n1")}); err == nil {
			t.Error("a node is deleted")
		}
		if err := c.admin.Resource(gvrNodes).Delete(t.Context(), "n1", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		another := core.RemoveFinalizer{Object: core.Ref{Kind: core.KindNode, Name: "n1", UID: "another"}, Finalizer: off.Finalizer}
		if err := w.write(another); err == nil {
			t.Error("it is another node")
		}
		if err := w.write(off); err != nil {
			t.Fatal(err)
		}
		u, err := c.admin.Resource(gvrNodes).Get(t.Context(), "n1", metav1.GetOptions{})
		if err != nil || !slices.Equal(u.GetFinalizers(), []string{"a.b/c"}) {
			t.Errorf("it has %v, %v", u.GetFinalizers(), err)
		}
	})
}
