package checklist

import (
	"lockstep/core"
	"lockstep/core/forecast"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// alertsSilenced finds the alerts that fire, and whether silences last until the update's end. Which alerts an update raises no document
// says (docs/mosk.md#alerts), so none is foretold.
func alertsSilenced(l *look) {
	s := l.s
	l.resolve = procedure.AlertsKey()
	if s.Alertmanager == nil || !s.Known(core.SourceAlertmanager) {
		l.unknown = "Alertmanager: " + s.WhyUnknown(core.SourceAlertmanager) + "; " + l.row.remedy
		return
	}
	for _, g := range progress.AlertGroups(s) {
		switch {
		case g.Name == progress.AlertWatchdog: // it always fires
		case g.Pauses:
			l.warn("alert "+wording.OneLine(g.Name, 60), g.Text(s)+"; it pauses the update", procedure.AlertsKey())
		case g.Told > 0:
			l.warn("alert "+wording.OneLine(g.Name, 60), g.Text(s), procedure.AlertsKey())
		}
	}
	if s.Management != nil && !underWay(s) && target(s, progress.Update(s)) == "" {
		l.note = "no update is known to come, for which to silence"
		return
	}
	quiet := forecast.QuietFor(s)
	if quiet.What == "" {
		return
	}
	if quiet.End.At.IsZero() {
		l.note = "when the update ends is not known, and so for how long to silence"
		return
	}
	if one, ok := quiet.Covering(s); ok {
		l.note = "silence " + core.ShortID(one.ID) + " lasts until " +
			progress.MomentText(s, one.Ends) + "; " + quiet.What + " until " + quiet.EndText(s)
		return
	}
	for _, one := range s.Alertmanager.Silences {
		text := "ends before the update, at " + progress.MomentText(s, one.Ends)
		if quiet.TooLate(s, one) {
			text = "begins later, at " + progress.MomentText(s, one.Starts)
		} else if quiet.Covered(one) {
			continue
		}
		l.warn("silence "+core.ShortID(one.ID), text+wording.Prefixed(", by ", wording.OneLine(one.By, 60))+": "+
			wording.OneLine(one.MatcherText(), 120), procedure.AlertsKey())
	}
	l.warn("silences", "none lasts for "+quiet.What+", until "+quiet.EndText(s), procedure.AlertsKey())
}

// alertCommands show alerts and silences by hand.
func alertCommands(s *core.Snapshot) []string {
	if s.Alertmanager == nil {
		return nil
	}
	at := s.Alertmanager.Place
	return []string{wording.ShellCommand("kubectl", "get", "--raw", at.API("alerts")),
		wording.ShellCommand("kubectl", "get", "--raw", at.API("silences"))}
}
