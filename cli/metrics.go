package cli

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/engine"
	"lockstep/core/forecast"
	"lockstep/core/progress"
)

// metric is one metric of the exporter. All are gauges: each is made from the newest Snapshot when it is asked for.
type metric struct {
	name   string
	labels []string
	help   string
	values func(s *core.Snapshot, is func(value float64, labels ...string))
}

// What bounds the number of series: a label's further values are counted as "other".
const (
	mostControllers = 20
	mostHosts       = 50
	otherLabel      = "other"
)

var (
	stages        = core.Stages()
	phaseStates   = []core.PhaseState{core.PhasePending, core.PhaseRunning, core.PhaseWaiting, core.PhaseStuck, core.PhaseDone}
	lockStates    = []core.LockState{core.LockActive, core.LockInactive, core.LockFailed}
	allSeverities = []core.Severity{core.SeverityUrgent, core.SeverityWarning, core.SeverityNotice}
)

// metrics are all metrics made from a Snapshot. docs/metrics.md is written from them.
var metrics = []metric{
	{"lockstep_cluster_info", []string{"cluster"}, "The cluster that is watched; always 1.",
		func(s *core.Snapshot, is func(float64, ...string)) { is(1, oneLine(s.CalledCluster())) }},
	{"lockstep_snapshot_timestamp_seconds", nil, "When the newest look at everything was put together, by the exporter's clock.",
		func(s *core.Snapshot, is func(float64, ...string)) { isTime(is, s.Wall) }},
	{"lockstep_cluster_timestamp_seconds", nil, "The cluster's time at that moment; the times of updates and phases compare with it.",
		func(s *core.Snapshot, is func(float64, ...string)) { isTime(is, s.Now) }},
	{"lockstep_source_up", []string{"source", "server"},
		"1 if the source can be seen, 0 if it cannot, or was not confirmed for two minutes (staleAfter, twice). A source that is not " +
			"configured, that the cluster lacks, or that a login bound by the manifests may not read, has none.",
		eachSource(func(s *core.Snapshot, src core.Source, is func(float64)) {
			is(oneIf(src.State == core.SourceLive && !attention.LiveAndOld(s, src)))
		})},
	{"lockstep_source_seen_timestamp_seconds", []string{"source", "server"},
		"When the server last confirmed what is known of the source, by the exporter's clock. A source that was never seen has none.",
		eachSource(func(_ *core.Snapshot, src core.Source, is func(float64)) {
			if !src.AsOf.IsZero() {
				is(seconds(src.AsOf))
			}
		})},

	{"lockstep_update_known", nil, "1 if it is known whether an update runs.",
		func(s *core.Snapshot, is func(float64, ...string)) { is(oneIf(progress.Update(s).Known)) }},
	{"lockstep_update_running", nil, "1 while an update of the cluster runs. Absent while that is not known.",
		func(s *core.Snapshot, is func(float64, ...string)) {
			if u := progress.Update(s); u.Known {
				is(oneIf(u.Running))
			}
		}},
	{"lockstep_update_info", []string{"from", "to"}, "The releases of the update that runs; always 1. Empty labels: not known.",
		running(func(_ *core.Snapshot, u core.Update, is func(float64, ...string)) {
			is(1, oneLine(u.From), oneLine(u.To))
		})},
	{"lockstep_update_start_timestamp_seconds", nil, "When the update that runs began, by the cluster's clock.",
		running(func(_ *core.Snapshot, u core.Update, is func(float64, ...string)) { isTime(is, u.Started.At) })},
	{"lockstep_update_nodes", nil, "Nodes that the update that runs goes through.",
		running(func(_ *core.Snapshot, u core.Update, is func(float64, ...string)) { is(float64(u.Nodes)) })},
	{"lockstep_update_nodes_done", nil, "Of these, the nodes that are through.",
		running(func(_ *core.Snapshot, u core.Update, is func(float64, ...string)) { is(float64(u.Done)) })},
	{"lockstep_update_nodes_moving", nil, "Nodes in maintenance that go on by themselves.",
		running(func(_ *core.Snapshot, u core.Update, is func(float64, ...string)) { is(float64(u.Moving)) })},
	{"lockstep_update_nodes_waiting", nil, "Nodes in maintenance that wait for a person.",
		running(func(_ *core.Snapshot, u core.Update, is func(float64, ...string)) { is(float64(u.Waiting)) })},
	{"lockstep_update_nodes_end_forecast_timestamp_seconds", nil,
		"When all nodes will be through, by the pace seen here and by the cluster's clock. Absent while too little was seen to tell.",
		ends(func(e forecast.End, is func(float64, ...string)) { isTime(is, e.At) })},
	{"lockstep_update_nodes_end_forecast_spread_seconds", nil,
		"How much earlier or later that can be. 0 while something holds the update up.",
		ends(func(e forecast.End, is func(float64, ...string)) { is(e.Spread.Seconds()) })},
	{"lockstep_update_held", nil,
		"1 if something holds the update up, so that its forecast counts from when it goes on. Absent without a forecast.",
		ends(func(e forecast.End, is func(float64, ...string)) { is(oneIf(e.Held != "")) })},

	{"lockstep_phase_state", []string{"phase", "title", "state"}, "1 for the state that the phase of the update is in, 0 for all others.",
		eachPhase(func(s *core.Snapshot, p core.Phase, is func(float64, ...string)) {
			for _, state := range phaseStates {
				is(oneIf(p.State == state), string(state))
			}
		})},
	{"lockstep_phase_elapsed_seconds", []string{"phase", "title"},
		"How long the phase took, or has taken so far. Absent while that is not known.",
		eachPhase(func(s *core.Snapshot, p core.Phase, is func(float64, ...string)) {
			if p.Timed() {
				is(p.Elapsed(s.Now).Seconds())
			}
		})},
	{"lockstep_phase_late", []string{"phase", "title"}, "1 if the phase takes longer than the documents allow for it.",
		eachPhase(func(_ *core.Snapshot, p core.Phase, is func(float64, ...string)) {
			is(oneIf(p.Overdue != "" || !p.Late.At.IsZero()))
		})},
	{"lockstep_phase_parts", []string{"phase", "title"}, "Nodes or locks that belong to the phase. Absent where counting makes no sense.",
		eachPhase(func(_ *core.Snapshot, p core.Phase, is func(float64, ...string)) {
			if p.Total > 0 {
				is(float64(p.Total))
			}
		})},
	{"lockstep_phase_parts_done", []string{"phase", "title"}, "Of these, those that are done.",
		eachPhase(func(_ *core.Snapshot, p core.Phase, is func(float64, ...string)) {
			if p.Total > 0 {
				is(float64(p.Done))
			}
		})},

	{"lockstep_nodes", []string{"stage"}, "Nodes by the stage of their maintenance. Absent while nodes are not known.",
		whereKnown(core.SourceNodes, func(s *core.Snapshot, is func(float64, ...string)) {
			n := map[core.Stage]int{}
			for _, v := range progress.NodeViews(s) {
				n[v.Stage]++
			}
			for _, stage := range stages {
				is(float64(n[stage]), string(stage))
			}
		})},
	{"lockstep_nodes_late", nil,
		"Nodes whose maintenance takes too long: those with an entry of the rule node-slow that is not set aside. Absent while nodes are not " +
			"known.",
		whereKnown(core.SourceNodes, func(s *core.Snapshot, is func(float64, ...string)) {
			late := map[string]bool{}
			now, _ := attention.Now(attention.List(s))
			for _, a := range now {
				if a.Rule == core.RuleNodeSlow {
					late[a.Node] = true
				}
			}
			is(float64(len(late)))
		})},
	{"lockstep_cluster_locks", []string{"controller", "state"},
		"ClusterWorkloadLocks by controller and state. At most 20 controllers; the others, and other states, are \"other\".",
		whereKnown(core.SourceClusterLocks, func(s *core.Snapshot, is func(float64, ...string)) { countLocks(s.ClusterLocks, is) })},
	{"lockstep_node_locks", []string{"controller", "state"}, "NodeWorkloadLocks by controller and state, with the same limits.",
		whereKnown(core.SourceNodeLocks, func(s *core.Snapshot, is func(float64, ...string)) {
			var all []*core.WorkloadLock
			for _, locks := range s.NodeLocks.All() {
				all = append(all, locks...)
			}
			countLocks(all, is)
		})},

	{"lockstep_entries", []string{"severity"},
		"Entries of \"Needs you\" by severity: urgent, warning and notice. Those that are set aside are not among them. Absent until " +
			"nodes are known or there is an entry.",
		whereJudged(func(s *core.Snapshot, is func(float64, ...string)) {
			n := map[core.Severity]int{}
			now, _ := attention.Now(attention.List(s))
			for _, a := range now {
				n[a.Severity]++
			}
			for _, severity := range allSeverities {
				is(float64(n[severity]), severity.String())
			}
		})},
	{"lockstep_rule_entries", []string{"severity", "rule"},
		"The same by severity and by the rule that found them; none where there are none.",
		func(s *core.Snapshot, is func(float64, ...string)) {
			n := map[core.AttentionRule]map[core.Severity]int{}
			now, _ := attention.Now(attention.List(s))
			for _, a := range now {
				if n[a.Rule] == nil {
					n[a.Rule] = map[core.Severity]int{}
				}
				n[a.Rule][a.Severity]++
			}
			for rule, by := range n {
				for severity, count := range by {
					is(float64(count), severity.String(), string(rule))
				}
			}
		}},
	{"lockstep_entries_aside", nil,
		"Entries of \"Needs you\" that an operator has set aside, by a note that says until when. Absent as those are.",
		whereJudged(func(s *core.Snapshot, is func(float64, ...string)) {
			_, aside := attention.Now(attention.List(s))
			is(float64(len(aside)))
		})},

	{"lockstep_migrations_running", nil, "Migrations of instances that are under way. Absent while migrations are not known.",
		whereKnown(core.SourceMigrations, func(s *core.Snapshot, is func(float64, ...string)) {
			n := 0
			for _, count := range migrationsByHost(s) {
				n += count
			}
			is(float64(n))
		})},
	{"lockstep_host_migrations_running", []string{"host", "machine"},
		"The same by the host that they leave, where there are any; machine is what people call it, or the host again where that is " +
			"not known. At most 50 hosts; what leaves others is counted as \"other\".",
		whereKnown(core.SourceMigrations, func(s *core.Snapshot, is func(float64, ...string)) {
			for host, n := range bounded(migrationsByHost(s), mostHosts) {
				is(float64(n), oneLine(host), oneLine(progress.HostLabel(s, host)))
			}
		})},

	{"lockstep_lease_held", nil,
		"1 if an operator holds the operator Lease, so that their Lockstep is armed; as it was seen last. Absent while it could not be read.",
		func(s *core.Snapshot, is func(float64, ...string)) {
			if s.Write.Looked {
				is(oneIf(s.Write.Lease != ""))
			}
		}},
	{"lockstep_lease_info", []string{"holder"}, "Who holds the operator Lease; always 1. Absent when nobody does, or that is not known.",
		func(s *core.Snapshot, is func(float64, ...string)) {
			if s.Write.Lease != "" {
				is(1, oneLine(s.Write.Lease))
			}
		}},
}

// The metrics of the journal are not made from a Snapshot: see journalWatch.
var (
	journalReadable = metric{name: "lockstep_journal_readable", help: "1 if the journal of the cluster can be read on this machine."}
	journalLines    = metric{name: "lockstep_journal_lines", help: "Lines of the journal, in all files that its chain is checked through."}
	journalTrouble  = metric{name: "lockstep_journal_damaged_lines",
		help: "Lines of the journal that were changed, taken out, put in, doubled or cut off: see lockstep journal verify."}
	journalWritten = metric{name: "lockstep_journal_last_write_timestamp_seconds",
		help: "When the newest file of the journal was written last."}
	buildInfo = metric{name: "lockstep_build_info", labels: []string{"version"}, help: "Lockstep's version; always 1."}
)

// exporterMetrics are all metrics of Lockstep itself.
func exporterMetrics() []metric {
	return append([]metric{buildInfo}, append(slices.Clone(metrics), journalReadable, journalLines, journalTrouble, journalWritten)...)
}

func (m metric) desc() *prometheus.Desc { return prometheus.NewDesc(m.name, m.help, m.labels, nil) }

// collector makes the metrics when they are asked for.
type collector struct {
	snapshot func() *core.Snapshot
	journal  *journalWatch
	descs    map[string]*prometheus.Desc
}

func newCollector(snapshot func() *core.Snapshot, journal *journalWatch) *collector {
	c := &collector{snapshot, journal, map[string]*prometheus.Desc{}}
	for _, m := range exporterMetrics() {
		c.descs[m.name] = m.desc()
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	send := func(name string, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(c.descs[name], prometheus.GaugeValue, value, labels...)
	}
	send(buildInfo.name, 1, programVersion())
	s := c.snapshot()
	for _, m := range metrics {
		m.values(s, func(value float64, labels ...string) { send(m.name, value, labels...) })
	}
	j := c.journal.state()
	send(journalReadable.name, oneIf(j.readable))
	if j.readable {
		send(journalLines.name, float64(j.lines))
		send(journalTrouble.name, float64(j.damaged))
		send(journalWritten.name, seconds(j.written))
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func isTime(is func(float64, ...string), t time.Time) {
	if !t.IsZero() {
		is(seconds(t))
	}
}

func eachSource(each func(*core.Snapshot, core.Source, func(float64))) func(*core.Snapshot, func(float64, ...string)) {
	return func(s *core.Snapshot, is func(float64, ...string)) {
		for id, src := range s.Sources {
			if src.State != core.SourceOff && src.State != core.SourceAbsent && !attention.UnseenByRight(s, src) {
				each(s, src, func(value float64) { is(value, string(id), string(id.Server())) })
			}
		}
	}
}

func running(of func(*core.Snapshot, core.Update, func(float64, ...string))) func(*core.Snapshot, func(float64, ...string)) {
	return func(s *core.Snapshot, is func(float64, ...string)) {
		if u := progress.Update(s); u.Running {
			of(s, u, is)
		}
	}
}

func ends(of func(forecast.End, func(float64, ...string))) func(*core.Snapshot, func(float64, ...string)) {
	return running(func(s *core.Snapshot, _ core.Update, is func(float64, ...string)) {
		if end := forecast.Finish(s); !end.At.IsZero() {
			of(end, is)
		}
	})
}

// eachPhase makes a metric of each phase. Without an update the phases say nothing.
func eachPhase(of func(*core.Snapshot, core.Phase, func(float64, ...string))) func(*core.Snapshot, func(float64, ...string)) {
	return running(func(s *core.Snapshot, _ core.Update, is func(float64, ...string)) {
		for _, p := range progress.Phases(s) {
			of(s, p, func(value float64, labels ...string) {
				is(value, append([]string{strconv.Itoa(int(p.ID)), p.Title}, labels...)...)
			})
		}
	})
}

// whereJudged makes a metric of "Needs you" only where something was seen by which to judge, or cannot be seen and is an entry itself.
func whereJudged(of func(*core.Snapshot, func(float64, ...string))) func(*core.Snapshot, func(float64, ...string)) {
	return func(s *core.Snapshot, is func(float64, ...string)) {
		if s.Known(core.SourceNodes) || len(attention.List(s)) > 0 {
			of(s, is)
		}
	}
}

// whereKnown makes a metric only while its source has shown everything once: nothing seen is not zero.
func whereKnown(id core.SourceID, of func(*core.Snapshot, func(float64, ...string))) func(*core.Snapshot, func(float64, ...string)) {
	return func(s *core.Snapshot, is func(float64, ...string)) {
		if s.Known(id) {
			of(s, is)
		}
	}
}

// countLocks counts by controller and state. A controller's states are all there, so that none vanishes when its last lock leaves it.
func countLocks(all []*core.WorkloadLock, is func(float64, ...string)) {
	by, states := map[string]int{}, map[string]map[string]int{}
	for _, l := range all {
		by[oneLine(l.Controller)]++
	}
	kept := bounded(by, mostControllers)
	for _, l := range all {
		controller, state := oneLine(l.Controller), string(l.State())
		if kept[controller] == 0 {
			controller = otherLabel
		}
		if !slices.Contains(lockStates, l.State()) {
			state = otherLabel
		}
		if states[controller] == nil {
			states[controller] = map[string]int{}
			for _, s := range lockStates {
				states[controller][string(s)] = 0
			}
		}
		states[controller][state]++
	}
	for controller, by := range states {
		for state, n := range by {
			is(float64(n), controller, state)
		}
	}
}

func migrationsByHost(s *core.Snapshot) map[string]int {
	by := map[string]int{}
	for _, migrations := range s.Migrations {
		for _, m := range migrations {
			if m.Running() {
				by[m.SourceHost]++
			}
		}
	}
	return by
}

// bounded keeps the most frequent names, and counts what goes beyond them as "other".
func bounded(by map[string]int, most int) map[string]int {
	if len(by) <= most {
		return by
	}
	names := make([]string, 0, len(by))
	for name := range by {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		if a < b {
			return -1
		}
		return 1
	})
	out := map[string]int{}
	for i, name := range names {
		if i >= most {
			name = otherLabel
		}
		out[name] += by[names[i]]
	}
	return out
}

// journalWatch keeps what the metrics say of the journal. Checking it reads its newest file whole, so that no scrape waits for it.
type journalWatch struct {
	path     string
	verifier *engine.JournalVerifier

	mu sync.Mutex
	is journalState
}

type journalState struct {
	readable bool
	lines    int
	damaged  int
	written  time.Time
	size     int64
}

func newJournalWatch(path string) *journalWatch {
	return &journalWatch{path: path, verifier: engine.NewJournalVerifier(path)}
}

func (j *journalWatch) state() journalState {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.is
}

// look looks at the journal, and checks it if it has changed.
func (j *journalWatch) look() {
	is, was := journalState{}, j.state()
	size, written, err := fileState(j.path)
	switch {
	case err != nil:
	case was.readable && was.size == size && was.written.Equal(written):
		return
	default:
		if v, err := j.verifier.Verify(); err == nil {
			is = journalState{readable: true, lines: v.Lines, damaged: len(v.Findings), written: written, size: size}
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.is = is
}
