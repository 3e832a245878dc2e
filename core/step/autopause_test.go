package step

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// Which alerts pause the update: the UpdateAutoPause is made, changed and removed, and only with names of alerts.
func TestSettingWhatPausesTheUpdate(t *testing.T) {
	kubectl := "kubectl --context mgmt -n prod "
	for _, tt := range []struct {
		name    string
		has     []string // alerts of the UpdateAutoPause; nil: there is none
		alerts  []string
		fails   string
		command string
		title   string
		undo    string // its beginning
	}{
		{"made", nil, []string{"B", "A", "B"}, "", `echo '{"apiVersion":"kaas.mirantis.com/v1alpha1","kind":"UpdateAutoPause",` +
			`"metadata":{"name":"mos","namespace":"prod"},"spec":{"alerts":["A","B"]}}' | kubectl --context mgmt create -f -`,
			"have A, B pause the update", "remove it: " + kubectl + "delete updateautopauses mos"},
		{"changed", []string{"A"}, []string{"A", "B"}, "", kubectl + `patch updateautopauses mos --type=json -p '[{"op":"test",` +
			`"path":"/spec/alerts","value":["A"]},{"op":"replace","path":"/spec/alerts","value":["A","B"]}]'`,
			"have B pause the update, too", "set it back: " + kubectl + `patch updateautopauses mos --type=json -p '[{"op":"test",` +
				`"path":"/spec/alerts","value":["A","B"]}`},
		{"one of them taken off", []string{"A", "B"}, []string{"B"}, "", kubectl + `patch updateautopauses mos --type=json -p '[{"op":"test",` +
			`"path":"/spec/alerts","value":["A","B"]},{"op":"replace","path":"/spec/alerts","value":["B"]}]'`,
			"take A off the alerts that pause the update", "set it back: "},
		{"others instead", []string{"A"}, []string{"B"}, "", kubectl + `patch updateautopauses mos --type=json -p '[{"op":"test",` +
			`"path":"/spec/alerts","value":["A"]},{"op":"replace","path":"/spec/alerts","value":["B"]}]'`,
			"have B pause the update", "set it back: "},
		{"removed", []string{"A"}, nil, "", kubectl + "delete updateautopauses mos",
			"remove the UpdateAutoPause", `make it again: echo '{"apiVersion":"kaas.mirantis.com/v1alpha1","kind":"UpdateAutoPause",`},
		{"removed, and no alert is in it", []string{}, nil, "", kubectl + "delete updateautopauses mos", "remove the UpdateAutoPause",
			"make it again: "},
		{"as it is, in another order", []string{"B", "A"}, []string{"A", "B"}, "differs", "", "have A, B pause the update", ""},
		{"removed, and there is none", nil, nil, "differs", "", "remove the UpdateAutoPause", ""},
		{"not a name", nil, []string{"rm -rf"}, "known", "", "have rm -rf pause the update", ""},
	} {
		m := scene.Resting()
		var objects []core.Object
		if tt.has != nil {
			objects = append(objects, &core.AutoPause{Meta: core.Meta{Name: "mos", Namespace: "prod", UID: "p"}, Alerts: tt.has})
		}
		st := Plan(m.Join(objects...).Snapshot, core.Intent{Kind: core.IntentSetAutoPause, Alerts: tt.alerts})
		var fails []string
		for _, g := range st.Guards {
			if !g.Holds {
				fails = append(fails, string(g.ID))
			}
		}
		if !slices.Equal(fails, strings.Fields(tt.fails)) || st.Doable() != (tt.fails == "") || strings.Join(st.Commands, "") != tt.command {
			t.Errorf("%s: the guards %v do not hold; %q", tt.name, fails, st.Commands)
		}
		if st.Title != tt.title || !strings.HasPrefix(st.Undo, tt.undo) || tt.undo == "" && st.Undo != "" {
			t.Errorf("%s: it is called %q and undone by %q", tt.name, st.Title, st.Undo)
		}
	}
	m := scene.Resting()
	m.Source(core.SourceAutoPauses, core.SourceAbsent)
	if st := Plan(m.Join().Snapshot, core.Intent{Kind: core.IntentSetAutoPause, Alerts: []string{"A"}}); st.Doable() {
		t.Error("a release that does not know UpdateAutoPause is given one")
	}
}
