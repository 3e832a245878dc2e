// Package openstack is the contract of the OpenStack APIs that Lockstep depends on: what Keystone, Nova and Neutron answer, in
// which words, in which order. Run checks a cloud against it, simulated or real: the cases do not know which. Their expectations
// were observed on the real one (Zed); where the simulated one differs, the simulated one is wrong.
//
// Stories are watched through the adapter of package nova. The protocol itself is tested over plain HTTP, so that no client hides
// details of an answer.
package openstack
