package sim

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// A workload of a filled cluster says of its pods what they are.
func TestAFilledClustersWorkloadsCountTheirPods(t *testing.T) {
	for _, name := range []string{scenario.Default, "fleet-50", "evicted-pods"} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				seed := fill(t, name, &controller.Loaded{})
				apps, pods, ready := seed.kube.AppsV1(), map[string]int32{}, map[string]int32{}
				for _, pod := range list(t, seed.kube.CoreV1().Pods(metav1.NamespaceAll).List).Items {
					of := pod.Namespace + "/" + pod.Labels["app.kubernetes.io/name"]
					pods[of]++
					for _, condition := range pod.Status.Conditions {
						if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
							ready[of]++
						}
					}
				}
				sets := 0
				says := func(set metav1.Object, observed int64, all, running int32) {
					sets++
					of := set.GetNamespace() + "/" + set.GetName()
					if observed != set.GetGeneration() || all != pods[of] || running != ready[of] {
						t.Errorf("%s at generation %d says %d of %d pods at generation %d; %d of %d are ready", of, set.GetGeneration(),
							running, all, observed, ready[of], pods[of])
					}
				}
				for _, one := range list(t, apps.DaemonSets(metav1.NamespaceAll).List).Items {
					says(&one, one.Status.ObservedGeneration, one.Status.CurrentNumberScheduled, one.Status.NumberReady)
				}
				for _, one := range list(t, apps.StatefulSets(metav1.NamespaceAll).List).Items {
					says(&one, one.Status.ObservedGeneration, one.Status.Replicas, one.Status.ReadyReplicas)
				}
				for _, one := range list(t, apps.Deployments(metav1.NamespaceAll).List).Items {
					if one.Name != "rockoon" { // its pod comes with the scenario
						says(&one, one.Status.ObservedGeneration, one.Status.Replicas, one.Status.ReadyReplicas)
					}
				}
				if sets < 20 {
					t.Errorf("the cluster has %d workloads", sets)
				}
			})
		})
	}
}

// list lists the objects of a kind.
func list[L any](t *testing.T, all func(context.Context, metav1.ListOptions) (L, error)) L {
	t.Helper()
	objects, err := all(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// filled are the pods of a scenario's cluster as JSON, in the API's order.
func filled(t *testing.T, name string, loaded *controller.Loaded) []string {
	t.Helper()
	all := list(t, fill(t, name, loaded).kube.CoreV1().Pods(metav1.NamespaceAll).List).Items
	pods := make([]string, len(all))
	for i := range all {
		all[i].ResourceVersion = ""
		raw, err := json.Marshal(&all[i])
		if err != nil {
			t.Fatal(err)
		}
		pods[i] = string(raw)
	}
	return pods
}

// fill fills an API server with a scenario's cluster, and returns who did.
func fill(t *testing.T, name string, loaded *controller.Loaded) *seeder {
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
	t.Cleanup(server.Close)
	seed, err := newSeeder(server.DirectConfig(kubeapi.Admin), server.Load, clk, story, start, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	seed.run.Loaded = loaded
	if err := seed.fill(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return seed
}
