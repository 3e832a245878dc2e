// Package checklist says whether a cluster is fit for an update: before it, at any time, and compared with before.
//
// Its points are MOSK's own procedure (docs/mosk.md#before-the-update), what must be at rest (the points after an update), and what
// "Needs you" finds. Everything is a pure function of a Snapshot; room is judged by an evacuation forecast, where one was made.
package checklist
