package progress

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// The finalizer's name differs between releases: the controller's own objects show it.
func TestTheFinalizerOfTheController(t *testing.T) {
	const older, other = "lcm.mirantis.com/openstack-controller.nodemaintenancerequest-finalizer", "example.org/something"
	for name, tt := range map[string]struct {
		configured string
		lock       []string // the finalizers of the node's OpenStack lock
		want       string
		says       string
	}{
		"nobody bears one":         {"", nil, core.UsualFinalizer, "the usual one"},
		"another's is none":        {"", []string{other}, core.UsualFinalizer, "the usual one"},
		"its locks bear one":       {"", []string{other, older}, older, "as its own objects bear it"},
		"as configured":            {"lcm.mirantis.com/mine", []string{older}, "lcm.mirantis.com/mine", "as configured"},
		"its locks bear the usual": {"", []string{core.UsualFinalizer}, core.UsualFinalizer, "as its own objects bear it"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.Healthy()
			sc.Settings = scene.PlaysOpenStack()
			sc.Settings.ActAs[0].Finalizer = tt.configured
			sc.NodeLock("cmp-01", core.ControllerOpenStack).Finalizers = tt.lock
			if got, source := Finalizer(sc.Snapshot); got != tt.want || !strings.Contains(source, tt.says) {
				t.Errorf("it is %q, %s", got, source)
			}
		})
	}
}
