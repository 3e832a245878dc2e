package attention

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// While a node waits for the decision on a cold migration, the node's own entry shows it, once.
func TestAColdMigrationIsToldOnce(t *testing.T) {
	sc := scene.Healthy()
	in := sc.Instance("cmp-01", "db-1")
	in.Status = "VERIFY_RESIZE"
	sc.Mode("cmp-01", core.ModeManual)
	sc.Maintained("cmp-01", "")
	sc.History.Cold = map[string]core.ColdMigration{in.ID: {Name: "db-1", From: "cmp-02", At: scene.Ago(60e9)}}
	var got []string
	for _, a := range Of(sc.Again().Snapshot) {
		if strings.Contains(a.Reason, "migration of db-1") || a.Instance == in.ID {
			got = append(got, a.ID+": "+a.Reason)
		}
	}
	if len(got) != 1 || !strings.HasPrefix(got[0], "node-waits/") {
		t.Errorf("%q", got)
	}
}
