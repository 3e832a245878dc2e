package attention

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// nodeWaits finds a node that goes no further without the operator.
func (f *facts) nodeWaits(n nodeFacts) {
	if progress.LeftLock(f.s, n.Name) != nil || progress.StuckLock(f.s, n.Name) != nil || progress.FailsOnService(f.s, n.Name) {
		return // other rules say what holds it
	}
	if !f.waits(n.NodeView) || n.Request == nil && (f.s.Deletions[n.Name] != nil || f.removedLocked(n)) ||
		progress.PlaysOn(f.s, core.ControllerOpenStack, n.Name) || progress.PlaysGone(f.s, n.Name) {
		return // other rules say what holds a removal, and what a played controller has to do
	}
	left := f.leftFor(n)
	says := n.message.Class == progress.MessageActionable && n.message.ID != progress.SaysLeftToOperator
	if progress.LacksScope(n.Request) {
		a := n.entry(core.RuleNodeWaits)
		a.Severity, a.Reason, a.Since = core.SeverityUrgent, progress.Scopeless, n.Since
		a.Detail = "It takes nova-compute out of scheduling, fails, and tries again for ever. Give the request its scope; os is the one in " +
			"which the host may reboot."
		a.Detail = wording.Join(a.Detail, progress.AccountSentence(f.s, progress.NodeAccount(f.s, n.Name), n.Name, n.message))
		f.add(a)
		return
	}
	if n.Mode.Known() && n.Mode != core.ModeManual && !says && len(left) > 0 &&
		!slices.ContainsFunc(left, func(v core.InstanceView) bool { return v.Failures < failuresTold }) {
		return // each of them has an entry with what Nova says
	}
	a := n.entry(core.RuleNodeWaits)
	a.Severity = core.SeverityUrgent
	a.Detail = leftText(left)
	if loss := progress.RemoteLoss(f.s, n.Name); loss != "" {
		a.Detail = wording.Join(wording.TextIf(a.Detail != "", a.Detail+".", ""), loss)
	}
	switch {
	case progress.HeldUnlooked(f.s, n.Name):
		a.Reason = n.Reason
		a.Detail = "Somebody set the lock active after that. Make the controller look at the request again, so that it prepares the node; or " +
			"set the lock inactive once nothing on the node needs it."
	case !n.Mode.Known():
		a.Reason, a.Detail = n.Reason, "Set it to live, manual or skip."
	case n.Blocking < 0:
		a.Reason = n.Reason
		a.Detail = "The instances are not known: " + f.s.WhyUnknown(core.SourceInstances) + "."
	case len(left) == 0 || says:
		a.Reason, a.Detail = n.message.Meaning, wording.Sentence(n.message.Remedy)
	case n.Mode == core.ModeManual:
		a.Reason = "manual mode: " + demandText(left, "leave")
	default:
		a.Reason = demandText(left, "leave or stop")
	}
	a.Since = f.waitsForYou(n, left)
	if goes, rest := f.movedByLockstep(n, left); len(rest) < len(left) {
		if len(rest) == 0 {
			a.Severity, a.Hint = core.SeverityNotice, "wait: Lockstep moves them"
		} else {
			a.Detail, a.Reason = leftText(rest), demandText(rest, "leave or stop")
			if n.Mode == core.ModeManual {
				a.Reason = "manual mode: " + demandText(rest, "leave")
			}
			a.Reason += fmt.Sprintf("; Lockstep moves %d more", len(left)-len(rest))
		}
		a.Reason += wording.InBrackets(goes)
	}
	f.add(a)
}

// movedByLockstep are the instances that no operation of Lockstep moves or stops, and how the operation goes, where it is one batch. Of a
// batch that is not armed any more only what was begun counts.
func (f *facts) movedByLockstep(n nodeFacts, left []core.InstanceView) (goes string, rest []core.InstanceView) {
	rest = left
	several := false
	for _, op := range f.s.Operations {
		if op.Node != n.Name || op.Past || op.State != core.OperationRunning && op.State != core.OperationVerifying {
			continue
		}
		mayBegin := f.s.Write.Armed || op.Elsewhere != "" // of another window it is not known
		without := slices.DeleteFunc(slices.Clone(rest), func(v core.InstanceView) bool {
			if len(op.Items) == 0 {
				return op.Instance == v.Instance.ID && takesAway[op.Intent.Kind]
			}
			return slices.ContainsFunc(op.Items, func(it core.OperationItem) bool {
				return it.Instance == v.Instance.ID && !it.State.Ended() && (mayBegin || it.State != core.OperationQueued)
			})
		})
		if len(without) < len(rest) {
			goes, several, rest = wording.TextIf(!several && len(op.Items) > 0, op.Goes(), ""), true, without
		}
	}
	return goes, rest
}

// takesAway are the intents after which an instance is not in its node's way any more.
var takesAway = map[core.IntentKind]bool{core.IntentLiveMigrate: true, core.IntentColdMigrate: true, core.IntentStop: true,
	core.IntentShelve: true, core.IntentEvacuate: true}

// demandText says what has to happen to the instances first. One in VERIFY_RESIZE can neither leave nor stop.
func demandText(left []core.InstanceView, what string) string {
	var undecided, others []core.InstanceView
	for _, v := range left {
		if v.Instance.Status == "VERIFY_RESIZE" && v.Instance.TaskState == "" {
			undecided = append(undecided, v)
		} else {
			others = append(others, v)
		}
	}
	var parts []string
	if n := len(others); n > 0 {
		parts = append(parts, fmt.Sprintf("%s must %s first: %s", wording.Count(n, "instance"), what, namesOf(others)))
	}
	if n := len(undecided); n > 0 {
		parts = append(parts, fmt.Sprintf("confirm or revert the migration of %s", namesOf(undecided)))
	}
	return strings.Join(parts, "; ")
}

// waitsForYou is since when the node waits. A further failed try of the controller does not change it.
func (f *facts) waitsForYou(n nodeFacts, left []core.InstanceView) core.Since {
	since := n.Since
	for _, v := range left {
		if v.Failures < failuresTold || v.Failures < max(n.Attempts, 1) {
			continue
		}
		if s := f.failedSince(v); !s.At.IsZero() && (s.At.Before(since.Certain().At) || since.Later && since.Seen.IsZero()) {
			since = s
		}
	}
	return since
}

// waits tells whether the node waits for the operator. After its last try the OpenStack controller begins again every 60 s
// (docs/mosk.md#migration-loop), and the node can be in stage evacuating then: an instance has left it meanwhile, or the lock says
// something else. The node needs a person as long as nothing moves but what failed as often before, so its entry must not come and go.
func (f *facts) waits(v *core.NodeView) bool {
	if v.Stage != core.StageEvacuating {
		return v.Stage == core.StageWaiting
	}
	blocking := f.blocking(v.Name)
	for _, in := range blocking {
		given := in.Action == core.ActionLiveMigrate && !progress.Stranded(in)
		switch {
		case given && in.Failures < max(v.Attempts, 1):
			return false // the controller moves it, or is going to
		case !given && progress.Moving(f.s, in.Instance):
			return false // the operator moves it
		}
	}
	return len(blocking) > 0
}

// leftFor are the instances that wait for the operator. On a manual node the controller itself moves instances that are tagged for live
// migration; they are left out while others wait.
func (f *facts) leftFor(n nodeFacts) []core.InstanceView {
	left := f.blocking(n.Name)
	theirs := slices.DeleteFunc(slices.Clone(left), func(v core.InstanceView) bool {
		return n.Mode == core.ModeManual && v.Action == core.ActionLiveMigrate && progress.Moving(f.s, v.Instance)
	})
	if len(theirs) > 0 {
		return theirs
	}
	return left
}

// namesOf lists the instances' names, with what is special about each.
func namesOf(left []core.InstanceView) string {
	names := make([]string, len(left))
	for i, v := range left {
		names[i] = progress.InstanceLabel(v.Instance)
		switch {
		case v.Action == core.ActionNotify && v.Origin == core.OriginTag:
			names[i] += " (notify)"
		case progress.Stranded(v):
			names[i] += " (" + wording.OneLine(v.Instance.Status, 30) + ")"
		case v.Origin == core.OriginConflicting:
			names[i] += " (two tags)"
		}
	}
	return wording.Some(names, 4)
}

// leftText lists the instances in the way, by their maintenance action.
func leftText(left []core.InstanceView) string {
	var parts []string
	for _, action := range []core.MaintenanceAction{core.ActionLiveMigrate, core.ActionNotify, core.ActionUnknown} {
		var names []string
		for _, v := range left {
			if v.Action == action {
				names = append(names, progress.InstanceLabel(v.Instance))
			}
		}
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s", action, wording.Some(names, 6)))
		}
	}
	return strings.Join(parts, "; ")
}
