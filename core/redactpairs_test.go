package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The value beside the name of a secret is hidden in each form in which one is written; what only looks like it stays.
func TestRedactPairs(t *testing.T) {
	for text, want := range map[string]string{
		"--password=hunter2 --region=one":              "--password=(hidden) --region=one",
		"mysql --password hunter2 --host db":           "mysql --password (hidden) --host db",
		"mysqladmin --password --host db":              "mysqladmin --password --host db",
		"OS_PASSWORD=hunter2 OS_REGION_NAME=one":       "OS_PASSWORD=(hidden) OS_REGION_NAME=one",
		"export DB_PASS='hunter 2'; start":             "export DB_PASS='(hidden)'; start",
		`{"password": "hunter2", "user": "nova"}`:      `{"password": "(hidden)", "user": "nova"}`,
		`{"auth":{"token":"gAAAAB","id":7}}`:           `{"auth":{"token":"(hidden)","id":7}}`,
		`{"pin_password": 1234, "a": 1}`:               `{"pin_password": "(hidden)", "a": 1}`,
		`{"passwords": ["a", "b"], "c": ["d"]}`:        `{"passwords": ["(hidden)"], "c": ["d"]}`,
		`{\"pin_password\": 1234, \"a\": 1}`:           `{\"pin_password\": \"(hidden)\", \"a\": 1}`,
		`{\"password\": \"hunter2\", \"a\": \"b\"}`:    `{\"password\": \"(hidden)\", \"a\": \"b\"}`,
		`{"password": "hun\"ter2", "a": "b"}`:          `{"password": "(hidden)", "a": "b"}`,
		"{'adminPass': 'x', u'password': u'hunter2'}":  "{'adminPass': 'x', u'password': u'(hidden)'}",
		"Authorization: Bearer eyJhbGci.e30.x":         "Authorization: Bearer (hidden)",
		`-H "Authorization: Basic YTpi" https://nova/`: `-H "Authorization: Basic (hidden)" https://nova/`,
		"-H 'X-Auth-Token: gAAAAABl' -X GET":           "-H 'X-Auth-Token: (hidden)' -X GET",
		"keystone_authtoken.password = hunter2":        "keystone_authtoken.password = (hidden)",
		"admin_password: hunter2":                      "admin_password: (hidden)",
		"rabbitmq_erlang_cookie: ABCDEF":               "rabbitmq_erlang_cookie: (hidden)",
		"form user=ann&password=hunter2&x=1":           "form user=ann&password=(hidden)&x=1",
		"a (password=hunter2, user=x)":                 "a (password=(hidden) user=x)", // a password may have a comma
		"Secret(password='hunter2')":                   "Secret(password='(hidden)')",
		"password\t=\thunter2":                         "password\t=\t(hidden)",

		// a terminal shows neither colours nor what is invisible
		"\x1b[36mpassword\x1b[0m=hunter2":                           "\x1b[36mpassword\x1b[0m=(hidden)",
		"\x1b[36mpassword\x1b[0m=\x1b[35mhunter2\x1b[0m next":       "\x1b[36mpassword\x1b[0m=\x1b[35m(hidden) next",
		"\x1b[36mpassword:\x1b[0m hunter2":                          "\x1b[36mpassword:\x1b[0m (hidden)",
		"\x1b[36mpass\x1b[0m=hunter2":                               "\x1b[36mpass\x1b[0m=(hidden)",
		"INFO\x1b[36mpass\x1b[0m=hunter2":                           "INFO\x1b[36mpass\x1b[0m=(hidden)",
		"\x1b[01;31m\x1b[Kpass\x1b[m\x1b[Kword=hunter2":             "\x1b[01;31m\x1b[Kpass\x1b[m\x1b[Kword=(hidden)", // as grep marks it
		"\x1b[38:5:1mtoken\x1b[0m = hunter2":                        "\x1b[38:5:1mtoken\x1b[0m = (hidden)",
		"\x1b[34m\"password\"\x1b[0m\x1b[1;39m:\x1b[32m\"hunter2\"": "\x1b[34m\"password\"\x1b[0m\x1b[1;39m:\x1b[32m\"(hidden)\"",
		"\x1b[1m--password\x1b[0m \x1b[32mhunter2":                  "\x1b[1m--password\x1b[0m \x1b[32m(hidden)",
		"password\u200b=hunter2 \u202etoken\u2066=x":                "password\u200b=(hidden) \u202etoken\u2066=(hidden)",
		"pass\u00adword\x00\a=hunter2":                              "pass\u00adword\x00\a=(hidden)",
		"HOST=db\x00DB_PASS=hunter2":                                "HOST=db\x00DB_PASS=(hidden)",
		"\x1b[36mtoken_file\x1b[0m=/etc/x \x1b[1mitem\x1b[0m=7 m=1": "\x1b[36mtoken_file\x1b[0m=/etc/x \x1b[1mitem\x1b[0m=7 m=1",
		"\x1b[36mtoken\x1b[0m: expired":                             "\x1b[36mtoken\x1b[0m: expired",
		"password:\n  kind: x":                                      "password:\n  kind: x",

		"Invalid token: signature has expired":               "Invalid token: signature has expired",
		`MountVolume.SetUp failed for secret: "x" not found`: `MountVolume.SetUp failed for secret: "x" not found`,
		"--token-file=/etc/x --secret-name y":                "--token-file=/etc/x --secret-name y",
		"secretName: neutron-etc":                            "secretName: neutron-etc",
		"--password=$(DB_PASSWORD) token=${TOKEN}":           "--password=$(DB_PASSWORD) token=${TOKEN}",
		"automountServiceAccountToken: true":                 "automountServiceAccountToken: true",
		"password=None, token=null":                          "password=None, token=null",
		"core::token::x 12:30:11 a==b token==x":              "core::token::x 12:30:11 a==b token==x",
		"tokenExpirationSeconds=3600 token_ttl: 5":           "tokenExpirationSeconds=3600 token_ttl: 5",
		"compass=north bypass: yes":                          "compass=north bypass: yes",
		"= : -- --":                                          "= : -- --",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
		if once := Redact(text); Redact(once) != once {
			t.Errorf("%q is not left alone the second time: %q", once, Redact(once))
		}
	}
}

// In an object nothing that stands under a secret's name is left, whatever its form, and references stay readable.
func TestRedactObject(t *testing.T) {
	for _, test := range []struct{ object, want string }{
		{`{"password": "hunter2"}`, `{"password":"(hidden)"}`},
		{`{"password": 1234}`, `{"password":"(hidden)"}`},
		{`{"passwords": ["hunter2", 1234, {"a": "hunter2"}]}`, `{"passwords":["(hidden)","(hidden)",{"a":"(hidden)"}]}`},
		{`{"credentials": {"user": "x", "db": {"a": "hunter2"}}}`, `{"credentials":{"db":{"a":"(hidden)"},"user":"(hidden)"}}`},
		{`{"env": [{"name": "X_PASSWORD", "value": "hunter2"}, {"name": "REGION", "value": "one"}]}`,
			`{"env":[{"name":"X_PASSWORD","value":"(hidden)"},{"name":"REGION","value":"one"}]}`},
		{`{"env": [{"name": "X_PASSWORD", "value": 1234}, {"name": "Y_TOKEN", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]}`,
			`{"env":[{"name":"X_PASSWORD","value":"(hidden)"},{"name":"Y_TOKEN","valueFrom":{"secretKeyRef":{"key":"b","name":"a"}}}]}`},
		{`{"args": ["--password=hunter2", "--token", "hunter2", "--host", "db", "-c", "mysql --password hunter2"]}`,
			`{"args":["--password=(hidden)","--token","(hidden)","--host","db","-c","mysql --password (hidden)"]}`},
		{`{"annotations": {"a": "{\"spec\": {\"env\": [{\"name\": \"X_PASSWORD\", \"value\": \"hunter2\"}], \"n\": 12345678901234567890}}"}}`,
			`{"annotations":{"a":"{\"spec\":{\"env\":[{\"name\":\"X_PASSWORD\",\"value\":\"(hidden)\"}],\"n\":12345678901234567890}}"}}`},
		{`{"annotations": {"a": "[{\"password\": \"{\\\"a\\\": \\\"hunter2\\\"}\"}]"}}`,
			`{"annotations":{"a":"[{\"password\":\"(hidden)\"}]"}}`},
		{`{"volumes": [{"secret": {"secretName": "keys", "defaultMode": 420, "items": [{"key": "a", "path": "b"}]}}]}`,
			`{"volumes":[{"secret":{"defaultMode":420,"items":[{"key":"a","path":"b"}],"secretName":"keys"}}]}`},
		{`{"imagePullSecrets": [{"name": "registry"}], "automountServiceAccountToken": false, "token": "", "secret": null}`,
			`{"automountServiceAccountToken":false,"imagePullSecrets":[{"name":"registry"}],"secret":null,"token":""}`},
		{`{"note": "see https://a:hunter2@b/", "message": "password=hunter2"}`,
			`{"message":"password=(hidden)","note":"see https://(hidden)@b/"}`},
		{`{"data": {"a": "mine-own-token"}}`, `{"data":{"a":"(hidden)"}}`},
	} {
		var object map[string]any
		if err := json.Unmarshal([]byte(test.object), &object); err != nil {
			t.Fatal(err)
		}
		for range 2 { // and it is left alone the second time
			RedactObject(object, func(s string) string { return Redact(s, "mine-own-token") })
			if got := asJSON(t, object); got != test.want {
				t.Errorf("%s\n got %s\nwant %s", test.object, got, test.want)
			}
		}
	}
}

func asJSON(t *testing.T, value any) string {
	t.Helper()
	var b strings.Builder
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if err := out.Encode(value); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// However deep an object is and wherever the secret stands in it, nothing of it is left; no text makes it fail.
func TestNothingOfASecretIsLeftInAnObject(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const secret = "hunter2hunter2"
		var value any = rapid.SampledFrom([]any{secret, []any{secret}, []any{"a", []any{secret}}, map[string]any{"x": secret}}).Draw(rt, "value")
		names := rapid.SampledFrom([]string{"password", "OS_PASSWORD", "apiToken", "client-secret", "db_pass"})
		value = map[string]any{names.Draw(rt, "name"): value}
		for range rapid.IntRange(0, 5).Draw(rt, "depth") {
			switch rapid.IntRange(0, 2).Draw(rt, "in") {
			case 0:
				value = map[string]any{"spec": value, "other": 1}
			case 1:
				value = map[string]any{"list": []any{"a", value}}
			case 2:
				raw, _ := json.Marshal(value)
				value = map[string]any{"annotation": string(raw)}
			}
		}
		object := value.(map[string]any)
		RedactObject(object, func(s string) string { return Redact(s) })
		if text := fmt.Sprint(object); strings.Contains(text, secret) {
			rt.Fatalf("left is %s", text)
		}
	})
	rapid.Check(t, func(rt *rapid.T) { // and what was JSON is JSON: a snapshot is redacted as a text
		values := rapid.SampledFrom([]any{"a\"b", "x y", 1234, []any{"a", "b"}, []any{1, "]", []any{"["}}, map[string]any{"token": "x"},
			true, nil, "--password x", `{"password": 12}`, "password=a,b"})
		value := map[string]any{rapid.SampledFrom([]string{"password", "note", "token_ids"}).Draw(rt, "name"): values.Draw(rt, "value")}
		raw, _ := json.Marshal([]any{value, value})
		var back any
		if text := Redact(string(raw)); json.Unmarshal([]byte(text), &back) != nil {
			rt.Fatalf("%s became %s", raw, text)
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("password token=:-'\"`\\[]{}u ,&;\t\x1bm\u200b"))).Draw(rt, "text")
		if once := Redact(text); Redact(once) != once {
			rt.Fatalf("%q becomes %q, and then %q", text, once, Redact(once))
		}
	})
}
