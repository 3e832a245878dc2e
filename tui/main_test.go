package tui

import (
	"os"
	"testing"
	"time"
)

// The tests do not depend on the machine's time zone.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// livingIn runs a test as an operator in another zone. It runs alone.
func livingIn(t *testing.T, zone *time.Location) {
	t.Helper()
	before := time.Local
	time.Local = zone
	t.Cleanup(func() { time.Local = before })
}
