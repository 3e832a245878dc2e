package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/fleet"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
)

// Single looks at many clusters.
func TestOneLookAtManyClusters(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "clusters"), User: kubeapi.Readonly})
		lookPrintsEachCluster(t, c)
		lookOutlastsAFailureThatPasses(t, c)
	})
}

// One look at a management cluster prints a line for each cluster: what each does, what one needs, and why another is not seen.
func lookPrintsEachCluster(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.config.Clusters = nil
	look := func(args ...string) (int, string, string) {
		return runIn(t, p, append([]string{"clusters", "--kubeconfig", c.KubeconfigPath, "--context", sim.ManagementContext}, args...)...)
	}
	code, out, errs := look()
	if code != exitAttention {
		t.Fatalf("exit %d: %s", code, errs)
	}
	lines := strings.Split(out, "\n")
	for i, want := range [][]string{{"kaas-mgmt, Container Cloud 2.30.0: 6 clusters, 4 under way, 2 urgent   as of 2", " UTC"},
		{"CLUSTER", "NEEDS YOU"},
		{"mos-mad", "paused", "5/9 nodes", "urgent: update plan: the update is paused: CephClusterHealthCritical is firing"},
		{"mos-par", "stuck", "6/15 nodes", "keeps pod stacklight/prometheus-es-exporter-0"},
		{"mos-fra  fra", "17.4.0 → 21.0.0", "4 worker nodes", "/4 nodes", "about "},
		{"mos-lon", "12/27 nodes"}, {"mos-lab", "17.4.0", "21.0.0"}, {"mos-rom", "21.0.0"},
		{"Not looked into, because clusters may not be listed there: ber, "}} {
		for _, part := range want {
			if i >= len(lines) || !strings.Contains(lines[i], part) {
				t.Fatalf("line %d lacks %q:\n%s", i, part, out)
			}
		}
	}
	types := readTypes(t)
	var before, after Clusters
	read := func(d *Clusters) {
		t.Helper()
		_, out, _ := look("-o", "json")
		if err := json.Unmarshal([]byte(out), d); err != nil || !d.Complete || len(d.Clusters) != 6 {
			t.Fatalf("%v: %s", err, out)
		}
		types.holds(t, "clusters", "cli.Clusters", out, "")
	}
	of := func(d *Clusters, name string) *ClustersRow {
		for i := range d.Clusters {
			if d.Clusters[i].Name == name {
				return &d.Clusters[i]
			}
		}
		t.Fatalf("there is no %s", name)
		return nil
	}
	read(&before)
	time.Sleep(time.Hour)
	read(&after)
	if a, b := of(&before, "mos-lon"), of(&after, "mos-lon"); *b.Done <= *a.Done || b.Finish == nil || b.State != fleet.StateUpdates {
		t.Errorf("mos-lon does not go on: %d, then %d nodes", *a.Done, *b.Done)
	}
	if r := of(&after, "mos-mad"); r.Finish != nil || r.NoFinish != "group default does not go on" {
		t.Errorf("mos-mad ends at %v, %q", r.Finish, r.NoFinish)
	}
}

// A server that cannot answer for a moment does not end a single look: it is asked again, within the time that one said to wait.
func lookOutlastsAFailureThatPasses(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.config.Clusters = nil
	for _, tt := range []struct {
		server fault.Server
		args   []string
	}{
		{fault.Management, []string{"clusters", "--context", sim.ManagementContext}},
		{fault.Kubernetes, []string{"status"}},
		{fault.OpenStack, []string{"status"}},
	} {
		for _, kind := range []string{"503", "429", "page-502"} {
			if err := c.Faults.On(fault.Setting{Server: tt.server, Kind: kind, ForReal: 3 * time.Second}); err != nil {
				t.Fatal(err)
			}
			code, out, errs := runIn(t, p, append(tt.args, "--wait", "30s", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName)...)
			if code == exitError || strings.Contains(out, kind) || strings.Contains(out, "server error") || !strings.Contains(out, "mos") {
				t.Errorf("%s of %s: exit %d: %s%s", kind, tt.server, code, errs, out)
			}
			c.Faults.Clear()
		}
	}
}

// A cluster that is no management cluster is told from one that may not be read.
func TestNoListOfClusters(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Paused: true})
		for user, want := range map[string]string{kubeapi.Admin: "is no management cluster", kubeapi.Readonly: "may be listed in none of"} {
			path := t.TempDir() + "/kubeconfig"
			if err := c.Kube.WriteKubeconfig(path, user); err != nil {
				t.Fatal(err)
			}
			code, out, errs := runIn(t, placeOn(t, c), "clusters", "--kubeconfig", path)
			if code != exitError || out != "" || !strings.Contains(errs, want) || !strings.Contains(errs, "--management-context") {
				t.Errorf("%s: exit %d: %s%s", user, code, out, errs)
			}
		}
	})
}

// Clusters of a project that could not be listed, or may not be, are no clusters at rest: a line says so, a field, and the exit code.
func TestAProjectThatCouldNotBeLookedIntoIsSaid(t *testing.T) {
	bad := &core.APIError{Kind: core.ErrServer, Server: core.ServerManagement, Call: "list clusters", Message: "it is out of order"}
	for _, tt := range []struct {
		name  string
		view  fleet.View
		says  string
		needs bool
	}{
		{"all were read", fleet.View{}, "", false},
		{"one may not be read", fleet.View{Denied: []fleet.Denied{{Project: "ber", Err: bad}}}, "Not looked into", true},
		{"one could not be read", fleet.View{Failed: []fleet.Denied{{Project: "ber", Err: bad}}}, "Could not be looked into: ber: ", true},
		{"others than these are not known", fleet.View{Part: &fleet.Part{Projects: []string{"fra", "lon"}, Err: bad}},
			"Only these projects were looked into, because others are not known (server error): fra, lon", true},
		{"none was told of lately", fleet.View{Failed: []fleet.Denied{{}}}, "Could not be looked into: all projects: ", true},
	} {
		tt.view.Complete = true
		var out strings.Builder
		if err := printClusters(&out, &tt.view); err != nil || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: %v: %s", tt.name, err, &out)
		}
		if doc := clustersOf(&tt.view); len(doc.Failed) != len(tt.view.Failed) || len(doc.Failed) > 0 && doc.Failed[0].Why == "" {
			t.Errorf("%s: %+v", tt.name, doc)
		}
		part := tt.view.Part
		if doc := clustersOf(&tt.view); doc.Complete != (part == nil) || part != nil && !slices.Equal(doc.Only, part.Projects) {
			t.Errorf("%s: complete is %v, only %v", tt.name, doc.Complete, doc.Only)
		}
		if needs := clustersNeed(&tt.view); needs != tt.needs {
			t.Errorf("%s: it needs somebody: %v", tt.name, needs)
		}
	}
}
