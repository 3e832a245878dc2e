// Package e2e tests Lockstep from the outside: the real binary in an emulated
// terminal, a real kube-apiserver, and what the servers say they received. It
// is a module of its own, so that what only these tests need stays out of the
// program's go.mod.
package e2e
