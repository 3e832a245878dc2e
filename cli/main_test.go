package cli

import (
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"lockstep/kube"
	"lockstep/sim"
)

func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		if err := flag.Set("test.parallel", sideBySide); err != nil {
			panic(err)
		}
	}
	// What runs side by side can set neither the environment nor client-go's log, which are the whole process's.
	for _, name := range ownEnvironment {
		os.Unsetenv(name)
	}
	kube.RedirectLogs(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// ownLog is Lockstep's own log for a session that runs beside others.
func ownLog(t *testing.T) *log {
	t.Helper()
	l, err := openLogFile(filepath.Join(t.TempDir(), "lockstep.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

// ownOptions are those of a session with a simulated cloud: nothing in them comes from the machine's own configuration.
func ownOptions(t *testing.T, cloud *sim.Cloud, actAs ...string) options {
	t.Helper()
	o := options{kubeconfig: cloud.KubeconfigPath, osCloud: cloud.CloudName, leaseNamespace: "default", actAs: actAs,
		configFile: filepath.Join(t.TempDir(), "config.yaml")}
	if err := os.WriteFile(o.configFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := o.configure(); err != nil {
		t.Fatal(err)
	}
	return o
}

// ownClouds is the content of a simulated cloud's clouds.yaml.
func ownClouds(t *testing.T, cloud *sim.Cloud) []byte {
	t.Helper()
	yaml, err := os.ReadFile(cloud.CloudsYAMLPath)
	if err != nil {
		t.Fatal(err)
	}
	return yaml
}
