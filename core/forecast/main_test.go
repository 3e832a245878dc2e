package forecast

import (
	"os"
	"testing"
	"time"
)

// The tests do not depend on the time zone of the machine.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
