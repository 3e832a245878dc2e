package core

import (
	"fmt"
	"strings"
)

// says is what the OpenStack controller says of the node, in plain words, with what Lockstep itself sees of it.
func (b *nodeSteps) says() string {
	if b.lock == nil {
		return ""
	}
	return b.s.explain(b.lock, b.message)
}

// explain is a lock's text in plain words, with what Lockstep itself sees of it.
func (s *Snapshot) explain(l *WorkloadLock, m LockMessage) string {
	seen := s.Seen(l, m)
	if seen != "" {
		seen = "Seen: " + seen
	}
	return join(sentence(m.Meaning), sentence(seen), sentence(m.Remedy))
}

// locks are the node's locks, each with what its controller says.
func (b *nodeSteps) locks() {
	returning := !b.v.Request.Deleting.IsZero()
	for _, l := range b.v.Locks {
		if _, played := b.s.actAs(l.Controller); played {
			continue // the steps are ours
		}
		title := "the lock of " + oneLine(l.Controller, 40) + " is released"
		if l.Controller == ControllerOpenStack {
			title = "the OpenStack controller releases its lock"
		}
		st := b.s.lockStep(l, title, returning)
		st.Node, st.Label = b.v.Name, b.v.Label
		if state := b.lcmWaits().lockState(l.Controller); state != "" && st.State == StepWaiting {
			st.Why = join("LCM waits for it, and shows it as "+state+".", st.Why)
		}
		if l == b.lock && st.State == StepWaiting && b.s.known(SourceInstances) {
			switch {
			case b.v.Blocking > 0 && b.v.Mode != ModeLive || b.v.Stage == StageWaiting:
				st.State = StepLater
			case b.v.Blocking == 0 && b.message.Class == MessageActionable:
				st.Status = "at its next look, " + b.s.nextLookOf(b.v.Name)
				if b.s.openStackDown() {
					st.Status = "no replica of the OpenStack controller is ready: nobody looks until it is up"
				}
			}
		}
		b.add(st)
	}
}

// lockStep is the release of one lock.
func (s *Snapshot) lockStep(l *WorkloadLock, title string, over bool) Step {
	m := s.ReadLock(l)
	st := Step{ID: "lock/" + textOf(l.UID, l.Name), Target: l.Ref(), Label: oneLine(l.Controller, 40), Title: title,
		Why: s.explain(l, m)}
	account := s.AccountOf(l)
	if text := s.AccountText(account, !account.onLock(m)); text == "" || !m.TellsRetry {
		st.Why = join(st.Why, s.accountSentence(account, l.Node, m))
	}
	switch {
	case l.State() == LockInactive || over:
		st.State = StepDone
		if r := s.History.Locks[l.UID]; r.State == LockInactive && r.Since.Exact {
			st.Status = "since " + clockText(r.Since.At)
		}
	case l.State() == LockFailed:
		st.State, st.Status = StepFailed, textOf(oneLine(m.Text, mostRead), "the lock says failed")
		st.Why, st.Commands = join(st.Why, s.AskAbout(l)), askCommands(l)
	default:
		st.Why, st.Commands = join(st.Why, s.AskAbout(l)), append(s.look(l, m), askCommands(l)...)
		st.State, st.Status = StepWaiting, oneLine(m.Text, mostRead)
		if l.Progress != nil {
			st.Status = strings.TrimSpace(fmt.Sprintf("%d %% %s", l.Progress.Percentage, oneLine(l.Progress.Description, mostRead)))
		}
	}
	return st
}
