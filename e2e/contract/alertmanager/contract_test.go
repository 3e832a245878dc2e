package alertmanager_test

import (
	"net/http/httptest"
	"testing"
	"time"

	contract "lockstep/e2e/contract/alertmanager"
	"lockstep/e2e/stacklight"
	"lockstep/sim/alertmanager"
	"lockstep/sim/clock"
)

// simulator is the simulated Alertmanager.
type simulator struct {
	*alertmanager.Server
	url string
}

func (s simulator) URL() string { return s.url }

func (s simulator) Fire(_ *testing.T, labels map[string]string, summary string) {
	s.Server.Fire(labels, summary)
}

func TestTheSimulatedAlertmanagerKeepsTheContract(t *testing.T) {
	t.Parallel()
	server := alertmanager.New(clock.New(time.Now(), 1), nil)
	served := httptest.NewServer(server)
	t.Cleanup(served.Close)
	contract.Run(t, simulator{server, served.URL})
}

// real is the real Alertmanager.
type real struct{ *stacklight.Alertmanager }

func (r real) Fire(t *testing.T, labels map[string]string, summary string) {
	t.Helper()
	if err := r.Alertmanager.Fire(t.Context(), labels, summary); err != nil {
		t.Fatal(err)
	}
}

func TestTheRealAlertmanagerKeepsTheContract(t *testing.T) {
	t.Parallel()
	server, err := stacklight.Start(t.Context(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	contract.Run(t, real{server})
}
