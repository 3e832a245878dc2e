package engine

import (
	"testing"
	"time"

	"lockstep/core"
)

var worldTime = time.Date(2026, 1, 16, 12, 0, 0, 0, time.UTC)

// readySince is since when the nodes of a testCloud are Ready.
var readySince = worldTime.Add(-time.Hour)

func projected(w *world, prev *core.Snapshot) *core.Snapshot {
	s := &core.Snapshot{}
	w.project(s, prev)
	return s
}

func names(list []*core.Instance) string {
	out := ""
	for _, in := range list {
		out += in.Name + " "
	}
	return out
}

// Nova's list of a host says which instances are there. An instance that is missing from it has moved or is gone: it is no longer
// on the host, and it is forgotten only when the list of the whole cloud says so.
func TestHostListTakesInstancesOffTheHost(t *testing.T) {
	w := newWorld(nil, worldTime)
	a, b := &core.Instance{ID: "a", Name: "a", Host: "h1"}, &core.Instance{ID: "b", Name: "b", Host: "h1"}
	w.apply(core.Delta{Source: core.SourceInstances, Replace: true, At: worldTime, Upserts: []core.Object{a, b}})
	first := projected(w, nil)
	if got := names(first.ByHost["h1"]); got != "a b " {
		t.Fatalf("h1 has %q", got)
	}
	w.apply(core.Delta{Source: core.SourceInstances, Replace: true, Host: "h1", At: worldTime, Upserts: []core.Object{b}})
	second := projected(w, first)
	if got := names(second.ByHost["h1"]); got != "b " {
		t.Errorf("after the host's list h1 has %q", got)
	}
	if in := second.Instances.At("a"); in == nil || in.Host != "" {
		t.Errorf("a is %+v; it is somewhere, and nobody knows where", in)
	}
	if got := names(first.ByHost["h1"]); got != "a b " {
		t.Errorf("the earlier snapshot changed: h1 has %q", got)
	}
	w.apply(core.Delta{Source: core.SourceInstances, At: worldTime, Upserts: []core.Object{&core.Instance{ID: "a", Name: "a", Host: "h2"}}})
	w.apply(core.Delta{Source: core.SourceInstances, At: worldTime, Deletes: []string{"b"}})
	third := projected(w, second)
	if names(third.ByHost["h2"]) != "a " || len(third.ByHost["h1"]) != 0 || third.Instances.Len() != 1 {
		t.Errorf("after a's arrival and b's deletion: %v", third.ByHost)
	}
}

func TestReplaceDropsWhatIsNotInTheList(t *testing.T) {
	w := newWorld(nil, worldTime)
	node := func(name, uid string) *core.Node { return &core.Node{Meta: core.Meta{Name: name, UID: uid}} }
	w.apply(core.Delta{Source: core.SourceNodes, Replace: true, At: worldTime, Upserts: []core.Object{node("a", "1"), node("b", "2")}})
	first := projected(w, nil)
	w.apply(core.Delta{Source: core.SourceNodes, Replace: true, At: worldTime, Upserts: []core.Object{node("b", "3")}})
	second := projected(w, first)
	if len(second.Nodes) != 1 || second.Nodes["b"].UID != "3" || len(first.Nodes) != 2 {
		t.Fatalf("first %v, second %v", first.Nodes, second.Nodes)
	}
}

// Unchanged facts are shared between snapshots, and a poll that found nothing new is not a change.
func TestUnchangedFactsAreShared(t *testing.T) {
	w := newWorld(nil, worldTime)
	w.apply(core.Delta{Source: core.SourceInstances, State: core.SourceLive, Replace: true, At: worldTime,
		Upserts: []core.Object{&core.Instance{ID: "a", Name: "a", Host: "h1"}}})
	first := projected(w, nil)
	if w.apply(core.Delta{Source: core.SourceInstances, Replace: true, Host: "h1", At: worldTime.Add(time.Second),
		Upserts: []core.Object{&core.Instance{ID: "a", Name: "a", Host: "h1"}}}) {
		t.Error("the same list again counts as a change")
	}
	second := projected(w, first)
	if second.Instances.At("a") != first.Instances.At("a") {
		t.Error("the instance was rebuilt")
	}
	if got := w.sources[core.SourceInstances].AsOf; !got.Equal(worldTime.Add(time.Second)) {
		t.Errorf("as of %v: the poll confirmed it a second later", got)
	}
}

// A node's heartbeat changes only its resourceVersion, and that does not count as a change.
func TestHeartbeatIsNoChange(t *testing.T) {
	w := newWorld(nil, worldTime)
	node := func(rv, ready string) *core.Node {
		return &core.Node{Meta: core.Meta{Name: "a", UID: "1", ResourceVersion: rv}, Ready: ready, Annotations: map[string]string{"k": "v"}}
	}
	w.apply(core.Delta{Source: core.SourceNodes, Replace: true, At: worldTime, Upserts: []core.Object{node("1", "True")}})
	if w.apply(core.Delta{Source: core.SourceNodes, At: worldTime, Upserts: []core.Object{node("2", "True")}}) {
		t.Error("a heartbeat counts as a change")
	}
	if !w.apply(core.Delta{Source: core.SourceNodes, At: worldTime, Upserts: []core.Object{node("3", "False")}}) {
		t.Error("a node that is not Ready any more is a change")
	}
}

// The last facts stay when a source fails; only their age shows it.
func TestFailedSourceKeepsItsFacts(t *testing.T) {
	w := newWorld([]core.SourceID{core.SourceNodes}, worldTime)
	if got := w.sources[core.SourceNodes].State; got != core.SourceConnecting {
		t.Fatalf("an expected source begins %q", got)
	}
	w.apply(core.Delta{Source: core.SourceNodes, State: core.SourceLive, Replace: true, At: worldTime,
		Upserts: []core.Object{&core.Node{Meta: core.Meta{Name: "a"}}}})
	err := &core.APIError{Kind: core.ErrUnreachable, Call: "watch nodes"}
	if !w.apply(core.Delta{Source: core.SourceNodes, State: core.SourceStale, Err: err, At: worldTime.Add(time.Minute)}) {
		t.Error("a source that goes stale is a change")
	}
	src := w.sources[core.SourceNodes]
	if src.State != core.SourceStale || src.Err != err || !src.AsOf.Equal(worldTime) || !src.Since.Equal(worldTime.Add(time.Minute)) {
		t.Errorf("the source is %+v", src)
	}
	if len(projected(w, nil).Nodes) != 1 {
		t.Error("the nodes were forgotten")
	}
	w.apply(core.Delta{Source: core.SourceNodes, State: core.SourceLive, Touch: true, At: worldTime.Add(2 * time.Minute)})
	if src := w.sources[core.SourceNodes]; src.Err != nil || src.State != core.SourceLive || !src.AsOf.Equal(worldTime.Add(2*time.Minute)) {
		t.Errorf("the source came back as %+v", src)
	}
}

// After this machine's clock was set back, what was confirmed by it counts from what it says now: else nothing would be old for a while.
func TestAClockThatIsSetBack(t *testing.T) {
	w := newWorld([]core.SourceID{core.SourceNodes}, worldTime)
	now := worldTime.Add(10 * time.Minute)
	w.wall = func() time.Time { return now }
	touch := func() time.Time {
		w.apply(core.Delta{Source: core.SourceNodes, State: core.SourceLive, Touch: true, At: now})
		return w.sources[core.SourceNodes].AsOf
	}
	touch()
	now = worldTime
	if at := touch(); !at.Equal(now) {
		t.Errorf("it is %s, and the nodes were confirmed at %s", now, at)
	}
	w.apply(core.Delta{Source: core.SourceNodes, State: core.SourceLive, Touch: true, At: now.Add(-time.Second)})
	if at := w.sources[core.SourceNodes].AsOf; !at.Equal(now) {
		t.Errorf("an older answer that came late: %s", at)
	}
}

// The first pages of a cloud's instances, or the list of one host, say nothing about the other hosts: if the rest does not come,
// those hosts must not look empty.
func TestPartsOfAFirstListAreNotKnowledge(t *testing.T) {
	w := newWorld([]core.SourceID{core.SourceInstances}, worldTime)
	w.apply(core.Delta{Source: core.SourceInstances, State: core.SourceConnecting, At: worldTime,
		Upserts: []core.Object{&core.Instance{ID: "a", Host: "h1"}}})
	w.apply(core.Delta{Source: core.SourceInstances, State: core.SourceConnecting, Replace: true, Host: "h2", At: worldTime,
		Upserts: []core.Object{&core.Instance{ID: "b", Host: "h2"}}})
	w.apply(core.Delta{Source: core.SourceInstances, State: core.SourceFailed,
		Err: &core.APIError{Kind: core.ErrTimeout, Call: "list instances"}, At: worldTime})
	if s := projected(w, nil); s.Known(core.SourceInstances) {
		t.Error("two instances count as all of them")
	}
	w.apply(core.Delta{Source: core.SourceInstances, State: core.SourceLive, Replace: true, At: worldTime,
		Upserts: []core.Object{&core.Instance{ID: "a", Host: "h1"}}})
	w.apply(core.Delta{Source: core.SourceInstances, State: core.SourceFailed,
		Err: &core.APIError{Kind: core.ErrTimeout, Call: "list instances"}, At: worldTime})
	if s := projected(w, nil); !s.Known(core.SourceInstances) {
		t.Error("what was known once is forgotten when the source fails")
	}
}

// Objects of the wrong type are an adapter's mistake, and not a reason to crash.
func TestForeignObjectsAreLeftOut(t *testing.T) {
	w := newWorld(nil, worldTime)
	w.apply(core.Delta{Source: core.SourceNodes, Replace: true, At: worldTime,
		Upserts: []core.Object{&core.Instance{ID: "x"}, &core.Node{Meta: core.Meta{Name: "a"}}}})
	if got := projected(w, nil).Nodes; len(got) != 1 || got["a"] == nil {
		t.Fatalf("nodes: %v", got)
	}
}

// A service that reports is as it was; only the time of its report is another one. One that has fallen silent, or comes back, is another
// one.
func TestAReportIsNoNewFact(t *testing.T) {
	at := func(seconds int) time.Time { return worldTime.Add(time.Duration(seconds) * time.Second) }
	for _, tt := range []struct {
		source core.SourceID
		object func(up bool, reported time.Time) core.Reporter
	}{
		{core.SourceComputeServices, func(up bool, reported time.Time) core.Reporter {
			return &core.ComputeService{ID: "c", Host: "cmp-1", Up: up, Updated: reported}
		}},
		{core.SourceVolumeServices, func(up bool, reported time.Time) core.Reporter {
			return &core.VolumeService{Host: "cmp-1@lvm", Up: up, Updated: reported}
		}},
		{core.SourceNetworkAgents, func(up bool, reported time.Time) core.Reporter {
			return &core.NetworkAgent{ID: "a", Host: "cmp-1", Alive: up, Heartbeat: reported}
		}},
	} {
		w := newWorld(nil, worldTime)
		var s *core.Snapshot
		step := func(up bool, reported time.Time, wantNews bool) {
			t.Helper()
			w.touched = touches{}
			o := tt.object(up, reported)
			news := w.apply(core.Delta{Source: tt.source, At: reported, Replace: true, Upserts: []core.Object{o}})
			s = projected(w, s)
			if news != wantNews || w.touched.any != wantNews {
				t.Errorf("%s at %s: news %t, touched %t; want %t", tt.source, reported, news, w.touched.any, wantNews)
			}
			known := w.objects[tt.source][o.Key()].(core.Reporter)
			if last := s.LastHeard(known); !last.Equal(reported) {
				t.Errorf("%s was heard last at %s, not %s", tt.source, last, reported)
			}
			of := core.Snapshot{Facts: s.Facts}
			if of.Unheard = true; of.LastHeard(known).IsZero() != up {
				t.Errorf("%s: a recording says of one that reports (%t) that it did at %s", tt.source, up, of.LastHeard(known))
			}
		}
		step(true, at(0), true)
		first := s
		step(true, at(10), false)
		step(true, at(20), false)
		step(false, at(20), true)
		step(false, at(30), true) // nobody understands it, and it can matter
		step(true, at(40), true)
		step(true, at(50), false)
		if len(first.Heard) > 0 {
			t.Errorf("%s: an earlier Snapshot has changed: %v", tt.source, first.Heard)
		}
		w.apply(core.Delta{Source: tt.source, At: at(60), Replace: true})
		if s = projected(w, s); len(s.Heard) > 0 {
			t.Errorf("%s: what is gone is still heard: %v", tt.source, s.Heard)
		}
	}
}
