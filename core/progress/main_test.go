package progress

import (
	"os"
	"testing"
	"time"
)

// The tests do not know where whoever runs them is.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
