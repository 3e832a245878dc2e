package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui"
)

// withConfig makes text the configuration file in the default place.
func withConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOCKSTEP_CONFIG", path)
	return path
}

// The explained file contains the defaults: the engine's, the screen's and the flags'.
func TestConfigDefaultsAreTheProgramsOwn(t *testing.T) {
	withConfig(t, "")
	c, err := loadConfig("")
	if err != nil {
		t.Fatal(err)
	}
	got, want := c.settings(), core.DefaultSettings()
	if got.StaleAfter != want.StaleAfter || got.Overdue != want.Overdue || got.MigrateAtOnce != want.MigrateAtOnce ||
		got.AcrossZones != want.AcrossZones {
		t.Errorf("settings %+v, want %+v", got, want)
	}
	for role, n := range want.MaxParallelNodes {
		if got.MaxParallelNodes[role] != n {
			t.Errorf("%d %s at a time, want %d", got.MaxParallelNodes[role], role, n)
		}
	}
	if c.Theme != themes.Auto || c.Clipboard != tui.ClipboardAuto || c.SyncOutput != tui.SyncAuto || c.LeaseNamespace != "default" ||
		len(c.Keys) > 0 {
		t.Errorf("%+v", c)
	}
}

func TestConfigIsTakenOver(t *testing.T) {
	path := withConfig(t, `
theme: mine.yaml
ascii: true
keys: {help: [f12]}
leaseNamespace: lcm
staleAfter: 30s
parallel: {compute: 5, controller: 2}
respectNovaAZ: false
nodeLabels: {gateway: "network-node=yes"}
events: true
alertmanager: {namespace: lma, service: alerts}
`)
	o := options{}
	if err := o.configure(); err != nil {
		t.Fatal(err)
	}
	s := o.Settings
	if s.MaxParallelNodes[core.RoleController] != 2 || !s.AcrossZones || core.DefaultSettings().AcrossZones {
		t.Errorf("%d controllers at once, across zones %v", s.MaxParallelNodes[core.RoleController], s.AcrossZones)
	}
	if l := s.RoleLabels; l[core.RoleGateway].String() != "network-node=yes" ||
		l[core.RoleCompute] != core.DefaultRoleLabels()[core.RoleCompute] {
		t.Errorf("roles by %v", l)
	}
	if s.StaleAfter != 30*time.Second || s.MaxParallelNodes[core.RoleCompute] != 5 || s.MaxParallelNodes[core.RoleGateway] != 1 ||
		o.LeaseNamespace != "lcm" {
		t.Errorf("%+v, lease in %s", s, o.LeaseNamespace)
	}
	if o.Alertmanager != (core.AlertmanagerPlace{Namespace: "lma", Service: "alerts"}) || !o.Events || o.Version == "" {
		t.Errorf("Alertmanager is %+v, Events are made: %v, the version is %q", o.Alertmanager, o.Events, o.Version)
	}
	if _, err := lookOf(o); err == nil || !strings.Contains(err.Error(), filepath.Join(filepath.Dir(path), "mine.yaml")) {
		t.Errorf("a theme file lies beside the configuration: %v", err)
	}
	o.theme, o.LeaseNamespace = "light", ""
	look, err := lookOf(o)
	if err != nil {
		t.Fatal(err)
	}
	if !look.ASCII || look.AutoTheme {
		t.Errorf("ascii %v, theme by the terminal %v", look.ASCII, look.AutoTheme)
	}
	i := slices.IndexFunc(look.Actions, func(a tui.Action) bool { return a.ID == "help" })
	if !slices.Equal(look.Actions[i].Keys, []string{"f12"}) {
		t.Errorf("help has the keys %q", look.Actions[i].Keys)
	}
}

func TestFlagsGoBeforeTheConfig(t *testing.T) {
	withConfig(t, "leaseNamespace: lcm\ntheme: light\n")
	o := options{Place: session.Place{LeaseNamespace: "mine"}, theme: "mono"}
	if err := o.configure(); err != nil {
		t.Fatal(err)
	}
	look, err := lookOf(o)
	if err != nil {
		t.Fatal(err)
	}
	mono, err := themes.Load("mono")
	if err != nil {
		t.Fatal(err)
	}
	if o.LeaseNamespace != "mine" || look.Theme.Looks[themes.Bad] != mono.Looks[themes.Bad] {
		t.Errorf("lease in %s, the theme %+v", o.LeaseNamespace, look.Theme.Looks[themes.Bad])
	}
}

func TestBadConfigIsToldWithItsLine(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"unknown field": {"theme: dark\ncolour: red\n", "line 2: field colour is not a field of the configuration"},
		"another type":  {"\n\novercast: 1\noverdue: [1]\n", "line 4: cannot unmarshal !!seq into float64"},
		"no YAML":       {"theme: [dark\n", "line 1"},
		"too short":     {"# mine\nstaleAfter: 1s\n", "line 2: staleAfter: want 10s to 10m"},
		"no duration":   {"staleAfter: soon\n", "line 1: cannot unmarshal !!str `soon` into time.Duration"},
		"no role": {"theme: dark\nnodeLabels: {storage: a=b}\n",
			"line 2: nodeLabels: storage: want one of controller, compute and gateway"},
		"no label": {"nodeLabels: {gateway: network node}\n",
			"line 1: nodeLabels: gateway: \"network node\" is not a label: want KEY=VALUE"},
		"too many":                {"parallel:\n  compute: 0\n", "line 2: parallel.compute: want 1 or more"},
		"no controller":           {"parallel: {controller: 0}\n", "line 1: parallel.controller: want 1 or more"},
		"an action that is none":  {"overdue: 3\nkeys:\n  fly: [f]\n", `line 3: keys: there is no action "fly"`},
		"a key of the terminal's": {"keys: {help: [ctrl+z]}\n", "line 1: keys: help: ctrl+z is reserved: terminals use it themselves"},
		"a word that is none":     {"clipboard: sometimes\n", "line 1: clipboard: want auto or off"},
		"another kind of file":    {"apiVersion: v1\nkind: Config\n", "line 1: field apiVersion is not a field of the configuration"},
		"a field of a section":    {"management: {x: 1}\n", "line 1: field x is not a field of the configuration"},
		"a field of another one":  {"alertmanager: {x: 1}\n", "line 1: field x is not a field of the configuration"},
		"bytes":                   {"\x00\x01\x02", "control characters are not allowed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := withConfig(t, test.text)
			for _, command := range []string{"status", "config"} {
				code, out, errs := run(t, command)
				if code != exitError || out != "" || !strings.Contains(errs, test.want) || !strings.Contains(errs, path) {
					t.Errorf("%s: exit code %d, %q, errors:\n%s\nwant %q", command, code, out, errs, test.want)
				}
			}
		})
	}
}

func TestConfigPrintsWhatItReads(t *testing.T) {
	withConfig(t, "")
	code, out, errs := run(t, "config")
	if code != exitFine || !strings.Contains(errs, "is valid") {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	withConfig(t, "theme: nosuch\n")
	if code, _, errs := run(t, "config"); code != exitError || !strings.Contains(errs, "there is no such theme") {
		t.Errorf("a theme that is not there: exit code %d: %s", code, errs)
	}
	path := withConfig(t, out)
	if _, err := loadConfig(""); err != nil {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run(t, "config"); code != exitError || !strings.Contains(errs, path) {
		t.Errorf("a configuration that was named has to be there: exit code %d: %s", code, errs)
	}
	t.Setenv("LOCKSTEP_CONFIG", "")
	if code, out, errs := run(t, "config"); code != exitFine || out == "" || !strings.Contains(errs, "there is no ") {
		t.Errorf("without a file: exit code %d: %s", code, errs)
	}
}

// The operator's name is the flag's, else the configuration's; one that could pass for something else is refused.
func TestTheOperatorsName(t *testing.T) {
	withConfig(t, "operator: Anna\n")
	t.Setenv("SSH_CONNECTION", "10.0.0.7 50022 10.0.0.1 22")
	for flag, want := range map[string]string{"": "Anna (", "Bert": "Bert ("} {
		o := options{Place: session.Place{Operator: flag}}
		if err := o.configure(); err != nil {
			t.Fatal(err)
		}
		if got := session.WhoRuns(o.Operator).String(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " from 10.0.0.7)") {
			t.Errorf("--as-operator %q: %s", flag, got)
		}
	}
	o := options{Place: session.Place{Operator: "a/b"}}
	if err := o.configure(); err == nil || !strings.Contains(err.Error(), "--as-operator: want a name") {
		t.Errorf("%v", err)
	}
	withConfig(t, "operator: a (root@b)\n")
	if _, err := loadConfig(""); err == nil || !strings.Contains(err.Error(), "line 1: operator: want a name") {
		t.Errorf("%v", err)
	}
}

// The kubeconfig of the management cluster is beside the configuration, as its other files, unless its path is absolute. A flag's is where
// Lockstep was started.
func TestTheManagementKubeconfigIsBesideTheConfiguration(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "config.yaml")
	for said, want := range map[string]string{"management.yaml": filepath.Join(folder, "management.yaml"),
		"/etc/management.yaml": "/etc/management.yaml", `""`: ""} {
		if err := os.WriteFile(file, []byte("management: {context: m, kubeconfig: "+said+"}"), 0o600); err != nil {
			t.Fatal(err)
		}
		o := options{configFile: file}
		if err := o.configure(); err != nil || o.Management.Kubeconfig != want {
			t.Errorf("%s is %q, %v; want %q", said, o.Management.Kubeconfig, err, want)
		}
		o = options{configFile: file, Place: session.Place{Management: session.Management{Kubeconfig: "here.yaml"}}}
		if err := o.configure(); err != nil || o.Management.Kubeconfig != "here.yaml" {
			t.Errorf("the flag's is %q, %v", o.Management.Kubeconfig, err)
		}
	}
}
