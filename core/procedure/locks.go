package procedure

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// says is the text of the node's OpenStack lock in plain words, with what Lockstep itself sees.
func (b *nodeSteps) says() string {
	if b.lock == nil {
		return ""
	}
	return explain(b.s, b.lock, b.message)
}

// explain is a lock's text in plain words, with what Lockstep itself sees.
func explain(s *core.Snapshot, l *core.WorkloadLock, m progress.LockMessage) string {
	seen := Seen(s, l, m)
	if seen != "" {
		seen = "Seen: " + seen
	}
	return wording.Join(wording.Sentence(m.Meaning), wording.Sentence(seen), wording.Sentence(m.Remedy))
}

// locks adds a step for each of the node's locks, with what its controller says.
func (b *nodeSteps) locks() {
	returning := !b.v.Request.Deleting.IsZero()
	for _, l := range b.v.Locks {
		if _, played := progress.ActAs(b.s, l.Controller); played {
			continue // the steps are ours
		}
		title := "the lock of " + wording.OneLine(l.Controller, 40) + " is released"
		if l.Controller == core.ControllerOpenStack {
			title = "the OpenStack controller releases its lock"
		}
		st := lockStep(b.s, l, title, returning)
		st.Node, st.Label = b.v.Name, b.v.Label
		if state := b.lcmWaits().LockState(l.Controller); state != "" && st.State == core.StepWaiting {
			st.Why = wording.Join("LCM waits for it, and shows it as "+state+".", st.Why)
		}
		if l == b.lock && st.State == core.StepWaiting && b.s.Known(core.SourceInstances) {
			switch {
			case b.v.Blocking > 0 && b.v.Mode != core.ModeLive || b.v.Stage == core.StageWaiting:
				st.State = core.StepLater
			case b.v.Blocking == 0 && b.message.Class == progress.MessageActionable:
				st.Status = "at its next look, " + progress.NextLookOf(b.s, b.v.Name)
				if progress.OpenStackDown(b.s) {
					st.Status = "no replica of the OpenStack controller is ready: nobody looks until it is up"
				}
			}
		}
		b.add(st)
	}
}

// lockStep is the step in which a lock is released; over says that nobody waits for it any more.
func lockStep(s *core.Snapshot, l *core.WorkloadLock, title string, over bool) core.Step {
	m := progress.ReadLock(s, l)
	st := core.Step{ID: "lock/" + wording.TextOf(l.UID, l.Name), Target: l.Ref(), Label: wording.OneLine(l.Controller, 40), Title: title,
		Why: explain(s, l, m)}
	account := progress.AccountOf(s, l)
	if text := progress.AccountText(s, account, !account.OnLock(m)); text == "" || !m.TellsRetry {
		st.Why = wording.Join(st.Why, progress.AccountSentence(s, account, l.Node, m))
	}
	switch {
	case l.State() == core.LockInactive || over:
		st.State = core.StepDone
		if r := s.History.Lock(l.UID); r.State == core.LockInactive && r.Since.Exact {
			st.Status = "since " + wording.ClockText(r.Since.At)
		}
	case l.State() == core.LockFailed:
		st.State, st.Status = core.StepFailed, wording.TextOf(wording.OneLine(m.Text, wording.MostRead), "the lock says failed")
		st.Why, st.Commands = wording.Join(st.Why, progress.AskAbout(s, l)), progress.AskCommands(l)
	default:
		st.Why, st.Commands = wording.Join(st.Why, progress.AskAbout(s, l)), append(look(s, l, m), progress.AskCommands(l)...)
		st.State, st.Status = core.StepWaiting, wording.OneLine(m.Text, wording.MostRead)
		if l.Progress != nil {
			st.Status = strings.TrimSpace(fmt.Sprintf("%d %% %s", l.Progress.Percentage, wording.OneLine(l.Progress.Description, wording.MostRead)))
		}
	}
	return st
}

// leftLockSteps adds the steps that set a lock that was left inactive active again, and put the host back into scheduling.
func (b *nodeSteps) leftLockSteps() {
	l := progress.LeftLock(b.s, b.v.Name)
	if l == nil || progress.PlaysAlone(b.s, b.v.Name) {
		return
	}
	b.add(step.Plan(b.s, core.Intent{Kind: core.IntentRearmLock, Object: l.Ref()}))
	if svc := b.v.Service; svc != nil && !svc.Enabled && svc.DisabledReason == core.DisabledReasonMaintenance {
		b.add(step.Plan(b.s, core.Intent{Kind: core.IntentEnableCompute, Node: b.v.Name}))
	}
}
