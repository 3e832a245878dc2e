package sim

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/sim/bubble"
	"lockstep/sim/clock"
	"lockstep/sim/controller"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
	"lockstep/sim/scenario"
)

// What a fleet's filling remembers of its pods is what it would read: with it and without it, the cluster is the same.
func TestAFleetIsFilledAlikeWithAndWithoutWhatWasLoaded(t *testing.T) {
	for _, name := range []string{"fleet-50", "evicted-pods"} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				remembered, read := filled(t, name, &controller.Loaded{}), filled(t, name, nil)
				if len(remembered) < 20 || len(remembered) != len(read) {
					t.Fatalf("%d pods, and %d where each call lists them", len(remembered), len(read))
				}
				for i := range read {
					if remembered[i] != read[i] {
						t.Errorf("a pod is\n%s\nwant\n%s", remembered[i], read[i])
					}
				}
			})
		})
	}
}

// filled are the pods of a scenario's cluster as JSON, in the API's order.
func filled(t *testing.T, name string, loaded *controller.Loaded) []string {
	t.Helper()
	story, err := scenario.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 3, 4, 17, 26, 0, 0, time.UTC)
	clk := clock.New(start.Add(-story.History.Age.Of()), 1)
	clk.Pause()
	server, err := kubeapi.New(kubeapi.Options{Clock: clk, CRDs: crds.All(), Network: lan.New(1), NoManagers: true,
		Random: rand.NewChaCha8([32]byte{})})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	seed, err := newSeeder(server.DirectConfig(kubeapi.Admin), server.Load, clk, story, start, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	seed.run.Loaded = loaded
	if err := seed.fill(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	list, err := seed.kube.CoreV1().Pods(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods := make([]string, len(list.Items))
	for i := range list.Items {
		list.Items[i].ResourceVersion = ""
		raw, err := json.Marshal(&list.Items[i])
		if err != nil {
			t.Fatal(err)
		}
		pods[i] = string(raw)
	}
	return pods
}
