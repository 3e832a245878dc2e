package attention

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
	"pgregory.net/rapid"
)

// An empty list means that nothing needs a person: it stays empty for a cluster at rest, whatever its shape and its instances.
func TestClusterAtRestNeedsNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.NewScene()
		sc.Lock("", core.ControllerOpenStack, core.LockActive)
		roles := []core.Role{core.RoleMaster, core.RoleController, core.RoleCompute, core.RoleGateway, core.RoleStorage}
		for i := range rapid.IntRange(0, 12).Draw(t, "nodes") {
			name := fmt.Sprintf("node-%02d", i)
			role := rapid.SampledFrom(roles).Draw(t, "role")
			n := sc.Node(name, role)
			n.KubeletVersion = rapid.SampledFrom([]string{"v1.30.14", "v1.31.9"}).Draw(t, "kubelet")
			n.ReadySince = scene.Ago(time.Duration(rapid.IntRange(0, 100_000).Draw(t, "ready since")) * time.Minute)
			n.Cordoned = rapid.Bool().Draw(t, "cordoned")
			sc.Lock(name, core.ControllerCeph, rapid.SampledFrom([]core.LockState{core.LockActive, ""}).Draw(t, "lock"))
			if mode := rapid.SampledFrom([]core.MigrationMode{"", core.ModeLive, core.ModeManual, core.ModeSkip}).Draw(t, "mode"); mode != "" {
				sc.Mode(name, mode)
			}
			if role != core.RoleCompute {
				continue
			}
			for k := range rapid.IntRange(0, 4).Draw(t, "instances") {
				in := sc.Instance(name, fmt.Sprintf("vm-%d-%d", i, k))
				in.Status = rapid.SampledFrom([]string{"ACTIVE", "ERROR", "VERIFY_RESIZE", "SHUTOFF", "PAUSED"}).Draw(t, "status")
				for _, action := range rapid.SliceOfN(rapid.SampledFrom([]string{"notify", "poweroff", "live_migrate"}), 0, 2).Draw(t, "tags") {
					in.Tags = append(in.Tags, core.TagMaintenanceAction+action)
				}
			}
		}
		for _, a := range Of(sc.Snapshot) {
			t.Errorf("%s %s: %s", a.Severity, a.ID, a.Reason)
		}
	})
}

// In a fleet hundreds of nodes have an instance that will hold them: one entry says so, and hides no other.
func TestManyThatWillHoldAreOneEntry(t *testing.T) {
	sc := scene.NewScene()
	sc.Update(time.Hour)
	for i := range 3 * heldFew {
		name := fmt.Sprintf("cmp-%02d", i+1)
		sc.Node(name, core.RoleCompute)
		sc.Lock(name, core.ControllerOpenStack, core.LockActive)
		sc.Instance(name, "batch-"+name, "notify")
	}
	var got []string
	for _, a := range Of(sc.Snapshot) {
		if strings.HasPrefix(a.ID, "will-hold") {
			got = append(got, a.Label+": "+a.Reason)
		}
	}
	want := []string{"24 nodes: 24 instances will hold them when their turn comes: cmp-01 (1), cmp-02 (1), cmp-03 (1), cmp-04 (1) and 20 more"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
