// Package timeline lays an update out over time: its phases, the steps of its plan and its nodes as rows of spans, what stood still and
// why, the migrations, and what is ahead. The past comes from the History, so a new run of Lockstep has the same as the one before it.
package timeline
