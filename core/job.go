package core

import (
	"time"
)

// Job is what Lockstep keeps of a Job (batch/v1).
type Job struct {
	Meta
	Active    int // pods that run
	Succeeded int
	Failed    int       // pods that failed
	Started   time.Time // zero while it waits
	Completed time.Time // of one that succeeded
	State     JobState
	Message   string // of a failure
}

// JobState is how a Job goes, by its conditions.
type JobState string

// The states of a Job.
const (
	JobRunning  JobState = "running"
	JobComplete JobState = "complete"
	JobFailed   JobState = "failed"
)
