package scene

import (
	"testing"
	"time"
)

// LivingIn runs the test in another time zone. Such a test cannot run in parallel.
func LivingIn(t *testing.T, zone *time.Location) {
	t.Helper()
	before := time.Local
	time.Local = zone
	t.Cleanup(func() { time.Local = before })
}
