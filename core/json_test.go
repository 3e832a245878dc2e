package core

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A document that leaves Lockstep has no secret and no character with an effect on a terminal. All else is as it was.
func TestWhatLeavesAsJSONIsDiscreetAndPlain(t *testing.T) {
	const wild = "a\x1b[2Jb\u0085c\u009b31md\x7fe\u202ef\u2066g\u200eh\u2028i\U000e0041k\tö…日 \"quoted\" <b> \\ end"
	type document struct {
		Format int               `json:"format"`
		Texts  []string          `json:"texts"`
		Names  map[string]string `json:"names"`
		Secret string            `json:"secret"` // which one, not what it is
		None   *string           `json:"none"`
	}
	given := document{1, []string{wild, "", "2026-03-14T20:00:00Z", "password=hunter2", `{"token": "hunter2"}`, "run --password hunter2",
		"https://a:hunter2@keystone:5000/v3", `parse "http://u:p%zz@proxy": invalid URL escape "%zz"`, "the last\n"},
		map[string]string{"https://a:hunter2@proxy": "x", wild: "y"}, "openstack/nova", nil}
	want := given
	want.Texts = []string{wild, "", "2026-03-14T20:00:00Z", "password=(hidden)", `{"token": "(hidden)"}`, "run --password (hidden)",
		"https://(hidden)@keystone:5000/v3", `parse "http://(hidden)@proxy": invalid URL escape (hidden)`, "the last\n"}
	want.Names = map[string]string{"https://(hidden)@proxy": "x", wild: "y"}
	for _, indent := range []string{"", "  "} {
		raw, err := EncodeJSON(given, indent)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSuffix(string(raw), "\n")
		if strings.Contains(text, "\n") != (indent != "") || len(text) == len(raw) {
			t.Errorf("with the indent %q it has other lines: %q", indent, text)
		}
		for _, c := range text {
			if c != '\n' && Invisible(c) || c == utf8.RuneError {
				t.Errorf("%U stands in it as it is", c)
			}
		}
		if !strings.Contains(text, "ö…日") {
			t.Errorf("what is harmless is escaped: %s", text)
		}
		var back document
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if _, err := EncodeJSON(func() {}, ""); err == nil {
		t.Error("what cannot be encoded is no error")
	}
}
