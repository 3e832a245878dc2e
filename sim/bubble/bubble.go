// Package bubble runs tests of a simulated cloud in virtual time: a testing/synctest bubble, in which the clock moves
// only when every goroutine waits. Hours of an update pass in seconds, however busy the machine is.
//
// A cloud that starts in a bubble needs a network made in that bubble: sim.Options.Network. Its clients, their contexts
// with deadlines and their channels must be made there as well.
package bubble

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// parting is how long a bubble's time runs on after its test, in virtual time: closed connections end, and what still
// waits for an answer gives up.
const parting = 5 * time.Minute

// Run runs a test in a bubble of its own, in parallel with others. Its cleanups run in the bubble, too. The t that f
// gets supports neither Run nor Parallel.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	Alone(t, f)
}

// Alone is Run for a test that must not run in parallel with others.
func Alone(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	var raised any
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(parting) }) // registered first, so it runs last
		defer func() {
			if raised = recover(); raised != nil {
				if _, bug := raised.(runtime.Error); bug {
					t.Logf("%v\n%s", raised, debug.Stack())
				}
			}
		}()
		f(t)
	})
	if raised != nil { // a panic in the bubble would end the process before any cleanup
		panic(raised)
	}
}
