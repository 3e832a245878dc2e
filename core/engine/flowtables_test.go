package engine

import (
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The conditions of many rows.

func nodeGone(node string) func(scene.Scene) { return func(sc scene.Scene) { delete(sc.Nodes, node) } }

func roleGone(node string) func(scene.Scene) {
	return func(sc scene.Scene) { sc.Nodes[node].Roles = []core.Role{core.RoleStorage} }
}

func unanswered(id core.SourceID) func(scene.Scene) {
	return func(sc scene.Scene) { sc.Source(id, core.SourceFailed) }
}

func memberDown(set string) func(scene.Scene) {
	return func(sc scene.Scene) { sc.DaemonPods[set][1].Ready = false } // of ctl-02
}

// setsDown are the sets that are asked before a node goes down, each without its member on ctl-02.
var setsDown = breaking(memberDown("openstack/mariadb-server"), memberDown("openstack/etcd-etcd"),
	memberDown("openstack-redis/rfr-openstack-redis"),
	memberDown("openstack/openstack-prometheus-server"))

func secondZone(node string, state core.LockState) func(scene.Scene) {
	return func(sc scene.Scene) {
		if sc.Nodes[node] == nil {
			sc.Node(node, core.RoleCompute)
		}
		sc.Services[node].Zone = "second"
		scene.OwnLockOf(sc, node).InnerState, scene.OwnLockOf(sc, node).RawState = core.InnerActive, state
	}
}

var flowPreparation = flow{
	title: "A node's preparation", source: "docs/mosk.md#node-request, #services, #migration-loop",
	intro: "A NodeMaintenanceRequest is made, or changed, or the controller starts.",
	rows: []flowRow{
		{asks: "the node exists; else nothing happens", source: "docs/mosk.md#node-request",
			at:     by("holds", scene.AtBegin, scene.AtTakeOut, scene.AtRelease),
			breaks: breaking(nodeGone("cmp-01"))},
		{asks: "it has a role; else nothing happens", source: "docs/mosk.md#node-request", at: by("holds", scene.AtCreate),
			breaks: breaking(roleGone("cmp-01")),
			note: "A node that has lost its role, and has its lock still, is prepared all the same: LCM waits for that lock, and instances run " +
				"there."},
		{asks: "its lock is there; else it is made, and armed at the controller's release", source: "docs/mosk.md#locks",
			at:     by("exists", scene.AtBegin, scene.AtTakeOut, scene.AtRelease),
			breaks: breaking(scene.LockGone("cmp-01")),
			note: "Lockstep makes it by a step, and writes OpenStack's release with each state. It does not set a node's lock of another release " +
				"active: a lock that is inactive while LCM asks holds nothing any more; before that it is told as left over."},
		{asks: "the request's release is its own, or it names none", text: "A", source: "docs/mosk.md#requests",
			at:     by("applied", scene.AtBegin, scene.AtRelease),
			breaks: breaking(func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Release = "21.1.0" }),
			note: "The release is read off OpenStackDeploymentStatus; what follows the plus may be missing. Without any OpenStackDeployment it " +
				"is not asked."},
		{asks: "no role of any node under way is full; then inner_state becomes active", text: "F", source: "docs/mosk.md#concurrency",
			at:     by(core.GuardConcurrency, scene.AtBegin),
			breaks: breaking(func(sc scene.Scene) { scene.OwnLockOf(sc, "gtw-01").InnerState = core.InnerActive }, scene.LockReleased("gtw-01")),
			note:   "Stricter: a lock that is not active counts as well, whatever its inner_state."},
		{asks: "inner_state becomes active", source: "docs/mosk.md#concurrency", at: by("", scene.AtBegin)},
		{asks: "there is an OpenStackDeployment; without one the lock goes at once", source: "docs/mosk.md#node-request",
			at:     by("host-empty", scene.AtRelease),
			given:  func(sc scene.Scene) { sc.Snapshot.OpenStack, sc.Snapshot.Deployments = nil, nil },
			breaks: breaking(func(sc scene.Scene) { sc.Instance("cmp-01", "web") }), note: "Stricter: Lockstep asks all the rest without one, too."},
		{asks: "the lock is active; else no preparation, and it stays as it is", source: "docs/mosk.md#left-over-locks",
			at:     by("turn", scene.AtBegin, scene.AtTakeOut, scene.AtVolumeOut, scene.AtRelease),
			breaks: breaking(scene.LockReleased("cmp-01")),
			note: "As dangerous here as there: such a lock is told before LCM asks, and taken back by the steps of the return. " +
				"A lock that is `failed` is prepared by Lockstep, and not by the controller."},
		{asks: "Nova has a nova-compute of it; else it fails, for ever", text: "", source: "docs/mosk.md#no-compute-service",
			at:     append(by("exists", scene.AtTakeOut), by("host-known", scene.AtRelease, scene.AtReleaseDrain)...),
			breaks: breaking(func(sc scene.Scene) { delete(sc.Services, "cmp-01") }),
			note:   "It can be begun, and counts then, here as there; not beside another compute, for its zone is not known."},
		{asks: "its zone is that of the first compute under way (respect_nova_az)", text: "G", source: "docs/mosk.md#services",
			at:     by(core.GuardZone, scene.AtBegin, scene.AtRelease),
			breaks: breaking(secondZone("cmp-00", core.LockActive), secondZone("cmp-02", core.LockInactive)),
			note: "Stricter: one of another zone that is released holds the rest, whatever its name; and nothing is begun while any is under way " +
				"there. Among those that are begun the first by name goes first."},
		{asks: "which can be the node itself", source: "docs/mosk.md#services", at: by("", scene.AtRelease), stays: true,
			breaks: breaking(secondZone("cmp-02", core.LockActive)), note: "So that of two zones that are begun one goes on."},
		{asks: "unless respect_nova_az is off", source: "docs/mosk.md#settings", at: by("", scene.AtBegin, scene.AtRelease), stays: true,
			given:  func(sc scene.Scene) { sc.Snapshot.Settings.AcrossZones = true },
			breaks: breaking(secondZone("cmp-00", core.LockActive), secondZone("cmp-02", core.LockInactive)),
			note:   "No object says so: it is a setting of Lockstep's as well."},
		{asks: "MariaDB, etcd, Redis and Prometheus can do without it", text: "G", source: "docs/mosk.md#quorum",
			at: by("quorum", scene.AtBeginControl, scene.AtReleaseControl), breaks: setsDown,
			note: "Stricter where a member elsewhere is not ready: the controller only counts. Not asked of a node that is no controller and has " +
				"no member of any: the controller asks there, too, though nothing is lost with it."},
		{asks: "nova-compute is disabled, if the node is a compute", source: "docs/mosk.md#services", at: by("", scene.AtTakeOut)},
		{asks: "it stays disabled until the lock goes", source: "docs/mosk.md#services", at: by("out", scene.AtRelease),
			breaks: breaking(func(sc scene.Scene) { sc.Services["cmp-01"].Enabled = true })},
		{asks: "Nova answers while it is disabled", text: "L", source: "docs/mosk.md#text-l", at: by(core.GuardFresh, scene.AtTakeOut),
			breaks: breaking(unanswered(core.SourceComputeServices))},
		{asks: "the request has a scope; else it fails, for ever", source: "docs/mosk.md#requests-without-a-scope",
			at:     by("scope", scene.AtBegin, scene.AtRelease),
			breaks: breaking(func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Scope = "" }),
			note:   "Lockstep asks before it begins; the controller after nova-compute is out."},
		{asks: "scope os; with scope drain the instances stay", source: "docs/mosk.md#requests", at: by("", scene.AtReleaseDrain), stays: true,
			breaks: breaking(func(sc scene.Scene) { sc.Instance("cmp-01", "web") }),
			note:   "As the controller does: with scope drain the host does not reboot."},
		{asks: "the node's mode is one that it knows; else it fails, for ever", source: "docs/mosk.md#migration-mode",
			at:     by("host-empty", scene.AtRelease),
			given:  func(sc scene.Scene) { sc.Mode("cmp-01", core.ModeSkip); sc.Instance("cmp-01", "web") },
			breaks: breaking(func(sc scene.Scene) { sc.Mode("cmp-01", "cold") })},
		{asks: "its number of tries is one; else it fails, for ever", source: "docs/mosk.md#migration-mode", at: by("", scene.AtRelease),
			stays:  true,
			breaks: breaking(func(sc scene.Scene) { sc.Nodes["cmp-01"].Annotations[core.AnnotationMigrationAttempts] = "many" }),
			note:   "Lockstep moves by confirmed steps, and counts no tries."},
		{asks: "what can be live-migrated is, and no migration runs", text: "H, I", source: "docs/mosk.md#migration-loop",
			at:     by("no-migration", scene.AtRelease),
			breaks: breaking(func(sc scene.Scene) { sc.Migration(sc.Instance("cmp-02", "web"), "running", "cmp-01", time.Minute) }),
			note:   "Lockstep moves each by a step of its own. Stricter: a migration to the host counts as well."},
		{asks: "nothing is left that its reboot would hurt", text: "J", source: "docs/mosk.md#tags", at: by("host-empty", scene.AtRelease),
			breaks: breaking(func(sc scene.Scene) { sc.Instance("cmp-01", "web") }, func(sc scene.Scene) { sc.Instance("cmp-01", "web", "notify") },
				func(sc scene.Scene) { sc.Instance("cmp-01", "web"); sc.Status("web", "ERROR", "error") },
				func(sc scene.Scene) { sc.Builds("cmp-01", "new", "spawning") }),
			note: "Stricter: what Nova is just bringing up counts, too."},
		{asks: "the lock says what is left", text: "J", source: "docs/mosk.md#texts", at: by("", scene.AtSay)},
		{asks: "Nova answers meanwhile", text: "K", source: "docs/mosk.md#migration-loop", at: by(core.GuardFresh, scene.AtRelease),
			breaks: breaking(unanswered(core.SourceInstances), unanswered(core.SourceMigrations), unanswered(core.SourceComputeServices))},
		{asks: "networking: nothing", source: "docs/mosk.md#services",
			note: "Where the operator has set a mode, Lockstep lists what L3 and DHCP agents on a gateway serve."},
		{asks: "cinder-volume of its own disks is disabled", source: "docs/mosk.md#services", at: by("", scene.AtVolumeOut)},
		{asks: "it stays disabled until the lock goes", source: "docs/mosk.md#services", at: by("volumes", scene.AtRelease),
			breaks: breaking(func(sc scene.Scene) { scene.LvmIn(sc).Enabled = true }, func(sc scene.Scene) { sc.VolumeService("cmp-01@nvme") }),
			note: "Lockstep does it before the instances move, the controller after. Stricter: every back end that can be disabled counts, not " +
				"only the first."},
		{asks: "Cinder answers meanwhile", text: "R", source: "docs/mosk.md#text-l", at: by(core.GuardFresh, scene.AtVolumeOut, scene.AtRelease),
			breaks: breaking(unanswered(core.SourceVolumeServices))},
		{asks: "the lock becomes inactive, the text goes", source: "docs/mosk.md#node-request", at: by("", scene.AtRelease)},
	},
	own: []flowRow{
		{asks: "the request is held", note: "kopf puts the finalizer on by itself. Without it nobody takes the node back.",
			source: "docs/mosk.md#finalizers", at: by("held-request", scene.AtBegin, scene.AtRelease),
			breaks: breaking(func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Finalizers = nil })},
		{asks: "OpenStack's status is seen, if the request names a release",
			note: "The controller knows its own release; Lockstep reads it there.",
			at:   with(by("applied", scene.AtBegin, scene.AtRelease), core.GuardFresh), breaks: breaking(func(sc scene.Scene) {
				sc.Snapshot.OpenStack = nil
				sc.Source(core.SourceOpenStackStatus, core.SourceForbidden)
			})},
		{asks: "the request stands", note: "What is being removed takes no new finalizer.", at: by("stands", scene.AtHold),
			breaks: breaking(func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Deleting = scene.Noon })},
		{asks: "nothing is begun elsewhere", note: "Two that count at the same moment count neither; the controller has a mutex.",
			at: by("one-begins", scene.AtBegin),
			breaks: breaking(func(sc scene.Scene) {
				sc.Doing(core.Operation{Title: "begin", Step: "act-begin/x", Intent: core.Intent{Kind: core.IntentActBegin}, Node: "cmp-03"})
			})},
		{asks: "LCM asks for it", note: "The controller runs only when it does.",
			at: by("turn", scene.AtBegin, scene.AtTakeOut, scene.AtVolumeOut, scene.AtSay, scene.AtRelease, scene.AtCreate),
			breaks: breaking(func(sc scene.Scene) {
				if scene.OwnLockOf(sc, "cmp-01") == nil { // a lock that exists is not made
					sc.Lock("cmp-01", core.ControllerOpenStack, core.LockActive)
				}
				clear(sc.NodeRequests)
			})},
		{asks: "the work was begun", note: "Each step is confirmed by itself, so each looks whether its turn has come.",
			at:     by("begun", scene.AtTakeOut, scene.AtVolumeOut, scene.AtSay, scene.AtRelease),
			breaks: breaking(func(sc scene.Scene) { scene.OwnLockOf(sc, "cmp-01").InnerState = core.InnerInactive })},
		{asks: "nova-compute goes first", note: "The controller's order.", at: by("compute-out", scene.AtVolumeOut),
			breaks: breaking(func(sc scene.Scene) { sc.Services["cmp-01"].Enabled = true })},
		{asks: "it is the back end that the controller reaches", note: "It would not enable another again.", at: by("first", scene.AtVolumeOut),
			breaks: breaking(func(sc scene.Scene) { scene.LvmIn(sc).Behind = true })},
		{asks: "instances hold the node", note: "Else there is nothing to say.", at: by("left", scene.AtSay),
			breaks: breaking(func(sc scene.Scene) { clear(sc.ByHost); sc.Instances = core.Instances{} })},
		{asks: "the operator's word, where the node is no compute and has a mode",
			note: "The documents' promise; today's controller ignores the mode there.", source: "docs/mosk.md#modes-elsewhere",
			at: by("word", scene.AtReleaseGateway), breaks: breaking(func(sc scene.Scene) { sc.Mode("gtw-01", core.ModeManual) },
				func(sc scene.Scene) { sc.Mode("gtw-01", "cold") })},
	},
}

func heldScene() scene.Scene {
	sc := scene.ReturnedScene()
	scene.OwnLockOf(sc, "cmp-01").RawState = core.LockActive
	return sc
}

var (
	atVolumeIn = scene.Moment{Name: "cinder-volume in", Plans: "actVolumeIn", Kind: core.IntentActVolumeIn, Node: "cmp-01",
		Object: scene.LvmRef,
		Writes: core.SetVolumeService{Enabled: true},
		Scene: func() scene.Scene {
			sc := scene.ReturnedScene()
			scene.OutOf(scene.LvmIn(sc), core.DisabledReasonMaintenance)
			scene.DisabledFor(sc, "cmp-01", core.DisabledReasonMaintenance)
			return sc
		}}
	atTakeIn = scene.Moment{Name: "nova-compute in", Plans: "actIntoScheduling", Kind: core.IntentActIntoScheduling, Node: "cmp-01",
		Writes: core.SetComputeService{Enabled: true},
		Scene: func() scene.Scene {
			sc := scene.ReturnedScene()
			scene.DisabledFor(sc, "cmp-01", core.DisabledReasonMaintenance)
			return sc
		}}
	atRearm = scene.Moment{Name: "take the lock back", Plans: "actRearm", Kind: core.IntentActRearm, Node: "cmp-01",
		Scene:  scene.ReturnedScene,
		Writes: core.SetLock{To: core.LockStatus{State: core.LockActive, Release: "21.0.0+25.2"}}}
	atFinish = scene.Moment{Name: "end the work", Plans: "actFinish", Kind: core.IntentActFinish, Node: "cmp-01", Scene: heldScene,
		Writes: core.SetInnerState{To: core.InnerInactive}}
	atLetGo = scene.Moment{Name: "let the request go", Plans: "actLetGo", Kind: core.IntentActLetGo, Object: scene.NodeRequestRef,
		Writes: core.RemoveFinalizer{Finalizer: core.UsualFinalizer},
		Scene: func() scene.Scene {
			sc := heldScene()
			scene.OwnLockOf(sc, "cmp-01").InnerState = core.InnerInactive
			return sc
		}}
)

func nodeNotReady(sc scene.Scene) { sc.Nodes["cmp-01"].Ready = "False" }

var flowReturn = flow{
	title: "A node's return", source: "docs/mosk.md#return-of-a-node, #services",
	intro: "A NodeMaintenanceRequest is deleted.",
	rows: []flowRow{
		{asks: "the request bears its finalizer; else nothing happens, ever", source: "docs/mosk.md#finalizers", at: by("", atRearm), stays: true,
			breaks: breaking(func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Finalizers = nil },
				func(sc scene.Scene) { clear(sc.NodeRequests) }),
			note: "Lockstep takes a node back also from a request without one, and when the request is gone."},
		{asks: "the node exists; else only the lock, inner_state and finalizer are seen to", source: "docs/mosk.md#return-of-a-node",
			at: by("", atLetGo), stays: true,
			breaks: breaking(nodeGone("cmp-01")), note: "The request goes; the lock of a node that is gone is cleaned up behind, see below."},
		{asks: "it has a role; else its lock is deleted, and that is all", source: "docs/mosk.md#role-taken-off", at: by("", atRearm),
			stays: true, breaks: breaking(roleGone("cmp-01")),
			note: "Lockstep takes such a node back as any other: the lock would be in deletion for ever, and LCM waits for it."},
		{asks: "inner_state is active; else nothing is waited for", source: "docs/mosk.md#return-of-a-node", at: by("back", atRearm),
			given: func(sc scene.Scene) { scene.OwnLockOf(sc, "cmp-01").InnerState = core.InnerInactive }, breaks: breaking(nodeNotReady),
			note: "Stricter: Lockstep always looks."},
		{asks: "the node is Ready", source: "docs/mosk.md#return-of-a-node", at: by("back", atVolumeIn, atTakeIn, atRearm, atFinish),
			breaks: breaking(nodeNotReady, func(sc scene.Scene) { sc.Nodes["cmp-01"].Cordoned = true }),
			note:   "Stricter: LCM has to have uncordoned it."},
		{asks: "OpenStack's pods on it are Ready, but those of Jobs", source: "docs/mosk.md#pods-on-return",
			at: by("pods", atVolumeIn, atTakeIn, atRearm, atFinish),
			breaks: breaking(func(sc scene.Scene) {
				sc.Pods["cmp-01"].NotReady = []core.PodName{{Namespace: "openstack", Name: "neutron-x"}}
			},
				func(sc scene.Scene) { scene.EndedOn(sc, "cmp-01", "octavia-1") },
				func(sc scene.Scene) { delete(sc.Pods, "cmp-01") }),
			note: "Pods that have ended hold it for ever, here as there: Lockstep names them, and offers to delete them."},
		{asks: "cinder-volume is enabled, if its reason is the maintenance", text: "R", source: "docs/mosk.md#services", at: by("", atVolumeIn)},
		{asks: "that comes before nova-compute", source: "docs/mosk.md#services",
			at:     append(by("volumes-back", atTakeIn), by("volumes", atRearm, atFinish)...),
			breaks: breaking(func(sc scene.Scene) { scene.OutOf(scene.LvmIn(sc), core.DisabledReasonMaintenance) })},
		{asks: "old pods of OnDelete DaemonSets are deleted, new ones awaited", source: "docs/mosk.md#restarts", at: by("", atTakeIn, atRearm),
			stays: true,
			breaks: breaking(func(sc scene.Scene) {
				sc.DaemonSet("openstack/neutron-l3-agent-default", "l3-agent", true, "cmp-01", "cmp-02")
				sc.Old("openstack/neutron-l3-agent-default", "cmp-01")
			}),
			note: "Each is a step that comes before, and that may be left out: whether the controller's settings want Open vSwitch restarted no " +
				"object says."},
		{asks: "the network agents of a compute or gateway are alive", text: "P", source: "docs/mosk.md#agents",
			at: by("agents", atVolumeIn, atTakeIn, atRearm, atFinish),
			breaks: breaking(func(sc scene.Scene) { sc.Agents["cmp-01"][0].Alive = false },
				func(sc scene.Scene) { sc.Agents["cmp-01"][0].Alive, sc.Agents["cmp-01"][0].AdminUp = false, false }),
			note: "Stricter: on every node; and code since October 2025 does not use what it finds."},
		{asks: "Neutron answers", text: "Q", source: "docs/mosk.md#texts", at: by(core.GuardFresh, atVolumeIn, atTakeIn, atRearm, atFinish),
			breaks: breaking(unanswered(core.SourceNetworkAgents))},
		{asks: "nova-compute is up", text: "M", source: "docs/mosk.md#agents", at: append(by("up", atTakeIn), by("in", atRearm)...),
			breaks: breaking(func(sc scene.Scene) { sc.Services["cmp-01"].Up = false })},
		{asks: "Nova has one; else it fails, for ever", source: "docs/mosk.md#no-compute-service",
			at:     append(by("exists", atTakeIn), by("in", atRearm)...),
			breaks: breaking(func(sc scene.Scene) { delete(sc.Services, "cmp-01") })},
		{asks: "it is enabled, if its reason is the maintenance", source: "docs/mosk.md#services", at: by("", atTakeIn)},
		{asks: "another's reason is left alone", source: "docs/mosk.md#rockoon", at: by("", atRearm), stays: true,
			breaks: breaking(func(sc scene.Scene) { scene.DisabledFor(sc, "cmp-01", "broken fan") },
				func(sc scene.Scene) { scene.OutOf(scene.LvmIn(sc), "a dead disk") }), note: "As the controller does."},
		{asks: "Nova answers", text: "N, O", source: "docs/mosk.md#texts", at: by(core.GuardFresh, atTakeIn, atRearm),
			breaks: breaking(unanswered(core.SourceComputeServices))},
		{asks: "inner_state becomes inactive", source: "docs/mosk.md#return-of-a-node", at: by("", atFinish),
			note: "Lockstep does it after the lock: until then the node counts."},
		{asks: "the lock becomes active, the text goes", source: "docs/mosk.md#return-of-a-node", at: by("", atRearm)},
		{asks: "kopf takes the finalizer off", source: "docs/mosk.md#finalizers", at: by("", atLetGo)},
	},
	own: []flowRow{
		{asks: "nobody asks for it any more", note: "The controller runs only then.", at: by("turn", atVolumeIn, atTakeIn, atRearm, atFinish),
			breaks: breaking(func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Deleting = time.Time{} })},
		{asks: "cinder-volume is up before volumes come to it", note: "The controller does not look.", at: by("up", atVolumeIn),
			breaks: breaking(func(sc scene.Scene) { scene.LvmIn(sc).Up = false })},
		{asks: "and is so when the lock is taken back", note: "The controller does not look.", at: by("volumes", atRearm, atFinish),
			breaks: breaking(func(sc scene.Scene) { scene.LvmIn(sc).Up = false })},
		{asks: "nova-compute is in before the lock holds", note: "The controller's order.", at: by("in", atRearm, atFinish),
			breaks: breaking(func(sc scene.Scene) { scene.DisabledFor(sc, "cmp-01", core.DisabledReasonMaintenance) })},
		{asks: "the lock holds before the node counts no more", note: "So that no other is begun meanwhile.", at: by("held", atFinish),
			breaks: breaking(scene.LockReleased("cmp-01"))},
		{asks: "all is taken back before the request goes", note: "What the finalizer is for.", at: by("taken-back", atLetGo),
			breaks: breaking(scene.LockReleased("cmp-01"), func(sc scene.Scene) { scene.OwnLockOf(sc, "cmp-01").InnerState = core.InnerActive })},
		{asks: "a node that is away, and whose machine is only disabled, keeps its request",
			note: "It comes back with its lock as it is; nobody else would arm it.", source: "docs/mosk.md#left-over-locks",
			at: by("taken-back", atLetGo),
			given: func(sc scene.Scene) {
				nodeGone("cmp-01")(sc)
				sc.Disablings["cmp-01"] = &core.NodeNotice{Meta: core.Meta{Name: "off"}, Kind: core.KindNodeDisableNotification, Node: "cmp-01"}
			},
			breaks: breaking(scene.LockReleased("cmp-01"), func(sc scene.Scene) { scene.OwnLockOf(sc, "cmp-01").InnerState = core.InnerActive })},
		{asks: "the finalizer is the controller's, on a request that goes", note: "No other is touched.", at: by("held-by", atLetGo),
			breaks: breaking(func(sc scene.Scene) { sc.NodeRequests["cmp-01"][0].Finalizers = []string{"example.org/another"} })},
	},
}

// The cluster.

func clusterRequestRef(sc scene.Scene) core.Ref { return sc.ClusterRequest().Ref() }

func clusterReleasedScene() scene.Scene {
	sc := scene.FlowScene()
	sc.ClusterLock(core.ControllerOpenStack).RawState = core.LockInactive
	sc.ClusterRequest().Deleting = scene.Ago(time.Minute)
	return sc
}

func lockIsBehind(sc scene.Scene) { sc.ClusterLock(core.ControllerOpenStack).Release = "17.4.0+25.1" }

var (
	atHoldCluster = scene.Moment{Name: "hold the request", Plans: "actHold", Kind: core.IntentActHold, Object: clusterRequestRef,
		Writes: core.AddFinalizer{Finalizer: core.UsualFinalizer},
		Scene:  func() scene.Scene { sc := scene.FlowScene(); sc.ClusterRequest().Finalizers = nil; return sc }}
	atRearmBehind = scene.Moment{Name: "take the lock back at OpenStack's release", Plans: "actRearm", Kind: core.IntentActRearm,
		Writes: core.SetLock{To: core.LockStatus{State: core.LockActive, Release: "21.0.0+25.2"}},
		Scene:  func() scene.Scene { sc := scene.FlowScene(); lockIsBehind(sc); return sc }}
	atReleaseCluster = scene.Moment{Name: "release the cluster lock", Plans: "actRelease", Kind: core.IntentActRelease, Scene: scene.FlowScene,
		Writes: core.SetLock{To: core.LockStatus{State: core.LockInactive, Release: "21.0.0+25.2"}}}
	atRearmCluster = scene.Moment{Name: "take the cluster lock back", Plans: "actRearm", Kind: core.IntentActRearm,
		Scene:  clusterReleasedScene,
		Writes: core.SetLock{To: core.LockStatus{State: core.LockActive, Release: "21.0.0+25.2"}}}
	atLetClusterGo = scene.Moment{Name: "let the cluster's request go", Plans: "actLetGo", Kind: core.IntentActLetGo,
		Object: clusterRequestRef,
		Writes: core.RemoveFinalizer{Finalizer: core.UsualFinalizer},
		Scene: func() scene.Scene {
			sc := clusterReleasedScene()
			sc.ClusterLock(core.ControllerOpenStack).RawState = core.LockActive
			return sc
		}}
)

var flowCluster = flow{
	title: "The cluster's release", source: "docs/mosk.md#cluster-request, #releasing-the-cluster-lock",
	intro: "A ClusterMaintenanceRequest is made, or changed, or the controller starts.",
	rows: []flowRow{
		{asks: "there is an OpenStackDeployment; else nothing happens", source: "docs/mosk.md#cluster-request",
			at:     with(by("healthy", atReleaseCluster), "applied"),
			breaks: breaking(func(sc scene.Scene) { sc.Snapshot.OpenStack = nil })},
		{asks: "the request's release is its own, or it names none", text: "A", source: "docs/mosk.md#cluster-request",
			at:     by("applied", atReleaseCluster),
			breaks: breaking(func(sc scene.Scene) { sc.ClusterRequest().Release = "21.1.0" }),
			note:   "While the controller is away its status stands still: OpenStack has to be at that release."},
		{asks: "the lock's release is its own", text: "B", source: "docs/mosk.md#cluster-request", at: by("lock-release", atReleaseCluster),
			breaks: breaking(lockIsBehind)},
		{asks: "(its start has armed the lock at its release)", source: "docs/mosk.md#locks", at: by("", atRearmBehind)},
		{asks: "osdplst was written by the controller of its version", text: "C", source: "docs/mosk.md#cluster-request",
			at:     by("applied", atReleaseCluster, atRearmBehind),
			breaks: breaking(func(sc scene.Scene) { sc.Snapshot.OpenStack[0].ControllerVersion = "1.0.9" }),
			note:   "Its version is the tag of the Deployment's image. Where either is not told, the release alone counts."},
		{asks: "osdplst says APPLIED", text: "D", source: "docs/mosk.md#cluster-request", at: by("healthy", atReleaseCluster),
			breaks: breaking(func(sc scene.Scene) { sc.Snapshot.OpenStack[0].State = "APPLYING" })},
		{asks: "the lock is active; else nothing is left to do", source: "docs/mosk.md#cluster-request", at: by("turn", atReleaseCluster),
			breaks: breaking(func(sc scene.Scene) { sc.ClusterLock(core.ControllerOpenStack).RawState = core.LockInactive })},
		{asks: "all services are healthy", text: "E", source: "docs/mosk.md#cluster-request", at: by("healthy", atReleaseCluster),
			breaks: breaking(func(sc scene.Scene) { sc.Snapshot.OpenStack[0].Unhealthy = []string{"nova/api"} }),
			note:   "osdplst is frozen: so Lockstep asks for the pods as well, see below."},
		{asks: "the lock becomes inactive, the text goes", source: "docs/mosk.md#cluster-request", at: by("", atReleaseCluster)},
	},
	own: []flowRow{
		{asks: "the request is held", note: "kopf puts the finalizer on by itself.", at: by("held-request", atReleaseCluster),
			breaks: breaking(func(sc scene.Scene) { sc.ClusterRequest().Finalizers = nil })},
		{asks: "the request stands", note: "What is being removed takes no new finalizer.", at: by("stands", atHoldCluster),
			breaks: breaking(func(sc scene.Scene) { sc.ClusterRequest().Deleting = scene.Noon })},
		{asks: "OpenStack's pods are ready", note: "osdplst is frozen. The API is asked right before the lock is written.",
			at:      by("pods", atReleaseCluster),
			atWrite: "TestTheClusterIsNotLetGoWithPodsThatAreNotReady"},
		{asks: "the lock is not released yet", note: "LCM is at work by then.", at: by("turn", atRearmBehind),
			breaks: breaking(func(sc scene.Scene) { sc.ClusterLock(core.ControllerOpenStack).RawState = core.LockInactive })},
		{asks: "LCM asks for the cluster", note: "The controller runs only when it does.", at: by("turn", atReleaseCluster),
			breaks: breaking(func(sc scene.Scene) { sc.Snapshot.ClusterRequests = nil })},
	},
}

var flowClusterReturn = flow{
	title: "The cluster's return", source: "docs/mosk.md#cluster-request",
	intro: "A ClusterMaintenanceRequest is deleted.",
	rows: []flowRow{
		{asks: "the request bears its finalizer; else nothing happens, ever", source: "docs/mosk.md#finalizers", at: by("", atRearmCluster),
			stays: true,
			breaks: breaking(func(sc scene.Scene) { sc.ClusterRequest().Finalizers = nil },
				func(sc scene.Scene) { sc.Snapshot.ClusterRequests = nil }),
			note: "Lockstep takes the cluster back also from a request without one, and when the request is gone."},
		{asks: "there is an OpenStackDeployment; else nothing happens", source: "docs/mosk.md#cluster-request", at: by("", atRearmCluster),
			stays:  true,
			breaks: breaking(func(sc scene.Scene) { sc.Snapshot.OpenStack, sc.Snapshot.Deployments = nil, nil }),
			note:   "A lock that holds is safe in any case."},
		{asks: "the lock becomes active, the text goes, without further conditions", source: "docs/mosk.md#cluster-request",
			at: by("", atRearmCluster)},
		{asks: "kopf takes the finalizer off", source: "docs/mosk.md#finalizers", at: by("", atLetClusterGo)},
	},
	own: []flowRow{
		{asks: "nobody asks for the cluster any more", note: "The controller runs only then.", at: by("turn", atRearmCluster),
			breaks: breaking(func(sc scene.Scene) { sc.ClusterRequest().Deleting = time.Time{} })},
		{asks: "the lock is taken back before the request goes", note: "What the finalizer is for.", at: by("taken-back", atLetClusterGo),
			breaks: breaking(func(sc scene.Scene) { sc.ClusterLock(core.ControllerOpenStack).RawState = core.LockInactive })},
		{asks: "the finalizer is the controller's, on a request that goes", note: "No other is touched.", at: by("held-by", atLetClusterGo),
			breaks: breaking(func(sc scene.Scene) { sc.ClusterRequest().Finalizers = nil })},
	},
}

// A node's removal.

func leavingScene() scene.Scene {
	sc := scene.FlowScene()
	sc.Snapshot.ClusterRequests = nil
	for _, node := range []string{"cmp-01", "ctl-01"} {
		sc.Removes(node)
		sc.Volumes[node] = &core.HostVolumes{Host: node}
	}
	scene.DisabledFor(sc, "cmp-01", core.DisabledReasonMaintenance)
	scene.OutOf(scene.LvmOn(sc), core.DisabledReasonMaintenance)
	return sc
}

var (
	atTakeOutForGood = scene.Moment{Name: "nova-compute out", Plans: "actOutOfScheduling", Kind: core.IntentActOutOfScheduling, Node: "cmp-01",
		Writes: scene.AtTakeOut.Writes,
		Scene: func() scene.Scene {
			sc := leavingScene()
			sc.Services["cmp-01"].Enabled, sc.Services["cmp-01"].DisabledReason = true, ""
			return sc
		}}
	atVolumeOutForGood = scene.Moment{Name: "cinder-volume out", Plans: "actVolumeOut", Kind: core.IntentActVolumeOut, Node: "cmp-01",
		Object: scene.LvmRef,
		Writes: scene.AtVolumeOut.Writes,
		Scene: func() scene.Scene {
			sc := leavingScene()
			scene.LvmIn(sc).Enabled, scene.LvmIn(sc).DisabledReason = true, ""
			return sc
		}}
	atLetNodeGo = scene.Moment{Name: "release the lock", Plans: "actRemovalRelease", Kind: core.IntentActRelease, Node: "cmp-01",
		Scene:  leavingScene,
		Writes: core.SetLock{To: core.LockStatus{State: core.LockInactive, Release: "21.0.0+25.2"}}}
	atLetControlGo = scene.Moment{Name: "release the lock", Plans: "actRemovalRelease", Kind: core.IntentActRelease, Node: "ctl-01",
		Scene: leavingScene}
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
			breaks: breaking(func(sc scene.Scene) { scene.LvmIn(sc).Enabled = true })},
		{asks: "no volume is on it", text: "T", source: "docs/mosk.md#removal", at: by("no-volumes", atLetNodeGo),
			breaks: breaking(func(sc scene.Scene) {
				sc.Volumes["cmp-01"].Volumes = []core.Volume{{ID: "v", Name: "data"}}
			}, func(sc scene.Scene) { delete(sc.Volumes, "cmp-01") }),
			note: "Stricter: there is no ndr_skip_volume_check, and what is not known counts as there."},
		{asks: "networking: nothing", source: "docs/mosk.md#removal", note: "Nor in Lockstep."},
		{asks: "Nova has a nova-compute of it; else it fails, for ever", source: "docs/mosk.md#no-compute-service",
			at:     append(by("exists", atTakeOutForGood), by("host-known", atLetNodeGo)...),
			breaks: breaking(func(sc scene.Scene) { delete(sc.Services, "cmp-01") })},
		{asks: "nova-compute is disabled", source: "docs/mosk.md#removal", at: by("", atTakeOutForGood)},
		{asks: "it stays disabled until the lock goes", source: "docs/mosk.md#removal", at: by("out", atLetNodeGo),
			breaks: breaking(func(sc scene.Scene) { sc.Services["cmp-01"].Enabled = true })},
		{asks: "Nova answers", text: "L", source: "docs/mosk.md#text-l", at: by(core.GuardFresh, atTakeOutForGood, atLetNodeGo),
			breaks: breaking(unanswered(core.SourceComputeServices))},
		{asks: "no instance is on it, in whatever state", text: "S", source: "docs/mosk.md#removal", at: by("nothing-on", atLetNodeGo),
			breaks: breaking(func(sc scene.Scene) { sc.Instance("cmp-01", "web") }, func(sc scene.Scene) {
				sc.Instance("cmp-01", "old", "poweroff")
				sc.Status("old", "SHUTOFF", "stopped")
				sc.Mode("cmp-01", core.ModeSkip)
			}), note: "Stricter: there is no ndr_skip_instance_check."},
		{asks: "whatever its role is", text: "S", source: "docs/mosk.md#removal", at: by("nothing-on", atLetControlGo),
			breaks: breaking(func(sc scene.Scene) { sc.Instance("ctl-01", "bare-metal") },
				func(sc scene.Scene) { sc.Instance("ctl-01", "old"); sc.Status("old", "SHUTOFF", "stopped") })},
		{asks: "the lock becomes inactive; inner_state is not touched", source: "docs/mosk.md#removal", at: by("", atLetNodeGo)},
	},
	own: []flowRow{
		{asks: "its removal is asked for, and no maintenance",
			note:   "The controller would do both at a time; a maintenance that was begun is ended first.",
			at:     with(by("turn", atTakeOutForGood, atVolumeOutForGood, atLetNodeGo), "begun"),
			breaks: breaking(func(sc scene.Scene) { clear(sc.Deletions) })},
		{asks: "no maintenance of it is under way", note: "As above; its own conditions hold then.",
			at:     by("begun", atTakeOutForGood, atVolumeOutForGood),
			breaks: breaking(func(sc scene.Scene) { sc.Request("cmp-01", time.Minute) })},
		{asks: "nova-compute goes first", note: "Before the volumes, as in a preparation; the controller's order is the reverse.",
			at:     by("compute-out", atVolumeOutForGood),
			breaks: breaking(func(sc scene.Scene) { sc.Services["cmp-01"].Enabled = true })},
		{asks: "it is the back end that the controller reaches", note: "As in a preparation.", at: by("first", atVolumeOutForGood),
			breaks: breaking(func(sc scene.Scene) { scene.LvmIn(sc).Behind = true })},
		{asks: "no migration runs from or to it", note: "What arrives goes with it, for good.", at: by("no-migration", atLetNodeGo),
			breaks: breaking(func(sc scene.Scene) { sc.Migration(sc.Instance("cmp-02", "web"), "running", "cmp-01", time.Minute) })},
		{asks: "none waits for a decision", note: "Without the host it can be neither confirmed nor reverted.", at: by("decided", atLetNodeGo),
			breaks: breaking(func(sc scene.Scene) { sc.Instance("cmp-02", "half"); sc.CameFrom("half", "cmp-01") })},
	},
}

// A node that is gone.

// goneScene is a cluster that ctl-09 has left, with its lock in deletion. The volumes of the first member of MariaDB and of OVN
// are on the node named by at.
func goneScene(at string) scene.Scene {
	sc := scene.FlowScene()
	sc.Snapshot.ClusterRequests = nil
	l := sc.Lock("ctl-09", core.ControllerOpenStack, core.LockActive)
	l.Deleting, l.Finalizers = scene.Ago(time.Minute), []string{core.UsualFinalizer}
	for _, name := range []string{"mariadb-server", "openvswitch-ovn-db"} {
		sc.StatefulSets = deleteSet(sc.StatefulSets, name)
		sc.WithClaims(sc.Stateful(core.NamespaceOpenStack, name, "", "ctl-02", "ctl-03"), at, "ctl-02", "ctl-03")
	}
	return sc
}

// nodeFinalizer is what the container node of the OpenStack controller puts on each Node.
const nodeFinalizer = core.FinalizersOfRockoon + "node-finalizer"

func deleteSet(sets []*core.StatefulSet, name string) (out []*core.StatefulSet) {
	for _, s := range sets {
		if s.Name != name {
			out = append(out, s)
		}
	}
	return out
}

func goneRef(sc scene.Scene) core.Ref { return scene.OwnLockOf(sc, "ctl-09").Ref() }

func claimRef(set string) func(scene.Scene) core.Ref {
	return func(sc scene.Scene) core.Ref { return sc.Claims["openstack/data-"+set+"-0"].Ref() }
}

func nodeThere(sc scene.Scene) { sc.Node("ctl-09", core.RoleController) }

func claimsBound(sc scene.Scene) {
	for _, name := range []string{"mariadb-server", "openvswitch-ovn-db"} {
		claim := sc.Claims["openstack/data-"+name+"-0"]
		claim.Volume = "pv-" + claim.Name
		sc.LocalVolumes[claim.Volume] = &core.PersistentVolume{Meta: core.Meta{Name: claim.Volume}, Nodes: []string{"ctl-09"}}
	}
}

var (
	atDeleteMariaClaim = scene.Moment{Name: "delete the claim", Plans: "actDeleteClaim", Kind: core.IntentActDeleteClaim, Node: "ctl-09",
		Scene: func() scene.Scene { return goneScene("ctl-09") }, Object: claimRef("mariadb-server"),
		Writes: core.DeleteClaim{Set: "mariadb-server", Pod: "mariadb-server-0", Node: "ctl-09"}}
	atDeleteOVNClaim = scene.Moment{Name: "delete the claim", Plans: "actDeleteClaim", Kind: core.IntentActDeleteClaim, Node: "ctl-09",
		Scene: func() scene.Scene { return goneScene("ctl-09") }, Object: claimRef("openvswitch-ovn-db"),
		Writes: core.DeleteClaim{Set: "openvswitch-ovn-db", Pod: "openvswitch-ovn-db-0", Node: "ctl-09"}}
	atDropLock = scene.Moment{Name: "delete the lock", Plans: "actDropLock", Kind: core.IntentActDropLock, Node: "ctl-09",
		Writes: core.DeleteObject{Object: core.Ref{Kind: core.KindNodeWorkloadLock, Name: "openstack-ctl-09", UID: "lock-openstack-ctl-09"}},
		Scene: func() scene.Scene {
			sc := goneScene("pending")
			scene.OwnLockOf(sc, "ctl-09").Deleting = time.Time{}
			return sc
		}}
	atLetNodeObjectGo = scene.Moment{Name: "let the Node go", Plans: "actLetNodeGo", Kind: core.IntentActLetGo,
		Object: func(sc scene.Scene) core.Ref { return sc.Nodes["ctl-09"].Ref() },
		Scene: func() scene.Scene {
			sc := goneScene("pending")
			scene.OwnLockOf(sc, "ctl-09").Deleting = time.Time{}
			nodeThere(sc)
			n := sc.Nodes["ctl-09"]
			n.Deleting, n.Finalizers = scene.Ago(time.Minute), []string{nodeFinalizer}
			return sc
		}, Writes: core.RemoveFinalizer{Finalizer: nodeFinalizer}}
	atLetLockGo = scene.Moment{Name: "let the lock go", Plans: "actLetLockGo", Kind: core.IntentActLetGo, Object: goneRef,
		Scene: func() scene.Scene { return goneScene("pending") }, Writes: core.RemoveFinalizer{Finalizer: core.UsualFinalizer}}
)

var flowCleanUp = flow{
	title: "Clean-up behind a node that is gone", source: "docs/mosk.md#after-a-node-is-gone, #volume-claims",
	intro: "A node's lock is deleted. That is the trigger; once its finalizer is off it never comes again.",
	rows: []flowRow{
		{asks: "the node's object went, and no NodeDisableNotification keeps the lock", source: "docs/mosk.md#deletion-requests",
			at: by("turn", atDropLock, atLetLockGo, atDeleteMariaClaim),
			breaks: breaking(func(sc scene.Scene) {
				sc.Disablings["ctl-09"] = &core.NodeNotice{Meta: core.Meta{Name: "off"}, Kind: core.KindNodeDisableNotification, Node: "ctl-09"}
			})},
		{asks: "the Node is deleted: kopf lets it go once the controller has seen it", source: "docs/mosk.md#while-it-is-away",
			at: by("", atLetNodeObjectGo)},
		{asks: "the lock is deleted", source: "docs/mosk.md#after-a-node-is-gone", at: by("", atDropLock)},
		{asks: "the lock is the controller's own", source: "docs/mosk.md#locks", at: with(by("played", atLetLockGo), "turn"),
			breaks: breaking(func(sc scene.Scene) { scene.OwnLockOf(sc, "ctl-09").Controller = "ceph" })},
		{asks: "there is an OpenStackDeployment; else nothing is cleaned up", source: "docs/mosk.md#after-a-node-is-gone",
			at:    by("claims", atLetLockGo),
			given: func(sc scene.Scene) { sc.Snapshot.OpenStack, sc.Snapshot.Deployments = nil, nil }, breaks: breaking(claimsBound),
			note: "Stricter: Lockstep asks all the rest without one, too."},
		{asks: "the node does not exist", text: "V", source: "docs/mosk.md#texts", at: by("turn", atLetLockGo, atDeleteMariaClaim, atDropLock),
			breaks: breaking(nodeThere),
			note: "Releases whose code is older than June 2025 looked for a node called as the lock, and so cleaned up while it was there. " +
				"Lockstep does not."},
		{asks: "Prometheus, Redis, etcd, MariaDB: the set does not hold the node", text: "U", source: "docs/mosk.md#quorum",
			at:     by("hard-lock", atDeleteMariaClaim),
			breaks: breaking(memberDown("openstack/mariadb-server"))},
		{asks: "the claims of its pods with a volume of that node are deleted", source: "docs/mosk.md#volume-claims",
			at: by("", atDeleteMariaClaim)},
		{asks: "a claim without a volume of that node is left", source: "docs/mosk.md#volume-claims", at: by("bound", atDeleteMariaClaim),
			breaks: breaking(func(sc scene.Scene) { sc.LocalVolumes["pv-data-mariadb-server-0"].Nodes = []string{"ctl-02"} },
				func(sc scene.Scene) { delete(sc.LocalVolumes, "pv-data-mariadb-server-0") },
				func(sc scene.Scene) { sc.Claims["openstack/data-mariadb-server-0"].Volume = "" })},
		{asks: "no such claim is left when the finalizer goes", source: "docs/mosk.md#volume-claims", at: by("claims", atLetLockGo, atDropLock),
			breaks: breaking(claimsBound)},
		{asks: "block-storage: cinder-volume is down, then removed", source: "docs/mosk.md#after-a-node-is-gone",
			at:     by("forgotten", atLetLockGo, atDropLock),
			breaks: breaking(func(sc scene.Scene) { sc.VolumeService("ctl-09@lvm") }),
			note:   "Lockstep shows the command; the lock waits until Cinder has forgotten it."},
		{asks: "networking: the agents are not alive, then deleted", source: "docs/mosk.md#after-a-node-is-gone",
			at: by("forgotten", atLetLockGo, atDropLock),
			breaks: breaking(func(sc scene.Scene) {
				sc.Agents["ctl-09"] = []*core.NetworkAgent{{ID: "l3", Host: "ctl-09", Binary: "neutron-l3-agent"}}
			}),
			note: "Likewise: the command once they are not alive, and the lock waits for Neutron."},
		{asks: "with ml2/ovn: openvswitch-ovn-db does not hold the node", text: "U", source: "docs/mosk.md#quorum",
			at:     by("hard-lock", atDeleteOVNClaim),
			breaks: breaking(memberDown("openstack/openvswitch-ovn-db"))},
		{asks: "its claims likewise", source: "docs/mosk.md#volume-claims", at: by("", atDeleteOVNClaim)},
		{asks: "compute: its services are down, then deleted", source: "docs/mosk.md#after-a-node-is-gone",
			at: by("forgotten", atLetLockGo, atDropLock), breaks: breaking(func(sc scene.Scene) {
				sc.Services["ctl-09"] = &core.ComputeService{ID: "s", Host: "ctl-09"}
			}), note: "Likewise: the command once it is down, and the lock waits for Nova."},
		{asks: "the Placement provider is deleted", source: "docs/mosk.md#after-a-node-is-gone",
			note: "Nova deletes it with the service, so Lockstep does not ask. Where Placement did not answer then, it is left: `openstack " +
				"resource provider list`."},
		{asks: "Nova, Neutron and Cinder answer", source: "docs/mosk.md#retries", at: by(core.GuardFresh, atLetLockGo, atDropLock),
			breaks: breaking(unanswered(core.SourceComputeServices), unanswered(core.SourceNetworkAgents), unanswered(core.SourceVolumeServices))},
		{asks: "kopf takes the finalizer off", source: "docs/mosk.md#finalizers", at: by("", atLetLockGo)},
	},
	own: []flowRow{
		{asks: "the Node was deleted, and the finalizer on it is the controller's", note: "No other is touched.",
			at: by("held-by", atLetNodeObjectGo),
			breaks: breaking(func(sc scene.Scene) { sc.Nodes["ctl-09"].Deleting = time.Time{} },
				func(sc scene.Scene) { sc.Nodes["ctl-09"].Finalizers = []string{"example.org/another"} })},
		{asks: "the pod of the claim is off the node", note: "The claim would only wait for it.", at: by("pod-away", atDeleteMariaClaim),
			breaks: breaking(func(sc scene.Scene) { sc.DaemonPods["openstack/mariadb-server"][0].Node = "ctl-09" })},
		{asks: "the claim is not in use elsewhere", note: "Its data would be given up for nothing.", at: by("bound", atDeleteMariaClaim),
			breaks: breaking(func(sc scene.Scene) { sc.DaemonPods["openstack/mariadb-server"][0].Node = "ctl-01" })},
		{asks: "the claim is the one that was confirmed", note: "Also at the server, by its UID.", at: by("exists", atDeleteMariaClaim),
			breaks: breaking(func(sc scene.Scene) {
				again := *sc.Claims["openstack/data-mariadb-server-0"]
				again.UID = "another"
				sc.Claims[again.Key()] = &again
			})},
		{asks: "Nova has no instance on the host any more", note: "They could not be evacuated any more.",
			at:     by("forgotten", atLetLockGo, atDropLock),
			breaks: breaking(func(sc scene.Scene) { sc.Instance("ctl-09", "web") })},
		{asks: "what its members claim is known", note: "A member that is not made yet can claim a volume there.",
			at: by("claims", atLetLockGo, atDropLock), breaks: breaking(func(sc scene.Scene) {
				sc.DaemonPods["openstack/mariadb-server"] = sc.DaemonPods["openstack/mariadb-server"][1:]
			})},
		{asks: "the finalizer is the controller's, on a lock that goes", note: "No other is touched.", at: by("held-by", atLetLockGo),
			breaks: breaking(func(sc scene.Scene) { scene.OwnLockOf(sc, "ctl-09").Finalizers = []string{"example.org/another"} })},
	},
}

func flows() []flow {
	return []flow{flowPreparation, flowReturn, flowCluster, flowClusterReturn, flowRemoval, flowCleanUp}
}
