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

// A fact that comes between two beats, when nothing has come for a while, is shown at once. It does not put off what is read at the next
// beat.
func TestAFactBetweenTwoBeatsPutsOffNothing(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBenchWith(t, t.TempDir(), atRest(), core.DefaultSettings())
		defer b.end()
		snapshots, stop := b.engine.Subscribe()
		defer stop()
		shown := func(version string) time.Duration { // how long after it was read
			began := time.Now()
			n := &core.Node{Meta: core.Meta{Name: "late", UID: "late"}, Ready: "True", KubeletVersion: version}
			b.engine.Apply(core.Delta{Source: core.SourceNodes, Upserts: []core.Object{n}, At: began})
			for s := range snapshots {
				if n := s.Nodes["late"]; n != nil && n.KubeletVersion == version {
					break
				}
			}
			return time.Since(began)
		}
		for _, before := range []time.Duration{200, 150, 110, 80, 50, 35} { // milliseconds before the next beat
			<-snapshots // of a tick
			time.Sleep(core.Beat)
			time.Sleep((core.UntilBeat(time.Now()) - before*time.Millisecond + core.Beat) % core.Beat)
			if alone := shown("alone " + before.String()); alone > 2*together {
				t.Errorf("%s before the beat a fact that comes alone is shown %s later", before*time.Millisecond, alone)
			}
			time.Sleep(core.UntilBeat(time.Now()) + time.Millisecond)
			if late := shown("at the beat " + before.String()); late > core.AfterBeat+4*time.Millisecond {
				t.Errorf("%s before the beat a Snapshot was made; what was read at the beat is shown %s later", before*time.Millisecond, late)
			}
		}
	})
}
