package session

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/dynamic"
	"pgregory.net/rapid"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/engine"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"lockstep/sim/controller"
	"lockstep/sim/fault"
	"lockstep/sim/lan"
	"lockstep/sim/openstack"
	"lockstep/sim/scenario"
)

// A plain run plays these of the random histories: always the same, so that the last change causes a red test. -rapid.checks,
// -rapid.steps and -rapid.seed, or their environment variables, choose others, as "make soak" and "make replay" do.
const (
	histories = 50  // in each series
	draws     = "8" // on average, in each history
	firstSeed = "1"
	series    = 2 // in parallel
)

// mostWait is how long a history waits for something, in its own time.
const mostWait = 4 * time.Hour

// alwaysWritten are the kinds of writes without which as many histories as a plain run plays have tested little.
var alwaysWritten = []core.IntentKind{core.IntentLiveMigrate, core.IntentColdMigrate, core.IntentAbortMigration, core.IntentSetMode,
	core.IntentStop, core.IntentDisableVolume, core.IntentActRelease, core.IntentActHold, core.IntentActIntoScheduling}

// withRace is which part of the histories is played with the race detector: each costs eight times as much with it, and the first ones show
// as much of a race.
const withRace = 17

// Whatever happens on a cluster whose controllers live, and in whatever order: confirmations of any offered step, old
// confirmations, kills, a second operator, faults of every server, troubles of Nova, owners and strangers who change things
// meanwhile. What the servers received and hold is judged by the documents, not by what Lockstep shows (proofservers_test.go). In
// the end everything comes to rest, and a new session proposes the same.
func TestWhateverHappensOnALiveCluster(t *testing.T) {
	t.Parallel()
	if err := playTheUsual(lane.Part(t, histories, withRace)); err != nil {
		t.Fatal(err)
	}
	done := tally{writes: map[core.IntentKind]int{}}
	t.Cleanup(func() {
		t.Logf("written in %d histories: %s", done.histories, done.String()) // with -v, as in make soak: what was tested
		if t.Failed() || done.histories < series*histories {
			return
		}
		for _, kind := range alwaysWritten {
			if done.writes[kind] == 0 {
				t.Errorf("%s was never written in %d histories: %s", kind, done.histories, done.String())
			}
		}
	})
	for i := range series {
		t.Run(fmt.Sprintf("series-%d", i+1), func(t *testing.T) {
			t.Parallel()
			seed, number := asked(t), uint64(0)
			rapid.Check(t, func(rt *rapid.T) {
				seed += number // as rapid counts them
				number++
				fine := !t.Failed()
				defer func() {
					if fine && t.Failed() { // by this t: rapid names the seed of what fails by its own
						t.Logf("it was seed %d that failed", seed)
					}
				}()
				began, lines := time.Now(), done.lines()
				passed := history(t, rt, i, &done)
				t.Logf("seed %d: %s of the cloud's time in %s, %d lines of journal", seed, passed.Round(time.Second),
					time.Since(began).Round(time.Millisecond), done.lines()-lines)
			})
		})
	}
}

// A history can be replayed to the letter: its journals, and every request to the servers. So its seed is enough to examine a
// failure that was found by chance.
func TestAHistoryIsPlayedAgainToTheLetter(t *testing.T) {
	t.Parallel()
	playedAgain := lane.Part(t, 3, 3)
	first, again := tally{letters: true}, tally{letters: true}
	// The same draws for both: a rapid.T cannot be had twice, but a generator's example is the same for the same seed.
	for seed := range playedAgain {
		for _, done := range []*tally{&first, &again} {
			rapid.Custom(func(rt *rapid.T) time.Duration { return history(t, rt, 0, done) }).Example(seed + 1)
		}
		t.Logf("seed %d: %d lines", seed+1, len(first.letter))
		if len(first.letter) == 0 {
			t.Fatal("nothing was written down")
		}
		for i, line := range first.letter {
			if i >= len(again.letter) || again.letter[i] != line {
				t.Fatalf("seed %d, after %d of %d lines:\n%s\nagain:\n%s", seed+1, i, len(first.letter), line,
					strings.Join(again.letter[i:min(i+1, len(again.letter))], ""))
			}
		}
	}
}

// tally counts what the histories have written.
type tally struct {
	mu        sync.Mutex
	histories int
	writes    map[core.IntentKind]int // nil: nobody counts them
	journal   int                     // lines of all journals
	letters   bool                    // letter is wanted
	letter    []string                // of the last one: its journals, and the requests to the servers
}

func (d *tally) add(records []engine.Record, letter []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.letter = letter
	d.journal += len(records)
	d.histories++
	for _, r := range records {
		if r.Kind == engine.RecordBefore && d.writes != nil {
			d.writes[r.Intent.Kind]++
		}
	}
}

// lines returns how many journal lines there were so far.
func (d *tally) lines() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.journal
}

func (d *tally) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(d.writes)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, d.writes[kind]))
	}
	return strings.Join(parts, ", ")
}

// history draws one history, and returns its length in the cloud's time.
func history(t *testing.T, rt *rapid.T, series int, done *tally) (took time.Duration) {
	chance := rapid.Uint64().Draw(rt, "chance")
	for range series { // those of one seed differ from one another
		chance = rapid.Uint64().Draw(rt, "chance of another series")
	}
	bubble.Alone(t, func(t *testing.T) {
		began := time.Now()
		p := newProof(t, rt, chance)
		defer p.end()
		p.begin()
		actions := map[string]func(*rapid.T){
			"":                     p.check,
			"confirm what is next": p.confirmNext,
			"go on":                p.goOn,
			"go on in peace":       p.goOnInPeace, // most of what operators do
			"go on in peace, too":  p.goOnInPeace,
			"go on in peace again": p.goOnInPeace,
			"confirm anything":     p.confirmAny,
			"confirm in peace":     p.confirmInPeace,
			"confirm once more":    p.confirmInPeace,
			"confirm, and confirm": p.confirmInPeace,
			"go on to the end":     p.goOnInPeace,
			"go on, whatever":      p.goOnInPeace,
			"grant for later":      p.grant,
			"use an old grant":     p.useGrant,
			"arm or disarm":        p.arm,
			"control a batch":      p.control,
			"acknowledge":          p.acknowledge,
			"kill":                 p.kill,
			"another operator":     p.another,
			"a fault":              p.fault,
			"faults end":           p.faultsEnd,
			"an instance is odd":   p.trouble,
			"an owner":             p.owner,
			"a stranger":           p.stranger,
			"rockoon":              p.rockoon,
			"controllers die":      p.controllersDie,
			"time passes":          p.pass,
			"more time passes":     p.pass,
			"the clock jumps":      p.jump,
		}
		for name, act := range actions {
			actions[name] = func(rt *rapid.T) {
				synctest.Wait() // an action begins when all immediate effects of the last one are there
				act(rt)
			}
		}
		rt.Repeat(actions)
		p.rest()
		p.through()
		took = time.Since(began)
		var letter []string
		if done.letters {
			letter = p.letter()
		}
		done.add(p.records(), letter)
	})
	return took
}

// letter returns what has to be the same when a history is replayed.
func (p *proof) letter() []string {
	lines := strings.SplitAfter(p.journalText(), "\n")
	for _, r := range p.cloud.Kube.Requests() {
		lines = append(lines, fmt.Sprintf("%s kubernetes %s %s %s %d %s\n", r.Time.Format(time.RFC3339Nano), r.UserAgent, r.Verb, r.Path, r.Code,
			r.Body))
	}
	for _, r := range p.cloud.OpenStack.Requests() {
		lines = append(lines, fmt.Sprintf("%s openstack %s %s %s?%s %d %s\n", r.At.Format(time.RFC3339Nano), r.UserAgent, r.Method, r.Path,
			r.Query, r.Status, r.Body))
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], p.dir, "")
	}
	return lines
}

// asked returns the seed to start with.
func asked(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// TestMain takes from the tests what the machine has of its own, and chooses the histories.
func TestMain(m *testing.M) {
	flag.Parse()
	remove := sessiontest.Isolate()
	if err := drawTheUsual(); err != nil {
		panic(err)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// drawTheUsual sets rapid's flags of what is drawn, unless the caller has set them.
func drawTheUsual() error {
	return errors.Join(
		usually("rapid.steps", "RAPID_STEPS", draws),
		usually("rapid.seed", "RAPID_SEED", firstSeed),
		// The printed seed says it all. A history of hours does not become shorter in half a minute, and rapid would replay a file of
		// the failure first the next time, under another seed's name.
		usually("rapid.shrinktime", "RAPID_SHRINKTIME", "1ns"),
		usually("rapid.nofailfile", "RAPID_NOFAILFILE", "true"))
}

// playTheUsual sets rapid's flag of how many histories are played, unless the caller has set it.
func playTheUsual(histories int) error {
	return usually("rapid.checks", "RAPID_CHECKS", strconv.Itoa(histories))
}

// usually sets a flag, unless the caller has set it, or the environment variable by which rapid can be told, too.
func usually(name, variable, value string) error {
	asked := os.Getenv(variable) != ""
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == name })
	if asked {
		return nil
	}
	return flag.Set(name, value)
}

// proof is one history.
type proof struct {
	t      *testing.T
	rt     *rapid.T
	chance uint64
	log    *Log
	dir    string
	cloud  *sim.Cloud
	admin  dynamic.Interface // as the cluster's own controllers: no fault affects it but a closed port

	act      bool     // Lockstep plays the OpenStack controller, which is switched off
	most     int      // how many computes may be worked on at a time
	nodes    []string // names of the computes
	label    map[string]string
	hosts    map[string]string   // of compute services, by their ID
	backends map[string][]string // of the nodes with volumes of their own

	mu         sync.Mutex
	servers    []string        // IDs of the instances, including former ones
	endless    map[string]bool // those whose live migration never ends
	folders    []string        // of every journal
	read       journalReader
	without    []absence // times in which the run of a journal was without the operator lease, or was not armed
	rockoonWas bool      // the OpenStack controller was at work at some time

	ctx       context.Context
	stopAll   context.CancelFunc
	stopLCM   func()
	rockoonOn bool

	first, second *operator
	blindSince    time.Time // since when a fault keeps Lockstep from Kubernetes; zero: none does
	blind         []blindness
	took          bool // another operator took the lease over: the first learns it at its next renewal, or before it writes
	runs, lines   int
	watch         *watcher
	story         *sim.Chronicle // nil until there is a cloud
}

// proofLog returns a log of its own for the sessions of a history, which runs beside others.
func proofLog(t *testing.T) *Log {
	t.Helper()
	l, err := NewLog(filepath.Join(t.TempDir(), "lockstep.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// blindness is a time in which faults kept Lockstep from Kubernetes, and at whose end the update was over: nothing is left then that could
// tell of a node's release.
type blindness struct{ from, to time.Time }

// absence is a time in which the run that keeps a journal may begin nothing.
type absence struct {
	folder   string
	from, to time.Time // of the cluster's clock; to is zero as long as it lasts
}

// operator is a person with a session.
type operator struct {
	s       *Session
	folder  string
	stop    func()
	armed   bool
	off     bool // certainly not armed: it never was, or it was disarmed
	granted []core.Grant
}

func newProof(t *testing.T, rt *rapid.T, chance uint64) *proof {
	p := &proof{t: t, rt: rt, log: proofLog(t), chance: chance, dir: t.TempDir(), endless: map[string]bool{}, label: map[string]string{},
		hosts: map[string]string{}, backends: map[string][]string{},
		read: journalReader{offsets: map[string]int64{}, records: map[string][]engine.Record{}}}
	p.ctx, p.stopAll = context.WithCancel(context.Background())
	return p
}

// begin starts the cloud and the first session.
func (p *proof) begin() {
	t, rt := p.t, p.rt
	told, err := scenario.Parse([]byte(p.scenario(rt)))
	if err != nil {
		t.Fatal(err)
	}
	p.cloud, err = sim.Start(p.ctx, sim.Options{Scenario: told, Network: lan.New(p.chance), Seed: p.chance, Dir: p.dir, Start: time.Now(),
		ControllersOff: true,
		// What LCM does to a machine is short: nothing can be seen of it but that it lasts.
		Timing: controller.Timing{Update: 20 * time.Second, Reboot: 20 * time.Second, Finalize: 20 * time.Second,
			PodGrace: 5 * time.Second, PodStart: 10 * time.Second, Retry: 20 * time.Second, Drain: 5 * time.Second,
			MigrateWait: 10 * time.Second, ReturnPoll: 5 * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	p.story = p.cloud.Follow()
	for _, n := range told.Nodes {
		if n.Has(scenario.RoleCompute) {
			p.nodes = append(p.nodes, n.Name)
			p.label[n.Name], p.backends[n.Name] = n.Machine, n.VolumeBackends
		}
	}
	config := p.cloud.AdminConfig()
	config.UserAgent, config.QPS = "lockstep-sim-controllers", -1
	if p.admin, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	p.rockoonOn, p.rockoonWas = !p.act, !p.act
	p.watch = newWatcher(p)
	p.startControllers()
	p.first = p.open(p.folder())
	p.await("everything is live", func(s *core.Snapshot) bool { return sessiontest.AllKnown(s) })
	p.servers = slices.Sorted(maps.Keys(maps.Collect(p.first.s.Engine.Snapshot().Instances.All())))
	for id, in := range p.first.s.Engine.Snapshot().Instances.All() {
		p.endless[id] = slices.ContainsFunc(told.Instances, func(i scenario.Instance) bool { return i.Name == in.Name && i.NeverConverges })
	}
	for host, svc := range p.first.s.Engine.Snapshot().Services {
		p.hosts[svc.ID] = host
	}
	p.await("LCM asks for a node", func(s *core.Snapshot) bool { return len(s.NodeRequests) > 0 })
	p.watch.start()
	p.armed(p.first, false)
	p.tell("it begins")
}

// scenario is a small cluster whose workers are next: three computes with a few instances of all kinds.
func (p *proof) scenario(rt *rapid.T) string {
	p.act = rapid.Bool().Draw(rt, "act")
	p.most = rapid.IntRange(1, 2).Draw(rt, "at a time")
	var b bytes.Buffer
	fmt.Fprintf(&b, "name: proof\ntitle: A proof\nteaches: Nothing\nseed: %d\n", rapid.IntRange(1, 1000).Draw(rt, "seed"))
	b.WriteString("release: {from: 17.4.0+25.1, to: 21.0.0+25.2}\nkubelet: {from: v1.30.14, to: v1.31.9}\nrockoon: {from: 1.0.7, to: 1.1.5}\n")
	fmt.Fprintf(&b, "update: {concurrency: %d}\nopenstack: {maxCompute: %d}\n", rapid.IntRange(1, 3).Draw(rt, "LCM's concurrency"), p.most)
	b.WriteString("history: {startAt: workers, begun: 4h, released: 3h}\nnodes:\n  - {machine: ctl-01, roles: [master, controller], done: " +
		"2h}\n")
	for i := 1; i <= 3; i++ {
		mode := rapid.SampledFrom([]string{"", "", "manual", "skip"}).Draw(rt, "mode")
		annotations := ""
		if mode != "" {
			annotations = fmt.Sprintf(", annotations: {%q: %s}", core.AnnotationMigrationMode, mode)
		}
		backends := rapid.SampledFrom([]string{"", "", ", volumeBackends: [lvm]", ", volumeBackends: [lvm, nvme]"}).Draw(rt, "disks of its own")
		fmt.Fprintf(&b, "  - {machine: cmp-%02d, roles: [compute]%s%s}\n", i, annotations, backends)
	}
	if p.act {
		b.WriteString("troubles:\n  - {kind: controllerDown, node: cmp-01}\n")
	}
	b.WriteString("flavors: [{name: m1.small, vcpus: 2, memoryGiB: 4, diskGiB: 20}]\nprojects: [shop]\ninstances:\n")
	for i := range 4 {
		host := rapid.IntRange(1, 3).Draw(rt, "host")
		oddity := rapid.SampledFrom([]string{"", "", "", "", ", status: SHUTOFF", ", status: SUSPENDED", ", status: ERROR, power: running",
			fmt.Sprintf(", status: VERIFY_RESIZE, cameFrom: cmp-%02d", host%3+1),
			", actions: [notify]", ", actions: [poweroff]", ", actions: [live_migrate]", ", neverConverges: true", ", noValidHost: true",
			", failLive: {times: 1, at: 0.5, text: it broke}", ", failLive: {times: -1, at: 0.1, text: a device}",
			", failCold: {times: 1, at: 0.5, text: it broke}", ", failFinish: {times: 1, at: 0.5, text: it broke}",
			", failStop: {times: 1, text: it hangs}"}).Draw(rt, "oddity")
		fmt.Fprintf(&b, "  - {name: web-%d, project: shop, flavor: m1.small, host: cmp-%02d%s}\n", i+1, host, oddity)
	}
	p.tell("the cloud:\n%s", b.String())
	return b.String()
}

// tell adds an event of the history to the story that a failure prints.
func (p *proof) tell(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if p.story == nil {
		p.rt.Log(text)
		return
	}
	p.story.Tell("-- %s", text)
}

// startControllers lets the cluster's controllers run until stopLCM.
func (p *proof) startControllers() {
	ctx, cancel := context.WithCancel(p.ctx)
	options := p.cloud.Controllers()
	options.Machines = p.watch.machines(options.Machines)
	if p.stopLCM != nil {
		options.Troubles = nil // they have happened: a restart does not make them happen again
	}
	var running sync.WaitGroup
	running.Go(func() {
		if err := controller.Run(ctx, options); err != nil {
			p.watch.violated("the controllers end: %v", err)
		}
	})
	p.stopLCM = func() { cancel(); running.Wait() }
}

func (p *proof) folder() string {
	p.runs++
	dir := filepath.Join(p.dir, fmt.Sprintf("journal-%d", p.runs))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.folders = append(p.folders, dir)
	return dir
}

// open starts a session whose journal is in the folder.
func (p *proof) open(folder string) *operator {
	yaml, err := os.ReadFile(p.cloud.CloudsYAMLPath)
	if err != nil {
		p.t.Fatal(err)
	}
	settings := core.DefaultSettings()
	settings.MaxParallelNodes[core.RoleCompute] = p.most
	at := Place{Kubeconfig: p.cloud.KubeconfigPath, OSCloud: p.cloud.CloudName, LeaseNamespace: "default", Name: "mos", Version: "(devel)",
		Clock: p.cloud.Clock.Now, Journal: folder, CloudsYAML: yaml, Line: p.line(), Settings: settings,
		Alertmanager: core.AlertmanagerPlace{Namespace: "stacklight", Service: "prometheus-alertmanager"}}
	if p.act {
		at.Settings.ActAs = []core.ActAs{{Controller: core.ControllerOpenStack, Namespace: core.ControllerOpenStack,
			Roles: []core.Role{core.RoleController, core.RoleCompute, core.RoleGateway}}}
	}
	ctx, cancel := context.WithCancel(p.ctx)
	s, err := Open(ctx, at, p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	synctest.Wait()
	return &operator{s: s, folder: folder, off: true, stop: func() { cancel(); running.Wait() }}
}

// line returns the session's own connection to the servers; nothing in it differs when the history is replayed.
func (p *proof) line() Line {
	p.lines++
	name := fmt.Sprintf("lockstep-%d", p.lines)
	jitter := func(who string, most time.Duration) time.Duration {
		h := fnv.New64a()
		fmt.Fprint(h, p.chance, name, who, time.Now().UnixNano())
		return time.Duration(h.Sum64() % uint64(most+1))
	}
	ids := 0
	return Line{Transport: p.cloud.Transport(name), Jitter: jitter, Holder: "operator@jump/1/" + name, NewID: func() string {
		ids++ // the engine grants one confirmation at a time
		return fmt.Sprintf("%s-%d", name, ids)
	}}
}

// end ends everything, and prints the story of a failure.
func (p *proof) end() {
	raised := recover()
	if raised != nil {
		p.tell("it ends with: %v", raised)
		defer panic(raised)
	}
	failed := raised != nil || p.t.Failed() || p.rt.Failed() // p.t.Fatal raises nothing
	if failed {
		p.printStory()
	}
	if p.second != nil {
		p.second.stop()
	}
	if p.first != nil {
		p.first.stop()
	}
	if p.stopLCM != nil {
		p.stopLCM()
	}
	if p.watch != nil {
		p.watch.end()
	}
	p.stopAll()
	if p.cloud == nil {
		return
	}
	if err := p.cloud.Close(); err != nil {
		p.t.Error(err)
		if !failed {
			p.printStory()
		}
	}
}

// page is how many lines of a story a failure prints: what a person reads.
const page = 150

// printStory prints how the story ends, and where the whole of it is. When a history is played again to the same end, it says only that.
func (p *proof) printStory() {
	if p.story == nil {
		return
	}
	story := p.story.String()
	whole := strings.ReplaceAll(story+"\nthe journals:\n"+p.journalText(), p.dir, "")
	file, err := p.fileOfStory()
	if err == nil {
		if had, err := os.ReadFile(file); err == nil && string(had) == whole {
			p.t.Logf("the same story again: %s", file)
			return
		}
		err = os.WriteFile(file, []byte(whole), 0o600)
	}
	if err != nil {
		file = err.Error()
	}
	lines := strings.SplitAfter(strings.TrimSuffix(story, "\n"), "\n")
	p.t.Logf("the last %d of %d lines of the story:\n%s\nall of it, and the journals: %s", min(page, len(lines)), len(lines),
		strings.Join(lines[max(len(lines)-page, 0):], ""), file)
}

// fileOfStory is the file with the whole story, which is still there after the test.
func (p *proof) fileOfStory() (string, error) {
	name := fmt.Sprintf("history-%d.txt", p.chance)
	if flag.Lookup("test.artifacts").Value.String() == "true" {
		return filepath.Join(p.t.ArtifactDir(), name), nil
	}
	folder, err := storiesFolder()
	return filepath.Join(folder, name), err
}

// storiesFolder is where the stories of failures are without -artifacts: T.ArtifactDir is then removed with the test.
var storiesFolder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "lockstep-proof-") })

// await waits until the first operator sees it.
func (p *proof) await(what string, so func(*core.Snapshot) bool) {
	snaps, stop := p.first.s.Engine.Subscribe()
	defer stop()
	deadline := time.After(mostWait)
	var last *core.Snapshot
	var looked time.Time
	for same := 0; ; same++ {
		select {
		case last = <-snaps:
			if so(last) {
				synctest.Wait()
				return
			}
			if now := time.Now(); !now.Equal(looked) {
				same, looked = 0, now
			}
			if same > 2000 { // the deadline would never come
				p.rt.Fatalf("time stands still, and it does not come to be that %s; the operations are %+v", what, last.Operations)
			}
		case <-deadline:
			p.rt.Fatalf("it did not come to be that %s; the sources are\n%s\nthe operations %+v", what, sessiontest.SourceTexts(last),
				last.Operations)
		}
	}
}

// sleep lets time pass, until everybody who wakes up by then has acted.
func (p *proof) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (p *proof) armed(o *operator, takeOver bool) error {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	from := ""
	if w := o.s.Engine.Snapshot().Write; takeOver && !w.Mine {
		from = w.Lease
	}
	err := o.s.Engine.Arm(ctx, from)
	if err == nil {
		o.armed, o.off = true, false
		p.took = o != p.first && (takeOver || p.took)
		p.mu.Lock()
		defer p.mu.Unlock()
		for i := range p.without {
			if p.without[i].folder == o.folder && p.without[i].to.IsZero() {
				p.without[i].to = p.cloud.Clock.Now()
			}
		}
	}
	return err
}

// bars notes that a session may begin nothing from now on.
func (p *proof) bars(o *operator) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.without = append(p.without, absence{folder: o.folder, from: p.cloud.Clock.Now()})
}

func (p *proof) arm(rt *rapid.T) {
	if p.first.armed && rapid.IntRange(0, 3).Draw(rt, "really") < 3 { // small numbers are drawn most often
		rt.Skip("it is armed")
	}
	if p.first.armed {
		p.disarm(p.first)
		return
	}
	p.tell("armed: %v", p.armed(p.first, true))
}

func (p *proof) disarm(o *operator) {
	o.s.Engine.Disarm()
	o.armed, o.off = false, true
	p.bars(o)
	p.tell("disarmed")
}

// steps returns all offered steps, including other ways: of the cluster, of every node and instance, and of the entries of
// Attention.
func (o *operator) steps() (next, all []core.Step) {
	s := o.s.Engine.Snapshot()
	keys := []core.ProcedureKey{{Kind: core.ProcedureCluster}}
	for _, name := range s.NodeNames() {
		keys = append(keys, core.ProcedureKey{Kind: core.ProcedureNode, Subject: name})
	}
	proposed := len(keys)
	for _, a := range attention.Of(s) {
		if a.Resolve != nil && !slices.Contains(keys, *a.Resolve) {
			keys = append(keys, *a.Resolve)
		}
	}
	for id := range s.Instances.All() {
		if key := (core.ProcedureKey{Kind: core.ProcedureInstance, Subject: id}); !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for i, key := range keys {
		proc, _ := procedure.Of(s, key)
		for _, st := range proc.Steps {
			if i < proposed && st.Doable() && (st.State == core.StepReady || st.State == core.StepFailed) {
				next = append(next, st)
			}
			all = append(all, doableOf(st)...)
		}
	}
	byID := func(a, b core.Step) int { return strings.Compare(a.ID, b.ID) }
	slices.SortStableFunc(next, byID)
	slices.SortStableFunc(all, byID)
	return next, all
}

func doableOf(st core.Step) []core.Step {
	var found []core.Step
	if st.Doable() {
		found = append(found, st)
	}
	for _, other := range st.Alternatives {
		found = append(found, doableOf(other)...)
	}
	return found
}

func (p *proof) confirmNext(rt *rapid.T) {
	next, _ := p.first.steps()
	if len(next) == 0 {
		rt.Skip("nothing is next")
	}
	p.confirm(rt, p.first, next)
}

// goOn does what the procedure of a node proposes next, up to some steps in a row, like an operator who wants to make progress.
func (p *proof) goOn(rt *rapid.T) {
	names := slices.Sorted(maps.Keys(p.first.s.Engine.Snapshot().NodeRequests))
	if len(names) == 0 {
		rt.Skip("LCM asks for no node")
	}
	name := names[rapid.IntRange(0, len(names)-1).Draw(rt, "node in maintenance")]
	for range 12 - rapid.IntRange(0, 11).Draw(rt, "steps less") {
		st, ready := p.next(name)
		if !ready {
			return
		}
		g, err := p.first.s.Engine.Grant(st, st.Type)
		if err == nil {
			_, err = p.first.s.Engine.Execute(p.ctx, g)
		}
		p.tell("first: %s (%s %s): %v", st.Title, st.ID, g.ID, err)
		if err != nil {
			return
		}
		p.ends(p.first, g.ID)
	}
}

// next returns what is ready next in a node's procedure. It may be the turn of LCM or of a migration: so it waits for that, but not long,
// as it may be nobody's turn.
func (p *proof) next(node string) (next core.Step, ready bool) {
	for range 18 {
		proc, _ := procedure.Of(p.first.s.Engine.Snapshot(), core.ProcedureKey{Kind: core.ProcedureNode, Subject: node})
		for _, st := range proc.Steps {
			if st.Doable() && (st.State == core.StepReady || st.State == core.StepFailed) && !slices.Contains(besides, st.Intent.Kind) {
				return st, true
			}
		}
		p.sleep(5 * time.Second)
	}
	return core.Step{}, false
}

// peace ends the faults and arms writing, so that the next confirmation is not just refused.
func (p *proof) peace() {
	p.clearFaults()
	deadline := p.cloud.Clock.Now().Add(10 * time.Minute)
	for !sessiontest.AllKnown(p.first.s.Engine.Snapshot()) && p.cloud.Clock.Now().Before(deadline) {
		p.sleep(30 * time.Second)
	}
	if !p.first.armed {
		p.tell("the faults end; armed: %v", p.armed(p.first, true))
	}
}

func (p *proof) goOnInPeace(rt *rapid.T) {
	p.peace()
	p.goOn(rt)
}

func (p *proof) confirmInPeace(rt *rapid.T) {
	p.peace()
	for range 4 - rapid.IntRange(0, 3).Draw(rt, "fewer") {
		p.confirmAny(rt)
	}
}

// besides are steps that a node's procedure offers, and that do not advance it.
var besides = []core.IntentKind{core.IntentSetAttempts, core.IntentSetMode, core.IntentDisableCompute, core.IntentEnableCompute,
	core.IntentClearInner, core.IntentOverrideLock}

func (p *proof) confirmAny(rt *rapid.T) {
	o := p.first
	if p.second != nil && rapid.Bool().Draw(rt, "the other operator") {
		o = p.second
	}
	_, all := o.steps()
	if len(all) == 0 {
		rt.Skip("nothing can be confirmed")
	}
	p.confirm(rt, o, all)
}

func (p *proof) confirm(rt *rapid.T, o *operator, steps []core.Step) {
	st := steps[rapid.IntRange(0, len(steps)-1).Draw(rt, "step")]
	if rapid.IntRange(0, 5).Draw(rt, "preview") == 0 {
		ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
		o.s.Engine.Preview(ctx, st.Intent)
		cancel()
	}
	for _, wrong := range []string{"", "yes", strings.ToUpper(st.Type) + "s"} {
		if _, err := o.s.Engine.Grant(st, wrong); err == nil && st.Type != "" {
			rt.Fatalf("%s was confirmed by typing %q, where %q was to be typed", st.Title, wrong, st.Type)
		}
	}
	g, err := o.s.Engine.Grant(st, st.Type)
	if err == nil {
		_, err = o.s.Engine.Execute(p.ctx, g)
		o.granted = append(o.granted, g)
	}
	p.tell("%s: %s (%s %s): %v", p.who(o), st.Title, st.ID, g.ID, err)
	if err == nil && o.off {
		rt.Fatalf("%s was done by a session that is not armed", st.Title)
	}
	if err != nil && !errors.Is(err, engine.ErrRefused) {
		rt.Fatalf("%s: %v", st.Title, err)
	}
	if err == nil && rapid.Bool().Draw(rt, "wait for it") {
		p.ends(o, g.ID)
	}
}

// ends waits until an operation has ended or pauses, or takes longer than anybody would watch it.
func (p *proof) ends(o *operator, id string) {
	snaps, stop := o.s.Engine.Subscribe()
	defer stop()
	for until := p.cloud.Clock.Now().Add(10 * time.Minute); p.cloud.Clock.Now().Before(until); {
		s := <-snaps // one comes every second
		synctest.Wait()
		i := slices.IndexFunc(s.Operations, func(op core.Operation) bool { return op.ID == id })
		if i >= 0 && (s.Operations[i].State.Ended() || s.Operations[i].State == core.OperationPaused) {
			p.tell("%s ended as %s: %s", s.Operations[i].Title, s.Operations[i].State, s.Operations[i].Text)
			return
		}
	}
}

func (p *proof) who(o *operator) string {
	if o == p.first {
		return "first"
	}
	return "second"
}

func (p *proof) grant(rt *rapid.T) {
	_, all := p.first.steps()
	if len(all) == 0 {
		rt.Skip("nothing can be confirmed")
	}
	st := all[rapid.IntRange(0, len(all)-1).Draw(rt, "step")]
	if g, err := p.first.s.Engine.Grant(st, st.Type); err == nil {
		p.first.granted = append(p.first.granted, g)
		p.tell("granted for later: %s (%s)", st.Title, g.ID)
	}
}

// useGrant takes a grant that may be used, stale, expired, or from another session, and uses it twice.
func (p *proof) useGrant(rt *rapid.T) {
	if len(p.first.granted) == 0 {
		rt.Skip("no grant")
	}
	g := p.first.granted[rapid.IntRange(0, len(p.first.granted)-1).Draw(rt, "grant")]
	if rapid.Bool().Draw(rt, "late") {
		p.sleep(time.Until(g.Expires))
		if _, err := p.first.s.Engine.Execute(p.ctx, g); err == nil {
			rt.Fatalf("a grant of %s was good past its time", g.StepID)
		}
		p.tell("late: %s", g.StepID)
		return
	}
	_, once := p.first.s.Engine.Execute(p.ctx, g)
	_, twice := p.first.s.Engine.Execute(p.ctx, g)
	p.tell("used: %s (%s): %v", g.StepID, g.ID, once)
	if once == nil && p.first.off {
		rt.Fatalf("a grant of %s was good in a session that is not armed", g.StepID)
	}
	if once == nil && twice == nil {
		rt.Fatalf("a grant of %s was good twice", g.StepID)
	}
}

func (p *proof) control(rt *rapid.T) {
	s := p.first.s.Engine.Snapshot()
	for _, op := range s.Operations {
		if !op.State.Ended() && !op.Past && len(op.Items) > 0 {
			c := rapid.SampledFrom([]core.Control{core.ControlPause, core.ControlResume, core.ControlSkip, core.ControlStop}).Draw(rt, "control")
			p.tell("%s %s: %v", c, op.Title, p.first.s.Engine.Control(op.ID, c))
			return
		}
	}
	rt.Skip("no batch runs")
}

func (p *proof) acknowledge(rt *rapid.T) {
	for _, op := range p.first.s.Engine.Snapshot().Operations {
		if op.State.Ended() && !op.Acknowledged {
			p.first.s.Engine.Acknowledge(op.ID)
			p.tell("acknowledged %s", op.Title)
			return
		}
	}
	rt.Skip("nothing to acknowledge")
}

// kill ends the first session where it is. With a power cut, the next one finds the journal as it was on the disk at that moment.
func (p *proof) kill(rt *rapid.T) {
	folder := p.first.folder
	if rapid.Bool().Draw(rt, "power cut") {
		folder = p.folder()
		if err := os.CopyFS(folder, os.DirFS(p.first.folder)); err != nil {
			rt.Fatal(err)
		}
	}
	old := p.first
	old.stop()
	p.first = p.open(folder)
	p.tell("killed and started anew in %s; armed: %v", filepath.Base(folder), p.armed(p.first, true))
	for _, g := range old.granted {
		if _, err := p.first.s.Engine.Execute(p.ctx, g); err == nil {
			rt.Fatalf("a grant of %s was good in another run", g.StepID)
		}
	}
}

// another operator comes, takes the lease or is refused it, and goes.
func (p *proof) another(rt *rapid.T) {
	if p.second != nil {
		p.second.stop()
		p.second = nil
		p.tell("the other operator is gone")
		return
	}
	p.second = p.open(p.folder())
	takeOver := rapid.Bool().Draw(rt, "take over")
	held := p.first.s.lease.Held()
	err := p.armed(p.second, takeOver)
	p.tell("another operator: %v", err)
	if err == nil && held && p.first.armed && !takeOver && !p.took && p.first.s.lease.Held() && p.second.s.lease.Held() {
		rt.Fatal("two operators hold the lease")
	}
	if err == nil && takeOver && held {
		p.first.armed = false
		p.bars(p.first) // it does not learn this at once, and asks before it writes
	}
}

var troubles = []fault.Setting{
	{Server: fault.Kubernetes, Kind: "refused"},
	{Server: fault.Kubernetes, Kind: "500", Rate: 0.5},
	{Server: fault.Kubernetes, Kind: "503"},
	{Server: fault.Kubernetes, Kind: "403", Of: fault.Writes},
	{Server: fault.Kubernetes, Kind: "409"},
	{Server: fault.Kubernetes, Kind: "429", RetryAfter: time.Second, Rate: 0.5},
	{Server: fault.Kubernetes, Kind: "latency", Latency: 300 * time.Millisecond},
	{Server: fault.Kubernetes, Kind: "truncated", Of: fault.Writes},
	{Server: fault.Kubernetes, Kind: "reset", Rate: 0.5},
	{Server: fault.Kubernetes, Kind: "watches-cut"},
	{Server: fault.Kubernetes, Kind: "watches-end", Every: time.Second},
	{Server: fault.OpenStack, Kind: "refused"},
	{Server: fault.OpenStack, Kind: "truncated", Of: fault.Writes},
	{Server: fault.OpenStack, Kind: "reset", Rate: 0.5},
	{Server: fault.Identity, Kind: "503"},
	{Server: fault.Compute, Kind: "500", Rate: 0.5},
	{Server: fault.Compute, Kind: "503"},
	{Server: fault.Compute, Kind: "409"},
	{Server: fault.Compute, Kind: "truncated", Of: fault.Writes},
	{Server: fault.Compute, Kind: "short", Rate: 0.5},
	{Server: fault.Compute, Kind: "latency", Latency: 300 * time.Millisecond},
	{Server: fault.Compute, Kind: "page-502", Rate: 0.5},
}

func (p *proof) fault(rt *rapid.T) {
	set := troubles[rapid.IntRange(0, len(troubles)-1).Draw(rt, "fault")]
	if err := p.cloud.Faults.On(set); err != nil {
		rt.Fatal(err)
	}
	if set.Server == fault.Kubernetes && p.blindSince.IsZero() {
		p.blindSince = p.cloud.Clock.Now()
	}
	p.tell("fault: %s %s", set.Server, set)
}

func (p *proof) faultsEnd(rt *rapid.T) {
	p.clearFaults()
	p.tell("the faults end")
}

// clearFaults ends all faults.
func (p *proof) clearFaults() {
	p.cloud.Faults.Clear()
	if !p.blindSince.IsZero() && len(p.cloud.Kube.Objects(sessiontest.ClusterRequests.Resource)) == 0 {
		p.blind = append(p.blind, blindness{p.blindSince, p.cloud.Clock.Now()})
	}
	p.blindSince = time.Time{}
}

// pass lets the cluster work for some minutes of its own time; nothing is asserted on it.
func (p *proof) pass(rt *rapid.T) {
	d := time.Duration(rapid.IntRange(1, 10).Draw(rt, "half minutes")) * 30 * time.Second
	p.sleep(d)
	p.tell("after %s", d)
}

func (p *proof) jump(rt *rapid.T) {
	d := time.Duration(rapid.IntRange(1, 10).Draw(rt, "minutes")) * time.Minute
	p.cloud.Clock.Advance(d)
	p.tell("the clock jumps by %s", d)
}

func (p *proof) controllersDie(rt *rapid.T) {
	p.stopLCM()
	p.startControllers()
	p.tell("LCM and the other controllers were killed and are back")
}

// rest removes everything that keeps the cloud from working, ends what still runs, and starts another session on the same
// journal, which proposes the same as the running one. Where no controller begins them again, migrations without an end are left,
// and one is begun: they come to rest when they are aborted.
func (p *proof) rest() {
	p.tell("rest")
	p.clearFaults()
	p.scaleRockoon(!p.act)
	for _, id := range p.instances() {
		p.behave(id, openstack.Behaviour{NeverConverges: p.act && p.endless[id]})
	}
	if p.second != nil {
		p.second.stop()
		p.second = nil
	}
	p.await("everything is live again", func(s *core.Snapshot) bool { return sessiontest.AllKnown(s) })
	p.armed(p.first, true)
	p.tell("everything is live again")
	endless := p.beginEndless()
	p.await("every operation has ended", func(s *core.Snapshot) bool {
		open := 0
		for _, op := range s.Operations {
			if op.State.Ended() {
				continue
			}
			open++
			if len(op.Items) > 0 {
				p.first.s.Engine.Control(op.ID, core.ControlStop) // it may just have ended
			}
			p.abort(s, op)
		}
		return open == 0
	})
	p.tell("every operation has ended")
	for _, op := range p.first.s.Engine.Snapshot().Operations {
		// It may not have begun: the lease was another's until just now, or Nova refuses because the guest is down. It cannot be
		// done.
		if op.ID == endless && op.State == core.OperationDone {
			p.rt.Fatalf("%s, which has no end, is %s: %s", op.Title, op.State, op.Text)
		}
	}
	for _, id := range p.instances() {
		p.behave(id, noTrouble)
	}
	p.disarm(p.first)
	p.cloud.Clock.Pause()
	copied := p.folder()
	if err := os.CopyFS(copied, os.DirFS(p.first.folder)); err != nil {
		p.rt.Fatal(err)
	}
	again := p.open(copied)
	defer again.stop()
	var differ string
	deadline := time.After(mostWait)
	snaps, stop := again.s.Engine.Subscribe()
	defer stop()
	for same := false; !same; {
		select {
		case <-snaps:
			running, anew := p.first.s.Engine.Snapshot(), again.s.Engine.Snapshot()
			if !sessiontest.AllKnown(running) || !sessiontest.AllKnown(anew) {
				differ = "not everything is live"
				continue
			}
			differ = difference(proposals(running), proposals(anew))
			same = differ == ""
		case <-deadline:
			p.rt.Fatalf("a session that is started anew proposes something else:\n%s", differ)
		}
	}
	p.check(p.rt)
	p.visible(again.s.Engine.Snapshot())
	p.journalled()
	p.cloud.Clock.Resume()
	p.tell("the same is proposed anew")
}

// beginEndless begins a migration that does not end, where Lockstep is alone and offers one; it returns the operation, or
// nothing.
func (p *proof) beginEndless() string {
	if !p.act {
		return ""
	}
	for _, id := range p.instances() {
		st := step.Plan(p.first.s.Engine.Snapshot(), core.Intent{Kind: core.IntentLiveMigrate, Instance: id})
		if !st.Doable() || !p.behave(id, openstack.Behaviour{NeverConverges: true}) {
			continue
		}
		p.endless[id] = true
		g, err := p.first.s.Engine.Grant(st, st.Type)
		if err == nil {
			_, err = p.first.s.Engine.Execute(p.ctx, g)
		}
		p.tell("first, without an end: %s (%s): %v", st.Title, g.ID, err)
		if err == nil {
			return g.ID
		}
	}
	return ""
}

// abort aborts the migrations of an operation that would go on forever, as an operator does.
func (p *proof) abort(s *core.Snapshot, op core.Operation) {
	if strings.HasPrefix(op.Step, string(core.IntentAbortMigration)+"/") {
		return // its own end comes with the migration's
	}
	ids := []string{op.Instance}
	for _, item := range op.Items {
		ids = append(ids, item.Instance)
	}
	for _, id := range ids {
		if st := step.Plan(s, core.Intent{Kind: core.IntentAbortMigration, Instance: id}); st.Doable() {
			g, err := p.first.s.Engine.Grant(st, st.Type)
			if err == nil {
				_, err = p.first.s.Engine.Execute(p.ctx, g)
			}
			if err != nil {
				p.armed(p.first, true) // what it counted as its own may have been somebody else's
			}
			p.tell("aborts at the end: %s: %v", st.Title, err)
		}
	}
}

// proposals returns the steps of the cluster, of every node and instance, and of what is left to do after the update.
func proposals(s *core.Snapshot) []string {
	keys := []core.ProcedureKey{{Kind: core.ProcedureCluster}, {Kind: core.ProcedureAfter}}
	for _, name := range s.NodeNames() {
		keys = append(keys, core.ProcedureKey{Kind: core.ProcedureNode, Subject: name})
	}
	for id := range s.Instances.All() {
		keys = append(keys, core.ProcedureKey{Kind: core.ProcedureInstance, Subject: id})
	}
	var out []string
	for _, key := range keys {
		proc, _ := procedure.Of(s, key)
		for _, st := range proc.Steps {
			out = append(out, fmt.Sprintf("%s: %s: %s, %s, doable %v", key.Subject, st.ID, st.Title, st.State, st.Doable()))
			for _, other := range st.Alternatives {
				out = append(out, fmt.Sprintf("%s: %s: or %s, %s, doable %v", key.Subject, st.ID, other.Title, other.State, other.Doable()))
			}
		}
	}
	return out
}

func difference(a, b []string) string {
	var out []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, "running: "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			out = append(out, "anew:    "+line)
		}
	}
	return strings.Join(out, "\n")
}
