// Package openstack tests the program with a real OpenStack (cloud/) and a real kube-apiserver behind it: a manual node is taken
// through its maintenance, and Lockstep plays the OpenStack controller through an update. It also checks this OpenStack against
// the contract that the simulated one keeps. Its tests have the build tag openstack, because they need Debian 12, root, and what
// `make e2e-openstack` (the script run) starts before them.
package openstack
