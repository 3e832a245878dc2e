package engine

import (
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// The tests do not depend on the machine's time zone. They make much garbage: collected less often, they take a fifth less. The heap is
// limited, as each page of it that is touched for the first time costs the kernel as much as its collection.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(300 << 20)
	time.Local = time.UTC
	if path := os.Getenv("LOCKSTEP_TEST_JOURNAL"); path != "" {
		beKilled(path)
		return
	}
	os.Exit(m.Run())
}
