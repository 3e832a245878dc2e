package cli

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/bubble"
)

// A status with details reads the log that alone tells the cause, and shows the line; without details it asks for no log.
func TestStatusReadsTheLogThatTellsTheCause(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "database-short"), Timing: brief})
		const line = "WSREP: Corrupt buffer header"
		out := ""
		for began := time.Now(); !strings.Contains(out, line); time.Sleep(time.Minute) {
			if time.Since(began) > longest {
				t.Fatalf("it does not tell the cause:\n%s", out)
			}
			_, out, _ = runOn(t, c, "status", "--details")
		}
		for _, want := range []string{"cause: A pod of MariaDB is stuck", "known issue 31186, 34132 of the release notes"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is missing in\n%s", want, out)
			}
		}
		if _, out, _ := runOn(t, c, "status"); strings.Contains(out, line) {
			t.Errorf("nobody asked for it:\n%s", out)
		}
	})
}
