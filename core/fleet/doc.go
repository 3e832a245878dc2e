// Package fleet makes one line of each cluster of a management cluster: its release and what is offered, the phase and progress of its
// update, when it ends, and what needs a person. It rests on the objects of the management cluster alone
// (docs/mosk.md#the-management-cluster). What only the MOSK cluster itself knows (its locks, its instances) is no part of it.
package fleet
