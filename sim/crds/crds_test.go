package crds

import (
	"cmp"
	"testing"

	"sigs.k8s.io/yaml"
)

// manifest is the part of a CustomResourceDefinition that other packages rely on.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind, Plural, Singular, ListKind string
			ShortNames                       []string
		} `json:"names"`
		Versions []struct {
			Name                     string
			Served, Storage          bool
			Subresources             map[string]any
			AdditionalPrinterColumns []struct{ Name, JSONPath string }
			Schema                   struct{ OpenAPIV3Schema map[string]any }
		} `json:"versions"`
	} `json:"spec"`
}

func TestEveryDefinitionIsTheResourceOfTheFacts(t *testing.T) {
	want := map[string]struct {
		kind, scope, short string
		status             bool
		columns            int
		version            string // default v1alpha1
	}{
		"clusterworkloadlocks":       {kind: "ClusterWorkloadLock", scope: "Cluster", status: true},
		"nodeworkloadlocks":          {kind: "NodeWorkloadLock", scope: "Cluster", status: true},
		"clustermaintenancerequests": {kind: "ClusterMaintenanceRequest", scope: "Cluster"},
		"nodemaintenancerequests":    {kind: "NodeMaintenanceRequest", scope: "Cluster"},
		"nodedeletionrequests":       {kind: "NodeDeletionRequest", scope: "Cluster"},
		"nodedisablenotifications":   {kind: "NodeDisableNotification", scope: "Cluster"},
		"openstackdeployments":       {kind: "OpenStackDeployment", scope: "Namespaced", short: "osdpl", columns: 1},
		"openstackdeploymentstatus":  {kind: "OpenStackDeploymentStatus", scope: "Namespaced", short: "osdplst", columns: 6},
		"cephdeployments":            {kind: "CephDeployment", scope: "Namespaced", short: "cephdpl", status: true, columns: 5},
		"cephdeploymenthealths":      {kind: "CephDeploymentHealth", scope: "Namespaced", status: true, columns: 2},
		"cephdeploymentmaintenances": {kind: "CephDeploymentMaintenance", scope: "Namespaced", short: "cephdplmnt", status: true, columns: 3},
		"cephclusters":               {kind: "CephCluster", scope: "Namespaced", short: "ceph", status: true, columns: 3, version: "v1"},
		"tfoperators":                {kind: "TFOperator", scope: "Namespaced", short: "tf", status: true, columns: 2, version: "v2"},
	}
	all := All()
	if len(all) != len(want) {
		t.Fatalf("%d definitions, want %d", len(all), len(want))
	}
	for _, crd := range all {
		var m manifest
		if err := yaml.UnmarshalStrict(crd.YAML, &map[string]any{}); err != nil {
			t.Fatalf("%s: %v", crd.Name, err)
		}
		if err := yaml.Unmarshal(crd.YAML, &m); err != nil {
			t.Fatalf("%s: %v", crd.Name, err)
		}
		w, ok := want[m.Spec.Names.Plural]
		if !ok {
			t.Errorf("%s: plural %q is not in the facts", crd.Name, m.Spec.Names.Plural)
			continue
		}
		if m.APIVersion != "apiextensions.k8s.io/v1" || m.Kind != "CustomResourceDefinition" {
			t.Errorf("%s is a %s %s", crd.Name, m.APIVersion, m.Kind)
		}
		if crd.Name != m.Metadata.Name || crd.Name != m.Spec.Names.Plural+"."+m.Spec.Group {
			t.Errorf("%s has the name %q, plural %q, group %q", crd.Name, m.Metadata.Name, m.Spec.Names.Plural, m.Spec.Group)
		}
		if m.Spec.Names.Kind != w.kind || m.Spec.Names.ListKind != w.kind+"List" || m.Spec.Scope != w.scope {
			t.Errorf("%s: kind %s, list kind %s, scope %s", crd.Name, m.Spec.Names.Kind, m.Spec.Names.ListKind, m.Spec.Scope)
		}
		short := ""
		if len(m.Spec.Names.ShortNames) > 0 {
			short = m.Spec.Names.ShortNames[0]
		}
		if short != w.short {
			t.Errorf("%s: short name %q, want %q", crd.Name, short, w.short)
		}
		if len(m.Spec.Versions) != 1 || m.Spec.Versions[0].Name != cmp.Or(w.version, "v1alpha1") || !m.Spec.Versions[0].Served ||
			!m.Spec.Versions[0].Storage {
			t.Errorf("%s: versions %+v", crd.Name, m.Spec.Versions)
			continue
		}
		version := m.Spec.Versions[0]
		if _, ok := version.Subresources["status"]; ok != w.status {
			t.Errorf("%s: status subresource %v, want %v", crd.Name, ok, w.status)
		}
		if len(version.AdditionalPrinterColumns) != w.columns {
			t.Errorf("%s: %d printer columns, want %d", crd.Name, len(version.AdditionalPrinterColumns), w.columns)
		}
		if version.Schema.OpenAPIV3Schema["type"] != "object" {
			t.Errorf("%s has no structural schema", crd.Name)
		}
	}
}
