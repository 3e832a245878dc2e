package attention

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// The API does not keep the beginning of an outage: after a restart the outage is at least as old as the text.
func TestOutageIsAtLeastAsOldAsItsText(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	at := scene.Noon.Add(-40 * time.Second)
	sc.Maintained("cmp-01", "").Message = at.Format("2006-01-02 15:04:05.000000") +
		" Retrying migrate instances from host. Cannot execute openstack commands, error: 503"
	for _, a := range Of(sc.Snapshot) {
		if a.ID == "outage" {
			if a.Since != (core.Since{At: at}) {
				t.Errorf("since %+v, want at least since %s", a.Since, at)
			}
			return
		}
	}
	t.Error("there is no entry")
}
