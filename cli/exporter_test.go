package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/engine"
	"lockstep/core/progress"
	"lockstep/scene"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/lan"
)

// scraped is what a scraper reads: each series with its value.
func scraped(t *testing.T, h http.Handler) map[string]string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	series := map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		if i := strings.LastIndexByte(strings.TrimSpace(line), ' '); strings.HasPrefix(line, "lockstep_") {
			series[line[:i]] = strings.TrimSpace(line[i:])
		}
	}
	return series
}

// beginning are the series of a metric.
func beginning(series map[string]string, name string) []string {
	return slices.Collect(func(yield func(string) bool) {
		for s := range maps.Keys(series) {
			if strings.HasPrefix(s, name+"{") && !yield(s) {
				return
			}
		}
	})
}

// exported is what the exporter serves of a simulated cloud until the test ends, and the journal that it watches.
func exported(t *testing.T, c *sim.Cloud) (http.Handler, *journalWatch) {
	t.Helper()
	p := placeOn(t, c)
	configured(t, &p, c)
	p.ReadOnly, p.OneLook = true, true
	s, err := p.open(t.Context(), p.log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	journal := newJournalWatch(s.JournalPath)
	h := metricsHandler(s.Engine.Snapshot, journal)
	if before := scraped(t, h); before["lockstep_update_known"] != "0" || before["lockstep_update_running"] != "" ||
		before["lockstep_nodes_late"] != "" || before[`lockstep_entries{severity="urgent"}`] != "" || before["lockstep_entries_aside"] != "" {
		t.Errorf("before anything was seen it says %v", before)
	}
	return h, journal
}

// What is served is what the cluster says.
func metricsAreWhatTheClusterSays(t *testing.T, h http.Handler) {
	t.Helper()
	until(t, "a node waits, urgently", func() bool {
		m := scraped(t, h)
		return m["lockstep_update_running"] == "1" && m[`lockstep_nodes{stage="waiting for you"}`] == "1" &&
			slices.Contains([]string{"1", "2", "3"}, m[`lockstep_entries{severity="urgent"}`]) && m["lockstep_update_nodes_waiting"] == "1" &&
			m[`lockstep_rule_entries{rule="node-waits",severity="urgent"}`] == "1"
	})
	m := scraped(t, h)
	for series, want := range map[string]string{
		`lockstep_cluster_info{cluster="mos"}`:                                         "1",
		`lockstep_update_info{from="",to="21.0.0+25.2"}`:                               "1",
		`lockstep_update_nodes`:                                                        "13",
		`lockstep_cluster_locks{controller="openstack",state="inactive"}`:              "1",
		`lockstep_source_up{server="openstack",source="instances"}`:                    "1",
		`lockstep_phase_state{phase="3",state="done",title="master nodes"}`:            "1",
		`lockstep_phase_state{phase="4",state="waiting for you",title="worker nodes"}`: "1",
		`lockstep_lease_held`:                                                          "0",
		`lockstep_journal_readable`:                                                    "0",
	} {
		if m[series] != want {
			t.Errorf("%s is %q, want %s", series, m[series], want)
		}
	}
	if len(beginning(m, "lockstep_source_seen_timestamp_seconds")) < 20 {
		t.Errorf("few sources were seen: %v", m)
	}
}

// What was seen goes on being served when the servers are away: then the sources say so.
func metricsOutlastTheServers(t *testing.T, c *sim.Cloud, h http.Handler) {
	t.Helper()
	if err := c.Kube.Outage(true); err != nil {
		t.Fatal(err)
	}
	until(t, "the sources cannot be seen", func() bool {
		m := scraped(t, h)
		return m[`lockstep_source_up{server="kubernetes",source="nodes"}`] == "0" && m["lockstep_update_running"] == "1"
	})
	if err := c.Kube.Outage(false); err != nil {
		t.Fatal(err)
	}
}

// keepsTheJournal writes a journal, and then damages it.
func keepsTheJournal(t *testing.T, h http.Handler, w *journalWatch) {
	t.Helper()
	j, err := engine.OpenJournal(w.path, engine.JournalOptions{Who: "somebody", Run: "one"})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := j.Write(engine.Record{Kind: engine.RecordStart, Wall: time.Now(), By: "somebody"}, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	w.look()
	m := scraped(t, h)
	if m["lockstep_journal_readable"] != "1" || m["lockstep_journal_lines"] == "" || m["lockstep_journal_damaged_lines"] != "0" ||
		m["lockstep_journal_last_write_timestamp_seconds"] == "" {
		t.Errorf("of the journal it says %v", m)
	}
	raw, err := os.ReadFile(w.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path, append([]byte(strings.Replace(string(raw), "somebody", "nobody", 1)), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	w.look()
	if m := scraped(t, h); m["lockstep_journal_damaged_lines"] != "2" { // and the empty one
		t.Errorf("a changed line is not counted: %v", m)
	}
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	w.look()
	if m := scraped(t, h); m["lockstep_journal_readable"] != "0" || m["lockstep_journal_lines"] != "" {
		t.Errorf("a journal that is gone: %v", m)
	}
}

// Names that a server chooses make no more series than the documents say.
func TestMetricsAreBounded(t *testing.T) {
	s := scene.NewScene().Snapshot
	s.Migrations = map[string][]*core.Migration{}
	for i := range 300 {
		s.ClusterLocks = append(s.ClusterLocks, &core.WorkloadLock{Controller: fmt.Sprintf("controller-%d", i),
			RawState: core.LockState(fmt.Sprintf("state-%d", i))})
		id := fmt.Sprintf("instance-%d", i)
		s.Migrations[id] = []*core.Migration{{ID: i, InstanceID: id, Status: "running", SourceHost: fmt.Sprintf("host-%d", i)}}
	}
	m := scraped(t, metricsHandler(func() *core.Snapshot { return s }, &journalWatch{}))
	if n := len(beginning(m, "lockstep_cluster_locks")); n > (mostControllers+1)*(len(lockStates)+1) {
		t.Errorf("%d series of locks", n)
	}
	if n := len(beginning(m, "lockstep_host_migrations_running")); n != mostHosts+1 {
		t.Errorf("%d series of hosts", n)
	}
	if got := m[`lockstep_host_migrations_running{host="other",machine="other"}`]; got != "250" || m["lockstep_migrations_running"] != "300" {
		t.Errorf("%s of %s migrations leave other hosts", got, m["lockstep_migrations_running"])
	}
}

// A host has the name of its machine as well: nobody knows kaas-node-1ca2d6c8-… by heart.
func TestAHostIsCalledAsItsMachine(t *testing.T) {
	sc := scene.NewScene()
	s := sc.Snapshot
	sc.Node("cmp-01", core.RoleCompute).ShortName = "rack7-u12"
	s.Migrations = map[string][]*core.Migration{}
	for i, host := range []string{"cmp-01", "cmp-01", "gone-01"} {
		id := fmt.Sprintf("instance-%d", i)
		s.Migrations[id] = []*core.Migration{{ID: i, InstanceID: id, Status: "running", SourceHost: host}}
	}
	m := scraped(t, metricsHandler(func() *core.Snapshot { return s }, &journalWatch{}))
	for series, want := range map[string]string{
		`lockstep_host_migrations_running{host="cmp-01",machine="rack7-u12"}`: "2",
		`lockstep_host_migrations_running{host="gone-01",machine="gone-01"}`:  "1",
	} {
		if m[series] != want {
			t.Errorf("%s is %q, want %s: %v", series, m[series], want, beginning(m, "lockstep_host_migrations_running"))
		}
	}
}

// All stages, states and severities are there, so that a dashboard sees a zero and not a gap.
func TestASceneHasAllStages(t *testing.T) {
	s := scene.NewScene().Snapshot
	m := scraped(t, metricsHandler(func() *core.Snapshot { return s }, &journalWatch{}))
	for _, stage := range core.Stages() {
		if m[`lockstep_nodes{stage="`+string(stage)+`"}`] == "" {
			t.Errorf("there is nothing of %s: %v", stage, beginning(m, "lockstep_nodes"))
		}
	}
	if n := len(beginning(m, "lockstep_entries")); n != 3 {
		t.Errorf("%d severities", n)
	}
}

// Every node is counted at some stage, whatever goes on in the cluster.
func TestEveryNodeIsCountedAtAStage(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := scene.AnyScene(rt).Snapshot
		m := scraped(t, metricsHandler(func() *core.Snapshot { return s }, &journalWatch{}))
		counts := beginning(m, "lockstep_nodes")
		if len(counts) == 0 {
			return // the nodes are not known
		}
		sum := 0
		for _, series := range counts {
			n, err := strconv.Atoi(m[series])
			if err != nil {
				rt.Fatal(err)
			}
			sum += n
		}
		if all := len(progress.NodeViews(s)); sum != all {
			rt.Fatalf("%d of %d nodes are counted: %v", sum, all, counts)
		}
	})
}

// Connections that send nothing, or never read, hold up no scrape, and not the end.
func TestADeadScraperHoldsUpNobody(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		network := lan.New(1)
		listener, err := network.Listen("exporter:0")
		if err != nil {
			t.Fatal(err)
		}
		s := scene.NewScene().Snapshot
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- serveMetrics(ctx, listener, metricsHandler(func() *core.Snapshot { return s }, &journalWatch{}), ownLog(t))
		}()
		dial := network.Dialer("dead")
		for i := range 20 {
			conn, err := dial(t.Context(), "tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if i%2 == 0 {
				fmt.Fprint(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\n") // and no end
			} else {
				fmt.Fprint(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n") // and nobody reads
			}
		}
		time.Sleep(time.Second) // the answers to the others are made: only some are at the same time
		client := http.Client{Transport: network.Transport("alive")}
		defer client.CloseIdleConnections()
		began := time.Now()
		for path, want := range map[string]string{"/metrics": "lockstep_update_known", "/healthz": "ok"} {
			resp, err := client.Get("http://" + listener.Addr().String() + path)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
				t.Errorf("%s: %d, %v: %.200s", path, resp.StatusCode, err, body)
			}
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the scrapes took %s", took)
		}
		began = time.Now()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the end took %s", took)
		}
	})
}

// Every query of the alert rules and of the dashboard asks for metrics, labels and values that the exporter has.
func TestRulesAndDashboardAskForWhatIsThere(t *testing.T) {
	known := map[string]metric{}
	for _, m := range exporterMetrics() {
		known[m.name] = m
	}
	dashboard, err := os.ReadFile("../deploy/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(dashboard) {
		t.Fatal("the dashboard is not JSON")
	}
	rules, err := os.ReadFile("../deploy/prometheus-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	name, matcher := regexp.MustCompile(`\blockstep_\w+(\{[^}]*\})?`), regexp.MustCompile(`(\w+)!?=~?"([^"]*)"`)
	values := map[string][]string{"server": nil, "controller": nil}
	for _, stage := range stages {
		values["stage"] = append(values["stage"], string(stage))
	}
	for _, state := range phaseStates {
		values["state"] = append(values["state"], string(state))
	}
	for _, state := range lockStates {
		values["state"] = append(values["state"], string(state))
	}
	for _, severity := range allSeverities {
		values["severity"] = append(values["severity"], severity.String())
	}
	asked := map[string]bool{}
	for file, text := range map[string]string{"rules": string(rules), "dashboard": strings.ReplaceAll(string(dashboard), `\"`, `"`)} {
		found := name.FindAllString(text, -1)
		if len(found) < 8 {
			t.Errorf("the %s ask for %d metrics only", file, len(found))
		}
		for _, query := range found {
			metric, labels, _ := strings.Cut(query, "{")
			m, ok := known[metric]
			if !ok {
				t.Errorf("the %s ask for %s, which the exporter does not have", file, metric)
			}
			asked[metric] = true
			for _, l := range matcher.FindAllStringSubmatch(labels, -1) {
				if l[1] == "instance" { // Prometheus' own
					continue
				}
				if !slices.Contains(m.labels, l[1]) {
					t.Errorf("the %s ask %s for the label %s", file, metric, l[1])
				}
				if all := values[l[1]]; len(all) > 0 && !slices.Contains(all, l[2]) {
					t.Errorf("the %s ask %s for %s %q, which there is not", file, metric, l[1], l[2])
				}
			}
		}
	}
	named := " * on (job, instance) group_left (cluster) lockstep_cluster_info "
	for _, line := range strings.Split(string(rules), "\n") { // an alert that does not say of which cluster helps nobody who has several
		if strings.Contains(line, "expr: ") && strings.Contains(line, "lockstep_") && !strings.Contains(line, named) {
			t.Errorf("the alert has no label cluster: %s", strings.TrimSpace(line))
		}
	}
	if !regexp.MustCompile(`time\(\) - lockstep_snapshot_timestamp_seconds\) .* > 120\n`).Match(rules) {
		t.Error("no alert says that the exporter looks at nothing any more")
	}
	if len(asked) < 15 {
		t.Errorf("only %d metrics are used", len(asked))
	}
}

// docs/metrics.md is written from the metrics themselves.
func TestTheDocumentOfMetrics(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# What the exporter serves

` + "`lockstep exporter`" + ` serves these metrics at /metrics, besides those of Go and of the process ` +
		"(`go_…`, `process_…`)." + `
All are gauges, made from what is known when they are asked for: what is not known is absent, and is never 0. Times are Unix
seconds. The labels of hosts and controllers are bounded, and no metric has a label for an instance or an object.

` + "`deploy/prometheus-rules.yaml` has alerts and `deploy/grafana-dashboard.json`" + ` a dashboard, which was
loaded into Grafana 9.3.2. This page is written by ` + "`go test ./cli -run TestTheDocumentOfMetrics -update`" + `.

| metric | labels | says |
|---|---|---|
`)
	for _, m := range exporterMetrics() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.name, strings.Join(m.labels, ", "), m.help)
		if !strings.HasPrefix(m.name, "lockstep_") || !strings.HasSuffix(m.help, ".") {
			t.Errorf("%s: %s", m.name, m.help)
		}
	}
	const path = "../docs/metrics.md"
	if *updateGoldens {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile(path)
	if err != nil || string(is) != b.String() {
		t.Errorf("%s is not what the exporter serves (%v): write it with -update", path, err)
	}
}

// What is set aside alerts nobody: it is counted by itself. A source that a login bound by the manifests may not read is no source that is
// down, and a lease that nobody could read is not one that nobody holds.
func TestMetricsAlertOfWhatIsToBeDone(t *testing.T) {
	sc := scene.NewScene()
	sc.Node("cmp-01", core.RoleCompute)
	sc.NodeLock("cmp-01", core.ControllerOpenStack).RawState = "strange"
	sc.Sources[core.SourceReleases] = core.Source{ID: core.SourceReleases, State: core.SourceForbidden}
	sc.Write = core.WriteMode{}
	scrape := func() map[string]string {
		s := sc.Again().Snapshot
		return scraped(t, metricsHandler(func() *core.Snapshot { return s }, &journalWatch{}))
	}
	all := func(m map[string]string) (n string) {
		for _, severity := range allSeverities {
			n += m[fmt.Sprintf("lockstep_entries{severity=%q}", severity)] + " "
		}
		return n + m["lockstep_entries_aside"]
	}
	due := attention.List(sc.Again().Snapshot)
	if len(due) == 0 {
		t.Fatal("nothing is to be done")
	}
	m := scrape()
	if m["lockstep_entries_aside"] != "0" || all(m) == "0 0 0 0" {
		t.Errorf("urgent, warning, notice and aside are %s", all(m))
	}
	if down := beginning(m, "lockstep_source_up"); slices.ContainsFunc(down, func(l string) bool { return strings.Contains(l, "releases") }) {
		t.Errorf("a source that nobody has to mend: %v", down)
	}
	if held, told := m["lockstep_lease_held"]; told {
		t.Errorf("nobody knows of the lease, and the metrics say %s", held)
	}
	sc.Write = core.WriteMode{Looked: true}
	for i, a := range due {
		n := core.Note{ID: fmt.Sprint(i), On: core.NoteOn{Entry: a.ID, Label: a.Label}, Text: "later", By: "anna", At: sc.Now}
		sc.Notes = append(sc.Notes, attention.SetAside(n, a, sc.Now.Add(time.Hour)))
	}
	m = scrape()
	if want := fmt.Sprintf("0 0 0 %d", len(due)); all(m) != want || m["lockstep_lease_held"] != "0" {
		t.Errorf("urgent, warning, notice and aside are %s, want %s; the lease: %q", all(m), want, m["lockstep_lease_held"])
	}
}

// A source that counts as old under "Needs you" is not up, although its state says live.
func TestASourceWhoseFactsAreOldIsNotUp(t *testing.T) {
	const series = `lockstep_source_up{server="kubernetes",source="nodes"}`
	for age, want := range map[time.Duration]string{time.Minute: "1", 2 * time.Minute: "1", 2*time.Minute + time.Second: "0"} {
		sc := scene.NewScene()
		src := sc.Sources[core.SourceNodes]
		src.State, src.AsOf = core.SourceLive, sc.Wall.Add(-age)
		sc.Sources[core.SourceNodes] = src
		s := sc.Again().Snapshot
		is := scraped(t, metricsHandler(func() *core.Snapshot { return s }, &journalWatch{}))[series]
		said := slices.ContainsFunc(attention.List(s), func(a core.Attention) bool {
			return a.Rule == core.RuleSources || a.Rule == core.RuleSource
		})
		if is != want || said != (want == "0") {
			t.Errorf("confirmed %s ago, it is %q, want %q; \"Needs you\" has it: %v", age, is, want, said)
		}
	}
}

// A node that is late is counted until its entry is set aside.
func TestALateNodeThatIsSetAsideIsNotCounted(t *testing.T) {
	sc := scene.Healthy()
	sc.Maintained("cmp-01", "").RawState = core.LockInactive
	sc.NodeRequest("cmp-01").Deleting = scene.Ago(13 * time.Minute)
	late := func() string {
		s := sc.Again().Snapshot
		return scraped(t, metricsHandler(func() *core.Snapshot { return s }, &journalWatch{}))["lockstep_nodes_late"]
	}
	if n := late(); n != "1" {
		t.Fatalf("late are %s nodes", n)
	}
	for i, a := range attention.List(sc.Again().Snapshot) {
		n := core.Note{ID: fmt.Sprint(i), On: core.NoteOn{Entry: a.ID, Label: a.Label}, Text: "later", By: "anna", At: sc.Now}
		sc.Notes = append(sc.Notes, attention.SetAside(n, a, sc.Now.Add(time.Hour)))
	}
	if n := late(); n != "0" {
		t.Errorf("with its entry set aside, late are %s nodes", n)
	}
}
