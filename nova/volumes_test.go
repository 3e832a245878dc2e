package nova

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

// volumeService is what the sink got of a service; empty when it got none.
func (b *board) volumeService(host string) core.VolumeService {
	if v, ok := b.objects[core.SourceVolumeServices][host].(*core.VolumeService); ok {
		return *v
	}
	return core.VolumeService{}
}

// Each back end of a host is enabled and disabled on its own, with its reason, and the poller shows it.
func TestSimAVolumeServiceIsDisabledAndEnabled(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()})
		const host = "kaas-node-002"
		for _, backend := range []openstack.VolumeBackendSpec{{Name: "lvm"}, {Name: "nvme", Disabled: true, Reason: "a dead disk"}} {
			if err := cloud.AddVolumeBackend(host, backend); err != nil {
				t.Fatal(err)
			}
		}
		if err := cloud.AddVolumeBackend("cinder-volume-0", openstack.VolumeBackendSpec{Name: "ceph", Elsewhere: true}); err != nil {
			t.Fatal(err)
		}
		c := simClient(t, cloud, "sim")
		p, b := poll(t, c)
		ctx, w := context.Background(), writes(t, c, p.Nudge)
		b.await("the services", func() bool {
			lvm, nvme := b.volumeService(host+"@lvm"), b.volumeService(host+"@nvme")
			return len(b.objects[core.SourceVolumeServices]) == 3 && lvm.Enabled && lvm.Up && !nvme.Enabled &&
				nvme.DisabledReason == "a dead disk" &&
				b.state(core.SourceVolumes) == core.SourceLive
		})
		if err := w.write(core.SetVolumeService{Service: core.Ref{Name: host + "@lvm"}, Reason: core.DisabledReasonMaintenance}); err != nil {
			t.Fatal(err)
		}
		b.await("it disabled", func() bool {
			v := b.volumeService(host + "@lvm")
			return !v.Enabled && v.DisabledReason == core.DisabledReasonMaintenance && v.Up
		})
		all, err := w.VolumeServices(ctx, host)
		if err != nil || len(all) != 2 {
			t.Fatalf("%v, %v", all, err)
		}
		if i := slices.IndexFunc(all, func(v *core.VolumeService) bool { return v.Host == host+"@nvme" }); i < 0 ||
			all[i].DisabledReason != "a dead disk" || !all[i].Behind || all[1-i].Behind {
			t.Errorf("another back end was touched: %+v", all)
		}
		if err := w.write(core.SetVolumeService{Service: core.Ref{Name: host + "@lvm"}, Enabled: true}); err != nil {
			t.Fatal(err)
		}
		b.await("it enabled", func() bool { v := b.volumeService(host + "@lvm"); return v.Enabled && v.DisabledReason == "" })
		if all, err := w.VolumeServices(ctx, "kaas-node-003"); err != nil || len(all) != 0 {
			t.Errorf("of a host without: %v, %v", all, err)
		}
		if e := apiError(t, w.write(core.SetVolumeService{Service: core.Ref{Name: "kaas-node-003@lvm"},
			Enabled: true})); e.Kind != core.ErrNotFound {
			t.Errorf("of a service that is not there: %s", e)
		}
	})
}

// Volumes are read for the named hosts and no others: what they are attached to, their size, their project.
func TestSimTheVolumesOfAHost(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "db-1", ID: "db-1", Volumes: []openstack.VolumeSpec{
			{Name: "db-data", Host: "kaas-node-001"}, {Name: "in-ceph"}}})
		loose, err := cloud.AddSizedVolume("kaas-node-001", "demo", "old-backup", 40)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cloud.AddVolume("kaas-node-002", "demo", "elsewhere"); err != nil {
			t.Fatal(err)
		}
		c := simClient(t, cloud, "sim")
		p, b := poll(t, c)
		b.await("none that nobody asked about", func() bool {
			return b.state(core.SourceVolumes) == core.SourceLive && len(b.objects[core.SourceVolumes]) == 0
		})
		p.SetVolumeHosts([]string{"kaas-node-001", "kaas-node-003"})
		of := func(host string) []core.Volume {
			if h, ok := b.objects[core.SourceVolumes][host].(*core.HostVolumes); ok {
				return h.Volumes
			}
			return nil
		}
		var here []core.Volume
		b.await("those of the host, and that the other has none", func() bool {
			h, asked := b.objects[core.SourceVolumes]["kaas-node-003"].(*core.HostVolumes)
			here = of("kaas-node-001")
			return len(here) == 2 && asked && len(h.Volumes) == 0 && len(b.objects[core.SourceVolumes]) == 2
		})
		for _, v := range here {
			switch v.Name {
			case "db-data":
				if v.Status != "in-use" || !slices.Equal(v.Instances, []string{"db-1"}) || v.Host != "kaas-node-001@lvm#lvm" || v.ProjectID == "" {
					t.Errorf("%+v", v)
				}
			case "old-backup":
				if v.ID != loose || v.SizeGiB != 40 || v.Status != "available" || len(v.Instances) != 0 {
					t.Errorf("%+v", v)
				}
			default:
				t.Errorf("%+v is not on the host", v)
			}
		}
		w := writes(t, c, nil)
		if now, err := w.VolumesOf(context.Background(), "kaas-node-001"); err != nil || len(now) != 2 {
			t.Errorf("asked for right now: %+v, %v", now, err)
		}
		if now, err := w.VolumesOf(context.Background(), "kaas-node-003"); err != nil || len(now) != 0 {
			t.Errorf("of the other, right now: %+v, %v", now, err)
		}
		p.SetVolumeHosts(nil)
		b.await("none again", func() bool { return len(b.objects[core.SourceVolumes]) == 0 })
	})
}

// A cloud without Cinder says so in a few words, and everything else goes on; writing to it is refused before it is tried.
func TestSimACloudWithoutCinder(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart(), NoCinder: true}, openstack.ServerSpec{Name: "web-1", ID: "web-1"})
		c := simClient(t, cloud, "sim")
		_, b := poll(t, c)
		b.await("everything else", func() bool {
			return b.state(core.SourceComputeServices) == core.SourceLive && b.state(core.SourceInstances) == core.SourceLive &&
				b.state(core.SourceNetworkAgents) == core.SourceLive
		})
		for _, id := range []core.SourceID{core.SourceVolumeServices, core.SourceVolumes} {
			b.await(string(id)+" absent", func() bool {
				d := b.states[id]
				return d.State == core.SourceAbsent && strings.HasSuffix(d.Err.Error(), "this cloud has no block storage")
			})
		}
		w := writes(t, c, nil)
		if all, err := w.VolumeServices(context.Background(), "kaas-node-001"); err != nil || len(all) != 0 {
			t.Errorf("services: %v, %v", all, err)
		}
		if _, err := w.VolumesOf(context.Background(), "kaas-node-001"); apiError(t, err).Kind != core.ErrUnsupported {
			t.Errorf("volumes: %v", err)
		}
		if e := apiError(t, w.write(core.SetVolumeService{Service: core.Ref{Name: "kaas-node-001@lvm"},
			Enabled: true})); e.Kind != core.ErrUnsupported || e.Uncertain() {
			t.Errorf("%s", e)
		}
	})
}

// A login that is not an administrator's is refused the services, and sees no volume's host: that does not mean a host without
// volumes.
func TestSimAPlainMemberSeesNoVolumeServices(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()})
		if _, err := cloud.AddVolume("kaas-node-001", "demo", "mine"); err != nil {
			t.Fatal(err)
		}
		p, b := poll(t, simClient(t, cloud, "sim-demo"))
		p.SetVolumeHosts([]string{"kaas-node-001"})
		for _, id := range []core.SourceID{core.SourceVolumeServices, core.SourceVolumes} {
			b.await(string(id)+" forbidden", func() bool {
				d := b.states[id]
				return d.State == core.SourceForbidden && d.Err.Kind == core.ErrForbidden && strings.Contains(d.Err.Remedy, "role admin")
			})
		}
	})
}

// The request to Cinder is sent once, in the oldest microversion, whatever the catalog calls Cinder.
func TestVolumeWritesAreSentOnceAndAsCinderExpectsThem(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for _, kind := range volumeTypes {
			for _, tt := range []struct {
				change        core.Change
				request, body string
			}{
				{core.SetVolumeService{Service: core.Ref{Name: "h1@lvm"}, Reason: "a dead disk"}, "PUT /volume/v3/os-services/disable-log-reason",
					`{"binary":"cinder-volume","disabled_reason":"a dead disk","host":"h1@lvm"}`},
				{core.SetVolumeService{Service: core.Ref{Name: "h1@lvm"}}, "PUT /volume/v3/os-services/disable",
					`{"binary":"cinder-volume","host":"h1@lvm"}`},
				{core.SetVolumeService{Service: core.Ref{Name: "h1@lvm"}, Enabled: true, Reason: "ignored"}, "PUT /volume/v3/os-services/enable",
					`{"binary":"cinder-volume","host":"h1@lvm"}`},
			} {
				for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable} {
					f := newFakeCloud(t)
					f.cinder = kind
					f.answer(tt.request, status, "")
					nudged := 0
					err := writes(t, f.client(), func() { nudged++ }).write(tt.change)
					if status == http.StatusOK && err != nil {
						t.Fatal(err)
					}
					if status != http.StatusOK && !apiError(t, err).Uncertain() {
						t.Errorf("%d is no uncertain answer: %v", status, err)
					}
					seen := f.seen(tt.request + "?")
					if len(seen) != 1 || seen[0].body != tt.body || seen[0].microversion != "" || nudged != 1 {
						t.Errorf("%s: sent %+v, nudged %d times", kind, seen, nudged)
					}
				}
			}
		}
	})
}

// An answer that is not a list of services is not an empty list.
func TestAStrangeListOfVolumeServices(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for body, kind := range map[string]core.ErrorKind{`{}`: core.ErrOther, `{"services": null}`: core.ErrOther,
			`<html></html>`: core.ErrOther} {
			f := newFakeCloud(t)
			f.cinder = "volumev3"
			f.answer("GET /volume/v3/os-services", 200, body)
			if e := apiError(t, func() error { _, err := f.client().listVolumeServices(context.Background(), ""); return err }()); e.Kind != kind {
				t.Errorf("%s: %s", body, e)
			}
		}
	})
}
