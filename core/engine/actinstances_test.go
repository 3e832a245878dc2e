package engine

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// What moves instances out of the way is the same whoever plays the OpenStack controller: the owners are told, room is made, and
// an unknown mode is corrected.
func TestInstancesOfAPlayedNodeHaveTheStepsOfAnyOther(t *testing.T) {
	for name, tt := range map[string]struct {
		cloud func(c *testCloud)
		want  string // the beginning of a title
	}{
		"an owner is to be told": {func(*testCloud) {}, "tell the owner"},
		"no valid host": {func(c *testCloud) {
			c.migrations["id-web-1"] = []*core.Migration{{ID: 1, InstanceID: "id-web-1", Type: core.MigrationLive, Status: "error",
				SourceHost: "cmp-1",
				Created:    worldTime.Add(1), Failure: failText}}
		}, "make room for web-1"},
		"a mode that nobody knows": {func(c *testCloud) { c.annotations["cmp-1"][core.AnnotationMigrationMode] = "alive" }, "set "},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := askedFor()
				tt.cloud(c)
				b := played(t, c)
				titles, _ := scene.StepsOf(procedure.Of(b.engine.Snapshot(), scene.OfNode("cmp-1")))
				begins := func(prefix string) func(string) bool {
					return func(title string) bool { return strings.HasPrefix(title, prefix) }
				}
				at, release := slices.IndexFunc(titles, begins(tt.want)), slices.IndexFunc(titles, begins("release the lock"))
				if at < 0 || release < at {
					t.Errorf("the steps are %q; want %q before the release", titles, tt.want)
				}
			})
		})
	}
}
