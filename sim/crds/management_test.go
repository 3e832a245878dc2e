package crds

import (
	"testing"

	"sigs.k8s.io/yaml"
)

func TestEveryDefinitionOfTheManagementClusterIsTheResourceOfTheFacts(t *testing.T) {
	want := map[string]struct {
		kind, scope string
		status      bool
		columns     int
	}{
		"clusters.cluster.k8s.io":                         {"Cluster", "Namespaced", true, 2},
		"machines.cluster.k8s.io":                         {"Machine", "Namespaced", true, 4},
		"lcmclusters.lcm.mirantis.com":                    {"LCMCluster", "Namespaced", true, 3},
		"lcmmachines.lcm.mirantis.com":                    {"LCMMachine", "Namespaced", true, 6},
		"lcmclusterstates.lcm.mirantis.com":               {"LCMClusterState", "Namespaced", true, 7},
		"lcmclusterupgradestatuses.lcm.mirantis.com":      {"LCMClusterUpgradeStatus", "Namespaced", false, 0},
		"lcmmachineupgradedrainstatuses.lcm.mirantis.com": {"LCMMachineUpgradeDrainStatus", "Namespaced", false, 0},
		"lcmmachineagentupgradestatuses.lcm.mirantis.com": {"LCMMachineAgentUpgradeStatus", "Namespaced", false, 0},
		"clusterupgradestatuses.kaas.mirantis.com":        {"ClusterUpgradeStatus", "Namespaced", false, 0},
		"machineupgradestatuses.kaas.mirantis.com":        {"MachineUpgradeStatus", "Namespaced", false, 0},
		"clusterupdateplans.kaas.mirantis.com":            {"ClusterUpdatePlan", "Namespaced", true, 4},
		"updategroups.kaas.mirantis.com":                  {"UpdateGroup", "Namespaced", false, 3},
		"updateautopauses.kaas.mirantis.com":              {"UpdateAutoPause", "Namespaced", true, 0},
		"gracefulrebootrequests.kaas.mirantis.com":        {"GracefulRebootRequest", "Namespaced", false, 0},
		"clusterreleases.kaas.mirantis.com":               {"ClusterRelease", "Cluster", false, 1},
		"kaasreleases.kaas.mirantis.com":                  {"KaaSRelease", "Cluster", false, 1},
		"mccupgrades.kaas.mirantis.com":                   {"MCCUpgrade", "Cluster", true, 0},
	}
	all := Management()
	if len(all) != len(want) {
		t.Fatalf("%d definitions, want %d", len(all), len(want))
	}
	for _, crd := range all {
		var m manifest
		if err := yaml.Unmarshal(crd.YAML, &m); err != nil {
			t.Fatalf("%s: %v", crd.Name, err)
		}
		w, ok := want[crd.Name]
		if !ok || crd.Name != m.Metadata.Name || crd.Name != m.Spec.Names.Plural+"."+m.Spec.Group {
			t.Errorf("%s has the name %q, plural %q, group %q", crd.Name, m.Metadata.Name, m.Spec.Names.Plural, m.Spec.Group)
			continue
		}
		if m.Spec.Names.Kind != w.kind || m.Spec.Scope != w.scope || len(m.Spec.Versions) != 1 {
			t.Errorf("%s: kind %s, scope %s, %d versions", crd.Name, m.Spec.Names.Kind, m.Spec.Scope, len(m.Spec.Versions))
			continue
		}
		version := m.Spec.Versions[0]
		if _, ok := version.Subresources["status"]; ok != w.status || len(version.AdditionalPrinterColumns) != w.columns {
			t.Errorf("%s: status subresource %v, %d columns", crd.Name, ok, len(version.AdditionalPrinterColumns))
		}
	}
}
