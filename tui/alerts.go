package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/forecast"
	"lockstep/core/procedure"
	"lockstep/core/progress"
)

// silenceTimes is how the end of a silence is written that is more than a day away.
const silenceTimes = "2006-01-02T15:04"

// newSilenceForm asks for which alerts are to be silenced, until when, and why. It offers the update's end and the alerts that fire.
// now is the Snapshot when it is entered: a length of time counts from then on.
func newSilenceForm(s *core.Snapshot, now func() *core.Snapshot) *form {
	quiet := forecast.QuietFor(s)
	about := "Nobody is notified of the alerts until then. Say the end (06:00, 90m, 2026-03-14T06:00), why, and, for others than those " +
		`below, matchers in braces: 06:00 new disk {node="cmp-1"}`
	value := ""
	if end := quiet.Until(s); !end.IsZero() {
		about += ". The forecast end of " + quiet.What + " is " + quiet.EndText(s) + ", " + forecast.Assumed(s) + "."
		value = silenceEnd(s, end) + " " + updateName(s)
	}
	f := &form{title: "Silence alerts", about: about, label: "until, why {matchers}", input: newLongField(value, mostInLongField), live: true,
		parse: func(i core.Intent, text string) (core.Intent, error) { return parseSilence(now(), i, text) }}
	wide := progress.WideMatchers(s)
	f.choices = []choice{{"all but some", "every alert except " + strings.Join(keptNames(s), ", ") + ": for a whole update",
		core.Intent{Kind: core.IntentMakeSilence, Matchers: wide}}}
	for _, g := range progress.AlertGroups(s) {
		if g.Name == progress.AlertWatchdog || len(f.choices) > 40 {
			continue
		}
		f.choices = append(f.choices, choice{g.Name, g.Text(s), core.Intent{Kind: core.IntentMakeSilence,
			Matchers: []core.Matcher{{Name: core.LabelAlert, Value: g.Name, Equal: true}}}})
	}
	return f
}

// keptNames are the alerts that a silence for a whole update leaves out.
func keptNames(s *core.Snapshot) []string {
	return append([]string{progress.AlertWatchdog}, progress.PausingAlerts(s)...)
}

// updateName is the reason that a silence for the update gives.
func updateName(s *core.Snapshot) string {
	if to := progress.Update(s).To; to != "" {
		return "update to " + to
	}
	return "update"
}

// silenceEnd is the end of a silence as the form takes it.
func silenceEnd(s *core.Snapshot, end time.Time) string {
	if end.Sub(s.Now) < 24*time.Hour {
		return end.Local().Format("15:04")
	}
	return end.Local().Format(silenceTimes)
}

// parseSilence reads the end, the reason and, in braces, the matchers that count instead of the chosen ones.
func parseSilence(s *core.Snapshot, i core.Intent, text string) (core.Intent, error) {
	if at := strings.Index(text, "{"); at >= 0 {
		all, err := core.ParseMatchers(text[at:])
		if err != nil {
			return i, err
		}
		i.Matchers, text = all, text[:at]
	}
	when, why, _ := strings.Cut(strings.TrimSpace(text), " ")
	until, err := parseEnd(s, when)
	if err != nil {
		return i, err
	}
	if i.Until, i.Reason = until, strings.TrimSpace(why); i.Reason == "" {
		return i, fmt.Errorf("a reason is needed: somebody will wonder why")
	}
	return i, nil
}

// parseEnd reads an end: a time of day, a length of time from now on, or a day with its time.
func parseEnd(s *core.Snapshot, text string) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return s.Second().Add(d).Truncate(time.Minute).UTC(), nil
	}
	if at, err := time.ParseInLocation(silenceTimes, text, time.Local); err == nil {
		return at.UTC(), nil
	}
	if at, err := forecast.ParseTime(text, s.Second()); err == nil {
		return at.UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%q is no end: want 06:00, 90m or 2026-03-14T06:00", text)
}

// needAlertmanager is why no silence can be made.
func needAlertmanager(m *Model) string {
	switch {
	case m.snap == nil:
		return "nothing is known yet"
	case m.snap.Alertmanager == nil:
		return "Alertmanager is not known: " + m.snap.WhyUnknown(core.SourceAlertmanager)
	}
	return ""
}

func (m *Model) askSilence() tea.Cmd {
	m.ask(newSilenceForm(m.snap, func() *core.Snapshot { return m.snap }))
	return nil
}

// alertActions are about alerts and silences of the whole cluster.
func alertActions() []Action {
	return []Action{
		{ID: "alerts", Title: "Show the alerts that fire and the silences, with the steps that expire them", Short: "alerts",
			Scope: ScopeDashboard, Intent: []core.IntentKind{core.IntentExpireSilence}, blocked: needSnapshot,
			run: func(m *Model) tea.Cmd { return m.openProcedure(*procedure.AlertsKey()) }},
		{ID: "silence.make", Title: "Silence alerts: for the update, or by name or label", Short: "silence alerts", Scope: ScopeDashboard,
			Intent: []core.IntentKind{core.IntentMakeSilence}, blocked: needAlertmanager, run: (*Model).askSilence},
	}
}

const silenceOnPage = "step.silence"

// onAlerts tells whether the page of alerts and silences is on top.
func onAlerts(m *Model) bool {
	p, ok := m.top().(*procedurePage)
	return ok && p.key.Kind == core.ProcedureAlerts
}

// silenceAction makes a silence from the page of alerts and silences.
func silenceAction() Action {
	return Action{ID: silenceOnPage, Title: "On the page of alerts: silence alerts", Short: "silence", Scope: ScopeProcedure,
		Keys: []string{"s"}, Footer: 2, blocked: func(m *Model) string {
			if !onAlerts(m) {
				return "these are no steps about alerts"
			}
			return needAlertmanager(m)
		}, run: (*Model).askSilence}
}
