package core

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nodeProcedure takes a node through its maintenance: what has happened, what is the operator's to do now, and what others
// do after it (docs/mosk.md#manual-migration, #life-of-a-node).
func (s *Snapshot) nodeProcedure(name string) (Procedure, bool) {
	v, ok := s.NodeView(name)
	if !ok {
		return Procedure{}, false
	}
	b := &nodeSteps{s: s, v: v, lock: s.NodeLock(name, ControllerOpenStack), target: Ref{Kind: KindNode, Name: name}}
	if v.Node != nil {
		b.target = v.Node.Ref()
	}
	if b.lock != nil {
		b.message = s.ReadLock(b.lock)
	}
	p := Procedure{Title: "Take " + v.Label + " through its maintenance", Summary: b.summary(),
		Goal: "The node is updated and back in service, and no instance is lost on the way."}
	switch {
	case v.Request == nil && s.Deletions[name] != nil && !b.gone():
		p.Title, p.Goal = "Let "+v.Label+" leave the cluster", "The node is removed, and nothing that anybody needs goes with it."
		b.removal()
	case b.gone():
		p.Title, p.Goal, p.Summary = goneTitle(v.Label), goneGoal, b.goneSummary()
		b.cleanup()
	case v.Request == nil:
		b.outside()
	case v.Request.ByHand() && v.Request.Deleting.IsZero():
		p.Title, p.Goal = "Take "+v.Label+" through maintenance by hand", "Your work on the node is done, it is back in service, and no instance is lost on the way."
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
		if b.s.returnFailsOnService(b.v.Name) {
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

// prepare is what gets the node ready for LCM: the OpenStack controller's part, or ours where Lockstep plays it.
func (b *nodeSteps) prepare() {
	b.stuckLockSteps()
	b.serviceSteps()
	b.situation()
	if !b.s.playsOn(ControllerOpenStack, b.v.Name) {
		b.evacuation()
	}
	b.act()
	b.locks()
}

// nodeSteps collects the steps of one node.
type nodeSteps struct {
	s       *Snapshot
	v       NodeView
	lock    *WorkloadLock // the OpenStack controller's; nil when there is none
	message LockMessage   // of lock
	target  Ref
	steps   []Step
}

// add adds steps, each once: what two rules propose is one step.
func (b *nodeSteps) add(steps ...Step) {
	for _, st := range steps {
		if st.ID == "" || !slices.ContainsFunc(b.steps, func(have Step) bool { return have.ID == st.ID }) {
			b.steps = append(b.steps, st)
		}
	}
}

// other is a step that is somebody else's to do.
func (b *nodeSteps) other(id, title, why string, state StepState, status string) Step {
	return Step{ID: stepID(id, b.target), Target: b.target, Label: b.v.Label, Node: b.v.Name, Title: title, Why: why, State: state, Status: status}
}

// summary is what is known of the node that matters here.
func (b *nodeSteps) summary() []string {
	s, v := b.s, b.v
	out := []string{string(v.Stage) + ": " + v.Reason}
	mode := "migration mode " + oneLine(string(v.Mode), 40)
	if !v.ModeSet {
		mode += " (not set: the default)"
	}
	switch compute := v.Node == nil || v.Node.Is(RoleCompute); {
	case compute:
		out = append(out, fmt.Sprintf("%s, %d attempts", mode, v.Attempts))
	case v.ModeSet && v.ModeCounts:
		out = append(out, mode)
	}
	if b.message.Class != MessageNone {
		who := "the OpenStack controller says: "
		if s.playsOn(ControllerOpenStack, v.Name) {
			who = "its lock says: "
		}
		if text := oneLine(b.message.Text, mostRead); !strings.HasSuffix(v.Reason, text) {
			out = append(out, who+text)
		}
	}
	out = append(out, b.account()...)
	if v.Node != nil && v.Node.Is(RoleCompute) {
		switch {
		case v.Instances < 0:
			out = append(out, "its instances are not known: "+s.whyUnknown(SourceInstances))
		default:
			line := count(v.Instances, "instance")
			if v.Blocking > 0 && v.Request == nil {
				line += fmt.Sprintf(", %d would hold it now%s", v.Blocking, b.needHands())
			} else if v.Blocking > 0 {
				line += fmt.Sprintf(", %d in the way", v.Blocking)
			}
			out = append(out, line)
		}
	}
	if v.Service != nil && !v.Service.Enabled {
		out = append(out, "nova-compute is "+serviceText(v.Service))
	}
	out = append(out, b.endedPodsSummary()...)
	out = append(out, b.volumesSummary()...)
	if text := s.MachineOf(v.Name).text(); text != "" {
		out = append(out, text)
	}
	return append(out, v.Problems...)
}

// needHands names the instances that nothing but a person moves.
func (b *nodeSteps) needHands() string {
	var names []string
	for _, v := range b.s.InstanceViews(b.v.Name) {
		if v.Blocks && !v.Migrates {
			names = append(names, instanceLabel(v.Instance))
		}
	}
	if len(names) == 0 || b.v.Mode == ModeManual {
		return ""
	}
	return ": nothing but a person moves " + some(names, 4)
}

// asked says that LCM wants the node.
func (b *nodeSteps) asked() {
	r := b.v.Request
	status := "since " + clockText(r.Created)
	if scope := b.s.scopeOf(r); scope != "" {
		status += ", scope " + oneLine(string(scope), 20)
	}
	who := "LCM asks for "
	if r.ByHand() {
		who = "an operator asks for "
	}
	if a := b.s.requestAccount(r); a.State == AccountUnseen {
		status += ", never seen by the OpenStack controller"
	}
	b.add(b.other("asked", who+b.v.Label, "A NodeMaintenanceRequest names the node: its application controllers prepare it.", StepDone, status))
	if lacksScope(r) && b.lock != nil {
		st := b.other("scope", "the request gets its scope", sentence(scopeless), StepWaiting,
			"whoever made it says whether the host may reboot (os) or not (drain)")
		st.Why = join(st.Why, "Without one all that runs on the node counts as in the way, as in scope os.", b.s.accountSentence(b.s.requestAccount(r), b.v.Name, b.message))
		st.Commands = []string{scopeCommand(r)}
		b.add(st)
	}
}

// held tells whether the OpenStack controller holds the node.
func (b *nodeSteps) held() bool { return b.lock != nil && b.lock.State() != LockInactive }

// sentences are texts, each as a sentence of its own.
func sentences(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = sentence(text)
	}
	return out
}

// sentence is a text as a sentence of its own.
func sentence(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ".")
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:] + "."
}
