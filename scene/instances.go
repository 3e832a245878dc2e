package scene

import (
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// ColdRecord gives the instance one migration record: a cold migration from cmp-01 to cmp-02.
func (sc Scene) ColdRecord(in *core.Instance, status string) *core.Migration {
	m := &core.Migration{ID: 4, InstanceID: in.ID, Type: core.MigrationCold, Status: status,
		SourceHost: "cmp-01", DestHost: "cmp-02", Created: Ago(5 * 60e9), Updated: Ago(60e9)}
	sc.Migrations[in.ID] = []*core.Migration{m}
	return m
}

// InMaintenance is a cluster with LCM's request for cmp-01, a node in mode manual. The running instance web-1 is on it, and what
// the test adds.
func InMaintenance() Scene {
	sc := Healthy()
	sc.Mode("cmp-01", core.ModeManual)
	sc.Maintained("cmp-01", "Some servers are still present on the host.")
	return sc
}

// Emptied is the same node with only a stopped instance left.
func Emptied() Scene {
	sc := InMaintenance()
	in := sc.Named("web-1")
	in.Status, in.VMState, in.Power = "SHUTOFF", "stopped", core.PowerShutdown
	return sc
}

// Named is the instance with this name; nil when there is none.
func (sc Scene) Named(name string) *core.Instance {
	for _, in := range sc.Instances.All() {
		if in.Name == name {
			return in
		}
	}
	return nil
}

// Status puts an instance into one of Nova's states, with the matching vm_state.
func (sc Scene) Status(name, status, vmState string) *core.Instance {
	in := sc.Named(name)
	in.Status, in.VMState = status, vmState
	return in
}

// Migrates starts a live migration of the instance to cmp-02.
func (sc Scene) Migrates(name string) *core.Migration {
	in := sc.Status(name, "MIGRATING", "active")
	in.TaskState = "migrating"
	m := sc.Migration(in, "running", "cmp-02", time.Minute)
	m.Memory = &core.Progress{Total: 100, Remaining: 19}
	return m
}

// Asked is an intent of this kind for the instance.
func (sc Scene) Asked(name string, kind core.IntentKind) core.Intent {
	return core.Intent{Kind: kind, Instance: sc.Named(name).ID}
}

// Failing are the IDs of the step's guards that do not hold.
func Failing(st core.Step) []core.GuardID {
	var ids []core.GuardID
	for _, g := range st.Guards {
		if !g.Holds {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

// Web1 is the ID of the instance web-1.
const Web1 = "00000001-0000-4000-8000-000000000001"

// Builds adds an instance that Nova is building on the host.
func (sc Scene) Builds(host, name, task string) {
	in := sc.Instance(host, name)
	in.Status, in.VMState, in.Power, in.TaskState = "BUILD", "building", core.PowerNoState, task
}

// CameFrom makes the instance one that was cold-migrated from the host and has to be confirmed or reverted.
func (sc Scene) CameFrom(name, host string) {
	in := sc.Status(name, "VERIFY_RESIZE", "resized")
	m := sc.Migration(in, "finished", in.Host, time.Minute)
	m.Type, m.SourceHost = core.MigrationCold, host
}

// Removes adds LCM's request for the removal of a node.
func (sc Scene) Removes(node string) {
	sc.Deletions[node] = &core.NodeNotice{Meta: core.Meta{Name: node, UID: "ndr-" + node, Created: Ago(time.Hour)},
		Kind: core.KindNodeDeletionRequest, Node: node}
}

// Dies switches a host off: its kubelet and its nova-compute do not report.
func (sc Scene) Dies(node string) {
	sc.Nodes[node].Ready, sc.Nodes[node].ReadyReason, sc.Services[node].Up = "Unknown", "NodeStatusUnknown", false
}

// Aged makes the newest facts of a source this old.
func (sc Scene) Aged(id core.SourceID, age time.Duration) {
	src := sc.Sources[id]
	src.AsOf = sc.Wall.Add(-age)
	sc.Sources[id] = src
}

// Doing adds a running operation.
func (sc Scene) Doing(op core.Operation) {
	op.ID, op.State = "op-"+wording.Itoa(len(sc.Operations)), core.OperationRunning
	sc.Operations = append([]core.Operation{op}, sc.Operations...)
}

// Changed adds a change of the node's migration mode to the History, an hour ago.
func (sc Scene) Changed(node, from, to string) {
	sc.History.Changes["uid-"+node] = core.AnnotationChange{Node: node, Key: core.AnnotationMigrationMode, Old: &from, New: &to,
		At: Ago(time.Hour)}
}

// Tagged are the maintenance action tags of these actions.
func Tagged(actions ...string) (tags []string) {
	for _, a := range actions {
		tags = append(tags, core.TagMaintenanceAction+a)
	}
	return tags
}
