package core

import (
	"os"
	"testing"
	"time"
)

// The tests do not know where whoever runs them is.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	if path := os.Getenv("LOCKSTEP_TEST_JOURNAL"); path != "" {
		beKilled(path)
	}
	os.Exit(m.Run())
}

// livingIn is a test by an operator in another zone. It runs alone.
func livingIn(t *testing.T, zone *time.Location) {
	t.Helper()
	before := time.Local
	time.Local = zone
	t.Cleanup(func() { time.Local = before })
}
