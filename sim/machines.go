package sim

import "lockstep/sim/openstack"

// machines lets the hosts of the simulated cloud go down and up with the nodes, and their services fall silent. A node that
// OpenStack does not know has nothing to go down.
type machines struct{ cloud *openstack.Cloud }

func (m machines) PowerOff(host string) { _ = m.cloud.PowerOffHost(host) }
func (m machines) PowerOn(host string)  { _ = m.cloud.PowerOnHost(host) }

func (m machines) StopAgents(host string) error    { return m.cloud.StopAgents(host) }
func (m machines) HoldAgents(host string) error    { return m.cloud.HoldAgents(host) }
func (m machines) StartAgents(host string) error   { return m.cloud.StartAgents(host) }
func (m machines) StopCompute(host string) error   { return m.cloud.StopCompute(host) }
func (m machines) HoldCompute(host string) error   { return m.cloud.HoldCompute(host) }
func (m machines) ForgetCompute(host string) error { return m.cloud.ForgetCompute(host) }
func (m machines) StartCompute(host string) error  { return m.cloud.StartCompute(host) }

func (m machines) RemoveVolumeService(host string) error { return m.cloud.RemoveVolumeService(host) }
