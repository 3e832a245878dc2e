package engine

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// askedFor is a cloud in which LCM asks for cmp-1 and a played OpenStack controller has begun it.
func askedFor() *testCloud {
	c := atRest()
	c.requests["cmp-1"] = &core.MaintenanceRequest{Meta: core.Meta{Name: "cmp-1", UID: "nmr", Created: worldTime, Finalizers: scene.HeldBy},
		Kind: core.KindNodeMaintenanceRequest, Node: "cmp-1", Scope: core.ScopeOS}
	c.locks["cmp-1"].InnerState = core.InnerActive
	c.services["cmp-1"].Enabled, c.services["cmp-1"].DisabledReason = false, core.DisabledReasonMaintenance
	c.instances["id-web-3"].Tags = []string{core.TagMaintenanceAction + string(core.ActionNotify)}
	return c
}

// played is an armed bench that plays the OpenStack controller.
func played(t *testing.T, c *testCloud) *bench {
	t.Helper()
	b := newBenchWith(t, t.TempDir(), c, scene.PlaysOpenStack())
	t.Cleanup(b.end)
	b.arm()
	return b
}

// At which release a played controller arms its lock: the release that OpenStack runs, not the one that is asked for.
func TestTheReleaseOfAPlayedLock(t *testing.T) {
	for name, tt := range map[string]struct {
		request, cluster, deployed, lock string
		want                             string
	}{
		"OpenStack's, not the request's":           {"21.1.0+26.1", "", "21.0.0+25.2", "21.0.0+25.2", "21.0.0+25.2"},
		"OpenStack's, not the cluster's request's": {"", "21.1.0+26.1", "21.0.0+25.2", "21.0.0+25.2", "21.0.0+25.2"},
		"without what a request leaves away":       {"21.1.0", "", "21.1.0+26.1.3", "", "21.1.0+26.1.3"},
		"with what OpenStack leaves away":          {"21.1.0+26.1.3", "", "21.1.0", "", "21.1.0+26.1.3"},
		"OpenStack's, not the lock's":              {"", "", "21.0.0+25.2", "20.0.0+25.1", "21.0.0+25.2"},
		"without OpenStack's, the cluster lock's":  {"", "", "", "20.0.0+25.1", "20.0.0+25.1"},
		"nobody says what there is":                {"21.1.0", "", "", "", ""},
		"nobody says one":                          {"", "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := askedFor()
				c.requests["cmp-1"].Release, c.osdpl.Release, c.clusterLock.Release = tt.request, tt.deployed, tt.lock
				if tt.cluster != "" {
					c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Finalizers: scene.HeldBy},
						Kind: core.KindClusterMaintenanceRequest, Release: tt.cluster}
				}
				clear(c.instances)
				s := played(t, c).engine.Snapshot()
				set, _ := step.Plan(s, core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack,
					Node: "cmp-1"}).Change.(core.SetLock)
				if set.To.Release != tt.want {
					t.Errorf("released at %q, want %q", set.To.Release, tt.want)
				}
			})
		})
	}
}

// A lock that is made or taken back carries the release.
func TestAPlayedLockIsArmedAtItsRelease(t *testing.T) {
	for name, tt := range map[string]struct {
		kind  core.IntentKind
		cloud func(*testCloud)
	}{
		"made": {core.IntentActCreateLock, func(c *testCloud) { delete(c.locks, "cmp-1") }},
		"taken back": {core.IntentActRearm, func(c *testCloud) {
			c.requests["cmp-1"].Deleting, c.locks["cmp-1"].RawState, c.services["cmp-1"].Enabled = worldTime, core.LockInactive, true
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := askedFor()
				c.requests["cmp-1"].Release, c.osdpl.Release = "21.1.0+26.1", "21.1.0+26.1"
				tt.cloud(c)
				b := played(t, c)
				id, err := b.confirm(core.Intent{Kind: tt.kind, Controller: core.ControllerOpenStack, Node: "cmp-1"})
				if err != nil {
					t.Fatal(err)
				}
				if op := b.awaitEnd(id); op.State != core.OperationDone {
					t.Fatalf("it ended as %s: %s", op.State, op.Text)
				}
				if l := c.locks["cmp-1"]; l.Release != "21.1.0+26.1" || l.State() != core.LockActive ||
					tt.kind == core.IntentActCreateLock && !l.NodeDeletionRequestSupported {
					t.Errorf("the lock is %+v", l)
				}
			})
		})
	}
}

// Until it is released, the lock says in Rockoon's words what the controller waits for.
func TestThePlayedLockSaysWhatIsWaitedFor(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := askedFor()
		b := played(t, c)
		say := core.Intent{Kind: core.IntentActSay, Controller: core.ControllerOpenStack, Node: "cmp-1"}
		id, err := b.confirm(say)
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationDone {
			t.Fatalf("it ended as %s: %s", op.State, op.Text)
		}
		b.sync()
		m := progress.ReadLockMessage(c.locks["cmp-1"].Message)
		if m.ID != "J" || strings.Join(m.Unset, " ") != "id-web-1 id-web-2" || strings.Join(m.Notify, " ") != "id-web-3" {
			t.Fatalf("the lock says %q: %+v", c.locks["cmp-1"].Message, m)
		}
		if l := c.locks["cmp-1"]; l.State() != core.LockActive {
			t.Errorf("the lock is %s", l.State())
		}
		if st := step.Plan(b.engine.Snapshot(), say); st.State != core.StepDone {
			t.Errorf("said, it is %s", st.State)
		}
		c.mu.Lock()
		delete(c.instances, "id-web-1")
		c.mu.Unlock()
		b.sync()
		if st := step.Plan(b.engine.Snapshot(), say); !st.Doable() {
			t.Errorf("with one instance gone, it is %s: %s", st.State, st.Blocker())
		}
		c.mu.Lock()
		clear(c.instances)
		c.mu.Unlock()
		b.sync()
		if st := step.Plan(b.engine.Snapshot(), say); st.Doable() {
			t.Error("with no instance left, there is still something to say")
		}
		if id, err = b.confirm(core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: "cmp-1"}); err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		if got := c.locks["cmp-1"].Message; got != "" {
			t.Errorf("released, the lock says %q", got)
		}
	})
}

// A missing lock is reported once: as the lock that the player has to make.
func TestAMissingPlayedLockIsToldOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := askedFor()
		c.cluster = &core.MaintenanceRequest{Meta: core.Meta{Name: "mos", UID: "cmr", Created: worldTime, Finalizers: scene.HeldBy},
			Kind: core.KindClusterMaintenanceRequest}
		delete(c.locks, "cmp-1")
		clear(c.instances)
		var told []string
		for _, a := range attention.Of(played(t, c).engine.Snapshot()) {
			if a.Node == "cmp-1" {
				told = append(told, a.Reason)
			}
		}
		if len(told) != 1 || !strings.Contains(told[0], "you hold no lock on it") {
			t.Errorf("it is told %q", told)
		}
	})
}
