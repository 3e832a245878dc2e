package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The management cluster's version is what MOSK's procedure asks for first: shown before an update, checked where it is read, and said to be
// unknown where it is not.
func TestTheManagementClustersVersionComesBeforeAnUpdate(t *testing.T) {
	release := &ManagementRelease{Meta: Meta{Name: "kaas-2-30-0"}, Version: "2.30.0", Active: true, Supports: []string{"mosk-17-4-0-25-1", "mosk-21-0-0-25-2"}}
	waits := &ManagementUpgrade{Meta: Meta{Name: upgradeName}, Next: "2.31.0", Due: noon.Add(48 * time.Hour), Message: "Waiting for the schedule"}
	none := &ManagementUpgrade{Meta: Meta{Name: upgradeName}}
	plan := func(target string) *UpdatePlan {
		return &UpdatePlan{Meta: Meta{Name: "mos-21"}, Status: PlanNotStarted, Target: target}
	}
	for name, tt := range map[string]struct {
		management *Management
		change     func(sc scene)
		state      StepState // empty: no step
		says       string
		told       string
	}{
		"it is not read":          {nil, nil, StepLater, "not known: ", ""},
		"it may not be read":      {&Management{Found: true, Plans: []*UpdatePlan{plan("mosk-21-0-0-25-2")}}, func(sc scene) { sc.source(SourceReleases, SourceForbidden) }, StepLater, "not known: forbidden", ""},
		"it is the latest":        {&Management{Found: true, Release: release, Upgrade: none}, nil, StepDone, "Container Cloud 2.30.0, and no newer one waits", ""},
		"that is installed":       {&Management{Found: true, Release: release, Upgrade: &ManagementUpgrade{Next: "2.30.0"}}, nil, StepDone, "2.30.0", ""},
		"nothing tells of newer":  {&Management{Found: true, Release: release}, nil, StepLater, "whether a newer one waits is not known", ""},
		"a newer one waits":       {&Management{Found: true, Release: release, Upgrade: waits}, nil, StepWaiting, "Container Cloud 2.30.0; 2.31.0 waits, due 2026-03-16 12:00", ""},
		"and an update can begin": {&Management{Found: true, Release: release, Upgrade: waits, Plans: []*UpdatePlan{plan("mosk-21-0-0-25-2")}}, nil, StepWaiting, "2.31.0 waits", "before the update to mosk-21-0-0-25-2: the management cluster runs Container Cloud 2.30.0; 2.31.0 waits"},
		"it does not know the target": {&Management{Found: true, Release: release, Upgrade: none, Plans: []*UpdatePlan{plan("mosk-21-1-0-26-1")}}, nil, StepWaiting,
			"does not list mosk-21-1-0-26-1 among the releases that it supports", "does not list mosk-21-1-0-26-1"},
		"an update runs": {&Management{Found: true, Release: release, Upgrade: waits, Plans: []*UpdatePlan{plan("mosk-21-0-0-25-2")}}, func(sc scene) { sc.update(time.Hour) }, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sc := healthy()
			for _, id := range ManagementSources() {
				sc.source(id, SourceOff)
				if tt.management != nil {
					sc.Sources[id] = Source{ID: id, State: SourceLive, AsOf: ago(time.Second)}
				}
			}
			sc.Management = tt.management
			if tt.change != nil {
				tt.change(sc)
			}
			s := sc.again().Snapshot
			p, _ := s.Procedure(ProcedureKey{Kind: ProcedureCluster})
			i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.ID == "cluster/management-version" })
			if (i >= 0) != (tt.state != "") {
				t.Fatalf("there is a step: %v", i >= 0)
			}
			if i >= 0 && (p.Steps[i].State != tt.state || !strings.Contains(p.Steps[i].Status, tt.says) || p.Steps[i].Change != nil) {
				t.Errorf("%s: %s", p.Steps[i].State, p.Steps[i].Status)
			}
			a, told := entryOf(s, "management-outdated")
			if told != (tt.told != "") || !strings.Contains(a.Reason, tt.told) || told && a.Severity != SeverityNotice {
				t.Errorf("%+v", a)
			}
			for _, a := range s.Attention() {
				if strings.Contains(a.ID, string(SourceReleases)) {
					t.Errorf("who may not read it is told again and again: %+v", a)
				}
			}
		})
	}
}

func TestWhichManagementReleaseIsNewer(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"2.31.0", "2.30.0", true}, {"2.30.0", "2.30.0", false}, {"2.9.0", "2.30.0", false}, {"2.30.10", "2.30.9", true}, {"2.30.1", "2.30", true}, {"", "2.30.0", false}} {
		if got := newerVersion(tt.a, tt.b); got != tt.want {
			t.Errorf("%q is newer than %q: %v", tt.a, tt.b, got)
		}
	}
	objects := []Object{&ManagementRelease{Meta: Meta{Name: "a"}, Version: "2.29.0"}, &ManagementRelease{Meta: Meta{Name: "b"}, Version: "2.30.0", Active: true}, &ManagementUpgrade{Meta: Meta{Name: "odd"}, Next: "9"}}
	if m := JoinManagement(ManagementPlace{}, nil, objects...); m.Release == nil || m.Release.Version != "2.30.0" || m.Upgrade != nil {
		t.Errorf("%+v, %+v", m.Release, m.Upgrade)
	}
}
