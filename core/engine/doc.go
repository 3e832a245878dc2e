// Package engine owns the world. It takes Deltas in and publishes Snapshots, in one goroutine that does no I/O. It keeps the journal. And
// it is the one gate through which anything is changed: a grant, the same step planned again from the newest facts, a check by the server
// itself, the write, and a look at what became of it.
//
// It has the ports that the adapters fill: reading and checking, and writing, which takes a Permit.
package engine
