package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/adrg/xdg"
	"k8s.io/client-go/tools/clientcmd"

	"lockstep/kube"
	"lockstep/sim"
)

// A rehearsal in which the cloud's clock runs faster is told by that clock, in a process of its own too: only the kubeconfig knows of it.
func commandFollowsTheCloudsClock(t *testing.T, c *sim.Cloud) {
	t.Helper()
	until(t, "it is almost an hour later there", func() bool { return time.Until(c.Clock.Now()) > 58*time.Minute })
	p := placeOn(t, c)
	p.Clock = nil
	code, out, errs := runIn(t, p, "status", "-o", "json", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)
	var s Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(code, err, errs)
	}
	if off := c.Clock.Now().Sub(s.AsOf); off.Abs() > 10*time.Minute { // ten seconds here
		t.Errorf("it is %s there, and the status is of %s", c.Clock.Now(), s.AsOf)
	}
}

// A rehearsal of one's own cluster has the cluster's name. So what it is stands beside the name wherever that is, and what was done
// in it is kept apart.
func rehearsalIsMarked(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.Name = ""
	code, out, errs := runIn(t, p, "status", "-o", "json", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)
	var s Status
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(code, err, errs)
	}
	if !s.Simulated {
		t.Errorf("the status of %s does not say so", s.Cluster)
	}
	if _, out, _ := runIn(t, p, "status", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName); !strings.HasPrefix(out,
		s.Cluster+" (simulated)") {
		t.Errorf("its table does not say so:\n%s", out)
	}
	p.Journal, p.Kubeconfig = "", c.KubeconfigPath
	state := filepath.Join(xdg.StateHome, "lockstep")
	if folder := p.StateFolder(); folder == state || filepath.Dir(folder) != state {
		t.Errorf("its journal is in %s", folder)
	}
	p.Kubeconfig = unmarked(t, c.KubeconfigPath)
	if folder := p.StateFolder(); folder != state {
		t.Errorf("the journal of a real cluster is in %s", folder)
	}
}

// unmarked is a kubeconfig of simulated clusters without what says that they are, as of real ones.
func unmarked(t *testing.T, path string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		cluster.Extensions = nil
	}
	path = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// At the machine's own speed nothing is asked for a clock.
func cloudHasNoClockOfItsOwn(t *testing.T, c *sim.Cloud) {
	t.Helper()
	client, err := kube.Load(kube.Options{Kubeconfig: c.KubeconfigPath, Transport: c.Transport("lockstep")})
	if err != nil {
		t.Fatal(err)
	}
	if client.OwnClock {
		t.Error("its kubeconfig tells of a clock")
	}
}
