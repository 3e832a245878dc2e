package cli

import (
	"strings"
	"testing"

	"lockstep/sim"
)

// A wrong password is reported once, and sources that nobody has asked for are not listed.
func statusTellsACauseOnce(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.CloudsYAML = []byte(strings.ReplaceAll(string(p.CloudsYAML), "password: ", "password: x"))
	code, out, errs := runIn(t, p, "status", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)
	if code != exitAttention {
		t.Fatalf("exit %d: %s", code, errs)
	}
	const words = "The request you have made requires authentication"
	if strings.Count(out, words) != 1 || strings.Count(out, "login refused") > 2 ||
		!strings.Contains(out, "login refused: nothing of it is seen: "+words) {
		t.Errorf("the cause is not told once:\n%s", out)
	}
	if strings.Count(out, "management") != 2 || strings.Contains(out, "lcmmachines") ||
		!strings.Contains(out, "not connected (--management-context)") {
		t.Errorf("the management cluster is not told of once:\n%s", out)
	}
	for _, line := range strings.Split(out, "\n") {
		if strings.HasPrefix(line, "cmp-03 ") && !strings.Contains(line, "?") {
			t.Errorf("the number of instances is not known: %q", line)
		}
	}
	// The document still has every source, with its error.
	_, out, _ = runIn(t, p, "status", "-o", "json", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)
	if strings.Count(out, `"error": "log in to sim at `) != 7 {
		t.Errorf("the document lacks errors: %s", out)
	}
}
