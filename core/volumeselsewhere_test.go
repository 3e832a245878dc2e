package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// withOwnDisks gives cmp-01 a back end on disks of its own, with a volume for each of the instances.
func withOwnDisks(sc scene, users ...*Instance) {
	sc.VolumeServices["cmp-01"] = []*VolumeService{{Host: "cmp-01@lvm", Enabled: true, Up: true}}
	h := &HostVolumes{Host: "cmp-01"}
	for i, in := range users {
		h.Volumes = append(h.Volumes, Volume{ID: fmt.Sprintf("vol-%d", i), Name: fmt.Sprintf("data-%d", i), Host: "cmp-01@lvm#lvm", Status: "in-use", SizeGiB: 10, Instances: []string{in.ID}})
	}
	sc.Volumes["cmp-01"] = h
}

// Instances elsewhere whose volumes lie on a node's own disks lose them while it is down. The node's steps name them: before its turn, while
// it leaves, and when it is back and they need a reboot.
func TestInstancesElsewhereThatUseANodesDisksAreNamed(t *testing.T) {
	step := func(s *Snapshot) (Step, bool) {
		p, _ := s.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
		i := slices.IndexFunc(p.Steps, func(st Step) bool { return strings.HasPrefix(st.ID, "elsewhere/") })
		if i < 0 {
			return Step{}, false
		}
		return p.Steps[i], true
	}
	for name, tt := range map[string]struct {
		change func(sc scene)
		state  StepState // empty: no step
		says   string
		hand   string
	}{
		"before its turn": {func(scene) {}, StepLater, "web-2 on cmp-02 (data-1), web-3 on cmp-03 (data-2)", "openstack server stop"},
		"it is asked for": {func(sc scene) { sc.maintained("cmp-01", "") }, StepWaiting, "web-2 on cmp-02 (data-1)", "openstack server stop"},
		"it was released": {func(sc scene) { sc.maintained("cmp-01", "").RawState = LockInactive }, StepWaiting, "web-2 on cmp-02", "openstack server reboot"},
		"it comes back": {func(sc scene) {
			sc.maintained("cmp-01", "").RawState = LockInactive
			sc.NodeRequests["cmp-01"][0].Deleting = ago(time.Minute)
		}, StepWaiting, "web-2 on cmp-02", "openstack server reboot"},
		"one is stopped": {func(sc scene) { sc.ByHost["cmp-02"][0].VMState = "stopped" }, StepLater, "web-3 on cmp-03 (data-2)", "openstack server stop"},
		"nobody uses one from elsewhere": {func(sc scene) {
			sc.Volumes["cmp-01"].Volumes = sc.Volumes["cmp-01"].Volumes[:1]
		}, "", "", ""},
		"they are not known, and it is asked for": {func(sc scene) {
			sc.maintained("cmp-01", "")
			sc.source(SourceVolumes, SourceForbidden)
		}, StepWaiting, "not known: ", ""},
		"it has no disks of its own": {func(sc scene) { delete(sc.VolumeServices, "cmp-01") }, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sc := healthy()
			withOwnDisks(sc, sc.ByHost["cmp-01"][0], sc.ByHost["cmp-02"][0], sc.ByHost["cmp-03"][0])
			tt.change(sc)
			st, there := step(sc.again().Snapshot)
			if there != (tt.state != "") || st.State != tt.state || !strings.Contains(st.Status, tt.says) || strings.Contains(st.Status, "web-1") {
				t.Fatalf("%+v", st)
			}
			if tt.state == StepWaiting && tt.hand != "" {
				safe := Plan(sc.again().Snapshot, Intent{Kind: IntentDeclareSafe, Node: "cmp-01"})
				if !strings.Contains(safe.Then, "2 instances elsewhere lose volumes that it serves, and need a reboot afterwards: web-2 on cmp-02") {
					t.Errorf("to declare it safe says %q", safe.Then)
				}
			}
			if tt.hand != "" && !strings.HasPrefix(st.Commands[0], tt.hand) {
				t.Errorf("by hand: %q", st.Commands)
			}
		})
	}
}

// The volumes on nodes' own disks are listed where there are few such nodes; where there are many, of those in maintenance.
func TestWhichHostsVolumesAreListed(t *testing.T) {
	sc := healthy()
	withOwnDisks(sc)
	if got := HostsWithVolumesToWatch(sc.again().Snapshot); !slices.Equal(got, []string{"cmp-01"}) {
		t.Errorf("of few: %q", got)
	}
	for i := range ownDisksWatched {
		name := fmt.Sprintf("edge-%02d", i)
		sc.node(name, RoleCompute)
		sc.VolumeServices[name] = []*VolumeService{{Host: name + "@lvm", Enabled: true, Up: true}}
	}
	if got := HostsWithVolumesToWatch(sc.again().Snapshot); len(got) != 0 {
		t.Errorf("of many at rest: %q", got)
	}
	sc.maintained("edge-07", "")
	sc.Deletions["cmp-01"] = &NodeNotice{Node: "cmp-01"}
	if got := HostsWithVolumesToWatch(sc.again().Snapshot); !slices.Equal(got, []string{"cmp-01", "edge-07"}) {
		t.Errorf("of many: %q", got)
	}
}
