package engine

import (
	"context"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/permittest"
)

// fakeAlerts is an Alertmanager behind the engine's ports.
type fakeAlerts struct {
	silences []core.Silence
	err      error // of every read
	lose     bool  // a write is done, and its answer is lost
	written  int
}

func (f *fakeAlerts) Silences(context.Context) ([]core.Silence, error) {
	var out []core.Silence
	for _, s := range f.silences {
		if s.State != core.SilenceExpired {
			out = append(out, s)
		}
	}
	return out, f.err
}

func (f *fakeAlerts) Silence(_ context.Context, id string) (core.Silence, error) {
	for _, s := range f.silences {
		if s.ID == id {
			return s, f.err
		}
	}
	if f.err != nil {
		return core.Silence{}, f.err
	}
	return core.Silence{}, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerAlertmanager, Status: 404}
}

func (f *fakeAlerts) Write(_ context.Context, p Permit, change core.Change) error {
	if err := TakePermit(p, change, core.ServerAlertmanager); err != nil {
		return err
	}
	f.written++
	switch c := change.(type) {
	case core.MakeSilence:
		f.silences = append(f.silences, core.Silence{ID: "made", State: core.SilenceActive, Matchers: c.Matchers, Starts: worldTime,
			Ends: c.Until, By: c.By, Comment: c.Comment})
	case core.ExpireSilence:
		for i := range f.silences {
			if f.silences[i].ID == c.Silence.ID {
				f.silences[i].State, f.silences[i].Ends = core.SilenceExpired, worldTime
			}
		}
	default:
		return NoSuchChange(change, core.ServerAlertmanager)
	}
	if f.lose {
		return &core.APIError{Kind: core.ErrTimeout, Server: core.ServerAlertmanager}
	}
	return nil
}

// Right before a silence is made or expired, Alertmanager is asked whether all is as it was; afterwards it shows the change.
func TestSilencesAreCheckedOnTheServer(t *testing.T) {
	node := []core.Matcher{{Name: "node", Value: "cmp-1", Equal: true}, {Name: "alertname", Value: "A|B", Regex: true, Equal: true}}
	until := worldTime.Add(2 * time.Hour)
	there := core.Silence{ID: "s1", State: core.SilenceActive, Matchers: node, Starts: worldTime.Add(-time.Hour), Ends: until, By: "ann",
		Comment: "update"}
	makes := core.MakeSilence{Matchers: node, Until: until, By: "ann", Comment: "update"}
	expires := core.ExpireSilence{Silence: there}
	with := func(do func(*core.Silence)) *fakeAlerts {
		s := there
		do(&s)
		return &fakeAlerts{silences: []core.Silence{s}}
	}
	unreachable := &core.APIError{Kind: core.ErrUnreachable, Server: core.ServerAlertmanager, Call: "get silences"}
	for _, tt := range []struct {
		name   string
		change core.Change
		server *fakeAlerts
		why    string
	}{
		{"made", makes, &fakeAlerts{}, ""},
		{"made, and its answer is lost", makes, &fakeAlerts{lose: true}, ""},
		{"made, with others there", makes, with(func(s *core.Silence) { s.Comment = "another" }), ""},
		{"made after the same one has expired", makes, with(func(s *core.Silence) { s.State = core.SilenceExpired }), ""},
		{"made meanwhile", makes, with(func(s *core.Silence) { s.Matchers = []core.Matcher{node[1], node[0]} }), "there already: s1"},
		{"too late", core.MakeSilence{Matchers: node, Until: worldTime}, &fakeAlerts{}, "its end has passed"},
		{"not to be asked", makes, &fakeAlerts{err: unreachable}, "unreachable"},

		{"expired", expires, with(func(*core.Silence) {}), ""},
		{"expired before it begins", expires, with(func(s *core.Silence) { s.State = core.SilencePending }), ""},
		{"expired, and its answer is lost", expires, &fakeAlerts{silences: []core.Silence{there}, lose: true}, ""},
		{"expired meanwhile", expires, with(func(s *core.Silence) { s.State = core.SilenceExpired }), "expired meanwhile"},
		{"forgotten", expires, &fakeAlerts{}, "does not know the silence"},
		{"prolonged meanwhile", expires, with(func(s *core.Silence) { s.Ends = until.Add(time.Hour) }), "another one now"},
		{"with other matchers", expires, with(func(s *core.Silence) { s.Matchers = node[:1] }), "another one now"},
		{"not to be asked whether it is there", expires, &fakeAlerts{err: unreachable}, "unreachable"},
	} {
		var w checker
		e := New(Config{Alerts: tt.server, Clock: func() time.Time { return worldTime }})
		switch c := tt.change.(type) {
		case core.MakeSilence:
			w = checkMakeSilence(e, core.Step{}, c)
		case core.ExpireSilence:
			w = checkExpireSilence(e, core.Step{}, c)
		}
		err := w.check(t.Context())
		if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err != nil {
			continue
		}
		if o := w.outcome(t.Context(), sent{}); o.state != core.OperationVerifying {
			t.Errorf("%s, before it is written: %+v", tt.name, o)
		}
		if err := tt.server.Write(t.Context(), permittest.For(t, tt.change), tt.change); (err != nil) != tt.server.lose {
			t.Fatal(err)
		}
		if o := w.outcome(t.Context(), sent{}); o.state != core.OperationDone {
			t.Errorf("%s: %+v", tt.name, o)
		}
		if before, after := w.values(); before == after || before == "" || !strings.Contains(before+after, `node="cmp-1"`) {
			t.Errorf("%s: the journal has %q and %q", tt.name, before, after)
		}
		tt.server.err = unreachable
		if o := w.outcome(t.Context(), sent{}); o.err == nil {
			t.Errorf("%s, with nobody to ask: %+v", tt.name, o)
		}
	}
}

// The end of a silence is told with its day where the hour alone could be today's.
func TestTheEndOfASilenceNamesItsDay(t *testing.T) {
	for after, want := range map[time.Duration]string{
		2 * time.Hour:  "silence s1 is active until " + worldTime.Add(2*time.Hour).Local().Format("15:04"),
		22 * time.Hour: "silence s1 is active until " + worldTime.Add(22*time.Hour).Local().Format("Mon 2 Jan 15:04"),
	} {
		node := []core.Matcher{{Name: "node", Value: "cmp-1", Equal: true}}
		made := core.Silence{ID: "s1", State: core.SilenceActive, Matchers: node, Ends: worldTime.Add(after), By: "ann", Comment: "update"}
		e := New(Config{Alerts: &fakeAlerts{silences: []core.Silence{made}}, Clock: func() time.Time { return worldTime }})
		w := checkMakeSilence(e, core.Step{}, core.MakeSilence{Matchers: node, Until: made.Ends, By: "ann", Comment: "update"})
		if got := w.outcome(t.Context(), sent{}); got.text != want || got.state != core.OperationDone {
			t.Errorf("%q (%s), want %q", got.text, got.state, want)
		}
	}
}
