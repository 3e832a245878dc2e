// Package core holds the facts: the objects of MOSK, Kubernetes and OpenStack as Lockstep knows them, where they come from (Source, Delta,
// APIError), everything known at one moment (Snapshot), and what was seen and done before (History). It also has the types in which the
// packages above it speak: Intent, Step, Guard, Change, Attention, Procedure and the views.
//
// It decides nothing. What the facts mean is core/progress; what can be done is core/step and core/procedure; what needs a person is
// core/attention. Whatever is derived from a Snapshot is a function of its package, and kept once for each Snapshot by a Derivation.
//
// It imports only the standard library and core/wording.
package core
