// Package forecast says how long the rest of an update takes, and until when: for each node, for each step of the plan or phase, and for
// the whole. It learns from the maintenances that it has seen, and says how much of a time rests on the documents' numbers instead. It also
// says where an update can rest, and divides it over nights. Its functions are pure.
package forecast
