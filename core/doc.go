// Package core is the domain of Lockstep and its engine: what a MOSK cluster update is made of, what every part of it
// means for the operator, and the one gate through which Lockstep changes anything.
//
// Facts flow one way. Adapters turn API objects into the types of this package and hand them to Engine.Apply as Deltas.
// The Engine owns the world in one goroutine and publishes immutable Snapshots. Everything that is derived (phases, node
// stages, attention, procedures, steps) is a pure function of a Snapshot. Every change goes the way
// Intent → Plan → Step → Grant → Engine.Execute, and is journalled before, after, and when it is verified.
//
// The package imports only the standard library. It knows no screen, no client-go and no gophercloud.
package core
