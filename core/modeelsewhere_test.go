package core

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A mode on a node that is no compute decides nothing: it is not offered, setting it is refused, and where one is set it is said so, with
// what does hold the node (docs/mosk.md#modes-elsewhere).
func TestAModeOnANodeThatIsNoComputeIsNotOffered(t *testing.T) {
	sc := healthy()
	s := sc.again().Snapshot
	for _, mode := range []MigrationMode{ModeLive, ModeManual, ModeSkip} {
		st := Plan(s, Intent{Kind: IntentSetMode, Nodes: []string{"gtw-01"}, Mode: mode})
		if st.Doable() || !strings.Contains(st.Blocker(), "looks at the modes of computes only") {
			t.Errorf("mode %s is %s: %s", mode, st.State, st.Blocker())
		}
		both := Plan(s, Intent{Kind: IntentSetMode, Nodes: []string{"gtw-01", "cmp-01"}, Mode: mode})
		if both.Doable() {
			t.Errorf("mode %s of both can be set", mode)
		}
		if st := Plan(s, Intent{Kind: IntentSetMode, Nodes: []string{"cmp-01"}, Mode: mode}); !st.Doable() {
			t.Errorf("mode %s of a compute is %s: %s", mode, st.State, st.Blocker())
		}
	}
	titles, _ := stepsOf(s.Procedure(ofNode("gtw-01")))
	if slices.ContainsFunc(titles, func(title string) bool { return strings.Contains(title, "migration mode") }) {
		t.Errorf("the steps are %q", titles)
	}
}

func TestAModeThatWasSetOnANodeThatIsNoCompute(t *testing.T) {
	for name, tt := range map[string]struct {
		mode     MigrationMode
		with     func(scene)
		severity Severity // 0: nothing is told
	}{
		"at rest":             {ModeManual, func(scene) {}, 0},
		"an update runs":      {ModeManual, func(sc scene) { sc.update(time.Hour) }, SeverityWarning},
		"asked for":           {ModeManual, func(sc scene) { sc.maintained("gtw-01", "") }, SeverityUrgent},
		"released":            {ModeManual, func(sc scene) { sc.maintained("gtw-01", "").RawState = LockInactive }, 0},
		"another mode":        {ModeSkip, func(sc scene) { sc.update(time.Hour) }, 0},
		"a mode that is none": {"cold", func(sc scene) { sc.update(time.Hour) }, 0},
	} {
		sc := healthy()
		sc.mode("gtw-01", tt.mode)
		tt.with(sc)
		s := sc.again().Snapshot
		a, told := entryAbout(s, "mode-elsewhere", "gtw-01")
		if told != (tt.severity != 0) || told && (a.Severity != tt.severity || !strings.Contains(a.Commands[0].Line, `"controllerName":"operator"`) || !strings.Contains(a.Detail, "update group")) {
			t.Errorf("%s: told %v as %+v", name, told, a)
		}
		if _, wrong := entryAbout(s, "mode", "gtw-01"); wrong {
			t.Errorf("%s: the controller is said to fail on it", name)
		}
		v, _ := s.NodeView("gtw-01")
		if v.ModeCounts || !slices.ContainsFunc(v.Problems, func(p string) bool { return strings.Contains(p, "decides nothing") }) {
			t.Errorf("%s: it counts %v, problems %q", name, v.ModeCounts, v.Problems)
		}
		titles, by := stepsOf(s.Procedure(ofNode("gtw-01")))
		if _, word := by["declare gtw-01 safe"]; word {
			t.Errorf("%s: the operator's word is offered: %q", name, titles)
		}
		if st, offered := by["remove the migration mode on gtw-01"]; offered && (!strings.Contains(st.Why, "decides nothing") || strings.Contains(st.Then, "counts")) {
			t.Errorf("%s: the mode is removed because %q, and then %q", name, st.Why, st.Then)
		}
		if tt.severity == 0 && name == "released" {
			continue
		}
		if st := by["hold gtw-01 by something that counts"]; len(st.Commands) != 1 {
			t.Errorf("%s: the steps are %q", name, titles)
		}
	}
}

// gateway is a played OpenStack controller whose gateway is asked for in mode manual, begun, with an L3 and a DHCP agent on it.
func gateway() scene {
	sc := quorate("ctl-01", "ctl-02", "ctl-03")
	sc.NodeRequests = map[string][]*MaintenanceRequest{}
	sc.node("gtw-02", RoleGateway)
	sc.request("gtw-01", 20*time.Minute)
	sc.mode("gtw-01", ModeManual)
	sc.NodeLock("gtw-01", ControllerOpenStack).InnerState = InnerActive
	agent := func(id, host, kind string, load *AgentLoad) {
		sc.Agents[host] = append(sc.Agents[host], &NetworkAgent{ID: id, Host: host, Type: kind, Binary: "x", Alive: true, AdminUp: true, Load: load})
	}
	agent("l3-1", "gtw-01", "L3 agent", &AgentLoad{Routers: []Router{{ID: "r-1", Name: "shop"}, {ID: "r-2", Name: "pair", HA: true}}})
	agent("dhcp-1", "gtw-01", "DHCP agent", &AgentLoad{Networks: []Network{{ID: "n-1", Name: "front"}}})
	agent("l3-2", "gtw-02", "L3 agent", nil)
	return sc
}

// Who plays the controller keeps the documents' promise: the node waits for the operator's word, and what its L3 and DHCP agents serve is
// listed as what has to go first, with the commands.
func TestAPlayedGatewayWaitsForTheOperatorsWord(t *testing.T) {
	release := Intent{Kind: IntentActRelease, Controller: ControllerOpenStack, Node: "gtw-01"}
	sc := gateway()
	s := sc.again().Snapshot
	if st := Plan(s, release); st.Doable() || !strings.Contains(st.Blocker(), "the operator has said that it may go") {
		t.Errorf("the release is %s: %s", st.State, st.Blocker())
	}
	const served = "L3: 2 routers, 1 of them with HA; DHCP: 1 network"
	if v, _ := s.NodeView("gtw-01"); v.Stage != StageWaiting || v.What != "waits for your word" || !strings.Contains(v.Reason, served) || !v.ModeCounts {
		t.Errorf("it is %s, %s: %s", v.Stage, v.What, v.Reason)
	}
	if !slices.ContainsFunc(s.Attention(), func(a Attention) bool {
		return a.ID == "act/openstack/gtw-01/prepare" && a.Severity == SeverityUrgent && strings.Contains(a.Reason, "it waits for your word")
	}) {
		t.Errorf("nobody is told: %+v", s.Attention())
	}
	titles, by := stepsOf(s.Procedure(ofNode("gtw-01")))
	routers, networks, word := by["move the routers off the L3 agent of gtw-01"], by["move the networks off the DHCP agent of gtw-01"], by["declare gtw-01 safe"]
	want := []string{"openstack network agent remove router --l3 l3-1 r-1", "openstack network agent add router --l3 l3-2 r-1"}
	if routers.State != StepWaiting || !slices.Equal(routers.Commands, want) {
		t.Errorf("the routers: %+v; the steps are %q", routers, titles)
	}
	if networks.State != StepWaiting || !slices.Equal(networks.Commands, []string{"openstack network agent remove network --dhcp dhcp-1 n-1"}) {
		t.Errorf("the networks: %+v", networks)
	}
	if word.State != StepReady || word.Risk != RiskHigh || !strings.Contains(word.Why, served) {
		t.Errorf("the word is %s: %s, %s", word.State, word.Blocker(), word.Why)
	}
	if at := slices.Index(titles, word.Title); at < slices.Index(titles, routers.Title) || at > slices.Index(titles, "release the lock on gtw-01") {
		t.Errorf("the steps are %q", titles)
	}

	sc.mode("gtw-01", ModeSkip) // the word
	if st := Plan(sc.again().Snapshot, release); !st.Doable() {
		t.Errorf("after the word the release is %s: %s", st.State, st.Blocker())
	}
	sc.mode("gtw-01", "cold")
	if st := Plan(sc.again().Snapshot, release); st.Doable() {
		t.Error("with a mode that is none it can be released")
	}
	delete(sc.Nodes["gtw-01"].Annotations, AnnotationMigrationMode)
	if st := Plan(sc.again().Snapshot, release); !st.Doable() {
		t.Errorf("without a mode the release is %s: %s", st.State, st.Blocker())
	}
}

// What Neutron does not tell is not taken for nothing: the word waits until it is known. What is gone is done.
func TestTheWordWaitsForWhatTheAgentsServe(t *testing.T) {
	for name, tt := range map[string]struct {
		load *AgentLoad
		word StepState
		l3   StepState
	}{
		"not asked yet":  {nil, StepBlocked, StepWaiting},
		"not told":       {&AgentLoad{Err: "forbidden"}, StepBlocked, StepWaiting},
		"nothing left":   {&AgentLoad{}, StepReady, StepDone},
		"HA alone":       {&AgentLoad{Routers: []Router{{ID: "r-2", HA: true}}}, StepReady, StepDone},
		"a router alone": {&AgentLoad{Routers: []Router{{ID: "r-1"}}}, StepReady, StepWaiting},
	} {
		sc := gateway()
		sc.Agents["gtw-01"][0].Load = tt.load
		_, by := stepsOf(sc.again().Snapshot.Procedure(ofNode("gtw-01")))
		if got := by["declare gtw-01 safe"]; got.State != tt.word {
			t.Errorf("%s: the word is %s: %s", name, got.State, got.Blocker())
		}
		if got := by["move the routers off the L3 agent of gtw-01"]; got.State != tt.l3 {
			t.Errorf("%s: the routers are %s: %s", name, got.State, got.Status)
		}
	}
}

// The agents of nodes that are no computes and have a mode are asked for what they serve, and no others.
func TestWhichAgentsAreAskedForWhatTheyServe(t *testing.T) {
	sc := healthy()
	sc.mode("gtw-01", ModeManual)
	sc.mode("cmp-01", ModeManual)
	if hosts := HostsWithRoutersToWatch(sc.again().Snapshot); !slices.Equal(hosts, []string{"gtw-01"}) {
		t.Errorf("asked for are %q", hosts)
	}
}
