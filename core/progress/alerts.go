package progress

import (
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// AlertWatchdog is the alert that always fires, so that its silence tells that alerts do not arrive (docs/mosk.md#alerts).
const AlertWatchdog = "Watchdog"

// AlertGroup is the alerts of one name.
type AlertGroup struct {
	Name     string
	Severity string    // of the gravest
	Since    time.Time // of the oldest
	Alerts   []core.Alert
	Told     int  // those that neither a silence nor another alert keeps back
	Pauses   bool // the UpdateAutoPause names it
}

// Text is how many there are and since when: "critical, 3 since 12:04:10, 1 of them silenced or inhibited".
func (g AlertGroup) Text(s *core.Snapshot) string {
	text := wording.TextOf(wording.OneLine(g.Severity, 30), "no severity")
	if n := len(g.Alerts); n > 1 {
		text += ", " + wording.Itoa(n)
	}
	if !g.Since.IsZero() {
		text += " since " + MomentText(s, g.Since)
	}
	switch kept := len(g.Alerts) - g.Told; {
	case kept == 0:
	case g.Told == 0:
		text += ", " + keptBack(g.Alerts)
	default:
		text += ", " + wording.Itoa(kept) + " of them " + keptBack(g.Alerts)
	}
	return text
}

// keptBack says what keeps alerts from being told.
func keptBack(alerts []core.Alert) string {
	silenced := slices.ContainsFunc(alerts, func(a core.Alert) bool { return len(a.SilencedBy) > 0 })
	inhibited := slices.ContainsFunc(alerts, func(a core.Alert) bool { return a.Inhibited })
	switch {
	case silenced && inhibited:
		return "silenced or inhibited"
	case silenced:
		return "silenced"
	}
	return "inhibited by another alert"
}

var alertGroups core.Derivation[[]AlertGroup]

// AlertGroups are the alerts that Alertmanager has, by name, the gravest first; none when they are not known.
func AlertGroups(s *core.Snapshot) []AlertGroup {
	return alertGroups.Of(s, func(s *core.Snapshot) []AlertGroup {
		if s.Alertmanager == nil {
			return nil
		}
		var out []AlertGroup
		at := map[string]int{}
		pausing := PausingAlerts(s)
		for _, a := range s.Alertmanager.Alerts { // the gravest first
			i, there := at[a.Name()]
			if !there {
				i = len(out)
				at[a.Name()] = i
				out = append(out, AlertGroup{Name: a.Name(), Severity: a.Severity(), Pauses: slices.Contains(pausing, a.Name())})
			}
			g := &out[i]
			g.Alerts = append(g.Alerts, a)
			if g.Since = core.Earlier(g.Since, a.Since); a.Told() {
				g.Told++
			}
		}
		return out
	})
}

// PausingAlerts are the names of the alerts that pause the update (docs/mosk.md#automatic-pause); none without an UpdateAutoPause.
func PausingAlerts(s *core.Snapshot) []string {
	if s.Management == nil || s.Management.Pause == nil {
		return nil
	}
	return s.Management.Pause.Alerts
}

// WideMatchers are those of a silence for a whole update: every alert, except the one that must always fire and those that pause the
// update, which a person has to hear of.
func WideMatchers(s *core.Snapshot) []core.Matcher {
	names := []string{AlertWatchdog}
	for _, name := range PausingAlerts(s) {
		names = wording.AddNew(names, name)
	}
	return []core.Matcher{core.NotNamed(names...)}
}

// OwnSilences are the silences that Lockstep has made and that have not expired.
func OwnSilences(s *core.Snapshot) []core.Silence {
	if s.Alertmanager == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Alertmanager.Silences), func(one core.Silence) bool { return !one.Own() })
}

// SilencesGone are the silences that Lockstep made and did not expire, whose time is not over, and that are not there any more: somebody
// else has ended or changed them. After the update that they were made for nobody misses them. One that silences the same for as long
// takes their place.
func SilencesGone(s *core.Snapshot) []core.SilenceRecord {
	if len(s.History.Silences) == 0 || s.Alertmanager == nil || !s.Known(core.SourceAlertmanager) {
		return nil
	}
	var out []core.SilenceRecord
	for _, r := range s.History.Silences {
		seen := s.HeardAfterByWall(core.SourceAlertmanager, r.At)
		if s.Reached(r.Silence.Ends) || s.History.Update.Ended.After(r.At) || !seen {
			continue
		}
		if !slices.ContainsFunc(s.Alertmanager.Silences, func(now core.Silence) bool {
			return now.ID == r.Silence.ID || !now.Ends.Before(r.Silence.Ends) && core.SameMatchers(now.Matchers, r.Silence.Matchers)
		}) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b core.SilenceRecord) int { return core.CompareSilences(a.Silence, b.Silence) })
	return out
}

// SilencesLeft are those that Lockstep made before the last update ended, and that are still there.
func SilencesLeft(s *core.Snapshot) []core.Silence {
	ended := s.History.Update.Ended
	return slices.DeleteFunc(OwnSilences(s), func(one core.Silence) bool { return ended.IsZero() || !one.Starts.Before(ended) })
}

// Wide tells whether matchers silence alerts without naming any: no matcher says by a label which alerts are meant.
func Wide(all []core.Matcher) bool {
	return !slices.ContainsFunc(all, func(m core.Matcher) bool { return m.Equal && !m.Matches("") && (!m.Regex || !m.Matches("any other")) })
}

// SilenceText is a silence in one line: "4fd0a1c2 by ann until 14:20:00: alertname="A"".
func SilenceText(s *core.Snapshot, one core.Silence) string {
	return core.ShortID(one.ID) + wording.Prefixed(" by ", wording.OneLine(one.By, 60)) + " " +
		one.State + " until " + MomentText(s, one.Ends) +
		": " + wording.OneLine(one.MatcherText(), 200)
}

// MomentText is a time in the operator's zone, with its day when it is not near.
func MomentText(s *core.Snapshot, at time.Time) string {
	if s.NearNow(at) {
		return wording.ClockText(at)
	}
	return at.Local().Format("Mon 2 Jan ") + wording.ClockText(at)
}
