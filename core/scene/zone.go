package scene

import (
	"testing"
	"time"
)

// LivingIn is a test by an operator in another zone. It runs alone.
func LivingIn(t *testing.T, zone *time.Location) {
	t.Helper()
	before := time.Local
	time.Local = zone
	t.Cleanup(func() { time.Local = before })
}
