package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
)

// A node that is to be removed lists the volumes on its disks by itself, with what takes each of them away, but without a change
// that would do it.
func TestARemovedNodeListsItsVolumes(t *testing.T) {
	sc := scene.Healthy()
	sc.Deletions["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Created: scene.Ago(30 * time.Minute)}, Kind: core.KindNodeDeletionRequest,
		Node: "cmp-01"}
	sc.NodeLock("cmp-01",
		core.ControllerOpenStack).Message = "2026-03-14 11:59:00.0 Some volumes ['v1', 'v2'] are still present on host cmp-01. Blocking node " +
		"removal unless they removed or migrated."
	scene.OutOf(sc.VolumeService("cmp-01@lvm"), core.DisabledReasonMaintenance)
	sc.VolumeService("cmp-02@lvm").Up = false
	sc.VolumeService("cmp-03@lvm")
	sc.Instances.At(scene.Web1).Host = "cmp-02"
	sc.ByHost["cmp-01"] = nil
	volumes := func(sc scene.Scene, list ...core.Volume) {
		sc.Volumes["cmp-01"] = &core.HostVolumes{Host: "cmp-01", Volumes: list}
	}
	steps := func(sc scene.Scene) (out []core.Step) {
		p, _ := procedure.Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
		for _, st := range p.Steps {
			if strings.HasPrefix(st.ID, "volume") {
				out = append(out, st)
			}
		}
		return out
	}
	if got := steps(sc); len(got) != 1 || got[0].State != core.StepWaiting || got[0].Status != "not known: they are being listed" {
		t.Errorf("before they are listed: %+v", got)
	}
	if got := progress.HostsWithVolumesToWatch(sc.Snapshot); !slices.Equal(got, []string{"cmp-01", "cmp-02", "cmp-03"}) {
		t.Errorf("watched are the volumes of %q", got)
	}
	volumes(sc, core.Volume{ID: "v2", Host: "cmp-01@lvm#lvm", SizeGiB: 20, Status: "available"},
		core.Volume{ID: "v1", Name: "db-data", Host: "cmp-01@lvm#lvm", SizeGiB: 100, Status: "in-use", ProjectID: "p1",
			Instances: []string{scene.Web1}})
	got := steps(sc)
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct{ title, status, command string }{
		{"move volume v2 off cmp-01", "20 GiB, available, v2", "openstack volume migrate --host cmp-03@lvm#lvm v2"},
		{"move volume db-data off cmp-01", "100 GiB, in-use by web-1 (ACTIVE), v1", "openstack volume migrate --host cmp-03@lvm#lvm v1"},
		{"or let the node go with what is left on its disks", "2 volumes, 120 GiB",
			"kubectl -n osh-system edit configmap rockoon-config  # extra_conf.ini: [maintenance] ndr_skip_volume_check = True"},
	} {
		st := got[i]
		if st.Title != want.title || st.Status != want.status || strings.ReplaceAll(st.Commands[0], "'", "") != want.command {
			t.Errorf("%q, %q, %q", st.Title, st.Status, st.Commands)
		}
		if st.Change != nil || st.Doable() {
			t.Errorf("%s would change something", st.Title)
		}
	}
	if !strings.Contains(got[1].Why, "openstack volume delete v1") || !strings.Contains(got[1].Why, "project shop") ||
		!strings.Contains(got[1].Why, "snapshots") {
		t.Errorf("its why is %q", got[1].Why)
	}
	reason := func(sc scene.Scene) string {
		for _, a := range Of(sc.Again().Snapshot) {
			if strings.HasPrefix(a.ID, "node-removal/") {
				return a.Reason
			}
		}
		return ""
	}
	if r := reason(sc); !strings.HasSuffix(r, "volumes are left on it: v2, db-data") {
		t.Errorf("what needs a person is %q", r)
	}

	scene.OutOf(sc.VolumeServices["cmp-03"][0], "mine")
	if got := steps(sc)[0].Commands; got[0] != "openstack volume backend pool list" || !strings.Contains(got[1], "HOST@BACKEND#POOL") {
		t.Errorf("without a target: %q", got)
	}
	volumes(sc)
	if got := steps(sc); len(got) != 1 || got[0].State != core.StepDone || reason(sc) != "" {
		t.Errorf("without volumes: %+v, %q", got, reason(sc))
	}
	sc.Source(core.SourceVolumes, core.SourceForbidden)
	if got := steps(sc); len(got) != 1 || got[0].Status != "not known: forbidden" || reason(sc) == "" {
		t.Errorf("when they cannot be seen: %+v, %q", got, reason(sc))
	}
	sc.Source(core.SourceVolumeServices, core.SourceAbsent)
	clear(sc.VolumeServices)
	if got := steps(sc); len(got) != 0 {
		t.Errorf("without Cinder: %+v", got)
	}
}

// On a host with two back ends the OpenStack controller enables only the first one. The other one has an entry once the
// maintenance is over, with a step to enable it.
func TestAVolumeServiceThatWasLeftOut(t *testing.T) {
	left := func(sc scene.Scene) string {
		for _, a := range Of(sc.Again().Snapshot) {
			if strings.HasPrefix(a.ID, "volumes-left/") {
				return a.Reason
			}
		}
		return ""
	}
	sc := scene.Healthy()
	sc.VolumeService("cmp-01@lvm")
	v := scene.OutOf(sc.VolumeService("cmp-01@nvme"), core.DisabledReasonMaintenance)
	if got := left(sc); !strings.Contains(got, "cinder-volume nvme was left disabled") {
		t.Errorf("%q", got)
	}
	p, _ := procedure.Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	if !slices.ContainsFunc(p.Steps, func(st core.Step) bool {
		return st.Intent.Kind == core.IntentEnableVolume && st.Intent.Object.Name == v.Host && st.Doable()
	}) {
		t.Errorf("it is not offered back: %q", scene.Outline(p))
	}
	sc.Deletions["cmp-01"] = &core.NodeNotice{Kind: core.KindNodeDeletionRequest, Node: "cmp-01"}
	if got := left(sc); got != "" {
		t.Errorf("of a node that is to be removed: %q", got)
	}
	delete(sc.Deletions, "cmp-01")
	sc.Maintained("cmp-01", "")
	if got := left(sc); got != "" {
		t.Errorf("in maintenance: %q", got)
	}
	sc = scene.Healthy()
	scene.OutOf(sc.VolumeService("cmp-01@lvm"), "a dead disk")
	if got := left(sc); got != "" {
		t.Errorf("of somebody's own: %q", got)
	}
	sc = scene.Healthy()
	scene.OutOf(sc.VolumeService("cmp-01@lvm"), core.DisabledReasonMaintenance)
	sc.Source(core.SourceNodeRequests, core.SourceForbidden)
	if got := left(sc); got != "" {
		t.Errorf("and nobody knows of a maintenance: %q", got)
	}
}

// A cloud without Cinder, or a login that may not ask it, holds nothing up while the OpenStack controller itself runs.
func TestWithoutCinderNothingNeedsAPerson(t *testing.T) {
	for _, state := range []core.SourceState{core.SourceAbsent, core.SourceForbidden} {
		sc := scene.InMaintenance()
		sc.Source(core.SourceVolumeServices, state)
		sc.Source(core.SourceVolumes, state)
		for _, a := range Of(sc.Snapshot) {
			if a.Subject.Kind == core.KindSource && (state == core.SourceAbsent || a.Severity != core.SeverityNotice) {
				t.Errorf("%s: %s (%s)", state, a.Reason, a.Severity)
			}
		}
		with, without := Of(sc.Snapshot), Of(scene.InMaintenance().Snapshot)
		if state == core.SourceAbsent && len(with) != len(without) {
			t.Errorf("%d entries instead of %d", len(with), len(without))
		}
	}
}

// Instances elsewhere that use a node's own disks lose them when it goes down. Nobody else looks at them, so that is told: before the
// node's turn, urgently while it can still be held, and afterwards until each was rebooted.
func TestInstancesElsewhereThatLoseTheirVolumesAreTold(t *testing.T) {
	for name, tt := range map[string]struct {
		given    func(sc scene.Scene)
		severity core.Severity // 0: no entry
		command  string
	}{
		"no update runs":   {func(sc scene.Scene) { sc.ClusterRequests = nil }, 0, ""},
		"its turn comes":   {func(scene.Scene) {}, core.SeverityNotice, "server stop"},
		"it is asked for":  {func(sc scene.Scene) { sc.Maintained("cmp-01", "") }, core.SeverityUrgent, "server stop"},
		"only for a drain": {func(sc scene.Scene) { sc.Maintained("cmp-01", ""); sc.NodeRequest("cmp-01").Scope = core.ScopeDrain }, 0, ""},
		"it was released": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "").RawState = core.LockInactive
		}, core.SeverityWarning, "server reboot"},
		"it is back":        {func(sc scene.Scene) { through(sc) }, core.SeverityWarning, "server reboot"},
		"back from a drain": {func(sc scene.Scene) { through(sc); sc.Nodes["cmp-01"].ReadySince = scene.Ago(100 * time.Hour) }, 0, ""},
		"returning from a drain": {func(sc scene.Scene) {
			sc.Returning("cmp-01", time.Minute, "")
			sc.NodeRequests["cmp-01"][0].Scope = core.ScopeDrain
		}, 0, ""},
		"back, and rebooted": {func(sc scene.Scene) { through(sc); sc.ByHost["cmp-02"][0].Updated = scene.Ago(time.Minute) }, 0, ""},
		"the user is stopped": {func(sc scene.Scene) {
			sc.Maintained("cmp-01", "")
			sc.ByHost["cmp-02"][0].VMState = "stopped"
		}, 0, ""},
	} {
		sc := scene.Healthy()
		sc.Update(time.Hour)
		sc.VolumeService("cmp-01@lvm")
		in := sc.ByHost["cmp-02"][0]
		in.Updated = scene.Ago(5 * time.Hour)
		sc.Volumes["cmp-01"] = &core.HostVolumes{Host: "cmp-01", Volumes: []core.Volume{{ID: "v1", Name: "data-1", Host: "cmp-01@lvm#lvm",
			Status: "in-use", Instances: []string{in.ID}}}}
		tt.given(sc)
		a, told := entryAbout(sc.Again().Snapshot, "volumes-elsewhere", "cmp-01")
		if told != (tt.severity != 0) || told && (a.Severity != tt.severity || !strings.Contains(a.Reason, "web-2 on cmp-02 (data-1)") ||
			!strings.Contains(a.Commands[0].Line, tt.command)) {
			t.Errorf("%s: told %t: %+v", name, told, a)
		}
	}
}

// through ends the maintenance of cmp-01, ten minutes ago.
func through(sc scene.Scene) {
	sc.Nodes["cmp-01"].KubeletVersion, sc.Nodes["cmp-01"].ReadySince = "v1.31.9", scene.Ago(20*time.Minute)
	sc.History.Rounds["uid-cmp-01"] = core.Round{Request: "r", Update: sc.ClusterRequest().UID, Started: scene.Ago(50 * time.Minute),
		Ended: scene.Ago(10 * time.Minute)}
}
