package cli

import (
	"github.com/spf13/pflag"

	"lockstep/cli/session"
	"lockstep/sim"
)

// addManagement adds the flags that say how to reach the management cluster.
func addManagement(m *session.Management, f *pflag.FlagSet) {
	f.StringVar(&m.Kubeconfig, "management-kubeconfig", "", "kubeconfig `file` of the management cluster (default: the same as --kubeconfig)")
	f.StringVar(&m.Context, "management-context", "",
		"kubeconfig `context` of the management cluster: connects it, for machines, LCM and the update plan")
	f.StringVar(&m.Namespace, "management-namespace", "", "the cluster's `project` on the management cluster (default: looked for in all)")
	f.StringVar(&m.Cluster, "management-cluster", "",
		"`name` of the cluster on the management cluster (default: the one that has these nodes)")
}

// simManagement is the management cluster of a simulated cloud, where it has one.
func simManagement(cloud *sim.Cloud) session.Management {
	if cloud.Management == nil {
		return session.Management{}
	}
	return session.Management{Context: sim.ManagementContext, Namespace: cloud.Scenario.Management.Project}
}
