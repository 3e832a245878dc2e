package cli

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"lockstep/kube"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// A rehearsal in which the cloud's clock runs faster is told by that clock, in a process of its own too: only the kubeconfig knows of it.
func commandFollowsTheCloudsClock(t *testing.T, c *sim.Cloud) {
	t.Helper()
	until(t, "it is almost an hour later there", func() bool { return time.Until(c.Clock.Now()) > 58*time.Minute })
	p := placeOn(t, c)
	p.clock = nil
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
	p.name = ""
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
	p.journal, p.kubeconfig = "", c.KubeconfigPath
	if folder := p.keptHere(); folder == stateFolder() || filepath.Dir(folder) != stateFolder() {
		t.Errorf("its journal is in %s", folder)
	}
	p.kubeconfig = unmarked(t, c.KubeconfigPath)
	if folder := p.keptHere(); folder != stateFolder() {
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

// Between two looks the clock goes on at the rate of the last one, also while the server is silent, and it never goes back when a look
// shows that it went too fast.
func TestASimulatedClockGoesOnAndNeverBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		there := time.Date(2026, 1, 16, 12, 0, 0, 0, time.UTC)
		var server struct {
			sync.Mutex
			says kube.ClockReading
			err  error
		}
		answers := func(says kube.ClockReading, err error) {
			server.Lock()
			defer server.Unlock()
			server.says, server.err = says, err
		}
		c := &simulatedClock{read: func(context.Context) (kube.ClockReading, error) {
			server.Lock()
			defer server.Unlock()
			return server.says, server.err
		}}
		answers(kube.ClockReading{Now: there, Rate: 60, Speed: 60}, nil)
		if err := c.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := c.Now(); !got.Equal(there.Add(time.Minute)) {
			t.Errorf("a second later it is %s", got)
		}
		answers(kube.ClockReading{}, errors.New("connection refused"))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); c.run(ctx) }()
		time.Sleep(4*time.Second + clockEvery/2) // between two looks
		silent := there.Add(5*time.Minute + 15*time.Second)
		if got := c.Now(); !got.Equal(silent) {
			t.Errorf("while the server is silent it is %s", got)
		}
		answers(kube.ClockReading{Now: there.Add(4 * time.Minute), Rate: 0, Speed: 0}, nil)
		time.Sleep(time.Second)
		if got := c.Now(); !got.Equal(silent) {
			t.Errorf("after a look that is behind, it is %s", got)
		}
		answers(kube.ClockReading{Now: there.Add(6 * time.Minute), Rate: 60, Speed: 60}, nil)
		time.Sleep(time.Second)
		if got := c.Now(); !got.Equal(there.Add(6*time.Minute + 15*time.Second)) { // the last look was a quarter of a second ago
			t.Errorf("after a look that is ahead, it is %s", got)
		}
		stop()
		<-done
	})
}
