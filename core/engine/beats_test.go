package engine

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// While facts change all the time, what is read at a beat is shown right after it, whether its reading takes a moment or longer; what comes
// together is shown together, and there are no more Snapshots than beats and ticks.
func TestWhatIsReadAtABeatIsShownAfterIt(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBenchWith(t, t.TempDir(), atRest(), core.DefaultSettings())
		defer b.end()
		snapshots, stop := b.engine.Subscribe()
		defer stop()
		at := func(d time.Duration) { // after the next beat
			time.Sleep(core.UntilBeat(time.Now()) + d)
		}
		const each = 15
		lasts := []time.Duration{time.Millisecond / 2, 4 * time.Millisecond, 8 * time.Millisecond, 20 * time.Millisecond}
		beats, seen := each*len(lasts), 0
		for i := range beats {
			began := time.Now()
			d := lasts[i/each]
			at(d)
			read := time.Now()
			version := time.Duration(i)
			b.engine.Apply(core.Delta{Source: core.SourceNodes, Touch: true, At: read})
			time.Sleep(time.Millisecond)
			n := &core.Node{Meta: core.Meta{Name: "late", UID: "late"}, Ready: "True", KubeletVersion: version.String()}
			b.engine.Apply(core.Delta{Source: core.SourceNodes, Upserts: []core.Object{n}, At: time.Now()})
			for {
				s := <-snapshots
				seen++
				if n := s.Nodes["late"]; n != nil && n.KubeletVersion == version.String() {
					break
				}
			}
			if late := time.Since(read); i%each > 0 && late > core.AfterBeat+4*time.Millisecond {
				t.Errorf("what was read %s after a beat is shown %s later (%s after the last)", d, late, read.Sub(began))
			}
		}
		if ticks := int(time.Duration(beats) * core.Beat / tickEvery); seen > beats+ticks+5 {
			t.Errorf("%d Snapshots of %d beats", seen, beats)
		}
	})
}
