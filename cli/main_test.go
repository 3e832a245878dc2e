package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockstep/cli/session"
	"lockstep/cli/sessiontest"
	"lockstep/sim"
)

// TestMain takes from the tests what the machine has of its own.
func TestMain(m *testing.M) {
	remove := sessiontest.Isolate()
	if os.Getenv(zoneFile) != "" {
		time.Local = inAnotherZone
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// ownLog returns a log of its own for a session that runs in parallel to others.
func ownLog(t *testing.T) *session.Log {
	t.Helper()
	l, err := session.NewLog(filepath.Join(t.TempDir(), "lockstep.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// configured completes the options of a session with a simulated cloud.
func configured(t *testing.T, o *options, cloud *sim.Cloud, actAs ...string) {
	t.Helper()
	o.Kubeconfig, o.OSCloud, o.actAs = cloud.KubeconfigPath, cloud.CloudName, actAs
	if err := o.configure(); err != nil {
		t.Fatal(err)
	}
}

// ownClouds returns the content of a simulated cloud's clouds.yaml.
func ownClouds(t *testing.T, cloud *sim.Cloud) []byte {
	t.Helper()
	yaml, err := os.ReadFile(cloud.CloudsYAMLPath)
	if err != nil {
		t.Fatal(err)
	}
	return yaml
}
