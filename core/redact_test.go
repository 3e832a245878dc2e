package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRedactURLs(t *testing.T) {
	for text, want := range map[string]string{
		"log in at https://admin:hunter2@keystone:5000/v3": "log in at https://(hidden)@keystone:5000/v3",
		"https://ghp_token@github.example/x":               "https://(hidden)@github.example/x",
		`proxy "http://u:p%40ss@proxy:3128" is away`:       `proxy "http://(hidden)@proxy:3128" is away`,
		"mysql+pymysql://nova:hunter2@mariadb.openstack.svc:3306/nova?charset=utf8": "mysql+pymysql://(hidden)@mariadb.openstack.svc:3306/" +
			"nova?charset=utf8",
		"rabbit://a:hunter2@r-0:5672,b:hunter3@r-1:5672/nova":     "rabbit://(hidden)@r-1:5672/nova",
		"from https://a:b@c to https://d:e@f.":                    "from https://(hidden)@c to https://(hidden)@f.",
		"http://u:pa/ss@proxy:3128":                               "http://(hidden)@proxy:3128",
		"http://u:pa#ss?x@proxy:3128":                             "http://(hidden)@proxy:3128",
		`parse "http://u:pa ss@proxy": net/url: invalid userinfo`: `parse "http://(hidden)@proxy": net/url: invalid userinfo`,
		`parse "http://u:pa/ss@proxy:3128": invalid port ":pa" after host`: "" +
			`parse "http://(hidden)@proxy:3128": invalid port (hidden) after host`,
		`parse "http://u:p%zz@proxy": invalid URL escape "%zz"`:       `parse "http://(hidden)@proxy": invalid URL escape (hidden)`,
		"https://u:p@@[fd00::1]:6443/":                                "https://(hidden)@[fd00::1]:6443/",
		"https://swift/v1/a/b?temp_url_sig=abcdef&temp_url_expires=5": "https://swift/v1/a/b?temp_url_sig=(hidden)&temp_url_expires=5",
		"https://h/?X-Auth-Token=abc&marker=7#access_token=xyz":       "https://h/?X-Auth-Token=(hidden)&marker=7#access_token=(hidden)",
		`Get "https://user:***@host/servers?limit=5": EOF`:            `Get "https://(hidden)@host/servers?limit=5": EOF`,
		"https://keystone:5000/v3/users/ann@example.org and more@example.org": "https://keystone:5000/v3/users/ann@example.org and " +
			"more@example.org",
		"https://[fd00::1]:6443/healthz, see ops@example.org":        "https://[fd00::1]:6443/healthz, see ops@example.org",
		"cannot connect to qemu+ssh://nova@cmp-03/system: timed out": "cannot connect to qemu+ssh://nova@cmp-03/system: timed out",
		"docker-pullable://registry/nova@sha256:abcdef":              "docker-pullable://registry/nova@sha256:abcdef",
		"owner@shop.example wrote":                                   "owner@shop.example wrote",
		"://":                                                        "://",
		"":                                                           "",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
		if once := Redact(text); Redact(once) != once {
			t.Errorf("%q is not left alone the second time: %q", once, Redact(once))
		}
	}
}

// However a text writes a secret, the result is without it and keeps the other words.
func TestRedactKnownSecrets(t *testing.T) {
	for _, secret := range []string{"Tr0ub4dor&3", `a"b\c`, "p ss%+wörd", "<x>&y", "aaaa", "line\nline", "https://u:p@h"} {
		inJSON, _ := json.Marshal(map[string]string{"password": secret})
		for _, text := range []string{secret, strconv.Quote(secret), string(inJSON), url.QueryEscape(secret),
			"https://admin:" + url.PathEscape(secret) + "@keystone",
			url.UserPassword("admin", secret).String(), fmt.Sprintf("%q", []string{secret})} {
			got := Redact("Keystone said: "+text+".", "short", secret)
			if !strings.HasPrefix(got, "Keystone said: ") || !strings.HasSuffix(got, ".") || !strings.Contains(got, Hidden) ||
				strings.Contains(got, secret) {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	if got := Redact("no node is the node of a", "a", "no", "the"); got != "no node is the node of a" {
		t.Errorf("short words are no secrets: %q", got)
	}
	if got := Redact("the longer goes first: hunter2hunter2", "hunter2", "hunter2hunter2"); got != "the longer goes first: (hidden)" {
		t.Errorf("got %q", got)
	}
}

// Of any password, in a URL that net/url writes or that a person wrote in quotes, nothing is left.
func TestNoPasswordOfAURLIsLeft(t *testing.T) {
	character := rapid.RuneFrom([]rune("abcXYZ0189:/?#@&=+%[]();,.!$*' ~{}|^ö"))
	rapid.Check(t, func(t *rapid.T) {
		password := "xQ" + rapid.StringOfN(character, 2, 20, -1).Draw(t, "password") + "Qx"
		address := url.URL{Scheme: rapid.SampledFrom([]string{"http", "https", "socks5", "mysql"}).Draw(t, "scheme"),
			User: url.UserPassword("admin", password), Host: "host:80", Path: "/v3"}
		text := fmt.Sprintf("log in at %s: %v", address.String(), errors.New("no route"))
		got := Redact(text)
		if want := "log in at " + address.Scheme + "://(hidden)@host:80/v3: no route"; got != want {
			t.Fatalf("%q became %q", text, got)
		}
		raw := "https://admin:" + password + "@host:80/v3"
		_, err := url.Parse(raw)
		text = fmt.Sprintf("proxy-url %s: %v", raw, err)
		if got := Redact(text, URLSecrets(raw)...); strings.Contains(got, password) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestARedactedErrorSaysNothingElse(t *testing.T) {
	cause := fmt.Errorf("hunter2: %w", context.Canceled)
	err := RedactedError("log in at https://admin:hunter2@keystone: canceled", cause)
	if text := fmt.Sprintf("%v %+v %#v %s %q", err, err, err, err, err); strings.Contains(text, "hunter2") || !strings.Contains(text, Hidden) {
		t.Errorf("got %s", text)
	}
	if !errors.Is(err, context.Canceled) || errors.Unwrap(err) != nil {
		t.Error("the cause cannot be asked for, or can be taken out")
	}
}

func TestPublicURL(t *testing.T) {
	for address, want := range map[string]string{
		"https://10.0.0.1:6443":            "https://10.0.0.1:6443",
		"https://admin:hunter2@k8s:6443/x": "https://(hidden)@k8s:6443/x",
		"https://token@k8s:6443":           "https://(hidden)@k8s:6443",
		"https://admin:12/a?b@c@k8s:6443":  "https://(hidden)@k8s:6443",
		"https://k8s:6443?token=abc&x=1":   "https://k8s:6443?token=(hidden)&x=1",
		"admin:hunter2@k8s:6443":           "(hidden)@k8s:6443",
		"10.0.0.1":                         "10.0.0.1",
		"":                                 "",
	} {
		if got := PublicURL(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}

func TestTokensOfBeforeAreRememberedForAWhile(t *testing.T) {
	var s Secrets
	s.Give("password", "")
	for i := range 3 * keptTokens {
		s.Sent(fmt.Sprintf("token-%02d-", i))
		s.Sent(fmt.Sprintf("token-%02d-", i))
	}
	last := 3*keptTokens - 1
	text := fmt.Sprintf("the password, token-%02d- and token-%02d-", last, last-keptTokens+1)
	if got := s.Redact(text); got != "the (hidden), (hidden) and (hidden)" {
		t.Errorf("got %q", got)
	}
	if len(s.sent) != keptTokens {
		t.Errorf("%d are kept", len(s.sent))
	}
}
