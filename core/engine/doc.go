// Package engine owns the world. One goroutine, which does no I/O, takes Deltas in and publishes Snapshots. The engine keeps the
// journal. It is also the one gate through which anything is changed: a grant, the same step planned again from the newest facts, a
// check on the server itself, the write, and a look at the result.
//
// It defines the ports that the adapters implement: Checkers, which read and try, and ChangeWriters, which need a Permit.
package engine
