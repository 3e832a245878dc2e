package step

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// alertName is what Prometheus, and so StackLight, takes for the name of an alert that a person can watch.
var alertName = regexp.MustCompile(`^[A-Za-z_:][A-Za-z0-9_:]{0,127}$`)

// setAutoPause plans which alerts pause the cluster's update: it makes the UpdateAutoPause, changes it, or removes it when no alert is left
// (docs/mosk.md#automatic-pause).
func (p *planner) setAutoPause() {
	s, alerts := p.s, slices.Clone(p.i.Alerts)
	slices.Sort(alerts)
	alerts = slices.Compact(alerts)
	p.step.Title, p.step.Risk = autoPauseTitle(nil, alerts), core.RiskMedium
	if !p.managed(busyManaging, core.SourceAutoPauses) {
		return
	}
	if s.Sources[core.SourceAutoPauses].State == core.SourceAbsent {
		p.identify(core.Ref{Kind: core.KindAutoPause, Name: s.Management.Name})
		p.unknown("the management cluster knows UpdateAutoPause", "its release does not")
		return
	}
	c, ref, old := s.Management.Cluster, core.Ref{Kind: core.KindAutoPause}, []string(nil)
	ref.Namespace, ref.Name = c.Namespace, c.Name
	if pause := s.Management.Pause; pause != nil {
		ref, old = pause.Ref(), pause.Alerts
	}
	p.step.Title = autoPauseTitle(old, alerts)
	if p.identify(ref); ref.UID == "" {
		p.identify(c.Ref())
	}
	p.step.ID += "/" + strings.Join(alerts, ",")
	p.fact("uid", ref.UID)
	p.fact("cluster", c.UID)
	p.fact("alerts", strings.Join(old, ","))
	var odd []string
	for _, name := range alerts {
		if !alertName.MatchString(name) {
			odd = append(odd, wording.OneLine(name, 40))
		}
	}
	p.guard(core.Guard{ID: core.GuardValueKnown, Text: "they are names of alerts", Holds: len(odd) == 0,
		Answer: wording.TextOf(someOf(odd, 4), wording.TextOf(alertsText(alerts), "none")), Remedy: "letters, digits, _ and :"})
	differs := !slices.Equal(alerts, slices.Sorted(slices.Values(old))) || len(alerts) == 0 && ref.UID != "" // one without alerts, too
	p.guard(core.Guard{ID: core.GuardDiffers, Text: "it is not so yet", Holds: differs,
		Answer: wording.TextOf(alertsText(old), "no alert pauses the update")})
	p.step.Why = "When one of the alerts fires during the update, LCM takes commence away from all steps that have not begun and from " +
		"workers that have: what is under way is finished, and nothing further begins until you commence it again."
	p.step.Then = "It needs StackLight on the cluster: an alert that StackLight does not know never fires, and nobody says so."
	if len(alerts) < len(old) && len(without(alerts, old)) == 0 {
		p.step.Then = "What is paused stays so until it is commenced again."
	}
	if len(alerts) == 0 {
		p.step.Then = "No alert pauses the update any more. What is paused stays so until it is commenced again."
	}
	if !differs {
		p.done = wording.TextOf(alertsText(old), "no alert") + wording.Verb(max(len(old), 1), " pauses", " pause") + " the update"
		return
	}
	if len(odd) > 0 {
		return
	}
	p.step.Change = core.SetAutoPause{Pause: ref, Old: old, New: alerts}
	p.step.Commands = []string{autoPauseCommand(s, ref, old, alerts)}
	switch back := ref; {
	case ref.UID == "": // it is made, and removed again
		back.UID = "made"
		p.step.Undo = "remove it: " + autoPauseCommand(s, back, alerts, nil)
	case len(alerts) == 0:
		back.UID = ""
		p.step.Undo = "make it again: " + autoPauseCommand(s, back, nil, old)
	default:
		p.step.Undo = "set it back: " + autoPauseCommand(s, back, alerts, old)
	}
}

// autoPauseTitle says what changes: which alerts come in, or which are taken off.
func autoPauseTitle(old, alerts []string) string {
	const pause = " pause the update"
	added, taken := without(alerts, old), without(old, alerts)
	switch {
	case len(alerts) == 0:
		return "remove the UpdateAutoPause"
	case len(old) > 0 && len(added) == 0 && len(taken) > 0:
		return "take " + alertsText(taken) + " off the alerts that" + pause
	case len(old) > 0 && len(added) > 0 && len(taken) == 0:
		return "have " + alertsText(added) + pause + ", too"
	}
	return "have " + alertsText(alerts) + pause
}

// without are the names that others does not have.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

func alertsText(alerts []string) string {
	names := make([]string, len(alerts))
	for i, a := range alerts {
		names[i] = wording.OneLine(a, 80)
	}
	return wording.Some(names, 4)
}

// autoPauseCommand makes, changes or removes the UpdateAutoPause by hand.
func autoPauseCommand(s *core.Snapshot, ref core.Ref, old, alerts []string) string {
	text := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil { // names are texts
			return ""
		}
		return string(raw)
	}
	switch {
	case ref.UID == "":
		return wording.ShellCommand("echo", text(map[string]any{"apiVersion": "kaas.mirantis.com/v1alpha1",
			"kind": string(core.KindAutoPause), "metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace},
			"spec": map[string]any{"alerts": alerts}})) +
			" | " + s.Place.Kubectl("create", "-f", "-")
	case len(alerts) == 0:
		return s.KubectlManagement("delete", "updateautopauses", ref.Name)
	}
	return s.KubectlManagement("patch", "updateautopauses", ref.Name, "--type=json", "-p",
		`[{"op":"test","path":"/spec/alerts","value":`+text(old)+`},{"op":"replace","path":"/spec/alerts","value":`+text(alerts)+`}]`)
}
