package procedure

import (
	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// AlertsKey is the procedure of alerts and silences.
func AlertsKey() *core.ProcedureKey { return &core.ProcedureKey{Kind: core.ProcedureAlerts} }

// mostAlerts is how many names of alerts are told.
const mostAlerts = 40

// alertsProcedure tells what fires, and has a step for each silence. A silence is made from the palette: it needs to be said for what.
func alertsProcedure(s *core.Snapshot) (core.Procedure, bool) {
	p := core.Procedure{Title: "Alerts and silences",
		Goal: "Whoever is notified hears of what matters, and not of what the update is known to raise."}
	if s.Alertmanager == nil || !s.Known(core.SourceAlertmanager) {
		p.Summary = []string{"alerts are not known: " + s.WhyUnknown(core.SourceAlertmanager)}
		if src, there := s.Sources[core.SourceAlertmanager]; there {
			p.Steps = append(p.Steps, sourceStep(s, src))
		}
		return p, true
	}
	groups := progress.AlertGroups(s)
	for i, g := range groups {
		if i == mostAlerts {
			p.Summary = append(p.Summary, "and "+wording.Count(len(groups)-i, "other name"))
			break
		}
		p.Summary = append(p.Summary, wording.OneLine(g.Name, 60)+": "+g.Text(s)+wording.TextIf(g.Pauses, "; it pauses the update", ""))
	}
	if len(groups) == 0 {
		p.Summary = append(p.Summary, "no alert fires")
	}
	if pausing := progress.PausingAlerts(s); len(pausing) > 0 {
		p.Summary = append(p.Summary, "these pause the update when they fire: "+wording.OneLine(wording.Some(pausing, 8), 200))
	}
	if len(s.Alertmanager.Silences) == 0 {
		p.Nothing = "There is no silence to expire. A new one is made from here."
	}
	for _, gone := range progress.SilencesGone(s) {
		again := step.Plan(s, core.Intent{Kind: core.IntentMakeSilence, Matchers: gone.Silence.Matchers, Until: gone.Silence.Ends,
			Reason: gone.Silence.Reason()})
		if again.Status == "" {
			again.Status = SilenceGoneText(s, gone)
		}
		p.Steps = append(p.Steps, optional(again)...)
	}
	for _, one := range s.Alertmanager.Silences {
		p.Steps = append(p.Steps, optional(step.Plan(s, core.Intent{Kind: core.IntentExpireSilence, Object: one.Ref()}))...)
	}
	return p, true
}

// SilenceGoneText says of a silence that Lockstep made that somebody else has ended it, and until when it was to last.
func SilenceGoneText(s *core.Snapshot, r core.SilenceRecord) string {
	return "gone before its end at " + progress.MomentText(s, r.Silence.Ends) + ": silence " + core.ShortID(r.Silence.ID) +
		", made here; somebody else ended it, or Alertmanager lost it"
}

func openSilences(s *core.Snapshot) []core.Left {
	var out []core.Left
	for _, one := range progress.SilencesLeft(s) {
		out = append(out, core.Left{Of: progress.SilenceText(s, one), ID: one.ID})
	}
	return out
}
