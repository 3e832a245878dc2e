package scene

import (
	"maps"
	"slices"
	"time"

	"lockstep/core"
	"pgregory.net/rapid"
)

// DrawInstance draws an instance on the host, in any state and with any tags.
func DrawInstance(t *rapid.T, host string) *core.Instance {
	in := &core.Instance{
		ID: rapid.StringMatching(`[0-9a-f]{8}`).Draw(t, "id"), Name: rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "name"), Host: host,
		Status: rapid.SampledFrom([]string{"ACTIVE", "PAUSED", "SHUTOFF", "ERROR", "VERIFY_RESIZE", "RESCUE", "MIGRATING", "RESIZE", "SUSPENDED",
			"BUILD", "SHELVED", "UNKNOWN", ""}).Draw(t, "status"),
		VMState: rapid.SampledFrom([]string{"active", "paused", "stopped", "error", "resized", "rescued", "building", "suspended", "shelved",
			"shelved_offloaded", "soft_deleted", ""}).Draw(t, "vm state"),
		TaskState: rapid.SampledFrom([]string{"", "", "migrating", "powering-off", "rebuilding"}).Draw(t, "task"),
		Power:     core.PowerState(rapid.IntRange(0, 8).Draw(t, "power")),
		TagsKnown: true, Zone: "nova", ProjectID: "p1",
	}
	for _, v := range rapid.SliceOfN(rapid.SampledFrom([]string{"live_migrate", "poweroff", "notify", "else"}), 0, 3).Draw(t, "tags") {
		in.Tags = append(in.Tags, core.TagMaintenanceAction+v)
	}
	return in
}

// DrawMode draws a migration mode: a valid one, an unknown one, or none.
func DrawMode(t *rapid.T) core.MigrationMode {
	return rapid.SampledFrom([]core.MigrationMode{core.ModeLive, core.ModeManual, core.ModeSkip, "cold", ""}).Draw(t, "mode")
}

// AllKinds are the kinds of intents that the properties of plans are checked with.
var AllKinds = []core.IntentKind{core.IntentSetMode, core.IntentSetAttempts, core.IntentDeclareSafe, core.IntentRestoreMode,
	core.IntentLiveMigrate, core.IntentLiveMigrateAll, core.IntentColdMigrate,
	core.IntentConfirmResize, core.IntentRevertResize, core.IntentStop, core.IntentStart, core.IntentAbortMigration, core.IntentForceComplete,
	core.IntentDisableCompute, core.IntentEnableCompute,
	core.IntentResume, core.IntentResetState, core.IntentShelve, core.IntentUnshelve, core.IntentTagPowerOff, core.IntentRestoreTags,
	core.IntentRestartPod, core.IntentRestartPods, core.IntentRestartAgent, core.IntentRestartAgents, core.IntentAddTempest,
	core.IntentRemoveTempest, core.IntentDeletePod, core.IntentDeletePods,
	core.IntentEnterCluster, core.IntentLeaveCluster, core.IntentEnterMachine, core.IntentLeaveMachine, core.IntentReboot,
	core.IntentCommence, core.IntentUncommence, core.IntentSetRelease, core.IntentSetAutoPause,
	core.IntentDisableVolume, core.IntentEnableVolume,
	core.IntentMoveMachines, core.IntentSetGroupConcurrency, core.IntentSetGroupIndex, core.IntentSetGroupReboot, core.IntentMakeGroup,
	core.IntentDeleteGroup, core.IntentSetUpgradeIndex, core.IntentMakeSilence, core.IntentExpireSilence}

// AnyScene draws a cluster in which everything that a plan depends on can vary: sources, modes, instances, migrations, locks,
// requests, operations. It leans towards states in which steps are possible, so that both answers occur.
func AnyScene(t *rapid.T) Scene {
	sc := Healthy()
	mostly := func(name string, often, seldom func()) {
		if rapid.IntRange(0, 5).Draw(t, name) < 5 { // rapid leans towards 0
			often()
		} else {
			seldom()
		}
	}
	nothing := func() {}
	one := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
	mostly("armed", nothing, func() { sc.Write = core.WriteMode{Barred: one("barred", "", "read-only")} })
	for _, id := range []core.SourceID{core.SourceNodes, core.SourceNodeRequests, core.SourceNodeLocks, core.SourceInstances,
		core.SourceComputeServices, core.SourceMigrations} {
		if rapid.IntRange(0, 19).Draw(t, string(id)) == 19 {
			sc.Source(id, core.SourceState(one("state", "stale", "forbidden", "failed", "off", "connecting")))
		} else if rapid.IntRange(0, 19).Draw(t, string(id)+" age") == 19 {
			sc.Aged(id, 2*time.Minute)
		}
	}
	mostly("asked", func() { sc.Maintained("cmp-01", one("message", "", "Some servers are still present on the host.")) }, nothing)
	if r := sc.NodeRequest("cmp-01"); r != nil {
		mostly("returning", nothing, func() { r.Deleting = Noon })
		r.Scope = core.Scope(one("scope", "os", "os", "drain", ""))
	}
	mostly("lock", nothing, func() {
		sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = core.LockState(one("lock state", "inactive", "failed", "odd"))
	})
	if mode := one("mode", "", "manual", "manual", "live", "skip", "odd"); mode != "" {
		sc.Mode("cmp-01", core.MigrationMode(mode))
	}
	if rapid.Bool().Draw(t, "changed") {
		sc.Changed("cmp-01", "manual", one("to", "skip", "live"))
	}
	for _, name := range []string{"web-1", "a-1", "b-2"}[:rapid.IntRange(1, 3).Draw(t, "instances")] {
		in := sc.Named(name)
		if in == nil {
			in = sc.Instance("cmp-01", name)
		}
		state := rapid.SampledFrom([][2]string{{"SHUTOFF", "stopped"}, {"SHUTOFF", "stopped"}, {"ACTIVE", "active"}, {"PAUSED", "paused"},
			{"ERROR", "error"},
			{"VERIFY_RESIZE", "resized"}, {"SHELVED_OFFLOADED", "shelved_offloaded"}, {"RESCUE", "rescued"}}).Draw(t, "status")
		in.Status, in.VMState = state[0], state[1]
		in.Power = rapid.SampledFrom([]core.PowerState{core.PowerNoState, core.PowerRunning, core.PowerPaused, core.PowerShutdown,
			core.PowerCrashed, core.PowerSuspended}).Draw(t, "power")
		for _, tag := range rapid.SliceOfN(rapid.SampledFrom([]string{"live_migrate", "poweroff", "notify", "odd"}), 0, 2).Draw(t, "tags") {
			in.Tags = append(in.Tags, core.TagMaintenanceAction+tag)
		}
		mostly("task", nothing, func() { in.TaskState = one("task state", "migrating", "powering-off") })
		if rapid.IntRange(0, 3).Draw(t, "migrates") == 3 {
			m := sc.Migration(in, one("migration", "preparing", "running", "error", "completed", "finished"), "cmp-02", time.Minute)
			m.Type = one("type", core.MigrationLive, core.MigrationLive, core.MigrationCold)
		}
	}
	if rapid.IntRange(0, 7).Draw(t, "operation") == 7 {
		kinds := map[string]core.IntentKind{"live-migrate/" + Web1: core.IntentLiveMigrate,
			"live-migrate-all/uid-cmp-01": core.IntentLiveMigrateAll, "set-mode/uid-cmp-01/skip": core.IntentSetMode}
		step := one("step", slices.Sorted(maps.Keys(kinds))...)
		sc.Doing(core.Operation{Step: step, Intent: core.Intent{Kind: kinds[step]}, Node: "cmp-01", Title: "something"})
	}
	if rapid.IntRange(0, 3).Draw(t, "tagged by Lockstep") == 3 {
		sc.History.Tags[Web1] = core.TagChange{Instance: "web-1",
			Old: core.RecognisedTags([]string{core.TagMaintenanceAction + one("former", "notify", "odd")}),
			New: []core.MaintenanceAction{core.ActionPowerOff}, At: Ago(time.Hour)}
	}
	anyDaemons(t, sc)
	anyVolumeService(t, sc)
	if rapid.Bool().Draw(t, "managed") {
		sc = anyManaged(t, sc)
	}
	for _, name := range []string{"cmp-01", "cmp-02"} {
		mostly("service "+name, nothing, func() {
			sc.Services[name].Up, sc.Services[name].Enabled = rapid.Bool().Draw(t, "up"), rapid.Bool().Draw(t, "enabled")
		})
	}
	return sc
}

// anyManaged connects the scene to a management cluster, on which all that drives an update can vary.
func anyManaged(t *rapid.T, sc Scene) Scene {
	m := sc.Managed()
	releases := rapid.SampledFrom([]string{"mosk-17-4-0-25-1", "mosk-21-0-0-25-2", "mosk-22-0-0-26-1", ""})
	m.Cluster.Available = []core.OfferedRelease{{Name: "mosk-21-0-0-25-2", Version: "21.0.0"}, {Version: "22.0.0"}}
	for _, seldom := range []struct {
		name string
		do   func()
	}{
		{"its release", func() { m.Cluster.Release = releases.Draw(t, "at") }},
		{"its wanted release", func() { m.Cluster.Target = releases.Draw(t, "to be at") }},
		{"in mode", func() { m.Cluster.InMaintenance = true }},
		{"stuck", func() { m.Lcm.Stuck = true }},
		{"plans unseen", func() { m.Source(core.SourcePlans, core.SourceStale) }},
		{"groups unseen", func() { m.Source(core.SourceGroups, core.SourceStale) }},
		{"no automatic pause", func() { m.Source(core.SourceAutoPauses, core.SourceAbsent) }},
	} {
		if rapid.IntRange(0, 9).Draw(t, seldom.name) == 9 {
			seldom.do()
		}
	}
	var others []core.Object
	if rapid.Bool().Draw(t, "pause") {
		others = append(others, &core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "pause"}, Alerts: []string{"A", "B"},
			Firing: rapid.SampledFrom([][]string{nil, nil, {"A"}}).Draw(t, "firing")})
	}
	if done := rapid.IntRange(-1, 5).Draw(t, "complete"); done >= 0 {
		p := m.Planned(done)
		p.Status = rapid.SampledFrom([]string{core.PlanNotStarted, core.PlanInProgress, core.PlanAutoPaused, core.PlanCompleted, ""}).
			Draw(t, "plan")
		if p.Status == core.PlanNotStarted {
			p.Started = time.Time{}
		}
		p.Steps[3].Granularity = "machine"
		for i := done; i < len(p.Steps); i++ {
			p.Steps[i].Commence = rapid.Bool().Draw(t, "commence")
			p.Steps[i].Status = rapid.SampledFrom([]string{core.PlanNotStarted, core.PlanNotStarted, core.PlanScheduled, core.PlanInProgress,
				core.PlanStuck, core.PlanAutoPaused}).Draw(t, "step")
		}
	}
	return m.Join(others...)
}

// StillPresent is a text J of the OpenStack controller that names the instance IDA.
const StillPresent = "Some servers are still present on the host. Servers with unset maintenance action: ['" + IDA + "']"

// DrawScene is a cluster in any state, consistent or not.
func DrawScene(t *rapid.T) Scene {
	sc := NewScene()
	states := []core.LockState{core.LockActive, core.LockInactive, core.LockFailed, "", "sleeping"}
	texts := []string{"", StillPresent, "Starting migration for " + IDA, "Timeout waiting for compute services up on the host.", "else",
		"Retrying migrate instances from host. Cannot execute openstack commands, error: 503",
		"Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node x"}
	if rapid.Bool().Draw(t, "update") {
		r := sc.Update(time.Duration(rapid.IntRange(0, 600).Draw(t, "begun")) * time.Minute)
		if rapid.Bool().Draw(t, "ends") {
			r.Deleting = Ago(time.Minute)
		}
		sc.Lock("", core.ControllerOpenStack, rapid.SampledFrom(states).Draw(t, "cluster lock"))
	}
	for _, name := range []string{"cmp-01", "cmp-02", "gtw-01"} {
		role := core.RoleCompute
		if name == "gtw-01" {
			role = core.RoleGateway
		}
		n := sc.Node(name, role)
		n.Ready = rapid.SampledFrom([]string{"True", "False", "Unknown", ""}).Draw(t, "ready")
		n.ReadySince = Ago(time.Duration(rapid.IntRange(0, 900).Draw(t, "ready since")) * time.Minute)
		n.Cordoned = rapid.Bool().Draw(t, "cordoned")
		if m := DrawMode(t); m != "" {
			sc.Mode(name, m)
		}
		if rapid.Bool().Draw(t, "requested") {
			r := sc.Request(name, time.Duration(rapid.IntRange(0, 600).Draw(t, "requested ago"))*time.Minute)
			r.Scope = rapid.SampledFrom([]core.Scope{core.ScopeOS, core.ScopeDrain, "", "else"}).Draw(t, "scope")
			if rapid.Bool().Draw(t, "deleting") {
				r.Deleting = Ago(time.Minute)
			}
		}
		l := sc.NodeLocks.At(name)[0]
		l.RawState = rapid.SampledFrom(states).Draw(t, "lock")
		l.InnerState = rapid.SampledFrom([]string{core.InnerActive, core.InnerInactive, "", "else"}).Draw(t, "inner")
		l.Message = rapid.SampledFrom(texts).Draw(t, "text")
		if rapid.Bool().Draw(t, "no node") && name == "gtw-01" {
			delete(sc.Nodes, name)
		}
		for range rapid.IntRange(0, 3).Draw(t, "instances") {
			in := DrawInstance(t, name)
			if sc.Instances.At(in.ID) != nil {
				continue
			}
			sc.Instances.Put(in)
			sc.ByHost[name] = append(sc.ByHost[name], in)
			if rapid.Bool().Draw(t, "migration") {
				sc.Migration(in, rapid.SampledFrom([]string{"running", "error", "completed"}).Draw(t, "status"), "cmp-02", time.Minute)
			}
		}
	}
	if rapid.Bool().Draw(t, "a source is away") {
		id := rapid.SampledFrom([]core.SourceID{core.SourceNodes, core.SourceNodeLocks, core.SourceNodeRequests, core.SourceInstances,
			core.SourceClusterRequests,
			core.SourceClusterLocks, core.SourceNodePods, core.SourceMigrations, core.SourceComputeServices}).Draw(t, "source")
		sc.Source(id, rapid.SampledFrom([]core.SourceState{core.SourceStale, core.SourceForbidden, core.SourceAbsent, core.SourceOff,
			core.SourceFailed, core.SourceConnecting}).Draw(t, "state"))
	}
	return sc
}
