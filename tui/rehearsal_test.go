package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"lockstep/tui/draw"
)

// fakeRehearsal is two servers whose faults can be switched.
type fakeRehearsal struct {
	state  RehearsalState
	refuse error
	speeds []float64
}

func (f *fakeRehearsal) State() RehearsalState {
	st := f.state
	st.Servers = nil
	for _, s := range f.state.Servers {
		s.Faults = append([]RehearsalFault(nil), s.Faults...)
		st.Servers = append(st.Servers, s)
	}
	return st
}

func (f *fakeRehearsal) fault(server, id string) *RehearsalFault {
	for i := range f.state.Servers {
		for j := range f.state.Servers[i].Faults {
			if fault := &f.state.Servers[i].Faults[j]; f.state.Servers[i].ID == server && fault.ID == id {
				return fault
			}
		}
	}
	return nil
}

func (f *fakeRehearsal) Toggle(server, id string) error {
	if f.refuse != nil {
		return f.refuse
	}
	fault := f.fault(server, id)
	fault.On = !fault.On
	return nil
}

func (f *fakeRehearsal) Clear() {
	for i := range f.state.Servers {
		for j := range f.state.Servers[i].Faults {
			f.state.Servers[i].Faults[j].On = false
		}
	}
}

func (f *fakeRehearsal) SetSpeed(speed float64) error {
	f.speeds = append(f.speeds, speed)
	f.state.Speed = speed
	return nil
}

func newRehearsal() *fakeRehearsal {
	f := &fakeRehearsal{state: RehearsalState{
		Scenario: "manual-nodes", Title: "Ten workers to update, two of which wait for you", Now: fixtureNow, Speed: 60,
		Teaches: "A cluster update in its fourth phase: the masters and two computes are done, cmp-03 is being evacuated by the OpenStack " +
			"controller. Next comes cmp-04, whose instances the operator wants to move by hand (manual mode): the update waits there until you " +
			"have emptied the node and declared it safe.",
	}}
	for _, server := range []struct{ id, name string }{{"kubernetes", "Kubernetes"}, {"identity", "Keystone"}, {"compute", "Nova"}} {
		s := RehearsalServer{ID: server.id, Name: server.name}
		for _, k := range []struct{ id, title, details string }{
			{"latency", "slow to answer", "latency=2s"}, {"401", "logins refused", ""}, {"403", "no rights", ""},
			{"404", "not found", ""}, {"429", "too many requests", "retry-after=5s"}, {"500", "internal errors", ""},
			{"503", "unavailable", ""}, {"page-502", "a proxy's error page", ""}, {"page-200", "a proxy's login page", ""},
			{"hang", "hung", ""}, {"reset", "connections break", ""}, {"truncated", "answers break off", ""},
			{"short", "answers end early", ""}, {"malformed", "answers are garbled", ""}, {"slow", "answers trickle in", "bytes=200"},
			{"watches-silent", "watches are silent", ""}, {"clock-skew", "clock wrong", "skew=5m"},
		} {
			s.Faults = append(s.Faults, RehearsalFault{ID: k.id, Title: k.title, Details: k.details, Does: "Every answer is " + k.title + ".",
				Sees: "The sources are stale, and say why; what was seen stays on the screen with its age."})
		}
		f.state.Servers = append(f.state.Servers, s)
	}
	*f.fault("kubernetes", "429") = RehearsalFault{ID: "429", Title: "too many requests", Details: "retry-after=5s", On: true, Met: 1204,
		Does: "Every request is answered 429 Too Many Requests, with Retry-After.",
		Sees: "The sources are stale, and say when they are tried again; it is not tried before."}
	return f
}

func withRehearsal(f *fakeRehearsal) func(*Options) { return func(o *Options) { o.Rehearsal = f } }

func TestThePanelOfTheDemo(t *testing.T) {
	for _, size := range sizes {
		d := drive(world(), size.w, size.h, withRehearsal(newRehearsal())).keys("f4", "down", "down", "down", "down")
		golden(t, fmt.Sprintf("rehearsal-%dx%d", size.w, size.h), stripped(d.shows()))
	}
	d := drive(world(), 80, 24, withRehearsal(newRehearsal())).keys("f4", "end")
	golden(t, "rehearsal-end-80x24", stripped(d.shows()))
	d = drive(world(), 80, 24, withRehearsal(newRehearsal())).keys("f4")
	d.send(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
	golden(t, "styled-rehearsal-dark-256", styled(t, d.shows(), colorprofile.ANSI256))
}

func TestThePanelFitsEverySize(t *testing.T) {
	for _, size := range []struct{ w, h int }{{36, 9}, {40, 12}, {79, 23}, {110, 20}, {109, 60}, {300, 100}} {
		d := drive(world(), size.w, size.h, withRehearsal(newRehearsal())).keys("f4")
		lines := strings.Split(stripped(d.shows()), "\n")
		if len(lines) > size.h+1 {
			t.Errorf("%dx%d: %d lines", size.w, size.h, len(lines))
		}
		for _, l := range lines {
			if draw.Width(l) > size.w {
				t.Errorf("%dx%d: a line of %d columns: %s", size.w, size.h, draw.Width(l), l)
			}
		}
		if !strings.Contains(d.shows(), "latency") {
			t.Errorf("%dx%d: the fault under the cursor is not shown:\n%s", size.w, size.h, stripped(d.shows()))
		}
	}
}

func TestFaultsAreSwitchedInThePanel(t *testing.T) {
	f := newRehearsal()
	d := drive(world(), 120, 40, withRehearsal(f)).keys("f4")
	d.keys("right", "down", "space")
	if !f.fault("identity", "401").On {
		t.Error("space does not switch the fault under the cursor on")
	}
	if !strings.Contains(d.shows(), "2 faults on") || !strings.Contains(d.shows(), "Keystone: logins refused is on") {
		t.Errorf("the panel does not show it:\n%s", stripped(d.shows()))
	}
	d.keys("enter")
	if f.fault("identity", "401").On {
		t.Error("enter does not switch it off again")
	}
	d.keys("left", "c")
	if f.fault("kubernetes", "429").On {
		t.Error("c does not switch all of them off")
	}
	f.refuse = errors.New("this cloud has no such server")
	d.keys("space")
	if !strings.Contains(d.shows(), "this cloud has no such server") {
		t.Error("a refusal is not said")
	}
	d.keys("f4")
	if d.top() != nil {
		t.Error("f4 does not close the panel")
	}
	d.keys("f4", "esc")
	if d.top() != nil {
		t.Error("esc does not close the panel")
	}
}

func TestTheClockIsSetInThePanel(t *testing.T) {
	f := newRehearsal()
	d := drive(world(), 120, 40, withRehearsal(f)).keys("f4", "+", "-", "-", "p")
	if !strings.Contains(d.shows(), "it is halted") {
		t.Errorf("the panel does not show that the clock is halted:\n%s", stripped(d.shows()))
	}
	d.keys("p")
	if got := fmt.Sprint(f.speeds); got != "[120 60 20 0 20]" {
		t.Errorf("the clock was set to %s", got)
	}
	for range 20 {
		d.keys("+")
	}
	if got := f.speeds[len(f.speeds)-1]; got != 3600 {
		t.Errorf("the fastest is %g", got)
	}
}

func TestThePanelCountsWhileOneLooks(t *testing.T) {
	f := newRehearsal()
	d := drive(world(), 120, 40, withRehearsal(f)).keys("f4")
	page := d.top().(*rehearsalPage)
	f.fault("kubernetes", "429").Met = 4711
	if _, cmd := d.Update(rehearsalTick{page}); cmd == nil {
		t.Fatal("the panel does not look again")
	} else {
		d.run(cmd)
	}
	if !strings.Contains(d.shows(), "met 4711") {
		t.Errorf("the panel shows what was:\n%s", stripped(d.shows()))
	}
	d.keys("esc")
	if _, cmd := d.Update(rehearsalTick{page}); cmd != nil {
		t.Error("a panel that is closed looks again")
	}
}

func TestTheMouseInThePanel(t *testing.T) {
	f := newRehearsal()
	d := drive(world(), 120, 40, withRehearsal(f)).keys("f4", "f2")
	click := func(text string) {
		t.Helper()
		for y, l := range strings.Split(stripped(d.shows()), "\n") {
			if x := strings.Index(l, text); x >= 0 {
				d.send(tea.MouseClickMsg{X: draw.Width(l[:x]) + 1, Y: y, Button: tea.MouseLeft})
				return
			}
		}
		t.Fatalf("%q is not on the screen:\n%s", text, stripped(d.shows()))
	}
	click("Nova")
	click("page-502")
	if f.fault("compute", "page-502").On {
		t.Error("a click on another fault switches it")
	}
	click("page-502")
	if !f.fault("compute", "page-502").On {
		t.Errorf("a click on the fault under the cursor does not switch it:\n%s", stripped(d.shows()))
	}
	d.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	d.keys("space")
	if !f.fault("compute", "reset").On {
		t.Error("the wheel does not move the cursor")
	}
}

func TestThereIsNoPanelOnARealCloud(t *testing.T) {
	d := drive(world(), 120, 40).keys("f4")
	if d.top() != nil {
		t.Error("f4 opens it")
	}
	if d.keys("?"); strings.Contains(d.shows(), "f4") {
		t.Error("the help speaks of it")
	}
}

// While only the clock and a count change, the panel sends little over a slow line.
func TestThePanelCostsLittle(t *testing.T) {
	f := newRehearsal()
	d := drive(world(), 120, 40, withRehearsal(f)).keys("f4")
	before := strings.Split(d.shows(), "\n")
	f.state.Now = f.state.Now.Add(30 * time.Second)
	f.fault("kubernetes", "429").Met++
	d.run(d.rehearse(d.top().(*rehearsalPage), nil))
	changed := 0
	for i, l := range strings.Split(d.shows(), "\n") {
		if l != before[i] {
			changed++
		}
	}
	if changed != 2 {
		t.Errorf("%d lines changed", changed)
	}
}
