// Package kube has client-go on one side and core's types on the other: it loads the operator's kubeconfig, watches what
// Lockstep shows of a MOSK cluster, writes the few things that Lockstep may write, and keeps the operator lease.
//
// An adapter decides nothing. API objects become objects of core, field by field and without a guess; API errors become
// *core.APIError with the call that failed and what the operator can do about it. Nothing here writes to the terminal.
package kube
