package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/sim/bubble/lane"
)

func TestKeysDoNotConflict(t *testing.T) {
	if _, err := Rebind(Actions(), nil); err != nil {
		t.Error(err)
	}
	ids := make(map[string]bool)
	for _, a := range Actions() {
		if ids[a.ID] {
			t.Errorf("two actions are called %s", a.ID)
		}
		ids[a.ID] = true
	}
}

func TestRebindingIsChecked(t *testing.T) {
	for _, c := range []struct {
		what string
		keys map[string][]string
		want string
	}{
		{"an action that there is not", map[string][]string{"nope": {"z"}}, "nope"},
		{"a key that is taken", map[string][]string{"node.migrate": {"e"}}, "node.mode"},
		{"a key that terminals keep", map[string][]string{"help": {"ctrl+s"}}, "ctrl+s"},
	} {
		if _, err := Rebind(Actions(), c.keys); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	moved, err := Rebind(Actions(), map[string][]string{"help": {"f12"}})
	if err != nil {
		t.Fatal(err)
	}
	d := drive(world(), 120, 40, func(o *Options) { o.Actions = moved })
	d.keys("?")
	if d.top() != nil {
		t.Error("the old key still works")
	}
	d.send(tea.KeyPressMsg{Code: tea.KeyF12})
	if d.top() == nil {
		t.Error("the new key does not work")
	}
	if !slices.Equal(Actions()[0].Keys, []string{"?", "f1"}) {
		t.Error("rebinding changed the catalogue itself")
	}
}

// An inner scope's key hides an outer one's: only keys with the same meaning may do that.
func TestInnerScopesHideOnlyWhatMeansTheSame(t *testing.T) {
	same := map[string]string{"text.close": "quit", "text.copy": "copy"}
	for _, scope := range Scopes() {
		for depth, outer := range scope.chain() {
			if depth == 0 {
				continue
			}
			for _, a := range Actions() {
				if a.Scope != scope {
					continue
				}
				for _, b := range Actions() {
					if b.Scope != outer || b.replay { // where a recording is played its keys win: TestTheKeysOfARecording
						continue
					}
					for _, k := range a.Keys {
						for _, l := range b.Keys {
							if k == l && same[a.ID] != b.ID {
								t.Errorf("in %s, %q means %s and hides %s", scope, k, a.ID, b.ID)
							}
						}
					}
				}
			}
		}
	}
}

func TestKeysThatTerminalsKeepForThemselvesAreNotUsed(t *testing.T) {
	for _, a := range Actions() {
		for _, k := range a.Keys {
			if slices.Contains(reserved, k) && a.ID != "suspend" { // it does what the terminal would do
				t.Errorf("%s uses %s", a.ID, k)
			}
			if strings.HasPrefix(k, "alt+") || strings.HasPrefix(k, "super+") {
				t.Errorf("%s uses %s, which many terminals do not send", a.ID, k)
			}
		}
	}
}

// A slip of shift or ctrl must not turn reading into writing (k9s#87).
func TestNoWriteIsOneModifierAwayFromARead(t *testing.T) {
	near := func(a, b string) bool {
		return a != b && (strings.EqualFold(a, b) || a == "ctrl+"+strings.ToLower(b) || b == "ctrl+"+strings.ToLower(a))
	}
	for _, w := range Actions() {
		if !w.Writes() {
			continue
		}
		for _, r := range Actions() {
			reachable := false
			for _, s := range w.Scope.chain() {
				reachable = reachable || s == r.Scope
			}
			if !reachable || r.Writes() {
				continue
			}
			for _, a := range w.Keys {
				for _, b := range r.Keys {
					if near(a, b) {
						t.Errorf("%s (%s) is one modifier away from %s (%s)", w.ID, a, r.ID, b)
					}
				}
			}
		}
	}
}

func TestEveryActionIsInTheHelpAndCanBeExplained(t *testing.T) {
	d := drive(world(), 200, 60, withRehearsal(newRehearsal()), func(o *Options) { o.Back = func() {} })
	var help strings.Builder
	lines := append(helpLines(d.Model, ScopeNodes, 400), helpLines(driveClusters(200, 60, nil).Model, ScopeClusters, 400)...)
	lines = append(lines, helpLines(drive(world(), 200, 60, withReplay(&fakeReplay{})).Model, ScopeNodes, 400)...)
	for _, l := range lines {
		help.WriteString(l.Text() + "\n")
	}
	for _, a := range Actions() {
		if a.Title == "" || a.Short == "" || a.run == nil {
			t.Errorf("%s lacks a title, a short word or what it does", a.ID)
		}
		if !strings.Contains(help.String(), a.Title) {
			t.Errorf("%s (%s) is not in the help", a.ID, a.Title)
		}
	}
}

func TestEveryIntentHasAnAction(t *testing.T) {
	have := make(map[core.IntentKind]bool)
	for _, a := range Actions() {
		for _, k := range a.Intent {
			have[k] = true
		}
	}
	for _, k := range []core.IntentKind{core.IntentSetMode, core.IntentSetAttempts, core.IntentDeclareSafe, core.IntentRestoreMode,
		core.IntentLiveMigrate, core.IntentLiveMigrateAll, core.IntentColdMigrate, core.IntentConfirmResize, core.IntentRevertResize,
		core.IntentStop, core.IntentStart, core.IntentAbortMigration, core.IntentForceComplete, core.IntentDisableCompute,
		core.IntentEnableCompute, core.IntentResume, core.IntentResetState, core.IntentShelve, core.IntentUnshelve, core.IntentTagPowerOff,
		core.IntentRestoreTags,
		core.IntentRestartPod, core.IntentRestartPods, core.IntentRestartAgent, core.IntentRestartAgents,
		core.IntentAddTempest, core.IntentRemoveTempest,
		core.IntentEnterCluster, core.IntentLeaveCluster, core.IntentEnterMachine, core.IntentLeaveMachine, core.IntentReboot,
		core.IntentCommence, core.IntentUncommence, core.IntentSetRelease, core.IntentSetAutoPause,
		core.IntentMoveMachines, core.IntentSetGroupConcurrency, core.IntentSetGroupIndex, core.IntentSetGroupReboot, core.IntentMakeGroup,
		core.IntentDeleteGroup, core.IntentSetUpgradeIndex, core.IntentMakeSilence, core.IntentExpireSilence,
		core.IntentOverrideLock, core.IntentAskNode, core.IntentAskCluster} {
		if !have[k] {
			t.Errorf("no action leads to %s", k)
		}
	}
}

// Whatever is pressed, with or without facts, the screen stays up, and an action that cannot be done says why.
func TestEveryActionRunsEverywhere(t *testing.T) {
	lane.Single(t)
	for _, s := range []*core.Snapshot{nil, {Facts: core.Facts{Revision: 1, Now: fixtureNow, Wall: fixtureWall}}, world(), managedWorld()} {
		for _, a := range Actions() {
			d := drive(s, 120, 40, withRehearsal(newRehearsal()), withReplay(&fakeReplay{}))
			reason := a.Blocked(d.Model)
			if reason == "" && a.ID != "quit" {
				d.run(a.run(d.Model))
			}
			checkFrame(t, d.shows(), 120, 40)
		}
	}
}

func TestABlockedActionSaysWhy(t *testing.T) {
	d := drive(world(), 120, 40).keys("3", "u")
	if frame := stripped(d.shows()); !strings.Contains(frame, "Lockstep has not changed it") {
		t.Errorf("u on a node that Lockstep has not changed:\n%s", frame)
	}
	if len(d.layers) != 0 {
		t.Error("a blocked action opened something")
	}
}
