package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The commands are python-openstackclient's, and the guards those of nova-compute's service: enabled by the operator unless the
// controller will do it.
func TestAnOperatorsStepsOnVolumeServices(t *testing.T) {
	disable := Intent{Kind: IntentDisableVolume, Node: "cmp-01", Object: lvmOf("cmp-01"), Reason: "a dead disk"}
	enable := Intent{Kind: IntentEnableVolume, Node: "cmp-01", Object: lvmOf("cmp-01")}
	with := func(reason string) Intent { i := disable; i.Reason = reason; return i }
	cannotEnable := func(sc scene) {
		sc.volumeService("cmp-01@lvm").outOf(DisabledReasonMaintenance)
		sc.maintained("cmp-01", "Can not enable block-storage service on the host cmp-01.").RawState = LockInactive
		sc.NodeRequest("cmp-01").Deleting = noon
	}
	for _, tt := range []struct {
		name   string
		given  func(sc scene)
		intent Intent
		fails  []GuardID
		want   string // the command
	}{
		{"disable", func(sc scene) { sc.volumeService("cmp-01@lvm") }, disable, nil, "openstack volume service set --disable --disable-reason 'a dead disk' cmp-01@lvm cinder-volume"},
		{"disable for a reason that looks like an option", func(sc scene) { sc.volumeService("cmp-01@lvm") }, with("--disk"), nil,
			"openstack volume service set --disable --disable-reason=--disk cmp-01@lvm cinder-volume"},
		{"disable: no reason", func(sc scene) { sc.volumeService("cmp-01@lvm") }, with(""), []GuardID{"reason"}, ""},
		{"disable: the literal", func(sc scene) { sc.volumeService("cmp-01@lvm") }, with(DisabledReasonMaintenance), []GuardID{"not-literal"}, ""},
		{"disable: disabled", func(sc scene) { sc.volumeService("cmp-01@lvm").outOf("mine") }, disable, []GuardID{"enabled"}, ""},
		{"disable: another back end only", func(sc scene) { sc.volumeService("cmp-01@nvme") }, disable, []GuardID{"exists"}, ""},
		{"disable: of another node", func(sc scene) { sc.volumeService("cmp-02@lvm") }, Intent{Kind: IntentDisableVolume, Node: "cmp-01", Object: lvmOf("cmp-02"), Reason: "x"}, []GuardID{"exists"}, ""},
		{"disable: no Cinder", func(sc scene) { sc.source(SourceVolumeServices, SourceAbsent) }, disable, []GuardID{"fresh", "exists"}, ""},
		{"enable", func(sc scene) { sc.volumeService("cmp-01@lvm").outOf("a dead disk") }, enable, nil, "openstack volume service set --enable cmp-01@lvm cinder-volume"},
		{"enable: enabled", func(sc scene) { sc.volumeService("cmp-01@lvm") }, enable, []GuardID{"disabled"}, ""},
		{"enable: the controller's, left over", func(sc scene) { sc.volumeService("cmp-01@lvm").outOf(DisabledReasonMaintenance) }, enable, nil,
			"openstack volume service set --enable cmp-01@lvm cinder-volume"},
		{"enable: the controller's, in maintenance", func(sc scene) {
			sc.volumeService("cmp-01@lvm").outOf(DisabledReasonMaintenance)
			sc.maintained("cmp-01", "")
		}, enable, []GuardID{"not-owned"}, ""},
		{"enable: another's, in maintenance", func(sc scene) { sc.volumeService("cmp-01@lvm").outOf("mine"); sc.maintained("cmp-01", "") }, enable, nil,
			"openstack volume service set --enable cmp-01@lvm cinder-volume"},
		{"enable: to be removed", func(sc scene) { sc.volumeService("cmp-01@lvm").outOf("mine"); sc.removes("cmp-01") }, enable, []GuardID{"stays-up"}, ""},
		{"enable: the controller said that it cannot, and is asked anew", func(sc scene) {
			cannotEnable(sc)
			sc.NodeRequest("cmp-01").Deleting = time.Time{}
			sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockActive
		}, enable, []GuardID{"not-owned"}, ""},
		{"enable: the controller says that it cannot", cannotEnable, enable, nil, "openstack volume service set --enable cmp-01@lvm cinder-volume"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := healthy()
			tt.given(sc)
			st := Plan(sc.Snapshot, tt.intent)
			if got := failing(st); !slices.Equal(got, tt.fails) {
				t.Errorf("guards that do not hold: %q, want %q (%s)", got, tt.fails, st.Blocker())
			}
			if st.Doable() != (len(tt.fails) == 0) {
				t.Errorf("doable %v", st.Doable())
			}
			if tt.want != "" && (len(st.Commands) != 1 || st.Commands[0] != tt.want) {
				t.Errorf("the commands are %q, want %q", st.Commands, tt.want)
			}
		})
	}
}

// Text R is answered with what Cinder shows, how to look, and the operator's own way.
func TestTextROffersTheService(t *testing.T) {
	const (
		cannotDisable = "Can not disable block-storage service on a host to be deleted"
		cannotEnable  = "Can not enable block-storage service on the host cmp-01."
	)
	for _, tt := range []struct {
		name, text string
		given      func(sc scene)
		sees       string
		want       []string // the steps on the service, as the outline has them
	}{
		{"cannot disable", cannotDisable, func(sc scene) { sc.volumeService("cmp-01@lvm") }, "Cinder answers Lockstep: cinder-volume lvm is enabled",
			[]string{"ready: disable cinder-volume lvm of cmp-01 | it is enabled, up"}},
		{"cannot disable, and it is disabled by now", cannotDisable, func(sc scene) { sc.volumeService("cmp-01@lvm").outOf(DisabledReasonMaintenance) },
			"Cinder answers Lockstep: cinder-volume lvm is disabled: OSDPL: Node is under maintenance", nil},
		{"cannot enable", cannotEnable, func(sc scene) {
			sc.volumeService("cmp-01@lvm").outOf(DisabledReasonMaintenance)
			sc.volumeService("cmp-01@old").outOf("a dead disk")
			sc.NodeRequest("cmp-01").Deleting = noon
			sc.NodeLock("cmp-01", ControllerOpenStack).RawState = LockInactive
		}, "cinder-volume lvm is disabled: OSDPL: Node is under maintenance", []string{"ready: enable cinder-volume lvm of cmp-01 | it is disabled: OSDPL: Node is under maintenance, up"}},
		{"Cinder answers nobody", cannotDisable, func(sc scene) { sc.source(SourceVolumeServices, SourceFailed) }, "neither does Cinder answer Lockstep: volume services: failed since 1 h", nil},
		{"Cinder refuses Lockstep", cannotDisable, func(sc scene) { sc.source(SourceVolumeServices, SourceForbidden) }, "cinder-volume is not known: forbidden", nil},
		{"Cinder is none", cannotDisable, func(sc scene) { sc.source(SourceVolumeServices, SourceAbsent) }, "the cloud's catalog has no Cinder", nil},
		{"it has none", cannotDisable, func(scene) {}, "knows no cinder-volume on the node", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sc := healthy()
			l := sc.maintained("cmp-01", tt.text)
			tt.given(sc)
			if got := sc.Seen(l, ReadLockMessage(l.Message)); !strings.Contains(got, tt.sees) {
				t.Errorf("seen is %q, want %q", got, tt.sees)
			}
			p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
			var got []string
			looks := false
			for i, line := range outline(p) {
				if strings.Contains(line, " cinder-volume ") {
					got = append(got, line)
				}
				looks = looks || slices.Contains(p.Steps[i].Commands, "openstack volume service list --service cinder-volume --host cmp-01 --long")
			}
			if !slices.Equal(got, tt.want) || !looks {
				t.Errorf("got  %q\nwant %q, and how to look: %v", got, tt.want, looks)
			}
		})
	}
}

// A node that is to be removed lists the volumes on its disks by itself, with what takes each of them away, and never a change
// that would.
func TestARemovedNodeListsItsVolumes(t *testing.T) {
	sc := healthy()
	sc.Deletions["cmp-01"] = &NodeNotice{Meta: Meta{Created: ago(30 * time.Minute)}, Kind: KindNodeDeletionRequest, Node: "cmp-01"}
	sc.NodeLock("cmp-01", ControllerOpenStack).Message = "2026-03-14 11:59:00.0 Some volumes ['v1', 'v2'] are still present on host cmp-01. Blocking node removal unless they removed or migrated."
	sc.volumeService("cmp-01@lvm").outOf(DisabledReasonMaintenance)
	sc.volumeService("cmp-02@lvm").Up = false
	sc.volumeService("cmp-03@lvm")
	sc.Instances[web1].Host = "cmp-02"
	sc.ByHost["cmp-01"] = nil
	volumes := func(sc scene, list ...Volume) { sc.Volumes["cmp-01"] = &HostVolumes{Host: "cmp-01", Volumes: list} }
	steps := func(sc scene) (out []Step) {
		p, _ := sc.again().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
		for _, st := range p.Steps {
			if strings.HasPrefix(st.ID, "volume") {
				out = append(out, st)
			}
		}
		return out
	}
	if got := steps(sc); len(got) != 1 || got[0].State != StepWaiting || got[0].Status != "not known: they are being listed" {
		t.Errorf("before they are listed: %+v", got)
	}
	if got := HostsWithVolumesToWatch(sc.Snapshot); !slices.Equal(got, []string{"cmp-01", "cmp-02", "cmp-03"}) {
		t.Errorf("watched are the volumes of %q", got)
	}
	volumes(sc, Volume{ID: "v2", Host: "cmp-01@lvm#lvm", SizeGiB: 20, Status: "available"},
		Volume{ID: "v1", Name: "db-data", Host: "cmp-01@lvm#lvm", SizeGiB: 100, Status: "in-use", ProjectID: "p1", Instances: []string{web1}})
	got := steps(sc)
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct{ title, status, command string }{
		{"move volume v2 off cmp-01", "20 GiB, available, v2", "openstack volume migrate --host cmp-03@lvm#lvm v2"},
		{"move volume db-data off cmp-01", "100 GiB, in-use by web-1 (ACTIVE), v1", "openstack volume migrate --host cmp-03@lvm#lvm v1"},
		{"or let the node go with what is left on its disks", "2 volumes, 120 GiB", "kubectl -n osh-system edit configmap rockoon-config  # extra_conf.ini: [maintenance] ndr_skip_volume_check = True"},
	} {
		st := got[i]
		if st.Title != want.title || st.Status != want.status || strings.ReplaceAll(st.Commands[0], "'", "") != want.command {
			t.Errorf("%q, %q, %q", st.Title, st.Status, st.Commands)
		}
		if st.Change != nil || st.Doable() {
			t.Errorf("%s would change something", st.Title)
		}
	}
	if !strings.Contains(got[1].Why, "openstack volume delete v1") || !strings.Contains(got[1].Why, "project shop") || !strings.Contains(got[1].Why, "snapshots") {
		t.Errorf("its why is %q", got[1].Why)
	}
	reason := func(sc scene) string {
		for _, a := range sc.again().Attention() {
			if strings.HasPrefix(a.ID, "node-removal/") {
				return a.Reason
			}
		}
		return ""
	}
	if r := reason(sc); !strings.HasSuffix(r, "volumes are left on it: v2, db-data") {
		t.Errorf("what needs a person is %q", r)
	}

	sc.VolumeServices["cmp-03"][0].outOf("mine")
	if got := steps(sc)[0].Commands; got[0] != "openstack volume backend pool list" || !strings.Contains(got[1], "HOST@BACKEND#POOL") {
		t.Errorf("without a target: %q", got)
	}
	volumes(sc)
	if got := steps(sc); len(got) != 1 || got[0].State != StepDone || reason(sc) != "" {
		t.Errorf("without volumes: %+v, %q", got, reason(sc))
	}
	sc.source(SourceVolumes, SourceForbidden)
	if got := steps(sc); len(got) != 1 || got[0].Status != "not known: forbidden" || reason(sc) == "" {
		t.Errorf("when they cannot be seen: %+v, %q", got, reason(sc))
	}
	sc.source(SourceVolumeServices, SourceAbsent)
	clear(sc.VolumeServices)
	if got := steps(sc); len(got) != 0 {
		t.Errorf("without Cinder: %+v", got)
	}
}

// Of a host with two back ends the OpenStack controller brings the first back only: what it leaves is told, once the maintenance
// is over, and offered back.
func TestAVolumeServiceThatWasLeftOut(t *testing.T) {
	left := func(sc scene) string {
		for _, a := range sc.again().Attention() {
			if strings.HasPrefix(a.ID, "volumes-left/") {
				return a.Reason
			}
		}
		return ""
	}
	sc := healthy()
	sc.volumeService("cmp-01@lvm")
	v := sc.volumeService("cmp-01@nvme").outOf(DisabledReasonMaintenance)
	if got := left(sc); !strings.Contains(got, "cinder-volume nvme was left disabled") {
		t.Errorf("%q", got)
	}
	p, _ := sc.Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
	if !slices.ContainsFunc(p.Steps, func(st Step) bool {
		return st.Intent.Kind == IntentEnableVolume && st.Intent.Object.Name == v.Host && st.Doable()
	}) {
		t.Errorf("it is not offered back: %q", outline(p))
	}
	sc.Deletions["cmp-01"] = &NodeNotice{Kind: KindNodeDeletionRequest, Node: "cmp-01"}
	if got := left(sc); got != "" {
		t.Errorf("of a node that is to be removed: %q", got)
	}
	delete(sc.Deletions, "cmp-01")
	sc.maintained("cmp-01", "")
	if got := left(sc); got != "" {
		t.Errorf("in maintenance: %q", got)
	}
	sc = healthy()
	sc.volumeService("cmp-01@lvm").outOf("a dead disk")
	if got := left(sc); got != "" {
		t.Errorf("of somebody's own: %q", got)
	}
	sc = healthy()
	sc.volumeService("cmp-01@lvm").outOf(DisabledReasonMaintenance)
	sc.source(SourceNodeRequests, SourceForbidden)
	if got := left(sc); got != "" {
		t.Errorf("and nobody knows of a maintenance: %q", got)
	}
}

// A cloud without Cinder, and a login that may not ask it, hold up nothing where the OpenStack controller runs itself.
func TestWithoutCinderNothingNeedsAPerson(t *testing.T) {
	for _, state := range []SourceState{SourceAbsent, SourceForbidden} {
		sc := inMaintenance()
		sc.source(SourceVolumeServices, state)
		sc.source(SourceVolumes, state)
		for _, a := range sc.Attention() {
			if a.Subject.Kind == KindSource && (state == SourceAbsent || a.Severity != SeverityNotice) {
				t.Errorf("%s: %s (%s)", state, a.Reason, a.Severity)
			}
		}
		with, without := sc.Attention(), inMaintenance().Attention()
		if state == SourceAbsent && len(with) != len(without) {
			t.Errorf("%d entries instead of %d", len(with), len(without))
		}
	}
}
