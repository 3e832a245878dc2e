package step

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// LongestSilence is how long a silence that Lockstep makes lasts at most. Alertmanager knows no limit; one that nobody ends should not
// hide alerts for good.
const LongestSilence = 7 * 24 * time.Hour

// busySilencing tells whether an operation makes or expires a silence.
func busySilencing(op core.Operation) bool {
	return op.Is(core.IntentMakeSilence) || op.Is(core.IntentExpireSilence)
}

// silences begins a step on silences; false when Alertmanager is not known.
func (p *planner) silences() bool {
	p.step.Label = "Alertmanager"
	p.common([]core.SourceID{core.SourceAlertmanager}, busySilencing)
	if p.s.Alertmanager == nil || !p.s.Known(core.SourceAlertmanager) {
		p.identify(core.Ref{Kind: core.KindAlertmanager, Name: "alertmanager"})
		p.unknown("Alertmanager is reached", p.s.WhyUnknown(core.SourceAlertmanager))
		return false
	}
	return true
}

// makeSilence plans a silence, from now on until a time (docs/mosk.md#alerts).
func (p *planner) makeSilence() {
	s, text := p.s, core.MatchersText(p.i.Matchers)
	wide := progress.Wide(p.i.Matchers)
	p.step.Title, p.step.Risk = "silence "+wording.TextOf(wording.OneLine(text, 60), "alerts"), core.RiskMedium
	if !p.silences() {
		return
	}
	place := s.Alertmanager.Place
	p.identify(core.Ref{Kind: core.KindAlertmanager, Namespace: place.Namespace, Name: place.Service})
	p.step.ID += "/" + text + "/" + p.i.Until.UTC().Format(time.RFC3339)
	p.fact("Alertmanager", place.API(""))
	err := core.CheckMatchers(p.i.Matchers)
	known := core.Guard{ID: core.GuardValueKnown, Text: "Alertmanager takes the matchers", Holds: err == nil,
		Answer: wording.OneLine(text, 200), Remedy: `write them as amtool takes them: alertname=~"A|B", node!="cmp-1"`}
	if err != nil {
		known.Answer = wording.OneLine(err.Error(), 200)
	}
	p.guard(known)
	p.guard(p.guardEnd())
	reasoned := p.guardOneLine(p.i.Reason)
	change := core.MakeSilence{Matchers: slices.Clone(p.i.Matchers), Until: p.i.Until.UTC(), By: s.Operator,
		Comment: core.OwnComment(p.i.Reason)}
	same := slices.ContainsFunc(s.Alertmanager.Silences, change.Is)
	p.guard(core.Guard{ID: core.GuardNotAsked, Text: "the same silence is not there yet", Holds: !same,
		Answer: wording.TextIf(same, "it is", wording.Count(len(s.Alertmanager.Silences), "silence"))})
	p.explainSilence(wide)
	if same {
		p.done = "the silence is there"
		return
	}
	if err != nil || !reasoned || p.i.Until.IsZero() {
		return
	}
	if wide {
		p.step.Risk, p.step.Type = core.RiskHigh, typable(s.Cluster, "silence")
	}
	p.step.Change = change
	if body, err := json.Marshal(change.Posted()); err == nil {
		// Alertmanager takes nothing without a Content-Type, and kubectl's --raw sends none. The proxy is nobody else's, and ends.
		p.step.Commands = []string{`d=$(mktemp -d); kubectl proxy --unix-socket="$d/api" &`,
			`until [ -S "$d/api" ] || ! kill -0 $!; do sleep 0.2; done; curl --unix-socket "$d/api" ` +
				wording.ShellCommand("-fsS", "-H", "Content-Type: application/json", "-d", string(body), "http://localhost"+place.API("silences")),
			`kill $!; rm -r "$d"`}
	}
	p.step.Undo = "expire the silence"
}

func (p *planner) guardEnd() core.Guard {
	s := p.s
	g := core.Guard{ID: core.GuardSilenceEnd, Text: "it ends in the days to come", Answer: "no end",
		Remedy: "say an end that is ahead, and at most " + wording.SpanText(LongestSilence) + " from now"}
	if end := p.i.Until; !end.IsZero() {
		g.Answer = progress.MomentText(s, end)
		g.Holds = !s.Reached(end) && s.Reached(end.Add(-LongestSilence))
	}
	return g
}

// explainSilence says what the silence does to what fires now, and what it hides besides.
func (p *planner) explainSilence(wide bool) {
	s := p.s
	all := s.Alertmanager.Alerts
	hit := core.Matching(p.i.Matchers, all)
	var names []string
	for _, a := range hit {
		names = wording.AddNew(names, wording.OneLine(a.Name(), 60))
	}
	p.step.Why = "Of the " + wording.Count(len(all), "alert") + " that " + wording.Verb(len(all), "fires", "fire") + " now it matches " +
		wording.TextIf(len(hit) == 0, "none", wording.Itoa(len(hit))) + wording.Prefixed(": ", wording.Some(names, 6)) + "."
	then := []string{"Nobody is notified of an alert that it matches, whatever it means, until the silence ends or is expired. Alertmanager " +
		"still shows it."}
	if wide {
		then = append(then, "It names no alert: it hides also what has nothing to do with the update.")
	}
	if hides(p.i.Matchers, progress.AlertWatchdog) && (!fires(all, progress.AlertWatchdog) || fires(hit, progress.AlertWatchdog)) {
		then = append(then, "It silences Watchdog, whose silence tells whoever waits for it that alerts do not arrive any more.")
	}
	var pausing []string
	for _, name := range progress.PausingAlerts(s) {
		if hides(p.i.Matchers, name) {
			pausing = append(pausing, wording.OneLine(name, 60))
		}
	}
	if len(pausing) > 0 {
		then = append(then, "The UpdateAutoPause names "+wording.Some(pausing, 4)+
			": whether it still pauses the update when it is silenced the documents do not say.")
	}
	p.step.Then = strings.Join(then, " ")
}

// fires tells whether one of the alerts has the name.
func fires(all []core.Alert, name string) bool {
	return slices.ContainsFunc(all, func(a core.Alert) bool { return a.Name() == name })
}

// hides tells whether matchers can match an alert of the name: those on other labels may.
func hides(all []core.Matcher, name string) bool {
	return !slices.ContainsFunc(all, func(m core.Matcher) bool { return m.Name == core.LabelAlert && !m.Matches(name) })
}

// expireSilence plans the end of a silence.
func (p *planner) expireSilence() {
	s, id := p.s, p.i.Object.UID
	p.step.Title, p.step.Risk = "expire silence "+wording.OneLine(core.ShortID(id), 20), core.RiskMedium
	if !p.silences() {
		return
	}
	p.identify(core.Ref{Kind: core.KindSilence, Name: core.ShortID(id), UID: id})
	i := slices.IndexFunc(s.Alertmanager.Silences, func(one core.Silence) bool { return one.ID == id })
	if i < 0 {
		p.guard(core.Guard{ID: core.GuardExists, Text: "the silence has not expired", Answer: "Alertmanager does not show it any more"})
		p.done = "it has expired"
		return
	}
	one := s.Alertmanager.Silences[i]
	p.step.Title += wording.Prefixed(" by ", wording.OneLine(one.By, 40))
	p.step.Label = wording.OneLine(one.MatcherText(), 64)
	p.step.Status = one.State + " until " + progress.MomentText(s, one.Ends) + ": " + wording.OneLine(one.MatcherText(), 100)
	p.fact("silence", one.MatcherText()+" until "+one.Ends.UTC().Format(time.RFC3339))
	hit := core.Matching(one.Matchers, s.Alertmanager.Alerts)
	var names []string
	for _, a := range hit {
		names = wording.AddNew(names, wording.OneLine(a.Name(), 60))
	}
	p.step.Why = "It ends at " + progress.MomentText(s, one.Ends) + " by itself" +
		wording.TextIf(one.Comment == "", ".", `, and says "`+wording.OneLine(one.Comment, 200)+`".`)
	p.step.Then = "Whoever is to be notified hears of alerts that it matched" +
		wording.TextIf(len(hit) == 0, "; none fires now.", "; now of "+wording.Some(names, 6)+".")
	if !one.Own() { // somebody else's, who may rely on it
		p.step.Risk, p.step.Type = core.RiskHigh, typable(core.ShortID(one.ID), one.ID)
		p.step.Why += " Lockstep has not made it."
	}
	p.step.Change = core.ExpireSilence{Silence: one}
	p.step.Commands = []string{wording.ShellCommand("kubectl", "delete", "--raw", s.Alertmanager.Place.API("silence/"+one.ID))}
	p.step.Undo = "make another one with the same matchers"
}
