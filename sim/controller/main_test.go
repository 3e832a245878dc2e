package controller_test

import (
	"runtime/debug"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // simulated clouds make much garbage but keep little
	goleak.VerifyTestMain(m)
}
