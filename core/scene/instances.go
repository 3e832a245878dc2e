package scene

import (
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

func (sc Scene) ColdRecord(in *core.Instance, status string) *core.Migration {
	m := &core.Migration{ID: 4, InstanceID: in.ID, Type: core.MigrationCold, Status: status,
		SourceHost: "cmp-01", DestHost: "cmp-02", Created: Ago(5 * 60e9), Updated: Ago(60e9)}
	sc.Migrations[in.ID] = []*core.Migration{m}
	return m
}

// InMaintenance is a cluster whose manual node cmp-01 LCM asks for, with these instances on it: web-1 (runs), and what the
// test adds.
func InMaintenance() Scene {
	sc := Healthy()
	sc.Mode("cmp-01", core.ModeManual)
	sc.Maintained("cmp-01", "Some servers are still present on the host.")
	return sc
}

// Emptied is the same node with nothing but a stopped instance left.
func Emptied() Scene {
	sc := InMaintenance()
	in := sc.Named("web-1")
	in.Status, in.VMState, in.Power = "SHUTOFF", "stopped", core.PowerShutdown
	return sc
}

func (sc Scene) Named(name string) *core.Instance {
	for _, in := range sc.Instances {
		if in.Name == name {
			return in
		}
	}
	return nil
}

// Status puts an instance into one of Nova's states, with the vm_state that goes with it.
func (sc Scene) Status(name, status, vmState string) *core.Instance {
	in := sc.Named(name)
	in.Status, in.VMState = status, vmState
	return in
}

func (sc Scene) Migrates(name string) *core.Migration {
	in := sc.Status(name, "MIGRATING", "active")
	in.TaskState = "migrating"
	m := sc.Migration(in, "running", "cmp-02", time.Minute)
	m.Memory = &core.Progress{Total: 100, Remaining: 19}
	return m
}

func (sc Scene) Asked(name string, kind core.IntentKind) core.Intent {
	return core.Intent{Kind: kind, Instance: sc.Named(name).ID}
}

func Failing(st core.Step) []core.GuardID {
	var ids []core.GuardID
	for _, g := range st.Guards {
		if !g.Holds {
			ids = append(ids, g.ID)
		}
	}
	return ids
}

const Web1 = "00000001-0000-4000-8000-000000000001"

// Builds adds an instance that Nova is building on the host.
func (sc Scene) Builds(host, name, task string) {
	in := sc.Instance(host, name)
	in.Status, in.VMState, in.Power, in.TaskState = "BUILD", "building", core.PowerNoState, task
}

// CameFrom makes an instance one that was cold-migrated from a host, and waits for a decision.
func (sc Scene) CameFrom(name, host string) {
	in := sc.Status(name, "VERIFY_RESIZE", "resized")
	m := sc.Migration(in, "finished", in.Host, time.Minute)
	m.Type, m.SourceHost = core.MigrationCold, host
}

// Removes has LCM ask for the removal of a node.
func (sc Scene) Removes(node string) {
	sc.Deletions[node] = &core.NodeNotice{Meta: core.Meta{Name: node, UID: "ndr-" + node, Created: Ago(time.Hour)},
		Kind: core.KindNodeDeletionRequest, Node: node}
}

// Dies switches a host off: neither its kubelet nor its nova-compute reports.
func (sc Scene) Dies(node string) {
	sc.Nodes[node].Ready, sc.Nodes[node].ReadyReason, sc.Services[node].Up = "Unknown", "NodeStatusUnknown", false
}

func (sc Scene) Aged(id core.SourceID, age time.Duration) {
	src := sc.Sources[id]
	src.AsOf = sc.Wall.Add(-age)
	sc.Sources[id] = src
}

func (sc Scene) Doing(op core.Operation) {
	op.ID, op.State = "op-"+wording.Itoa(len(sc.Operations)), core.OperationRunning
	sc.Operations = append([]core.Operation{op}, sc.Operations...)
}

func (sc Scene) Changed(node, from, to string) {
	sc.History.Changes["uid-"+node] = core.AnnotationChange{Node: node, Key: core.AnnotationMigrationMode, Old: &from, New: &to,
		At: Ago(time.Hour)}
}

func Tagged(actions ...string) (tags []string) {
	for _, a := range actions {
		tags = append(tags, core.TagMaintenanceAction+a)
	}
	return tags
}
