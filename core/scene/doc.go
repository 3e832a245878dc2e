// Package scene builds Snapshots for tests, in the words of a cluster: a node in maintenance, a lock with a text, instances that are left.
// Only tests import it.
package scene
