package bubble

import (
	"runtime/debug"

	"k8s.io/apimachinery/pkg/util/runtime"
)

// Settings for the whole process of a test that has bubbles.
func init() {
	// client-go delays a goroutine that reports an error too soon after the process's last one. That error's time may
	// be another bubble's or real time, so the delay can last years. The other handlers still report the error.
	runtime.ErrorHandlers = runtime.ErrorHandlers[:1]
	// A simulated cloud makes much garbage from JSON and keeps little: without this, garbage collection is a quarter of
	// the work. With twice as much, memory that is new to the process costs a twelfth more than is saved.
	debug.SetGCPercent(400)
}
