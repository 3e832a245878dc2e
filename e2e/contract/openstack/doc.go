// Package openstack is the contract of the OpenStack APIs that Lockstep depends on: what Keystone, Nova and Neutron answer,
// in which words, in which order. Run holds a cloud to it, the simulated one and a real one alike: the cases know nothing of
// which it is. What they expect was seen at the real one (Zed); where the simulated one differs, that is wrong.
//
// The adapter of package nova is the eye where a story is told; the protocol itself is spoken over plain HTTP, so that no
// client smooths over what it answers.
package openstack
