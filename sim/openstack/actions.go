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

// begin records an action on a server.
func (c *Cloud) begin(s *server, a action) *action {
	a.updated = a.start
	s.actions = append(c.actionsOf(s), &a)
	return &a
}

// actionsOf returns the actions of a server, the newest last. A seeded server's creation is recorded when somebody asks, or when
// something else happens to it: most of a fleet's instances only stand there, and the record would be a third of what each keeps.
func (c *Cloud) actionsOf(s *server) []*action {
	if s.seeded {
		s.seeded = false
		a := c.begin(s, action{name: "create", requestID: c.requestOf(s), userID: s.userID, projectID: s.project.id, start: s.created})
		a.finishEvent(a.event("compute__do_build_and_run_instance", s.created, s.bornOn), s.launched, nil)
	}
	return s.actions
}

// requestOf returns the ID of a request on a server that no client has made.
func (c *Cloud) requestOf(s *server) string {
	c.actionsOf(s) // its creation has the first of these IDs
	return "req-" + c.uuid("request", s.id)
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
