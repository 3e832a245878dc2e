package cli

import (
	"cmp"
	"context"

	"github.com/spf13/pflag"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/kube"
	"lockstep/sim"
)

// management says how to reach the management cluster. The zero value means that none is connected.
type management struct {
	Kubeconfig string `yaml:"kubeconfig"` // file; empty: the same as the MOSK cluster's
	Context    string `yaml:"context"`    // empty: the file's current one
	Namespace  string `yaml:"namespace"`  // the project; empty: all of them are looked at
	Cluster    string `yaml:"cluster"`    // name of the Cluster object; empty: it is found by its nodes
}

func (m *management) addTo(f *pflag.FlagSet) {
	f.StringVar(&m.Kubeconfig, "management-kubeconfig", "", "kubeconfig `file` of the management cluster (default: the same as --kubeconfig)")
	f.StringVar(&m.Context, "management-context", "",
		"kubeconfig `context` of the management cluster: connects it, for machines, LCM and the update plan")
	f.StringVar(&m.Namespace, "management-namespace", "", "the cluster's `project` on the management cluster (default: looked for in all)")
	f.StringVar(&m.Cluster, "management-cluster", "",
		"`name` of the cluster on the management cluster (default: the one that has these nodes)")
}

// or returns the flags, else the configuration. Flags that name a cluster may name another one than the configuration does, so
// nothing of the configuration counts then.
func (m management) or(c management) management {
	if m.configured() {
		return m
	}
	c.Namespace, c.Cluster = cmp.Or(m.Namespace, c.Namespace), cmp.Or(m.Cluster, c.Cluster)
	return c
}

// configured tells whether a management cluster is named.
func (m management) configured() bool { return m.Kubeconfig != "" || m.Context != "" }

// openManagement loads the login of the management cluster. Without one its sources are off; if it cannot be used, they say why,
// and the rest works.
func (s *session) openManagement(ctx context.Context, p place, cfg *engine.Config) (*kube.Client, error) {
	m := p.management
	if !m.configured() {
		for _, id := range core.ManagementSources() {
			s.down = append(s.down, core.Delta{Source: id, State: core.SourceOff})
		}
		return nil, nil
	}
	client, err := kube.Load(p.managementOptions())
	if err != nil {
		s.unavailable(core.ManagementSources(), err)
		return nil, nil
	}
	if s.kube != nil && client.Simulated != s.simulated { // a rehearsal must not write to machines that are real
		s.unavailable(core.ManagementSources(), notOfOneWorld(client, s.simulated))
		return nil, nil
	}
	cfg.Place = core.ManagementPlace{Context: client.ContextName, Namespace: m.Namespace, Cluster: m.Cluster}
	switch {
	case m.Kubeconfig != "" && m.Kubeconfig != p.kubeconfig:
		cfg.Place.Kubeconfig = m.Kubeconfig
	case p.given == nil:
		cfg.Place.Kubeconfig = p.own.Kubeconfig
	}
	if err := p.getCredentials(ctx, s.log, client, "the management cluster"); err != nil {
		return nil, err
	}
	cfg.Stages = client.MachineStages
	checker := kube.NewManagementChecker(client)
	cfg.Management, cfg.Writers.Management = checker, kube.NewManagementWriter(checker)
	return client, nil
}

// notOfOneWorld refuses a management cluster that is real where the cluster is simulated, or the other way round.
func notOfOneWorld(client *kube.Client, simulated bool) *core.APIError {
	text := "it is simulated, and the cluster is not"
	if simulated {
		text = "the cluster is simulated, and this is not"
	}
	return &core.APIError{Kind: core.ErrConfiguration, Call: "use the management cluster (" + client.Origin() + ")", Message: text,
		Remedy: "Name the one that belongs to this cluster by --management-context, or take it out of the configuration."}
}

// simManagement is the management cluster of a simulated cloud, where it has one.
func simManagement(cloud *sim.Cloud) management {
	if cloud.Management == nil {
		return management{}
	}
	return management{Context: sim.ManagementContext, Namespace: cloud.Scenario.Management.Project}
}
