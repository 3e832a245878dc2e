package attention

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/scene"
	"pgregory.net/rapid"
)

// A node has at most one urgent entry about itself. A node that failed, or that waits for the operator, has an entry unless
// somebody works on it.
func TestANodeHasOneUrgentEntry(t *testing.T) {
	for _, draw := range []func(*rapid.T) scene.Scene{scene.DrawScene, scene.AnyScene} {
		rapid.Check(t, func(t *rapid.T) {
			sc := draw(t)
			if text := urgencyOf(sc.Snapshot); text != "" {
				t.Fatal(text)
			}
		})
	}
}

// urgencyOf says what is wrong with the urgency of the nodes; empty when nothing is.
func urgencyOf(s *core.Snapshot) string {
	urgent, seenTo := map[string][]string{}, map[string]bool{}
	for _, a := range Of(s) {
		if a.Severity == core.SeverityUrgent && a.Instance == "" {
			urgent[a.Node] = append(urgent[a.Node], a.ID)
		}
		seenTo[a.Node] = seenTo[a.Node] || a.Severity >= core.SeverityWarning || strings.HasPrefix(a.Hint, "wait: ")
	}
	for _, v := range progress.NodeViews(s) {
		if len(urgent[v.Name]) > 1 {
			return v.Label + " has several urgent entries: " + strings.Join(urgent[v.Name], ", ")
		}
		if (v.Stage == core.StageWaiting || v.Stage == core.StageFailed) && !seenTo[v.Name] {
			return v.Label + " is " + string(v.Stage) + " (" + v.Reason + "), and nothing is told of it: " + strings.Join(ids(Of(s)), ", ")
		}
	}
	return ""
}

// A node is marked with the urgency of its entries.
func TestANodeNeedsWhatItsEntriesSay(t *testing.T) {
	sc := scene.Healthy()
	if got := NodeNeeds(sc.Snapshot, "cmp-01"); got != 0 {
		t.Errorf("at rest it needs %s", got)
	}
	sc = scene.Healthy()
	sc.Maintained("cmp-01", "").RawState = core.LockInactive
	sc.Nodes["cmp-01"].Ready, sc.Nodes["cmp-01"].ReadySince = "False", scene.Ago(progress.RebootLong+60e9)
	if got := NodeNeeds(sc.Snapshot, "cmp-01"); got != core.SeverityUrgent {
		t.Errorf("it does not come back from its reboot, and needs %s", got)
	}
}
