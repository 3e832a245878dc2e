package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// silenced is a cluster on which Lockstep made a silence ten minutes ago, for four hours.
func silenced(there ...core.Silence) scene.Scene {
	sc := scene.Healthy()
	sc.Alertmanager(nil, there...)
	made := ownSilence("bc2a300b-1", 4*time.Hour)
	sc.History.Silences = map[string]core.SilenceRecord{made.ID: {Silence: made, At: scene.Ago(10 * time.Minute), By: "anna"}}
	return sc
}

func ownSilence(id string, after time.Duration) core.Silence {
	return scene.Silence(id, "anna", core.OwnComment("update"), after, core.NotNamed("Watchdog"))
}

func TestASilenceThatSomebodyElseEndedIsMissed(t *testing.T) {
	for _, tt := range []struct {
		name string
		sc   func() scene.Scene
		want core.Severity
		none bool
	}{
		{name: "it is there", sc: func() scene.Scene { return silenced(ownSilence("bc2a300b-1", 4*time.Hour)) }, none: true},
		{name: "it is gone", sc: func() scene.Scene { return silenced() }, want: core.SeverityNotice},
		{name: "it is gone while the update runs", sc: func() scene.Scene {
			sc := silenced()
			sc.Update(time.Hour)
			return sc
		}, want: core.SeverityWarning},
		{name: "another one silences the same for as long", sc: func() scene.Scene { return silenced(ownSilence("other", 5*time.Hour)) },
			none: true},
		{name: "another one ends earlier", sc: func() scene.Scene { return silenced(ownSilence("other", time.Hour)) }, want: core.SeverityNotice},
		{name: "its time is over", sc: func() scene.Scene {
			sc := silenced()
			sc.Now = scene.Noon.Add(4*time.Hour + time.Minute)
			return sc
		}, none: true},
		{name: "the update that it was made for is over", sc: func() scene.Scene {
			sc := silenced()
			sc.History.Update = core.UpdateRecord{UID: "u", Started: scene.Ago(time.Hour), Ended: scene.Ago(time.Minute)}
			return sc
		}, none: true},
		{name: "Alertmanager was last read before it was made", sc: func() scene.Scene {
			sc := silenced()
			src := sc.Sources[core.SourceAlertmanager]
			src.AsOf = scene.Ago(11 * time.Minute)
			sc.Sources[core.SourceAlertmanager] = src
			return sc
		}, none: true},
		{name: "Alertmanager is not known", sc: func() scene.Scene {
			sc := silenced()
			sc.Snapshot.Alertmanager = nil
			return sc
		}, none: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.sc().Again().Snapshot
			var found []core.Attention
			for _, a := range Of(s) {
				if a.Rule == core.RuleSilenceGone {
					found = append(found, a)
				}
			}
			if tt.none {
				if len(found) > 0 {
					t.Errorf("it is missed: %+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Severity != tt.want || !strings.Contains(found[0].Reason, "somebody else ended it") ||
				!strings.Contains(found[0].Detail, "made by anna") {
				t.Errorf("found: %+v", found)
			}
		})
	}
}
