package tui

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lockstep/core"
	"lockstep/core/engine"
	scenes "lockstep/scene"
	"lockstep/sim/bubble/lane"
)

// A frame that is not drawn again, as only time has passed, is the one that would be drawn: in each second of half an hour in which now
// and then something changes, and somebody presses keys. At rest hardly any is drawn.
func TestAFrameThatRestsIsTheSameAsOneDrawnAnew(t *testing.T) {
	for i, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 150, Height: 50}} {
		if !lane.Chosen(t, i, 3) {
			continue
		}
		t.Run(strconv.Itoa(size.Width), func(t *testing.T) {
			times := lane.Part(t, 6, 6)
			synctest.Test(t, func(t *testing.T) { watchFrames(t, size, times) })
		})
	}
}

// linesOnlyIn are the lines of a frame that another does not have at the same place.
func linesOnlyIn(frame, other string) (lines []string) {
	theirs := strings.Split(other, "\n")
	for i, l := range strings.Split(frame, "\n") {
		if i >= len(theirs) || theirs[i] != l {
			lines = append(lines, ansi.Strip(l))
		}
	}
	return lines
}

// stray is a message that draws nothing.
type stray struct{}

// watchFrames compares each second of so many times five minutes, of which the first one is busy.
func watchFrames(t *testing.T, size tea.WindowSizeMsg, times int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := time.Now()
	sc := scenes.Fleet(60, 3)
	e := engine.New(engine.Config{Cluster: sc.Cluster, Operator: sc.Operator, Settings: sc.Settings, Barred: "a test of frames",
		Clock: func() time.Time { return scenes.Noon.Add(time.Since(begun)) }})
	go e.Run(ctx) //nolint:errcheck // it runs once
	facts := sc.Objects()
	hear := func() {
		for id := range sc.Sources {
			e.Apply(core.Delta{Source: id, At: time.Now(), State: core.SourceLive, Touch: true})
		}
	}
	for id := range sc.Sources {
		e.Apply(core.Delta{Source: id, At: time.Now(), State: core.SourceLive, Replace: true, Upserts: facts[id]})
	}
	rests, anew := newModel(ctx, Options{}), newModel(ctx, Options{})
	both := func(msg tea.Msg) {
		for _, m := range []*Model{rests, anew} {
			m.Update(msg)
			m.View()
		}
	}
	both(size)
	lock := *sc.NodeLock(scenes.Maintained, core.ControllerOpenStack)
	chance := rand.New(rand.NewPCG(uint64(size.Width), 1))
	keys := []tea.KeyPressMsg{{Code: tea.KeyDown}, {Code: tea.KeyUp}, {Code: tea.KeyTab}, {Code: '3', Text: "3"}, {Code: tea.KeyPgDown},
		{Code: 's', Text: "s"}, {Code: 'l', Text: "l"}, {Code: tea.KeyEscape}}
	rested, quiet := 0, 0
	for second := range times * 300 {
		time.Sleep(time.Second)
		synctest.Wait()
		if second%10 == 0 {
			hear()
		}
		busy := second%300 < 60
		switch {
		case busy && chance.IntN(4) == 0:
			moving := lock
			moving.Message = "Starting migration for " + strconv.Itoa(second)
			e.Apply(core.Delta{Source: core.SourceNodeLocks, At: time.Now(), Upserts: []core.Object{&moving}})
		case busy && chance.IntN(4) == 0:
			both(keys[chance.IntN(len(keys))])
			both(followMsg{rests.follows}) // the cursor stays where it is
		}
		if chance.IntN(50) == 0 {
			both(stray{}) // as an answer for a page that is closed by now
			if rests.instant.until.IsZero() && !anew.instant.until.IsZero() {
				t.Fatalf("after %d s a message that draws nothing came, and no moment is noted at which a text changes", second)
			}
		}
		s := e.Snapshot()
		anew.dirty = true // which never rests
		anew.Update(snapshotMsg{s})
		rests.Update(snapshotMsg{s})
		if was, is := anew.View().Content, rests.View().Content; was != is {
			t.Fatalf("after %d s, of which %d were quiet, the screen shows\n%s\nand drawn anew it shows\n%s", second, quiet,
				strings.Join(linesOnlyIn(is, was), "\n"), strings.Join(linesOnlyIn(was, is), "\n"))
		}
		if busy {
			quiet = 0
			continue
		}
		if quiet++; quiet > 120 && rests.resting != nil {
			rested++
		}
	}
	if all := times * (240 - 120); rested < all/2 {
		t.Errorf("of %d quiet seconds the screen rested in %d: most of them are drawn for nothing", all, rested)
	} else {
		t.Logf("of %d quiet seconds the screen rested in %d", all, rested)
	}
}

// Each text stays as it is until the moment that was noted: at ages of seconds, minutes, hours and days, and ahead.
func TestATextHoldsUntilTheMomentThatIsNoted(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	for name, text := range map[string]func(*instant, time.Time) string{
		"age":       (*instant).age,
		"short age": (*instant).shortAge,
		"ago":       (*instant).ago,
		"since":     func(i *instant, at time.Time) string { return i.since(core.Since{At: at}) },
		"took":      func(i *instant, at time.Time) string { return i.took(core.OperationRunning, at, time.Time{}) },
		"clock":     (*instant).clock,
	} {
		for range 500 {
			reach := []time.Duration{2 * time.Minute, 3 * time.Hour, 100 * time.Hour}[chance.IntN(3)]
			now := instant{at: scenes.Noon.Add(time.Duration(chance.Int64N(int64(time.Hour))))}
			at := now.at.Add(time.Duration(chance.Int64N(int64(reach)))).Add(-reach * 3 / 4)
			is := text(&now, at)
			if !now.until.After(now.at) {
				t.Fatalf("%s of %v at %v: no moment is noted", name, at, now.at)
			}
			for _, then := range []time.Time{now.until.Add(-1), now.at.Add(now.until.Sub(now.at) / 2)} {
				if later := text(&instant{at: then}, at); later != is {
					t.Fatalf("%s of %v is %q at %v and %q at %v, and was to hold until %v", name, at, is, now.at, later, then, now.until)
				}
			}
		}
	}
}
