package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
)

// LCM reboots a machine and does not see it up again. What is said of its node is what the node shows: it may be Ready, or be gone.
func TestANodeThatLCMRebootsForTooLong(t *testing.T) {
	for name, tt := range map[string]struct {
		given func(m *scene.Managed)
		want  string
	}{
		"it is not Ready": {func(m *scene.Managed) { m.Nodes["cmp-01"].Ready = "False" }, "does not come back: not Ready since "},
		"it is Ready": {func(*scene.Managed) {},
			"is Ready, and LCM does not count it as rebooted: LCM reboots the machine"},
		"its Node was deleted": {func(m *scene.Managed) { delete(m.Nodes, "cmp-01") },
			"does not come back: the cluster has no node of it any more"},
	} {
		t.Run(name, func(t *testing.T) {
			m := scene.Healthy().Managed()
			m.Handed("cmp-01")
			m.Agents["cmp-01"].Drain, m.Agents["cmp-01"].State = core.CordonDrained, core.LCMReboot
			m.Agents["cmp-01"].RebootAsked = scene.Ago(progress.RebootLong + time.Minute)
			tt.given(m)
			a, told := entryAbout(m.Join().Snapshot, "node-slow", "cmp-01")
			if !told || a.Severity != core.SeverityUrgent || !strings.HasPrefix(a.Reason, tt.want) {
				t.Errorf("told %v, %s: %q, want %q", told, a.Severity, a.Reason, tt.want)
			}
		})
	}
}
