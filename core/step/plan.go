package step

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// plannerOf is the table of intents: the method that plans each kind; nil for an unknown kind.
func plannerOf(kind core.IntentKind) func(*planner) {
	switch kind {
	case core.IntentSetMode:
		return (*planner).setMode
	case core.IntentSetAttempts:
		return (*planner).setAttempts
	case core.IntentDeclareSafe:
		return (*planner).declareSafe
	case core.IntentRestoreMode:
		return (*planner).restoreMode
	case core.IntentLiveMigrateAll:
		return (*planner).liveMigrateAll
	case core.IntentDisableCompute:
		return (*planner).disableCompute
	case core.IntentEnableCompute:
		return (*planner).enableCompute
	case core.IntentDisableVolume:
		return (*planner).disableVolume
	case core.IntentEnableVolume:
		return (*planner).enableVolume
	case core.IntentOverrideLock:
		return (*planner).overrideLock
	case core.IntentFreeLock:
		return (*planner).freeLock
	case core.IntentRearmLock:
		return (*planner).rearmLock
	case core.IntentClearInner:
		return (*planner).clearInner
	case core.IntentAskCluster, core.IntentAskNode:
		return (*planner).ask
	case core.IntentWithdraw:
		return (*planner).withdraw
	case core.IntentActHold:
		return (*planner).actHold
	case core.IntentActDeleteClaim:
		return (*planner).actDeleteClaim
	case core.IntentActLetGo:
		return (*planner).actLetGo
	case core.IntentActCreateLock, core.IntentActBegin, core.IntentActOutOfScheduling, core.IntentActSay, core.IntentActRelease,
		core.IntentActIntoScheduling, core.IntentActRearm, core.IntentActFinish,
		core.IntentActVolumeOut, core.IntentActVolumeIn, core.IntentActDropLock:
		return (*planner).act
	case core.IntentTagPowerOff:
		return (*planner).tagPowerOff
	case core.IntentRestoreTags:
		return (*planner).restoreTags
	case core.IntentRestartPod:
		return (*planner).restartPod
	case core.IntentRestartPods:
		return (*planner).restartPods
	case core.IntentRestartAgent:
		return (*planner).restartAgent
	case core.IntentRestartAgents:
		return (*planner).restartAgents
	case core.IntentDeletePod:
		return (*planner).deletePod
	case core.IntentDeletePods:
		return (*planner).deletePods
	case core.IntentAddTempest, core.IntentRemoveTempest:
		return (*planner).tempest
	case core.IntentEnterCluster, core.IntentLeaveCluster:
		return (*planner).clusterMaintenance
	case core.IntentEnterMachine, core.IntentLeaveMachine:
		return (*planner).machineMaintenance
	case core.IntentReboot:
		return (*planner).gracefulReboot
	case core.IntentCommence:
		return (*planner).commence
	case core.IntentSetRelease:
		return (*planner).setRelease
	case core.IntentSetAutoPause:
		return (*planner).setAutoPause
	case core.IntentUncommence:
		return (*planner).uncommence
	case core.IntentMoveMachines:
		return (*planner).moveMachines
	case core.IntentSetGroupConcurrency, core.IntentSetGroupIndex, core.IntentSetGroupReboot:
		return (*planner).setGroup
	case core.IntentMakeGroup:
		return (*planner).makeGroup
	case core.IntentDeleteGroup:
		return (*planner).deleteGroup
	case core.IntentSetUpgradeIndex:
		return (*planner).setUpgradeIndex
	case core.IntentMakeSilence:
		return (*planner).makeSilence
	case core.IntentExpireSilence:
		return (*planner).expireSilence
	}
	if _, ok := InstanceRules[kind]; ok {
		return (*planner).instanceAction
	}
	return nil
}

// Plan makes the step of an intent from what is known now: it evaluates the guards, writes the commands out and notes the basis. It is
// pure and total: an intent about something that does not exist gives a step with a guard that does not hold.
func Plan(s *core.Snapshot, i core.Intent) core.Step {
	p := &planner{s: s, i: i, step: core.Step{ID: string(i.Kind), Intent: i, Title: string(i.Kind)}}
	if plan := plannerOf(i.Kind); plan != nil {
		plan(p)
	} else {
		p.unknown("Lockstep knows what is asked for", fmt.Sprintf("it knows no %q", wording.OneLine(string(i.Kind), 40)))
	}
	p.settle()
	return s.Own.Step(p.step)
}

// planner makes one step.
type planner struct {
	s    *core.Snapshot
	i    core.Intent
	step core.Step
	done string // what the cluster shows when there is nothing left to do; empty while there is
}

// guard adds a condition.
func (p *planner) guard(g core.Guard) { p.step.Guards = append(p.step.Guards, g) }

// fact adds a fact to the step's basis.
func (p *planner) fact(name, value string) {
	p.step.Basis = append(p.step.Basis, core.Fact{Name: name, Value: value})
}

// unknown ends the planning of a step whose object does not exist: it has no Change, and a guard says why.
func (p *planner) unknown(text, answer string) {
	p.guard(core.Guard{ID: core.GuardExists, Text: text, Answer: answer})
	p.step.Change = nil
}

// identify gives the step its stable ID and its target. An object without a UID is known by its name only.
func (p *planner) identify(target core.Ref) {
	p.step.Target, p.step.ID = target, ID(p.i.Kind, target)
}

// ID is the stable ID of a step that does one thing to one object.
func ID[Kind ~string](kind Kind, target core.Ref) string {
	return string(kind) + "/" + wording.TextOf(target.UID, target.Name)
}

// settle gives the step its state: first by what the cluster shows, then by Lockstep's own operations.
func (p *planner) settle() {
	st := &p.step
	if p.done != "" {
		st.Change = nil
	}
	op, status := operationOf(p.s, *st)
	switch {
	case op == core.OperationQueued:
		st.State, st.Status = core.StepWaiting, status
	case op != "" && !op.Ended():
		st.State, st.Status = core.StepRunning, status
		st.Title = runsAs(p.s, *st)
	case p.done != "":
		st.State, st.Status = core.StepDone, p.done
	case op == core.OperationFailed || op == core.OperationUnknown:
		st.State, st.Status = core.StepFailed, status
	case st.State != "": // the planner knows better
	case !st.Doable():
		st.State = core.StepBlocked
	default:
		st.State = core.StepReady
	}
}

// runsAs is the step's title when it was confirmed: a batch that is half done is still the batch that was granted, though less is left
// to do.
func runsAs(s *core.Snapshot, step core.Step) string {
	for _, op := range s.Operations {
		if op.Step == step.ID && !op.State.Ended() {
			return op.Title
		}
	}
	return step.Title
}

// operationOf is the state of the newest operation that does the step, with its text; empty when none still matters. An acknowledged
// failure does not matter.
func operationOf(s *core.Snapshot, step core.Step) (core.OperationState, string) {
	for _, op := range s.Operations { // newest first
		if op.Step == step.ID {
			if op.Acknowledged || op.State == core.OperationDone || op.State == core.OperationSkipped || op.State == core.OperationStopped {
				return "", ""
			}
			if op.Past && len(op.Items) > 0 && !op.State.Ended() {
				return "", "" // what is under way is its items' matter; the rest can be confirmed anew
			}
			return op.State, op.Goes()
		}
		if !op.MayDo(step) {
			continue
		}
		for _, item := range op.Items {
			if !item.Does(step) {
				continue
			}
			switch {
			case item.State == core.OperationFailed || item.State == core.OperationUnknown:
				if !op.Acknowledged {
					return item.State, item.Text
				}
				return "", ""
			case item.State.Ended() || op.State.Ended():
				return "", ""
			case item.State == core.OperationQueued:
				return core.OperationQueued, "its turn comes: " + op.Title
			}
			return item.State, item.Text
		}
	}
	return "", ""
}

// mostTyped is how long a name is that an operator types whole.
const mostTyped = 64

// typable is what the operator types to confirm a step on an object: its name if a person can type it. A name that is too long is cut in
// its middle, so that it still says what it is of, and the beginning of the object's ID tells it from others that are cut alike. Only a
// name with characters that cannot be typed leaves nothing but the ID.
func typable(name, id string) string {
	switch {
	case !plain(name):
		return core.ShortID(id)
	case len(name) <= mostTyped:
		return name
	}
	return middleCut(name, 48) + " " + core.ShortID(id)
}

// typableIn is what is typed for one thing within another, as within/name. id tells the thing from the others there.
func typableIn(within, name, id string) string {
	if whole := within + "/" + name; plain(whole) && len(whole) <= mostTyped {
		return whole
	}
	if !plain(within) {
		return typable(name, id)
	}
	if !plain(name) {
		return middleCut(within, 24) + "/" + id
	}
	return middleCut(within, 24) + "/" + middleCut(name, 36) + " " + id
}

// plain tells whether a person can type the name.
func plain(name string) bool {
	return name != "" && strings.TrimSpace(name) == name && strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// middleCut is a plain name of at most that many characters: its first and last words where it is longer, with ".." between them.
func middleCut(name string, most int) string {
	if len(name) <= most {
		return name
	}
	const cut, ends = "..", "-./_ :"
	half := (most - len(cut)) / 2
	head, tail := name[:half], name[len(name)-half:]
	if i := strings.LastIndexAny(head, ends); i > half/2 {
		head = head[:i]
	}
	if i := strings.IndexAny(tail, ends); i >= 0 && i < half/2 {
		tail = tail[i+1:]
	}
	return head + cut + tail
}
