package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/sim"
)

// What the flags name, the commands name that are printed: a shell has another current context, or another kubeconfig.
func commandsNameWhatTheFlagsName(t *testing.T, c *sim.Cloud) {
	t.Helper()
	code, out, errs := runIn(t, placeOn(t, c), "status", "-o", "json", "--management-context", sim.ManagementContext,
		"--kubeconfig", c.KubeconfigPath)
	var s Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	var of, management []string
	for _, n := range s.NeedsYou {
		for _, line := range n.Commands {
			switch {
			case strings.Contains(line, "--context "+sim.ManagementContext):
				management = append(management, line)
			case strings.HasPrefix(line, "kubectl"):
				of = append(of, line)
			}
		}
	}
	if len(of) == 0 || len(management) == 0 {
		t.Fatalf("%q and %q", of, management)
	}
	for _, line := range append(of, management...) {
		if !strings.HasPrefix(line, "kubectl --kubeconfig "+c.KubeconfigPath+" ") {
			t.Errorf("it does not name the file: %s", line)
		}
	}
}

// What the shell has by itself is not repeated.
func TestWhatTheShellHasIsNotNamed(t *testing.T) {
	t.Setenv("OS_CLOUD", "mos")
	for p, want := range map[*session.Place]core.ClusterPlace{
		{}:                                      {},
		{Kubeconfig: "f", Context: "c"}:         {Kubeconfig: "f", Context: "c"},
		{OSCloud: "mos"}:                        {},
		{OSCloud: "other"}:                      {Cloud: "other"},
		{OSCloud: "other", OSFromCluster: true}: {},
	} {
		if got := p.ForCommands(); got != want {
			t.Errorf("%+v: %+v, want %+v", p, got, want)
		}
	}
}
