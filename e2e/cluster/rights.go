package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"lockstep/e2e/build"
)

const (
	// rightsInterval is how often GrantRights asks whether a right is effective, and rightsPatience for how long.
	rightsInterval = 10 * time.Millisecond
	rightsPatience = 5 * time.Minute
)

// Manifest reads a file of the program's folder deploy/.
func Manifest(name string) ([]byte, error) {
	root, err := build.Root()
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(root), "deploy", name))
	if err != nil {
		return nil, fmt.Errorf("read a manifest: %w", err)
	}
	return raw, nil
}

// GrantRights applies the manifests of deploy/ for the MOSK cluster, those for writing and the read-only one they build on, with
// the example bindings in their comments. All rights are effective when it returns.
func (c *Cluster) GrantRights(ctx context.Context) error { return GrantRights(ctx, c.Config(Admin)) }

// GrantRights applies the manifests on any API server.
func GrantRights(ctx context.Context, config *rest.Config) error {
	var all []byte
	for _, name := range []string{"rbac-readonly.yaml", "rbac-operator.yaml", "rbac-maintenance.yaml", "rbac-alerts.yaml",
		"rbac-events.yaml"} {
		manifest, err := Manifest(name)
		if err != nil {
			return err
		}
		_, example, found := strings.Cut(string(manifest), "# ---\n")
		if !found {
			return fmt.Errorf("%s has no example bindings", name)
		}
		var bindings strings.Builder
		for line := range strings.Lines(example) {
			bindings.WriteString(strings.TrimPrefix(line, "# "))
		}
		for _, objects := range []string{string(manifest), bindings.String()} {
			if err := Apply(ctx, config, []byte(objects)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			all = append(append(all, "---\n"...), objects...)
		}
	}
	return awaitRights(ctx, config, all)
}

// awaitRights waits until the roles and bindings of the manifest are effective: the server answers a write before its authorizer,
// which watches them, has seen it.
func awaitRights(ctx context.Context, config *rest.Config, manifest []byte) error {
	roles, bindings, err := rolesAndBindings(manifest)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, rightsPatience)
	defer cancel()
	for _, b := range bindings {
		rules, found := roles[roleName{b.RoleRef.Kind, b.roleNamespace(), b.RoleRef.Name}]
		if !found {
			return fmt.Errorf("%s %s is of %s %s, which no manifest has", b.Kind, b.Name, b.RoleRef.Kind, b.RoleRef.Name)
		}
		for _, subject := range b.Subjects {
			client, err := authorizationclient.NewForConfig(as(config, subject))
			if err != nil {
				return fmt.Errorf("make a client: %w", err)
			}
			for _, rule := range rules {
				if err := awaitRight(ctx, client, question(rule, b.Namespace)); err != nil {
					return fmt.Errorf("%s %s, for %s %s: %w", b.Kind, b.Name, subject.Kind, subject.Name, err)
				}
			}
		}
	}
	return nil
}

// accessReview asks whether a subject has a right.
type accessReview = authorizationv1.SelfSubjectAccessReviewSpec

// awaitRight waits until the answer is yes.
func awaitRight(ctx context.Context, client *authorizationclient.AuthorizationV1Client, asked accessReview) error {
	question := &authorizationv1.SelfSubjectAccessReview{Spec: asked}
	ticker := time.NewTicker(rightsInterval)
	defer ticker.Stop()
	for {
		review, err := client.SelfSubjectAccessReviews().Create(ctx, question, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask for a right: %w", err)
		}
		if review.Status.Allowed {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("the server has not taken in a right (%v, %v): %w", asked.ResourceAttributes, asked.NonResourceAttributes, ctx.Err())
		}
	}
}

// roleName is how a binding names its role; the namespace of a ClusterRole is empty.
type roleName struct{ kind, namespace, name string }

// binding is a RoleBinding, or a ClusterRoleBinding, whose namespace is empty.
type binding rbacv1.RoleBinding

func (b binding) roleNamespace() string {
	if b.RoleRef.Kind == "ClusterRole" {
		return ""
	}
	return b.Namespace
}

// rolesAndBindings returns those of a manifest.
func rolesAndBindings(manifest []byte) (map[roleName][]rbacv1.PolicyRule, []binding, error) {
	roles, bindings := map[roleName][]rbacv1.PolicyRule{}, []binding(nil)
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return roles, bindings, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read a manifest: %w", err)
		}
		var role rbacv1.Role
		var b binding
		if err := errors.Join(yaml.Unmarshal(document, &role), yaml.Unmarshal(document, &b)); err != nil {
			return nil, nil, fmt.Errorf("read a manifest: %w", err)
		}
		switch role.Kind {
		case "Role", "ClusterRole":
			roles[roleName{role.Kind, role.Namespace, role.Name}] = role.Rules
		case "RoleBinding", "ClusterRoleBinding":
			bindings = append(bindings, b)
		}
	}
}

// as returns the client configuration of exactly the subject.
func as(config *rest.Config, subject rbacv1.Subject) *rest.Config {
	theirs := rest.CopyConfig(config)
	theirs.Impersonate = rest.ImpersonationConfig{UserName: subject.Name}
	if subject.Kind == rbacv1.GroupKind {
		theirs.Impersonate = rest.ImpersonationConfig{UserName: "somebody", Groups: []string{subject.Name}}
	}
	return theirs
}

// question asks for the first right of a rule. A rule becomes effective as a whole.
func question(rule rbacv1.PolicyRule, namespace string) accessReview {
	if len(rule.NonResourceURLs) > 0 {
		return accessReview{NonResourceAttributes: &authorizationv1.NonResourceAttributes{
			Verb: rule.Verbs[0], Path: rule.NonResourceURLs[0]}}
	}
	asked := &authorizationv1.ResourceAttributes{Verb: rule.Verbs[0], Group: rule.APIGroups[0], Namespace: namespace}
	asked.Resource, asked.Subresource, _ = strings.Cut(rule.Resources[0], "/")
	if len(rule.ResourceNames) > 0 {
		asked.Name = rule.ResourceNames[0]
	}
	return accessReview{ResourceAttributes: asked}
}
