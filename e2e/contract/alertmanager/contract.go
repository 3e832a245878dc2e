// Package alertmanager says how Alertmanager behaves towards the program: one suite, run against the real one and against the simulated
// one. Its statements were observed on the real one; where the simulated one differs, the simulated one is wrong.
package alertmanager

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Server is an Alertmanager under test. It has neither alerts nor silences yet.
type Server interface {
	// URL is where it serves, without a slash at the end.
	URL() string
	// Fire makes an alert fire that is told for an hour.
	Fire(t *testing.T, labels map[string]string, summary string)
}

// Run tests the server.
func Run(t *testing.T, server Server) {
	s := &suite{t: t, url: server.URL() + "/api/v2/", now: time.Now().UTC().Truncate(time.Second), ids: map[string]string{}}
	s.is("alerts, of which there are none", s.ask("GET", "alerts", ""), 200, isJSON, `^\[\]\n$`)
	s.is("silences, of which there are none", s.ask("GET", "silences", ""), 200, isJSON, `^\[\]\n$`)
	server.Fire(t, map[string]string{"alertname": "A", "node": "n1"}, "it is slow")
	server.Fire(t, map[string]string{"alertname": "A2"}, "it is down")
	s.alerts(map[string][]string{"A": nil, "A2": nil})
	s.making()
	s.refusing()
	s.expiring()
	s.losing()
}

// suite is what the statements share.
type suite struct {
	t   *testing.T
	url string
	now time.Time
	ids map[string]string // of silences, by a name that the statements give
}

type answer struct {
	code int
	kind string
	body string
}

// The types of answers.
const (
	isJSON  = "application/json"
	untyped = ""
)

func (s *suite) ask(method, path, body string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header.Get("Content-Type"), string(raw)}
}

// is fails the test unless the answer has this code and type, and its body matches.
func (s *suite) is(what string, a answer, code int, kind, body string) {
	s.t.Helper()
	if a.code != code || a.kind != kind || !regexp.MustCompile(body).MatchString(a.body) {
		s.t.Errorf("%s: %d %q %s\nwant %d %q %s", what, a.code, a.kind, a.body, code, kind, body)
	}
}

// at is a time, so long after the test began.
func (s *suite) at(d time.Duration) string { return s.now.Add(d).Format(time.RFC3339) }

// silence is the body that asks for one.
func (s *suite) silence(from, until time.Duration, matchers ...string) string {
	return `{"matchers":[` + strings.Join(matchers, ",") + `],"startsAt":"` + s.at(from) + `","endsAt":"` + s.at(until) +
		`","createdBy":"ann","comment":"an \"update\""}`
}

func matcher(name, value, more string) string {
	raw, _ := json.Marshal(value) // of a string, it cannot fail
	return `{"name":"` + name + `","value":` + string(raw) + more + `}`
}

const (
	equal    = `,"isRegex":false,"isEqual":true`
	like     = `,"isRegex":true,"isEqual":true`
	unlike   = `,"isRegex":true,"isEqual":false`
	aboutUID = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`
	aboutNow = `20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
	notThere = "00000000-0000-4000-8000-000000000000"
)

// make makes a silence and remembers its ID.
func (s *suite) make(name, body string) {
	s.t.Helper()
	a := s.ask("POST", "silences", body)
	s.is("the silence "+name, a, 200, isJSON, `^\{"silenceID":"`+aboutUID+`"\}\n$`)
	var made struct{ SilenceID string }
	if err := json.Unmarshal([]byte(a.body), &made); err != nil {
		s.t.Fatal(err)
	}
	s.ids[name] = made.SilenceID
}

// alerts fails the test unless these alerts are told, each silenced by these silences.
func (s *suite) alerts(want map[string][]string) {
	s.t.Helper()
	// What matches is computed when a silence begins, or when an alert comes: no wait is needed.
	a := s.ask("GET", "alerts?active=true&silenced=true&inhibited=true", "")
	s.is("the alerts", a, 200, isJSON, "")
	var told []struct {
		Annotations, Labels         map[string]string
		EndsAt, StartsAt, UpdatedAt string
		Fingerprint                 string
		Receivers                   []struct{ Name string }
		Status                      struct {
			State                            string
			InhibitedBy, MutedBy, SilencedBy []string
		}
	}
	if err := json.Unmarshal([]byte(a.body), &told); err != nil {
		s.t.Fatal(err)
	}
	got := map[string][]string{}
	for _, one := range told {
		name := one.Labels["alertname"]
		slices.Sort(one.Status.SilencedBy)
		var by []string
		for _, id := range one.Status.SilencedBy {
			for called, is := range s.ids {
				if is == id {
					by = append(by, called)
				}
			}
		}
		slices.Sort(by)
		got[name] = by
		state := map[bool]string{true: "suppressed", false: "active"}[len(by) > 0]
		if one.Status.State != state || len(by) != len(one.Status.SilencedBy) || one.Status.InhibitedBy == nil || one.Status.MutedBy == nil ||
			len(one.Fingerprint) != 16 || len(one.Receivers) != 1 || one.Annotations["summary"] == "" {
			s.t.Errorf("%s: %+v", name, one)
		}
		for _, at := range []string{one.EndsAt, one.StartsAt, one.UpdatedAt} {
			if !regexp.MustCompile("^" + aboutNow + "$").MatchString(at) {
				s.t.Errorf("%s: the time %s", name, at)
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		s.t.Errorf("the alerts and their silences: %v, want %v", got, want)
	}
}

// listed are the silences of a list, by name and state.
func (s *suite) listed(want ...string) {
	s.t.Helper()
	// A list has the expired ones, too, whatever is asked: the program leaves them out itself.
	for _, path := range []string{"silences", "silences?expired=false"} {
		a := s.ask("GET", path, "")
		s.is("the silences", a, 200, isJSON, "")
		var told []struct {
			ID     string
			Status struct{ State string }
		}
		if err := json.Unmarshal([]byte(a.body), &told); err != nil {
			s.t.Fatal(err)
		}
		var got []string
		var order []string
		for _, one := range told {
			for name, id := range s.ids {
				if id == one.ID {
					got = append(got, name+" "+one.Status.State)
				}
			}
			order = append(order, one.Status.State)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(told) != len(want) {
			s.t.Errorf("%s: %v, want %v", path, got, want)
		}
		ranks := map[string]int{"active": 0, "pending": 1, "expired": 2}
		if !slices.IsSortedFunc(order, func(a, b string) int { return ranks[a] - ranks[b] }) {
			s.t.Errorf("%s: the order %v", path, order)
		}
	}
}

// A silence is made at once, whatever its beginning was. What matches is whole: A is not A2.
func (s *suite) making() {
	s.make("plain", s.silence(-time.Hour, time.Hour, matcher("alertname", "A", equal)))
	s.is("a silence", s.ask("GET", "silence/"+s.ids["plain"], ""), 200, isJSON, `^\{"id":"`+s.ids["plain"]+
		`","status":\{"state":"active"\},"updatedAt":"`+aboutNow+`","comment":"an \\"update\\"","createdBy":"ann","endsAt":"`+
		s.now.Add(time.Hour).Format("2006-01-02T15:04:05.000Z")+`",`+
		`"matchers":\[\{"isEqual":true,"isRegex":false,"name":"alertname","value":"A"\}\],`+
		`"startsAt":"`+aboutNow+`"\}\n$`)
	s.alerts(map[string][]string{"A": {"plain"}, "A2": nil})
	s.make("both", s.silence(0, time.Hour, matcher("alertname", "A.*", like), matcher("node", "n2|n3", unlike)))
	s.make("all but", s.silence(0, time.Hour, matcher("alertname", "A|A2", unlike))) // what must not match is enough
	s.make("part", s.silence(0, time.Hour, matcher("alertname", "2", like)))
	s.make("later", s.silence(30*time.Minute, time.Hour, matcher("alertname", "A", `,"isRegex":false`))) // equal, unless it says otherwise
	s.alerts(map[string][]string{"A": {"both", "plain"}, "A2": {"both"}})
	s.listed("all but active", "both active", "later pending", "part active", "plain active")
}

// Nothing is made of what is refused, and the answer says why: mostly in a bare text.
func (s *suite) refusing() {
	a := matcher("alertname", "A", equal)
	for _, tt := range []struct {
		what, body string
		code       int
		says       string
	}{
		{"what matches everything", s.silence(0, time.Hour, matcher("alertname", "", equal)), 400,
			`"invalid silence: at least one matcher must not match the empty string"`},
		{"what matches everything, by an expression", s.silence(0, time.Hour, matcher("alertname", ".*", like)), 400,
			`"invalid silence: at least one matcher must not match the empty string"`},
		{"a broken expression", s.silence(0, time.Hour, a, matcher("node", "(", like)), 400,
			`"invalid silence: invalid label matcher 1: invalid regular expression \"(\": error parsing regexp: missing closing ): ` + "`(`" + `"`},
		{"no matcher", s.silence(0, time.Hour), 422, `{"code":612,"message":"matchers in body should have at least 1 items"}`},
		{"an end before its start", s.silence(time.Hour, 0, a), 400, `"Failed to create silence: start time must be before end time"`},
		{"an end at its start", s.silence(time.Hour, time.Hour, a), 400, `"Failed to create silence: start time must be before end time"`},
		{"an end that is past", s.silence(-2*time.Hour, -time.Hour, a), 400, `"Failed to create silence: end time can't be in the past"`},
		{"no JSON", "{", 400, `{"code":400,"message":"parsing silence body from \"\" failed, because unexpected EOF"}`},
		{"no comment", `{"matchers":[` + a + `],"startsAt":"` + s.at(0) + `","endsAt":"` + s.at(time.Hour) + `","createdBy":"ann"}`, 422,
			`{"code":602,"message":"comment in body is required"}`},
		{"an ID of none", `{"id":"` + notThere + `",` + strings.TrimPrefix(s.silence(0, time.Hour, a), "{"), 404, `"silence not found"`},
	} {
		s.is(tt.what, s.ask("POST", "silences", tt.body), tt.code, isJSON, "^"+regexp.QuoteMeta(tt.says)+`\n?$`)
	}
	s.listed("all but active", "both active", "later pending", "part active", "plain active")
}

// An expired silence is kept, and expires no second time. The answers have no body.
func (s *suite) expiring() {
	for _, name := range []string{"plain", "plain", "later"} {
		s.is("the end of "+name, s.ask("DELETE", "silence/"+s.ids[name], ""), 200, untyped, "^$")
	}
	s.listed("all but active", "both active", "later expired", "part active", "plain expired")
	for _, name := range []string{"plain", "later"} {
		s.is("what "+name+" is then", s.ask("GET", "silence/"+s.ids[name], ""), 200, isJSON, `"status":\{"state":"expired"\}`)
	}
	s.alerts(map[string][]string{"A": {"both"}, "A2": {"both"}})
	for _, method := range []string{"GET", "DELETE"} {
		s.is("a silence that is not there", s.ask(method, "silence/"+notThere, ""), 404, untyped, "^$")
		s.is("what is no ID", s.ask(method, "silence/x%20y", ""), 422, isJSON,
			"^"+regexp.QuoteMeta(`{"code":601,"message":"silenceID in path must be of type uuid: \"x y\""}`)+"$")
	}
}

// What the API does not have.
func (s *suite) losing() {
	s.is("another path", s.ask("GET", "nothing", ""), 404, isJSON,
		"^"+regexp.QuoteMeta(`{"code":404,"message":"path /api/v2/nothing was not found"}`)+"$")
	a := s.ask("PUT", "alerts", "[]")
	s.is("another method", a, 405, isJSON, `method PUT is not allowed`)
}
