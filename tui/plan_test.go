package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/evacuation"
)

// thePlan is a forecast of two nodes with every kind of work for a person.
func thePlan() evacuation.Forecast {
	span := func(d time.Duration) *evacuation.Span { return new(evacuation.Span(d)) }
	because := func(kind evacuation.ReasonKind, level evacuation.Level, text, remedy string) []evacuation.Reason {
		return []evacuation.Reason{{Kind: kind, Level: level, Text: text, Remedy: remedy}}
	}
	n := evacuation.NodeForecast{Node: "kaas-node-cmp07", Label: "cmp-07", Zone: "nova", Mode: core.ModeManual, Wave: 1,
		Time: span(4 * time.Minute), Slow: span(9 * time.Minute),
		Counts: evacuation.Counts{Instances: 6, Blocks: 2, MayFail: 1, Unknown: 1, Moves: 1,
			Stays: 1}, Spare: &evacuation.SpareHost{Host: "cmp-09", Left: 1},
		Instances: []evacuation.InstanceForecast{
			{Name: "batch-17", Project: "science", Flavor: "m1.c2", Fate: evacuation.FateBlocks, Target: "cmp-09",
				Reasons: because(evacuation.KindAction, evacuation.LevelBlocks, "notify: its owner decides",
					"migrate it by hand, stop it, or have it tagged poweroff")},
			{Name: "gpu-with-a-rather-long-name", Project: "science", Flavor: "g1", Fate: evacuation.FateBlocks,
				Reasons: because(evacuation.KindDevice, evacuation.LevelBlocks, "PCI device a100:1: Nova refuses to live-migrate it",
					"cold-migrate it (it stops for that), stop it, or let it go down with the host")},
			{Name: "db-2", Project: "shop", Flavor: "m1.c8", Fate: evacuation.FateMayFail, Target: "cmp-09", Time: span(2 * time.Minute),
				Reasons: because(evacuation.KindTopology, evacuation.LevelRisk,
					"pinned CPUs: moves only to a host with the same free in its NUMA cells",
					"cold-migrate it")},
			{Name: "mail", Project: "shop", Flavor: "m1.c2", Fate: evacuation.FateUnknown, Target: "cmp-03", Time: span(time.Minute),
				Reasons: because(evacuation.KindVolume, evacuation.LevelUnknown, "volumes: not checked", "")},
			{Name: "web-1", Project: "shop", Flavor: "m1.c4", Fate: evacuation.FateMoves, Target: "cmp-03", Time: span(time.Minute), From: "cmp-01"},
			{Name: "old-ci", Project: "ci", Flavor: "m1.c2", Fate: evacuation.FateStays,
				Reasons: because(evacuation.KindState, evacuation.LevelNote, "stopped: nothing runs that the host could take down", "")},
		}}
	return evacuation.Forecast{Cluster: "mos", Made: fixtureWall, AsOf: fixtureNow, AtOnce: 1, Nodes: []evacuation.NodeForecast{n},
		Counts: n.Counts,
		Speed:  evacuation.MigrationSpeed{Observations: 3, MiBPerSecond: 96.4, Slow: 40}, Time: n.Time, Slow: n.Slow,
		Unknown: []evacuation.Unknown{{What: core.FactsVolumes, Why: "list volumes: forbidden: Policy doesn't allow volume:get_all",
			Means: "encrypted volumes, and volumes on a host's own disks, are not seen"}},
		Closed:    []evacuation.ClosedHost{{Host: "cmp-06", Why: "nova-compute is disabled: OSDPL: Node is under maintenance"}},
		Otherwise: []string{"It is a forecast: Nova's scheduler chooses hosts one by one, by weights and filters of its own."}}
}

// planned is a screen on which the plan of the selected node is open.
func planned(w, h int, change ...func(*Options)) *driver {
	d := drive(world(), w, h, change...)
	d.fake.evacuation = thePlan()
	return d.keys("3", "v")
}

func TestThePlanAsItIsShown(t *testing.T) {
	for _, size := range sizes {
		golden(t, fmt.Sprintf("plan-%dx%d", size.w, size.h), stripped(planned(size.w, size.h).shows()))
		every := planned(size.w, size.h).keys("a")
		every.shows()
		golden(t, fmt.Sprintf("plan-every-%dx%d", size.w, size.h), stripped(every.keys("end").shows()))
	}
}

func TestAPlanIsAskedForTheSelectedNodeTheMarkedOnesOrAll(t *testing.T) {
	d := planned(120, 40)
	if got := d.fake.planned; len(got) != 1 || !slices.Equal(got[0].Nodes, []string{"kaas-node-cmp07"}) {
		t.Errorf("asked for %+v", got)
	}
	d.keys("esc", "space", "down", "space", "v")
	if got := d.fake.planned; len(got) != 2 || len(got[1].Nodes) != 2 {
		t.Errorf("asked for %+v", got)
	}
	d.keys("esc", "V")
	if got := d.fake.planned; len(got) != 3 || got[2].Nodes != nil {
		t.Errorf("asked for %+v", got)
	}
	if !strings.Contains(d.shows(), "the whole update") {
		t.Error("the page does not say that it is of the whole update")
	}
}

func TestAPlanSaysWhyThereIsNone(t *testing.T) {
	d := drive(world(), 80, 24)
	d.fake.evacuationErr = errors.New("the instances are not known: list instances: forbidden")
	d.keys("3", "v")
	if !strings.Contains(stripped(d.shows()), "There is no plan: the instances are not known") {
		t.Errorf("%s", d.shows())
	}
	d.fake.evacuationErr, d.fake.evacuation = nil, thePlan()
	if d.keys("r"); !strings.Contains(stripped(d.shows()), "notify: its owner decides") {
		t.Errorf("it was not asked for again:\n%s", d.shows())
	}
}

// An answer that comes after the page was closed, or after a newer request, is not shown.
func TestALateAnswerIsDropped(t *testing.T) {
	d := planned(80, 24)
	p := d.top().(*planPage)
	p.try++
	late := thePlan()
	late.Nodes = nil
	d.send(plannedMsg{p, p.try - 1, late, nil})
	if p.plan == nil || len(p.plan.Nodes) != 1 {
		t.Error("the late answer was taken")
	}
}

func TestAPlanIsWrittenToAFile(t *testing.T) {
	written := map[string]string{}
	var refuse error
	d := planned(120, 40, func(o *Options) {
		o.SaveFile = func(name string, content []byte) (string, error) {
			written[name] = string(content)
			return "/home/anna/" + name, refuse
		}
	})
	d.keys("m", "J")
	if md := written["plan-cmp-07-20260314T164310Z.md"]; !strings.HasPrefix(md, "# Evacuation plan of mos\n") {
		t.Errorf("written were %v", written)
	}
	if js := written["plan-cmp-07-20260314T164310Z.json"]; !strings.HasPrefix(js, "{\n") {
		t.Errorf("written were %v", written)
	}
	if !strings.Contains(stripped(d.shows()), "/home/anna/plan-cmp-07-20260314T164310Z.json") {
		t.Error("it is not said where the file is")
	}
	refuse = errors.New("plan.md is there already")
	if d.keys("m"); !strings.Contains(stripped(d.shows()), "was not written: plan.md is there already") {
		t.Error("the failure is not told")
	}
	if d := planned(120, 40); d.actionFor("m").Blocked(d.Model) == "" {
		t.Error("without a way to write files it is offered")
	}
}
