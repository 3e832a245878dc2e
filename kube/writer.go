package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/core"
	"lockstep/core/engine"
)

// fieldManager is the name under which the API server notes whose fields are whose.
const fieldManager = "lockstep"

// Checker reads Kubernetes objects from the API server, past any cache, and has it try changes. It implements
// engine.KubernetesChecker.
type Checker struct{ client *Client }

// NewChecker makes a Checker for the client's cluster.
func NewChecker(client *Client) *Checker { return &Checker{client: client} }

// Writer changes Kubernetes objects. It implements engine.ChangeWriter: it writes nothing without a Permit, which only the gate makes.
type Writer struct{ checker *Checker }

// NewWriter makes a Writer for the client's cluster.
func NewWriter(client *Client) *Writer { return &Writer{NewChecker(client)} }

var (
	_ engine.KubernetesChecker = (*Checker)(nil)
	_ engine.ChangeWriter      = (*Writer)(nil)
)

// Write implements engine.ChangeWriter.
func (w *Writer) Write(ctx context.Context, p engine.Permit, change core.Change) error {
	if err := engine.TakePermit(p, change, core.ServerKubernetes); err != nil {
		return err
	}
	return sender{w.checker, true}.send(ctx, change)
}

// DryRun implements engine.KubernetesChecker.
func (c *Checker) DryRun(ctx context.Context, change core.Change) error {
	return sender{c, false}.send(ctx, change)
}

// sender sends the request of a change.
type sender struct {
	*Checker
	writes bool // false: the server only tries it
}

// send makes one change, or has the server try it.
func (s sender) send(ctx context.Context, change core.Change) error {
	switch c := change.(type) {
	case core.SetNodeAnnotation:
		return s.setNodeAnnotation(ctx, c)
	case core.SetLock:
		return s.setLock(ctx, c)
	case core.SetInnerState:
		return s.setInnerState(ctx, c)
	case core.CreateLock:
		return s.createLock(ctx, c.Lock)
	case core.CreateRequest:
		return s.createRequest(ctx, c.Request)
	case core.DeleteObject:
		return s.deleteObject(ctx, c.Object)
	case core.AddFinalizer:
		return s.addFinalizer(ctx, c)
	case core.RemoveFinalizer:
		return s.removeFinalizer(ctx, c)
	case core.RestartPod:
		return s.deletePod(ctx, c.Pod)
	case core.DeletePod:
		return s.deletePod(ctx, c.Pod)
	case core.DeleteClaim:
		return s.deleteClaim(ctx, c.Claim)
	case core.SetTempest:
		return s.setTempest(ctx, c)
	}
	return engine.NoSuchChange(change, core.ServerKubernetes)
}

// dryRun is the option of every call that changes something.
func (s sender) dryRun() []string { return dryRunOption(!s.writes) }

// call says what is done, and whether it is only a dry-run.
func (s sender) call(doing string) string {
	if s.writes {
		return doing
	}
	return doing + " (dry run)"
}

// NodeAnnotation implements engine.KubernetesChecker.
func (c *Checker) NodeAnnotation(ctx context.Context, ref core.Ref, key string) (*string, error) {
	node, err := c.node(ctx, ref)
	if err != nil {
		return nil, err
	}
	return node.annotation(key), nil
}

// Node implements engine.KubernetesChecker.
func (c *Checker) Node(ctx context.Context, ref core.Ref) (*core.Node, error) {
	node, err := c.node(ctx, ref)
	if err != nil {
		return nil, err
	}
	return nodeFrom(&unstructured.Unstructured{Object: node.fields}).(*core.Node), nil
}

// setNodeAnnotation sets an annotation of a node. It is a compare-and-swap, done by the API server:
//
//   - Over a value, a JSON patch tests the node's UID and the old value before it replaces or removes it.
//   - Where the annotation is not there, nothing can be tested: by RFC 6902 the target of a test must exist, and the whole
//     map of annotations may be missing. The node is read first, and the patch tests its resourceVersion: it applies to
//     exactly the node that was seen without the annotation. The kubelet writes to its node every few minutes, so that
//     test can fail for an unrelated change; then it is read and tried again.
func (s sender) setNodeAnnotation(ctx context.Context, c core.SetNodeAnnotation) error {
	ref, key, old, new := c.Node, c.Key, c.Old, c.New
	if old != nil {
		err := s.patch(ctx, ref, overValue(ref, key, *old, new))
		return s.explain(ctx, err, ref, key, old)
	}
	const attempts = 4
	for attempt := 1; ; attempt++ {
		node, err := s.node(ctx, ref)
		if err != nil {
			return err
		}
		if is := node.annotation(key); is != nil {
			return changed(ref, key, nil, is, nil)
		}
		if new == nil {
			return nil
		}
		err = s.patch(ctx, ref, overNothing(ref, node, key, *new))
		if err == nil {
			return nil
		}
		if described := Describe(err, ""); described.Kind != core.ErrConflict || attempt == attempts {
			return s.explain(ctx, err, ref, key, nil)
		}
	}
}

// operation is one operation of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitzero"`
}

// overValue replaces an annotation's value old, or removes it.
func overValue(ref core.Ref, key, old string, new *string) []operation {
	path := annotationPath(key)
	patch := []operation{
		{"test", "/metadata/uid", ref.UID},
		{"test", path, old},
	}
	if new == nil {
		return append(patch, operation{Op: "remove", Path: path})
	}
	return append(patch, operation{"replace", path, *new})
}

// overNothing adds an annotation to exactly the node that was read without one.
func overNothing(ref core.Ref, seen nodeFields, key, new string) []operation {
	patch := []operation{
		{"test", "/metadata/uid", ref.UID},
		{"test", "/metadata/resourceVersion", seen.at("metadata").text("resourceVersion")},
	}
	if seen.at("metadata", "annotations") == nil {
		patch = append(patch, operation{"add", "/metadata/annotations", map[string]string{}})
	}
	return append(patch, operation{"add", annotationPath(key), new})
}

// annotationPath is the JSON pointer (RFC 6901) of an annotation.
func annotationPath(key string) string {
	return "/metadata/annotations/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// patch sends a JSON patch to a node.
func (s sender) patch(ctx context.Context, ref core.Ref, patch []operation) error {
	return s.jsonPatch(ctx, "patch node "+ref.Name, gvrNodes, ref, patch)
}

// jsonPatch sends a JSON patch to an object. A failed test is a conflict.
func (s sender) jsonPatch(ctx context.Context, doing string, gvr schema.GroupVersionResource, ref core.Ref, patch []operation) error {
	call := s.call(doing)
	body, err := json.Marshal(patch)
	if err != nil {
		return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerKubernetes, Call: call, Message: err.Error(), Err: err}
	}
	options := metav1.PatchOptions{FieldManager: fieldManager, DryRun: s.dryRun()}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err = s.client.resource(gvr, ref.Namespace).Patch(ctx, ref.Name, types.JSONPatchType, body, options)
	if err == nil {
		return nil
	}
	e := s.client.describe(err, call)
	if unapplied(err) {
		e.Kind = core.ErrConflict
	}
	return e
}

// unapplied tells whether a JSON patch could not be applied: a test failed, or a path does not exist. The API server (apiserver,
// pkg/endpoints/handlers/patch.go, applyJSPatch) then answers a bare 422 that says nothing but "due to an error in our request"; a
// 422 of validation instead names the kind and lists its causes.
func unapplied(err error) bool {
	if apierrors.ReasonForError(err) != metav1.StatusReasonInvalid {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusUnprocessableEntity {
		return false
	}
	details := status.Status().Details
	return details == nil || len(details.Causes) == 0
}

// explain turns a conflict without a reason from the API server into one that says what is different.
func (s sender) explain(ctx context.Context, err error, ref core.Ref, key string, old *string) error {
	if err == nil {
		return nil
	}
	e := Describe(err, "")
	if e.Kind != core.ErrConflict {
		return e
	}
	node, lookErr := s.node(ctx, ref)
	if lookErr != nil {
		if Describe(lookErr, "").Kind == core.ErrConflict {
			return lookErr
		}
		return e
	}
	is := node.annotation(key)
	if (is == nil) == (old == nil) && (is == nil || *is == *old) {
		return e // it is as expected again: only the refusal is known
	}
	return changed(ref, key, old, is, e)
}

// changed is the conflict of an annotation that is not as expected.
func changed(ref core.Ref, key string, expected, is *string, cause error) *core.APIError {
	return &core.APIError{
		Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: "patch node " + ref.Name, Err: cause,
		Message: fmt.Sprintf("annotation %s was expected %s and is %s", key, quoted(expected), quoted(is)),
		Remedy:  "Someone else has changed the node. Look at it as it is now, then decide again.",
		Status:  http.StatusConflict,
	}
}

func quoted(value *string) string {
	if value == nil {
		return "not set"
	}
	return fmt.Sprintf("%q", cut(*value))
}

// nodeFields is a node as it was read.
type nodeFields struct{ fields }

func (n nodeFields) annotation(key string) *string {
	value, ok := n.at("metadata", "annotations")[key].(string)
	if !ok {
		return nil
	}
	return &value
}

// node reads exactly the node that has ref's name and UID, from the server itself.
func (c *Checker) node(ctx context.Context, ref core.Ref) (nodeFields, error) {
	call := "get node " + ref.Name
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var u *unstructured.Unstructured
	u, err := c.client.resource(gvrNodes, "").Get(ctx, ref.Name, metav1.GetOptions{})
	if err != nil {
		return nodeFields{}, ofOne(Describe(err, call))
	}
	if uid := string(u.GetUID()); uid != ref.UID {
		return nodeFields{}, &core.APIError{
			Kind: core.ErrConflict, Server: core.ServerKubernetes, Call: call, Status: http.StatusConflict,
			Message: fmt.Sprintf("the node of this name has the UID %s, not %s: it was deleted and made again", uid, ref.UID),
			Remedy:  "This is another node under the old name. Look at it, then decide again.",
		}
	}
	return nodeFields{fields(u.Object)}, nil
}
