package progress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"

	"pgregory.net/rapid"
)

func TestWhatAnInstanceMeansForItsNode(t *testing.T) {
	tests := []struct {
		name     string
		mode     core.MigrationMode
		tags     []string
		change   func(*core.Instance)
		blocks   bool
		migrates bool
		why      string
	}{
		{"running on a live node", core.ModeLive, nil, nil, true, true, "runs: the OpenStack controller live-migrates it"},
		{"paused on a live node", core.ModeLive, nil,
			func(i *core.Instance) { i.Status, i.VMState, i.Power = "PAUSED", "paused", core.PowerPaused }, true, true,
			"is paused: the OpenStack controller live-migrates it"},
		{"stopped", core.ModeLive, nil, func(i *core.Instance) { i.Status, i.VMState, i.Power = "SHUTOFF", "stopped", core.PowerShutdown }, false,
			false, "safe: stopped"},
		{"suspended", core.ModeManual, nil, func(i *core.Instance) {
			i.Status, i.VMState, i.Power = "SUSPENDED", "suspended",
				core.PowerSuspended
		}, false, false, "safe: suspended"},
		{"crashed", core.ModeLive, nil, func(i *core.Instance) { i.Status, i.VMState, i.Power = "ERROR", "error", core.PowerCrashed }, false,
			false, "safe: crashed"},
		{"resized and not confirmed", core.ModeLive, nil, func(i *core.Instance) { i.Status, i.VMState = "VERIFY_RESIZE", "resized" }, true,
			false,
			"waits for a decision: confirm or revert its migration (VERIFY_RESIZE)"},
		{"in error with power on", core.ModeLive, nil, func(i *core.Instance) { i.Status, i.VMState = "ERROR", "error" }, true, false,
			"runs, and nothing moves it: status ERROR"},
		{"in error without a power state", core.ModeLive, nil,
			func(i *core.Instance) { i.Status, i.VMState, i.Power = "ERROR", "error", core.PowerNoState }, true, false,
			"has no power, and nothing moves it: status ERROR"},
		{"rescued", core.ModeLive, nil, func(i *core.Instance) { i.Status, i.VMState = "RESCUE", "rescued" }, true, false, "end its rescue"},
		{"manual node", core.ModeManual, nil, nil, true, false, "manual: the operator moves it"},
		{"live tag on a manual node", core.ModeManual, []string{"live_migrate"}, nil, true, true, "runs"},
		{"skip node", core.ModeSkip, nil, nil, false, false, "safe: skip"},
		{"notify tag on a skip node", core.ModeSkip, []string{"notify"}, nil, true, false, "notify: its owner decides (project shop)"},
		{"poweroff tag on a live node", core.ModeLive, []string{"poweroff"}, nil, false, false, "safe: poweroff"},
		{"unknown mode", "cold", nil, nil, true, false, `the controller does not know the node's mode "cold"`},
		{"being migrated", core.ModeLive, nil, func(i *core.Instance) { i.Status, i.TaskState = "MIGRATING", "migrating" }, true, false, "moves"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := scene.NewScene()
			sc.Node("cmp-01", core.RoleCompute)
			sc.Mode("cmp-01", tt.mode)
			sc.Maintained("cmp-01", "")
			in := sc.Instance("cmp-01", "web-1", tt.tags...)
			if tt.change != nil {
				tt.change(in)
			}
			v, _ := InstanceView(sc.Snapshot, in.ID)
			if v.Blocks != tt.blocks || v.Migrates != tt.migrates || !strings.Contains(v.Why, tt.why) {
				t.Errorf("blocks %v, migrates %v, %q", v.Blocks, v.Migrates, v.Why)
			}
		})
	}
}

func TestNothingBlocksWhereTheHostDoesNotReboot(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	sc.Maintained("cmp-01", "")
	in := sc.Instance("cmp-01", "web-1")
	sc.NodeRequests["cmp-01"][0].Scope = core.ScopeDrain
	if v, _ := InstanceView(sc.Snapshot, in.ID); v.Blocks || v.Migrates {
		t.Error("scope drain moves nothing (docs/mosk.md#requests)")
	}
}

func TestOnlyFailuresOfThisMaintenanceCount(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	sc.Maintained("cmp-01", "") // 20 minutes ago
	in := sc.Instance("cmp-01", "web-1")
	sc.Migration(in, "failed", "cmp-02", 3*time.Hour).Failure = "long ago"
	sc.Migration(in, "error", "cmp-02", 10*time.Minute).Failure = "first"
	sc.Migration(in, "error", "cmp-02", 5*time.Minute).Failure = "No valid host was found."
	other := sc.Migration(in, "error", "cmp-02", 4*time.Minute)
	other.SourceHost = "cmp-09"
	v, _ := InstanceView(sc.Snapshot, in.ID)
	if v.Failures != 2 || v.Failure != "No valid host was found." {
		t.Errorf("%d failures, %q", v.Failures, v.Failure)
	}
}

func TestInstancesThatBlockComeFirst(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	sc.Maintained("cmp-01", "")
	sc.Instance("cmp-01", "a", "poweroff")
	sc.Instance("cmp-01", "z")
	sc.Instance("cmp-01", "b")
	var names []string
	for _, v := range InstanceViews(sc.Snapshot, "cmp-01") {
		names = append(names, v.Instance.Name)
	}
	if !slices.Equal(names, []string{"b", "z", "a"}) {
		t.Errorf("%v", names)
	}
}

// An instance that Rockoon would migrate also holds the lock until it is gone, unless its state says that nothing runs.
func TestWhatIsMigratedBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, mode := scene.DrawInstance(t, "h"), scene.DrawMode(t)
		action, origin := core.EffectiveAction(in.Tags, mode)
		switch action {
		case core.ActionLiveMigrate, core.ActionPowerOff, core.ActionNotify, core.ActionUnknown:
		default:
			t.Fatalf("action %q", action)
		}
		if action == core.ActionUnknown && (mode.Known() || origin == core.OriginTag) {
			t.Fatalf("unknown action on a %q node by %s", mode, origin)
		}
		_, safe := core.SafeAsItStands(in)
		if core.Migrates(in, action) && !safe && !core.Blocks(in, action) {
			t.Fatalf("%+v is migrated and does not block", in)
		}
		if core.Blocks(in, action) && (safe || action == core.ActionPowerOff) {
			t.Fatalf("%+v blocks", in)
		}
	})
}

// That the scheduler found no host counts until a later try finds one: whether that was aborted, failed on its way, or is under way.
func TestNoRoomCountsUntilATryFindsAHost(t *testing.T) {
	for name, tt := range map[string]struct {
		status, dest string
		want         string
	}{
		"aborted on its way":             {"cancelled", "cmp-02", ""},
		"failed on its way":              {"error", "cmp-02", ""},
		"under way":                      {"running", "cmp-02", ""},
		"aborted before it had a host":   {"cancelled", "", "No valid host was found."},
		"failed, and its reason to come": {"error", "", "No valid host was found."},
	} {
		sc := scene.Healthy()
		sc.Maintained("cmp-01", "")
		in := sc.Named("web-1")
		sc.Migration(in, "error", "", 9*time.Minute).Failure = "No valid host was found."
		sc.Migration(in, tt.status, tt.dest, time.Minute)
		if v, _ := InstanceView(sc.Snapshot, in.ID); v.Failures == 0 || v.Failure != tt.want {
			t.Errorf("%s: %d failed: %q, want %q", name, v.Failures, v.Failure, tt.want)
		}
	}
}
