package cli

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/fleet"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
)

// How the list and its clusters are opened.
func TestClustersAreOpened(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "clusters"), Paused: true})
		contextOfTheManagementClusterOpensTheList(t, c)
		openedClusterGetsNothingOfAnother(t, c)
		clusterIsOpenedByItsSecret(t, c)
	})
}

// A cluster that is opened from the list gets nothing of another: neither the cloud of the flags nor that of the environment, its own
// project on the management cluster, and no writing from the start.
func openedClusterGetsNothingOfAnother(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.Kubeconfig, p.Context, p.write, p.actAs = c.KubeconfigPath, sim.ManagementContext, true, []string{core.ControllerOpenStack}
	p.config.Clusters = simClusters(c)
	p.config.Clusters["lon/mos-lon"] = access{Context: c.Scenario.Cluster}
	p.config.Clusters["par/mos-par"] = access{Context: sim.ManagementContext}
	p.config.Clusters["ams/mos-ams"] = access{Kubeconfig: unmarked(t, c.KubeconfigPath), Context: c.Scenario.Cluster}
	watch, err := openFleet(t.Context(), p, p.log)
	if err != nil {
		t.Fatal(err)
	}
	screen := &fleetScreen{options: p, log: p.log}
	running, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); watch.run(running) }()
	watch.look(t.Context(), time.Minute)
	stop()
	<-ended
	p.config.Clusters["fra/mos-fra"] = access{Context: "mos-fra", OSCloud: c.CloudName}
	fra, err := screen.placeOf(watch, fleet.ID{Project: "fra", Name: "mos-fra"}, nil)
	if err != nil || fra.Context != "mos-fra" || fra.OSCloud != c.CloudName || fra.NoCloud != "" || fra.write || len(fra.actAs) > 0 ||
		fra.Management != (session.Management{Kubeconfig: c.KubeconfigPath, Context: sim.ManagementContext, Namespace: "fra",
			Cluster: "mos-fra"}) {
		t.Errorf("mos-fra is opened by %+v, %v", fra, err)
	}
	lon, err := screen.placeOf(watch, fleet.ID{Project: "lon", Name: "mos-lon"}, nil)
	if err != nil || lon.OSCloud != "" || lon.NoCloud == "" {
		t.Fatalf("mos-lon is opened with the cloud %q, %q, %v", lon.OSCloud, lon.NoCloud, err)
	}
	s, err := lon.open(t.Context(), lon.log)
	if err != nil {
		t.Fatal(err)
	}
	e := sourceOf(t, s, core.SourceInstances).Err
	if s.OpenStack != nil || s.Journal == nil || e == nil || !strings.Contains(e.Message, "names no cloud for mos-lon") {
		t.Errorf("it has a cloud, or does not say why not: %v", e)
	}
	for name, want := range map[string]string{"mos-par": "is the management cluster itself", "mos-rom": "names no context for it",
		"mos-ber": "there is no context", "mos-ams": "is real, and the management cluster is simulated"} {
		project := strings.TrimPrefix(name, "mos-")
		_, err := screen.placeOf(watch, fleet.ID{Project: project, Name: name}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		var api *core.APIError
		if name == "mos-par" && (!errors.As(err, &api) || api.Remedy == "") {
			t.Errorf("%s: nothing says what to do: %v", name, err)
		}
	}
	p.Kubeconfig = unmarked(t, c.KubeconfigPath) // a list that is real
	p.config.Clusters["fra/mos-fra"] = access{Kubeconfig: c.KubeconfigPath, Context: "mos-fra"}
	if watch, err = openFleet(t.Context(), p, p.log); err != nil {
		t.Fatal(err)
	}
	screen.options = p
	if _, err := screen.placeOf(watch, fleet.ID{Project: "fra", Name: "mos-fra"}, nil); err == nil ||
		!strings.Contains(err.Error(), "is simulated, and the management cluster is not") {
		t.Errorf("a simulated cluster is opened from a real list: %v", err)
	}
}

// The list is opened where the context is that of the management cluster, and by the flag.
func contextOfTheManagementClusterOpensTheList(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.Kubeconfig, p.Management = c.KubeconfigPath, session.Management{Context: sim.ManagementContext}
	if p.onManagement() {
		t.Error("the MOSK cluster is taken for the management cluster")
	}
	p.Context = sim.ManagementContext
	if !p.onManagement() {
		t.Error("the management cluster is not known as such")
	}
	for flag, give := range map[string]func(p *options){"": func(*options) {}, "--write": func(p *options) { p.write = true },
		"--act-as":   func(p *options) { p.actAs = []string{"openstack"} },
		"--os-cloud": func(p *options) { p.OSCloud = "mos" }, "--os-from-cluster": func(p *options) { p.OSFromCluster = true },
		"--record": func(p *options) { p.record = "here" }} {
		p := p
		give(&p)
		if err := p.fitsList(); (err != nil) != (flag != "") || err != nil &&
			(!strings.HasPrefix(err.Error(), flag+" goes with one cluster") || !strings.Contains(err.Error(), "--no-clusters")) {
			t.Errorf("%s beside the list: %v", flag, err)
		}
	}
	p.Management = session.Management{}
	if p.onManagement() {
		t.Error("a cluster is taken for the management cluster although none is named")
	}
}

// Who opens a management cluster wants its clusters, whether or not it was named as one.
func TestAManagementClusterOpensTheList(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "clusters"), Paused: true, User: kubeapi.Readonly})
		for _, tt := range []struct {
			name   string
			change func(p *options)
			want   bool
		}{
			{"a management cluster", func(p *options) { p.Context = sim.ManagementContext }, true},
			{"one of its clusters", func(p *options) {}, false},
			{"one is asked for", func(p *options) { p.Context, p.single = sim.ManagementContext, true }, false},
			{"the list is asked for", func(p *options) { p.clusters = true }, true},
			{"both are named, one is asked for", func(p *options) {
				p.Context, p.single, p.Management = sim.ManagementContext, true, session.Management{Context: sim.ManagementContext}
			}, false},
			{"writing is armed", func(p *options) { p.Context, p.write = sim.ManagementContext, true }, false},
			{"a cloud is named", func(p *options) { p.Context, p.OSCloud = sim.ManagementContext, "mos" }, false},
			{"a controller is played", func(p *options) { p.Context, p.actAs = sim.ManagementContext, []string{"openstack"} }, false},
			{"the login is refused", func(p *options) {
				p.Context = sim.ManagementContext
				if err := c.Faults.On(fault.Setting{Server: fault.Management, Kind: "401"}); err != nil {
					t.Fatal(err)
				}
			}, false},
			{"the server is silent", func(p *options) {
				p.Context = sim.ManagementContext
				if err := c.Faults.On(fault.Setting{Server: fault.Management, Kind: "hang"}); err != nil {
					t.Fatal(err)
				}
			}, false},
			{"a proxy answers", func(p *options) {
				p.Context = sim.ManagementContext
				if err := c.Faults.On(fault.Setting{Server: fault.Management, Kind: "page-200"}); err != nil {
					t.Fatal(err)
				}
			}, false},
		} {
			p := placeOn(t, c)
			p.Kubeconfig = c.KubeconfigPath
			tt.change(&p)
			began := time.Now()
			if got := p.opensList(t.Context(), ownLog(t)); got != tt.want || time.Since(began) > probing {
				t.Errorf("%s: %t after %s, want %t", tt.name, got, time.Since(began), tt.want)
			}
			c.Faults.Clear()
		}
	})
}

func TestTheSectionClustersIsChecked(t *testing.T) {
	for text, want := range map[string]string{
		"{mos: {context: a}, prod/mos: {kubeconfig: b.yaml, osFromCluster: true}}": "",
		"{mos: {}}":                                            "mos: want its context, its kubeconfig, or both",
		"{mos: {osCloud: a}}":                                  "", // the list asks for the rest
		"{mos: {fromManagement: true}}":                        "",
		"{mos: {context: a, fromManagement: true}}":            "want fromManagement, or its context and kubeconfig",
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
	closed, part := seen(true, prod), seen(false, prod)
	closed.Denied = []fleet.Denied{{Project: "test"}}
	part.Part = &fleet.Part{Projects: []string{"prod"}}
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
		"a project is closed to us":            {bare, closed, prod, "", `not all projects may be read`},
		"a key of its own beside it":           {both, closed, prod, "kubeconfig /etc/lockstep/b.yaml", ""},
		"which projects there are is unknown":  {bare, part, prod, "", `not all projects may be read`},
		"a key of its own needs no knowledge":  {both, nil, prod, "kubeconfig /etc/lockstep/b.yaml", ""},
		"no key":                               {bare, seen(true, prod, lab), lab, access{}.text(), ""},
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

// A cluster without a context is opened by its Secret on the management cluster: only when it is asked for, and once for each time. The
// credentials reach neither a file nor the log nor the journal.
func clusterIsOpenedByItsSecret(t *testing.T, c *sim.Cloud) {
	t.Helper()
	p := placeOn(t, c)
	p.Kubeconfig, p.Context, p.Name = c.KubeconfigPath, sim.ManagementContext, ""
	p.config.Clusters = simClusters(c)
	asks := &overheard{RoundTripper: p.Line.Transport}
	p.Line.Transport = asks
	watch, err := openFleet(t.Context(), p, p.log)
	if err != nil {
		t.Fatal(err)
	}
	desk, screen := &fleetDesk{fleetWatch: watch, config: &p.config, log: p.log}, &fleetScreen{options: p, log: p.log}
	fra, lon := fleet.ID{Project: "fra", Name: "mos-fra"}, fleet.ID{Project: "lon", Name: "mos-lon"}
	a := desk.Access(fra)
	if l := a.Login; a.Lack != "" || l == nil || l.Secret != "mos-fra-kubeconfig" || l.Namespace != "fra" || l.Asked ||
		!strings.Contains(l.As, "context management") || !strings.Contains(l.OpenStack, "the cloud sim") {
		t.Fatalf("the list says %+v %+v", a, a.Login)
	}
	if l := desk.Access(lon).Login; l == nil || !strings.HasPrefix(l.OpenStack, "not configured") {
		t.Errorf("of a cluster that is not configured it says %+v", l)
	}
	if desk.Access(fleet.ID{Name: "mos"}).Lack == "" {
		t.Error("a cluster without a project can be opened")
	}
	if _, err := screen.placeOf(watch, fra, desk.take(fra)); err == nil || asks.times("/secrets") != 0 {
		t.Errorf("without a question it is opened: %v; the Secret was asked for %d times", err, asks.times("/secrets"))
	}
	if err := desk.ReadLogin(t.Context(), fra); err != nil || asks.times("/secrets") != 1 {
		t.Fatalf("the Secret was asked for %d times: %v", asks.times("/secrets"), err)
	}
	if desk.take(lon) != nil || desk.take(fra) != nil {
		t.Error("the login of one cluster opens another, or is kept")
	}
	if err := desk.ReadLogin(t.Context(), fra); err != nil {
		t.Fatal(err)
	}
	opened, err := screen.placeOf(watch, fra, desk.take(fra))
	if err != nil || opened.Given == nil || opened.Management.Cluster != "mos-fra" || opened.Management.Kubeconfig != c.KubeconfigPath {
		t.Fatalf("it is opened by %+v, %v", opened, err)
	}
	if desk.take(fra) != nil {
		t.Error("the login is kept")
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if err := desk.ReadLogin(gone, fra); err == nil || desk.take(fra) != nil {
		t.Errorf("what was given up is kept, or no error: %v", err)
	}

	token := strings.Split(strings.SplitN(string(opened.Given.Content), "token: ", 2)[1], "\n")[0]
	snap := seenIn(t, opened)
	if snap.Cluster != "mos-fra" || len(snap.Nodes) == 0 || !snap.Management.Found {
		t.Errorf("%s is opened, with %d nodes; found on the management cluster: %v", snap.Cluster, len(snap.Nodes), snap.Management.Found)
	}
	// The Secret of another cluster would lead here, too: its machines are not these nodes, and nothing of it is shown.
	machine := `{apiVersion: cluster.k8s.io/v1alpha1, kind: Machine, metadata: {name: lon-cmp-01, namespace: lon, labels: ` +
		`{cluster.sigs.k8s.io/cluster-name: mos-lon}}, spec: {providerSpec: {value: {}}}, status: {nodeRef: {name: lon-1}}}`
	if err := c.Management.LoadYAML([]byte(machine)); err != nil {
		t.Fatal(err)
	}
	other, err := screen.placeOf(watch, lon, opened.Given)
	if err != nil {
		t.Fatal(err)
	}
	if snap := seenIn(t, other); snap.Management.Found {
		t.Error("the nodes of mos-fra are taken for those of mos-lon")
	}
	if files := filesIn(t, opened); strings.Contains(files, token) || !strings.Contains(files, "mos-fra-kubeconfig") {
		t.Errorf("the token is written, or it is not logged that it was read:\n%s", files)
	}
}

// seenIn is what a session of a place sees when all its sources have answered.
func seenIn(t *testing.T, p options) *core.Snapshot {
	t.Helper()
	st := &story{t: t, place: p}
	st.place.Journal = p.Journal
	st.begin()
	defer st.stop()
	return st.until("everything has answered", func(s *core.Snapshot) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Values(s.Sources)), func(src core.Source) bool {
			return src.State == core.SourceConnecting
		}) && len(s.Nodes) > 0
	})
}
