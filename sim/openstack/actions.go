package openstack

import "time"

// action is an instance action, the record of os-instance-actions.
type action struct {
	name, requestID   string
	userID, projectID string
	start, updated    time.Time
	failed            bool
	events            []*actionEvent
}

type actionEvent struct {
	name           string
	start, finish  time.Time
	result, reason string // reason is shown as details from 2.84 on
	host           *host
}

// begin records an action on the server.
func (s *server) begin(a action) *action {
	a.updated = a.start
	s.actions = append(s.actions, &a)
	return &a
}

func (a *action) event(name string, now time.Time, h *host) *actionEvent {
	e := &actionEvent{name: name, start: now, host: h}
	a.events = append(a.events, e)
	a.updated = now
	return e
}

// finishEvent ends an event of the action, with the reason if it failed. The action and the event may be nil.
func (a *action) finishEvent(e *actionEvent, now time.Time, failure *string) {
	if a == nil || e == nil {
		return
	}
	e.finish, e.result, a.updated = now, "Success", now
	if failure != nil {
		e.result, e.reason, a.failed = "Error", *failure, true
	}
}
