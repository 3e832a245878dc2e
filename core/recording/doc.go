// Package recording is the form in which an update is recorded: what each Snapshot has that the one before had not, so that all of them
// can be made again. A Recorder writes one while Lockstep runs; Open reads it.
package recording
