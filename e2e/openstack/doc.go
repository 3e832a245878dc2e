// Package openstack takes a manual node through its maintenance with a real OpenStack (cloud/) and a real kube-apiserver
// behind the program. Its tests have the build tag openstack, as they need Debian 12, root, and what `make e2e-openstack`
// (the script run) brings up before them.
package openstack
