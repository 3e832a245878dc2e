package tui

import (
	"strings"
	"testing"

	"lockstep/core"
)

// A cloud without Cinder lacks nothing: its server is as healthy as its other sources. A Cinder that refuses access is reported.
func TestACloudWithoutCinderIsWell(t *testing.T) {
	s := world()
	for _, id := range []core.SourceID{core.SourceVolumeServices, core.SourceVolumes} {
		s.Sources[id] = core.Source{ID: id, State: core.SourceAbsent, Err: &core.APIError{Kind: core.ErrUnsupported}}
	}
	if got := healths(s)[1]; got.label != "openstack" || got.state != core.SourceLive || got.more != 0 {
		t.Errorf("%s is %s, %d more", got.label, got.state, got.more)
	}
	s.Sources[core.SourceVolumeServices] = core.Source{ID: core.SourceVolumeServices, State: core.SourceForbidden,
		Err: &core.APIError{Kind: core.ErrForbidden}}
	if got := healths(s)[1]; got.state != core.SourceForbidden || got.more != 0 {
		t.Errorf("it is %s, %d more", got.state, got.more)
	}
	s = world()
	s.Sources[core.SourceNetworkAgents] = core.Source{ID: core.SourceNetworkAgents, State: core.SourceAbsent}
	if got := healths(s)[1]; got.state != core.SourceAbsent {
		t.Errorf("without Neutron it is %s", got.state)
	}
}

// The dialog names the service itself, with its back end, whatever the step's target is. A node's detail shows what Cinder
// reports about it, all of it sanitised.
func TestWhatIsShownOfVolumes(t *testing.T) {
	ref := (&core.VolumeService{Host: "cmp-07@lvm"}).Ref()
	for want, change := range map[string]core.SetVolumeService{
		`Disable cinder-volume cmp-07@lvm with the reason "OSDPL: Node is under maintenance".`: {Service: ref,
			Reason: core.DisabledReasonMaintenance, WasEnabled: true},
		`Enable cinder-volume cmp-07@lvm (disabled with "OSDPL: Node is under maintenance").`: {Service: ref, Enabled: true,
			WasReason: core.DisabledReasonMaintenance},
	} {
		if got := describe(world(), core.Step{Change: change, Target: ref, Label: "cmp-07"}); len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s := world()
	node := ""
	for name, n := range s.Nodes {
		if n.Label() == "cmp-07" {
			node = name
		}
	}
	s.VolumeServices = map[string][]*core.VolumeService{node: {{Host: node + "@lvm", DisabledReason: "a \x1b[31mred\x07 disk", Up: true},
		{Host: node + "@nvme", Enabled: true}}}
	s.Volumes = map[string]*core.HostVolumes{node: {Host: node,
		Volumes: []core.Volume{{ID: "v1", Name: "db\x1b]0;x\x07data", SizeGiB: 100, Status: "in-use", Instances: []string{instanceID(1)}}}}}
	screen := drive(s, 120, 100).keys("3", "/", "cmp-07", "enter", "i").shows()
	if strings.ContainsAny(strings.ReplaceAll(screen, "\x1b[", ""), "\x1b\x07") {
		t.Errorf("an escape sequence of the API's reached the screen: %q", screen)
	}
	for _, want := range []string{"cinder-volume", "@lvm", "red", "@nvme", "enabled, down", "Volumes on its disks", "100 GiB, in-use, web-1"} {
		if !strings.Contains(stripped(screen), want) {
			t.Errorf("it does not show %q:\n%s", want, stripped(screen))
		}
	}
}
