// Package bubble runs tests of a simulated cloud in virtual time: a testing/synctest bubble, in which the clock moves only when
// every goroutine waits. Hours of an update pass in seconds, however busy the machine is.
//
// A cloud that is started in a bubble needs a network that the bubble can see, made in there: sim.Options.Network. Its clients must
// have been made in there as well: clients, contexts with deadlines, channels.
package bubble

import (
	"runtime"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// parting is how long a bubble's time runs on after its test, in virtual time: connections that were closed end, and whatever waits
// for an answer that never comes gives up.
const parting = 5 * time.Minute

// Run runs a test in a bubble of its own, beside others. Its cleanups run in there, too. The t that f gets knows neither Run nor
// Parallel.
func Run(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	Alone(t, f)
}

// Alone is Run for a test that runs without others beside it.
func Alone(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	var raised any
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(parting) }) // the first that is registered is the last that is done
		defer func() {
			if raised = recover(); raised != nil {
				if _, bug := raised.(runtime.Error); bug {
					t.Logf("%v\n%s", raised, debug.Stack())
				}
			}
		}()
		f(t)
	})
	if raised != nil { // a panic inside would end the process before anything is cleaned up
		panic(raised)
	}
}
