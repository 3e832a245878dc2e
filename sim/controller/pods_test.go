package controller

import (
	"fmt"
	"testing"
	"time"
)

// What the kubelet remembers of its events does not grow with the pods that have been.
func TestTheKubeletForgetsOldReports(t *testing.T) {
	r, now := reportTimes{}, time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	r.note("old", now)
	if r.due("old", now.Add(mountAgain-time.Second)) || !r.due("old", now.Add(mountAgain)) || !r.due("other", now) {
		t.Error("a report is due at another time")
	}
	for i := range 1000 {
		now = now.Add(time.Minute)
		r.note(fmt.Sprint("pod-", i), now)
	}
	if len(r) > 3 {
		t.Errorf("%d reports are remembered", len(r))
	}
}
