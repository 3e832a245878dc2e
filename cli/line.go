package cli

import (
	"cmp"
	"net/http"
	"time"

	"lockstep/kube"
	"lockstep/nova"
)

// line is the way a session reaches its servers.
type line struct {
	transport http.RoundTripper                                  // nil: by the TLS settings of the credentials
	jitter    func(who string, most time.Duration) time.Duration // of retries; nil: random
	holder    string                                             // of the operator lease; empty: user@host/pid/random
	newID     func() string                                      // of confirmations; nil: random
}

func (p *place) kubeOptions() kube.Options {
	return kube.Options{Kubeconfig: p.kubeconfig, Context: p.context, UserAgent: "lockstep/" + programVersion(),
		Transport: p.line.transport, Jitter: p.line.jitter, Given: p.given}
}

// managementOptions are those of the management cluster.
func (p *place) managementOptions() kube.Options {
	o := p.kubeOptions()
	o.Given = nil // it is the MOSK cluster's
	o.Flags = "management-"
	o.Kubeconfig, o.Context = cmp.Or(p.management.Kubeconfig, p.kubeconfig), p.management.Context
	return o
}

func (p *place) novaOptions(log *log) nova.Options {
	return nova.Options{Cloud: p.osCloud, CloudsYAML: p.cloudsYAML, UserAgent: "lockstep/" + programVersion(), Log: log.Logger,
		Transport: p.line.transport, Jitter: p.line.jitter, Speed: p.pace}
}
