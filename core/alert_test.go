package core

import (
	"strings"
	"testing"
)

// Matchers are read as amtool takes them, and written so that they are read again.
func TestMatchersAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]string{
		`alertname=A`:                     `alertname="A"`,
		` alertname = "A" `:               `alertname="A"`,
		`{alertname=~"A|B", node!=cmp-1}`: `alertname=~"A|B", node!="cmp-1"`,
		`alertname!~"Watchdog|A,B"`:       `alertname!~"Watchdog|A,B"`,
		`a="x \"y\" \\ z",b=~.+`:          `a="x \"y\" \\ z", b=~".+"`,
		`a!="", b=c,`:                     `a!="", b="c"`,
		`alertname=~"A(B"`:                "error: missing closing",
		`alertname`:                       "error: want label=value",
		`alertname!A`:                     "error: want =, !=, =~ or !~",
		`a-b=c`:                           "error: is no name of a label",
		`=c`:                              "error: is no name of a label",
		`{node="cmp-1"`:                   "error: } is missing",
		`{node="cmp-1"} x`:                "error: } is missing",
		`a="b`:                            "error: not closed",
		`a="b"c`:                          "error: want a comma",
		`a=b"c"`:                          "error: around the whole value",
		``:                                "error: there is no matcher",
		`{}`:                              "error: there is no matcher",
		`a=""`:                            "error: not there",
		`a=~".*", b=~"x|"`:                "error: not there",
		strings.Repeat("a=b,", 17):        "error: 17 matchers",
		"a=" + strings.Repeat("b", 5000):  "error: longer than",
		`a!~".*"`:                         `a!~".*"`,
		"a=\"\x1b[31m\"":                  `a="\x1b[31m"`,
	} {
		all, err := ParseMatchers(text)
		got := MatchersText(all)
		if err != nil {
			got = "error: " + err.Error()
		}
		if after, bad := strings.CutPrefix(want, "error: "); bad {
			if err == nil || !strings.Contains(err.Error(), after) {
				t.Errorf("%q: %s, want an error with %q", text, got, after)
			}
			continue
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if again, err := ParseMatchers(got); err != nil || MatchersText(again) != got {
			t.Errorf("%s is read again as %s (%v)", got, MatchersText(again), err)
		}
	}
}

// A silence matches as Alertmanager has it: all matchers, whole values, and a label that is not there is empty.
func TestWhatMatchersMatch(t *testing.T) {
	alerts := []Alert{{Labels: map[string]string{"alertname": "A", "node": "cmp-1"}}, {Labels: map[string]string{"alertname": "AB"}},
		{Labels: map[string]string{"alertname": "C", "node": "cmp-10"}}}
	for text, want := range map[string]string{
		`alertname=A`: "A", `alertname=~A`: "A", `alertname=~"A.*"`: "A AB", `alertname!~"A|C"`: "AB", `node="",alertname=~".+"`: "AB",
		`node!=""`: "A C", `node=cmp-1`: "A", `node=~"cmp-.",alertname!=A`: "", `alertname=~"A|C", node=~"cmp-1."`: "C",
	} {
		all, err := ParseMatchers(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range Matching(all, alerts) {
			got = append(got, a.Name())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s matches %v, want %s", text, got, want)
		}
	}
	if got := Matching(nil, alerts); got != nil {
		t.Errorf("no matcher matches %v", got)
	}
	if got := Matching([]Matcher{{Name: "a", Value: "(", Regex: true}}, alerts); got != nil {
		t.Errorf("no expression matches %v", got)
	}
}
