// Package openstack tells stories with a real OpenStack (cloud/) and a real kube-apiserver behind the program: a manual node is
// taken through its maintenance, and Lockstep plays the OpenStack controller through an update; and it holds that OpenStack to
// the contract that the simulated one keeps as well. Its tests have the build tag openstack, as they need Debian 12, root, and
// what `make e2e-openstack` (the script run) brings up before them.
package openstack
