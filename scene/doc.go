// Package scene builds Snapshots for tests in terms of a cluster: a node in maintenance, a lock with a text, the instances that
// are left. Only tests import it.
package scene
