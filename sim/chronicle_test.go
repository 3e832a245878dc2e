package sim_test

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/lan"
	"lockstep/sim/scenario"
)

// A chronicle shows what happened to locks, requests, nodes and instances, with readable names and in virtual time.
func TestAChronicleTellsTheStory(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		told, err := scenario.Load("no-valid-host")
		if err != nil {
			t.Fatal(err)
		}
		cloud, err := sim.Start(t.Context(), sim.Options{Scenario: told, Network: lan.New(1), Dir: t.TempDir(), Start: time.Now(), Paused: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := cloud.Close(); err != nil {
				t.Error(err)
			}
		})
		chronicle := cloud.Follow()
		cloud.Clock.Resume()
		time.Sleep(20 * time.Minute)
		chronicle.Tell("the operator goes home")
		story := chronicle.String()
		for _, want := range []string{
			"request cmp-", "scope none → os", "node lock openstack-cmp-", "inner_state inactive → active",
			"asks: post", `"os-migrateLive"`, "says none → ", "the operator goes home\n", "Now it is 00:20:00.\n", " on cmp-",
		} {
			if !strings.Contains(story, want) {
				t.Errorf("%q is not in it", want)
			}
		}
		for _, n := range told.Nodes {
			if strings.Contains(story, n.Name) {
				t.Errorf("%s is called %s", n.Machine, n.Name)
			}
		}
		if t.Failed() {
			t.Log(story)
		}
	})
}
