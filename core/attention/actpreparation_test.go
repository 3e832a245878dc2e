package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// Lockstep plays the OpenStack controller for a node. At every point of the preparation, the stage and the entry say what comes
// next or what blocks it, and it is one entry all the way.
func TestHowFarThePreparationIs(t *testing.T) {
	all := []string{"ctl-01", "ctl-02", "ctl-03"}
	begun := func(sc scene.Scene, node string) {
		sc.NodeLock(node, core.ControllerOpenStack).InnerState = core.InnerActive
	}
	out := func(sc scene.Scene) { sc.Services["cmp-01"].Enabled = false }
	for name, tt := range map[string]struct {
		node string
		pods []string
		with func(sc scene.Scene)
		says string
		what string
	}{
		"nothing is done": {"cmp-01", all, nil, "prepare it", "to be prepared"},
		"the controller runs": {"cmp-01", all, func(sc scene.Scene) { sc.Controller.Replicas, sc.Controller.Ready = 1, 1 },
			"the controller itself is not out of the way: 1 of 1 replicas are ready", "its controller runs"},
		"begun": {"cmp-01", all, func(sc scene.Scene) { begun(sc, "cmp-01") }, "its host has to leave scheduling",
			"to leave scheduling"},
		"instances are left": {"cmp-01", all, func(sc scene.Scene) { begun(sc, "cmp-01"); out(sc); sc.Instance("cmp-01", "web-9") },
			"1 instance must leave it or stop first", "1 instance left"},
		"instances unknown": {"cmp-01", all, func(sc scene.Scene) {
			begun(sc, "cmp-01")
			out(sc)
			sc.Source(core.SourceInstances, core.SourceForbidden)
		}, "its instances are not known: ", "not known"},
		"the host is empty": {"cmp-01", all, func(sc scene.Scene) { begun(sc, "cmp-01"); out(sc) },
			"nothing is in the way any more: release its lock", "to be released"},
		"volumes can come": {"cmp-01", all, func(sc scene.Scene) { begun(sc, "cmp-01"); out(sc); sc.VolumeService("cmp-01@lvm") },
			"its volumes have to leave scheduling: cinder-volume lvm is enabled", "to leave scheduling"},
		"no nova-compute": {"cmp-01", all, func(sc scene.Scene) { begun(sc, "cmp-01"); delete(sc.Services, "cmp-01") },
			"Nova shows no nova-compute of its host", "no compute service"},
		"a controller is begun": {"ctl-01", all, func(sc scene.Scene) { begun(sc, "ctl-01") }, "nothing is in the way any more: release its lock",
			"to be released"},
		"a quorum is short": {"ctl-01", []string{"ctl-01", "!ctl-02", "ctl-03"}, nil, "it cannot go down now: mariadb-server: 2 of 3 ready",
			"quorum too small"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Quorate(tt.pods...)
			for _, in := range slices.Clone(sc.ByHost["cmp-01"]) {
				sc.Instances.Remove(in.ID)
			}
			delete(sc.ByHost, "cmp-01")
			if tt.with != nil {
				tt.with(sc)
			}
			sc = sc.Again()
			v, _ := progress.NodeView(sc.Snapshot, tt.node)
			if v.Stage != core.StageWaiting || !strings.Contains(v.Reason, tt.says) || v.What != tt.what {
				t.Errorf("it is %s: %q, in short %q", v.Stage, v.Reason, v.What)
			}
			if !slices.ContainsFunc(Of(sc.Snapshot), func(a core.Attention) bool {
				return a.ID == "act/openstack/"+tt.node+"/prepare" && strings.Contains(a.Reason, tt.says)
			}) {
				t.Errorf("nobody is told: %+v", Of(sc.Snapshot))
			}
		})
	}
}

// A deferral needs no attention for a while, unless what it waits for does not come by itself. What Lockstep sees of it is shown
// at once, and advice is about the services that are named, not about all.
func TestADeferralTellsWhatItWaitsFor(t *testing.T) {
	for name, tt := range map[string]struct {
		waits string
		since time.Duration
		told  string
	}{
		"a pod comes up": {"ContainerCreating", time.Minute, ""},
		"a pod crashes": {"CrashLoopBackOff", time.Minute,
			"deferred: mariadb-server: 2 of 3 ready; mariadb-server-1 on ctl-02 is not (CrashLoopBackOff); these cannot do without the node now: " +
				"database"},
		"an image is not there":      {"ImagePullBackOff", time.Minute, "is not (ImagePullBackOff)"},
		"a pod has long come up":     {"ContainerCreating", time.Hour, "deferred: mariadb-server: 2 of 3 ready"},
		"a pod has crashed for long": {"CrashLoopBackOff", time.Hour, "deferred: "},
	} {
		sc := scene.Quorate("ctl-01", "!ctl-02", "ctl-03")
		sc.Settings = core.DefaultSettings()
		delete(sc.NodeRequests, "ctl-01")
		sc.Maintained("ctl-01", "Some services blocks nmr handling {'compute': True, 'database': False}. Deferring processing for node ctl-01")
		sc.NodeRequests["ctl-01"][0].Created = scene.Ago(tt.since)
		sc.DaemonPods["openstack/mariadb-server"][1].Waits = tt.waits
		sc = sc.Again()
		i := slices.IndexFunc(Of(sc.Snapshot), func(a core.Attention) bool {
			return strings.HasPrefix(a.ID, "node-deferred") &&
				a.Node == "ctl-01"
		})
		switch {
		case i < 0 && tt.told != "":
			t.Errorf("%s: nobody is told: %+v", name, Of(sc.Snapshot))
		case i >= 0 && tt.told == "":
			t.Errorf("%s: %q", name, Of(sc.Snapshot)[i].Reason)
		case i >= 0:
			a := Of(sc.Snapshot)[i]
			if !strings.Contains(a.Reason, tt.told) || !strings.Contains(a.Detail, "lose its quorum") ||
				strings.Contains(a.Detail, "availability zone") {
				t.Errorf("%s: %q, %q", name, a.Reason, a.Detail)
			}
		}
	}
	if m := progress.ReadLockMessage("Some services blocks nmr handling {'compute': False}. Deferring"); !strings.Contains(m.Remedy,
		"availability zone") || strings.Contains(m.Remedy, "quorum") {
		t.Errorf("of compute it says %q", m.Remedy)
	}
}

// Nobody but the operator makes the locks of a played controller: without them LCM waits for nobody, and that is as urgent as where
// the controller itself has lost one.
func TestALockThatAPlayedControllerLacks(t *testing.T) {
	for name, tt := range map[string]struct {
		given    func(sc scene.Scene)
		node     string
		severity core.Severity // 0: no entry
	}{
		"the cluster's at rest":      {func(sc scene.Scene) { sc.ClusterLocks = nil }, "", core.SeverityNotice},
		"the cluster's in an update": {func(sc scene.Scene) { sc.ClusterLocks = nil; sc.Update(time.Hour) }, "", core.SeverityUrgent},
		"a node's that is asked for": {func(sc scene.Scene) { unlocked(sc); sc.Request("cmp-01", time.Minute) }, "cmp-01", core.SeverityUrgent},
		"a node's whose request is gone": {func(sc scene.Scene) {
			unlocked(sc)
			sc.Request("cmp-01", time.Hour).Deleting = scene.Ago(time.Minute)
		}, "cmp-01", 0},
	} {
		sc := scene.Healthy()
		sc.Settings = scene.PlaysOpenStack()
		tt.given(sc)
		severity := core.Severity(0)
		for _, a := range Of(sc.Again().Snapshot) {
			asks := strings.Contains(a.Reason, "no cluster lock") || strings.Contains(a.Reason, "no lock on it")
			if a.Rule == core.RuleAct && a.Node == tt.node && asks {
				severity = a.Severity
			}
		}
		if severity != tt.severity {
			t.Errorf("%s: it is of severity %d", name, severity)
		}
	}
}

// unlocked takes cmp-01's locks away.
func unlocked(sc scene.Scene) { sc.NodeLocks = sc.NodeLocks.Without("cmp-01") }
