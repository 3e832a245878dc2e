// Package kubeapi is an in-memory Kubernetes API server over HTTPS on loopback: the peer that the program's Kubernetes
// side talks to in the demo and in tests. It speaks the protocol as kube-apiserver does for what client-go, kubectl and
// k9s use: discovery, lists in chunks and at a resourceVersion, watches with bookmarks and 410 Gone, optimistic locking,
// JSON, merge and strategic merge patches, server-side apply and the managers of fields, dry runs, status and scale
// subresources, evictions under disruption budgets, leases, rights by RBAC objects and their reviews, tables for kubectl,
// and custom resources with pruning, defaults and validation by their structural schema. One suite of tests, the contract
// in e2e/contract/kubernetes, holds it to what the real server answers.
//
// It is not a Kubernetes: nothing schedules, built-in kinds are checked for their types and their metadata only, and a
// pod's log is what was set for it. Of the controllers it has the garbage collector alone, which deletes what a deleted
// object owned. What it leaves out it refuses in the words of the real server.
package kubeapi
