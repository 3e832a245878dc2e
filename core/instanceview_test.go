package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// docs/mosk.md#tags: one recognised tag wins over the node; none or several: the node's mode counts; unknown values mean nothing.
func TestEffectiveAction(t *testing.T) {
	tag := func(values ...string) (tags []string) {
		for _, v := range values {
			tags = append(tags, TagMaintenanceAction+v)
		}
		return tags
	}
	tests := []struct {
		tags   []string
		mode   MigrationMode
		want   MaintenanceAction
		origin ActionOrigin
	}{
		{nil, ModeLive, ActionLiveMigrate, OriginNode},
		{nil, ModeManual, ActionNotify, OriginNode},
		{nil, ModeSkip, ActionPowerOff, OriginNode},
		{nil, "cold", ActionUnknown, OriginNode},
		{[]string{"backup=daily"}, ModeSkip, ActionPowerOff, OriginNode},
		{tag("live_migrate"), ModeManual, ActionLiveMigrate, OriginTag},
		{tag("notify"), ModeSkip, ActionNotify, OriginTag},
		{tag("poweroff"), ModeLive, ActionPowerOff, OriginTag},
		{tag("poweroff"), "cold", ActionPowerOff, OriginTag},
		{tag("poweroff", "reboot"), ModeLive, ActionPowerOff, OriginTag},
		{tag("reboot"), ModeManual, ActionNotify, OriginNode},
		{tag("notify", "poweroff"), ModeLive, ActionLiveMigrate, OriginConflicting},
		{tag("notify", "live_migrate"), ModeManual, ActionNotify, OriginConflicting},
		{tag("notify", "notify"), ModeLive, ActionNotify, OriginTag},
	}
	for _, tt := range tests {
		got, origin := EffectiveAction(tt.tags, tt.mode)
		if got != tt.want || origin != tt.origin {
			t.Errorf("%v on a %s node: %s (%s), want %s (%s)", tt.tags, tt.mode, got, origin, tt.want, tt.origin)
		}
	}
}

func TestWhatAnInstanceMeansForItsNode(t *testing.T) {
	tests := []struct {
		name     string
		mode     MigrationMode
		tags     []string
		change   func(*Instance)
		blocks   bool
		migrates bool
		why      string
	}{
		{"running on a live node", ModeLive, nil, nil, true, true, "runs: the OpenStack controller live-migrates it"},
		{"paused on a live node", ModeLive, nil, func(i *Instance) { i.Status, i.VMState, i.Power = "PAUSED", "paused", PowerPaused }, true, true, "is paused: the OpenStack controller live-migrates it"},
		{"stopped", ModeLive, nil, func(i *Instance) { i.Status, i.VMState, i.Power = "SHUTOFF", "stopped", PowerShutdown }, false, false, "safe: stopped"},
		{"suspended", ModeManual, nil, func(i *Instance) { i.Status, i.VMState, i.Power = "SUSPENDED", "suspended", PowerSuspended }, false, false, "safe: suspended"},
		{"crashed", ModeLive, nil, func(i *Instance) { i.Status, i.VMState, i.Power = "ERROR", "error", PowerCrashed }, false, false, "safe: crashed"},
		{"resized and not confirmed", ModeLive, nil, func(i *Instance) { i.Status, i.VMState = "VERIFY_RESIZE", "resized" }, true, false,
			"waits for a decision: confirm or revert its migration (VERIFY_RESIZE)"},
		{"in error with power on", ModeLive, nil, func(i *Instance) { i.Status, i.VMState = "ERROR", "error" }, true, false, "runs, and nothing moves it: status ERROR"},
		{"in error without a power state", ModeLive, nil, func(i *Instance) { i.Status, i.VMState, i.Power = "ERROR", "error", PowerNoState }, true, false, "has no power, and nothing moves it: status ERROR"},
		{"rescued", ModeLive, nil, func(i *Instance) { i.Status, i.VMState = "RESCUE", "rescued" }, true, false, "end its rescue"},
		{"manual node", ModeManual, nil, nil, true, false, "manual: the operator moves it"},
		{"live tag on a manual node", ModeManual, []string{"live_migrate"}, nil, true, true, "runs"},
		{"skip node", ModeSkip, nil, nil, false, false, "safe: skip"},
		{"notify tag on a skip node", ModeSkip, []string{"notify"}, nil, true, false, "notify: its owner decides (project shop)"},
		{"poweroff tag on a live node", ModeLive, []string{"poweroff"}, nil, false, false, "safe: poweroff"},
		{"unknown mode", "cold", nil, nil, true, false, `"cold" is none that the controller knows`},
		{"being migrated", ModeLive, nil, func(i *Instance) { i.Status, i.TaskState = "MIGRATING", "migrating" }, true, false, "moves"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := newScene()
			sc.node("cmp-01", RoleCompute)
			sc.mode("cmp-01", tt.mode)
			sc.maintained("cmp-01", "")
			in := sc.instance("cmp-01", "web-1", tt.tags...)
			if tt.change != nil {
				tt.change(in)
			}
			v, _ := sc.InstanceView(in.ID)
			if v.Blocks != tt.blocks || v.Migrates != tt.migrates || !strings.Contains(v.Why, tt.why) {
				t.Errorf("blocks %v, migrates %v, %q", v.Blocks, v.Migrates, v.Why)
			}
		})
	}
}

func TestNothingBlocksWhereTheHostDoesNotReboot(t *testing.T) {
	sc := newScene()
	sc.node("cmp-01", RoleCompute)
	sc.maintained("cmp-01", "")
	in := sc.instance("cmp-01", "web-1")
	sc.NodeRequests["cmp-01"][0].Scope = ScopeDrain
	if v, _ := sc.InstanceView(in.ID); v.Blocks || v.Migrates {
		t.Error("scope drain moves nothing (docs/mosk.md#requests)")
	}
}

func TestOnlyFailuresOfThisMaintenanceCount(t *testing.T) {
	sc := newScene()
	sc.node("cmp-01", RoleCompute)
	sc.maintained("cmp-01", "") // 20 minutes ago
	in := sc.instance("cmp-01", "web-1")
	sc.migration(in, "failed", "cmp-02", 3*time.Hour).Failure = "long ago"
	sc.migration(in, "error", "cmp-02", 10*time.Minute).Failure = "first"
	sc.migration(in, "error", "cmp-02", 5*time.Minute).Failure = "No valid host was found."
	other := sc.migration(in, "error", "cmp-02", 4*time.Minute)
	other.SourceHost = "cmp-09"
	v, _ := sc.InstanceView(in.ID)
	if v.Failures != 2 || v.Failure != "No valid host was found." {
		t.Errorf("%d failures, %q", v.Failures, v.Failure)
	}
}

func TestInstancesThatBlockComeFirst(t *testing.T) {
	sc := newScene()
	sc.node("cmp-01", RoleCompute)
	sc.maintained("cmp-01", "")
	sc.instance("cmp-01", "a", "poweroff")
	sc.instance("cmp-01", "z")
	sc.instance("cmp-01", "b")
	var names []string
	for _, v := range sc.InstanceViews("cmp-01") {
		names = append(names, v.Instance.Name)
	}
	if !slices.Equal(names, []string{"b", "z", "a"}) {
		t.Errorf("%v", names)
	}
}

func drawInstance(t *rapid.T, host string) *Instance {
	in := &Instance{
		ID: rapid.StringMatching(`[0-9a-f]{8}`).Draw(t, "id"), Name: rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "name"), Host: host,
		Status: rapid.SampledFrom([]string{"ACTIVE", "PAUSED", "SHUTOFF", "ERROR", "VERIFY_RESIZE", "RESCUE", "MIGRATING", "RESIZE", "SUSPENDED", "BUILD", "SHELVED", "UNKNOWN", ""}).Draw(t, "status"),
		VMState: rapid.SampledFrom([]string{"active", "paused", "stopped", "error", "resized", "rescued", "building", "suspended", "shelved",
			"shelved_offloaded", "soft_deleted", ""}).Draw(t, "vm state"),
		TaskState: rapid.SampledFrom([]string{"", "", "migrating", "powering-off", "rebuilding"}).Draw(t, "task"),
		Power:     PowerState(rapid.IntRange(0, 8).Draw(t, "power")),
		TagsKnown: true, Zone: "nova", ProjectID: "p1",
	}
	for _, v := range rapid.SliceOfN(rapid.SampledFrom([]string{"live_migrate", "poweroff", "notify", "else"}), 0, 3).Draw(t, "tags") {
		in.Tags = append(in.Tags, TagMaintenanceAction+v)
	}
	return in
}

func drawMode(t *rapid.T) MigrationMode {
	return rapid.SampledFrom([]MigrationMode{ModeLive, ModeManual, ModeSkip, "cold", ""}).Draw(t, "mode")
}

// What Rockoon would migrate also holds the lock until it is gone, unless its state says that nothing runs.
func TestWhatIsMigratedBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, mode := drawInstance(t, "h"), drawMode(t)
		action, origin := EffectiveAction(in.Tags, mode)
		switch action {
		case ActionLiveMigrate, ActionPowerOff, ActionNotify, ActionUnknown:
		default:
			t.Fatalf("action %q", action)
		}
		if action == ActionUnknown && (mode.Known() || origin == OriginTag) {
			t.Fatalf("unknown action on a %q node by %s", mode, origin)
		}
		_, safe := safeAsItStands(in)
		if migrates(in, action) && !safe && !blocks(in, action) {
			t.Fatalf("%+v is migrated and does not block", in)
		}
		if blocks(in, action) && (safe || action == ActionPowerOff) {
			t.Fatalf("%+v blocks", in)
		}
	})
}
