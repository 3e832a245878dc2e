package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lockstep/core/forecast"
)

// configured is a screen whose configuration has a window.
func configured(o *Options) { o.Window, _ = forecast.ParseWindow("22:00-06:00") }

func TestHowLongAsItIsShown(t *testing.T) {
	for _, size := range sizes {
		d := drive(world(), size.w, size.h, configured).keys("2", "F")
		golden(t, fmt.Sprintf("until-%dx%d", size.w, size.h), stripped(d.shows()))
		golden(t, fmt.Sprintf("until-end-%dx%d", size.w, size.h), stripped(d.keys("end").shows()))
	}
	golden(t, "until-no-window-120x40", stripped(drive(world(), 120, 40).keys("F").shows()))
}

func TestATimeIsAskedAbout(t *testing.T) {
	d := drive(world(), 120, 40).keys("F")
	if strings.Contains(d.shows(), "Can it rest before") {
		t.Error("a time is asked about that nobody named")
	}
	d.keys("b", "2", "5", "enter")
	if !strings.Contains(stripped(d.shows()), "there is no time 25:00") {
		t.Errorf("a time that is none is taken:\n%s", stripped(d.shows()))
	}
	clear := tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}
	d.send(clear)
	d.keys("1", "8", ":", "0", "0", "q", "backspace", "enter")
	if !strings.Contains(stripped(d.shows()), "Can it rest before 18:00?") || !strings.Contains(stripped(d.shows()), "Yes: before 18:00") {
		t.Errorf("it is not answered:\n%s", stripped(d.shows()))
	}
	d.keys("b").send(clear)
	d.keys("7", "esc")
	if !strings.Contains(stripped(d.shows()), "Can it rest before 18:00?") {
		t.Error("esc did not leave it as it was")
	}
	d.keys("W")
	d.send(tea.PasteMsg{Content: "22:00-06:00"})
	d.keys("enter")
	if !strings.Contains(stripped(d.shows()), "Nights of 22:00-06:00") {
		t.Errorf("it is not divided over nights:\n%s", stripped(d.shows()))
	}
	if d.keys("esc"); d.top() != nil {
		t.Error("esc does not close the page")
	}
}

func TestEvacuationsAreForecastForTheNights(t *testing.T) {
	d := drive(world(), 120, 40).keys("F")
	if d.actionFor("v").Blocked(d.Model) == "" {
		t.Error("without a window it is offered")
	}
	d.keys("W", "2", "2", "-", "6", "enter")
	d.fake.evacuationErr = errors.New("list allocations: forbidden")
	if d.keys("v"); !strings.Contains(stripped(d.shows()), "The evacuations were not forecast: list allocations: forbidden") {
		t.Errorf("the failure is not told:\n%s", stripped(d.shows()))
	}
	d.fake.evacuationErr, d.fake.evacuation = nil, thePlan()
	d.fake.evacuation.Nodes[0].Node = "kaas-node-cmp09"
	if d.keys("v"); strings.Contains(stripped(d.shows()), "were not forecast") ||
		!strings.Contains(stripped(d.shows()), "1 node has instances that block it") {
		t.Errorf("they are not in the nights:\n%s", stripped(d.shows()))
	}
}

func TestHowLongIsWrittenToAFile(t *testing.T) {
	written := map[string]string{}
	d := drive(world(), 120, 40, configured, func(o *Options) {
		o.SaveFile = func(name string, content []byte) (string, error) { written[name] = string(content); return name, nil }
	}).keys("F", "m", "J")
	if md := written["window-20260314T164310Z.md"]; !strings.HasPrefix(md, "# How long, and until when: mos\n") {
		t.Errorf("written were %v", written)
	}
	if js := written["window-20260314T164310Z.json"]; !strings.HasPrefix(js, "{\n") {
		t.Errorf("written were %v", written)
	}
	d.shows()
}

// A table of the page that is too wide breaks its cells at spaces, as long as that is enough.
func TestATableOfTheTimesKeepsWordsWhole(t *testing.T) {
	head := []string{"step", "state", "documents", "plan", "taken here", "ends"}
	rows := [][]string{
		{"step openstack", "done", "1 h 45 m", "1 h 30 m", "-", "took 37 m"},
		{"step k8s-controllers", "later, 2 nodes", "1 h 10 m", "1 h 40 m", "each 15 m, by the documents; then 40 m", "01:47"},
	}
	for _, tt := range []struct {
		width int
		whole bool
	}{{120, true}, {76, true}, {50, false}} {
		var text string
		for _, l := range rowLines(head, rows, tt.width) {
			text += l.Text() + "\n"
		}
		if whole := strings.Contains(text, "k8s-controllers") && strings.Contains(text, "documents;"); whole != tt.whole {
			t.Errorf("at %d columns the words are whole: %t\n%s", tt.width, whole, text)
		}
	}
}
