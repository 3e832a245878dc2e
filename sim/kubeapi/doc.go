// Package kubeapi is an in-memory Kubernetes API server over HTTPS on loopback: the server that the program's
// Kubernetes side uses in the demo and in tests. It implements what client-go, kubectl and k9s use, as kube-apiserver
// does: discovery, lists in chunks and at a resourceVersion, watches with bookmarks and 410 Gone, optimistic locking,
// JSON, merge and strategic merge patches, server-side apply and field managers, dry runs, status and scale
// subresources, evictions under disruption budgets, leases, RBAC and access reviews, tables for kubectl, and custom
// resources with pruning, defaults and validation by their structural schema. One test suite, the contract in
// e2e/contract/kubernetes, compares its answers with the real server's.
//
// It is not a whole Kubernetes: there is no scheduler, built-in kinds are checked only for their types and metadata,
// and a pod's log is what was set for it. Its only controller is the garbage collector, which deletes the dependents of
// a deleted object. It refuses everything that it does not implement in the words of the real server.
package kubeapi
