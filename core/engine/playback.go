package engine

import (
	"lockstep/core"
	"lockstep/core/recording"
)

// Playback makes the Snapshots of a recording again, as the Engine made them: from the same facts, by the same code. It has no port to a
// server, no gate and no journal, so nothing can be written. It is used by one goroutine at a time.
type Playback struct {
	head   recording.Head
	stops  *core.StopFinder
	barred string

	engine *Engine // never runs: it counts revisions and stamps Snapshots
	frame  recording.Frame
	prev   *core.Snapshot
	began  bool
}

// NewPlayback makes a Playback that has played nothing yet. Its Snapshots say that writing is barred, and why; with barred empty they
// say of writing what was recorded.
func NewPlayback(head recording.Head, stops *core.StopFinder, barred string) *Playback {
	return &Playback{head: head, stops: stops, barred: barred, engine: &Engine{}}
}

// Began tells whether a frame was taken in, so that there is a Snapshot.
func (p *Playback) Began() bool { return p.began }

// Jump makes the next frame, which must have a Key, the whole world: what was played before does not count.
func (p *Playback) Jump() { p.began = false }

// Take takes the next frame in.
func (p *Playback) Take(f recording.Frame) {
	if f.Key != nil && (f.Begins || !p.began) {
		p.begin(f.Key)
	}
	if p.engine.world == nil {
		return // it cannot be read without a Key
	}
	p.began = true
	for _, d := range f.Deltas {
		p.engine.world.apply(d)
	}
	p.frame = f
}

func (p *Playback) begin(k *recording.Key) {
	w := newWorld(nil, p.frame.Wall)
	w.place = p.head.Place
	for _, src := range k.Sources {
		w.sources[src.ID] = src
	}
	for id, objects := range k.Objects {
		for _, o := range objects {
			w.put(id, o)
		}
	}
	p.engine.world, p.prev = w, nil
}

// Snapshot is how everything stood when the last frame was recorded. Began must be true.
func (p *Playback) Snapshot() *core.Snapshot {
	e, f := p.engine, p.frame
	s := &core.Snapshot{Facts: core.Facts{Now: f.Now, Wall: f.Wall, Cluster: p.head.Cluster, Simulated: p.head.Simulated, Place: p.head.Place,
		Own: p.head.Own, Operator: p.head.Operator, Settings: p.head.Settings, History: f.History, Operations: f.Operations,
		Write: f.Write, Notes: f.Notes, Identity: f.Identity, MoreStops: p.stops, Unheard: true}}
	if p.barred != "" {
		s.Write = core.WriteMode{Barred: p.barred, Since: f.Write.Since, Lease: f.Write.Lease,
			Looked: f.Write.Looked, Mine: f.Write.Mine}
	}
	e.revision++
	s.Revision = e.revision
	e.world.project(s, p.prev)
	e.stampSnapshot(s, p.prev)
	if p.prev != nil {
		s.Follow(p.prev)
	}
	e.observed, p.prev = s.History, s
	return s
}
