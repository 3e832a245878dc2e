package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea shows a frame when its ticker ticks: a key waits for the next tick, and a screen on which nothing happens pays for all of
// them. 15 ticks a second keep a key waiting for up to 66 ms; 60 cost 0.8 % of a processor (measured once, on a busy machine; 15 cost
// 0.15 %). It has no way to say that a frame is ready. frames sets the ticker itself: it ticks right after a frame was made, and hardly
// ever otherwise.
type frames struct {
	program *tea.Program

	mu     sync.Mutex
	ticker *time.Ticker // of the program; nil before its first frame
	rest   *time.Timer
}

const (
	frameAfter = time.Millisecond     // from a frame's text to its showing
	frameTicks = 5 * time.Millisecond // for how long the ticker then ticks
	frameRest  = 10 * time.Second     // between ticks on which nothing is expected
	frameRate  = 60                   // a second, where the ticker cannot be set
)

// due has the frame shown that is just being made. It is called in the program's event loop. A nil frames does nothing.
func (f *frames) due() {
	if f == nil || f.program == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ticker == nil {
		if f.ticker = tickerOf(f.program); f.ticker == nil {
			return
		}
	}
	f.ticker.Reset(frameAfter)
	if f.rest == nil {
		f.rest = time.AfterFunc(frameTicks, f.slow)
		return
	}
	f.rest.Reset(frameTicks)
}

func (f *frames) slow() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ticker.Reset(frameRest)
}

// tickerOf is the ticker of the program's renderer; nil when it has none under this name. A test says so when Bubble Tea changes.
func tickerOf(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(field.UnsafeAddr()))
}
