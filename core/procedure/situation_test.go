package procedure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
	"lockstep/scene"
)

// whatResolves is a step that a person or a named party can take or wait for: its title, and what it says or shows.
type whatResolves struct {
	title string
	state core.StepState
	says  string // in Why, Status or the commands
}

// Each text that the OpenStack controller can write (docs/mosk.md#texts, A to U) is a situation with a name, a plain explanation,
// and what resolves it: steps, or, where waiting is all that helps, what Lockstep sees of it and how to look.
func TestEverySituationHasWhatResolvesIt(t *testing.T) {
	node, cluster := core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"}, core.ProcedureKey{Kind: core.ProcedureCluster}
	const lock = "the OpenStack controller releases its lock"
	const begins = "the OpenStack controller begins"
	const clusterLock = "the cluster lock of openstack is released"
	const back = "the node returns to service"
	leaving := func(message string) scene.Scene { sc := scene.Healthy(); sc.Maintained("cmp-01", message); return sc }
	queued := func(message string) scene.Scene {
		sc := leaving(message)
		sc.NodeLock("cmp-01", core.ControllerOpenStack).InnerState = core.InnerInactive
		return sc
	}
	waits := func(message string) scene.Scene {
		sc := scene.Healthy()
		sc.Update(2 * time.Hour)
		sc.ClusterLocks[0].Message = "2026-10-14 11:59:00.000000 " + message
		sc.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Name: "osh-dev"}, State: "APPLYING", ControllerVersion: "1.2.3",
			LCMProgress: "12/18", Health: "20/21",
			Services: []core.OpenStackService{{Name: "compute", State: "APPLYING"}}, Unhealthy: []string{"nova/api"}}}
		sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}, Replicas: 1, Ready: 1}
		return sc
	}
	returning := func(message string) scene.Scene {
		sc := leaving(message)
		sc.NodeRequests["cmp-01"][0].Deleting = scene.Ago(time.Minute)
		sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
		d := sc.DaemonSet("openstack/nova-compute-default", "compute", false, "cmp-01")
		d.Application = "nova"
		sc.DaemonSet(scene.OvsAgents, "neutron-ovs-agent", false, "cmp-01")
		sc.Agents["cmp-01"] = []*core.NetworkAgent{{ID: "a", Host: "cmp-01", Type: "Open vSwitch agent", Binary: "neutron-openvswitch-agent",
			AdminUp: true}}
		sc.Services["cmp-01"].Up = false
		return sc
	}
	removal := func(message string) scene.Scene {
		sc := scene.Healthy()
		sc.Deletions["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Name: "cmp-01", UID: "ndr", Created: scene.Ago(time.Minute)}, Node: "cmp-01"}
		sc.NodeLock("cmp-01", core.ControllerOpenStack).Message = "2026-10-14 11:59:00.000000 " + message
		sc.NodeLock("cmp-01", core.ControllerOpenStack).NodeDeletionRequestSupported = true
		return sc
	}
	situationsOf := map[progress.MessageID]struct {
		scene scene.Scene
		key   core.ProcedureKey
		want  []whatResolves
	}{
		"A": {waits("Current maintenancerequest 21.0.0 release does not match ours 17.4.0. Skipping handling."), cluster, []whatResolves{
			{clusterLock, core.StepWaiting, "rockoon has 1 of 1 replicas ready"}, {clusterLock, core.StepWaiting, "get deployment rockoon"}}},
		"B": {waits("Waitinging for cwl release is 21.0.0+25.2."), cluster,
			[]whatResolves{{clusterLock, core.StepWaiting, "the lock is of release"}}},
		"C": {waits("OpenStackDeploymentStatus controller version is not updated yet."), cluster,
			[]whatResolves{{clusterLock, core.StepWaiting, "taken up by controller 1.2.3"}}},
		"D": {waits("Waiting osdpl status APPLIED, current state is APPLYING"), cluster, []whatResolves{
			{clusterLock, core.StepWaiting, "LCM progress 12/18, not applied: compute (APPLYING)"}, {clusterLock, core.StepWaiting, "helm3"}}},
		"E": {waits("Waiting for all OpenStack services are healthy."), cluster,
			[]whatResolves{{clusterLock, core.StepWaiting, "health 20/21, not ready: nova/api"}}},
		"F": {func() scene.Scene {
			sc := queued("Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-01")
			sc.NodeLock("cmp-02", core.ControllerOpenStack).InnerState = core.InnerActive
			return sc
		}(), node, []whatResolves{{begins, core.StepWaiting, "under way: cmp-02"},
			{"clear the inner_state of the lock of openstack on cmp-02", core.StepReady, "inner_state"}}},
		"G": {func() scene.Scene {
			sc := queued("Some services blocks nmr handling {'compute': False, 'database': False}. Deferring processing for node cmp-01")
			sc.NodeLock("cmp-02", core.ControllerOpenStack).InnerState = core.InnerActive
			sc.Services["cmp-02"].Zone = "az2"
			return sc
		}(), node, []whatResolves{{begins, core.StepWaiting, "in maintenance are cmp-02 (zone az2)"},
			{begins, core.StepWaiting, "respect_nova_az = False"}, {lock, core.StepWaiting, "edit configmap rockoon-config"},
			{lock, core.StepWaiting, "get statefulset mariadb-server"}}},
		"H": {func() scene.Scene {
			sc := leaving("Starting migration for " + scene.Web1)
			sc.Migrates("web-1")
			return sc
		}(), node, []whatResolves{{"the OpenStack controller moves the instances", core.StepWaiting, "live migration was started"},
			{"wait for the migration of web-1", core.StepWaiting, "cmp-02"}}},
		"I": {leaving("Got error while trying to migrate server " + scene.Web1 + ": HttpException: 500"), node, []whatResolves{
			{"live-migrate web-1", core.StepReady, "In the way"}, {"set migration attempts 5 on cmp-01", core.StepReady, ""}}},
		"J": {leaving("Some servers are still present on the host. Servers with unset maintenance action: ['" + scene.Web1 + "']"), node,
			[]whatResolves{{"live-migrate web-1", core.StepReady, ""}}},
		"K": {leaving("Retrying migrate instances from host. Cannot execute openstack commands, error: 503"), node,
			[]whatResolves{{lock, core.StepWaiting, "answers Lockstep now"}, {lock, core.StepWaiting, "openstack token issue"}}},
		"L": {func() scene.Scene {
			sc := leaving("Can not disable compute service on a host to be deleted")
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
			return sc
		}(), node, []whatResolves{{"disable nova-compute of cmp-01", core.StepReady, "no more instances"},
			{lock, core.StepLater, "nova-compute is up, enabled"}}},
		"M": {returning("Timeout waiting for compute services up on the host."), node, []whatResolves{
			{back, core.StepWaiting, "nova-compute is down"}, {"restart nova-compute-default on cmp-01", core.StepReady, "Instances run on"}}},
		"N": {returning("Got error while waiting services to be UP on the host. Cannot execute openstack commands, error: x"), node,
			[]whatResolves{
				{back, core.StepWaiting, "answers Lockstep now"}, {"restart nova-compute-default on cmp-01", core.StepReady, "Nova does not hear"}}},
		"O": {returning("Can not bring node back to scheduling. Cannot execute openstack commands, error: x"), node,
			[]whatResolves{{back, core.StepWaiting, "answers Lockstep now"}}},
		"P": {returning("Timeout waiting for network agents on the host cmp-01."), node, []whatResolves{
			{back, core.StepWaiting, "does not hear from openvswitch-agent"},
			{"restart the network agents of cmp-01", core.StepReady, "neutron-ovs-agent"}}},
		"Q": {returning("Got error while waiting for network agents. Cannot execute openstack commands, error: x."), node,
			[]whatResolves{{"restart the network agents of cmp-01", core.StepReady, ""}}},
		"R": {func() scene.Scene {
			sc := leaving("Can not disable block-storage service on a host to be deleted")
			sc.VolumeService("cmp-01@lvm")
			return sc
		}(), node, []whatResolves{{"disable cinder-volume lvm of cmp-01", core.StepReady, "it is enabled, up"},
			{lock, core.StepLater, "Cinder answers Lockstep"}, {lock, core.StepLater, "openstack volume service list"}}},
		"T": {func() scene.Scene {
			sc := removal("Some volumes ['v1'] are still present on host cmp-01. Blocking node removal unless they removed or migrated.")
			sc.VolumeService("cmp-01@lvm")
			sc.VolumeService("cmp-02@lvm")
			sc.Volumes["cmp-01"] = &core.HostVolumes{Host: "cmp-01",
				Volumes: []core.Volume{{ID: "v1", Name: "db-data", Host: "cmp-01@lvm#lvm", SizeGiB: 100, Status: "available"}}}
			return sc
		}(), node, []whatResolves{{"move volume db-data off cmp-01", core.StepWaiting, "openstack volume migrate"},
			{"the lock of openstack lets the node go", core.StepWaiting, "volumes are left on it"}}},
		"S": {removal("Some servers {'" + scene.Web1 +
			"': 'ACTIVE'} are still present on host cmp-01. Blocking node removal unless they removed or migrated."), node,
			[]whatResolves{{"live-migrate web-1", core.StepReady, "is to be removed"}}},
		"U": {removal("The node cmp-01 is hard locked by mariadb."), node,
			[]whatResolves{{"the lock of openstack lets the node go", core.StepWaiting, "get statefulset mariadb-server"}}},
	}
	for c := 'A'; c <= 'U'; c++ {
		if len(situationsOf[progress.MessageID(c)].want) == 0 {
			t.Errorf("nobody says what resolves text %c", c)
		}
	}
	for id, tt := range situationsOf {
		t.Run(string(id), func(t *testing.T) {
			sc := tt.scene
			sc.Write.Armed = true
			s := sc.Again().Snapshot
			l := s.NodeLock("cmp-01", core.ControllerOpenStack)
			if tt.key == cluster {
				l = s.ClusterLocks[0]
			}
			m := progress.ReadLockMessage(l.Message)
			if m.ID != id || m.Name == "" || m.Meaning == "" || m.Remedy == "" && m.Class != progress.MessageProgress {
				t.Fatalf("%q is read as %q, %q: %q, %q", m.Text, m.ID, m.Name, m.Meaning, m.Remedy)
			}
			p, _ := Of(s, tt.key)
			for _, want := range tt.want {
				i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Title == want.title })
				if i < 0 {
					t.Fatalf("there is no step %q in\n%s", want.title, strings.Join(scene.Outline(p), "\n"))
				}
				st := p.Steps[i]
				if all := wording.Join(st.Why, st.Status) + strings.Join(st.Commands, "\n"); st.State != want.state ||
					!strings.Contains(all, want.says) {
					t.Errorf("%q is %s (%s), want %s; it does not say %q:\n%s", st.Title, st.State, st.Blocker(), want.state, want.says, all)
				}
			}
			seen := map[string]bool{}
			for _, st := range p.Steps {
				if st.ID != "" && seen[st.ID] {
					t.Errorf("%q is there twice", st.Title)
				}
				seen[st.ID] = true
			}
		})
	}
}

// Every letter of the table has its name, and no situation has a letter that is not in the table.
func TestTheTablesOfTextsAndSituationsFit(t *testing.T) {
	letters := map[progress.MessageID]bool{}
	for _, l := range progress.Literals {
		letters[l.ID] = true
		if l.Name == "" || l.Meaning == "" {
			t.Errorf("%s (%s) has the name %q and the meaning %q", l.ID, l.Pattern, l.Name, l.Meaning)
		}
	}
	for c := 'A'; c <= 'U'; c++ {
		if !letters[progress.MessageID(c)] {
			t.Errorf("text %c is not in the table", c)
		}
	}
	for id := range situations {
		if !letters[id] {
			t.Errorf("situation %s has no text", id)
		}
	}
}
