// Package progress says what the facts of a Snapshot mean: what the text of a lock says, which stage a node is in, how far a phase of the
// update is, what becomes of an instance, and how long something should take. Its functions are pure: they get a Snapshot, and change
// nothing.
package progress
