package sim

import "lockstep/sim/openstack"

// machines switches the hosts of the simulated cloud off and on with the nodes, and silences their services. It does
// nothing for a node that OpenStack does not know.
type machines struct {
	cloud    *openstack.Cloud
	whileOff func(host string)
}

func (m machines) PowerOff(host string) {
	_ = m.cloud.PowerOffHost(host)
	if m.whileOff != nil {
		m.whileOff(host)
	}
}

func (m machines) PowerOn(host string) { _ = m.cloud.PowerOnHost(host) }

func (m machines) StopAgents(host string) error    { return m.cloud.StopAgents(host) }
func (m machines) HoldAgents(host string) error    { return m.cloud.HoldAgents(host) }
func (m machines) StartAgents(host string) error   { return m.cloud.StartAgents(host) }
func (m machines) StopCompute(host string) error   { return m.cloud.StopCompute(host) }
func (m machines) HoldCompute(host string) error   { return m.cloud.HoldCompute(host) }
func (m machines) ForgetCompute(host string) error { return m.cloud.ForgetCompute(host) }
func (m machines) StartCompute(host string) error  { return m.cloud.StartCompute(host) }

func (m machines) RemoveVolumeService(host string) error { return m.cloud.RemoveVolumeService(host) }
