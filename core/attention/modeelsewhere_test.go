package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/scene"
)

func TestAModeThatWasSetOnANodeThatIsNoCompute(t *testing.T) {
	for name, tt := range map[string]struct {
		mode     core.MigrationMode
		with     func(scene.Scene)
		severity core.Severity // 0: no entry
	}{
		"at rest":        {core.ModeManual, func(scene.Scene) {}, 0},
		"an update runs": {core.ModeManual, func(sc scene.Scene) { sc.Update(time.Hour) }, core.SeverityWarning},
		"asked for":      {core.ModeManual, func(sc scene.Scene) { sc.Maintained("gtw-01", "") }, core.SeverityUrgent},
		"released":       {core.ModeManual, func(sc scene.Scene) { sc.Maintained("gtw-01", "").RawState = core.LockInactive }, 0},
		"returning":      {core.ModeManual, func(sc scene.Scene) { sc.Returning("gtw-01", time.Minute, "") }, 0},
		"done": {core.ModeManual, func(sc scene.Scene) {
			sc.Update(time.Hour)
			sc.History.Rounds["uid-gtw-01"] = core.Round{Request: "r", Update: sc.ClusterRequest().UID, Started: scene.Ago(50 * time.Minute),
				Ended: scene.Ago(10 * time.Minute)}
		}, 0},
		"another mode":        {core.ModeSkip, func(sc scene.Scene) { sc.Update(time.Hour) }, 0},
		"a mode that is none": {"cold", func(sc scene.Scene) { sc.Update(time.Hour) }, 0},
	} {
		sc := scene.Healthy()
		sc.Mode("gtw-01", tt.mode)
		tt.with(sc)
		s := sc.Again().Snapshot
		a, told := entryAbout(s, "mode-elsewhere", "gtw-01")
		if told != (tt.severity != 0) || told &&
			(a.Severity != tt.severity || !strings.Contains(a.Commands[0].Line, `"controllerName":"operator"`) ||
				!strings.Contains(a.Detail, "update group")) {
			t.Errorf("%s: told %v as %+v", name, told, a)
		}
		if _, wrong := entryAbout(s, "mode", "gtw-01"); wrong {
			t.Errorf("%s: the controller is said to fail on it", name)
		}
		v, _ := progress.NodeView(s, "gtw-01")
		if v.ModeCounts || !slices.ContainsFunc(v.Problems, func(p string) bool { return strings.Contains(p, "decides nothing") }) {
			t.Errorf("%s: it counts %v, problems %q", name, v.ModeCounts, v.Problems)
		}
		titles, by := scene.StepsOf(procedure.Of(s, scene.OfNode("gtw-01")))
		if _, word := by["declare gtw-01 safe"]; word {
			t.Errorf("%s: the operator's word is offered: %q", name, titles)
		}
		if st, offered := by["remove the migration mode on gtw-01"]; offered &&
			(!strings.Contains(st.Why, "decides nothing") || strings.Contains(st.Then, "counts")) {
			t.Errorf("%s: the mode is removed because %q, and then %q", name, st.Why, st.Then)
		}
		if tt.severity == 0 && (name == "released" || name == "returning" || name == "done") {
			continue
		}
		if st := by["hold gtw-01 by something that counts"]; len(st.Commands) != 1 {
			t.Errorf("%s: the steps are %q", name, titles)
		}
	}
}

// A played controller keeps the documents' promise: the node waits for the operator's word, and the page lists what its L3 and
// DHCP agents serve, which has to go first, with the commands.
func TestAPlayedGatewayWaitsForTheOperatorsWord(t *testing.T) {
	release := core.Intent{Kind: core.IntentActRelease, Controller: core.ControllerOpenStack, Node: "gtw-01"}
	sc := scene.Gateway()
	s := sc.Again().Snapshot
	if st := step.Plan(s, release); st.Doable() || !strings.Contains(st.Blocker(), "the operator has said that it may go") {
		t.Errorf("the release is %s: %s", st.State, st.Blocker())
	}
	const served = "L3: 2 routers, 1 of them with HA; DHCP: 1 network"
	if v, _ := progress.NodeView(s, "gtw-01"); v.Stage != core.StageWaiting || v.What != "waits for your word" ||
		!strings.Contains(v.Reason, served) || !v.ModeCounts {
		t.Errorf("it is %s, %s: %s", v.Stage, v.What, v.Reason)
	}
	if !slices.ContainsFunc(Of(s), func(a core.Attention) bool {
		return a.ID == "act/openstack/gtw-01/prepare" && a.Severity == core.SeverityUrgent && strings.Contains(a.Reason, "it waits for your word")
	}) {
		t.Errorf("nobody is told: %+v", Of(s))
	}
	titles, by := scene.StepsOf(procedure.Of(s, scene.OfNode("gtw-01")))
	routers, networks, word := by["move the routers off the L3 agent of gtw-01"], by["move the networks off the DHCP agent of gtw-01"],
		by["declare gtw-01 safe"]
	want := []string{"openstack network agent remove router --l3 l3-1 r-1", "openstack network agent add router --l3 l3-2 r-1"}
	if routers.State != core.StepWaiting || !slices.Equal(routers.Commands, want) {
		t.Errorf("the routers: %+v; the steps are %q", routers, titles)
	}
	if networks.State != core.StepWaiting ||
		!slices.Equal(networks.Commands, []string{"openstack network agent remove network --dhcp dhcp-1 n-1"}) {
		t.Errorf("the networks: %+v", networks)
	}
	if word.State != core.StepReady || word.Risk != core.RiskHigh || !strings.Contains(word.Why, served) {
		t.Errorf("the word is %s: %s, %s", word.State, word.Blocker(), word.Why)
	}
	if at := slices.Index(titles, word.Title); at < slices.Index(titles, routers.Title) ||
		at > slices.Index(titles, "release the lock on gtw-01") {
		t.Errorf("the steps are %q", titles)
	}

	sc.Mode("gtw-01", core.ModeSkip) // the operator's word
	if st := step.Plan(sc.Again().Snapshot, release); !st.Doable() {
		t.Errorf("after the word the release is %s: %s", st.State, st.Blocker())
	}
	sc.Mode("gtw-01", "cold")
	if st := step.Plan(sc.Again().Snapshot, release); st.Doable() {
		t.Error("with a mode that is none it can be released")
	}
	delete(sc.Nodes["gtw-01"].Annotations, core.AnnotationMigrationMode)
	if st := step.Plan(sc.Again().Snapshot, release); !st.Doable() {
		t.Errorf("without a mode the release is %s: %s", st.State, st.Blocker())
	}
}
