package core

import (
	"testing"
)

// The rules of docs/mosk.md#tags: one recognised tag overrides the node; with none or several the node's mode counts; unknown
// values count for nothing.
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
