package procedure

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// nodeProcedure takes a node through its maintenance: what has happened, what the operator does now, and what others do after that
// (docs/mosk.md#manual-migration, #life-of-a-node).
func nodeProcedure(s *core.Snapshot, name string) (core.Procedure, bool) {
	v, ok := progress.NodeView(s, name)
	if !ok {
		return core.Procedure{}, false
	}
	b := &nodeSteps{s: s, v: v, lock: s.NodeLock(name, core.ControllerOpenStack), target: core.Ref{Kind: core.KindNode, Name: name}}
	if v.Node != nil {
		b.target = v.Node.Ref()
	}
	if b.lock != nil {
		b.message = progress.ReadLock(s, b.lock)
	}
	p := core.Procedure{Title: "Take " + v.Label + " through its maintenance", Summary: b.summary(),
		Goal: "The node is updated and back in service, and no instance is lost on the way."}
	switch {
	case v.Request == nil && s.Deletions[name] != nil && !b.gone():
		p.Title, p.Goal = "Let "+v.Label+" leave the cluster", "The node is removed, and nothing that anybody needs goes with it."
		b.removal()
	case v.Request == nil && v.Node != nil && !v.Node.Deleting.IsZero():
		p.Title, p.Goal = "Let "+v.Label+" leave the cluster", "Its Node is gone, and what it leaves behind can be cleaned up."
		p.Summary = []string{string(v.Stage) + ": " + v.Reason}
		b.leaves()
	case b.gone():
		p.Title, p.Goal, p.Summary = goneTitle(v.Label), goneGoal, b.goneSummary()
		b.cleanup()
	case v.Request == nil:
		b.outside()
	case v.Request.ByHand() && v.Request.Deleting.IsZero():
		p.Title, p.Goal = "Take "+v.Label+" through maintenance by hand",
			"Your work on the node is done, it is back in service, and no instance is lost on the way."
		b.asked()
		b.remoteUsers()
		b.prepare()
		b.endedPodSteps()
		b.byHand()
		b.restore()
	case v.Request.Deleting.IsZero():
		b.asked()
		b.remoteUsers()
		b.prepare()
		b.endedPodSteps()
		b.lcm()
		b.restore()
		b.lastResort()
	default:
		b.asked()
		b.remoteUsers()
		b.endedPodSteps()
		if ReturnFailsOnService(b.s, b.v.Name) {
			b.serviceSteps()
		}
		b.act()
		b.locks()
		b.lcm()
		b.restore()
	}
	b.add(b.awaySteps()...)
	b.machineSteps()
	p.Steps = b.steps
	return p, true
}

// prepare adds the steps that get the node ready for LCM: the OpenStack controller's part, or Lockstep's where it plays it.
func (b *nodeSteps) prepare() {
	b.stuckLockSteps()
	b.serviceSteps()
	b.situation()
	if !progress.PlaysOn(b.s, core.ControllerOpenStack, b.v.Name) {
		b.evacuation()
	}
	b.act()
	b.locks()
}

// nodeSteps collects the steps of one node.
type nodeSteps struct {
	s       *core.Snapshot
	v       *core.NodeView
	lock    *core.WorkloadLock   // the OpenStack controller's; nil when there is none
	message progress.LockMessage // of lock
	target  core.Ref
	steps   []core.Step
}

// add adds steps, each once: a step that two rules propose is one step.
func (b *nodeSteps) add(steps ...core.Step) {
	for _, st := range steps {
		if st.ID == "" || !slices.ContainsFunc(b.steps, func(have core.Step) bool { return have.ID == st.ID }) {
			b.steps = append(b.steps, st)
		}
	}
}

// other is a step that is not Lockstep's to do: a controller's, LCM's, or the operator's by hand.
func (b *nodeSteps) other(id, title, why string, state core.StepState, status string) core.Step {
	return core.Step{ID: step.ID(id, b.target), Target: b.target, Label: b.v.Label, Node: b.v.Name, Title: title, Why: why, State: state,
		Status: status}
}

// summary is the lines at the head of the node's procedure.
func (b *nodeSteps) summary() []string {
	s, v := b.s, b.v
	out := []string{string(v.Stage) + ": " + v.Reason}
	mode := "migration mode " + wording.OneLine(string(v.Mode), 40)
	if !v.ModeSet {
		mode += " (not set: the default)"
	}
	switch compute := v.Node == nil || v.Node.Is(core.RoleCompute); {
	case compute:
		out = append(out, fmt.Sprintf("%s, %d attempts", mode, v.Attempts))
	case v.ModeSet && v.ModeCounts:
		out = append(out, mode)
	}
	if b.message.Class != progress.MessageNone {
		who := "the OpenStack controller says: "
		if progress.PlaysOn(s, core.ControllerOpenStack, v.Name) {
			who = "its lock says: "
		}
		if text := wording.OneLine(b.message.Text, wording.MostRead); !strings.HasSuffix(v.Reason, text) {
			out = append(out, who+text)
		}
	}
	out = append(out, b.account()...)
	if v.Node != nil && v.Node.Is(core.RoleCompute) {
		switch {
		case v.Instances < 0:
			out = append(out, "its instances are not known: "+s.WhyUnknown(core.SourceInstances))
		default:
			line := wording.Count(v.Instances, "instance")
			if v.Blocking > 0 && v.Request == nil {
				line += fmt.Sprintf(", %d would hold it now%s", v.Blocking, b.needHands())
			} else if v.Blocking > 0 {
				line += fmt.Sprintf(", %d in the way", v.Blocking)
			}
			out = append(out, line)
		}
	}
	if v.Service != nil && !v.Service.Enabled {
		out = append(out, "nova-compute is "+core.ServiceText(v.Service))
	}
	out = append(out, b.endedPodsSummary()...)
	out = append(out, b.volumesSummary()...)
	if text := progress.MachineText(progress.MachineOf(s, v.Name)); text != "" {
		out = append(out, text)
	}
	return append(out, v.Problems...)
}

// needHands names the instances that only a person moves; empty in mode manual, where that goes for all.
func (b *nodeSteps) needHands() string {
	var names []string
	for _, v := range progress.InstanceViews(b.s, b.v.Name) {
		if v.Blocks && !v.Migrates {
			names = append(names, progress.InstanceLabel(v.Instance))
		}
	}
	if len(names) == 0 || b.v.Mode == core.ModeManual {
		return ""
	}
	return ": nothing but a person moves " + wording.Some(names, 4)
}

// asked adds the step that says who asks for the node.
func (b *nodeSteps) asked() {
	r := b.v.Request
	status := "since " + wording.ClockText(r.Created)
	if scope := progress.ScopeOf(b.s, r); scope != "" {
		status += ", scope " + wording.OneLine(string(scope), 20)
	}
	who := "LCM asks for "
	if r.ByHand() {
		who = "an operator asks for "
	}
	if a := progress.RequestAccount(b.s, r); a.State == progress.AccountUnseen {
		status += ", never seen by the OpenStack controller"
	}
	b.add(b.other("asked", who+b.v.Label, "A NodeMaintenanceRequest names the node: its application controllers prepare it.", core.StepDone,
		status))
	if progress.LacksScope(r) && b.lock != nil {
		st := b.other("scope", "the request gets its scope", wording.Sentence(progress.Scopeless), core.StepWaiting,
			"whoever made it says whether the host may reboot (os) or not (drain)")
		st.Why = wording.Join(st.Why, "Without one all that runs on the node counts as in the way, as in scope os.",
			progress.AccountSentence(b.s, progress.RequestAccount(b.s, r), b.v.Name, b.message))
		st.Commands = []string{step.ScopeCommand(r)}
		b.add(st)
	}
}

// held tells whether the OpenStack controller holds the node.
func (b *nodeSteps) held() bool { return b.lock != nil && b.lock.State() != core.LockInactive }

// account says what the OpenStack controller does with the node's request. Where Lockstep plays it, a handled request is named too.
func (b *nodeSteps) account() []string {
	s, name, a := b.s, b.v.Name, progress.NodeAccount(b.s, b.v.Name)
	played := progress.PlaysOn(s, core.ControllerOpenStack, name)
	text := progress.AccountLine(s, a, name, b.message)
	switch {
	case text == "" || a.State == progress.AccountHandled && !played:
		return nil
	case played:
	case strings.HasSuffix(b.v.Reason, text), a.Fails() && strings.Contains(b.v.Reason, progress.AccountText(s, a, !a.OnLock(b.message))):
		return nil // the first line says it
	}
	return []string{progress.ControllerName(s, name) + " " + text}
}
