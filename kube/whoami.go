package kube

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// WhoAmI asks the API server as whom it knows the login: a user and its groups. Every authenticated user may ask. A server older than
// Kubernetes 1.28 does not know the question: the error is an *core.APIError of the kind ErrNotFound.
func (c *Client) WhoAmI(ctx context.Context) (user string, groups []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	review := &unstructured.Unstructured{Object: map[string]any{"apiVersion": gvrSelf.GroupVersion().String(), "kind": "SelfSubjectReview"}}
	answer, err := c.resource(gvrSelf, "").Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return "", nil, c.describe(err, "ask as whom the server knows us")
	}
	info := fields(answer.Object).at("status").at("userInfo")
	for _, g := range info.list("groups") {
		if name, ok := g.(string); ok {
			groups = append(groups, name)
		}
	}
	if user = info.text("username"); user == "" {
		return "", nil, &core.APIError{Kind: core.ErrOther, Server: core.ServerKubernetes, Call: "ask as whom the server knows us",
			Message: "it names nobody"}
	}
	return user, groups, nil
}

// ClusterUID is what tells the cluster from every other, by whatever address it is reached: the UID of its namespace kube-system. The
// error is an *core.APIError.
func (c *Client) ClusterUID(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	namespace, err := c.resource(gvrNamespaces, "").Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", c.describe(err, "read which cluster it is (get namespaces "+metav1.NamespaceSystem+")")
	}
	return string(namespace.GetUID()), nil
}
