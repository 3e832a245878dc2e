package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/scene"
)

// MOSK's procedure begins with the management cluster's version: it is shown before an update, checked if it can be read, and
// unknown otherwise.
func TestTheManagementClustersVersionComesBeforeAnUpdate(t *testing.T) {
	release := &core.ManagementRelease{Meta: core.Meta{Name: "kaas-2-30-0"}, Version: "2.30.0", Active: true,
		Supports: []string{"mosk-17-4-0-25-1", "mosk-21-0-0-25-2"}}
	waits := &core.ManagementUpgrade{Meta: core.Meta{Name: core.UpgradeName}, Next: "2.31.0", Due: scene.Noon.Add(48 * time.Hour),
		Message: "Waiting for the schedule"}
	none := &core.ManagementUpgrade{Meta: core.Meta{Name: core.UpgradeName}}
	plan := func(target string) *core.UpdatePlan {
		return &core.UpdatePlan{Meta: core.Meta{Name: "mos-21"}, Status: core.PlanNotStarted, Target: target}
	}
	for name, tt := range map[string]struct {
		management *core.Management
		change     func(sc scene.Scene)
		state      core.StepState // empty: no step
		says       string
		told       string
	}{
		"it is not read": {nil, nil, core.StepLater, "not known: ", ""},
		"it may not be read": {&core.Management{Found: true, Plans: []*core.UpdatePlan{plan("mosk-21-0-0-25-2")}},
			func(sc scene.Scene) { sc.Source(core.SourceReleases, core.SourceForbidden) }, core.StepLater, "not known: forbidden", ""},
		"it is the latest": {&core.Management{Found: true, Release: release, Upgrade: none}, nil, core.StepDone,
			"Container Cloud 2.30.0, and no newer one waits", ""},
		"that is installed": {&core.Management{Found: true, Release: release, Upgrade: &core.ManagementUpgrade{Next: "2.30.0"}}, nil,
			core.StepDone, "2.30.0", ""},
		"nothing tells of newer": {&core.Management{Found: true, Release: release}, nil, core.StepLater,
			"whether a newer one waits is not known", ""},
		"a newer one waits": {&core.Management{Found: true, Release: release, Upgrade: waits}, nil, core.StepWaiting,
			"Container Cloud 2.30.0; 2.31.0 waits, due 2026-03-16 12:00", ""},
		"and an update can begin": {&core.Management{Found: true, Release: release, Upgrade: waits,
			Plans: []*core.UpdatePlan{plan("mosk-21-0-0-25-2")}}, nil, core.StepWaiting, "2.31.0 waits",
			"before the update to mosk-21-0-0-25-2: the management cluster runs Container Cloud 2.30.0; 2.31.0 waits"},
		"it does not know the target": {&core.Management{Found: true, Release: release, Upgrade: none,
			Plans: []*core.UpdatePlan{plan("mosk-21-1-0-26-1")}}, nil, core.StepWaiting,
			"does not list mosk-21-1-0-26-1 among the releases that it supports", "does not list mosk-21-1-0-26-1"},
		"an update runs": {&core.Management{Found: true, Release: release, Upgrade: waits, Plans: []*core.UpdatePlan{plan("mosk-21-0-0-25-2")}},
			func(sc scene.Scene) { sc.Update(time.Hour) }, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			for _, id := range core.ManagementSources() {
				sc.Source(id, core.SourceOff)
				if tt.management != nil {
					sc.Sources[id] = core.Source{ID: id, State: core.SourceLive, AsOf: scene.Ago(time.Second)}
				}
			}
			sc.Management = tt.management
			if tt.change != nil {
				tt.change(sc)
			}
			s := sc.Again().Snapshot
			p, _ := procedure.Of(s, core.ProcedureKey{Kind: core.ProcedureCluster})
			i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.ID == "cluster/management-version" })
			if (i >= 0) != (tt.state != "") {
				t.Fatalf("there is a step: %v", i >= 0)
			}
			if i >= 0 && (p.Steps[i].State != tt.state || !strings.Contains(p.Steps[i].Status, tt.says) || p.Steps[i].Change != nil) {
				t.Errorf("%s: %s", p.Steps[i].State, p.Steps[i].Status)
			}
			a, told := entryOf(s, "management-outdated")
			if told != (tt.told != "") || !strings.Contains(a.Reason, tt.told) || told && a.Severity != core.SeverityNotice {
				t.Errorf("%+v", a)
			}
			for _, a := range Of(s) {
				if strings.Contains(a.ID, string(core.SourceReleases)) {
					t.Errorf("who may not read it is told again and again: %+v", a)
				}
			}
		})
	}
}
