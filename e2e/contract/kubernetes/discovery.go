package kubernetes

import (
	"encoding/json"
	"net/http"
	"slices"
	"sort"
	"strings"
	"testing"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
)

// aggregated is what clients accept for the discovery in one document.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

func discoveries(t *testing.T, s *suite) {
	t.Run("lists the resources of a group as the real server does", func(t *testing.T) {
		for version, wanted := range known {
			path := "/apis/" + version
			if version == "v1" {
				path = "/api/v1"
			}
			var list metav1.APIResourceList
			s.get(t, path).decode(t, &list)
			if list.Kind != "APIResourceList" || list.GroupVersion != version {
				t.Errorf("%s is a %s of %s", path, list.Kind, list.GroupVersion)
			}
			for _, want := range wanted {
				i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == want.Name })
				if i < 0 {
					t.Errorf("%s lacks %s", version, want.Name)
					continue
				}
				r := list.APIResources[i]
				r.StorageVersionHash = "" // the storage differs between servers
				sort.Strings(r.Verbs)
				if got, want := asText(t, r), asText(t, want); got != want {
					t.Errorf("of %s the server says\n\t%s, want\n\t%s", version, got, want)
				}
			}
		}
	})
	t.Run("in one document says the same", func(t *testing.T) {
		for _, root := range []string{"/api", "/apis"} {
			a := s.get(t, root, "Accept", aggregated)
			if got := a.header.Get("Content-Type"); got != "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" {
				t.Errorf("%s is answered with %s", root, got)
			}
			var list apidiscovery.APIGroupDiscoveryList
			a.decode(t, &list)
			if list.Kind != "APIGroupDiscoveryList" || list.APIVersion != "apidiscovery.k8s.io/v2" {
				t.Errorf("%s is a %s %s", root, list.APIVersion, list.Kind)
			}
			for _, group := range list.Items {
				for _, v := range group.Versions {
					version := strings.TrimPrefix(group.Name+"/"+v.Version, "/")
					for _, want := range known[version] {
						plural, sub, _ := strings.Cut(want.Name, "/")
						if !slices.ContainsFunc(v.Resources, func(r apidiscovery.APIResourceDiscovery) bool {
							return r.Resource == plural && (sub == "" ||
								slices.ContainsFunc(r.Subresources, func(s apidiscovery.APISubresourceDiscovery) bool { return s.Subresource == sub }))
						}) {
							t.Errorf("%s lacks %s", version, want.Name)
						}
					}
				}
			}
		}
	})
	t.Run("is read by client-go whole, with or without aggregation", func(t *testing.T) {
		for _, legacy := range []bool{false, true} {
			client, err := discovery.NewDiscoveryClientForConfig(s.Config(Nobody))
			if err != nil {
				t.Fatal(err)
			}
			client.UseLegacyDiscovery = legacy
			_, resources, err := client.ServerGroupsAndResources()
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]bool{}
			for _, list := range resources {
				for _, r := range list.APIResources {
					found[list.GroupVersion+" "+r.Name] = true
				}
			}
			for version, wanted := range known {
				for _, want := range wanted {
					if !found[version+" "+want.Name] {
						t.Errorf("legacy %v: %s %s is not found", legacy, version, want.Name)
					}
				}
			}
		}
	})
	t.Run("of the version and of the health needs no login", func(t *testing.T) {
		client, err := discovery.NewDiscoveryClientForConfig(s.Config(Nobody))
		if err != nil {
			t.Fatal(err)
		}
		version, err := client.ServerVersion()
		if err != nil || version.GitVersion != "v1.36.3" || version.Major != "1" || version.Minor != "36" {
			t.Errorf("the version is %+v, %v", version, err)
		}
		for _, path := range []string{"/readyz", "/livez", "/healthz"} {
			if a := s.send(t, Nobody, http.MethodGet, path, ""); a.code != http.StatusOK || string(a.body) != "ok" {
				t.Errorf("%s is answered %d: %s", path, a.code, a.body)
			}
		}
	})
}

func documents(t *testing.T, s *suite) {
	type paths map[string]struct{ ServerRelativeURL string }
	var index struct{ Paths paths }
	s.await(t, "there is a document of the locks", func() bool {
		index.Paths = nil
		s.get(t, "/openapi/v3").decode(t, &index)
		url := index.Paths["apis/lcm.mirantis.com/v1alpha1"].ServerRelativeURL
		return url != "" && strings.Contains(string(s.get(t, url).body), "com.mirantis.lcm.v1alpha1.NodeWorkloadLock")
	})
	type schema map[string]any
	document := func(t *testing.T, path string) (schemas map[string]schema, paths map[string]json.RawMessage) {
		t.Helper()
		url := index.Paths[path].ServerRelativeURL
		if url == "" {
			t.Fatalf("there is no document for %s", path)
		}
		var d struct {
			Paths      map[string]json.RawMessage
			Components struct{ Schemas map[string]schema }
		}
		s.get(t, url).decode(t, &d)
		return d.Components.Schemas, d.Paths
	}
	for _, test := range []struct {
		path, schema, kind string
		field              []string // path of properties to a field
		kindOf             string   // its type
		about              string   // the beginning of its description
	}{
		{"apis/lcm.mirantis.com/v1alpha1", "com.mirantis.lcm.v1alpha1.NodeWorkloadLock", "NodeWorkloadLock", []string{"status", "state"},
			"string", "active - LCM must not touch the node"},
		{"api/v1", "io.k8s.api.core.v1.Node", "Node", []string{"spec", "unschedulable"}, "boolean", "Unschedulable controls node schedulability"},
		{"api/v1", "io.k8s.api.core.v1.Pod", "Pod", []string{"spec", "nodeName"}, "string",
			"NodeName indicates in which node this pod is scheduled"},
		{"apis/apps/v1", "io.k8s.api.apps.v1.Deployment", "Deployment", []string{"spec", "replicas"}, "integer", "Number of desired pods"},
	} {
		t.Run("explains "+test.kind+"."+strings.Join(test.field, "."), func(t *testing.T) {
			schemas, _ := document(t, test.path)
			at := schemas[test.schema]
			if at == nil {
				t.Fatalf("there is no schema %s", test.schema)
			}
			if kinds := asText(t, at["x-kubernetes-group-version-kind"]); !strings.Contains(kinds, `"kind":"`+test.kind+`"`) {
				t.Errorf("the schema is of %s", kinds)
			}
			for _, name := range test.field {
				properties, _ := at["properties"].(map[string]any)
				next, _ := properties[name].(map[string]any)
				at = next
				for _, ref := range append([]any{next}, allOf(next)...) {
					if one, ok := ref.(map[string]any); ok && one["$ref"] != nil {
						to, _ := one["$ref"].(string)
						at = schemas[strings.TrimPrefix(to, "#/components/schemas/")]
					}
				}
				if at == nil {
					t.Fatalf("there is no field %s", name)
				}
			}
			if at["type"] != test.kindOf || !strings.HasPrefix(asText(t, at["description"]), `"`+test.about) {
				t.Errorf("the field is %s", asText(t, at))
			}
		})
	}
	t.Run("says that a patch can be tried and validated", func(t *testing.T) {
		for path, at := range map[string]string{
			"api/v1":                         "/api/v1/nodes/{name}",
			"apis/lcm.mirantis.com/v1alpha1": "/apis/lcm.mirantis.com/v1alpha1/nodeworkloadlocks/{name}",
		} {
			_, paths := document(t, path)
			if raw := string(paths[at]); !strings.Contains(raw, `"fieldValidation"`) || !strings.Contains(raw, `"dryRun"`) {
				t.Errorf("%s says %.300s", at, raw)
			}
		}
	})
}

// allOf returns the parts of a schema's allOf.
func allOf(schema map[string]any) []any {
	parts, _ := schema["allOf"].([]any)
	return parts
}
