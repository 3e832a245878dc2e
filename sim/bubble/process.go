package bubble

import (
	"runtime/debug"

	"k8s.io/apimachinery/pkg/util/runtime"
)

// Settings for the whole process of a test that has bubbles.
func init() {
	// client-go delays a goroutine that reports an error too soon after the last one of the process, whose time is another bubble's
	// or the wall's: for years. The other handlers still report it.
	runtime.ErrorHandlers = runtime.ErrorHandlers[:1]
	// A simulated cloud makes much garbage out of JSON and keeps little: a quarter of the work would be garbage collection.
	debug.SetGCPercent(800)
}
