package cli

import (
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/adrg/xdg"

	"lockstep/kube"
	"lockstep/sim"
)

// TestMain removes the machine's own settings for clusters, clouds and Lockstep: a test gets only its own. Parallel tests can set
// neither the environment nor client-go's log, which belong to the whole process.
func TestMain(m *testing.M) {
	flag.Parse()
	time.Local = time.UTC // the machine may be in any time zone
	if os.Getenv(zoneFile) != "" {
		time.Local = inAnotherZone
	}
	if err := drawTheUsual(); err != nil {
		panic(err)
	}
	home, err := os.MkdirTemp("", "lockstep-test-")
	if err != nil {
		panic(err)
	}
	for _, name := range ownEnvironment {
		os.Unsetenv(name)
	}
	for name, folder := range map[string]string{"HOME": "", "XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".state"} {
		os.Setenv(name, filepath.Join(home, folder))
	}
	xdg.Reload()
	kube.RedirectLogs(slog.New(slog.DiscardHandler))
	debug.SetGCPercent(800) // simulated clouds make much garbage and keep little
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// ownEnvironment are the variables by which the machine's own environment chooses the cluster and the cloud, and configures
// Lockstep.
var ownEnvironment = []string{"KUBECONFIG", "OS_CLOUD", "OS_CLIENT_CONFIG_FILE", "OS_AUTH_URL", "KUBERNETES_SERVICE_HOST",
	"LOCKSTEP_CONFIG", "LOCKSTEP_THEME"}

// ownLog returns a log of its own for a session that runs in parallel to others.
func ownLog(t *testing.T) *log {
	t.Helper()
	l, err := openLogFile(filepath.Join(t.TempDir(), "lockstep.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

// ownOptions returns the options of a session with a simulated cloud.
func ownOptions(t *testing.T, cloud *sim.Cloud, actAs ...string) options {
	t.Helper()
	o := options{kubeconfig: cloud.KubeconfigPath, osCloud: cloud.CloudName, actAs: actAs}
	if err := o.configure(); err != nil {
		t.Fatal(err)
	}
	return o
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
