package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/fleet"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// A cluster that is opened from the list gets nothing of another: neither the cloud of the flags nor that of the environment, its own
// project on the management cluster, and no writing from the start.
func TestAnOpenedClusterGetsNothingOfAnother(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "clusters"), Paused: true})
		p := placeOn(t, c)
		p.kubeconfig, p.context, p.write = c.KubeconfigPath, sim.ManagementContext, true
		p.config.Clusters = simClusters(c)
		p.config.Clusters["mos-lon"] = access{Context: c.Scenario.Cluster}
		p.config.Clusters["mos-par"] = access{Context: sim.ManagementContext}
		watch, err := openFleet(t.Context(), p, p.log)
		if err != nil {
			t.Fatal(err)
		}
		screen := &fleetScreen{place: p, log: p.log}
		running, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); watch.run(running) }()
		watch.look(t.Context(), time.Minute)
		stop()
		<-ended
		fra, err := screen.placeOf(watch, fleet.ID{Project: "fra", Name: "mos-fra"})
		if err != nil || fra.context != "mos-fra" || fra.osCloud != c.CloudName || fra.noCloud != "" || fra.write ||
			fra.management != (management{Kubeconfig: c.KubeconfigPath, Context: sim.ManagementContext, Namespace: "fra", Cluster: "mos-fra"}) {
			t.Errorf("mos-fra is opened by %+v, %v", fra.options, err)
		}
		lon, err := screen.placeOf(watch, fleet.ID{Project: "lon", Name: "mos-lon"})
		if err != nil || lon.osCloud != "" || lon.noCloud == "" {
			t.Fatalf("mos-lon is opened with the cloud %q, %q, %v", lon.osCloud, lon.noCloud, err)
		}
		s, err := open(t.Context(), lon, lon.log)
		if err != nil {
			t.Fatal(err)
		}
		if s.client != nil || s.journal == nil || len(s.down) == 0 || !strings.Contains(s.down[0].Err.Message, "names no cloud for mos-lon") {
			t.Errorf("it has a cloud, or does not say why not: %+v", s.down)
		}
		if err := s.journal.Close(); err != nil {
			t.Error(err)
		}
		for name, want := range map[string]string{"mos-par": "is the management cluster itself", "mos-rom": "does not name it",
			"mos-ber": "there is no context"} {
			project := strings.TrimPrefix(name, "mos-")
			_, err := screen.placeOf(watch, fleet.ID{Project: project, Name: name})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			var api *core.APIError
			if name == "mos-par" && (!errors.As(err, &api) || api.Remedy == "") {
				t.Errorf("%s: nothing says what to do: %v", name, err)
			}
		}
	})
}

// The list is opened where the context is that of the management cluster, and by the flag.
func TestTheContextOfTheManagementClusterOpensTheList(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "clusters"), Paused: true})
		p := placeOn(t, c)
		p.kubeconfig, p.management = c.KubeconfigPath, management{Context: sim.ManagementContext}
		if p.onManagement() {
			t.Error("the MOSK cluster is taken for the management cluster")
		}
		p.context = sim.ManagementContext
		if !p.onManagement() {
			t.Error("the management cluster is not known as such")
		}
		p.management = management{}
		if p.onManagement() {
			t.Error("a cluster is taken for the management cluster although none is named")
		}
	})
}

func TestTheSectionClustersIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"{mos: {context: a}, prod/mos: {kubeconfig: b.yaml, osFromCluster: true}}": "",
		"{mos: {osCloud: a}}": "mos: want its context, its kubeconfig, or both",
		"{mos: {context: a, osCloud: a, osFromCluster: true}}": "want osCloud or osFromCluster, not both",
		"{/mos: {context: a}}":                                 `"/mos": want the name of a cluster, or project/name`,
		"{a/b/c: {context: a}}":                                `"a/b/c": want the name`,
		"{mos: {contxt: a}}":                                   "contxt",
	} {
		var c config
		if err := c.read(configDefaults); err != nil {
			t.Fatal(err)
		}
		err := c.read([]byte("clusters: " + text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// A key without a project names one cluster. Where two have the name, or that is not known, it opens neither, and says what to write.
func TestAKeyWithoutAProjectNamesOneClusterOnly(t *testing.T) {
	seen := func(listed bool, ids ...fleet.ID) *fleet.View {
		v := &fleet.View{Listed: listed}
		for _, id := range ids {
			v.Rows = append(v.Rows, fleet.Row{ID: id})
		}
		return v
	}
	prod, test, lab := fleet.ID{Project: "prod", Name: "mos"}, fleet.ID{Project: "test", Name: "mos"}, fleet.ID{Project: "lab", Name: "lab"}
	bare, both := map[string]access{"mos": {Context: "a"}}, map[string]access{"mos": {Context: "a"}, "prod/mos": {Kubeconfig: "b.yaml"}}
	for name, tt := range map[string]struct {
		keys  map[string]access
		view  *fleet.View
		id    fleet.ID
		opens string
		lack  string // a part of it
	}{
		"the only one of the name":             {bare, seen(true, prod, lab), prod, "context a", ""},
		"two of the name":                      {bare, seen(true, prod, test), test, "", `write "prod/mos" and "test/mos" instead of "mos"`},
		"one of two with a key of its own":     {both, seen(true, prod, test), prod, "kubeconfig /etc/lockstep/b.yaml", ""},
		"the other of the two":                 {both, seen(true, prod, test), test, "", `write "prod/mos" and "test/mos" instead of "mos"`},
		"the other, which alone is seen":       {both, seen(true, test), test, "", `write "prod/mos" and "test/mos" instead of "mos"`},
		"not all clusters are known":           {bare, seen(false, prod), prod, "", `write "prod/mos" instead of "mos"`},
		"nothing is known":                     {bare, nil, prod, "", `write "prod/mos" instead of "mos"`},
		"a key of its own needs no knowledge":  {both, nil, prod, "kubeconfig /etc/lockstep/b.yaml", ""},
		"no key":                               {bare, seen(true, prod, lab), lab, "", noAccess},
		"a cluster that is seen in no project": {bare, seen(true, fleet.ID{Name: "mos"}), fleet.ID{Name: "mos"}, "context a", ""},
	} {
		c := config{Clusters: tt.keys, folder: "/etc/lockstep"}
		a, err := c.accessOf(tt.id, tt.view)
		switch {
		case tt.opens != "" && (err != nil || a.text() != tt.opens):
			t.Errorf("%s: it is opened by %+v, %v; want %s", name, a, err, tt.opens)
		case tt.opens == "" && (err == nil || !strings.Contains(err.Error(), tt.lack)):
			t.Errorf("%s: it is opened by %+v, %v; want %s", name, a, err, tt.lack)
		}
	}
}
