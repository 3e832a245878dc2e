package scene

import (
	"time"

	"lockstep/core"
)

// Moment is a step, with a scene in which the step can be done.
type Moment struct {
	Name   string // its name in the document
	Kind   core.IntentKind
	Node   string
	Scene  func() Scene
	Object func(Scene) core.Ref
	Writes core.Change // what the step changes: only the fields that are set are compared
	Plans  string      // the function that plans it
}

// Intent is the moment's intent in the scene.
func (m Moment) Intent(sc Scene) core.Intent {
	i := core.Intent{Kind: m.Kind, Controller: core.ControllerOpenStack, Node: m.Node}
	if m.Object != nil {
		i.Object = m.Object(sc)
	}
	return i
}

// The flows of the OpenStack controller follow: each is a list of its conditions in the controller's order, with Lockstep's guards
// beside them. docs/flows.md is generated from them.

// FlowScene is a cluster in an update to 21.0.0+25.2, with OpenStack there and at rest except for what a flow adds. Lockstep plays
// the OpenStack controller, which is scaled to 0.
func FlowScene() Scene {
	sc := Quorate("ctl-01", "ctl-02", "ctl-03")
	sc.Stateful(core.NamespaceOpenStack, "openstack-prometheus-server", "ctl-01", "ctl-02")
	sc.Snapshot.DaemonRevisions = map[string][]*core.DaemonRevision{}
	clear(sc.NodeRequests)
	for _, node := range []string{"cmp-01", "cmp-02", "cmp-03"} {
		for _, in := range sc.ByHost[node] {
			sc.Instances.Remove(in.ID)
		}
		delete(sc.ByHost, node)
	}
	sc.Snapshot.Settings.MaxParallelNodes[core.RoleCompute] = 30
	sc.Snapshot.Controller.Image = "registry.local/openstack/rockoon:1.1.5"
	sc.Snapshot.Deployments = []*core.OpenStackDeployment{{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "osh"},
		Network: core.BackendOVN}}
	sc.Snapshot.OpenStack = []*core.OpenStackStatus{{Meta: core.Meta{Namespace: core.NamespaceOpenStack, Name: "osh", UID: "osdplst"},
		State: "APPLIED", Health: "21/21",
		Release: "21.0.0+25.2", ControllerVersion: "1.1.5"}}
	sc.ClusterLock(core.ControllerOpenStack).Release = "21.0.0+25.2"
	return sc
}

// OwnLockOf is the OpenStack controller's lock of the node.
func OwnLockOf(sc Scene, node string) *core.WorkloadLock {
	return sc.NodeLock(node, core.ControllerOpenStack)
}

// LvmOn is the cinder-volume service of cmp-01's own disks.
func LvmOn(sc Scene) *core.VolumeService { return sc.VolumeService("cmp-01@lvm") }

// LvmIn is the first volume service of cmp-01.
func LvmIn(sc Scene) *core.VolumeService { return sc.VolumeServices["cmp-01"][0] }

// DisabledFor takes the node's nova-compute out of scheduling.
func DisabledFor(sc Scene, node, reason string) {
	sc.Services[node].Enabled, sc.Services[node].DisabledReason = false, reason
}

// LockGone removes the node's locks.
func LockGone(node string) func(Scene) {
	return func(sc Scene) { sc.NodeLocks = sc.NodeLocks.Without(node) }
}

// LockReleased makes the OpenStack controller's lock of the node inactive.
func LockReleased(node string) func(Scene) {
	return func(sc Scene) { OwnLockOf(sc, node).RawState = core.LockInactive }
}

// A node's preparation.

func askedScene() Scene {
	sc := FlowScene()
	sc.Request("cmp-01", 20*time.Minute)
	sc.Request("ctl-01", 20*time.Minute)
	return sc
}

// begunScene is a node that is begun, with its nova-compute and cinder-volume out of scheduling.
func begunScene() Scene {
	sc := askedScene()
	OwnLockOf(sc, "cmp-01").InnerState, OwnLockOf(sc, "ctl-01").InnerState = core.InnerActive, core.InnerActive
	DisabledFor(sc, "cmp-01", core.DisabledReasonMaintenance)
	OutOf(LvmOn(sc), core.DisabledReasonMaintenance)
	return sc
}

func gatewayScene() Scene {
	sc := FlowScene()
	sc.Request("gtw-01", 20*time.Minute)
	sc.Mode("gtw-01", core.ModeSkip)
	OwnLockOf(sc, "gtw-01").InnerState = core.InnerActive
	return sc
}

// The moments of a node's preparation, and the objects that they are about.
var (
	// NodeRequestRef and LvmRef are cmp-01's maintenance request and its volume service.
	NodeRequestRef = func(sc Scene) core.Ref { return sc.NodeRequests["cmp-01"][0].Ref() }
	LvmRef         = func(sc Scene) core.Ref { return LvmIn(sc).Ref() }

	// AtHold is when the controller's finalizer goes on the request.
	AtHold = Moment{Name: "hold the request", Plans: "actHold", Kind: core.IntentActHold, Object: NodeRequestRef,
		Writes: core.AddFinalizer{Finalizer: core.UsualFinalizer}, Scene: func() Scene {
			sc := askedScene()
			sc.NodeRequests["cmp-01"][0].Finalizers = nil
			return sc
		}}
	// AtCreate is when the node has a request and no lock.
	AtCreate = Moment{Name: "make the lock", Plans: "actCreate", Kind: core.IntentActCreateLock, Node: "cmp-01",
		Scene: func() Scene { sc := askedScene(); LockGone("cmp-01")(sc); return sc },
		Writes: core.CreateLock{Lock: core.NewLock{Kind: core.KindNodeWorkloadLock, Name: "openstack-cmp-01",
			Controller: core.ControllerOpenStack, Node: "cmp-01", Release: "21.0.0+25.2"}}}
	// AtBegin is when the node has a request and is not begun.
	AtBegin = Moment{Name: "begin", Plans: "actBegin", Kind: core.IntentActBegin, Node: "cmp-01", Scene: askedScene,
		Writes: core.SetInnerState{To: core.InnerActive}}
	// AtBeginControl is AtBegin for a controller node; AtTakeOut is when nova-compute of a begun node is still enabled.
	AtBeginControl = Moment{Name: "begin", Plans: "actBegin", Kind: core.IntentActBegin, Node: "ctl-01", Scene: askedScene}
	AtTakeOut      = Moment{Name: "nova-compute out", Plans: "actOutOfScheduling", Kind: core.IntentActOutOfScheduling, Node: "cmp-01",
		Writes: core.SetComputeService{WasEnabled: true, Reason: core.DisabledReasonMaintenance},
		Scene: func() Scene {
			sc := begunScene()
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
			return sc
		}}
	// AtVolumeOut is when cinder-volume of a begun node is still enabled.
	AtVolumeOut = Moment{Name: "cinder-volume out", Plans: "actVolumeOut", Kind: core.IntentActVolumeOut, Node: "cmp-01", Object: LvmRef,
		Writes: core.SetVolumeService{WasEnabled: true, Reason: core.DisabledReasonMaintenance},
		Scene:  func() Scene { sc := begunScene(); LvmIn(sc).Enabled, LvmIn(sc).DisabledReason = true, ""; return sc }}
	// AtSay is when an instance that its owner decides on holds the lock.
	AtSay = Moment{Name: "say it on the lock", Plans: "actSay", Kind: core.IntentActSay, Node: "cmp-01",
		Scene: func() Scene { sc := begunScene(); sc.Instance("cmp-01", "web", "notify"); return sc },
		Writes: core.SetLock{To: core.LockStatus{State: core.LockActive,
			Message: "Some servers are still present on the host. Notify owners of the following server: ['00000001-0000-4000-8000-000000000001']"}}}
	// AtRelease is when nothing holds the lock of a begun compute.
	AtRelease = Moment{Name: "release the lock", Plans: "actRelease", Kind: core.IntentActRelease, Node: "cmp-01", Scene: begunScene,
		Writes: core.SetLock{To: core.LockStatus{State: core.LockInactive, Release: "21.0.0+25.2"}}}
	// AtReleaseDrain is AtRelease for a request with scope drain.
	AtReleaseDrain = Moment{Name: "release the lock", Plans: "actRelease", Kind: core.IntentActRelease, Node: "cmp-01",
		Scene: func() Scene { sc := begunScene(); scopeDrain(sc); return sc }}
	// AtReleaseControl is AtRelease for a controller node.
	AtReleaseControl = Moment{Name: "release the lock", Plans: "actRelease", Kind: core.IntentActRelease, Node: "ctl-01", Scene: begunScene}
	// AtReleaseGateway is AtRelease for a gateway in mode skip.
	AtReleaseGateway = Moment{Name: "release the lock", Plans: "actRelease", Kind: core.IntentActRelease, Node: "gtw-01", Scene: gatewayScene}
)

func scopeDrain(sc Scene) { sc.NodeRequests["cmp-01"][0].Scope = core.ScopeDrain }

// A node's return.

// ReturnedScene is a node whose request is being removed and that is back with everything on it.
func ReturnedScene() Scene {
	sc := begunScene()
	sc.NodeRequests["cmp-01"][0].Deleting = Ago(time.Minute)
	LockReleased("cmp-01")(sc)
	sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
	LvmIn(sc).Enabled, LvmIn(sc).DisabledReason = true, ""
	sc.PodsOn("cmp-01")
	sc.Agents["cmp-01"] = []*core.NetworkAgent{{ID: "ovn", Host: "cmp-01", Binary: "ovn-controller", Type: "OVN Controller agent", Alive: true,
		AdminUp: true}}
	return sc
}
