package tui

import (
	"context"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/fleet"
	"lockstep/core/forecast"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/timeline"
)

// How often the screen takes a new Snapshot, at most.
const (
	paceFocused = 50 * time.Millisecond
	paceBlurred = 500 * time.Millisecond
)

// snapshotMsg brings a Snapshot to Update.
type snapshotMsg struct{ snapshot *core.Snapshot }

// pump brings Snapshots to Update, never faster than its pace. Update asks for the next when it has taken one, so a busy cluster
// cannot queue messages before a key.
type pump struct {
	ctx     context.Context
	in      <-chan *core.Snapshot
	views   <-chan *fleet.View // instead, in the list of clusters
	stop    func()
	blurred atomic.Bool
	shows   atomic.Bool // the timeline is on the screen
	started bool
}

func newPump(ctx context.Context, b Backend) *pump {
	p := &pump{ctx: ctx, stop: func() {}}
	if b != nil {
		p.in, p.stop = b.Subscribe()
	}
	return p
}

// hurry sets the pace, faster while the terminal has the focus.
func (p *pump) hurry(focused bool) { p.blurred.Store(!focused) }

// next is the command that waits for the next Snapshot. Only one runs at a time.
func (p *pump) next() tea.Msg {
	if p.in == nil {
		return nil
	}
	if p.started {
		pace := paceFocused
		if p.blurred.Load() {
			pace = paceBlurred
		}
		wait := time.NewTimer(pace)
		defer wait.Stop()
		select {
		case <-p.ctx.Done():
			return nil
		case <-wait.C:
		}
	}
	p.started = true
	select {
	case <-p.ctx.Done():
		return nil
	case s, ok := <-p.in:
		if !ok {
			return nil
		}
		ready(s)
		if p.shows.Load() {
			timeline.Of(s)
			timeline.Moves(s, "")
		}
		return snapshotMsg{s}
	}
}

// ready derives what the whole screen shows of a Snapshot, which is kept with it. It runs beside the event loop: keys never wait for it.
func ready(s *core.Snapshot) {
	attention.Of(s)
	attention.NodeNeeds(s, "")
	progress.Update(s)
	nodeColumnsOf(s)
	forecast.Of(s)
	progress.DaemonViews(s)
	procedure.AfterUpdateLeft(s)
}
