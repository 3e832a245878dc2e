// Package kubeapi is an in-memory Kubernetes API server over HTTPS on loopback: the peer that the program's Kubernetes
// side talks to in the demo and in tests. It speaks the protocol as kube-apiserver does for what client-go and kubectl
// use: discovery, lists in chunks and at a resourceVersion, watches with bookmarks and 410 Gone, optimistic locking, JSON,
// merge and strategic merge patches, dry runs, status subresources, evictions under disruption budgets, leases, access
// reviews, tables for kubectl, and custom resources with pruning, defaults and validation by their structural schema.
//
// It is not a Kubernetes: nothing schedules, nothing collects garbage, built-in kinds are checked for their types and
// their metadata only, and there is no server-side apply. What it leaves out it refuses in the words of the real server.
package kubeapi
