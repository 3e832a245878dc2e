package progress

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// A service belongs to the node whose name stands before its back end; Ceph's services belong to no node.
func TestWhoseVolumeServiceItIs(t *testing.T) {
	sc := scene.Healthy()
	for _, host := range []string{"cmp-01@lvm", "cmp-01@nvme", "cmp-02.domain.example@lvm", "gtw-01", "cinder-volume-0@volumes-hdd"} {
		sc.VolumeService(host)
	}
	for node, want := range map[string]string{"cmp-01": "cmp-01@lvm cmp-01@nvme", "cmp-02": "cmp-02.domain.example@lvm", "gtw-01": "gtw-01",
		"cmp-03": "", "ctl-01": ""} {
		var got []string
		for _, v := range sc.VolumeServicesOn(node) {
			got = append(got, v.Host)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %q, want %q", node, got, want)
		}
	}
	for host, want := range map[string][2]string{"cmp-04@lvm#lvm": {"cmp-04", "lvm"}, "cmp-04@lvm": {"cmp-04", "lvm"},
		"cmp-04": {"cmp-04", ""}, "cmp-04#pool": {"cmp-04", ""}, "": {"", ""}} {
		if got := [2]string{core.VolumeMachine(host), core.VolumeBackend(host)}; got != want {
			t.Errorf("%q is %q", host, got)
		}
	}
}
