package progress

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A text J gives nothing up if it does not name the instance, is from an earlier maintenance, or is on a released lock. A failure
// that has a record is shown with it.
func TestWhenTheControllerHasGivenUp(t *testing.T) {
	const left = "Some servers are still present on the host. Servers with unset maintenance action: ['" + scene.Web1 + "']"
	for _, tc := range []struct {
		name  string
		given func(sc scene.Scene, l *core.WorkloadLock)
		says  string
	}{
		{"nothing is known of why", func(scene.Scene, *core.WorkloadLock) {},
			"the OpenStack controller could not move it, and tries again every minute"},
		{"its migrations failed", func(sc scene.Scene, _ *core.WorkloadLock) {
			sc.Migration(sc.Named("web-1"), "error", "", 5*time.Minute).Failure = "a fan"
		}, "live migration failed once, and the OpenStack controller tries again every minute: a fan"},
		{"another is named", func(_ scene.Scene, l *core.WorkloadLock) { l.Message = strings.ReplaceAll(l.Message, scene.Web1, "x") },
			"runs: the OpenStack controller live-migrates it"},
		{"it is of another maintenance", func(sc scene.Scene, l *core.WorkloadLock) {
			l.Message = scene.Ago(5*time.Hour).Format("2006-01-02 15:04:05.000000") + " " + left
		}, "runs: the OpenStack controller live-migrates it"},
		{"a refusal of another maintenance", func(sc scene.Scene, _ *core.WorkloadLock) {
			sc.History.Refused = map[string]core.RefusalRecord{scene.Web1: {Text: "old", At: scene.Ago(5 * time.Hour)}}
		}, "the OpenStack controller could not move it, and tries again every minute"},
	} {
		sc := scene.Healthy()
		l := sc.Maintained("cmp-01", left)
		tc.given(sc, l)
		if v, _ := InstanceView(sc.Snapshot, scene.Web1); v.Why != tc.says {
			t.Errorf("%s: %q, want %q", tc.name, v.Why, tc.says)
		}
	}
}
