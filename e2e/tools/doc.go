// Package tools points the tools of a Kubernetes operator, kubectl and k9s, at
// the simulated cloud: what an operator looks at on a real cluster is to be
// seen there, too. There is nothing but tests here.
package tools
