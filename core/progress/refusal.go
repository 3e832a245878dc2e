package progress

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// ObserveRefusal notes a refusal that a lock's text reports. It is new when the record has another text, or is from an earlier
// maintenance. The controller repeats the text at each try within a minute, and these need no record each.
func ObserveRefusal(s *core.Snapshot, l *core.WorkloadLock, refused *core.CloneOnWrite[string, core.RefusalRecord]) (instance core.Ref,
	r core.RefusalRecord, anew bool) {
	if !strings.Contains(l.Message, "Got error while trying to migrate server") {
		return instance, r, false // this runs for every lock in every Snapshot
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
	if in := s.Instances.At(id); in != nil {
		instance = in.Ref()
	}
	return instance, r, past || !same
}

// gaveUp tells whether the OpenStack controller has reported that it has stopped moving the instance (text J) in the present
// maintenance, and with what Nova refused last, as far as that was seen. The view shows the tries that have records.
func gaveUp(s *core.Snapshot, v core.InstanceView, m HostMaintenance) (failure string, yes bool) {
	l := s.NodeLock(m.name, core.ControllerOpenStack)
	if m.request == nil || !m.request.Deleting.IsZero() || l == nil || l.State() != core.LockActive ||
		PlaysOn(s, core.ControllerOpenStack, m.name) {
		return "", false
	}
	if !strings.Contains(l.Message, v.Instance.ID) {
		return "", false // most instances are not named, and this runs for each of them in every Snapshot
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
