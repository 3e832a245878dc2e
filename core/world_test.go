package core

import (
	"testing"
	"time"
)

var worldTime = time.Date(2026, 1, 16, 12, 0, 0, 0, time.UTC)

func projected(w *world, prev *Snapshot) *Snapshot {
	s := &Snapshot{}
	w.project(s, prev)
	return s
}

func names(list []*Instance) string {
	out := ""
	for _, in := range list {
		out += in.Name + " "
	}
	return out
}

// Nova's list of a host says which instances are there. One that is missing from it has moved or is gone: it is no longer
// on the host, and not forgotten before the whole cloud's list says so.
func TestHostListTakesInstancesOffTheHost(t *testing.T) {
	w := newWorld(nil, worldTime)
	a, b := &Instance{ID: "a", Name: "a", Host: "h1"}, &Instance{ID: "b", Name: "b", Host: "h1"}
	w.apply(Delta{Source: SourceInstances, Replace: true, At: worldTime, Upserts: []Object{a, b}})
	first := projected(w, nil)
	if got := names(first.ByHost["h1"]); got != "a b " {
		t.Fatalf("h1 has %q", got)
	}
	w.apply(Delta{Source: SourceInstances, Replace: true, Host: "h1", At: worldTime, Upserts: []Object{b}})
	second := projected(w, first)
	if got := names(second.ByHost["h1"]); got != "b " {
		t.Errorf("after the host's list h1 has %q", got)
	}
	if in := second.Instances["a"]; in == nil || in.Host != "" {
		t.Errorf("a is %+v; it is somewhere, and nobody knows where", in)
	}
	if got := names(first.ByHost["h1"]); got != "a b " {
		t.Errorf("the earlier snapshot changed: h1 has %q", got)
	}
	w.apply(Delta{Source: SourceInstances, At: worldTime, Upserts: []Object{&Instance{ID: "a", Name: "a", Host: "h2"}}})
	w.apply(Delta{Source: SourceInstances, At: worldTime, Deletes: []string{"b"}})
	third := projected(w, second)
	if names(third.ByHost["h2"]) != "a " || len(third.ByHost["h1"]) != 0 || len(third.Instances) != 1 {
		t.Errorf("after a's arrival and b's deletion: %v", third.ByHost)
	}
}

func TestReplaceDropsWhatIsNotInTheList(t *testing.T) {
	w := newWorld(nil, worldTime)
	node := func(name, uid string) *Node { return &Node{Meta: Meta{Name: name, UID: uid}} }
	w.apply(Delta{Source: SourceNodes, Replace: true, At: worldTime, Upserts: []Object{node("a", "1"), node("b", "2")}})
	first := projected(w, nil)
	w.apply(Delta{Source: SourceNodes, Replace: true, At: worldTime, Upserts: []Object{node("b", "3")}})
	second := projected(w, first)
	if len(second.Nodes) != 1 || second.Nodes["b"].UID != "3" || len(first.Nodes) != 2 {
		t.Fatalf("first %v, second %v", first.Nodes, second.Nodes)
	}
}

// What has not changed is shared between snapshots, and a poll that found nothing new is no change.
func TestUnchangedFactsAreShared(t *testing.T) {
	w := newWorld(nil, worldTime)
	w.apply(Delta{Source: SourceInstances, State: SourceLive, Replace: true, At: worldTime, Upserts: []Object{&Instance{ID: "a", Name: "a", Host: "h1"}}})
	first := projected(w, nil)
	if w.apply(Delta{Source: SourceInstances, Replace: true, Host: "h1", At: worldTime.Add(time.Second), Upserts: []Object{&Instance{ID: "a", Name: "a", Host: "h1"}}}) {
		t.Error("the same list again counts as a change")
	}
	second := projected(w, first)
	if second.Instances["a"] != first.Instances["a"] {
		t.Error("the instance was rebuilt")
	}
	if got := w.sources[SourceInstances].AsOf; !got.Equal(worldTime.Add(time.Second)) {
		t.Errorf("as of %v: the poll confirmed it a second later", got)
	}
}

// A node's heartbeat changes nothing but its resourceVersion, and that is nobody's business.
func TestHeartbeatIsNoChange(t *testing.T) {
	w := newWorld(nil, worldTime)
	node := func(rv, ready string) *Node {
		return &Node{Meta: Meta{Name: "a", UID: "1", ResourceVersion: rv}, Ready: ready, Annotations: map[string]string{"k": "v"}}
	}
	w.apply(Delta{Source: SourceNodes, Replace: true, At: worldTime, Upserts: []Object{node("1", "True")}})
	if w.apply(Delta{Source: SourceNodes, At: worldTime, Upserts: []Object{node("2", "True")}}) {
		t.Error("a heartbeat counts as a change")
	}
	if !w.apply(Delta{Source: SourceNodes, At: worldTime, Upserts: []Object{node("3", "False")}}) {
		t.Error("a node that is not Ready any more is a change")
	}
}

// The last facts stay when a source fails; only their age tells.
func TestFailedSourceKeepsItsFacts(t *testing.T) {
	w := newWorld([]SourceID{SourceNodes}, worldTime)
	if got := w.sources[SourceNodes].State; got != SourceConnecting {
		t.Fatalf("an expected source begins %q", got)
	}
	w.apply(Delta{Source: SourceNodes, State: SourceLive, Replace: true, At: worldTime, Upserts: []Object{&Node{Meta: Meta{Name: "a"}}}})
	err := &APIError{Kind: ErrUnreachable, Call: "watch nodes"}
	if !w.apply(Delta{Source: SourceNodes, State: SourceStale, Err: err, At: worldTime.Add(time.Minute)}) {
		t.Error("a source that goes stale is a change")
	}
	src := w.sources[SourceNodes]
	if src.State != SourceStale || src.Err != err || !src.AsOf.Equal(worldTime) || !src.Since.Equal(worldTime.Add(time.Minute)) {
		t.Errorf("the source is %+v", src)
	}
	if len(projected(w, nil).Nodes) != 1 {
		t.Error("the nodes were forgotten")
	}
	w.apply(Delta{Source: SourceNodes, State: SourceLive, Touch: true, At: worldTime.Add(2 * time.Minute)})
	if src := w.sources[SourceNodes]; src.Err != nil || src.State != SourceLive || !src.AsOf.Equal(worldTime.Add(2*time.Minute)) {
		t.Errorf("the source came back as %+v", src)
	}
}

// The first pages of a cloud's instances, or the list of one host, tell nothing of the other hosts: when the rest does not
// come, nobody may think that those are empty.
func TestPartsOfAFirstListAreNotKnowledge(t *testing.T) {
	w := newWorld([]SourceID{SourceInstances}, worldTime)
	w.apply(Delta{Source: SourceInstances, State: SourceConnecting, At: worldTime, Upserts: []Object{&Instance{ID: "a", Host: "h1"}}})
	w.apply(Delta{Source: SourceInstances, State: SourceConnecting, Replace: true, Host: "h2", At: worldTime, Upserts: []Object{&Instance{ID: "b", Host: "h2"}}})
	w.apply(Delta{Source: SourceInstances, State: SourceFailed, Err: &APIError{Kind: ErrTimeout, Call: "list instances"}, At: worldTime})
	if s := projected(w, nil); s.known(SourceInstances) {
		t.Error("two instances count as all of them")
	}
	w.apply(Delta{Source: SourceInstances, State: SourceLive, Replace: true, At: worldTime, Upserts: []Object{&Instance{ID: "a", Host: "h1"}}})
	w.apply(Delta{Source: SourceInstances, State: SourceFailed, Err: &APIError{Kind: ErrTimeout, Call: "list instances"}, At: worldTime})
	if s := projected(w, nil); !s.known(SourceInstances) {
		t.Error("what was known once is forgotten when the source fails")
	}
}

// Objects of the wrong type are an adapter's mistake, and no reason to crash.
func TestForeignObjectsAreLeftOut(t *testing.T) {
	w := newWorld(nil, worldTime)
	w.apply(Delta{Source: SourceNodes, Replace: true, At: worldTime, Upserts: []Object{&Instance{ID: "x"}, &Node{Meta: Meta{Name: "a"}}}})
	if got := projected(w, nil).Nodes; len(got) != 1 || got["a"] == nil {
		t.Fatalf("nodes: %v", got)
	}
}
