package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/evacuation"
	"lockstep/core/forecast"
	"lockstep/core/wording"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// groupRoom tells whether the hosts of an update group can be emptied as many at a time as a change of the group asks for. OpenStack is
// asked while the operator reads the confirmation; the step itself does not rest on the answer.
type groupRoom struct {
	group  string
	nodes  []string // the computes that are in the group then
	atOnce int
	stop   context.CancelFunc
	plan   *evacuation.Forecast // nil: it is not known yet
	err    error
}

// roomMsg is the forecast for a groupRoom.
type roomMsg struct {
	room *groupRoom
	plan evacuation.Forecast
	err  error
}

// roomFor is what is to be known of a step's update group; nil where the step changes neither how many machines of a group go at a time,
// nor which they are.
func roomFor(s *core.Snapshot, i core.Intent) *groupRoom {
	if s.Management == nil {
		return nil
	}
	r := &groupRoom{group: i.Group}
	var moved []string
	switch i.Kind {
	case core.IntentSetGroupConcurrency:
		r.atOnce = i.GroupSettings.Concurrent
	case core.IntentMoveMachines:
		moved = i.NodesOf()
		for _, g := range s.Management.Groups {
			if g.Name == i.Group {
				r.atOnce = g.Concurrent
			}
		}
	default:
		return nil
	}
	for _, v := range s.Management.InGroup(i.Group) {
		moved = append(moved, v.Node)
	}
	slices.Sort(moved)
	for _, name := range slices.Compact(moved) {
		if n := s.Nodes[name]; n != nil && slices.Contains(n.Roles, core.RoleCompute) {
			r.nodes = append(r.nodes, name)
		}
	}
	if r.atOnce = max(r.atOnce, 1); len(r.nodes) == 0 {
		return nil
	}
	return r
}

// ask has the evacuation forecast.
func (r *groupRoom) ask(m *Model) tea.Cmd {
	if r == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(m.ctx, planWithin)
	r.stop = cancel
	order, _ := forecast.Order(m.snap)
	backend, request := m.backend, evacuation.Request{Nodes: r.nodes, AtOnce: r.atOnce, Order: order}
	return func() tea.Msg {
		defer cancel()
		plan, err := backend.ForecastEvacuation(ctx, request, func(string, int) {})
		return roomMsg{r, plan, err}
	}
}

// renewed is what is to be known now, and asks for it where that is of another group, other hosts or another number at a time.
func (r *groupRoom) renewed(m *Model, i core.Intent) (*groupRoom, tea.Cmd) {
	now := roomFor(m.snap, i)
	if now == nil || r != nil && r.group == now.group && r.atOnce == now.atOnce && slices.Equal(r.nodes, now.nodes) {
		return r, nil
	}
	r.leave()
	return now, now.ask(m)
}

// leave ends a question that nobody waits for any more.
func (r *groupRoom) leave() {
	if r != nil && r.stop != nil {
		r.stop()
	}
}

func (msg roomMsg) arrive(m *Model) tea.Cmd {
	msg.room.err = msg.err
	if msg.err == nil {
		msg.room.plan = &msg.plan
	}
	m.dirty = true
	return nil
}

// lines say what the forecast tells.
func (r *groupRoom) lines(w int) []draw.Line {
	if r == nil {
		return nil
	}
	const most = 4
	hosts, atOnce := counted(len(r.nodes), "host")+" of "+r.group, ", "+itoa(r.atOnce)+" at a time"
	switch {
	case r.err != nil:
		return labelled("Room: ", "whether "+hosts+" can be emptied"+atOnce+", is not known: "+r.err.Error(), w)
	case r.plan == nil:
		return labelled("Room: ", "asking OpenStack whether "+hosts+" can be emptied"+atOnce, w)
	}
	c := r.plan.Counts
	if c.Blocks+c.MayFail+c.Unknown == 0 {
		return labelled("Room: ", hosts+" can be emptied"+atOnce+": "+counted(c.Moves, "instance")+" to move", w)
	}
	text := hosts + " cannot be emptied by " + wording.Verb(len(r.nodes), "itself", "themselves") + atOnce + ": "
	if c.Blocks == 0 {
		text = hosts + " may not all be emptied" + atOnce + ": "
	}
	text += counted(c.Blocks, "instance") + " in the way, " + itoa(c.MayFail) + " that may fail, " + itoa(c.Unknown) + " not known"
	out := labelled("Room: ", text, w)
	shown := 0
	for _, n := range r.plan.Nodes {
		if n.Counts.Blocks+n.Counts.MayFail == 0 {
			continue
		}
		if shown++; shown > most {
			return append(out, indented(themes.Dim, "and more: the forecast of the nodes (v) shows all", 2, w)...)
		}
		line := n.Label + ": " + itoa(n.Counts.Blocks) + " in the way, " + itoa(n.Counts.MayFail) + " that may fail"
		out = append(out, indented(themes.Needs, line, 2, w)...)
	}
	return out
}
