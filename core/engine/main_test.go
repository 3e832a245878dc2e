package engine

import (
	"os"
	"testing"
	"time"
)

// The tests do not depend on the machine's time zone.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	if path := os.Getenv("LOCKSTEP_TEST_JOURNAL"); path != "" {
		beKilled(path)
		return
	}
	os.Exit(m.Run())
}
