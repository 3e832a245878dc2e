package attention

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// mostReboots is how many machines to be rebooted an entry lists.
const mostReboots = 8

// machineRules is the table of what can need a person at one machine, as the management cluster shows it.
var machineRules = []func(*facts, *core.MachineView){
	(*facts).drainBlocked,
	(*facts).drainWaits,
	(*facts).itemFails,
	(*facts).machineErrors,
}

var stirred core.Derivation[[]*core.MachineView]

// stirredMachines are the machines of which LCM says anything that machineRules look at: a few of thousands.
func stirredMachines(s *core.Snapshot) []*core.MachineView {
	return slices.DeleteFunc(slices.Clone(s.Management.Machines), func(v *core.MachineView) bool {
		return v.Drain == nil && v.Swarm == nil && v.Failing == nil &&
			(v.LCM == nil || v.LCM.DrainError == "" && v.LCM.SwarmError == "" && v.LCM.AgentError == "" && v.LCM.RebootError == "")
	})
}

// machines finds the machines on which LCM does not get on.
func (f *facts) machines() {
	if f.s.Management == nil {
		return
	}
	for _, v := range stirred.OfKeyed(f.s, f.s.Management, stirredMachines) {
		for _, rule := range machineRules {
			rule(f, v)
		}
	}
}

// machineEntry makes an entry about a machine, or about its node if it has one, so that it leads to the node's steps.
func (f *facts) machineEntry(rule core.AttentionRule, v *core.MachineView) core.Attention {
	a := core.Attention{Label: wording.OneLine(v.Name, 64),
		Subject: core.Ref{Kind: core.KindMachine, Namespace: f.s.Management.Namespace, Name: v.Name}}
	if v.Machine != nil {
		a.Subject = v.Machine.Ref()
	} else if v.LCM != nil {
		a.Subject = v.LCM.Ref()
	}
	a.Rule, a.Key = rule, wording.TextOf(a.Subject.UID, v.Name)
	if n, ok := progress.NodeView(f.s, v.Node); ok {
		a.Node, a.Label = n.Name, n.Label
		a.Resolve = &core.ProcedureKey{Kind: core.ProcedureNode, Subject: n.Name}
		if n.Active() && n.Stage != core.StageQueued {
			a.Since = n.Since
		}
	}
	return a
}

// tell remembers the words of an entry, so that a text of LCM that only repeats them makes no entry of its own.
func (f *facts) tell(words string) {
	words = strings.Join(strings.Fields(words), " ")
	words = words[:min(len(words), 300)] // other texts may repeat it cut off
	if len(words) >= 12 {
		f.told = append(f.told, words)
	}
}

// drainBlocked finds a machine whose pods do not go (docs/mosk.md#lcmclusterstate). The locks do not show it.
func (f *facts) drainBlocked(v *core.MachineView) {
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		if d == nil || !progress.DrainBlocked(d) {
			continue
		}
		m := progress.ReadDrainMessage(d.Message)
		a := f.machineEntry(core.RuleDrainBlocked, v)
		a.Key += "/" + wording.OneLine(d.Type, 40)
		a.Severity = core.SeverityWarning
		if d.Attempt >= progress.StuckAttempts {
			a.Severity = core.SeverityUrgent
		}
		what := "drain blocked: "
		if d.Type != core.DrainKubernetes {
			what = wording.OneLine(d.Type, 40) + " blocked: "
		}
		a.Reason = fmt.Sprintf("%s%s, attempt %d", what, m.Reason(), d.Attempt)
		a.Detail = procedure.DrainRemedy(m)
		f.tell(d.Message)
		f.add(a)
	}
}

// drainWaits finds a drain whose turn does not come. That LCM says that it waits is normal; but here it still says so although the
// locks are inactive, or at one attempt after another (docs/mosk.md#lcm-waits).
func (f *facts) drainWaits(v *core.MachineView) {
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		if d == nil || !progress.DrainWaits(d) {
			continue
		}
		late := progress.WaitsTooLong(f.s, v, d)
		if late == "" {
			continue
		}
		a := f.machineEntry(core.RuleDrainWaits, v)
		a.Key += "/" + wording.OneLine(d.Type, 40)
		a.Severity = core.SeverityWarning
		if at, all := progress.LocksInactive(f.s, v.Node, progress.ReadDrainMessage(d.Message)); all && f.long(at, progress.WaitOver) {
			a.Since = core.Since{At: at}.Plus(progress.WaitOver)
		}
		a.Reason = progress.ReadDrainMessage(d.Message).Reason() + "; " + late
		if d.Type != core.DrainKubernetes {
			a.Reason = wording.OneLine(d.Type, 40) + ": " + a.Reason
		}
		a.Detail = "Look at what lcm-controller says of the machine, on the management cluster: it may have missed what it waits for."
		f.tell(d.Message)
		f.add(a)
	}
}

// itemFails finds a state item of the LCM agent that fails (docs/mosk.md#lcmmachine). A machine that is Ready has none left to do.
func (f *facts) itemFails(v *core.MachineView) {
	if v.Failing == nil || v.LCM.State == core.LCMReady {
		return
	}
	item := *v.Failing
	a := f.machineEntry(core.RuleStateItem, v)
	a.Severity = core.SeverityWarning
	if item.Attempt >= progress.StuckAttempts {
		a.Severity = core.SeverityUrgent
	}
	a.Reason = progress.ItemText(item)
	if !item.Started.IsZero() {
		a.Since = core.Since{At: item.Started, Exact: item.Attempt <= 1}
	}
	f.tell(item.Message)
	f.add(a)
}

// machineErrors finds the errors that LCM notes on a machine beside drains and items.
func (f *facts) machineErrors(v *core.MachineView) {
	if v.LCM == nil {
		return
	}
	for _, e := range []struct {
		rule       core.AttentionRule
		what, text string
	}{
		{core.RuleDrainError, "the drain says", v.LCM.DrainError}, {core.RuleSwarmError, "the drain of Swarm says", v.LCM.SwarmError},
		{core.RuleAgentError, "the LCM agent could not be upgraded", v.LCM.AgentError},
		{core.RuleRebootError, "the reboot failed", v.LCM.RebootError},
	} {
		if e.text == "" || f.isTold(e.text) || progress.ReadDrainMessage(e.text).Waits {
			continue
		}
		a := f.machineEntry(e.rule, v)
		a.Severity, a.Reason = core.SeverityWarning, e.what+wording.Because(wording.OneLine(e.text, wording.MostRead))
		f.tell(e.text)
		f.add(a)
	}
}

// isTold tells whether an entry has these words already.
func (f *facts) isTold(text string) bool {
	text = wording.OneLine(text, 4000)
	for _, words := range f.told {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// untold is a text of LCM without the parts that repeat an entry. LCM joins the reasons of several machines by semicolons.
func (f *facts) untold(text string) string {
	text = wording.OneLine(text, 4000)
	for _, words := range f.told { // which may have semicolons of their own
		text = strings.ReplaceAll(text, words, strings.ReplaceAll(words, "; ", ", "))
	}
	var left []string
	for _, part := range strings.Split(text, "; ") {
		told := false
		for _, words := range f.told {
			told = told || strings.Contains(part, strings.ReplaceAll(words, "; ", ", "))
		}
		if !told {
			left = append(left, part)
		}
	}
	return strings.Join(left, "; ")
}

func (f *facts) planEntry(rule core.AttentionRule, p *core.UpdatePlan) core.Attention {
	return core.Attention{Rule: rule, Key: wording.TextOf(p.UID, p.Name), Severity: core.SeverityUrgent, Subject: p.Ref(),
		Label: "update plan", Resolve: procedure.UpdateKey()}
}

// updatePlan finds an update plan that goes on only when a person acts: it is paused by an alert, Stuck, or its next step is not
// commenced (docs/mosk.md#update-plans, #automatic-pause).
func (f *facts) updatePlan() {
	m := f.s.Management
	p := m.Plan()
	if p == nil {
		return
	}
	f.autoPaused(m, p)
	f.planStatus(p)
	for _, st := range p.Steps {
		if st.Status != core.PlanStuck {
			continue
		}
		message := f.untold(st.Message)
		if message == "" && st.Message != "" {
			continue
		}
		a := f.planEntry(core.RulePlanStuck, p)
		a.Key, a.PlanStep = a.Key+"/"+st.ID, st.ID
		a.Reason = progress.StepShort(st) + " is Stuck" + wording.Because(wording.OneLine(message, wording.MostRead))
		a.Detail = wording.Sentence(progress.StepName(st)) +
			" A step is Stuck when something does not go on, or when it takes longer than was estimated. A step that has begun cannot be cancelled."
		a.Since = st.Late(f.s)
		f.tell(st.Message)
		f.add(a)
	}
	st, ok := p.Next()
	// While an alert fires it is LCM that takes commence from a step that has begun; the plan says so a moment later.
	pausing := ok && st.Held() && m.Pause != nil && len(m.Pause.Firing) > 0
	if ok && p.Status != core.PlanAutoPaused && !pausing {
		a := f.planEntry(core.RulePlanWaits, p)
		a.Severity = core.SeverityWarning
		a.Reason = "the update goes no further until somebody commences " + progress.StepShort(st)
		a.Detail = wording.Join(wording.Sentence(progress.StepName(st)), wording.Sentence(progress.ImpactText(st)))
		a.Since = p.PausedSince()
		if st.Held() {
			a.Reason = progress.StepShort(st) + " is held: no further machine is begun until somebody commences it again"
			a.Since = core.Since{} // the plan does not tell it
		}
		if a.Since.At.IsZero() {
			a.Since = progress.StandsSince(f.s, core.StandsForStep)
		}
		f.add(a)
	}
}

// planStatus finds a status of the plan or of one of its steps that no document lists: what it means for the update is not known.
func (f *facts) planStatus(p *core.UpdatePlan) {
	tell := func(key, what, status, message string) {
		a := f.planEntry(core.RulePlanStatus, p)
		a.Key, a.PlanStep = a.Key+"/"+key, key
		a.Severity = core.SeverityWarning
		if strings.EqualFold(status, "Failed") {
			a.Severity = core.SeverityUrgent
		}
		a.Reason = what + " has a status that no document lists: " + wording.OneLine(fmt.Sprintf("%q", status), 40) +
			wording.Prefixed("; ", wording.OneLine(message, wording.MostRead))
		a.Detail = "Lockstep takes it for neither going on nor complete. Look at the plan, and at LCM's log."
		f.add(a)
	}
	if core.PlanStatusUnlisted(p.Status) {
		tell("", "the update plan", p.Status, "")
	}
	for _, st := range p.Steps {
		if core.PlanStatusUnlisted(st.Status) {
			tell(st.ID, progress.StepShort(st), st.Status, st.Message)
		}
	}
}

// autoPaused finds an update that an alert has paused.
func (f *facts) autoPaused(m *core.Management, p *core.UpdatePlan) {
	var firing []string
	if m.Pause != nil {
		for _, alert := range m.Pause.Firing {
			firing = append(firing, wording.OneLine(alert, 80))
		}
		if m.Pause.Error != "" {
			a := f.planEntry(core.RuleAutoPauseError, p)
			a.Severity, a.Subject, a.Reason = core.SeverityWarning, m.Pause.Ref(),
				"UpdateAutoPause says: "+wording.OneLine(m.Pause.Error, wording.MostRead)
			f.add(a)
		}
	}
	a := f.planEntry(core.RuleAutoPause, p)
	switch {
	case p.Status == core.PlanAutoPaused && len(firing) > 0:
		a.Reason = fmt.Sprintf("the update is paused: %s %s firing", wording.Some(firing, 4), wording.Verb(len(firing), "is", "are"))
		a.Since = progress.StandsSince(f.s, core.StandsByAlert)
	case p.Status == core.PlanAutoPaused && !f.s.Known(core.SourceAutoPauses):
		a.Reason = "the update was paused by an alert; whether it still fires is not known: " + f.s.WhyUnknown(core.SourceAutoPauses)
		a.Detail = "While it fires, commence is taken away again. Look at the alerts of the management cluster first."
		a.Since = progress.StandsSince(f.s, core.StandsByAlert)
	case p.Status == core.PlanAutoPaused:
		a.Reason = "the update was paused by an alert that is over: it goes on when the step is commenced again"
		a.Since = progress.StandsSince(f.s, core.StandsByAlert)
	case len(firing) > 0 && p.UnderWay():
		a.Severity = core.SeverityWarning
		a.Reason = fmt.Sprintf("an alert that pauses the update is firing: %s", wording.Some(firing, 4))
	default:
		return
	}
	f.add(a)
}

// lcmStuck finds an operation that is stuck by LCM's own word (docs/mosk.md#lcmcluster), if no machine and no step of the plan says it.
func (f *facts) lcmStuck() {
	if f.s.Management == nil || f.s.Management.LCM == nil || !f.s.Management.LCM.Stuck {
		return
	}
	c := f.s.Management.LCM
	message := f.untold(c.StuckMessage)
	if message == "" && c.StuckMessage != "" {
		return
	}
	f.add(core.Attention{Rule: core.RuleLCMStuck, Key: wording.TextOf(c.UID, c.Name), Severity: core.SeverityUrgent, Subject: c.Ref(),
		Label: "LCM", Resolve: clusterProcedure(),
		Reason: "an operation of LCM is stuck" + wording.Because(wording.OneLine(message, wording.MostRead))})
}

// rebootsLeft makes one entry for all machines that have to be rebooted and that no update will reboot: some update groups leave their
// machines so (docs/mosk.md#after-the-update).
func (f *facts) rebootsLeft() {
	m := f.s.Management
	if m == nil || m.Reboot != nil {
		return
	}
	var names []string
	n := 0
	for _, v := range m.Machines {
		if v.Machine == nil || !v.Machine.Reboot {
			continue
		}
		if view, ok := progress.NodeView(f.s, v.Node); ok && (view.Request != nil || f.request != nil && view.Stage != core.StageDone) {
			continue // its turn comes, or is now
		}
		if n++; n <= mostReboots {
			names = append(names, wording.OneLine(v.Name, 64))
		}
	}
	if n == 0 {
		return
	}
	text := strings.Join(names, ", ")
	if n > len(names) {
		text += fmt.Sprintf(" and %d more", n-len(names))
	}
	a := core.Attention{Rule: core.RuleRebootsLeft, Severity: core.SeverityNotice,
		Subject: core.Ref{Kind: core.KindCluster, Name: f.s.Cluster}, Label: "reboot",
		Resolve: &core.ProcedureKey{Kind: core.ProcedureMaintenance}}
	a.Reason = fmt.Sprintf("%s to be rebooted for what was installed: %s", wording.Count(n, "machine")+wording.Verb(n, " has", " have"), text)
	f.add(a)
}

// maintenanceMode finds a cluster in maintenance mode, which cannot be updated.
func (f *facts) maintenanceMode() {
	m := f.s.Management
	if m == nil || m.Cluster == nil || !m.Cluster.InMaintenance && !m.Cluster.Wanted() {
		return
	}
	n := 0
	for _, v := range m.Machines {
		if v.Machine != nil && v.Machine.InMaintenance {
			n++
		}
	}
	a := core.Attention{Rule: core.RuleMaintenanceMode, Key: m.Cluster.UID, Severity: core.SeverityNotice, Subject: m.Cluster.Ref(),
		Label: "cluster", Resolve: &core.ProcedureKey{Kind: core.ProcedureMaintenance}}
	switch {
	case !m.Cluster.InMaintenance:
		a.Reason = "the cluster goes into maintenance mode"
	case !m.Cluster.Wanted():
		a.Reason = "the cluster leaves maintenance mode"
	default:
		a.Reason = "the cluster is in maintenance mode, and " + wording.Count(n, "machine") + " of it: it cannot be updated meanwhile"
	}
	f.add(a)
}
