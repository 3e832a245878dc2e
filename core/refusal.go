package core

import (
	"slices"
	"strings"
	"time"
)

// RefusalRecord is what Nova said when it refused to migrate an instance for the OpenStack controller: such a try leaves no
// migration record, and the text that says it (I) is gone with the next one.
type RefusalRecord struct {
	Text string
	At   time.Time // by the text's own timestamp, or as it was seen
}

// observeRefusal notes a refusal that a lock's text tells.
func (s *Snapshot) observeRefusal(l *WorkloadLock, refused *cloneOnWrite[string, RefusalRecord]) {
	if !strings.Contains(l.Message, "Got error while trying to migrate server") {
		return // it is looked at for every lock in every Snapshot
	}
	m := ReadLockMessage(l.Message)
	if m.ID != "I" || len(m.Instances) == 0 {
		return
	}
	_, text, _ := strings.Cut(m.Text, ": ")
	r := RefusalRecord{Text: oneLine(text, 400), At: m.At}
	if r.At.IsZero() || r.At.After(s.Now) {
		r.At = s.Now
	}
	if refused.m[m.Instances[0]] != r {
		refused.set(m.Instances[0], r)
	}
}

// gaveUp tells whether the OpenStack controller has said that it is through with moving the instance (text J) in the
// maintenance that goes on, and what Nova said when it refused last, as far as
// that was seen: of tries that have records the view tells.
func (s *Snapshot) gaveUp(v InstanceView, m hostMaintenance) (failure string, yes bool) {
	l := s.NodeLock(m.name, ControllerOpenStack)
	if m.request == nil || !m.request.Deleting.IsZero() || l == nil || l.State() != LockActive || s.playsOn(ControllerOpenStack, m.name) {
		return "", false
	}
	if msg := ReadLockMessage(l.Message); msg.ID != "J" || !slices.Contains(msg.Instances, v.Instance.ID) || !msg.At.IsZero() && msg.At.Before(m.request.Created) {
		return "", false
	}
	if r, ok := s.History.Refused[v.Instance.ID]; ok && !r.At.Before(m.request.Created) {
		return r.Text, true
	}
	return "", true
}
