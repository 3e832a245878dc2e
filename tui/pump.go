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
	last    time.Time   // when it brought one; zero: it has brought none
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

// now is the Snapshot that is there already; nil when there is none. The first frame shows it.
func (p *pump) now() *core.Snapshot {
	select {
	case s, ok := <-p.in:
		if ok {
			ready(s)
			return s
		}
	default:
	}
	return nil
}

// next is the command that waits for the next Snapshot. Only one runs at a time.
func (p *pump) next() tea.Msg {
	if p.in == nil {
		return nil
	}
	select {
	case <-p.ctx.Done():
		return nil
	case s, ok := <-p.in:
		if ok {
			s, ok = p.newest(s)
		}
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

// newest is the newest Snapshot when it is time for one: s, or one that comes until then. At rest that is at once, and no timer is set.
func (p *pump) newest(s *core.Snapshot) (*core.Snapshot, bool) {
	pace := paceFocused
	if p.blurred.Load() {
		pace = paceBlurred
	}
	if wait := pace - time.Since(p.last); wait > 0 && !p.last.IsZero() {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-p.ctx.Done():
			return nil, false
		case <-timer.C:
		}
		select {
		case newer, ok := <-p.in:
			if !ok {
				return nil, false
			}
			s = newer
		default:
		}
	}
	p.last = time.Now()
	return s, true
}

// ready derives what the whole screen shows of a Snapshot, which is kept with it. It runs beside the event loop: keys never wait for it.
func ready(s *core.Snapshot) {
	attention.List(s)
	attention.NodeNeeds(s, "")
	progress.Update(s)
	nodeColumnsOf(s)
	forecast.Of(s)
	progress.DaemonViews(s)
	procedure.AfterUpdateLeft(s)
}
