// Package step makes the Step of an Intent, from what is known now: its guards evaluated, its basis noted, its commands written out, and
// the Change that it stands for. It covers the steps of the operator, and those with which Lockstep plays a controller.
//
// Plan is pure and total: an intent about something that does not exist gives a step with a guard that does not hold.
package step
