package core

import (
	"fmt"
	"strings"
	"time"
)

// stuckAttempts is from which attempt on a drain or a state item that fails is taken for one that does not come right by
// itself: a budget often refuses while its pods start elsewhere.
const stuckAttempts = 3

// mostReboots is how many machines an entry lists that have to be rebooted.
const mostReboots = 8

// machineRules is the table of what the management cluster can tell of one machine that needs a person.
var machineRules = []func(*attentionFacts, *MachineView){
	(*attentionFacts).drainBlocked,
	(*attentionFacts).drainWaits,
	(*attentionFacts).itemFails,
	(*attentionFacts).machineErrors,
}

// machines are the machines on which LCM does not get on.
func (f *attentionFacts) machines() {
	if f.s.Management == nil {
		return
	}
	for _, v := range f.s.Management.Machines {
		for _, rule := range machineRules {
			rule(f, v)
		}
	}
}

// machineEntry is an Attention about a machine: about its node where it has one, so that it leads to the node's steps.
func (f *attentionFacts) machineEntry(rule AttentionRule, v *MachineView) Attention {
	a := Attention{Label: oneLine(v.Name, 64), Subject: Ref{Kind: KindMachine, Namespace: f.s.Management.Namespace, Name: v.Name}}
	if v.Machine != nil {
		a.Subject = v.Machine.Ref()
	} else if v.LCM != nil {
		a.Subject = v.LCM.Ref()
	}
	a.Rule, a.Key = rule, textOf(a.Subject.UID, v.Name)
	if n, ok := f.s.NodeView(v.Node); ok {
		a.Node, a.Label = n.Name, n.Label
		a.Resolve = &ProcedureKey{Kind: ProcedureNode, Subject: n.Name}
		if n.Active() && n.Stage != StageQueued {
			a.Since = n.Since
		}
	}
	return a
}

// tell remembers the words of an entry, so that a text of LCM's that only repeats them makes no entry of its own.
func (f *attentionFacts) tell(words string) {
	words = strings.Join(strings.Fields(words), " ")
	words = words[:min(len(words), 300)] // others may repeat it cut
	if len(words) >= 12 {
		f.told = append(f.told, words)
	}
}

// drainBlocked is a machine whose pods do not go (docs/mosk.md#lcmclusterstate): the locks say nothing of it.
func (f *attentionFacts) drainBlocked(v *MachineView) {
	for _, d := range []*DrainState{v.Drain, v.Swarm} {
		if d == nil || !d.Blocked() {
			continue
		}
		m := ReadDrainMessage(d.Message)
		a := f.machineEntry(RuleDrainBlocked, v)
		a.Key += "/" + oneLine(d.Type, 40)
		a.Severity = SeverityWarning
		if d.Attempt >= stuckAttempts {
			a.Severity = SeverityUrgent
		}
		what := "drain blocked: "
		if d.Type != DrainKubernetes {
			what = oneLine(d.Type, 40) + " blocked: "
		}
		a.Reason = fmt.Sprintf("%s%s, attempt %d", what, m.Reason(), d.Attempt)
		a.Detail = drainRemedy(m)
		f.tell(d.Message)
		f.add(a)
	}
}

// waitOver is how long LCM may take to see that what it waits for has come; it looks within a minute or two.
const waitOver = 10 * time.Minute

// drainWaits is a drain whose turn does not come: LCM says that it waits, which is the normal course, and goes on saying it
// although the locks are inactive, or at one attempt after another (docs/mosk.md#lcm-waits).
func (f *attentionFacts) drainWaits(v *MachineView) {
	for _, d := range []*DrainState{v.Drain, v.Swarm} {
		if d == nil || !d.Waits() {
			continue
		}
		late := f.s.waitsTooLong(v, d)
		if late == "" {
			continue
		}
		a := f.machineEntry(RuleDrainWaits, v)
		a.Key += "/" + oneLine(d.Type, 40)
		a.Severity = SeverityWarning
		if at, all := f.s.locksInactive(v.Node, ReadDrainMessage(d.Message)); all && f.long(at, waitOver) {
			a.Since = Since{At: at}.plus(waitOver)
		}
		a.Reason = ReadDrainMessage(d.Message).Reason() + "; " + late
		if d.Type != DrainKubernetes {
			a.Reason = oneLine(d.Type, 40) + ": " + a.Reason
		}
		a.Detail = "Look at what lcm-controller says of the machine, on the management cluster: what it waits for may have come unseen."
		f.tell(d.Message)
		f.add(a)
	}
}

// waitsTooLong is by what a drain that waits for its turn does so past its time: "the node's locks are inactive since 16:10",
// "attempt 4". Empty when it is in time.
func (s *Snapshot) waitsTooLong(v *MachineView, d *DrainState) string {
	if at, all := s.locksInactive(v.Node, ReadDrainMessage(d.Message)); all && !at.IsZero() && s.Now.Sub(at) > waitOver {
		return "the node's locks are inactive since " + clockText(at)
	}
	if d.Attempt >= stuckAttempts {
		return fmt.Sprintf("attempt %d", d.Attempt)
	}
	return ""
}

// locksInactive tells whether all locks of a node are inactive while LCM waits for locks, and since when, as far as that was seen.
func (s *Snapshot) locksInactive(node string, m DrainMessage) (at time.Time, all bool) {
	if m.First != "" || !s.known(SourceNodeLocks) || len(s.NodeLocks[node]) == 0 {
		return at, false
	}
	for _, l := range s.NodeLocks[node] {
		if l.State() != LockInactive {
			return at, false
		}
		if r := s.History.Locks[l.UID]; r.State == LockInactive {
			at = later(at, r.Since.At)
		}
	}
	return at, true
}

// drainRemedy is what operators do about a drain that is blocked.
func drainRemedy(m DrainMessage) string {
	switch {
	case m.Pod == "":
		return ""
	case m.Budgeted:
		return "See what the budget waits for: where its other pods are not ready, repair them; else delete the pod, its workload makes another one elsewhere. LCM tries again by itself."
	}
	return "See what keeps the pod, or delete it: its workload makes another one elsewhere. LCM tries again by itself."
}

// itemFails is a state item of the LCM agent that fails (docs/mosk.md#lcmmachine). A machine that is Ready has none left to do.
func (f *attentionFacts) itemFails(v *MachineView) {
	if v.Failing == nil || v.LCM.State == LCMReady {
		return
	}
	item := *v.Failing
	a := f.machineEntry(RuleStateItem, v)
	a.Severity = SeverityWarning
	if item.Attempt >= stuckAttempts {
		a.Severity = SeverityUrgent
	}
	a.Reason = itemText(item)
	a.Detail = "LCM runs it again by itself. Look at the machine's own log of it, and at what it needs: mirrors, disk space, the network."
	if !item.Started.IsZero() {
		a.Since = Since{At: item.Started, Exact: item.Attempt <= 1}
	}
	f.tell(item.Message)
	f.add(a)
}

// itemText is "state item host-packages (deploy) failed, attempt 3, exit code 100: …".
func itemText(item StateItem) string {
	text := "state item " + oneLine(item.Name, 60)
	if item.Phase != "" {
		text += " (" + oneLine(item.Phase, 20) + ")"
	}
	text += fmt.Sprintf(" failed, attempt %d, exit code %d", item.Attempt, item.ExitCode)
	if item.Running() {
		text += ", runs again"
	}
	return text + because(oneLine(item.Message, mostRead))
}

// machineErrors are the errors that LCM notes of a machine beside drains and items.
func (f *attentionFacts) machineErrors(v *MachineView) {
	if v.LCM == nil {
		return
	}
	for _, e := range []struct {
		rule       AttentionRule
		what, text string
	}{
		{RuleDrainError, "the drain says", v.LCM.DrainError}, {RuleSwarmError, "the drain of Swarm says", v.LCM.SwarmError},
		{RuleAgentError, "the LCM agent could not be upgraded", v.LCM.AgentError},
		{RuleRebootError, "the reboot failed", v.LCM.RebootError},
	} {
		if e.text == "" || f.isTold(e.text) || ReadDrainMessage(e.text).Waits {
			continue
		}
		a := f.machineEntry(e.rule, v)
		a.Severity, a.Reason = SeverityWarning, e.what+because(oneLine(e.text, mostRead))
		f.tell(e.text)
		f.add(a)
	}
}

// isTold tells whether an entry has the words.
func (f *attentionFacts) isTold(text string) bool {
	text = oneLine(text, 4000)
	for _, words := range f.told {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// untold is what is left of a text of LCM's when the parts that repeat an entry are left out. LCM joins the reasons of
// several machines by semicolons.
func (f *attentionFacts) untold(text string) string {
	text = oneLine(text, 4000)
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

func (f *attentionFacts) planEntry(rule AttentionRule, p *UpdatePlan) Attention {
	return Attention{Rule: rule, Key: textOf(p.UID, p.Name), Severity: SeverityUrgent, Subject: p.Ref(), Label: "update plan", Resolve: clusterProcedure()}
}

// updatePlan is a plan that goes on only by a person's doing: paused by an alert, stuck, or with its next step not commenced
// (docs/mosk.md#update-plans, #automatic-pause).
func (f *attentionFacts) updatePlan() {
	m := f.s.Management
	p := m.Plan()
	if p == nil {
		return
	}
	f.autoPaused(m, p)
	for _, st := range p.Steps {
		if st.Status != PlanStuck {
			continue
		}
		message := f.untold(st.Message)
		if message == "" && st.Message != "" {
			continue
		}
		a := f.planEntry(RulePlanStuck, p)
		a.Key, a.PlanStep = a.Key+"/"+st.ID, st.ID
		a.Reason = stepShort(st) + " is Stuck" + because(oneLine(message, mostRead))
		a.Detail = sentence(stepName(st)) + " A step is Stuck when something does not go on, or when it takes longer than was estimated. A step that has begun cannot be cancelled."
		a.Since = st.late(f.s.Now)
		f.tell(st.Message)
		f.add(a)
	}
	if st, ok := p.next(); ok && p.Status != PlanAutoPaused {
		a := f.planEntry(RulePlanWaits, p)
		a.Severity = SeverityWarning
		a.Reason = "the update goes no further until somebody commences " + stepShort(st)
		a.Detail = join(sentence(stepName(st)), sentence(impactText(st)))
		a.Since = p.pausedSince()
		f.add(a)
	}
}

// autoPaused is an update that an alert has paused.
func (f *attentionFacts) autoPaused(m *Management, p *UpdatePlan) {
	var firing []string
	if m.Pause != nil {
		for _, alert := range m.Pause.Firing {
			firing = append(firing, oneLine(alert, 80))
		}
		if m.Pause.Error != "" {
			a := f.planEntry(RuleAutoPauseError, p)
			a.Severity, a.Subject, a.Reason = SeverityWarning, m.Pause.Ref(), "UpdateAutoPause says: "+oneLine(m.Pause.Error, mostRead)
			f.add(a)
		}
	}
	a := f.planEntry(RuleAutoPause, p)
	switch {
	case p.Status == PlanAutoPaused && len(firing) > 0:
		a.Reason = fmt.Sprintf("the update is paused: %s %s firing", some(firing, 4), verb(len(firing), "is", "are"))
		a.Detail = "See to the cause and wait until the alert is over, or take it out of the UpdateAutoPause; then commence the step again. What is in flight is finished."
	case p.Status == PlanAutoPaused:
		a.Reason = "the update was paused by an alert that is over: it goes on when the step is commenced again"
	case len(firing) > 0 && p.UnderWay():
		a.Severity = SeverityWarning
		a.Reason = fmt.Sprintf("an alert that pauses the update is firing: %s", some(firing, 4))
	default:
		return
	}
	f.add(a)
}

// lcmStuck is what LCM itself says does not go on (docs/mosk.md#lcmcluster), where no machine and no step of the plan tells it.
func (f *attentionFacts) lcmStuck() {
	if f.s.Management == nil || f.s.Management.LCM == nil || !f.s.Management.LCM.Stuck {
		return
	}
	c := f.s.Management.LCM
	message := f.untold(c.StuckMessage)
	if message == "" && c.StuckMessage != "" {
		return
	}
	f.add(Attention{Rule: RuleLCMStuck, Key: textOf(c.UID, c.Name), Severity: SeverityUrgent, Subject: c.Ref(), Label: "LCM", Resolve: clusterProcedure(),
		Reason: "an operation of LCM is stuck" + because(oneLine(message, mostRead))})
}

// rebootsLeft is one entry for all machines that have to be rebooted and that no update will come to any more: a group whose
// machines an update does not reboot leaves them so (docs/mosk.md#after-the-update).
func (f *attentionFacts) rebootsLeft() {
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
		if view, ok := f.s.NodeView(v.Node); ok && (view.Request != nil || f.request != nil && view.Stage != StageDone) {
			continue // its turn comes, or is now
		}
		if n++; n <= mostReboots {
			names = append(names, oneLine(v.Name, 64))
		}
	}
	if n == 0 {
		return
	}
	text := strings.Join(names, ", ")
	if n > len(names) {
		text += fmt.Sprintf(" and %d more", n-len(names))
	}
	a := Attention{Rule: RuleRebootsLeft, Severity: SeverityNotice, Subject: Ref{Kind: KindCluster, Name: f.s.Cluster}, Label: "reboot", Resolve: &ProcedureKey{Kind: ProcedureMaintenance}}
	a.Reason = fmt.Sprintf("%s to be rebooted for what was installed: %s", count(n, "machine")+verb(n, " has", " have"), text)
	f.add(a)
}

// maintenanceMode is a cluster that is in maintenance mode: while it is, it cannot be updated.
func (f *attentionFacts) maintenanceMode() {
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
	a := Attention{Rule: RuleMaintenanceMode, Key: m.Cluster.UID, Severity: SeverityNotice, Subject: m.Cluster.Ref(), Label: "cluster", Resolve: &ProcedureKey{Kind: ProcedureMaintenance}}
	switch {
	case !m.Cluster.InMaintenance:
		a.Reason = "the cluster goes into maintenance mode"
	case !m.Cluster.Wanted():
		a.Reason = "the cluster leaves maintenance mode"
	default:
		a.Reason = "the cluster is in maintenance mode, and " + count(n, "machine") + " of it: it is not updated while it is"
	}
	f.add(a)
}
