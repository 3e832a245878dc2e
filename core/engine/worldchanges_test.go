package engine

import (
	"fmt"
	"reflect"
	"testing"

	"lockstep/core"
	"pgregory.net/rapid"
)

// What a Snapshot shows of nodes, services, agents and pods is made from the Snapshot before and what has changed. It is the same as what
// is made of all facts: whatever comes, goes, moves, or has the name of another.
func TestAProjectionOfWhatChangedIsThatOfAllFacts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(nil, worldTime)
		var prev *core.Snapshot
		for range rapid.IntRange(1, 12).Draw(t, "snapshots") {
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				w.apply(anyChange(t))
			}
			s := projected(w, prev)
			anew := projected(w, nil)
			for _, of := range []struct {
				what       string
				kept, anew any
			}{
				{"nodes", s.Nodes, anew.Nodes}, {"services", s.Services, anew.Services}, {"agents", s.Agents, anew.Agents},
				{"pods", s.DaemonPods, anew.DaemonPods},
			} {
				if !reflect.DeepEqual(of.kept, of.anew) {
					t.Fatalf("the %s are %v, and of all facts %v", of.what, of.kept, of.anew)
				}
			}
			prev = s
		}
	})
}

// anyChange draws a Delta of objects with few keys at few places.
func anyChange(t *rapid.T) core.Delta {
	letter := func(what string) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, what) }
	src := rapid.SampledFrom([]core.SourceID{core.SourceNodes, core.SourceComputeServices, core.SourceNetworkAgents, core.SourceDaemonPods,
		core.SourceFabricPods, core.SourceOpenStackController}).Draw(t, "source")
	d := core.Delta{Source: src, At: worldTime, State: core.SourceLive, Replace: rapid.IntRange(0, 5).Draw(t, "replace") == 0}
	for range rapid.IntRange(0, 3).Draw(t, "objects") {
		key := letter("key")
		switch src {
		case core.SourceNodes:
			d.Upserts = append(d.Upserts, &core.Node{Meta: core.Meta{Name: key}, Labels: map[string]string{"role": letter("role")}})
		case core.SourceComputeServices:
			d.Upserts = append(d.Upserts, &core.ComputeService{ID: key, Host: letter("host"), Up: rapid.Bool().Draw(t, "up")})
		case core.SourceNetworkAgents:
			d.Upserts = append(d.Upserts, &core.NetworkAgent{ID: key, Host: letter("host"), Binary: letter("binary")})
		case core.SourceDaemonPods, core.SourceFabricPods:
			d.Upserts = append(d.Upserts, &core.DaemonPod{Meta: core.Meta{Namespace: fmt.Sprint(src), Name: key}, Owner: letter("owner")})
		case core.SourceOpenStackController: // says by which labels nodes have their roles
			d.Upserts = append(d.Upserts, &core.Deployment{Meta: core.Meta{Name: "rockoon"}, RoleLabels: fmt.Sprintf(
				`{"controller":{"role":"x"},"compute":{"role":%q},"gateway":{"role":"y"}}`, letter("role of computes"))})
		}
	}
	if !d.Replace && rapid.Bool().Draw(t, "deletes") {
		d.Deletes = append(d.Deletes, letter("gone"))
	}
	return d
}
