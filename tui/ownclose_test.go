package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
)

var ctrlC = tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}

// A box that closes by itself closes nothing above it: neither a question that waits for its answer, nor what nobody has read yet.
func TestABoxThatClosesByItselfTakesNothingWithIt(t *testing.T) {
	armed := func(d *driver) {
		d.fresh(func(s *core.Snapshot) { s.Write = core.WriteMode{Armed: true, Mine: true} })
	}
	lost := func(d *driver) {
		d.fresh(func(s *core.Snapshot) { s.Write = core.WriteMode{Lost: "bob took the lease over"} })
	}
	below := map[string]struct {
		open func(t *testing.T) (*driver, layer, tea.Cmd)
		ends func(d *driver, answer tea.Cmd)
	}{
		"arming, the facts first":  {onArming, func(d *driver, answer tea.Cmd) { armed(d); d.run(answer) }},
		"arming, the answer first": {onArming, func(d *driver, answer tea.Cmd) { d.run(answer); armed(d) }},
		"a confirmation": {func(*testing.T) (*driver, layer, tea.Cmd) {
			d, _, _ := opened(theStep())
			d.unstoppable = func() string { return "" }
			d.keys("tab")
			top := d.top()
			_, answer := d.Update(namedKeys["enter"])
			return d, top, answer
		}, (*driver).run},
		"a note": {func(*testing.T) (*driver, layer, tea.Cmd) {
			d, _ := stoppable(world(), 120, 40)
			d.keys("#", "look here")
			top := d.top()
			_, answer := d.Update(namedKeys["enter"])
			return d, top, answer
		}, (*driver).run},
	}
	above := map[string]func(d *driver){
		"leave":   func(d *driver) { d.send(ctrlC) },
		"suspend": func(d *driver) { d.keys("ctrl+z") },
		"both":    func(d *driver) { d.keys("ctrl+z"); d.send(ctrlC) },
		"lost":    lost,
	}
	for name, b := range below {
		for what, opens := range above {
			t.Run(name+", "+what, func(t *testing.T) {
				d, box, answer := b.open(t)
				opens(d)
				question := d.top()
				if question == box || question == nil {
					t.Fatalf("nothing is open above %T", box)
				}
				b.ends(d, answer)
				if d.Model.shows(box) {
					t.Errorf("%T is still open", box)
				}
				if d.top() != question {
					t.Errorf("%T has gone, and %T is open", question, d.top())
				}
				d.shows()
			})
		}
	}
}

// onArming is a screen on which the lease is asked for: the dialog, and the answer that is still to come.
func onArming(*testing.T) (*driver, layer, tea.Cmd) {
	d, _ := stoppable(world(), 120, 40)
	d.keys("w", "right")
	top := d.top()
	_, answer := d.Update(namedKeys["enter"])
	return d, top, answer
}
