package bubble

import (
	"runtime/debug"

	"k8s.io/apimachinery/pkg/util/runtime"
)

// What is set for the whole process of a test that has bubbles.
func init() {
	// client-go holds up whoever reports an error too soon after the last one of the process, whose time is another bubble's or
	// the wall's: for years. What is left reports it.
	runtime.ErrorHandlers = runtime.ErrorHandlers[:1]
	// A simulated cloud makes garbage out of JSON and keeps little: a quarter of the work goes with looking for what is left.
	debug.SetGCPercent(800)
}
