package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"lockstep/e2e/build"
	"lockstep/e2e/cluster"
	"lockstep/kube"
)

// manifest reads a file of deploy/.
func manifest(t testing.TB, name string) []byte {
	t.Helper()
	root, err := build.Root()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(root), "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// grantRights applies the manifests of deploy/ and, taken out of their
// comments, the bindings that they give as an example.
func grantRights(t testing.TB, c *cluster.Cluster) {
	t.Helper()
	for _, name := range []string{"rbac-readonly.yaml", "rbac-operator.yaml"} {
		raw := manifest(t, name)
		if err := c.Apply(t.Context(), raw); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := c.Apply(t.Context(), []byte(exampleBindings(t, string(raw)))); err != nil {
			t.Fatalf("the example bindings of %s: %v", name, err)
		}
	}
}

// exampleBindings takes the comment signs off the last part of a manifest.
func exampleBindings(t testing.TB, manifest string) string {
	t.Helper()
	_, example, found := strings.Cut(manifest, "# ---\n")
	if !found {
		t.Fatal("the manifest has no example bindings")
	}
	var bindings strings.Builder
	for line := range strings.Lines(example) {
		bindings.WriteString(strings.TrimPrefix(line, "# "))
	}
	return bindings.String()
}

// granted are the rights that the roles of a manifest give, one for each verb
// and resource. A path that is no resource stands in Resource.
func granted(t *testing.T, manifest []byte) []kube.Permission {
	t.Helper()
	var all []kube.Permission
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		var role struct {
			Metadata struct{ Namespace string }
			Rules    []struct {
				APIGroups, Resources, ResourceNames, Verbs, NonResourceURLs []string
			}
		}
		if err := yaml.Unmarshal(document, &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				for _, path := range rule.NonResourceURLs {
					all = append(all, kube.Permission{Verb: verb, Resource: path})
				}
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						names := rule.ResourceNames
						if len(names) == 0 {
							names = []string{""}
						}
						for _, name := range names {
							all = append(all, kube.Permission{Verb: verb, Group: group, Resource: resource, Namespace: role.Metadata.Namespace, Name: name})
						}
					}
				}
			}
		}
	}
}

// The manifests give exactly the rights that the program says it uses.
func TestTheManifestsGiveExactlyWhatTheProgramUses(t *testing.T) {
	readLease := kube.Permission{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default", Name: "lockstep-operator"}
	tests := []struct {
		manifest string
		uses     []kube.Permission
	}{
		{"rbac-readonly.yaml", append(kube.WatchPermissions(),
			readLease, // who is at work
			kube.Permission{Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
			kube.Permission{Verb: "get", Resource: "/readyz"},
			kube.Permission{Verb: "get", Resource: "/version"},
		)},
		{"rbac-operator.yaml", append(kube.WritePermissions(""), kube.CredentialsPermission())},
	}
	for _, test := range tests {
		t.Run(test.manifest, func(t *testing.T) {
			gives := granted(t, manifest(t, test.manifest))
			for _, p := range gives {
				if !slices.Contains(test.uses, p) {
					t.Errorf("it gives the right to %s, which the program does not use", p)
				}
			}
			for _, p := range test.uses {
				if !slices.Contains(gives, p) {
					t.Errorf("it does not give the right to %s", p)
				}
			}
		})
	}
}
