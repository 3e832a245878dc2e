package core

import (
	"fmt"
	"slices"
	"strings"
)

// plannerOf is the table of intents: which of them is planned how; nil for an intent that is not known.
func plannerOf(kind IntentKind) func(*planner) {
	switch kind {
	case IntentSetMode:
		return (*planner).setMode
	case IntentSetAttempts:
		return (*planner).setAttempts
	case IntentDeclareSafe:
		return (*planner).declareSafe
	case IntentRestoreMode:
		return (*planner).restoreMode
	case IntentLiveMigrateAll:
		return (*planner).liveMigrateAll
	case IntentDisableCompute:
		return (*planner).disableCompute
	case IntentEnableCompute:
		return (*planner).enableCompute
	case IntentDisableVolume:
		return (*planner).disableVolume
	case IntentEnableVolume:
		return (*planner).enableVolume
	case IntentOverrideLock:
		return (*planner).overrideLock
	case IntentFreeLock:
		return (*planner).freeLock
	case IntentRearmLock:
		return (*planner).rearmLock
	case IntentClearInner:
		return (*planner).clearInner
	case IntentAskCluster, IntentAskNode:
		return (*planner).ask
	case IntentWithdraw:
		return (*planner).withdraw
	case IntentActHold:
		return (*planner).actHold
	case IntentActDeleteClaim:
		return (*planner).actDeleteClaim
	case IntentActLetGo:
		return (*planner).actLetGo
	case IntentActCreateLock, IntentActBegin, IntentActOutOfScheduling, IntentActSay, IntentActRelease, IntentActIntoScheduling, IntentActRearm, IntentActFinish,
		IntentActVolumeOut, IntentActVolumeIn, IntentActDropLock:
		return (*planner).act
	case IntentTagPowerOff:
		return (*planner).tagPowerOff
	case IntentRestoreTags:
		return (*planner).restoreTags
	case IntentRestartPod:
		return (*planner).restartPod
	case IntentRestartPods:
		return (*planner).restartPods
	case IntentRestartAgent:
		return (*planner).restartAgent
	case IntentRestartAgents:
		return (*planner).restartAgents
	case IntentDeletePod:
		return (*planner).deletePod
	case IntentDeletePods:
		return (*planner).deletePods
	case IntentAddTempest, IntentRemoveTempest:
		return (*planner).tempest
	case IntentEnterCluster, IntentLeaveCluster:
		return (*planner).clusterMaintenance
	case IntentEnterMachine, IntentLeaveMachine:
		return (*planner).machineMaintenance
	case IntentReboot:
		return (*planner).gracefulReboot
	}
	if _, ok := instanceRules[kind]; ok {
		return (*planner).instanceAction
	}
	return nil
}

// Plan makes the step of an intent from what is known now: its guards evaluated, its commands written out, its basis
// taken down. It is pure, and total: an intent on something that is not there is a step with a guard that does not hold.
func Plan(s *Snapshot, i Intent) Step {
	p := &planner{s: s, i: i, step: Step{ID: string(i.Kind), Intent: i, Title: string(i.Kind)}}
	if plan := plannerOf(i.Kind); plan != nil {
		plan(p)
	} else {
		p.unknown("Lockstep knows what is asked for", fmt.Sprintf("it knows no %q", oneLine(string(i.Kind), 40)))
	}
	p.settle()
	return p.step
}

// planner makes one step.
type planner struct {
	s    *Snapshot
	i    Intent
	step Step
	done string // what the cluster shows when there is nothing left to do; empty while there is
}

// guard adds a condition.
func (p *planner) guard(g Guard) { p.step.Guards = append(p.step.Guards, g) }

// fact adds something on which the step rests.
func (p *planner) fact(name, value string) {
	p.step.Basis = append(p.step.Basis, Fact{Name: name, Value: value})
}

// unknown ends the planning of a step whose object is not there: there is nothing to do, and a guard that says so.
func (p *planner) unknown(text, answer string) {
	p.guard(Guard{ID: GuardExists, Text: text, Answer: answer})
	p.step.Change = nil
}

// identify gives the step its stable ID and its target. An object without a UID is known by its name only.
func (p *planner) identify(target Ref) {
	p.step.Target, p.step.ID = target, stepID(p.i.Kind, target)
}

// stepID is the ID of a step that does one thing to one object.
func stepID[Kind ~string](kind Kind, target Ref) string {
	return string(kind) + "/" + textOf(target.UID, target.Name)
}

// settle gives the step its state, from the cluster first and from what Lockstep does second.
func (p *planner) settle() {
	st := &p.step
	if p.done != "" {
		st.Change = nil
	}
	op, status := p.s.operationOf(*st)
	switch {
	case op == OperationQueued:
		st.State, st.Status = StepWaiting, status
	case op != "" && !op.Ended():
		st.State, st.Status = StepRunning, status
		st.Title = p.s.runsAs(*st)
	case p.done != "":
		st.State, st.Status = StepDone, p.done
	case op == OperationFailed || op == OperationUnknown:
		st.State, st.Status = StepFailed, status
	case st.State != "": // the planner knows better
	case !st.Doable():
		st.State = StepBlocked
	default:
		st.State = StepReady
	}
}

// runsAs is what the step was called when it was confirmed: a batch that is half through is still the batch that was granted,
// though there is less to do by now.
func (s *Snapshot) runsAs(step Step) string {
	for _, op := range s.Operations {
		if op.Step == step.ID && !op.State.Ended() {
			return op.Title
		}
	}
	return step.Title
}

// operationOf is how the newest operation that does the step goes, and what to say of it; empty when there is none that
// still matters: a failure that was acknowledged does not.
func (s *Snapshot) operationOf(step Step) (OperationState, string) {
	for _, op := range s.Operations { // newest first
		if op.Step == step.ID {
			if op.Acknowledged || op.State == OperationDone || op.State == OperationSkipped || op.State == OperationStopped {
				return "", ""
			}
			if op.Past && len(op.Items) > 0 && !op.State.Ended() {
				return "", "" // what is under way is its items' matter; the rest can be confirmed anew
			}
			return op.State, op.goes()
		}
		if !op.mayDo(step) {
			continue
		}
		for _, item := range op.Items {
			if !item.does(step) {
				continue
			}
			switch {
			case item.State == OperationFailed || item.State == OperationUnknown:
				if !op.Acknowledged {
					return item.State, item.Text
				}
				return "", ""
			case item.State.Ended() || op.State.Ended():
				return "", ""
			case item.State == OperationQueued:
				return OperationQueued, "its turn comes: " + op.Title
			}
			return item.State, item.Text
		}
	}
	return "", ""
}

// mayDo tells whether the operation is a batch that can have the step as one of its items.
func (op Operation) mayDo(step Step) bool {
	switch step.Intent.Kind {
	case IntentLiveMigrate:
		return op.is(IntentLiveMigrateAll)
	case IntentRestartPod:
		return op.is(IntentRestartPods) && op.Intent.Workload == step.Intent.Workload
	}
	return false
}

// goes is how the operation goes, in a few words.
func (op Operation) goes() string {
	if len(op.Items) == 0 || op.State.Ended() || op.Past {
		return op.Text
	}
	done := 0
	for _, item := range op.Items {
		if item.State.Ended() && item.State != OperationFailed {
			done++
		}
	}
	text := fmt.Sprintf("%d of %d done", done, len(op.Items))
	if op.Text != "" {
		text += ", " + op.Text
	}
	return text
}

// node is the one node that the intent is about; empty where it is about none, or more.
func (i Intent) node() string {
	if names := i.nodesOf(); len(names) == 1 {
		return names[0]
	}
	return ""
}

// nodesOf are the names of the nodes that the intent is about, each once, sorted.
func (i Intent) nodesOf() []string {
	names := slices.Clone(i.Nodes)
	if i.Node != "" {
		names = append(names, i.Node)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// typable is what has to be typed to confirm a step on something called name: its name where a person can type it, else
// the beginning of its ID.
func typable(name, id string) string {
	plain := name != "" && len(name) <= 64 && strings.TrimSpace(name) == name
	for _, r := range name {
		if r < ' ' || r > '~' {
			plain = false
		}
	}
	if plain {
		return name
	}
	return shortID(id)
}

// shortID is the beginning of an ID, by which people tell objects apart.
func shortID(id string) string {
	if r := []rune(id); len(r) > 8 {
		return string(r[:8])
	}
	return id
}
