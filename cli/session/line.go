package session

import (
	"cmp"
	"net/http"
	"time"

	"lockstep/kube"
	"lockstep/nova"
)

// Line is the way a session reaches its servers. The zero value is the usual one: nothing of it is fixed.
type Line struct {
	Transport http.RoundTripper                                  // nil: by the TLS settings of the credentials
	Jitter    func(who string, most time.Duration) time.Duration // of retries; nil: random
	Holder    string                                             // of the operator lease; empty: user@host/pid/random
	NewID     func() string                                      // of confirmations; nil: random
}

// KubeOptions are those of the cluster's client.
func (p *Place) KubeOptions() kube.Options {
	return kube.Options{Kubeconfig: p.Kubeconfig, Context: p.Context, UserAgent: "lockstep/" + p.Version,
		Transport: p.Line.Transport, Jitter: p.Line.Jitter, Given: p.Given}
}

// ManagementOptions are those of the management cluster's client.
func (p *Place) ManagementOptions() kube.Options {
	o := p.KubeOptions()
	o.Given = nil // it is the MOSK cluster's
	o.Flags = "management-"
	o.Kubeconfig, o.Context = cmp.Or(p.Management.Kubeconfig, p.Kubeconfig), p.Management.Context
	return o
}

// NovaOptions are those of OpenStack's client.
func (p *Place) NovaOptions(log *Log) nova.Options {
	return nova.Options{Cloud: p.OSCloud, CloudsYAML: p.CloudsYAML, UserAgent: "lockstep/" + p.Version, Log: log.Logger,
		Transport: p.Line.Transport, Jitter: p.Line.Jitter, Speed: p.Pace}
}
