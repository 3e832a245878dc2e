package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/themes"
)

// ruleOf is the rule with the text in its title.
func ruleOf(d *driver, title string) string {
	for _, l := range strings.Split(stripped(d.shows()), "\n") {
		if strings.Contains(l, title) {
			return l
		}
	}
	return ""
}

// Objects and events say as of when they are, by the screen's clock: they stay while the page is open, and when another answer fails.
func TestObjectsAndEventsSayAsOfWhenTheyAre(t *testing.T) {
	for key, title := range map[string]string{"D": "Node cmp-07", "Y": "YAML of Node cmp-07", "K": "Events of Node cmp-07"} {
		for _, w := range []int{60, 80, 120} {
			f := &fakeLooker{object: core.ObjectText{Describe: "Name: cmp-07", YAML: "kind: Node"}, events: []core.Event{
				{At: before(time.Minute), Count: 1, Reason: "New", Kind: "Node", About: "kaas-node-cmp07", Message: "now"}}}
			d := drive(world(), w, 24, withLooker(f)).keys("3", key)
			first := "as of " + secondsClock(fixtureNow, fixtureNow)
			ends := title[:len(title)-8]
			if rule := ruleOf(d, ends); !strings.Contains(rule, first) {
				t.Errorf("%s at %d columns says %q, not %q", key, w, rule, first)
			}
			p := d.top().(*lookText)
			if tone := p.dated(d.Model)[0].Tone(); tone == themes.Warn {
				t.Errorf("%s warns of a fresh answer", key)
			}
			s := world()
			s.Revision, s.Now, s.Wall = d.snap.Revision+1, s.Now.Add(20*time.Minute), s.Wall.Add(20*time.Minute)
			d.later(20 * time.Minute).send(snapshotMsg{s})
			f.err, f.events = errors.New("no route to host"), nil
			d.keys("r")
			if rule := ruleOf(d, ends); !strings.Contains(rule, first) || !strings.Contains(stripped(d.shows()), "no route to host") {
				t.Errorf("%s at %d columns says of an old answer %q", key, w, rule)
			}
			if tone := p.dated(d.Model)[0].Tone(); tone != themes.Warn {
				t.Errorf("%s does not warn of an old answer: %v", key, tone)
			}
			if rule := ruleOf(d.keys("/", "o", "enter"), "/o 1 of"); w >= 80 && !strings.Contains(rule, first) {
				t.Errorf("%s at %d columns says in a search %q", key, w, rule)
			}
			f.err = nil
			now := "as of " + secondsClock(fixtureNow.Add(20*time.Minute), fixtureNow)
			if rule := ruleOf(d.keys("esc", "r"), ends); !strings.Contains(rule, now) {
				t.Errorf("%s at %d columns says of a new answer %q, not %q", key, w, rule, now)
			}
		}
	}
}
