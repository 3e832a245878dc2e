// Package tools points kubectl and k9s, the tools of a Kubernetes operator, at the simulated cloud: they should show what they
// show on a real cluster. The package contains only tests.
package tools
