package tui

import (
	"reflect"
	"sync/atomic"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea shows a frame when its ticker ticks: a key waits for the next tick, and a screen on which nothing happens pays for all of
// them. 15 ticks a second keep a key waiting for up to 66 ms; 60 cost 0.8 % of a processor (measured once, on a busy machine; 15 cost
// 0.15 %). It has no way to say that a frame is ready. frames is that way: the program's ticker ticks once for each frame, when the frame
// has been made, and never else. No timer is set for it.
type frames struct {
	program *tea.Program
	show    chan time.Time // the ticker's
	asked   atomic.Bool    // a frameMsg is on its way
}

// frameRate is how often the ticker ticks where it cannot be set, a second.
const frameRate = 60

// frameMsg follows a frame: the program has given its text to the renderer.
type frameMsg struct{}

// newFrames has the frames of a program shown, which has not begun. It is nil when the program has no such ticker: it ticks by itself then.
func newFrames(p *tea.Program) *frames {
	ticker := tickerOf(p)
	if ticker == nil {
		return nil
	}
	f := &frames{program: p, show: make(chan time.Time, 1)}
	*ticker = time.NewTicker(time.Hour) // the program sets it again when it begins; nobody listens to it, so it does not run
	(*ticker).C = f.show
	return f
}

// due has the frame shown that is just being made. It is called in the program's event loop. A nil frames does nothing.
func (f *frames) due() {
	if f != nil && !f.asked.Swap(true) {
		go f.program.Send(frameMsg{}) // the loop takes it when it has given the frame to the renderer
	}
}

// made shows the frame: the frameMsg has come.
func (f *frames) made() {
	f.asked.Store(false)
	select {
	case f.show <- time.Now():
	default: // the renderer has not begun the one before: it shows the newest
	}
}

// tickerOf is where the program has the ticker of its renderer; nil when it has none under this name. A test says so when Bubble Tea
// changes.
func tickerOf(p *tea.Program) **time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return (**time.Ticker)(unsafe.Pointer(field.UnsafeAddr()))
}
