package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"lockstep/core"
	"lockstep/e2e/cluster"
	"lockstep/kube"
)

// rights gives the users the rights that deploy/ has for them.
func rights(t testing.TB, c *cluster.Cluster) {
	t.Helper()
	if err := c.GrantRights(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// granted returns the rights that the roles of a manifest give, one for each verb and resource. A non-resource path is in
// Resource.
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
	readLease := kube.Permission{Verb: "get", Group: "coordination.k8s.io", Resource: "leases", Namespace: "default",
		Name: "lockstep-operator"}
	tests := []struct {
		manifest string
		uses     []kube.Permission
	}{
		{"rbac-readonly.yaml", append(append(kube.WatchPermissions(), kube.LookPermissions()...),
			readLease, // who is at work
			kube.Permission{Verb: "list", Group: readLease.Group, Resource: readLease.Resource, Name: readLease.Name}, // and elsewhere
			kube.Permission{Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
			kube.Permission{Verb: "create", Group: "authentication.k8s.io", Resource: "selfsubjectreviews"},
			kube.Permission{Verb: "get", Resource: "namespaces", Name: "kube-system"},
			kube.Permission{Verb: "get", Resource: "/readyz"},
			kube.Permission{Verb: "get", Resource: "/version"},
		)},
		{"rbac-management-readonly.yaml", append(slices.Concat(kube.ManagementPermissions(""),
			kube.ManagementWatchPermissions(""), kube.FleetPermissions(), kube.ManagementLookPermissions(""),
			kube.MachineStagePermissions("")),
			kube.Permission{Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
			kube.Permission{Verb: "get", Resource: "/readyz"},
			kube.Permission{Verb: "get", Resource: "/version"},
		)},
		{"rbac-management-operator.yaml", kube.ManagementWritePermissions("")},
		{"rbac-management-logins.yaml", []kube.Permission{kube.ClusterLoginPermission("mosk", "mos")}},
		{"rbac-operator.yaml", slices.Concat(kube.WritePermissions(""), kube.WorkloadPermissions(),
			[]kube.Permission{kube.CredentialsPermission()})},
		{"rbac-maintenance.yaml", kube.MaintenancePermissions()},
		{"rbac-alerts.yaml", kube.AlertmanagerPermissions(core.AlertmanagerPlace{Namespace: kube.AlertmanagerNamespace,
			Service: kube.AlertmanagerService})},
		{"rbac-events.yaml", kube.AnnouncePermissions()},
		{"rbac-management-events.yaml", kube.ManagementAnnouncePermissions("mosk")},
	}
	for _, test := range tests {
		t.Run(test.manifest, func(t *testing.T) {
			manifest, err := cluster.Manifest(test.manifest)
			if err != nil {
				t.Fatal(err)
			}
			gives := granted(t, manifest)
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
