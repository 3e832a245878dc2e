package progress

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// ObserveRefusal notes a refusal that a lock's text tells. It is anew where what is remembered says less: another text, or that
// of an earlier maintenance. The controller's further tries within a minute say the same again, and need no record each.
func ObserveRefusal(s *core.Snapshot, l *core.WorkloadLock, refused *core.CloneOnWrite[string, core.RefusalRecord]) (instance core.Ref,
	r core.RefusalRecord, anew bool) {
	if !strings.Contains(l.Message, "Got error while trying to migrate server") {
		return instance, r, false // it is looked at for every lock in every Snapshot
	}
	m := ReadLockMessage(l.Message)
	if m.ID != SaysMigrationRefused || len(m.Instances) == 0 {
		return instance, r, false
	}
	id := m.Instances[0]
	_, text, _ := strings.Cut(m.Text, ": ")
	old, had := refused.M[id]
	r = core.RefusalRecord{Text: wording.OneLine(text, 400), At: m.At}
	if r.At.IsZero() || r.At.After(s.Now) {
		r.At = s.Now
	}
	request := s.NodeRequest(l.Node)
	past := !had || request != nil && old.At.Before(request.Created)
	same := had && old.Text == r.Text
	if same && (!old.At.Before(r.At) || m.At.IsZero() && !past) {
		return instance, r, false
	}
	refused.Set(id, r)
	instance = core.Ref{Kind: core.KindInstance, UID: id}
	if in := s.Instances[id]; in != nil {
		instance = in.Ref()
	}
	return instance, r, past || !same
}

// gaveUp tells whether the OpenStack controller has said that it is through with moving the instance (text J) in the
// maintenance that goes on, and what Nova said when it refused last, as far as that was seen: of tries that have records the view tells.
func gaveUp(s *core.Snapshot, v core.InstanceView, m HostMaintenance) (failure string, yes bool) {
	l := s.NodeLock(m.name, core.ControllerOpenStack)
	if m.request == nil || !m.request.Deleting.IsZero() || l == nil || l.State() != core.LockActive ||
		PlaysOn(s, core.ControllerOpenStack, m.name) {
		return "", false
	}
	if !strings.Contains(l.Message, v.Instance.ID) {
		return "", false // most are not named: it is asked for every instance in every Snapshot
	}
	if msg := ReadLockMessage(l.Message); msg.ID != SaysLeftToOperator || !slices.Contains(msg.Instances, v.Instance.ID) ||
		!msg.At.IsZero() && msg.At.Before(m.request.Created) {
		return "", false
	}
	if r, ok := s.History.Refused[v.Instance.ID]; ok && !r.At.Before(m.request.Created) {
		return r.Text, true
	}
	return "", true
}
