// Package recorded plays a recording to the dashboard. It knows no server, no cluster's login and no journal: nothing of it can reach a
// network or write anything. rules/imports_test.go keeps that.
package recorded

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/evacuation"
	"lockstep/core/recording"
	"lockstep/tui"
)

// Barred is why nothing can be written while a recording is played.
const Barred = "a recording is played; there is no cluster behind it"

var errBarred = errors.New(Barred)

// Options say how a recording is played at first.
type Options struct {
	At    time.Time // where it begins; zero: at its begin
	Speed float64   // how much faster than it was; 1 when zero
	Play  bool      // not paused at first
	Stops *core.StopFinder
}

// Player plays a recording. It is the dashboard's Backend and its Replay. Its methods are safe for use by several goroutines.
type Player struct {
	rec    *recording.Recording
	play   *engine.Playback
	cursor *recording.Cursor
	next   time.Time // of the next frame; zero at the end

	do    chan request
	ended chan struct{} // closed when Run has returned

	// Of the goroutine of Run.
	at      time.Time // the cluster's time that is shown
	speed   float64
	playing bool
	trouble error

	story story // what the journal's page shows

	mu    sync.Mutex
	state tui.ReplayState
	last  *core.Snapshot
	subs  map[int]chan *core.Snapshot
	subID int
}

var (
	_ tui.Backend = (*Player)(nil)
	_ tui.Replay  = (*Player)(nil)
)

// The limits of a speed.
const (
	leastSpeed = 1
	mostSpeed  = 600
)

// tick is how often a frame is shown while it plays, at most.
const tick = 200 * time.Millisecond

// New makes a Player that shows its first moment.
func New(rec *recording.Recording, o Options) (*Player, error) {
	p := &Player{rec: rec, play: engine.NewPlayback(rec.Head, o.Stops, Barred), do: make(chan request), ended: make(chan struct{}),
		speed: max(o.Speed, leastSpeed), playing: o.Play, subs: map[int]chan *core.Snapshot{}}
	if o.At.IsZero() {
		o.At = rec.From
	}
	if err := p.seek(o.At); err != nil {
		return nil, err
	}
	return p, nil
}

// request is something to be done in Run's goroutine.
type request struct {
	do   func() error
	done chan error
}

// Run plays until ctx is done.
func (p *Player) Run(ctx context.Context) {
	defer close(p.ended)
	defer func() {
		if p.cursor != nil {
			p.cursor.Close()
		}
		p.story.close()
	}()
	t := time.NewTicker(tick)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-p.do:
			r.done <- r.do()
			last = time.Now()
		case <-t.C:
			if p.playing {
				p.trouble = p.forward(p.at.Add(time.Duration(float64(time.Since(last)) * p.speed)))
				p.playing = p.playing && !p.next.IsZero() && p.trouble == nil
				p.show()
			}
			last = time.Now() // what could not be kept up with is not caught up on
		}
	}
}

func (p *Player) call(f func() error) error {
	r := request{f, make(chan error, 1)}
	select {
	case p.do <- r:
		return <-r.done
	case <-p.ended:
		return errors.New("the recording is closed")
	}
}

// forward plays up to the moment.
func (p *Player) forward(to time.Time) error {
	for !p.next.IsZero() && !p.next.After(to) {
		if err := p.take(to); err != nil {
			return err
		}
	}
	p.at = to
	if to.After(p.rec.To) {
		p.at = p.rec.To
	}
	return nil
}

// take takes the next frame in. Of those before the last one up to the moment nothing is shown.
func (p *Player) take(to time.Time) error {
	f, err := p.cursor.Pass()
	if err != nil {
		return err
	}
	if err := p.read(); err != nil {
		return err
	}
	if p.next.IsZero() || p.next.After(to) {
		p.cursor.Told(&f)
	}
	p.play.Take(f)
	return nil
}

// read looks when the next frame is.
func (p *Player) read() (err error) {
	p.next, err = p.cursor.Peek()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// seek goes to a moment, from the last key before it, and shows it.
func (p *Player) seek(to time.Time) error {
	if to.Before(p.rec.From) {
		to = p.rec.From
	}
	if to.After(p.rec.To) {
		to = p.rec.To
	}
	if p.cursor == nil || to.Before(p.at) || p.rec.KeyBetween(p.at, to) {
		c, err := p.rec.At(to)
		if err != nil {
			return err
		}
		if p.cursor != nil {
			p.cursor.Close()
		}
		p.cursor = c
		p.play.Jump()
		if err := p.read(); err != nil {
			return err
		}
	}
	if err := p.forward(to); err != nil {
		return err
	}
	if !p.play.Began() && !p.next.IsZero() { // the first frame is shown in any case
		if err := p.take(time.Time{}); err != nil {
			return err
		}
	}
	p.show()
	return nil
}

// show hands the moment to the screen.
func (p *Player) show() {
	if !p.play.Began() {
		return
	}
	s := p.play.Snapshot()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = s
	p.state = tui.ReplayState{From: p.rec.From, To: p.rec.To, At: p.at, Speed: p.speed, Playing: p.playing, Cut: p.rec.Cut}
	if p.trouble != nil {
		p.state.Trouble = p.trouble.Error()
	}
	if e := p.event(p.at, false, true); e != nil {
		p.state.Event, p.state.EventAt = e.Text, e.At
	}
	for _, ch := range p.subs {
		select {
		case <-ch:
		default:
		}
		ch <- s
	}
}

// event is the next event after a moment, or the last one before it; with here, one of the very moment counts as before.
func (p *Player) event(at time.Time, next, here bool) *recording.Event {
	var found *recording.Event
	for i := range p.rec.Events {
		e := &p.rec.Events[i]
		if next && e.At.After(at) {
			return e
		}
		if !next && (e.At.Before(at) || here && !e.At.After(at)) {
			found = e
		}
	}
	return found
}

// State implements tui.Replay.
func (p *Player) State() tui.ReplayState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Toggle implements tui.Replay.
func (p *Player) Toggle() error {
	return p.call(func() error {
		if !p.playing && p.next.IsZero() {
			return errors.New("it is at its end")
		}
		p.playing = !p.playing
		p.show()
		return nil
	})
}

// SetSpeed implements tui.Replay.
func (p *Player) SetSpeed(speed float64) error {
	return p.call(func() error {
		p.speed = min(max(speed, leastSpeed), mostSpeed)
		p.show()
		return nil
	})
}

// Event implements tui.Replay.
func (p *Player) Event(next bool) error {
	return p.call(func() error {
		e := p.event(p.at, next, false)
		if e == nil {
			if next {
				return errors.New("there is no later event")
			}
			return errors.New("there is no earlier event")
		}
		return p.pausedAt(e.At)
	})
}

func (p *Player) pausedAt(at time.Time) error {
	p.playing = false
	return p.seek(at)
}

// End implements tui.Replay.
func (p *Player) End(last bool) error {
	return p.call(func() error {
		if last {
			return p.pausedAt(p.rec.To)
		}
		return p.pausedAt(p.rec.From)
	})
}

// Go implements tui.Replay.
func (p *Player) Go(text string) error {
	return p.call(func() error {
		at, err := p.rec.Moment(text, p.at, time.Local)
		if err != nil {
			return err
		}
		return p.pausedAt(at)
	})
}

// Subscribe implements tui.Backend.
func (p *Player) Subscribe() (<-chan *core.Snapshot, func()) {
	ch := make(chan *core.Snapshot, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	id := p.subID
	p.subID++
	p.subs[id] = ch
	if p.last != nil {
		ch <- p.last
	}
	return ch, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.subs, id)
	}
}

// Preview implements tui.Backend.
func (p *Player) Preview(context.Context, core.Intent) core.Preview {
	return core.Preview{Err: &core.APIError{Kind: core.ErrUnsupported, Call: "try the step", Message: Barred}}
}

// Grant implements tui.Backend.
func (p *Player) Grant(core.Step, string) (core.Grant, error) { return core.Grant{}, errBarred }

// Execute implements tui.Backend.
func (p *Player) Execute(context.Context, core.Grant) (string, error) { return "", errBarred }

// Control implements tui.Backend.
func (p *Player) Control(string, core.Control) error { return errBarred }

// LeaveOut implements tui.Backend.
func (p *Player) LeaveOut(string, int) error { return errBarred }

// Acknowledge implements tui.Backend.
func (p *Player) Acknowledge(string) {}

// Note implements tui.Backend: a recording takes no notes.
func (p *Player) Note(_ context.Context, n core.Note) (core.Note, error) { return n, errBarred }

// Arm implements tui.Backend.
func (p *Player) Arm(context.Context, string) error { return errBarred }

// LookAtLease implements tui.Backend.
func (p *Player) LookAtLease() {}

// Disarm implements tui.Backend.
func (p *Player) Disarm() {}

// Focus implements tui.Backend.
func (p *Player) Focus(string) {}

// ForecastEvacuation implements tui.Backend.
func (p *Player) ForecastEvacuation(context.Context, evacuation.Request, core.InventoryProgress) (evacuation.Forecast, error) {
	return evacuation.Forecast{}, errors.New("a recording does not have what only OpenStack can answer: " + Barred)
}
