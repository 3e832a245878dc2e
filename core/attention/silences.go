package attention

import (
	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// silencesGone finds silences that Lockstep made and that somebody else has ended before their time: whoever is notified hears of what
// the update raises, and nobody on this screen would know why. While the cluster is in maintenance that is now.
func (f *facts) silencesGone() {
	for _, r := range progress.SilencesGone(f.s) {
		a := core.Attention{Rule: core.RuleSilenceGone, Key: r.Silence.ID, Severity: core.SeverityNotice, Subject: r.Silence.Ref(),
			Label: "alerts", Reason: procedure.SilenceGoneText(f.s, r), Resolve: procedure.AlertsKey(),
			Detail: "It silenced " + wording.OneLine(r.Silence.MatcherText(), 200) + ", for " + wording.OneLine(r.Silence.Reason(), 100) +
				", and was made by " + wording.OneLine(r.By, 60) + " at " + progress.MomentText(f.s, r.At) + ". Its alerts are told again. " +
				"Ask who ended it, and make it again or set this aside."}
		if f.request != nil {
			a.Severity = core.SeverityWarning
		}
		f.add(a)
	}
}

// seenSilences is what Alertmanager has now.
func seenSilences(f *facts, _ core.Attention) []core.Evidence {
	if f.s.Alertmanager == nil {
		return nil
	}
	var out []core.Evidence
	for _, one := range f.s.Alertmanager.Silences {
		out = append(out, core.Evidence{Of: "silence", Says: wording.OneLine(progress.SilenceText(f.s, one), saysMost)})
	}
	if len(out) == 0 {
		out = append(out, core.Evidence{Of: "silences", Says: "Alertmanager has none"})
	}
	told := 0
	for _, a := range f.s.Alertmanager.Alerts {
		if a.Told() {
			told++
		}
	}
	return append(out, core.Evidence{Of: "alerts", Says: wording.Count(told, "alert") + " told now"})
}

func atSilences(f *facts, _ core.Attention) []core.Command {
	if f.s.Alertmanager == nil {
		return nil
	}
	return []core.Command{procedure.ToLook("the silences, ended ones too",
		wording.ShellCommand("kubectl", "get", "--raw", f.s.Alertmanager.Place.API("silences")))}
}
