package engine

import (
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// The tests do not depend on the machine's time zone. They make much garbage and keep little: collected less often, they take a fifth less.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	time.Local = time.UTC
	if path := os.Getenv("LOCKSTEP_TEST_JOURNAL"); path != "" {
		beKilled(path)
		return
	}
	os.Exit(m.Run())
}
