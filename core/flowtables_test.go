package core

import "time"

// The flows of the OpenStack controller, each a list of its conditions in the order in which it comes to them, with Lockstep's guards beside
// them. docs/flows.md is written from it.

// flowScene is a cluster of an update to 21.0.0+25.2 whose OpenStack is there, at rest but for what a flow adds; Lockstep plays the
// OpenStack controller, which is scaled to 0.
func flowScene() scene {
	sc := quorate("ctl-01", "ctl-02", "ctl-03")
	sc.stateful(namespaceOpenStack, "openstack-prometheus-server", "ctl-01", "ctl-02")
	sc.Snapshot.DaemonRevisions = map[string][]*DaemonRevision{}
	clear(sc.NodeRequests)
	for _, node := range []string{"cmp-01", "cmp-02", "cmp-03"} {
		for _, in := range sc.ByHost[node] {
			delete(sc.Instances, in.ID)
		}
		delete(sc.ByHost, node)
	}
	sc.Snapshot.Settings.MaxParallelNodes[RoleCompute] = 30
	sc.Snapshot.Controller.Image = "registry.local/openstack/rockoon:1.1.5"
	sc.Snapshot.Deployments = []*OpenStackDeployment{{Meta: Meta{Namespace: namespaceOpenStack, Name: "osh"}, Network: backendOVN}}
	sc.Snapshot.OpenStack = []*OpenStackStatus{{Meta: Meta{Namespace: namespaceOpenStack, Name: "osh", UID: "osdplst"}, State: "APPLIED", Health: "21/21",
		Release: "21.0.0+25.2", ControllerVersion: "1.1.5"}}
	sc.clusterLock(ControllerOpenStack).Release = "21.0.0+25.2"
	return sc
}

func ownLockOf(sc scene, node string) *WorkloadLock { return sc.NodeLock(node, ControllerOpenStack) }

// lvmOn is the cinder-volume of cmp-01's own disks.
func lvmOn(sc scene) *VolumeService { return sc.volumeService("cmp-01@lvm") }

func lvmIn(sc scene) *VolumeService { return sc.VolumeServices["cmp-01"][0] }

// disabledFor takes the node's nova-compute out of scheduling.
func disabledFor(sc scene, node, reason string) {
	sc.Services[node].Enabled, sc.Services[node].DisabledReason = false, reason
}

// The conditions of many rows.

func nodeGone(node string) func(scene) { return func(sc scene) { delete(sc.Nodes, node) } }
func lockGone(node string) func(scene) { return func(sc scene) { delete(sc.NodeLocks, node) } }
func roleGone(node string) func(scene) {
	return func(sc scene) { sc.Nodes[node].Roles = []Role{RoleStorage} }
}
func lockReleased(node string) func(scene) {
	return func(sc scene) { ownLockOf(sc, node).RawState = LockInactive }
}
func unanswered(id SourceID) func(scene) { return func(sc scene) { sc.source(id, SourceFailed) } }

func memberDown(set string) func(scene) {
	return func(sc scene) { sc.DaemonPods[set][1].Ready = false } // of ctl-02
}

// setsDown are the sets that are asked before a node goes down, each without its member on ctl-02.
var setsDown = breaking(memberDown("openstack/mariadb-server"), memberDown("openstack/etcd-etcd"), memberDown("openstack-redis/rfr-openstack-redis"),
	memberDown("openstack/openstack-prometheus-server"))

func secondZone(node string, state LockState) func(scene) {
	return func(sc scene) {
		if sc.Nodes[node] == nil {
			sc.node(node, RoleCompute)
		}
		sc.Services[node].Zone = "second"
		ownLockOf(sc, node).InnerState, ownLockOf(sc, node).RawState = InnerActive, state
	}
}

// A node's preparation.

func askedScene() scene {
	sc := flowScene()
	sc.request("cmp-01", 20*time.Minute)
	sc.request("ctl-01", 20*time.Minute)
	return sc
}

// begunScene is a node on which the work was begun, and whose nova-compute and cinder-volume are out of scheduling.
func begunScene() scene {
	sc := askedScene()
	ownLockOf(sc, "cmp-01").InnerState, ownLockOf(sc, "ctl-01").InnerState = InnerActive, InnerActive
	disabledFor(sc, "cmp-01", DisabledReasonMaintenance)
	lvmOn(sc).outOf(DisabledReasonMaintenance)
	return sc
}

func gatewayScene() scene {
	sc := flowScene()
	sc.request("gtw-01", 20*time.Minute)
	sc.mode("gtw-01", ModeSkip)
	ownLockOf(sc, "gtw-01").InnerState = InnerActive
	return sc
}

var (
	nodeRequestRef = func(sc scene) Ref { return sc.NodeRequests["cmp-01"][0].Ref() }
	lvmRef         = func(sc scene) Ref { return lvmIn(sc).Ref() }

	atHold = moment{name: "hold the request", plans: "actHold", kind: IntentActHold, object: nodeRequestRef,
		writes: AddFinalizer{Finalizer: usualFinalizer}, scene: func() scene {
			sc := askedScene()
			sc.NodeRequests["cmp-01"][0].Finalizers = nil
			return sc
		}}
	atCreate = moment{name: "make the lock", plans: "actCreate", kind: IntentActCreateLock, node: "cmp-01",
		scene:  func() scene { sc := askedScene(); lockGone("cmp-01")(sc); return sc },
		writes: CreateLock{Lock: NewLock{Kind: KindNodeWorkloadLock, Name: "openstack-cmp-01", Controller: ControllerOpenStack, Node: "cmp-01", Release: "21.0.0+25.2"}}}
	atBegin = moment{name: "begin", plans: "actBegin", kind: IntentActBegin, node: "cmp-01", scene: askedScene,
		writes: SetInnerState{To: InnerActive}}
	atBeginControl = moment{name: "begin", plans: "actBegin", kind: IntentActBegin, node: "ctl-01", scene: askedScene}
	atTakeOut      = moment{name: "nova-compute out", plans: "actOutOfScheduling", kind: IntentActOutOfScheduling, node: "cmp-01",
		writes: SetComputeService{WasEnabled: true, Reason: DisabledReasonMaintenance},
		scene: func() scene {
			sc := begunScene()
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
			return sc
		}}
	atVolumeOut = moment{name: "cinder-volume out", plans: "actVolumeOut", kind: IntentActVolumeOut, node: "cmp-01", object: lvmRef,
		writes: SetVolumeService{WasEnabled: true, Reason: DisabledReasonMaintenance},
		scene:  func() scene { sc := begunScene(); lvmIn(sc).Enabled, lvmIn(sc).DisabledReason = true, ""; return sc }}
	atSay = moment{name: "say it on the lock", plans: "actSay", kind: IntentActSay, node: "cmp-01",
		scene: func() scene { sc := begunScene(); sc.instance("cmp-01", "web", "notify"); return sc },
		writes: SetLock{To: LockStatus{State: LockActive,
			Message: "Some servers are still present on the host. Notify owners of the following server: ['00000001-0000-4000-8000-000000000001']"}}}
	atRelease = moment{name: "release the lock", plans: "actRelease", kind: IntentActRelease, node: "cmp-01", scene: begunScene,
		writes: SetLock{To: LockStatus{State: LockInactive, Release: "21.0.0+25.2"}}}
	atReleaseDrain = moment{name: "release the lock", plans: "actRelease", kind: IntentActRelease, node: "cmp-01",
		scene: func() scene { sc := begunScene(); scopeDrain(sc); return sc }}
	atReleaseControl = moment{name: "release the lock", plans: "actRelease", kind: IntentActRelease, node: "ctl-01", scene: begunScene}
	atReleaseGateway = moment{name: "release the lock", plans: "actRelease", kind: IntentActRelease, node: "gtw-01", scene: gatewayScene}
)

func scopeDrain(sc scene) { sc.NodeRequests["cmp-01"][0].Scope = ScopeDrain }

var flowPreparation = flow{
	title: "A node's preparation", source: "docs/mosk.md#node-request, #services, #migration-loop",
	intro: "A NodeMaintenanceRequest is made, or changed, or the controller starts.",
	rows: []flowRow{
		{asks: "the node exists; else nothing happens", source: "docs/mosk.md#node-request", at: by("holds", atBegin, atTakeOut, atRelease),
			breaks: breaking(nodeGone("cmp-01"))},
		{asks: "it has a role; else nothing happens", source: "docs/mosk.md#node-request", at: by("holds", atCreate),
			breaks: breaking(roleGone("cmp-01")),
			note:   "A node that has lost its role, and has its lock still, is prepared all the same: LCM waits for that lock, and instances run there."},
		{asks: "its lock is there; else it is made, and armed at the controller's release", source: "docs/mosk.md#locks",
			at:     by("exists", atBegin, atTakeOut, atRelease),
			breaks: breaking(lockGone("cmp-01")),
			note: "Lockstep makes it by a step, and writes OpenStack's release with each state. It does not set a node's lock of another release active: " +
				"a lock that is inactive while LCM asks holds nothing any more; before that it is told as left over."},
		{asks: "the request's release is its own, or it names none", text: "A", source: "docs/mosk.md#requests",
			at:     by("applied", atBegin, atRelease),
			breaks: breaking(func(sc scene) { sc.NodeRequests["cmp-01"][0].Release = "21.1.0" }),
			note:   "The release is read off OpenStackDeploymentStatus; what follows the plus may be missing. Without any OpenStackDeployment it is not asked."},
		{asks: "no role of any node under way is full; then inner_state becomes active", text: "F", source: "docs/mosk.md#concurrency",
			at:     by(GuardConcurrency, atBegin),
			breaks: breaking(func(sc scene) { ownLockOf(sc, "gtw-01").InnerState = InnerActive }, lockReleased("gtw-01")),
			note:   "Stricter: a lock that is not active counts as well, whatever its inner_state."},
		{asks: "inner_state becomes active", source: "docs/mosk.md#concurrency", at: by("", atBegin)},
		{asks: "there is an OpenStackDeployment; without one the lock goes at once", source: "docs/mosk.md#node-request",
			at:     by("host-empty", atRelease),
			given:  func(sc scene) { sc.Snapshot.OpenStack, sc.Snapshot.Deployments = nil, nil },
			breaks: breaking(func(sc scene) { sc.instance("cmp-01", "web") }), note: "Stricter: Lockstep asks all the rest without one, too."},
		{asks: "the lock is active; else no preparation, and it stays as it is", source: "docs/mosk.md#left-over-locks",
			at:     by("turn", atBegin, atTakeOut, atVolumeOut, atRelease),
			breaks: breaking(lockReleased("cmp-01")),
			note: "As dangerous here as there: such a lock is told before LCM asks, and taken back by the steps of the return. " +
				"A lock that is `failed` is prepared by Lockstep, and not by the controller."},
		{asks: "Nova has a nova-compute of it; else it fails, for ever", text: "", source: "docs/mosk.md#no-compute-service",
			at:     append(by("exists", atTakeOut), by("host-known", atRelease, atReleaseDrain)...),
			breaks: breaking(func(sc scene) { delete(sc.Services, "cmp-01") }),
			note:   "It can be begun, and counts then, here as there; not beside another compute, for its zone is not known."},
		{asks: "its zone is that of the first compute under way (respect_nova_az)", text: "G", source: "docs/mosk.md#services",
			at:     by(GuardZone, atBegin, atRelease),
			breaks: breaking(secondZone("cmp-00", LockActive), secondZone("cmp-02", LockInactive)),
			note: "Stricter: one of another zone that is released holds the rest, whatever its name; and nothing is begun while any is under way there. " +
				"Among those that are begun the first by name goes first."},
		{asks: "which can be the node itself", source: "docs/mosk.md#services", at: by("", atRelease), stays: true,
			breaks: breaking(secondZone("cmp-02", LockActive)), note: "So that of two zones that are begun one goes on."},
		{asks: "unless respect_nova_az is off", source: "docs/mosk.md#settings", at: by("", atBegin, atRelease), stays: true,
			given:  func(sc scene) { sc.Snapshot.Settings.AcrossZones = true },
			breaks: breaking(secondZone("cmp-00", LockActive), secondZone("cmp-02", LockInactive)), note: "No object says so: it is a setting of Lockstep's as well."},
		{asks: "MariaDB, etcd, Redis and Prometheus can do without it", text: "G", source: "docs/mosk.md#quorum",
			at: by("quorum", atBeginControl, atReleaseControl), breaks: setsDown,
			note: "Stricter where a member elsewhere is not ready: the controller only counts. Not asked of a node that is no controller and has no member of any: " +
				"the controller asks there, too, though nothing is lost with it."},
		{asks: "nova-compute is disabled, if the node is a compute", source: "docs/mosk.md#services", at: by("", atTakeOut)},
		{asks: "it stays disabled until the lock goes", source: "docs/mosk.md#services", at: by("out", atRelease),
			breaks: breaking(func(sc scene) { sc.Services["cmp-01"].Enabled = true })},
		{asks: "Nova answers while it is disabled", text: "L", source: "docs/mosk.md#text-l", at: by(GuardFresh, atTakeOut),
			breaks: breaking(unanswered(SourceComputeServices))},
		{asks: "the request has a scope; else it fails, for ever", source: "docs/mosk.md#requests-without-a-scope",
			at:     by("scope", atBegin, atRelease),
			breaks: breaking(func(sc scene) { sc.NodeRequests["cmp-01"][0].Scope = "" }),
			note:   "Lockstep asks before it begins; the controller after nova-compute is out."},
		{asks: "scope os; with scope drain the instances stay", source: "docs/mosk.md#requests", at: by("", atReleaseDrain), stays: true,
			breaks: breaking(func(sc scene) { sc.instance("cmp-01", "web") }),
			note:   "As the controller does: with scope drain the host does not reboot."},
		{asks: "the node's mode is one that it knows; else it fails, for ever", source: "docs/mosk.md#migration-mode",
			at:     by("host-empty", atRelease),
			given:  func(sc scene) { sc.mode("cmp-01", ModeSkip); sc.instance("cmp-01", "web") },
			breaks: breaking(func(sc scene) { sc.mode("cmp-01", "cold") })},
		{asks: "its number of tries is one; else it fails, for ever", source: "docs/mosk.md#migration-mode", at: by("", atRelease), stays: true,
			breaks: breaking(func(sc scene) { sc.Nodes["cmp-01"].Annotations[AnnotationMigrationAttempts] = "many" }),
			note:   "Lockstep moves by confirmed steps, and counts no tries."},
		{asks: "what can be live-migrated is, and no migration runs", text: "H, I", source: "docs/mosk.md#migration-loop",
			at:     by("no-migration", atRelease),
			breaks: breaking(func(sc scene) { sc.migration(sc.instance("cmp-02", "web"), "running", "cmp-01", time.Minute) }),
			note:   "Lockstep moves each by a step of its own. Stricter: a migration to the host counts as well."},
		{asks: "nothing is left that its reboot would hurt", text: "J", source: "docs/mosk.md#tags", at: by("host-empty", atRelease),
			breaks: breaking(func(sc scene) { sc.instance("cmp-01", "web") }, func(sc scene) { sc.instance("cmp-01", "web", "notify") },
				func(sc scene) { sc.instance("cmp-01", "web"); sc.status("web", "ERROR", "error") },
				func(sc scene) { sc.builds("cmp-01", "new", "spawning") }),
			note: "Stricter: what Nova is just bringing up counts, too."},
		{asks: "the lock says what is left", text: "J", source: "docs/mosk.md#texts", at: by("", atSay)},
		{asks: "Nova answers meanwhile", text: "K", source: "docs/mosk.md#migration-loop", at: by(GuardFresh, atRelease),
			breaks: breaking(unanswered(SourceInstances), unanswered(SourceMigrations), unanswered(SourceComputeServices))},
		{asks: "networking: nothing", source: "docs/mosk.md#services",
			note: "Where the operator has set a mode, Lockstep lists what L3 and DHCP agents on a gateway serve."},
		{asks: "cinder-volume of its own disks is disabled", source: "docs/mosk.md#services", at: by("", atVolumeOut)},
		{asks: "it stays disabled until the lock goes", source: "docs/mosk.md#services", at: by("volumes", atRelease),
			breaks: breaking(func(sc scene) { lvmIn(sc).Enabled = true }, func(sc scene) { sc.volumeService("cmp-01@nvme") }),
			note:   "Lockstep does it before the instances move, the controller after. Stricter: every back end that can be disabled counts, not only the first."},
		{asks: "Cinder answers meanwhile", text: "R", source: "docs/mosk.md#text-l", at: by(GuardFresh, atVolumeOut, atRelease),
			breaks: breaking(unanswered(SourceVolumeServices))},
		{asks: "the lock becomes inactive, the text goes", source: "docs/mosk.md#node-request", at: by("", atRelease)},
	},
	own: []flowRow{
		{asks: "the request is held", note: "kopf puts the finalizer on by itself. Without it nobody takes the node back.",
			source: "docs/mosk.md#finalizers", at: by("held-request", atBegin),
			breaks: breaking(func(sc scene) { sc.NodeRequests["cmp-01"][0].Finalizers = nil })},
		{asks: "OpenStack's status is seen, if the request names a release",
			note: "The controller knows its own release; Lockstep reads it there.",
			at:   with(by("applied", atBegin, atRelease), GuardFresh), breaks: breaking(func(sc scene) {
				sc.Snapshot.OpenStack = nil
				sc.source(SourceOpenStackStatus, SourceForbidden)
			})},
		{asks: "the request stands", note: "What is being removed takes no new finalizer.", at: by("stands", atHold),
			breaks: breaking(func(sc scene) { sc.NodeRequests["cmp-01"][0].Deleting = noon })},
		{asks: "nothing is begun elsewhere", note: "Two that count at the same moment count neither; the controller has a mutex.",
			at: by("one-begins", atBegin),
			breaks: breaking(func(sc scene) {
				sc.doing(Operation{Title: "begin", Step: "act-begin/x", Intent: Intent{Kind: IntentActBegin}, Node: "cmp-03"})
			})},
		{asks: "LCM asks for it", note: "The controller runs only when it does.",
			at: by("turn", atBegin, atTakeOut, atVolumeOut, atSay, atRelease, atCreate), breaks: breaking(func(sc scene) {
				if ownLockOf(sc, "cmp-01") == nil { // a lock that is there is not made
					sc.lock("cmp-01", ControllerOpenStack, LockActive)
				}
				clear(sc.NodeRequests)
			})},
		{asks: "the work was begun", note: "Each step is confirmed by itself, so each looks whether its turn has come.",
			at:     by("begun", atTakeOut, atVolumeOut, atSay, atRelease),
			breaks: breaking(func(sc scene) { ownLockOf(sc, "cmp-01").InnerState = InnerInactive })},
		{asks: "nova-compute goes first", note: "The controller's order.", at: by("compute-out", atVolumeOut),
			breaks: breaking(func(sc scene) { sc.Services["cmp-01"].Enabled = true })},
		{asks: "it is the back end that the controller reaches", note: "It would not enable another again.", at: by("first", atVolumeOut),
			breaks: breaking(func(sc scene) { lvmIn(sc).Behind = true })},
		{asks: "instances hold the node", note: "Else there is nothing to say.", at: by("left", atSay),
			breaks: breaking(func(sc scene) { clear(sc.ByHost); clear(sc.Instances) })},
		{asks: "the operator's word, where the node is no compute and has a mode",
			note: "The documents' promise; today's controller ignores the mode there.", source: "docs/mosk.md#modes-elsewhere",
			at: by("word", atReleaseGateway), breaks: breaking(func(sc scene) { sc.mode("gtw-01", ModeManual) },
				func(sc scene) { sc.mode("gtw-01", "cold") })},
	},
}

// A node's return.

// returnedScene is a node whose request is being removed, and that is back with all that is on it.
func returnedScene() scene {
	sc := begunScene()
	sc.NodeRequests["cmp-01"][0].Deleting = ago(time.Minute)
	lockReleased("cmp-01")(sc)
	sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
	lvmIn(sc).Enabled, lvmIn(sc).DisabledReason = true, ""
	sc.Pods["cmp-01"] = &NodePods{Node: "cmp-01"}
	sc.Agents["cmp-01"] = []*NetworkAgent{{ID: "ovn", Host: "cmp-01", Binary: "ovn-controller", Type: "OVN Controller agent", Alive: true, AdminUp: true}}
	return sc
}

func heldScene() scene {
	sc := returnedScene()
	ownLockOf(sc, "cmp-01").RawState = LockActive
	return sc
}

var (
	atVolumeIn = moment{name: "cinder-volume in", plans: "actVolumeIn", kind: IntentActVolumeIn, node: "cmp-01", object: lvmRef,
		writes: SetVolumeService{Enabled: true},
		scene: func() scene {
			sc := returnedScene()
			lvmIn(sc).outOf(DisabledReasonMaintenance)
			disabledFor(sc, "cmp-01", DisabledReasonMaintenance)
			return sc
		}}
	atTakeIn = moment{name: "nova-compute in", plans: "actIntoScheduling", kind: IntentActIntoScheduling, node: "cmp-01",
		writes: SetComputeService{Enabled: true},
		scene:  func() scene { sc := returnedScene(); disabledFor(sc, "cmp-01", DisabledReasonMaintenance); return sc }}
	atRearm = moment{name: "take the lock back", plans: "actRearm", kind: IntentActRearm, node: "cmp-01", scene: returnedScene,
		writes: SetLock{To: LockStatus{State: LockActive, Release: "21.0.0+25.2"}}}
	atFinish = moment{name: "end the work", plans: "actFinish", kind: IntentActFinish, node: "cmp-01", scene: heldScene,
		writes: SetInnerState{To: InnerInactive}}
	atLetGo = moment{name: "let the request go", plans: "actLetGo", kind: IntentActLetGo, object: nodeRequestRef,
		writes: RemoveFinalizer{Finalizer: usualFinalizer},
		scene:  func() scene { sc := heldScene(); ownLockOf(sc, "cmp-01").InnerState = InnerInactive; return sc }}
)

func nodeNotReady(sc scene) { sc.Nodes["cmp-01"].Ready = "False" }

var flowReturn = flow{
	title: "A node's return", source: "docs/mosk.md#return-of-a-node, #services",
	intro: "A NodeMaintenanceRequest is deleted.",
	rows: []flowRow{
		{asks: "the request bears its finalizer; else nothing happens, ever", source: "docs/mosk.md#finalizers", at: by("", atRearm), stays: true,
			breaks: breaking(func(sc scene) { sc.NodeRequests["cmp-01"][0].Finalizers = nil }, func(sc scene) { clear(sc.NodeRequests) }),
			note:   "Lockstep takes a node back also from a request without one, and when the request is gone."},
		{asks: "the node exists; else only the lock, inner_state and finalizer are seen to", source: "docs/mosk.md#return-of-a-node",
			at: by("", atLetGo), stays: true,
			breaks: breaking(nodeGone("cmp-01")), note: "The request goes; the lock of a node that is gone is cleaned up behind, see below."},
		{asks: "it has a role; else its lock is deleted, and that is all", source: "docs/mosk.md#role-taken-off", at: by("", atRearm),
			stays: true, breaks: breaking(roleGone("cmp-01")),
			note: "Lockstep takes such a node back as any other: the lock would be in deletion for ever, and LCM waits for it."},
		{asks: "inner_state is active; else nothing is waited for", source: "docs/mosk.md#return-of-a-node", at: by("back", atRearm),
			given: func(sc scene) { ownLockOf(sc, "cmp-01").InnerState = InnerInactive }, breaks: breaking(nodeNotReady),
			note: "Stricter: Lockstep always looks."},
		{asks: "the node is Ready", source: "docs/mosk.md#return-of-a-node", at: by("back", atVolumeIn, atTakeIn, atRearm),
			breaks: breaking(nodeNotReady, func(sc scene) { sc.Nodes["cmp-01"].Cordoned = true }), note: "Stricter: LCM has to have uncordoned it."},
		{asks: "OpenStack's pods on it are Ready, but those of Jobs", source: "docs/mosk.md#pods-on-return",
			at: by("pods", atVolumeIn, atTakeIn, atRearm),
			breaks: breaking(func(sc scene) { sc.Pods["cmp-01"].NotReady = []PodName{{"openstack", "neutron-x"}} },
				func(sc scene) { endedOn(sc, "cmp-01", "octavia-1") },
				func(sc scene) { delete(sc.Pods, "cmp-01") }),
			note: "Pods that have ended hold it for ever, here as there: Lockstep names them, and offers to delete them."},
		{asks: "cinder-volume is enabled, if its reason is the maintenance", text: "R", source: "docs/mosk.md#services", at: by("", atVolumeIn)},
		{asks: "that comes before nova-compute", source: "docs/mosk.md#services",
			at:     append(by("volumes-back", atTakeIn, atFinish), by("volumes", atRearm)...),
			breaks: breaking(func(sc scene) { lvmIn(sc).outOf(DisabledReasonMaintenance) })},
		{asks: "old pods of OnDelete DaemonSets are deleted, new ones awaited", source: "docs/mosk.md#restarts", at: by("", atTakeIn, atRearm),
			stays: true,
			breaks: breaking(func(sc scene) {
				sc.daemonSet("openstack/neutron-l3-agent-default", "l3-agent", true, "cmp-01", "cmp-02")
				sc.old("openstack/neutron-l3-agent-default", "cmp-01")
			}),
			note: "Each is a step that comes before, and that may be left out: whether the controller's settings want Open vSwitch restarted no object says."},
		{asks: "the network agents of a compute or gateway are alive", text: "P", source: "docs/mosk.md#agents",
			at: by("agents", atVolumeIn, atTakeIn, atRearm),
			breaks: breaking(func(sc scene) { sc.Agents["cmp-01"][0].Alive = false },
				func(sc scene) { sc.Agents["cmp-01"][0].Alive, sc.Agents["cmp-01"][0].AdminUp = false, false }),
			note: "Stricter: on every node; and code since October 2025 does not use what it finds."},
		{asks: "Neutron answers", text: "Q", source: "docs/mosk.md#texts", at: by(GuardFresh, atVolumeIn, atTakeIn, atRearm),
			breaks: breaking(unanswered(SourceNetworkAgents))},
		{asks: "nova-compute is up", text: "M", source: "docs/mosk.md#agents", at: append(by("up", atTakeIn), by("in", atRearm)...),
			breaks: breaking(func(sc scene) { sc.Services["cmp-01"].Up = false })},
		{asks: "Nova has one; else it fails, for ever", source: "docs/mosk.md#no-compute-service",
			at:     append(by("exists", atTakeIn), by("in", atRearm)...),
			breaks: breaking(func(sc scene) { delete(sc.Services, "cmp-01") })},
		{asks: "it is enabled, if its reason is the maintenance", source: "docs/mosk.md#services", at: by("", atTakeIn)},
		{asks: "another's reason is left alone", source: "docs/mosk.md#rockoon", at: by("", atRearm), stays: true,
			breaks: breaking(func(sc scene) { disabledFor(sc, "cmp-01", "broken fan") },
				func(sc scene) { lvmIn(sc).outOf("a dead disk") }), note: "As the controller does."},
		{asks: "Nova answers", text: "N, O", source: "docs/mosk.md#texts", at: by(GuardFresh, atTakeIn, atRearm),
			breaks: breaking(unanswered(SourceComputeServices))},
		{asks: "inner_state becomes inactive", source: "docs/mosk.md#return-of-a-node", at: by("", atFinish),
			note: "Lockstep does it after the lock: until then the node counts."},
		{asks: "the lock becomes active, the text goes", source: "docs/mosk.md#return-of-a-node", at: by("", atRearm)},
		{asks: "kopf takes the finalizer off", source: "docs/mosk.md#finalizers", at: by("", atLetGo)},
	},
	own: []flowRow{
		{asks: "nobody asks for it any more", note: "The controller runs only then.", at: by("turn", atVolumeIn, atTakeIn, atRearm, atFinish),
			breaks: breaking(func(sc scene) { sc.NodeRequests["cmp-01"][0].Deleting = time.Time{} })},
		{asks: "cinder-volume is up before volumes come to it", note: "The controller does not look.", at: by("up", atVolumeIn),
			breaks: breaking(func(sc scene) { lvmIn(sc).Up = false })},
		{asks: "and is so when the lock is taken back", note: "The controller does not look.", at: by("volumes", atRearm),
			breaks: breaking(func(sc scene) { lvmIn(sc).Up = false })},
		{asks: "nova-compute is in before the lock holds", note: "The controller's order.", at: by("in", atRearm, atFinish),
			breaks: breaking(func(sc scene) { disabledFor(sc, "cmp-01", DisabledReasonMaintenance) })},
		{asks: "the lock holds before the node counts no more", note: "So that no other is begun meanwhile.", at: by("held", atFinish),
			breaks: breaking(lockReleased("cmp-01"))},
		{asks: "all is taken back before the request goes", note: "What the finalizer is for.", at: by("taken-back", atLetGo),
			breaks: breaking(lockReleased("cmp-01"), func(sc scene) { ownLockOf(sc, "cmp-01").InnerState = InnerActive })},
		{asks: "the finalizer is the controller's, on a request that goes", note: "No other is touched.", at: by("held-by", atLetGo),
			breaks: breaking(func(sc scene) { sc.NodeRequests["cmp-01"][0].Finalizers = []string{"example.org/another"} })},
	},
}

// The cluster.

func clusterRequestRef(sc scene) Ref { return sc.ClusterRequest().Ref() }

func clusterReleasedScene() scene {
	sc := flowScene()
	sc.clusterLock(ControllerOpenStack).RawState = LockInactive
	sc.ClusterRequest().Deleting = ago(time.Minute)
	return sc
}

func lockIsBehind(sc scene) { sc.clusterLock(ControllerOpenStack).Release = "17.4.0+25.1" }

var (
	atHoldCluster = moment{name: "hold the request", plans: "actHold", kind: IntentActHold, object: clusterRequestRef,
		writes: AddFinalizer{Finalizer: usualFinalizer},
		scene:  func() scene { sc := flowScene(); sc.ClusterRequest().Finalizers = nil; return sc }}
	atRearmBehind = moment{name: "take the lock back at OpenStack's release", plans: "actRearm", kind: IntentActRearm,
		writes: SetLock{To: LockStatus{State: LockActive, Release: "21.0.0+25.2"}},
		scene:  func() scene { sc := flowScene(); lockIsBehind(sc); return sc }}
	atReleaseCluster = moment{name: "release the cluster lock", plans: "actRelease", kind: IntentActRelease, scene: flowScene,
		writes: SetLock{To: LockStatus{State: LockInactive, Release: "21.0.0+25.2"}}}
	atRearmCluster = moment{name: "take the cluster lock back", plans: "actRearm", kind: IntentActRearm, scene: clusterReleasedScene,
		writes: SetLock{To: LockStatus{State: LockActive, Release: "21.0.0+25.2"}}}
	atLetClusterGo = moment{name: "let the cluster's request go", plans: "actLetGo", kind: IntentActLetGo, object: clusterRequestRef,
		writes: RemoveFinalizer{Finalizer: usualFinalizer},
		scene: func() scene {
			sc := clusterReleasedScene()
			sc.clusterLock(ControllerOpenStack).RawState = LockActive
			return sc
		}}
)

var flowCluster = flow{
	title: "The cluster's release", source: "docs/mosk.md#cluster-request, #releasing-the-cluster-lock",
	intro: "A ClusterMaintenanceRequest is made, or changed, or the controller starts.",
	rows: []flowRow{
		{asks: "there is an OpenStackDeployment; else nothing happens", source: "docs/mosk.md#cluster-request",
			at:     with(by("healthy", atReleaseCluster), "applied"),
			breaks: breaking(func(sc scene) { sc.Snapshot.OpenStack = nil })},
		{asks: "the request's release is its own, or it names none", text: "A", source: "docs/mosk.md#cluster-request",
			at:     by("applied", atReleaseCluster),
			breaks: breaking(func(sc scene) { sc.ClusterRequest().Release = "21.1.0" }),
			note:   "While the controller is away its status stands still: OpenStack has to be at that release."},
		{asks: "the lock's release is its own", text: "B", source: "docs/mosk.md#cluster-request", at: by("lock-release", atReleaseCluster),
			breaks: breaking(lockIsBehind)},
		{asks: "(its start has armed the lock at its release)", source: "docs/mosk.md#locks", at: by("", atRearmBehind)},
		{asks: "osdplst was written by the controller of its version", text: "C", source: "docs/mosk.md#cluster-request",
			at:     by("applied", atReleaseCluster, atRearmBehind),
			breaks: breaking(func(sc scene) { sc.Snapshot.OpenStack[0].ControllerVersion = "1.0.9" }),
			note:   "Its version is the tag of the Deployment's image. Where either is not told, the release alone counts."},
		{asks: "osdplst says APPLIED", text: "D", source: "docs/mosk.md#cluster-request", at: by("healthy", atReleaseCluster),
			breaks: breaking(func(sc scene) { sc.Snapshot.OpenStack[0].State = "APPLYING" })},
		{asks: "the lock is active; else nothing is left to do", source: "docs/mosk.md#cluster-request", at: by("turn", atReleaseCluster),
			breaks: breaking(func(sc scene) { sc.clusterLock(ControllerOpenStack).RawState = LockInactive })},
		{asks: "all services are healthy", text: "E", source: "docs/mosk.md#cluster-request", at: by("healthy", atReleaseCluster),
			breaks: breaking(func(sc scene) { sc.Snapshot.OpenStack[0].Unhealthy = []string{"nova/api"} }),
			note:   "osdplst is frozen: so Lockstep asks for the pods as well, see below."},
		{asks: "the lock becomes inactive, the text goes", source: "docs/mosk.md#cluster-request", at: by("", atReleaseCluster)},
	},
	own: []flowRow{
		{asks: "the request is held", note: "kopf puts the finalizer on by itself.", at: by("held-request", atReleaseCluster),
			breaks: breaking(func(sc scene) { sc.ClusterRequest().Finalizers = nil })},
		{asks: "the request stands", note: "What is being removed takes no new finalizer.", at: by("stands", atHoldCluster),
			breaks: breaking(func(sc scene) { sc.ClusterRequest().Deleting = noon })},
		{asks: "OpenStack's pods are ready", note: "osdplst is frozen. The API is asked right before the lock is written.",
			at:      by("pods", atReleaseCluster),
			atWrite: "TestTheClusterIsNotLetGoWithPodsThatAreNotReady"},
		{asks: "the lock is not released yet", note: "LCM is at work by then.", at: by("turn", atRearmBehind),
			breaks: breaking(func(sc scene) { sc.clusterLock(ControllerOpenStack).RawState = LockInactive })},
		{asks: "LCM asks for the cluster", note: "The controller runs only when it does.", at: by("turn", atReleaseCluster),
			breaks: breaking(func(sc scene) { sc.Snapshot.ClusterRequests = nil })},
	},
}

var flowClusterReturn = flow{
	title: "The cluster's return", source: "docs/mosk.md#cluster-request",
	intro: "A ClusterMaintenanceRequest is deleted.",
	rows: []flowRow{
		{asks: "the request bears its finalizer; else nothing happens, ever", source: "docs/mosk.md#finalizers", at: by("", atRearmCluster),
			stays:  true,
			breaks: breaking(func(sc scene) { sc.ClusterRequest().Finalizers = nil }, func(sc scene) { sc.Snapshot.ClusterRequests = nil }),
			note:   "Lockstep takes the cluster back also from a request without one, and when the request is gone."},
		{asks: "there is an OpenStackDeployment; else nothing happens", source: "docs/mosk.md#cluster-request", at: by("", atRearmCluster),
			stays:  true,
			breaks: breaking(func(sc scene) { sc.Snapshot.OpenStack, sc.Snapshot.Deployments = nil, nil }),
			note:   "A lock that holds is safe in any case."},
		{asks: "the lock becomes active, the text goes, without further conditions", source: "docs/mosk.md#cluster-request",
			at: by("", atRearmCluster)},
		{asks: "kopf takes the finalizer off", source: "docs/mosk.md#finalizers", at: by("", atLetClusterGo)},
	},
	own: []flowRow{
		{asks: "nobody asks for the cluster any more", note: "The controller runs only then.", at: by("turn", atRearmCluster),
			breaks: breaking(func(sc scene) { sc.ClusterRequest().Deleting = time.Time{} })},
		{asks: "the lock is taken back before the request goes", note: "What the finalizer is for.", at: by("taken-back", atLetClusterGo),
			breaks: breaking(func(sc scene) { sc.clusterLock(ControllerOpenStack).RawState = LockInactive })},
		{asks: "the finalizer is the controller's, on a request that goes", note: "No other is touched.", at: by("held-by", atLetClusterGo),
			breaks: breaking(func(sc scene) { sc.ClusterRequest().Finalizers = nil })},
	},
}

// A node's removal.

func leavingScene() scene {
	sc := flowScene()
	sc.Snapshot.ClusterRequests = nil
	for _, node := range []string{"cmp-01", "ctl-01"} {
		sc.removes(node)
		sc.Volumes[node] = &HostVolumes{Host: node}
	}
	disabledFor(sc, "cmp-01", DisabledReasonMaintenance)
	lvmOn(sc).outOf(DisabledReasonMaintenance)
	return sc
}

var (
	atTakeOutForGood = moment{name: "nova-compute out", plans: "actOutOfScheduling", kind: IntentActOutOfScheduling, node: "cmp-01",
		writes: atTakeOut.writes,
		scene: func() scene {
			sc := leavingScene()
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
			return sc
		}}
	atVolumeOutForGood = moment{name: "cinder-volume out", plans: "actVolumeOut", kind: IntentActVolumeOut, node: "cmp-01", object: lvmRef,
		writes: atVolumeOut.writes,
		scene:  func() scene { sc := leavingScene(); lvmIn(sc).Enabled, lvmIn(sc).DisabledReason = true, ""; return sc }}
	atLetNodeGo = moment{name: "release the lock", plans: "actRemovalRelease", kind: IntentActRelease, node: "cmp-01", scene: leavingScene,
		writes: SetLock{To: LockStatus{State: LockInactive, Release: "21.0.0+25.2"}}}
	atLetControlGo = moment{name: "release the lock", plans: "actRemovalRelease", kind: IntentActRelease, node: "ctl-01", scene: leavingScene}
)

var flowRemoval = flow{
	title: "A node's removal", source: "docs/mosk.md#removal, #deletion-requests",
	intro: "A NodeDeletionRequest is made, or changed, or the controller starts. No release, role or concurrency is asked about.",
	rows: []flowRow{
		{asks: "the node exists; else the lock becomes inactive at once", source: "docs/mosk.md#removal",
			at: by("holds", atTakeOutForGood, atLetNodeGo), breaks: breaking(nodeGone("cmp-01")),
			note: "Stricter: a node that is gone is cleaned up behind first, see below."},
		{asks: "Prometheus, Redis, etcd and MariaDB can do without it", source: "docs/mosk.md#quorum", at: by("quorum", atLetControlGo),
			breaks: setsDown,
			note:   "In the bookkeeping only. The order is the reverse of the services'; the differences are those of the preparation."},
		{asks: "cinder-volume of its own disks is disabled", text: "R", source: "docs/mosk.md#removal", at: by("", atVolumeOutForGood)},
		{asks: "it stays disabled until the lock goes", source: "docs/mosk.md#removal", at: by("volumes", atLetNodeGo),
			breaks: breaking(func(sc scene) { lvmIn(sc).Enabled = true })},
		{asks: "no volume is on it", text: "T", source: "docs/mosk.md#removal", at: by("no-volumes", atLetNodeGo),
			breaks: breaking(func(sc scene) {
				sc.Volumes["cmp-01"].Volumes = []Volume{{ID: "v", Name: "data"}}
			}, func(sc scene) { delete(sc.Volumes, "cmp-01") }),
			note: "Stricter: there is no ndr_skip_volume_check, and what is not known counts as there."},
		{asks: "networking: nothing", source: "docs/mosk.md#removal", note: "Nor in Lockstep."},
		{asks: "Nova has a nova-compute of it; else it fails, for ever", source: "docs/mosk.md#no-compute-service",
			at:     append(by("exists", atTakeOutForGood), by("host-known", atLetNodeGo)...),
			breaks: breaking(func(sc scene) { delete(sc.Services, "cmp-01") })},
		{asks: "nova-compute is disabled", source: "docs/mosk.md#removal", at: by("", atTakeOutForGood)},
		{asks: "it stays disabled until the lock goes", source: "docs/mosk.md#removal", at: by("out", atLetNodeGo),
			breaks: breaking(func(sc scene) { sc.Services["cmp-01"].Enabled = true })},
		{asks: "Nova answers", text: "L", source: "docs/mosk.md#text-l", at: by(GuardFresh, atTakeOutForGood, atLetNodeGo),
			breaks: breaking(unanswered(SourceComputeServices))},
		{asks: "no instance is on it, in whatever state", text: "S", source: "docs/mosk.md#removal", at: by("nothing-on", atLetNodeGo),
			breaks: breaking(func(sc scene) { sc.instance("cmp-01", "web") }, func(sc scene) {
				sc.instance("cmp-01", "old", "poweroff")
				sc.status("old", "SHUTOFF", "stopped")
				sc.mode("cmp-01", ModeSkip)
			}), note: "Stricter: there is no ndr_skip_instance_check."},
		{asks: "whatever its role is", text: "S", source: "docs/mosk.md#removal", at: by("nothing-on", atLetControlGo),
			breaks: breaking(func(sc scene) { sc.instance("ctl-01", "bare-metal") },
				func(sc scene) { sc.instance("ctl-01", "old"); sc.status("old", "SHUTOFF", "stopped") })},
		{asks: "the lock becomes inactive; inner_state is not touched", source: "docs/mosk.md#removal", at: by("", atLetNodeGo)},
	},
	own: []flowRow{
		{asks: "its removal is asked for, and no maintenance",
			note:   "The controller would do both at a time; a maintenance that was begun is ended first.",
			at:     with(by("turn", atTakeOutForGood, atVolumeOutForGood, atLetNodeGo), "begun"),
			breaks: breaking(func(sc scene) { clear(sc.Deletions) })},
		{asks: "no maintenance of it is under way", note: "As above; its own conditions hold then.",
			at:     by("begun", atTakeOutForGood, atVolumeOutForGood),
			breaks: breaking(func(sc scene) { sc.request("cmp-01", time.Minute) })},
		{asks: "nova-compute goes first", note: "Before the volumes, as in a preparation; the controller's order is the reverse.",
			at:     by("compute-out", atVolumeOutForGood),
			breaks: breaking(func(sc scene) { sc.Services["cmp-01"].Enabled = true })},
		{asks: "it is the back end that the controller reaches", note: "As in a preparation.", at: by("first", atVolumeOutForGood),
			breaks: breaking(func(sc scene) { lvmIn(sc).Behind = true })},
		{asks: "no migration runs from or to it", note: "What arrives goes with it, for good.", at: by("no-migration", atLetNodeGo),
			breaks: breaking(func(sc scene) { sc.migration(sc.instance("cmp-02", "web"), "running", "cmp-01", time.Minute) })},
		{asks: "none waits for a decision", note: "Without the host it can be neither confirmed nor reverted.", at: by("decided", atLetNodeGo),
			breaks: breaking(func(sc scene) { sc.instance("cmp-02", "half"); sc.cameFrom("half", "cmp-01") })},
	},
}

// A node that is gone.

// goneScene is a cluster that ctl-09 has left, with its lock in deletion; at is where the volume of MariaDB's first member is, and of OVN's.
func goneScene(at string) scene {
	sc := flowScene()
	sc.Snapshot.ClusterRequests = nil
	l := sc.lock("ctl-09", ControllerOpenStack, LockActive)
	l.Deleting, l.Finalizers = ago(time.Minute), []string{usualFinalizer}
	for _, name := range []string{"mariadb-server", "openvswitch-ovn-db"} {
		sc.StatefulSets = deleteSet(sc.StatefulSets, name)
		sc.claims(sc.stateful(namespaceOpenStack, name, "", "ctl-02", "ctl-03"), at, "ctl-02", "ctl-03")
	}
	return sc
}

func deleteSet(sets []*StatefulSet, name string) (out []*StatefulSet) {
	for _, s := range sets {
		if s.Name != name {
			out = append(out, s)
		}
	}
	return out
}

func goneRef(sc scene) Ref { return ownLockOf(sc, "ctl-09").Ref() }

func claimRef(set string) func(scene) Ref {
	return func(sc scene) Ref { return sc.Claims["openstack/data-"+set+"-0"].Ref() }
}

func nodeThere(sc scene) { sc.node("ctl-09", RoleController) }

func claimsBound(sc scene) {
	for _, name := range []string{"mariadb-server", "openvswitch-ovn-db"} {
		claim := sc.Claims["openstack/data-"+name+"-0"]
		claim.Volume = "pv-" + claim.Name
		sc.LocalVolumes[claim.Volume] = &PersistentVolume{Meta: Meta{Name: claim.Volume}, Nodes: []string{"ctl-09"}}
	}
}

var (
	atDeleteMariaClaim = moment{name: "delete the claim", plans: "actDeleteClaim", kind: IntentActDeleteClaim, node: "ctl-09",
		scene: func() scene { return goneScene("ctl-09") }, object: claimRef("mariadb-server"),
		writes: DeleteClaim{Set: "mariadb-server", Pod: "mariadb-server-0", Node: "ctl-09"}}
	atDeleteOVNClaim = moment{name: "delete the claim", plans: "actDeleteClaim", kind: IntentActDeleteClaim, node: "ctl-09",
		scene: func() scene { return goneScene("ctl-09") }, object: claimRef("openvswitch-ovn-db"),
		writes: DeleteClaim{Set: "openvswitch-ovn-db", Pod: "openvswitch-ovn-db-0", Node: "ctl-09"}}
	atDropLock = moment{name: "delete the lock", plans: "actDropLock", kind: IntentActDropLock, node: "ctl-09",
		writes: DeleteObject{Object: Ref{Kind: KindNodeWorkloadLock, Name: "openstack-ctl-09", UID: "lock-openstack-ctl-09"}},
		scene: func() scene {
			sc := goneScene("pending")
			ownLockOf(sc, "ctl-09").Deleting = time.Time{}
			return sc
		}}
	atLetLockGo = moment{name: "let the lock go", plans: "actLetLockGo", kind: IntentActLetGo, object: goneRef,
		scene: func() scene { return goneScene("pending") }, writes: RemoveFinalizer{Finalizer: usualFinalizer}}
)

var flowCleanUp = flow{
	title: "Clean-up behind a node that is gone", source: "docs/mosk.md#after-a-node-is-gone, #volume-claims",
	intro: "A node's lock is deleted. That is the trigger; once its finalizer is off it never comes again.",
	rows: []flowRow{
		{asks: "the node's object went, and no NodeDisableNotification keeps the lock", source: "docs/mosk.md#deletion-requests",
			at: by("turn", atDropLock, atLetLockGo, atDeleteMariaClaim),
			breaks: breaking(func(sc scene) {
				sc.Disablings["ctl-09"] = &NodeNotice{Meta: Meta{Name: "off"}, Kind: KindNodeDisableNotification, Node: "ctl-09"}
			})},
		{asks: "the lock is deleted", source: "docs/mosk.md#after-a-node-is-gone", at: by("", atDropLock)},
		{asks: "the lock is the controller's own", source: "docs/mosk.md#locks", at: with(by("played", atLetLockGo), "turn"),
			breaks: breaking(func(sc scene) { ownLockOf(sc, "ctl-09").Controller = "ceph" })},
		{asks: "there is an OpenStackDeployment; else nothing is cleaned up", source: "docs/mosk.md#after-a-node-is-gone",
			at:    by("claims", atLetLockGo),
			given: func(sc scene) { sc.Snapshot.OpenStack, sc.Snapshot.Deployments = nil, nil }, breaks: breaking(claimsBound),
			note: "Stricter: Lockstep asks all the rest without one, too."},
		{asks: "the node does not exist", text: "V", source: "docs/mosk.md#texts", at: by("turn", atLetLockGo, atDeleteMariaClaim, atDropLock),
			breaks: breaking(nodeThere),
			note:   "Releases whose code is older than June 2025 looked for a node called as the lock, and so cleaned up while it was there. Lockstep does not."},
		{asks: "Prometheus, Redis, etcd, MariaDB: the set does not hold the node", text: "U", source: "docs/mosk.md#quorum",
			at:     by("hard-lock", atDeleteMariaClaim),
			breaks: breaking(memberDown("openstack/mariadb-server"))},
		{asks: "the claims of its pods with a volume of that node are deleted", source: "docs/mosk.md#volume-claims",
			at: by("", atDeleteMariaClaim)},
		{asks: "a claim without a volume of that node is left", source: "docs/mosk.md#volume-claims", at: by("bound", atDeleteMariaClaim),
			breaks: breaking(func(sc scene) { sc.LocalVolumes["pv-data-mariadb-server-0"].Nodes = []string{"ctl-02"} },
				func(sc scene) { delete(sc.LocalVolumes, "pv-data-mariadb-server-0") },
				func(sc scene) { sc.Claims["openstack/data-mariadb-server-0"].Volume = "" })},
		{asks: "no such claim is left when the finalizer goes", source: "docs/mosk.md#volume-claims", at: by("claims", atLetLockGo, atDropLock),
			breaks: breaking(claimsBound)},
		{asks: "block-storage: cinder-volume is down, then removed", source: "docs/mosk.md#after-a-node-is-gone",
			at:     by("forgotten", atLetLockGo, atDropLock),
			breaks: breaking(func(sc scene) { sc.volumeService("ctl-09@lvm") }),
			note:   "Lockstep shows the command; the lock waits until Cinder has forgotten it."},
		{asks: "networking: the agents are not alive, then deleted", source: "docs/mosk.md#after-a-node-is-gone",
			at: by("forgotten", atLetLockGo, atDropLock),
			breaks: breaking(func(sc scene) {
				sc.Agents["ctl-09"] = []*NetworkAgent{{ID: "l3", Host: "ctl-09", Binary: "neutron-l3-agent"}}
			}),
			note: "Likewise: the command once they are not alive, and the lock waits for Neutron."},
		{asks: "with ml2/ovn: openvswitch-ovn-db does not hold the node", text: "U", source: "docs/mosk.md#quorum",
			at:     by("hard-lock", atDeleteOVNClaim),
			breaks: breaking(memberDown("openstack/openvswitch-ovn-db"))},
		{asks: "its claims likewise", source: "docs/mosk.md#volume-claims", at: by("", atDeleteOVNClaim)},
		{asks: "compute: its services are down, then deleted", source: "docs/mosk.md#after-a-node-is-gone",
			at: by("forgotten", atLetLockGo, atDropLock), breaks: breaking(func(sc scene) {
				sc.Services["ctl-09"] = &ComputeService{ID: "s", Host: "ctl-09"}
			}), note: "Likewise: the command once it is down, and the lock waits for Nova."},
		{asks: "the Placement provider is deleted", source: "docs/mosk.md#after-a-node-is-gone",
			note: "Nova deletes it with the service, so Lockstep does not ask. Where Placement did not answer then, it is left: `openstack resource provider list`."},
		{asks: "Nova, Neutron and Cinder answer", source: "docs/mosk.md#retries", at: by(GuardFresh, atLetLockGo, atDropLock),
			breaks: breaking(unanswered(SourceComputeServices), unanswered(SourceNetworkAgents), unanswered(SourceVolumeServices))},
		{asks: "kopf takes the finalizer off", source: "docs/mosk.md#finalizers", at: by("", atLetLockGo)},
	},
	own: []flowRow{
		{asks: "the pod of the claim is off the node", note: "The claim would only wait for it.", at: by("pod-away", atDeleteMariaClaim),
			breaks: breaking(func(sc scene) { sc.DaemonPods["openstack/mariadb-server"][0].Node = "ctl-09" })},
		{asks: "the claim is not in use elsewhere", note: "Its data would be given up for nothing.", at: by("bound", atDeleteMariaClaim),
			breaks: breaking(func(sc scene) { sc.DaemonPods["openstack/mariadb-server"][0].Node = "ctl-01" })},
		{asks: "the claim is the one that was confirmed", note: "Also at the server, by its UID.", at: by("exists", atDeleteMariaClaim),
			breaks: breaking(func(sc scene) {
				again := *sc.Claims["openstack/data-mariadb-server-0"]
				again.UID = "another"
				sc.Claims[again.Key()] = &again
			})},
		{asks: "Nova has no instance on the host any more", note: "They could not be evacuated any more.",
			at:     by("forgotten", atLetLockGo, atDropLock),
			breaks: breaking(func(sc scene) { sc.instance("ctl-09", "web") })},
		{asks: "what its members claim is known", note: "A member that is not made yet can claim a volume there.",
			at: by("claims", atLetLockGo, atDropLock), breaks: breaking(func(sc scene) {
				sc.DaemonPods["openstack/mariadb-server"] = sc.DaemonPods["openstack/mariadb-server"][1:]
			})},
		{asks: "the finalizer is the controller's, on a lock that goes", note: "No other is touched.", at: by("held-by", atLetLockGo),
			breaks: breaking(func(sc scene) { ownLockOf(sc, "ctl-09").Finalizers = []string{"example.org/another"} })},
	},
}

func flows() []flow {
	return []flow{flowPreparation, flowReturn, flowCluster, flowClusterReturn, flowRemoval, flowCleanUp}
}
