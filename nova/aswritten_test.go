package nova

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

// plainScalars are words that YAML reads as numbers, truth values, dates or null when they are not quoted. As a password, or as the
// name of a user or of a project, each is what is written.
var plainScalars = []string{"1e5", "0123", "0x1F", "0o17", "0b101", "1_000", "1.10", "+5", "-0", "0.0", "1e400", "123456789012345678901234",
	".inf", ".NaN",
	"yes", "No", "on", "OFF", "y", "true", "False", "2026-01-16", "2026-01-16T15:25:37Z", "12:30:45", "190:20:30", "=", "<<", "1,000"}

// nothings are words that YAML reads as null.
var nothings = []string{"null", "Null", "NULL", "~"}

// The simulated Keystone compares letter by letter, so a login proves that each word arrived as it is written.
func TestUnquotedScalarsReachKeystoneAsWritten(t *testing.T) {
	bubble.Alone(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()})
		login := func(what string, o Options) {
			t.Helper()
			o.Transport, o.Jitter = cloud.network.Transport("lockstep"), halfway
			cfg, err := Load(o)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			c := Connect(cfg)
			defer c.Close()
			if _, err := c.listServers(context.Background(), serverQuery{}); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		home, _ := bareEnvironment(t)
		for _, word := range plainScalars {
			if _, err := cloud.AddProject(word); err != nil {
				t.Fatal(err)
			}
			if _, err := cloud.AddUser(openstack.UserSpec{Name: word, Password: word, Project: word, Roles: []string{"admin"}}); err != nil {
				t.Fatal(err)
			}
			file := fmt.Sprintf("clouds:\n  mos:\n    region_name: RegionOne\n    auth:\n      auth_url: %s\n      username: %s\n      password: "+
				"%s\n      project_name: %s\n",
				cloud.AuthURL(), word, word, word)
			login(word, Options{CloudsYAML: []byte(file)})

			write(t, home+"/.config/openstack/clouds.yaml", strings.Replace(file, "      password: "+word+"\n", "", 1))
			write(t, home+"/.config/openstack/secure.yaml", "clouds:\n  mos:\n    auth:\n      password: "+word+"\n")
			login(word+" in secure.yaml", Options{Cloud: "mos"})
		}
		for i, word := range append(nothings, plainScalars...) {
			name := fmt.Sprintf("user-%d", i)
			if _, err := cloud.AddUser(openstack.UserSpec{Name: name, Password: word, Project: "admin", Roles: []string{"admin"}}); err != nil {
				t.Fatal(err)
			}
			file := fmt.Sprintf("clouds:\n  mos:\n    auth:\n"+
				"      auth_url: %s\n      username: %s\n      project_name: admin\n      password: %s\n", cloud.AuthURL(), name, word)
			login("the password "+word, Options{CloudsYAML: []byte(file)})
			for variable, value := range map[string]string{"OS_AUTH_URL": cloud.AuthURL(), "OS_USERNAME": name, "OS_PASSWORD": word,
				"OS_PROJECT_NAME": "admin"} {
				t.Setenv(variable, value)
			}
			login("the environment's password "+word, Options{})
		}
	})
}

// A field that says null because it has no value stays empty. It is a password only when a user has no other way to log in.
func TestNothingIsAPasswordOnlyWhereAUserHasNoOther(t *testing.T) {
	tests := []struct{ name, auth, secure, password, secret string }{
		{"a user", "username: u, password: null", "", "null", ""},
		{"a user by its ID", "user_id: u, password: ~", "", "~", ""},
		{"in secure.yaml", "username: u", "password: NULL", "NULL", ""},
		{"the password is in secure.yaml", "username: u, password: null", "password: real", "real", ""},
		{"secure.yaml has none", "username: u, password: real", "password: null", "real", ""},
		{"an alias", "username: &x null, user_id: u, password: *x", "", "null", ""},
		{"no value at all", "username: u, password: ", "", "", ""},
		{"quoted and empty", "username: u, password: ''", "", "", ""},
		{"no user", "token: abc, password: null", "", "", ""},
		{"a token", "username: u, token: abc, password: null", "", "", ""},
		{"an application credential", "application_credential_id: a, application_credential_secret: abc, password: null", "", "", "abc"},
		{"an application credential with such a secret", "application_credential_id: a, application_credential_secret: null, password: null", "",
			"", "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, _ := bareEnvironment(t)
			write(t, home+"/.config/openstack/clouds.yaml", "clouds: {mos: {auth: {auth_url: 'https://k', project_name: null, "+tt.auth+"}}}")
			if tt.secure != "" {
				write(t, home+"/.config/openstack/secure.yaml", "clouds: {mos: {auth: {"+tt.secure+"}}}")
			}
			c, err := Load(Options{Cloud: "mos"})
			if err != nil {
				t.Fatal(err)
			}
			if c.auth.Password != tt.password || c.auth.ApplicationCredentialSecret != tt.secret {
				t.Errorf("password %q, secret %q", c.auth.Password, c.auth.ApplicationCredentialSecret)
			}
			if c.auth.Scope != nil {
				t.Errorf("a project that is none became %+v", c.auth.Scope)
			}
		})
	}
}

// Whatever shells and quotes in YAML can express reaches Keystone unchanged.
func TestPasswordsOfAnyCharactersAreKept(t *testing.T) {
	bareEnvironment(t)
	printable := rapid.StringOf(rapid.OneOf(rapid.RuneFrom([]rune("0123456789.-+_eExo~:#'\"\\{}[],&*!|>%@` \t\n\r\u0085\u2028\ufeff\x7f")),
		rapid.Rune()))
	rapid.Check(t, func(r *rapid.T) {
		word := strings.ReplaceAll(printable.Draw(r, "password"), "\x00", "")
		for variable, value := range map[string]string{"OS_AUTH_URL": "https://k", "OS_USERNAME": "u", "OS_PASSWORD": word} {
			t.Setenv(variable, value)
		}
		c, err := Load(Options{})
		if err != nil {
			r.Fatal(err)
		}
		if c.auth.Password != word {
			r.Fatalf("%q became %q", word, c.auth.Password)
		}
		c, err = Load(Options{CloudsYAML: fmt.Appendf(nil, "clouds: {mos: {auth: {auth_url: 'https://k', username: u, password: !!binary %s}}}",
			base64.StdEncoding.EncodeToString([]byte(word)))})
		if err != nil || c.auth.Password != word {
			r.Fatalf("%q became %v, %v", word, c, err)
		}
	})
}
