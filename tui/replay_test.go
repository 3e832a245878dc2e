package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeReplay records what is asked of it.
type fakeReplay struct {
	state  ReplayState
	asked  []string
	refuse error
}

func (f *fakeReplay) note(format string, args ...any) error {
	f.asked = append(f.asked, fmt.Sprintf(format, args...))
	return f.refuse
}

func (f *fakeReplay) State() ReplayState { return f.state }

func (f *fakeReplay) Toggle() error {
	f.state.Playing = !f.state.Playing
	return f.note("toggle")
}

func (f *fakeReplay) SetSpeed(speed float64) error {
	f.state.Speed = speed
	return f.note("speed %g", speed)
}

func (f *fakeReplay) Event(next bool) error { return f.note("event %t", next) }
func (f *fakeReplay) Go(text string) error  { return f.note("go %s", text) }
func (f *fakeReplay) End(last bool) error   { return f.note("end %t", last) }

func newReplay() *fakeReplay {
	return &fakeReplay{state: ReplayState{From: fixtureNow.Add(-2 * time.Hour), To: fixtureNow.Add(6 * time.Hour), At: fixtureNow, Speed: 20,
		Event: "came: cmp-2: manual mode: 3 instances must leave first\x1b[31m", EventAt: fixtureNow.Add(-90 * time.Second)}}
}

func withReplay(f *fakeReplay) func(*Options) { return func(o *Options) { o.Replay = f } }

func TestARecordingThatIsPlayed(t *testing.T) {
	for _, size := range sizes {
		d := drive(world(), size.w, size.h, withReplay(newReplay()))
		d.run(d.awaitReplay())
		golden(t, fmt.Sprintf("replay-%dx%d", size.w, size.h), stripped(d.shows()))
	}
	d := drive(world(), 80, 24, withReplay(newReplay()))
	d.run(d.awaitReplay())
	golden(t, "replay-moment-80x24", stripped(d.keys("@", "0", "2").shows()))
}

// The keys of a recording do what they say, in every pane, and a refusal is told.
func TestTheKeysOfARecording(t *testing.T) {
	for _, pane := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		f := newReplay()
		d := drive(world(), 120, 40, withReplay(f))
		d.run(d.awaitReplay())
		d.keys(pane, "space", ".", ",", "}", "}", "{", "^", "$", "@", "enter", "+", "5", "m", "enter")
		want := []string{"toggle", "event true", "event false", "speed 60", "speed 120", "speed 60", "end false", "end true", "go +5m"}
		if !slices.Equal(f.asked, want) {
			t.Errorf("pane %s: asked %q, want %q", pane, f.asked, want)
		}
		if d.top() != nil {
			t.Errorf("pane %s: the box is still open", pane)
		}
	}
	f := newReplay()
	drive(world(), 120, 40, withReplay(f)).keys("3", "i", "space") // a page, where space would scroll
	if !slices.Equal(f.asked, []string{"toggle"}) {
		t.Errorf("on a page space asked %q", f.asked)
	}
	f = newReplay()
	f.refuse = errors.New("there is no later event")
	d := drive(world(), 120, 40, withReplay(f)).keys(".")
	if !strings.Contains(d.shows(), "there is no later event") {
		t.Error(d.shows())
	}
	d.keys("@", "9", "enter")
	if d.top() == nil || !strings.Contains(d.shows(), "there is no later event") {
		t.Error("a wrong time closes the box, or is not told")
	}
}

// Enter twice on "+10m" goes ten minutes, not twenty; a time that was refused can be asked for again.
func TestAMomentIsGoneToOnce(t *testing.T) {
	f := newReplay()
	d := drive(world(), 120, 40, withReplay(f)).keys("@", "+10m")
	_, first := d.Update(namedKeys["enter"])
	if _, second := d.Update(namedKeys["enter"]); second != nil {
		d.run(second)
	}
	if d.run(first); !slices.Equal(f.asked, []string{"go +10m"}) || d.top() != nil {
		t.Errorf("asked %q, and %T is open", f.asked, d.top())
	}
	f.refuse = errors.New("it ends before")
	if d.later(hushFor).keys("@", "+9h", "enter", "enter"); len(f.asked) != 3 || d.top() == nil {
		t.Errorf("asked %q, and %T is open", f.asked, d.top())
	}
}

// Without a recording none of its keys does anything, and nodes are marked as ever.
func TestWithoutARecordingItsKeysAreFree(t *testing.T) {
	d := drive(world(), 120, 40).keys(".", ",", "}", "{", "@", "^", "$")
	if d.top() != nil || strings.Contains(d.shows(), "REPLAY") {
		t.Error(d.shows())
	}
}
