package scene

import (
	"time"
	"unsafe"

	"lockstep/core"
)

// Emptied takes all instances off a node.
func (sc Scene) Emptied(node string) {
	for _, in := range sc.ByHost[node] {
		sc.Instances.Remove(in.ID)
	}
	delete(sc.ByHost, node)
}

// Returning puts a node on its way back: it was released, and its request is being removed.
func (sc Scene) Returning(node string, since time.Duration, message string) *core.WorkloadLock {
	l := sc.Maintained(node, message)
	l.RawState = core.LockInactive
	sc.NodeRequests[node][0].Deleting = Ago(since)
	return l
}

// Next is the next Snapshot, with the stages of these views in its History, as the engine carries them over.
func (sc Scene) Next(views []*core.NodeView, after time.Duration) Scene {
	stages := map[string]core.StageRecord{}
	for _, v := range views {
		if v.Node != nil {
			r := core.StageRecord{Stage: v.Stage, Since: v.Since}
			if r.Since.Later && r.Since.Seen.IsZero() {
				r.Since.Seen = sc.Now
			}
			stages[v.Node.UID] = r
		}
	}
	n := sc.Again()
	n.History.Stages, n.Now, n.Wall = stages, n.Now.Add(after), n.Wall.Add(after)
	for id, src := range n.Sources {
		if !src.AsOf.IsZero() {
			src.AsOf = src.AsOf.Add(after)
		}
		n.Sources[id] = src
	}
	return n
}

// Left is a cluster at rest in which the OpenStack lock of cmp-01 was left inactive, and its host out of scheduling.
func Left() Scene {
	sc := Healthy()
	sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockInactive
	svc := sc.Services["cmp-01"]
	svc.Enabled, svc.DisabledReason = false, core.DisabledReasonMaintenance
	return sc.Again()
}

// IDA and IDB are instance IDs as they appear in texts.
const (
	IDA = "0ab4dd8f-ef0d-401d-9d5e-e9e97e077422"
	IDB = "51c2e0aa-4f3b-4d5c-9a86-1b2f7f1a0c11"
)

// Gateway is a cluster with a played OpenStack controller and a begun gateway in mode manual, with an L3 and a DHCP agent on it.
func Gateway() Scene {
	sc := Quorate("ctl-01", "ctl-02", "ctl-03")
	sc.NodeRequests = map[string][]*core.MaintenanceRequest{}
	sc.Node("gtw-02", core.RoleGateway)
	sc.Request("gtw-01", 20*time.Minute)
	sc.Mode("gtw-01", core.ModeManual)
	sc.NodeLock("gtw-01", core.ControllerOpenStack).InnerState = core.InnerActive
	agent := func(id, host, kind string, load *core.AgentLoad) {
		sc.Agents[host] = append(sc.Agents[host],
			&core.NetworkAgent{ID: id, Host: host, Type: kind, Binary: "x", Alive: true, AdminUp: true, Load: load})
	}
	agent("l3-1", "gtw-01", "L3 agent", &core.AgentLoad{Routers: []core.Router{{ID: "r-1", Name: "shop"},
		{ID: "r-2", Name: "pair", HA: true}}})
	agent("dhcp-1", "gtw-01", "DHCP agent", &core.AgentLoad{Networks: []core.Network{{ID: "n-1", Name: "front"}}})
	agent("l3-2", "gtw-02", "L3 agent", nil)
	return sc
}

// AllThrough puts the nodes of a role into the state after their maintenance.
func (sc Scene) AllThrough(role core.Role) {
	for _, n := range sc.Nodes {
		if n.Is(role) {
			n.KubeletVersion, n.ReadySince = "v1.31.9", Ago(time.Hour)
		}
	}
}

// ByHandCluster adds a cluster request that was made by hand; the cluster's locks are released.
func (sc Scene) ByHandCluster() *core.MaintenanceRequest {
	r := sc.Update(time.Hour)
	r.MadeBy = core.MadeByLockstep
	sc.Lock("", core.ControllerOpenStack, core.LockInactive)
	return r
}

// Unlabelled is a cluster in which somebody took the only role label off cmp-01 half an hour ago.
func Unlabelled() Scene {
	sc := Healthy()
	n, l := sc.Nodes["cmp-01"], sc.NodeLock("cmp-01", core.ControllerOpenStack)
	n.Roles = nil
	l.Deleting, l.Finalizers, l.Original = Ago(30*time.Minute), HeldBy, map[string]string{"openstack-compute-node": "enabled", "edge": "on"}
	return sc
}

// Asleep is a time as time.Now returns it after the machine has slept: the wall clock has gone on, the monotonic clock has not.
func Asleep(t time.Time, slept time.Duration) time.Time {
	const shift = 30 // above the nanoseconds, in the first word of a Time that has a monotonic reading
	*(*uint64)(unsafe.Pointer(&t)) += uint64(slept/time.Second) << shift
	return t
}
