package progress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

func states(phases []core.Phase) string {
	var words []string
	for _, p := range phases {
		words = append(words, string(p.State))
	}
	return strings.Join(words, ", ")
}

func evidence(p core.Phase) string { return strings.Join(p.Evidence, "\n") }

// The five phases of docs/mosk.md#phases, one row per point of the update.
func TestPhases(t *testing.T) {
	locks := func(sc scene.Scene, openstack, ceph core.LockState) {
		sc.ClusterLocks[0].RawState, sc.ClusterLocks[1].RawState = openstack, ceph
	}
	tests := []struct {
		name     string
		given    func(sc scene.Scene)
		want     string
		evidence [5]string
	}{
		{"no update", func(sc scene.Scene) {}, "pending, pending, pending, pending, pending",
			[5]string{"no ClusterMaintenanceRequest: no update runs", "no update runs", "no update runs", "no update runs", "no update runs"}},
		{"requests forbidden", func(sc scene.Scene) { sc.Source(core.SourceClusterRequests, core.SourceForbidden) },
			"pending, pending, pending, pending, pending",
			[5]string{"not known: forbidden", "not known: forbidden", "not known: forbidden", "not known: forbidden", "not known: forbidden"}},
		{"phase 2 begins", func(sc scene.Scene) { sc.Update(10 * time.Minute) }, "done, running, pending, pending, pending",
			[5]string{"CMR mos since 11:50 to 21.0.0+25.2", "CWL openstack active, ceph active: OpenStack is updating", "none of 3 nodes",
				"none of 4 nodes", "nodes come first"}},
		{"Ceph's turn", func(sc scene.Scene) { sc.Update(10 * time.Minute); locks(sc, core.LockInactive, core.LockActive) },
			"done, running, pending, pending, pending",
			[5]string{"", "CWL openstack inactive, ceph active: Ceph is updating", "", "", ""}},
		{"phase 2 needs a person", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.ClusterLocks[0].Message = "Can not enable block-storage service on the host x."
		}, "done, stuck, pending, pending, pending", [5]string{"", "CWL openstack: cinder-volume", "", "", ""}},
		{"a cluster lock says failed", func(sc scene.Scene) { sc.Update(10 * time.Minute); locks(sc, core.LockInactive, core.LockFailed) },
			"done, stuck, pending, pending, pending", [5]string{"", "ceph: failed", "", "", ""}},
		{"phase 2 takes too long", func(sc scene.Scene) { sc.Update(24 * time.Hour) }, "done, stuck, pending, pending, pending",
			[5]string{"", "overdue: runs for 1 d", "", "", ""}},
		{"cluster locks forbidden", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.Source(core.SourceClusterLocks, core.SourceForbidden)
		}, "done, running, pending, pending, pending",
			[5]string{"", "the ClusterWorkloadLocks are not known: forbidden", "", "", ""}},
		{"between the phases", func(sc scene.Scene) { sc.Update(time.Hour); locks(sc, core.LockInactive, core.LockInactive) },
			"done, done, pending, pending, pending", [5]string{}},
		{"masters", func(sc scene.Scene) {
			sc.Update(time.Hour)
			locks(sc, core.LockInactive, core.LockInactive)
			sc.Maintained("ctl-02", "")
			sc.Nodes["ctl-01"].KubeletVersion = "v1.31.9"
		}, "done, done, running, pending, pending", [5]string{"", "", "1 of 3 nodes through, 1 in maintenance", "", ""}},
		{"workers", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			locks(sc, core.LockInactive, core.LockInactive)
			sc.AllThrough(core.RoleMaster)
			sc.Maintained("cmp-01", "Starting migration for "+scene.IDA)
		}, "done, done, done, running, pending",
			[5]string{"", "", "3 of 3 nodes through", "NMR cmp-01 (os) since 11:40: evacuating", "nodes come first"}},
		{"a cluster lock was armed again meanwhile", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			locks(sc, core.LockActive, core.LockInactive)
			sc.AllThrough(core.RoleMaster)
			sc.Maintained("cmp-01", "")
		}, "done, done, done, running, pending", [5]string{"", "armed again", "", "", ""}},
		{"a lock was left inactive from before", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
		}, "done, running, pending, pending, pending", [5]string{"", "OpenStack is updating", "", "none of 4 nodes", "nodes come first"}},
		{"a lock says failed from before", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockFailed
		}, "done, running, pending, pending, pending", [5]string{}},
		{"a node is to be removed", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.Removes("cmp-01")
			sc.NodeLock("cmp-01",
				core.ControllerOpenStack).Message = "Some servers {'a': 'ACTIVE'} are still present on host cmp-01. Blocking node removal unless " +
				"they removed or migrated."
		}, "done, running, pending, pending, pending", [5]string{}},
		{"a node is in maintenance by hand", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.NodeRequest("cmp-01").MadeBy = core.MadeByLockstep
		}, "done, running, pending, pending, pending", [5]string{}},
		{"a node's request is one for another release", func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.Maintained("cmp-01", scene.StillPresent)
			sc.NodeRequest("cmp-01").Release = "17.4.0+25.1"
		}, "done, running, pending, pending, pending", [5]string{}},
		{"a node's request is older than the update's", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.Request("cmp-01", time.Hour).Release = ""
		}, "done, running, pending, pending, pending", [5]string{}},
		{"a node was away for a moment", func(sc scene.Scene) {
			sc.Update(30 * time.Minute)
			sc.Nodes["cmp-01"].ReadySince = scene.Ago(5 * time.Minute)
		}, "done, running, pending, pending, pending", [5]string{}},
		{"a lock was left inactive, with the masters' turn", func(sc scene.Scene) {
			sc.Update(time.Hour)
			locks(sc, core.LockInactive, core.LockInactive)
			sc.Maintained("ctl-02", "")
			sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
		}, "done, done, running, pending, pending", [5]string{}},
		{"OpenStack has no cluster lock", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", UID: "osdplst"}, State: "APPLIED"}}
			sc.ClusterLocks = sc.ClusterLocks[1:]
			sc.ClusterLocks[0].RawState = core.LockInactive
		}, "done, running, pending, pending, pending",
			[5]string{"", "OpenStack has no ClusterWorkloadLock, and there is OpenStackDeployment osh-dev: LCM does not wait for it", "", "", ""}},
		{"no cluster lock at all", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", UID: "osdplst"}, State: "APPLIED"}}
			sc.ClusterLocks = nil
		}, "done, running, pending, pending, pending", [5]string{"", "OpenStack has no ClusterWorkloadLock", "", "", ""}},
		{"no cluster lock, and no OpenStack", func(sc scene.Scene) {
			sc.Update(10 * time.Minute)
			sc.ClusterLocks = nil
		}, "done, done, pending, pending, pending", [5]string{"", "no ClusterWorkloadLock: nothing holds LCM up", "", "", ""}},
		{"no cluster lock, and LCM has gone on", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev", UID: "osdplst"}, State: "APPLIED"}}
			sc.ClusterLocks = nil
			sc.Maintained("cmp-01", "")
		}, "done, done, done, running, pending", [5]string{"", "OpenStack has no ClusterWorkloadLock", "", "", ""}},
		{"a worker waits for the operator", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			locks(sc, core.LockInactive, core.LockInactive)
			sc.AllThrough(core.RoleMaster)
			sc.Mode("cmp-01", core.ModeManual)
			sc.Maintained("cmp-01", scene.StillPresent)
		}, "done, done, done, waiting for you, pending", [5]string{}},
		{"a worker's lock says failed", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			locks(sc, core.LockInactive, core.LockInactive)
			sc.AllThrough(core.RoleMaster)
			sc.Maintained("cmp-01", "").RawState = core.LockFailed
		}, "done, done, done, stuck, pending", [5]string{}},
		{"masters that leave no trace", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			locks(sc, core.LockInactive, core.LockInactive)
			sc.Maintained("cmp-01", "")
		}, "done, done, done, running, pending", [5]string{"", "", "which comes after the masters'", "", ""}},
		{"masters that are behind, with workers begun", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			locks(sc, core.LockInactive, core.LockInactive)
			sc.Maintained("cmp-01", "")
			sc.Nodes["cmp-02"].KubeletVersion = "v1.31.9"
		}, "done, done, pending, running, pending", [5]string{}},
		{"the rest", func(sc scene.Scene) {
			sc.Update(5 * time.Hour)
			locks(sc, core.LockInactive, core.LockInactive)
			for _, n := range sc.Nodes {
				n.ReadySince = scene.Ago(30 * time.Minute)
			}
		}, "done, done, done, done, running", [5]string{"", "", "", "4 of 4 nodes through", "LCM updates the rest"}},
		{"the request is being removed", func(sc scene.Scene) {
			sc.Update(5 * time.Hour).Deleting = scene.Ago(time.Minute)
			locks(sc, core.LockActive, core.LockInactive)
			for _, n := range sc.Nodes {
				n.ReadySince = scene.Ago(30 * time.Minute)
			}
		}, "done, done, done, done, running", [5]string{"", "", "", "", "is being removed since 11:59"}},
		{"over", func(sc scene.Scene) {
			sc.History.Update = core.UpdateRecord{UID: "cmr", Release: "21.0.0+25.2", Started: scene.Ago(6 * time.Hour), Ended: scene.Ago(time.Hour)}
		}, "done, done, done, done, done", [5]string{"the update to 21.0.0+25.2 ended 11:00", "", "", "", ""}},
		{"its end is being seen right now", func(sc scene.Scene) {
			sc.History.Update = core.UpdateRecord{UID: "cmr", Started: scene.Ago(6 * time.Hour)}
		}, "done, done, done, done, done", [5]string{"ended 12:00", "", "", "", ""}},
		{"over, but for a lock", func(sc scene.Scene) {
			sc.History.Update = core.UpdateRecord{UID: "cmr", Started: scene.Ago(6 * time.Hour), Ended: scene.Ago(time.Hour)}
			locks(sc, core.LockActive, core.LockInactive)
		}, "done, done, done, done, running", [5]string{"", "", "", "", "CWL ceph not active again"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.Healthy()
			tt.given(sc)
			phases := Phases(sc.Snapshot)
			if got := states(phases); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			for i, want := range tt.evidence {
				if !strings.Contains(evidence(phases[i]), want) {
					t.Errorf("phase %d rests on %q, want %q", i+1, phases[i].Evidence, want)
				}
			}
		})
	}
}

func TestPhaseLines(t *testing.T) {
	sc := scene.Healthy()
	sc.Update(time.Hour)
	sc.ClusterLocks[0].Message = "2026-03-14 11:30:00.0 Waiting osdpl status APPLIED, current state is APPLYING"
	phase2 := Phases(sc.Snapshot)[1]
	if l := phase2.Lines[0]; l.Label != "openstack" || l.State != core.PhaseRunning || l.Text != "OpenStack's services are being updated" ||
		l.Limit < 45*time.Minute {
		t.Errorf("%+v", l)
	}
	if l := phase2.Lines[1]; l.Label != "ceph" || l.State != core.PhasePending || l.Text != "waits for openstack" {
		t.Errorf("%+v", l)
	}
	sc = sc.Again()
	sc.ClusterLocks[0].RawState, sc.ClusterLocks[1].RawState = core.LockInactive, core.LockInactive
	sc.AllThrough(core.RoleMaster)
	sc.Nodes["cmp-01"].KubeletVersion = "v1.31.9"
	sc.Maintained("cmp-02", "")
	sc.Maintained("cmp-03", "").InnerState = core.InnerInactive
	var lines []string
	for _, l := range Phases(sc.Snapshot)[3].Lines {
		lines = append(lines, l.Label+" "+l.Text)
	}
	if !slices.Equal(lines, []string{"gateways 0/1", "computes 1/3, 1 moving, next: cmp-03"}) {
		t.Errorf("%q", lines)
	}
}

// A lock that existed months before the update has not been active "for months" in it.
func TestLockLinesCountFromTheUpdate(t *testing.T) {
	sc := scene.Healthy()
	cmr := sc.Update(time.Hour)
	sc.History.Locks[sc.ClusterLocks[0].UID] = &core.LockRecord{State: core.LockActive, Since: core.Since{At: sc.ClusterLocks[0].Created}}
	if l := Phases(sc.Snapshot)[1].Lines[0]; !l.Since.At.Equal(cmr.Created) {
		t.Errorf("active since %v", l.Since.At)
	}
}

func TestTimesOfPhases(t *testing.T) {
	sc := scene.Healthy()
	cmr := sc.Update(5 * time.Hour)
	sc.ClusterLocks[0].RawState, sc.ClusterLocks[1].RawState = core.LockInactive, core.LockInactive
	sc.AllThrough(core.RoleMaster)
	sc.Maintained("cmp-01", "")
	p := Phases(sc.Snapshot)
	if p[0].Started != (core.Since{At: cmr.Created, Exact: true}) || p[1].Started != (core.Since{At: cmr.Created, Exact: true}) {
		t.Errorf("phases 1 and 2 began %v %v", p[0].Started, p[1].Started)
	}
	if p[2].Started.Exact || !p[2].Started.At.Equal(scene.Ago(time.Hour)) || !p[2].Ended.At.Equal(scene.Ago(time.Hour)) || !p[2].Ended.Later {
		t.Errorf("phase 3, seen by nobody: %v to %v", p[2].Started, p[2].Ended)
	}
	if !p[3].Started.At.Equal(scene.Ago(20*time.Minute)) || !p[3].Ended.At.IsZero() {
		t.Errorf("phase 4: %v to %v", p[3].Started, p[3].Ended)
	}
	sc = sc.Again()
	sc.History.Update.UID = cmr.UID
	sc.History.Phases = map[core.PhaseID]core.PhaseRecord{core.PhaseServices: {Started: core.Since{At: scene.Ago(5 * time.Hour), Exact: true},
		Ended: core.Since{At: scene.Ago(3 * time.Hour), Exact: true}}}
	if p := Phases(sc.Snapshot)[1]; p.Elapsed(scene.Noon) != 2*time.Hour {
		t.Errorf("phase 2 took %v, want what was seen", p.Elapsed(scene.Noon))
	}
	sc = sc.Again()
	sc.History.Update.UID = "another update"
	if p := Phases(sc.Snapshot)[1]; p.Ended.At.Equal(scene.Ago(3 * time.Hour)) {
		t.Error("the times of another update count for this one")
	}
}

// The end of phase 2 was not seen; the first node came after it. When a source that would show that time is forbidden, the phase's
// duration is unknown and is not counted from other facts or up to now. What was seen before stays.
func TestHowLongAPhaseTookIsNotGuessed(t *testing.T) {
	for _, tt := range []struct {
		source core.SourceID
		took   time.Duration // 0: not known
	}{
		{"", 4 * time.Hour}, // until ctl-01 became Ready again
		{core.SourceNodes, 0},
		{core.SourceNodeRequests, 0},
		{core.SourceClusterLocks, 0},
		{core.SourceDeletionRequests, 4 * time.Hour},
		{core.SourceOpenStackStatus, 4 * time.Hour},
		{core.SourceNodeLocks, 4 * time.Hour},
	} {
		sc := scene.Healthy()
		cmr := sc.Update(5 * time.Hour)
		sc.ClusterLocks[0].RawState, sc.ClusterLocks[1].RawState = core.LockInactive, core.LockInactive
		sc.AllThrough(core.RoleMaster)
		sc.Maintained("cmp-01", "")
		if tt.source != "" {
			sc.Source(tt.source, core.SourceForbidden)
		}
		p := Phases(sc.Snapshot)[1]
		if p.State != core.PhaseDone || p.Elapsed(scene.Noon) != tt.took || p.Timed() != (tt.took > 0) {
			t.Errorf("%s forbidden: phase 2 is %s and took %v, want %v\n%s", tt.source, p.State, p.Elapsed(scene.Noon), tt.took, evidence(p))
		}
		sc = sc.Again()
		sc.History.Update.UID = cmr.UID
		sc.History.Phases = map[core.PhaseID]core.PhaseRecord{core.PhaseServices: {Started: core.Since{At: scene.Ago(5 * time.Hour), Exact: true},
			Ended: core.Since{At: scene.Ago(3 * time.Hour), Exact: true}}}
		if p := Phases(sc.Snapshot)[1]; p.Elapsed(scene.Noon) != 2*time.Hour {
			t.Errorf("%s forbidden: phase 2 took %v, and was seen to take 2 h", tt.source, p.Elapsed(scene.Noon))
		}
	}
}

// The documents' estimate depends on the number of nodes: without the nodes it is unknown, and nothing is overdue by it.
func TestNothingIsOverdueByNodesThatAreNotKnown(t *testing.T) {
	sc := scene.Healthy()
	sc.Update(24 * time.Hour)
	if p := Phases(sc.Snapshot)[1]; p.State != core.PhaseStuck || p.Lines[0].Limit == 0 {
		t.Errorf("with the nodes: %s, openstack at most %v", p.State, p.Lines[0].Limit)
	}
	sc = sc.Again()
	sc.Source(core.SourceNodes, core.SourceForbidden)
	if p := Phases(sc.Snapshot)[1]; p.State != core.PhaseRunning || p.Lines[0].Limit != 0 || strings.Contains(evidence(p), "overdue") {
		t.Errorf("without the nodes: %s, openstack at most %v\n%s", p.State, p.Lines[0].Limit, evidence(p))
	}
}

// The estimates of docs/mosk.md#maintenance-window.
func TestEstimatesOfTheDocuments(t *testing.T) {
	e := Estimates{d: 20, nc: 10, ng: 2, nkc: 3, nkm: 12}
	for _, tt := range []struct {
		what string
		got  time.Duration
		want float64 // minutes
	}{
		{"modules and OpenStack", e.OpenStack(), 45 + (0.78*20+359)*12/60},
		{"Ceph", e.Ceph(), 50},
		{"masters", e.Masters(), 15*3 + 40},
		{"workers", e.Workers(), 20*10 + 40*12},
	} {
		if got := tt.got.Minutes(); got < tt.want-0.1 || got > tt.want+0.1 {
			t.Errorf("%s: %.1f minutes, want %.1f", tt.what, got, tt.want)
		}
	}
}
