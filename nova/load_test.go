package nova

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/core"
)

// bareEnvironment is a machine on which no cloud is configured.
func bareEnvironment(t *testing.T) (home, cwd string) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OS_") {
			t.Setenv(name, "") // so that it is restored
			os.Unsetenv(name)
		}
	}
	home, cwd = t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Chdir(cwd)
	return home, cwd
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const twoClouds = `
clouds:
  mos:
    auth:
      auth_url: https://keystone.it.just.works/v3
      username: admin
      password: Tr0ub4dor&3-never-print-me
      project_name: admin
      user_domain_name: Default
      project_domain_name: Service
    region_name: RegionOne
    interface: internal
    verify: false
  lab:
    auth_type: v3applicationcredential
    auth:
      auth_url: https://lab/v3
      application_credential_id: abc
      application_credential_secret: Tr0ub4dor&3-never-print-me
`

func TestLoadFollowsOpenStacksRules(t *testing.T) {
	one := "clouds: {only: {auth: {auth_url: 'https://one', username: u, password: 123456}}}"
	tests := []struct {
		name    string
		prepare func(t *testing.T, home, cwd string)
		options Options
		want    string // Cloud and AuthURL
	}{
		{"the user's folder", func(t *testing.T, home, _ string) {
			write(t, home+"/.config/openstack/clouds.yaml", twoClouds)
			t.Setenv("OS_CLOUD", "mos")
		}, Options{}, "mos https://keystone.it.just.works/v3"},
		{"the option is stronger than OS_CLOUD", func(t *testing.T, home, _ string) {
			write(t, home+"/.config/openstack/clouds.yaml", twoClouds)
			t.Setenv("OS_CLOUD", "mos")
		}, Options{Cloud: "lab"}, "lab https://lab/v3"},
		{"the working directory comes first", func(t *testing.T, home, cwd string) {
			write(t, home+"/.config/openstack/clouds.yaml", twoClouds)
			write(t, cwd+"/clouds.yaml", one)
		}, Options{Cloud: "only"}, "only https://one"},
		{"XDG_CONFIG_HOME", func(t *testing.T, _, _ string) {
			xdg := t.TempDir()
			t.Setenv("XDG_CONFIG_HOME", xdg)
			write(t, xdg+"/openstack/clouds.yaml", one)
		}, Options{Cloud: "only"}, "only https://one"},
		{"OS_CLIENT_CONFIG_FILE is the only place", func(t *testing.T, _, cwd string) {
			write(t, cwd+"/clouds.yaml", twoClouds)
			t.Setenv("OS_CLIENT_CONFIG_FILE", write(t, t.TempDir()+"/my.yaml", one))
		}, Options{}, "only https://one"},
		{"the only cloud needs no name", func(t *testing.T, home, _ string) {
			write(t, home+"/.config/openstack/clouds.yaml", one)
		}, Options{}, "only https://one"},
		{"secure.yaml has the password", func(t *testing.T, home, _ string) {
			write(t, home+"/.config/openstack/clouds.yaml", "clouds: {mos: {auth: {auth_url: 'https://k', username: u}}}")
			write(t, home+"/.config/openstack/secure.yaml", "clouds: {mos: {auth: {password: "+testPassword+"}}}")
		}, Options{Cloud: "mos"}, "mos https://k"},
		{"the environment of an openrc file", func(t *testing.T, home, _ string) {
			write(t, home+"/.config/openstack/clouds.yaml", twoClouds)
			t.Setenv("OS_AUTH_URL", "https://rc/v3")
			t.Setenv("OS_USERNAME", "u")
			t.Setenv("OS_PASSWORD", testPassword)
			t.Setenv("OS_PROJECT_NAME", "p")
		}, Options{}, "envvars https://rc/v3"},
		{"a named cloud is stronger than the environment", func(t *testing.T, home, _ string) {
			write(t, home+"/.config/openstack/clouds.yaml", twoClouds)
			t.Setenv("OS_AUTH_URL", "https://rc/v3")
		}, Options{Cloud: "mos"}, "mos https://keystone.it.just.works/v3"},
		{"the secret's cloud admin, whatever OS_CLOUD says", func(t *testing.T, home, _ string) {
			write(t, home+"/.config/openstack/clouds.yaml", twoClouds)
			t.Setenv("OS_CLOUD", "mos")
			t.Setenv("OS_REGION_NAME", "elsewhere")
		}, Options{CloudsYAML: []byte(
			"clouds: {other: {}, admin: {region_name: R, auth: {auth_url: 'https://public', username: a, password: b}}}")}, "admin https://public"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, cwd := bareEnvironment(t)
			tt.prepare(t, home, cwd)
			c, err := Load(tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Cloud() + " " + c.AuthURL(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if !c.auth.AllowReauth {
				t.Error("the session would end with its first token")
			}
			if c.auth.Password == "" && c.auth.ApplicationCredentialSecret == "" {
				t.Error("no secret was read")
			}
			if c.endpoint.Region == "elsewhere" {
				t.Error("the environment's region was taken for another cloud")
			}
		})
	}
}

func TestLoadUnderstandsDomains(t *testing.T) {
	home, _ := bareEnvironment(t)
	write(t, home+"/.config/openstack/clouds.yaml", twoClouds+`
  plain:
    auth: {auth_url: https://k, username: u, password: p, project_name: x}
`)
	c, err := Load(Options{Cloud: "mos"})
	if err != nil {
		t.Fatal(err)
	}
	if c.auth.DomainName != "Default" || c.auth.Scope.DomainName != "Service" || c.endpoint.Availability != "internal" ||
		!c.tls.InsecureSkipVerify {
		t.Errorf("domains %q, %q, interface %q", c.auth.DomainName, c.auth.Scope.DomainName, c.endpoint.Availability)
	}
	c, err = Load(Options{Cloud: "plain"})
	if err != nil {
		t.Fatal(err)
	}
	if c.auth.DomainID != "default" || c.auth.Scope.DomainID != "default" {
		t.Errorf("domains %q, %q, want the openstack client's default", c.auth.DomainID, c.auth.Scope.DomainID)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(t *testing.T, home string)
		options Options
		state   core.SourceState
		message string
		remedy  string
	}{
		{"nothing at all", func(*testing.T, string) {}, Options{}, core.SourceOff, "no clouds.yaml", "--os-cloud or OS_CLOUD"},
		{"nothing at all: the cluster's secret", func(*testing.T, string) {}, Options{}, core.SourceOff, "no clouds.yaml", "--os-from-cluster"},
		{"a name and no file", func(*testing.T, string) {}, Options{Cloud: "mos"}, core.SourceFailed, "/.config/openstack/clouds.yaml",
			"OS_CLIENT_CONFIG_FILE"},
		{"a file that is not there", func(t *testing.T, _ string) { t.Setenv("OS_CLIENT_CONFIG_FILE", "/nowhere.yaml") }, Options{},
			core.SourceFailed, "/nowhere.yaml", "OS_CLIENT_CONFIG_FILE"},
		{"no name and two clouds", func(t *testing.T, home string) { write(t, home+"/.config/openstack/clouds.yaml", twoClouds) }, Options{},
			core.SourceOff, "lab, mos", "OS_CLOUD"},
		{"an unknown name", func(t *testing.T, home string) { write(t, home+"/.config/openstack/clouds.yaml", twoClouds) }, Options{Cloud: "mso"},
			core.SourceFailed, `no cloud "mso"; it has lab, mos`, "--os-cloud"},
		{"not YAML", func(t *testing.T, home string) {
			write(t, home+"/.config/openstack/clouds.yaml", "clouds:\n  mos:\n   auth: {password: "+testPassword+"\n  x")
		}, Options{Cloud: "mos"}, core.SourceFailed, "not a valid clouds.yaml", "correct"},
		{"no auth_url", func(t *testing.T, home string) {
			write(t, home+"/.config/openstack/clouds.yaml", "clouds: {mos: {region_name: x}}")
		}, Options{Cloud: "mos"}, core.SourceFailed, "no auth_url", "auth_url"},
		{"a certificate that is not there", func(t *testing.T, home string) {
			write(t, home+"/.config/openstack/clouds.yaml",
				"clouds: {mos: {cacert: /nowhere.pem, auth: {auth_url: 'https://k', password: "+testPassword+"}}}")
		}, Options{Cloud: "mos"}, core.SourceFailed, "/nowhere.pem", "correct"},
		{"an empty file", func(t *testing.T, home string) { write(t, home+"/.config/openstack/clouds.yaml", "") }, Options{Cloud: "mos"},
			core.SourceFailed, "(none)", "--os-cloud"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, _ := bareEnvironment(t)
			tt.prepare(t, home)
			_, err := Load(tt.options)
			if err == nil {
				t.Fatal("no error")
			}
			e := apiError(t, err)
			if e.Kind != core.ErrConfiguration || !strings.Contains(e.Message, tt.message) || !strings.Contains(e.Remedy, tt.remedy) {
				t.Errorf("got %s, remedy %q; want %q, remedy %q", e, e.Remedy, tt.message, tt.remedy)
			}
			if strings.Contains(fmt.Sprintf("%+v", *e), testPassword) {
				t.Errorf("a password is printed: %+v", *e)
			}
			var sources []core.SourceID
			Unavailable(err, func(d core.Delta) {
				sources = append(sources, d.Source)
				if d.State != tt.state || d.Err != e {
					t.Errorf("%s: state %q, want %q", d.Source, d.State, tt.state)
				}
			})
			if len(sources) != 7 {
				t.Errorf("only %v heard of it", sources)
			}
			if errors.Is(err, ErrNotConfigured) != (tt.state == core.SourceOff) {
				t.Error("ErrNotConfigured and the state do not agree")
			}
		})
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	home, _ := bareEnvironment(t)
	write(t, home+"/.config/openstack/clouds.yaml", twoClouds)
	for _, cloud := range []string{"mos", "lab"} {
		cfg, err := Load(Options{Cloud: cloud})
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "config", cfg, "client", Connect(cfg), "value", *cfg)
		slog.New(slog.NewTextHandler(&log, nil)).Info("x", "config", cfg, "client", Connect(cfg), "value", *cfg)
		text := log.String()
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			text += fmt.Sprintf(format+format+format, cfg, *cfg, Connect(cfg))
		}
		if strings.Contains(text, testPassword) {
			t.Errorf("a secret is printed: %s", text)
		}
	}
}
