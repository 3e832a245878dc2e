package checklist_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/core/derivedtest"
	"lockstep/scene"
	"pgregory.net/rapid"
)

// No point passes on what was not seen: whatever is found, the point does not pass for somebody who may not read one of the sources. It may
// be there all the same.
func TestNoPointPassesOnWhatWasNotSeen(t *testing.T) {
	told := map[string]bool{}
	check := func(name string, sc scene.Scene, sources []core.SourceID) {
		passed := derivedtest.PassedUnseen(sc.Again().Snapshot)
		for _, id := range sources {
			for _, point := range passed(sc.Unseen(id).Snapshot) {
				if key := point + string(id); !told[key] {
					told[key] = true
					t.Errorf("%s: without %s, the point %s passes", name, id, point)
				}
			}
		}
	}
	for name, tt := range pointScenes() {
		sc := scene.Healthy()
		tt.given(sc)
		check(name, sc, slices.Collect(maps.Keys(sc.Sources)))
	}
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.AnyScene(t)
		sources := slices.Sorted(maps.Keys(sc.Sources))
		check("drawn", sc, []core.SourceID{rapid.SampledFrom(sources).Draw(t, "source"), rapid.SampledFrom(sources).Draw(t, "another")})
	})
}

// A healthy cluster's point passes only while all is seen that it rests on: what is forbidden, never came, failed or is old says nothing of
// now. What the servers do not know is not there.
func TestAPointPassesOnlyOnWhatIsSeenNow(t *testing.T) {
	judged := func(sc scene.Scene, id string) checklist.Verdict {
		for _, p := range checklist.Of(sc.Again().Snapshot, checklist.Room{}).Points {
			if p.ID == id {
				return p.Verdict
			}
		}
		return ""
	}
	healthy := func() scene.Scene {
		m := scene.Resting()
		return m.Join(&core.ManagementRelease{Active: true, Version: "2.30.0", Supports: []string{m.Cluster.Release}})
	}
	passes := 0
	for id, sources := range checklist.RestsOn() {
		if judged(healthy(), id) != checklist.Pass {
			continue
		}
		passes++
		for _, source := range sources {
			for _, state := range []core.SourceState{core.SourceForbidden, core.SourceConnecting, core.SourceFailed, core.SourceStale} {
				sc := healthy()
				sc.Source(source, state)
				if src := sc.Sources[source]; state == core.SourceFailed {
					src.AsOf = time.Time{}
					sc.Sources[source] = src
				} else if state == core.SourceStale {
					src.AsOf = scene.Ago(10 * time.Minute)
					sc.Sources[source] = src
				}
				if judged(sc, id) == checklist.Pass {
					t.Errorf("%s passes while %s is %s", id, source, state)
				}
			}
		}
	}
	if passes < 30 {
		t.Errorf("only %d points pass", passes)
	}
}
