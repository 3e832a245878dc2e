package forecast

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// How good earlier forecasts were is told by kind, of this update and of those before it; the newest are listed.
func TestHowGoodForecastsWereByKind(t *testing.T) {
	sc := planned()
	sc.History.Update.UID = "cmr"
	now := sc.Now
	add := func(update string, kind core.ForetoldKind, title string, ago, off, spread time.Duration) {
		f := core.Foretold{Update: update, Kind: kind, Title: title, Given: now.Add(-ago - time.Hour), End: now.Add(-ago - off), Spread: spread,
			Came: now.Add(-ago)}
		sc.History.Foretold = core.WithForetold(sc.History.Foretold, string(kind)+title+update, f)
	}
	add("cmr", core.ForetoldStep, "step openstack", 4*time.Hour, 20*time.Minute, 0)
	add("cmr", core.ForetoldStep, "step ceph", 3*time.Hour, -6*time.Minute, 10*time.Minute)
	add("cmr", core.ForetoldStep, "step k8s-controllers", 2*time.Hour, 30*time.Minute, 10*time.Minute)
	add("before", core.ForetoldNodes, "", 100*time.Hour, 40*time.Minute, time.Hour)
	add("before", core.ForetoldWhole, "", 99*time.Hour, 90*time.Minute, time.Hour)
	doc := NewDocument(sc.Snapshot, Ask{})
	text := doc.Markdown()
	for _, want := range []string{
		"Steps: 3 forecasts, the middle one 20 m off; 2 came later, 1 earlier; 1 of 2 with a spread came within it.",
		"The end of all nodes: 1 forecast, 40 m off; 1 of 1 with a spread came within it.",
		"The end of the whole: 1 forecast, 1 h 30 m off; 0 of 1 with a spread came within it.",
		"step ceph", "6 m earlier", "the whole, an earlier update", "1 h 30 m later",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it has no %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Phases: ") {
		t.Error("it tells of phases, of which there is no forecast")
	}
	json, err := doc.JSON()
	if err != nil || strings.Count(string(json), `"kind"`) != 5 {
		t.Errorf("%v: the JSON has not all five:\n%s", err, json)
	}
}

func TestOnlyTheNewestForecastsAreKept(t *testing.T) {
	var table map[string]core.Foretold
	for i := range 3 * core.MostForetold {
		before := len(table)
		table2 := core.WithForetold(table, time.Duration(i).String(), core.Foretold{Came: time.Unix(int64(i), 0)})
		if len(table) != before {
			t.Fatal("the table was changed in place")
		}
		table = table2
	}
	if _, newest := table[time.Duration(3*core.MostForetold-1).String()]; len(table) != core.MostForetold || !newest {
		t.Errorf("%d are kept, the newest: %v", len(table), newest)
	}
}

// A part without nodes takes as long as in earlier updates, also where nothing but the journal tells of them.
func TestAPartTakesAsLongAsTheJournalTells(t *testing.T) {
	for _, tt := range []struct {
		name string
		plan bool
		took map[string]time.Duration // by update
		kind core.ForetoldKind
		id   string
		want Length
	}{
		{"a phase", false, map[string]time.Duration{"a": 40 * time.Minute}, core.ForetoldPhase, "phase 2",
			Length{Usual: 40 * time.Minute, Spread: 10 * time.Minute, Basis: BasisEarlier, Seen: 1}},
		{"a step", true, map[string]time.Duration{"a": 30 * time.Minute, "b": 50 * time.Minute, "c": 36 * time.Minute}, core.ForetoldStep,
			"openstack", Length{Usual: 36 * time.Minute, Spread: 10 * time.Minute, Basis: BasisEarlier, Seen: 3}},
		{"this update itself", true, map[string]time.Duration{"cmr": 30 * time.Minute}, core.ForetoldStep, "openstack",
			Length{Usual: 90 * time.Minute, Basis: BasisPlan}},
		{"another kind", true, map[string]time.Duration{"a": 30 * time.Minute}, core.ForetoldPhase, "openstack",
			Length{Usual: 90 * time.Minute, Basis: BasisPlan}},
		{"an older version recorded it", true, map[string]time.Duration{"a": 0}, core.ForetoldStep, "openstack",
			Length{Usual: 90 * time.Minute, Basis: BasisPlan}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := planned()
			if !tt.plan {
				sc.Management = nil
			}
			for update, took := range tt.took {
				f := core.Foretold{Update: update, Kind: tt.kind, ID: tt.id, Came: sc.Now.Add(-1000 * time.Hour)}
				if took > 0 {
					f.Began = f.Came.Add(-took)
				}
				sc.History.Foretold = core.WithForetold(sc.History.Foretold, update, f)
			}
			if id := sc.ClusterRequest().UID; id != "cmr" {
				t.Fatalf("the update is %s", id)
			}
			if got := Of(sc.Snapshot).Parts[0].Length; got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
