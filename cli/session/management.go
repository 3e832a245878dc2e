package session

import (
	"cmp"
	"context"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/kube"
)

// Management says how to reach the management cluster. The zero value means that none is connected.
type Management struct {
	Kubeconfig string `yaml:"kubeconfig"` // file; empty: the same as the MOSK cluster's
	Context    string `yaml:"context"`    // empty: the file's current one
	Namespace  string `yaml:"namespace"`  // the project; empty: all of them are looked at
	Cluster    string `yaml:"cluster"`    // name of the Cluster object; empty: it is found by its nodes
}

// Or returns the flags, else the configuration. Flags that name a cluster may name another one than the configuration does, so
// nothing of the configuration counts then.
func (m Management) Or(c Management) Management {
	if m.Configured() {
		return m
	}
	c.Namespace, c.Cluster = cmp.Or(m.Namespace, c.Namespace), cmp.Or(m.Cluster, c.Cluster)
	return c
}

// Configured tells whether a management cluster is named.
func (m Management) Configured() bool { return m.Kubeconfig != "" || m.Context != "" }

// openManagement loads the login of the management cluster. Without one its sources are off; if it cannot be used, they say why,
// and the rest works.
func (s *Session) openManagement(ctx context.Context, p Place, cfg *engine.Config) (*kube.Client, error) {
	m := p.Management
	if !m.Configured() {
		for _, id := range core.ManagementSources() {
			s.down = append(s.down, core.Delta{Source: id, State: core.SourceOff})
		}
		return nil, nil
	}
	client, err := kube.Load(p.ManagementOptions())
	if err != nil {
		s.unavailable(core.ManagementSources(), err)
		return nil, nil
	}
	if s.kube != nil && client.Simulated != s.Simulated { // a rehearsal must not write to machines that are real
		s.unavailable(core.ManagementSources(), notOfOneWorld(client, s.Simulated))
		return nil, nil
	}
	cfg.Place = core.ManagementPlace{Context: client.ContextName, Namespace: m.Namespace, Cluster: m.Cluster}
	switch {
	case m.Kubeconfig != "" && m.Kubeconfig != p.Kubeconfig:
		cfg.Place.Kubeconfig = m.Kubeconfig
	case p.Given == nil:
		cfg.Place.Kubeconfig = p.Own.Kubeconfig
	}
	if err := p.GetCredentials(ctx, s.Log, client, "the management cluster"); err != nil {
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
