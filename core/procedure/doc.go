// Package procedure puts steps in order: what takes a node, an instance or the cluster from one state to the next, what is left to do
// after an update, and whom to tell. A procedure is computed from a Snapshot and never remembered: what is done is done because the
// cluster says so.
package procedure
