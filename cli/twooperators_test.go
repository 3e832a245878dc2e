package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/cli/recorded"
	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/handover"
	"lockstep/core/record"
	"lockstep/core/recording"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
	"lockstep/sim/scenario"
)

// cloudLine is a change that the simulated cloud itself has recorded: a request that came or went, or a lock that came into a state.
type cloudLine struct {
	at   time.Time
	what string // "cmp-01 request", "cmp-01 lock openstack"
	is   string // "there", "gone", "active"
}

// cloudRecord is the simulated cloud's own record of an update.
type cloudRecord struct {
	mu    sync.Mutex
	lines []cloudLine
	first map[string]string // by what: how it was before the first line
	label map[string]string // of a node, by its name
}

func cloudRecordOf(st *story, from *core.Snapshot) *cloudRecord {
	r := &cloudRecord{first: map[string]string{}, label: map[string]string{}}
	for _, n := range from.Nodes {
		r.label[n.Name] = n.Label()
	}
	maps.Copy(r.first, r.shown(from))
	st.Kube.Follow(func(c kubeapi.Change) {
		r.mu.Lock()
		defer r.mu.Unlock()
		node, _, _ := unstructured.NestedString(c.Now.Object, "spec", "nodeName")
		add := func(what, is string) {
			if r.after(what, len(r.lines)) != is {
				r.lines = append(r.lines, cloudLine{st.Clock.Now(), what, is})
			}
		}
		switch kind := c.Now.GetKind(); {
		case kind == "NodeWorkloadLock":
			controller, _, _ := unstructured.NestedString(c.Now.Object, "spec", "controllerName")
			state, _, _ := unstructured.NestedString(c.Now.Object, "status", "state")
			add(r.label[node]+" lock "+controller, state)
		case c.Kind == watch.Deleted:
			add(cmp.Or(r.label[node], "cluster")+" request", "gone")
		default:
			add(cmp.Or(r.label[node], "cluster")+" request", "there")
		}
	}, "nodemaintenancerequests", "clustermaintenancerequests", "nodeworkloadlocks")
	return r
}

// after is how something was after the first n lines.
func (r *cloudRecord) after(what string, n int) string {
	for i := range slices.Backward(r.lines[:n]) {
		if r.lines[i].what == what {
			return r.lines[i].is
		}
	}
	return r.first[what]
}

// at is how everything was at a moment.
func (r *cloudRecord) at(moment time.Time) map[string]string {
	out := maps.Clone(r.first)
	for _, l := range r.lines {
		if !l.at.After(moment) {
			out[l.what] = l.is
		}
	}
	return out
}

// shown is the same as a Snapshot shows it.
func (r *cloudRecord) shown(s *core.Snapshot) map[string]string {
	out := map[string]string{"cluster request": "gone"}
	if s.ClusterRequest() != nil {
		out["cluster request"] = "there"
	}
	for _, n := range s.Nodes {
		out[n.Label()+" request"] = "gone"
		if s.NodeRequest(n.Name) != nil {
			out[n.Label()+" request"] = "there"
		}
		for _, l := range s.NodeLocks.At(n.Name) {
			out[n.Label()+" lock "+l.Controller] = string(l.State())
		}
	}
	return out
}

// lag is how long it takes at most from a server to a journal or a recording, in the cloud's time.
const lag = 6 * time.Second

// A whole update with two operators on two machines. Each of them is killed once, one takes the lease over from the other and back, and
// the Kubernetes API is away in the middle. Their journals together, the handover and what was recorded say the same as the cloud's own
// record, line by line.
func TestTheRecordOfTwoOperatorsIsTheCloudsOwn(t *testing.T) {
	bubble.Story(t, recordOfTwo)
}

func recordOfTwo(t *testing.T) {
	what, err := scenario.Parse([]byte(toReport))
	if err != nil {
		t.Fatal(err)
	}
	anna := newStory(t, sim.Options{Scenario: what, Timing: brief, Paused: true, Speed: quickly})
	bob := &story{Cloud: anna.Cloud, t: t, place: placeOn(t, anna.Cloud), runs: 100} // the names of its runs are its own
	configured(t, &bob.place, anna.Cloud)
	anna.place.Operator, bob.place.Operator = "anna", "bob"
	recordings := map[*story]string{}
	for _, st := range []*story{anna, bob} {
		st.place.RecordPath = t.TempDir()
		recordings[st] = st.place.RecordPath
		st.begin()
		st.until("everything is live", sessiontest.AllKnown)
	}
	cloud := cloudRecordOf(anna, anna.last)
	name := map[string]string{}
	for n, label := range cloud.label {
		name[label] = n
	}
	anna.Clock.Resume()
	kill := func(st *story) {
		st.s.Journal.Close() // nothing is written any more
		st.stop()
		st.begin()
		st.until("everything is live again", sessiontest.AllKnown)
	}
	takeOver := func(st *story) {
		t.Helper()
		var from string
		st.until("the lease is looked up", func(s *core.Snapshot) bool {
			from = s.Write.Lease
			return s.Write.Looked
		})
		if err := st.s.Engine.Arm(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		st.until("writing is armed", func(s *core.Snapshot) bool { return s.Write.Armed })
	}
	anna.arm()
	anna.until("cmp-01 is worked on", func(s *core.Snapshot) bool { return s.NodeRequest(name["cmp-01"]) != nil })
	away := [2]time.Time{anna.Clock.Now()}
	if err := anna.Faults.On(fault.Setting{Server: fault.Kubernetes, Kind: "refused"}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	anna.Faults.Clear()
	away[1] = anna.Clock.Now().Add(quickly * time.Minute) // until everything is seen again
	waits := func(s *core.Snapshot) bool {
		return s.NodeRequest(name["cmp-02"]) != nil && len(s.InstancesOn(name["cmp-02"])) == 2
	}
	anna.until("cmp-02 waits for an operator", waits)
	instance := map[string]string{}
	for _, in := range anna.last.InstancesOn(name["cmp-02"]) {
		instance[in.Name] = in.ID
	}
	takeOver(anna) // the outage may have cost the lease
	anna.confirm(core.Intent{Kind: core.IntentLiveMigrate, Instance: instance["web-2"]})
	kill(anna)
	bob.until("everything is live again", sessiontest.AllKnown)
	takeOver(bob)
	skip := core.Intent{Kind: core.IntentSetMode, Nodes: []string{name["cmp-03"]}, Mode: core.ModeSkip}
	bob.confirm(skip)
	time.Sleep(time.Minute)
	handsOverForTwo(t, anna, bob, name)
	kill(bob)
	takeOver(anna)
	skip.Mode = ""
	anna.confirm(skip)
	anna.confirm(core.Intent{Kind: core.IntentLiveMigrateAll, Node: name["cmp-02"]})
	over := func(s *core.Snapshot) bool { return s.History.Update.UID != "" && !s.History.Update.Ended.IsZero() }
	anna.until("the update is over", over)
	bob.until("the update is over", over)
	time.Sleep(time.Minute)
	anna.until("it is at rest", sessiontest.AllKnown)
	end := anna.until("it is at rest", sessiontest.AllKnown)
	journals := []string{anna.s.JournalPath, bob.s.JournalPath}
	account, _, err := accountFor(journals, end)
	if err != nil {
		t.Fatal(err)
	}
	if h := handover.Of(end, account); len(h.SetBack)+len(h.Running) > 0 {
		t.Errorf("at the end the note has %+v to set back, and %+v under way", h.SetBack, h.Running)
	}
	anna.stop()
	bob.stop()
	anna.Clock.Pause()
	cloud.mu.Lock()
	defer cloud.mu.Unlock()
	reportsTheSame(t, anna, journals, cloud, end)
	journalsSayTheSame(t, journals, cloud, away)
	played := 0
	for _, folder := range recordings {
		played += playsTheSame(t, folder, cloud, away)
	}
	if len(cloud.lines) < 15 || played < 10 { // what the cloud changed at once is looked up once
		t.Errorf("the cloud has %d lines, and the recordings were looked up %d times", len(cloud.lines), played)
	}
}

// handsOverForTwo checks the note that one of two writes while the other one has the lease.
func handsOverForTwo(t *testing.T, anna, bob *story, name map[string]string) {
	t.Helper()
	anna.s.Engine.LookAtLease()
	s := anna.until("it is known who has the lease", func(s *core.Snapshot) bool { return s.Write.Lease != "" && !s.Write.Mine })
	account, _, err := accountFor([]string{anna.s.JournalPath, bob.s.JournalPath}, s)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(handover.Of(s, account).Text(time.UTC, false), "\n")
	left := anna.last.InstancesOn(name["cmp-02"])
	for _, want := range []string{fmt.Sprintf("cmp-02: manual mode: %d instance must leave first", len(left)),
		"\nTo set back\n- cmp-03: instance_migration_mode: skip → none", "\nPhase 4, worker nodes: "} {
		if !strings.Contains(strings.ReplaceAll(text, "25.2. Phase", "25.2.\nPhase"), want) {
			t.Errorf("the note does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "live-migrate web-2") {
		t.Errorf("what is over runs yet:\n%s", text)
	}
}

// reportsTheSame holds the report of both journals against the cloud: maintenance, the update's end, migrations, and what was written.
func reportsTheSame(t *testing.T, st *story, journals []string, cloud *cloudRecord, end *core.Snapshot) {
	t.Helper()
	r, skipped, err := record.Read(journals)
	if err != nil || skipped > 0 {
		t.Fatalf("%d lines are no records, %v", skipped, err)
	}
	a, err := r.Account("")
	if err != nil {
		t.Fatal(err)
	}
	type span struct{ began, ended time.Time }
	is, told := map[string]span{}, map[string]span{}
	for _, l := range cloud.lines {
		label, ok := strings.CutSuffix(l.what, " request")
		if s := is[label]; ok && l.is == "there" {
			is[label] = span{l.at, s.ended}
		} else if ok {
			is[label] = span{s.began, l.at}
		}
	}
	for _, n := range a.Nodes {
		for _, m := range n.Maintenance {
			if told[n.Label] != (span{}) {
				t.Errorf("%s: told twice: %+v", n.Label, n.Maintenance)
			}
			told[n.Label] = span{m.Began.Time, m.Ended.Time}
		}
	}
	told["cluster"] = span{is["cluster"].began, a.Ended.Time}
	if len(told) != len(is) {
		t.Errorf("it tells of %v, the cloud of %v", told, is)
	}
	for label, s := range is {
		g := told[label]
		if g.began.Sub(s.began).Abs() > time.Second || g.ended.Before(s.ended) || !within(g.ended, s.ended) {
			t.Errorf("%s: told %v, the cloud has %v", label, g, s)
		}
	}
	moves, nova := map[string]int{}, map[string]int{}
	for _, p := range a.Projects {
		for _, in := range p.Instances {
			for _, m := range in.Moves {
				moves[in.Name+" "+m.Says()]++
			}
		}
	}
	for id, all := range end.Migrations {
		for _, m := range all {
			from, to := end.NodeOfHost(m.SourceHost), end.NodeOfHost(m.DestHost)
			nova[end.Instances.At(id).Name+" "+record.Move{Type: m.Type, Status: m.Status, From: from.Label(), To: to.Label()}.Says()]++
		}
	}
	if !maps.Equal(moves, nova) || len(nova) == 0 {
		t.Errorf("it tells of the migrations %v, Nova of %v", moves, nova)
	}
	// What the servers received of Lockstep, and who did it.
	var received, did []string
	for _, q := range st.Kube.Requests() {
		if strings.HasPrefix(q.UserAgent, "lockstep") && !strings.Contains(q.UserAgent, "sim") && q.Verb == "patch" && !q.DryRun {
			received = append(received, q.Time.Format(time.TimeOnly)+" "+q.Resource+" "+q.Name)
		}
	}
	for _, q := range st.OpenStack.Requests() {
		if strings.Contains(q.UserAgent, "lockstep") && !strings.Contains(q.UserAgent, "sim") && strings.HasSuffix(q.Path, "/action") {
			received = append(received, q.At.Format(time.TimeOnly)+" action "+strings.Split(q.Path, "/")[4])
		}
	}
	if _, err := engine.ReadOnce(journals, func(l engine.JournalLine) {
		if l.Kind != engine.RecordBefore {
			return
		}
		on := "action " + l.Intent.Instance
		if l.Object.Kind == core.KindNode {
			on = "nodes " + l.Object.Name
		}
		did = append(did, l.At.Format(time.TimeOnly)+" "+on)
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(received)
	slices.Sort(did)
	if !slices.Equal(did, received) || len(did) != 4 {
		t.Errorf("it tells that was written\n%s\nthe servers received\n%s", strings.Join(did, "\n"), strings.Join(received, "\n"))
	}
	var by []string
	for _, x := range a.Actions {
		who, _, _ := strings.Cut(x.By, " ")
		by = append(by, who+" "+x.Kind+" "+x.State)
	}
	want := []string{"anna live-migrate done", "bob set-mode done", "anna set-mode done", "anna live-migrate-all done"}
	if !slices.Equal(by, want) {
		t.Errorf("it tells that was done %q, want %q", by, want)
	}
}

// within tells whether what the cloud has of a moment was told of it, and not later than it takes to see it.
func within(told, is time.Time) bool { return told.Sub(is) >= -time.Second && told.Sub(is) <= lag }

// journalsSayTheSame holds the lines of both journals about locks against those of the cloud: each once, in their order, at their time.
func journalsSayTheSame(t *testing.T, journals []string, cloud *cloudRecord, away [2]time.Time) {
	t.Helper()
	told := map[string][]cloudLine{}
	if _, err := engine.ReadOnce(journals, func(l engine.JournalLine) {
		if l.Kind != engine.RecordLock || l.Node == "" || l.From == "" {
			return // how it was when the first one began to look
		}
		controller := strings.TrimSuffix(l.Object.Name, "-"+l.Node)
		what := cloud.label[l.Node] + " lock " + controller
		told[what] = append(told[what], cloudLine{l.At, what, l.To})
	}); err != nil {
		t.Fatal(err)
	}
	is := map[string][]cloudLine{}
	for _, l := range cloud.lines {
		if strings.Contains(l.what, " lock ") {
			is[l.what] = append(is[l.what], l)
		}
	}
	if len(is) < 3 {
		t.Fatalf("the cloud has %v", is)
	}
	for what, lines := range is {
		got := told[what]
		for i, l := range lines {
			seen := l.at.Before(away[0]) || l.at.After(away[1])
			if i >= len(got) || got[i].is != l.is || seen && !within(got[i].at, l.at) {
				t.Errorf("%s: told %v, the cloud has %v", what, got, lines)
				break
			}
		}
		if len(got) > len(lines) {
			t.Errorf("%s: told %v, the cloud has only %v", what, got, lines)
		}
	}
}

// playsTheSame looks up in the recordings in a folder how it was after each line of the cloud. It returns how many could be looked up.
func playsTheSame(t *testing.T, folder string, cloud *cloudRecord, away [2]time.Time) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.lockrec"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v: there is not one for each run", files, err)
	}
	looked := 0
	for _, file := range files {
		rec, err := recording.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := recorded.New(rec, recorded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Run(ctx) })
		played, unsubscribe := p.Subscribe()
		<-played
		for i, l := range cloud.lines {
			at := l.at.Add(lag)
			last := i+1 == len(cloud.lines) || cloud.lines[i+1].at.After(at)
			if !last || l.at.Before(rec.From.Add(lag)) || at.After(rec.To) || at.After(away[0]) && l.at.Before(away[1]) {
				continue // another one follows at once, or nobody looked
			}
			if err := p.Go(at.Format(time.RFC3339Nano)); err != nil {
				t.Fatal(err)
			}
			looked++
			if is, shown := cloud.at(at), cloud.shown(<-played); !maps.Equal(is, shown) {
				t.Errorf("%s, at %s: played\n%v\nthe cloud had\n%v", filepath.Base(file), at, shown, is)
			}
		}
		unsubscribe()
		end()
		running.Wait()
	}
	return looked
}
