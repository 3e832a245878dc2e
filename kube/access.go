package kube

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// Permission is the right to one verb on one resource.
type Permission struct {
	Verb      string // get, list, watch, create, update, patch
	Group     string // the resource's API group; empty for the core group
	Resource  string // its plural
	Namespace string // empty for cluster-scoped resources, and for all namespaces
	Name      string // empty for every object
}

// String is "list nodes", "update leases.coordination.k8s.io lockstep-operator in namespace default".
func (p Permission) String() string {
	text := p.Verb + " " + p.Resource
	if p.Group != "" {
		text += "." + p.Group
	}
	if p.Name != "" {
		text += " " + p.Name
	}
	if p.Namespace != "" {
		text += " in namespace " + p.Namespace
	}
	return text
}

// WatchPermissions are what a Watcher needs.
func WatchPermissions() []Permission {
	var needs []Permission
	for _, r := range slices.Concat(watched, workloads) {
		if r.optional {
			continue
		}
		for _, verb := range []string{"list", "watch"} {
			needs = append(needs, r.permission(verb))
		}
	}
	for _, verb := range []string{"list", "watch"} {
		needs = append(needs, Permission{Verb: verb, Resource: gvrPods.Resource}) // of single nodes
	}
	slices.SortFunc(needs, func(a, b Permission) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(needs)
}

// ManagementWatchPermissions are what a management Watcher needs in a namespace; empty for all namespaces.
func ManagementWatchPermissions(namespace string) []Permission {
	var needs []Permission
	for _, r := range watchedManagement(namespace) {
		for _, verb := range []string{"list", "watch"} {
			needs = append(needs, Permission{verb, r.gvr.Group, r.gvr.Resource, r.namespace, ""})
		}
	}
	return needs
}

// WritePermissions are what writing needs beyond that: nodes' annotations, and the operator lease in a namespace.
func WritePermissions(leaseNamespace string) []Permission {
	if leaseNamespace == "" {
		leaseNamespace = defaultLeaseNamespace
	}
	lease := gvrLeases
	return []Permission{
		{Verb: "get", Resource: gvrNodes.Resource},
		{Verb: "patch", Resource: gvrNodes.Resource},
		{"get", lease.Group, lease.Resource, leaseNamespace, leaseName},
		{"create", lease.Group, lease.Resource, leaseNamespace, ""}, // the name is not known to RBAC at a creation
		{"update", lease.Group, lease.Resource, leaseNamespace, leaseName},
	}
}

// CredentialsPermission is what Client.OpenStackCredentials needs.
func CredentialsPermission() Permission {
	return Permission{Verb: "get", Resource: gvrSecrets.Resource, Namespace: credentialsNamespace, Name: credentialsSecret}
}

// Access knows what the login may do, as far as it has asked. It is safe for concurrent use.
type Access struct {
	client *Client

	mu      sync.Mutex
	answers map[Permission]bool
}

// requestsApart is the time between requests that are made side by side: where they have to wait for their turn, it is in their order.
const requestsApart = 50 * time.Microsecond

// NewAccess makes an Access that knows nothing yet.
func NewAccess(client *Client) *Access {
	return &Access{client: client, answers: map[Permission]bool{}}
}

// Review asks the API server about each permission that is not known to be given: an administrator may have given it since, or a server
// that had just started did not know its roles yet. Every error is a *core.APIError; answers before it are kept.
func (a *Access) Review(ctx context.Context, needs ...Permission) error {
	var (
		wg    sync.WaitGroup
		slots = make(chan struct{}, 4)
		errs  = make([]error, len(needs))
	)
	asked := false
	for i, p := range needs {
		if allowed, _ := a.Knows(p); allowed {
			continue
		}
		if asked && sleep(ctx, requestsApart) != nil {
			errs[i] = a.ask(ctx, p) // which says that there was no time
			break
		}
		asked = true
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = a.ask(ctx, p)
		})
	}
	wg.Wait()
	for _, err := range errs { // the first of the list, whichever came first
		if err != nil {
			return err
		}
	}
	return nil
}

// ask makes one SelfSubjectAccessReview, which every authenticated user may.
func (a *Access) ask(ctx context.Context, p Permission) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	attributes := map[string]any{}
	for key, value := range map[string]string{
		"verb": p.Verb, "group": p.Group, "resource": p.Resource, "namespace": p.Namespace, "name": p.Name,
	} {
		if value != "" {
			attributes[key] = value
		}
	}
	review := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gvrReviews.GroupVersion().String(),
		"kind":       "SelfSubjectAccessReview",
		"spec":       map[string]any{"resourceAttributes": attributes},
	}}
	answer, err := a.client.resource(gvrReviews, "").Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return a.client.describe(err, "ask for the right to "+p.String())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[p] = fields(answer.Object).at("status").truth("allowed")
	return nil
}

// Knows answers whether the permission is given, and whether that was asked at all.
func (a *Access) Knows(p Permission) (allowed, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	allowed, known = a.answers[p]
	return allowed, known
}

// Can tells whether the login is known to have the right; an empty name means every object, an empty namespace every
// namespace or none.
func (a *Access) Can(verb, group, resource, namespace, name string) bool {
	allowed, _ := a.Knows(Permission{verb, group, resource, namespace, name})
	return allowed
}

// Missing are those of the permissions that are known not to be given, in their order.
func (a *Access) Missing(needs ...Permission) []Permission {
	return slices.DeleteFunc(slices.Clone(needs), func(p Permission) bool {
		allowed, known := a.Knows(p)
		return allowed || !known
	})
}

// Forbidden says in an error what is missing of the permissions for doing something ("set migration modes"); nil when
// nothing is.
func (a *Access) Forbidden(doing string, needs ...Permission) *core.APIError {
	missing := a.Missing(needs...)
	if len(missing) == 0 {
		return nil
	}
	message := "you may not "
	operator, maintenance := false, false
	for i, p := range missing {
		if i > 0 {
			message += ", "
		}
		message += p.String()
		if slices.Contains(claimPermissions(), p) {
			maintenance = true
		} else {
			operator = true
		}
	}
	remedy := "Ask an administrator to apply "
	switch {
	case operator && maintenance:
		remedy += "deploy/rbac-operator.yaml and " + maintenanceRights + "."
	case maintenance:
		remedy += maintenanceRights + "."
	default:
		remedy += "deploy/rbac-operator.yaml."
	}
	return &core.APIError{
		Kind: core.ErrForbidden, Server: core.ServerKubernetes, Call: doing, Message: message,
		Remedy: remedy,
	}
}
