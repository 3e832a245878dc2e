package tui

import (
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/sim/bubble"
)

// Bubble Tea's program has the ticker that frames sets. Where it is called otherwise, keys wait for a tick of frameRate.
func TestTheTickerIsFound(t *testing.T) {
	field, there := reflect.TypeFor[tea.Program]().FieldByName("ticker")
	if !there || field.Type != reflect.TypeFor[*time.Ticker]() {
		t.Error("Bubble Tea's Program has no *time.Ticker called ticker: see how it shows a frame now")
	}
}

// Everything is on the terminal before any time has passed: the first frame, with what is known at the start, each key's, and that of a
// new Snapshot. Then nothing more comes.
func TestAFrameTakesNoTime(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		p := start(t, world(), 120, 40)
		synctest.Wait()
		if _, first := p.term.take(); !strings.Contains(first, "cmp-07") || strings.Contains(first, "connecting") {
			t.Errorf("at the start came %q", first)
		}
		p.settle()
		begun := time.Now()
		at := func(what string) {
			t.Helper()
			synctest.Wait()
			if n, _ := p.term.take(); n == 0 {
				t.Errorf("%s: no frame has come", what)
			}
			if took := time.Since(begun); took != 0 {
				t.Errorf("%s: the frame came after %s", what, took)
			}
		}
		for range 3 {
			for _, key := range []string{"j", "k", "?", "q"} {
				_, _ = io.WriteString(p.keys, key)
				at(key)
			}
		}
		s := world()
		s.Revision++
		s.Cluster = "another"
		p.fake.publish(s)
		at("a Snapshot")
		_, _ = io.WriteString(p.keys, "y")
		synctest.Wait()
		if _, text := p.term.take(); !strings.Contains(text, "]52;") || time.Since(begun) != 0 {
			t.Errorf("what is copied is not on its way to the clipboard, %s after the key: %q", time.Since(begun), text)
		}
		p.settle()
		time.Sleep(time.Second)
		if n, text := p.term.take(); n != 0 {
			t.Errorf("while nothing happens came %q", text)
		}
	})
}
