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

// Texts L and R (its first) come of any error of Nova's or Cinder's API, so they are an outage, which nobody has to do anything about at
// once. Where that API has answered Lockstep since before the text, it is this one service (docs/mosk.md#text-l).
func TestAnOutageIsNoMatterOfOneNode(t *testing.T) {
	for _, tt := range []struct {
		text     string
		answers  core.SourceID
		severity core.Severity // of the node's own entry, where the API answers
	}{
		{"Can not disable compute service on a host to be deleted", core.SourceComputeServices, core.SeverityUrgent},
		{"Can not disable block-storage service on a host to be deleted", core.SourceVolumeServices, core.SeverityUrgent},
	} {
		for _, answers := range []bool{true, false} {
			sc := scene.NewScene()
			sc.Node("cmp-01", core.RoleCompute)
			at := scene.Ago(time.Minute)
			sc.Maintained("cmp-01", "").Message = at.Format("2006-01-02 15:04:05.000000") + " " + tt.text
			src := sc.Sources[tt.answers]
			src.ID, src.State, src.Since = tt.answers, core.SourceLive, scene.Ago(time.Hour)
			if !answers {
				src.Since = scene.Ago(30 * time.Second)
			}
			sc.Sources[tt.answers] = src
			outage, own := false, core.SeverityNotice
			for _, a := range Of(sc.Snapshot) {
				outage = outage || a.ID == "outage"
				if a.Node == "cmp-01" && a.Rule == core.RuleNodeWaits {
					own = a.Severity
				}
			}
			if outage == answers || (own == tt.severity) != answers {
				t.Errorf("%s; the API answers %v: told as an outage %v, and of the node %s", tt.text, answers, outage, own)
			}
		}
	}
}
