package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"

	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/derivedtest"
	"lockstep/core/engine"
	"lockstep/core/progress"
	"lockstep/sim/controller"
	"lockstep/sim/kubeapi"
	"lockstep/sim/openstack"
)

// What the servers received and hold, and what has to be true of it. Nothing here asks Lockstep, except for its journal, for
// which Lockstep has to answer.

var (
	nodeResource       = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	deploymentResource = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// watcher watches the servers all the time.
type watcher struct {
	p      *proof
	forget func() // the observer of Kubernetes' requests

	mu         sync.Mutex
	violations []string
	modes      map[string][]string // of each node, newest last
	inactive   map[string]bool     // nodes whose lock of the OpenStack controller is inactive, as last seen
	atRelease  map[string][]openstack.ServerState
	status     map[string]string
	stopped    []halt
	touched    map[string][]time.Time                // instances that the history itself changed, by ID
	releases   map[string][]arrival                  // Lockstep's status patches, by lock
	down       map[string][]fall                     // hosts that were switched off
	locks      map[string]*unstructured.Unstructured // of nodes, by name

	done   chan struct{}
	cancel context.CancelFunc
}

// halt is an instance that no longer runs.
type halt struct {
	id, status, host string
	at               time.Time
}

// fall is a host that was switched off, with the instances that were on it then.
type fall struct {
	at      time.Time
	servers []openstack.ServerState
}

// arrival is the host's instances at the moment when Lockstep's write to its lock arrived.
type arrival struct {
	at      time.Time
	node    string
	servers []openstack.ServerState
	modes   int // the number that the node had had by then
}

func newWatcher(p *proof) *watcher {
	return &watcher{p: p, modes: map[string][]string{}, inactive: map[string]bool{}, atRelease: map[string][]openstack.ServerState{},
		status: map[string]string{},
		locks:  map[string]*unstructured.Unstructured{}, touched: map[string][]time.Time{}, releases: map[string][]arrival{},
		down: map[string][]fall{}, done: make(chan struct{})}
}

func (w *watcher) start() {
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(w.p.ctx)
	// An observer in the form of a fault that matches no request: it sees each request before it is served.
	forget := w.p.cloud.Kube.AddFault(kubeapi.Fault{Match: func(r *http.Request) bool { w.arrives(r); return false }})
	for _, resource := range []string{"nodes", "nodeworkloadlocks"} {
		for _, u := range w.p.cloud.Kube.Objects(resource) {
			w.changed(kubeapi.Change{Kind: watch.Added, Resource: resource, Now: u})
		}
	}
	unfollow := w.p.cloud.Kube.Follow(w.changed, "nodes", "nodeworkloadlocks")
	w.forget = func() { forget(); unfollow() }
	w.look()
	go func() {
		defer close(w.done)
		for w.p.cloud.Clock.Sleep(ctx, 2*time.Second) == nil {
			w.look()
		}
	}()
}

func (w *watcher) end() {
	if w.cancel == nil {
		return
	}
	w.forget()
	w.cancel()
	<-w.done
}

func (w *watcher) violated(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violate(format, args...)
}

// violate notes what must not be. The caller holds mu.
func (w *watcher) violate(format string, args ...any) {
	w.violations = append(w.violations, w.p.cloud.Clock.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// touch notes that the history itself changes an instance now.
func (w *watcher) touch(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touched[id] = append(w.touched[id], w.p.cloud.Clock.Now())
}

var lockPath = regexp.MustCompile(`/nodeworkloadlocks/([^/]+)/status$`)

// arrives sees what Lockstep writes to a lock, before the server has taken it.
func (w *watcher) arrives(r *http.Request) {
	m := lockPath.FindStringSubmatch(r.URL.Path)
	if m == nil || r.Method != http.MethodPatch || !strings.HasPrefix(r.UserAgent(), "lockstep/") || r.URL.Query().Has("dryRun") {
		return
	}
	for _, node := range w.p.nodes {
		if strings.HasSuffix(m[1], node) {
			a := arrival{at: w.p.cloud.Clock.Now(), node: node, servers: w.p.cloud.OpenStack.ServersOn(node)}
			w.mu.Lock()
			a.modes = len(w.modes[node])
			w.releases[m[1]] = append(w.releases[m[1]], a)
			w.mu.Unlock()
		}
	}
}

// changed sees every state of nodes and locks, however short.
func (w *watcher) changed(c kubeapi.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := c.Now.GetName()
	if c.Resource == "nodes" {
		mode := c.Now.GetAnnotations()[core.AnnotationMigrationMode]
		if all := w.modes[name]; len(all) == 0 || all[len(all)-1] != mode {
			w.modes[name] = append(all, mode)
		}
		return
	}
	if c.Kind == watch.Deleted {
		delete(w.locks, name)
	} else {
		w.locks[name] = c.Now
	}
	w.seeLocks()
}

// look reads the instances.
func (w *watcher) look() {
	now := w.p.cloud.Clock.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range w.p.instances() {
		st, ok := w.p.cloud.OpenStack.Server(id)
		if was := w.status[id]; ok && was != st.Status {
			w.status[id] = st.Status
			if was != "" && !runs(st.Status) {
				w.stopped = append(w.stopped, halt{id: id, status: st.Status, host: st.Host, at: now})
			}
		}
	}
}

// runs tells whether the guest of an instance with this status runs, or is on its way from one host to another.
func runs(status string) bool {
	switch status {
	case "ACTIVE", "MIGRATING", "RESIZE", "VERIFY_RESIZE", "REVERT_RESIZE", "REBOOT", "PAUSED":
		return true
	}
	return false
}

// seeLocks counts the computes that the OpenStack controller, or Lockstep for it, works on. The caller holds mu.
func (w *watcher) seeLocks() {
	var at, released []string // names of locks
	for _, l := range w.locks {
		controllerName, _, _ := unstructured.NestedString(l.Object, "spec", "controllerName")
		node, _, _ := unstructured.NestedString(l.Object, "spec", "nodeName")
		if controllerName != core.ControllerOpenStack || !slices.Contains(w.p.nodes, node) {
			continue
		}
		state, _, _ := unstructured.NestedString(l.Object, "status", "state")
		if inactive := state == "inactive"; inactive != w.inactive[node] {
			w.inactive[node] = inactive
			w.atRelease[node] = w.p.cloud.OpenStack.ServersOn(node)
		}
		if l.GetAnnotations()["inner_state"] == "active" {
			at = append(at, l.GetName())
		}
		if state == "inactive" {
			released = append(released, l.GetName())
		}
	}
	w.tooMany("worked on", at)
	w.tooMany("released", released)
}

// tooMany notes it when there are more of these locks than there may be, without those that an operator overrode: the journals, which
// know them, are read only then. The caller holds mu.
func (w *watcher) tooMany(what string, locks []string) {
	if len(locks) <= w.p.most {
		return
	}
	overridden := w.p.overridden()
	locks = slices.DeleteFunc(locks, func(lock string) bool { return overridden[lock] })
	if len(locks) > w.p.most {
		w.violate("%d computes are %s, where %d may be: %q", len(locks), what, w.p.most, locks)
	}
}

// watchedMachines are machines whose power is watched.
type watchedMachines struct {
	controller.Machines
	w *watcher
}

func (w *watcher) machines(m controller.Machines) controller.Machines { return watchedMachines{m, w} }

// PowerOff is the moment that shows whether a lock was released rightly.
func (m watchedMachines) PowerOff(host string) {
	m.w.goesDown(host)
	m.Machines.PowerOff(host)
}

func (w *watcher) goesDown(host string) {
	servers := w.p.cloud.OpenStack.ServersOn(host)
	overridden := w.p.overriddenNodes()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down[host] = append(w.down[host], fall{w.p.cloud.Clock.Now(), servers})
	if !slices.Contains(w.p.nodes, host) || overridden[host] || !w.p.act || w.p.rockoonEver() {
		return // the OpenStack controller is responsible, or the operator who overrode it
	}
	for _, st := range servers {
		was := slices.IndexFunc(w.atRelease[host], func(b openstack.ServerState) bool { return b.ID == st.ID })
		if st.PowerState == 1 && was < 0 && len(w.touched[st.ID]) == 0 {
			w.violate("%s goes down with %s on it, which came after its lock was released", w.p.label[host], st.Name)
		}
	}
}

// blocks is Rockoon's blocking check (docs/mosk.md#tags), written independently.
func blocks(st openstack.ServerState, mode string) bool {
	switch st.VMState {
	case "building", "deleted", "soft-delete", "soft_deleted", "stopped", "suspended", "shelved", "shelved_offloaded", "shelve_offloaded":
		return false
	}
	if st.PowerState == 4 || st.PowerState == 6 || st.PowerState == 7 {
		return false
	}
	var actions []string
	for _, tag := range st.Tags {
		if a, ok := strings.CutPrefix(tag, "openstack.lcm.mirantis.com:maintenance_action="); ok &&
			slices.Contains([]string{"live_migrate", "poweroff", "notify"}, a) && !slices.Contains(actions, a) {
			actions = append(actions, a)
		}
	}
	if len(actions) == 1 {
		return actions[0] != "poweroff"
	}
	return mode != "skip"
}

// wrote is a write that a server received from Lockstep.
type wrote struct {
	at      time.Time
	object  string // kind/name, or the ID of an OpenStack object
	intents []core.IntentKind
	what    string
	lock    string // the state to which a lock was set
	code    int
}

// done tells whether the server did it: a refused write may be tried again in the same step, for example after a conflict.
func (w wrote) done() bool { return w.code >= 200 && w.code < 300 }

// part returns the part of a step that the write uses up: a lock is made by two writes, the second of which sets its release.
func (w wrote) part(r engine.Record) string {
	if r.Intent.Kind == core.IntentActCreateLock {
		return r.Operation + " " + strings.Join(strings.Fields(w.what)[:2], " ")
	}
	return r.Operation + " " + r.Title
}

var annotationIntents = []core.IntentKind{core.IntentSetMode, core.IntentSetAttempts, core.IntentDeclareSafe, core.IntentRestoreMode}

// ofKubernetes are the intents that a write to a resource can stand for.
var ofKubernetes = map[string][]core.IntentKind{
	"patch nodes":                 annotationIntents,
	"create nodeworkloadlocks":    {core.IntentActCreateLock},
	"create clusterworkloadlocks": {core.IntentActCreateLock},
	"patch nodeworkloadlocks": {core.IntentActBegin, core.IntentActFinish, core.IntentActLetGo, core.IntentClearInner,
		core.IntentFreeLock},
	"delete nodeworkloadlocks":   {core.IntentActDropLock},
	"patch clusterworkloadlocks": {core.IntentClearInner},
	"patch nodeworkloadlocks/status": {core.IntentActRelease, core.IntentActRearm, core.IntentActSay, core.IntentActCreateLock,
		core.IntentOverrideLock, core.IntentRearmLock},
	"patch clusterworkloadlocks/status": {core.IntentActRelease, core.IntentActRearm, core.IntentActSay, core.IntentActCreateLock,
		core.IntentOverrideLock},
	"create nodemaintenancerequests":    {core.IntentAskNode},
	"create clustermaintenancerequests": {core.IntentAskCluster},
	"delete nodemaintenancerequests":    {core.IntentWithdraw},
	"delete clustermaintenancerequests": {core.IntentWithdraw},
	"patch nodemaintenancerequests":     {core.IntentActHold, core.IntentActLetGo},
	"patch clustermaintenancerequests":  {core.IntentActHold, core.IntentActLetGo},
	"delete persistentvolumeclaims":     {core.IntentActDeleteClaim},
	"delete pods":                       {core.IntentRestartPod, core.IntentRestartAgent},
	"patch openstackdeployments":        {core.IntentAddTempest, core.IntentRemoveTempest},
}

// typed are the steps that always require the typed name of their object.
var typed = []core.IntentKind{core.IntentOverrideLock, core.IntentClearInner, core.IntentAskCluster, core.IntentWithdraw,
	core.IntentDeclareSafe,
	core.IntentLiveMigrateAll, core.IntentActRelease, core.IntentActDropLock, core.IntentActDeleteClaim, core.IntentActLetGo,
	core.IntentFreeLock,
	core.IntentTagPowerOff, core.IntentStop}

// ofNova are the intents that an action of Nova can stand for.
var ofNova = map[string]core.IntentKind{
	"os-migrateLive": core.IntentLiveMigrate, "migrate": core.IntentColdMigrate, "confirmResize": core.IntentConfirmResize,
	"revertResize": core.IntentRevertResize, "os-stop": core.IntentStop, "os-start": core.IntentStart, "os-resetState": core.IntentResetState,
	"shelve": core.IntentShelve, "unshelve": core.IntentUnshelve, "evacuate": core.IntentEvacuate, "resume": core.IntentResume,
}

// writes returns what both servers received from Lockstep, in order.
func (p *proof) writes() []wrote {
	var all []wrote
	for _, r := range p.cloud.Kube.Requests() {
		if !strings.HasPrefix(r.UserAgent, "lockstep/") || !r.Write() || r.DryRun || r.Resource == "leases" ||
			r.Resource == "selfsubjectaccessreviews" {
			continue
		}
		resource := r.Resource
		if r.Subresource != "" {
			resource += "/" + r.Subresource
		}
		w := wrote{at: r.Time, what: r.Verb + " " + resource, code: r.Code, intents: ofKubernetes[r.Verb+" "+resource]}
		name := r.Name
		if name == "" {
			var made struct{ Metadata struct{ Name string } }
			_ = json.Unmarshal(r.Body, &made) // an empty name matches nothing
			name = made.Metadata.Name
		}
		w.object = name
		if strings.HasSuffix(resource, "workloadlocks/status") {
			var patch []struct {
				Op, Path string
				Value    any
			}
			_ = json.Unmarshal(r.Body, &patch) // a patch in another form is not looked at
			for _, op := range patch {
				switch v := op.Value.(type) {
				case string:
					if op.Path == "/status/state" && op.Op != "test" {
						w.lock = v
					}
				case map[string]any:
					if s, ok := v["state"].(string); ok && op.Path == "/status" && op.Op != "test" {
						w.lock = s
					}
				}
			}
			w.what += " state " + w.lock
		}
		w.what += " " + name
		all = append(all, w)
	}
	for _, r := range p.cloud.OpenStack.Writes() {
		if strings.HasPrefix(r.UserAgent, "lockstep/") {
			all = append(all, ofOpenStack(r))
		}
	}
	slices.SortStableFunc(all, func(a, b wrote) int { return a.at.Compare(b.at) })
	return all
}

var (
	actionPath    = regexp.MustCompile(`^/compute/v2\.1/servers/([^/]+)/action$`)
	migrationPath = regexp.MustCompile(`^/compute/v2\.1/servers/([^/]+)/migrations/\d+(/action)?$`)
	tagsPath      = regexp.MustCompile(`^/compute/v2\.1/servers/([^/]+)/tags$`)
	servicePath   = regexp.MustCompile(`^/compute/v2\.1/os-services/([^/]+)$`)
	volumePath    = regexp.MustCompile(`^/volume/v3/os-services/(enable|disable|disable-log-reason)$`)
)

func ofOpenStack(r openstack.Request) wrote {
	w := wrote{at: r.At, what: r.Method + " " + r.Path + " " + r.Body, code: r.Status}
	if m := actionPath.FindStringSubmatch(r.Path); m != nil {
		w.object = m[1]
		var body map[string]json.RawMessage
		_ = json.Unmarshal([]byte(r.Body), &body) // no action is no intent
		for name := range body {
			w.intents = append(w.intents, ofNova[name])
		}
	}
	if m := migrationPath.FindStringSubmatch(r.Path); m != nil {
		w.object, w.intents = m[1], []core.IntentKind{core.IntentAbortMigration}
		if m[2] != "" {
			w.intents = []core.IntentKind{core.IntentForceComplete}
		}
	}
	if m := tagsPath.FindStringSubmatch(r.Path); m != nil {
		w.object, w.intents = m[1], []core.IntentKind{core.IntentTagPowerOff, core.IntentRestoreTags}
	}
	if m := servicePath.FindStringSubmatch(r.Path); m != nil {
		w.object, w.intents = m[1], []core.IntentKind{core.IntentEnableCompute, core.IntentActIntoScheduling}
		if strings.Contains(r.Body, `"disabled"`) {
			w.intents = []core.IntentKind{core.IntentDisableCompute, core.IntentActOutOfScheduling}
		}
	}
	if m := volumePath.FindStringSubmatch(r.Path); m != nil {
		w.object, w.intents = volumeHost(r), []core.IntentKind{core.IntentEnableVolume, core.IntentActVolumeIn}
		if m[1] != "enable" {
			w.intents = []core.IntentKind{core.IntentDisableVolume, core.IntentActVolumeOut}
		}
	}
	return w
}

// volumeHost returns the cinder-volume that a request is about: "cmp-01@lvm".
func volumeHost(r openstack.Request) string {
	var body struct{ Host string }
	_ = json.Unmarshal([]byte(r.Body), &body) // no host is no object
	return body.Host
}

// records returns those of all journals, each once.
func (p *proof) records() []engine.Record {
	type key struct {
		kind                         engine.RecordKind
		operation, step, node, state string
		wall                         time.Time
	}
	var all []engine.Record
	seen := map[key]bool{}
	for _, folder := range p.journals() {
		for _, r := range p.read.all(folder) {
			k := key{r.Kind, r.Operation, r.Step, r.Node, r.State, r.Wall}
			if !seen[k] {
				seen[k] = true
				all = append(all, r)
			}
		}
	}
	if err := p.read.error(); err != nil {
		p.rt.Fatal(err)
	}
	slices.SortStableFunc(all, func(a, b engine.Record) int { return a.Wall.Compare(b.Wall) })
	return all
}

func (p *proof) journalText() string {
	var b strings.Builder
	for _, folder := range p.journals() {
		paths, _ := filepath.Glob(filepath.Join(folder, "journal", "*.jsonl"))
		for _, path := range paths {
			raw, _ := os.ReadFile(path) // for people
			fmt.Fprintf(&b, "%s\n%s\n", path, raw)
		}
	}
	return b.String()
}

// overridden returns the locks that an operator set against their controller: from then on the rules are not kept there.
func (p *proof) overridden() map[string]bool {
	names := map[string]bool{}
	p.eachBefore(func(_ string, r engine.Record) {
		if r.Intent.Kind == core.IntentOverrideLock || r.Intent.Kind == core.IntentClearInner {
			names[r.Object.Name] = true
		}
	})
	return names
}

func (p *proof) overriddenNodes() map[string]bool {
	names := map[string]bool{}
	p.eachBefore(func(_ string, r engine.Record) {
		if r.Intent.Kind == core.IntentOverrideLock || r.Intent.Kind == core.IntentClearInner {
			names[r.Node] = true
		}
	})
	return names
}

func (p *proof) eachBefore(each func(folder string, r engine.Record)) {
	for _, folder := range p.journals() {
		for _, r := range p.read.all(folder) {
			if r.Kind == engine.RecordBefore {
				each(folder, r)
			}
		}
	}
}

// journalReader reads journals that grow, each line once.
type journalReader struct {
	mu      sync.Mutex
	offsets map[string]int64 // by path
	records map[string][]engine.Record
	bad     error
}

// all returns the records of the journals in a folder so far; a line that is half written now comes with a later call.
func (j *journalReader) all(folder string) []engine.Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	paths, _ := filepath.Glob(filepath.Join(folder, "journal", "*.jsonl")) // the pattern is good
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			j.bad = err
			continue
		}
		rest, err := io.ReadAll(io.NewSectionReader(file, j.offsets[path], math.MaxInt64-j.offsets[path]))
		file.Close()
		if err != nil {
			j.bad = err
			continue
		}
		rest = rest[:bytes.LastIndexByte(rest, '\n')+1]
		j.offsets[path] += int64(len(rest))
		for line := range bytes.Lines(rest) {
			var r engine.Record
			if err := json.Unmarshal(line, &r); err != nil {
				j.bad = fmt.Errorf("%s: %w: %s", path, err, line)
				continue
			}
			j.records[folder] = append(j.records[folder], r)
		}
	}
	return slices.Clip(j.records[folder]) // no record changes any more
}

// error returns what was wrong with a journal.
func (j *journalReader) error() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.bad
}

// check asserts what holds at every moment.
func (p *proof) check(rt *rapid.T) {
	synctest.Wait()
	writes := p.writes() // before the journals are read: every write is recorded before it is sent
	records := p.records()
	p.granted(rt, writes, records)
	p.verified(rt, writes, records)
	p.explained(rt, records)
	if text := sessiontest.Urgency(p.first.s.Engine.Snapshot()); text != "" {
		rt.Fatal(text)
	}
	if differ := derivedtest.Differ(p.first.s.Engine.Snapshot()); len(differ) > 0 {
		rt.Fatal(strings.Join(differ, "\n"))
	}
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	if len(p.watch.violations) > 0 {
		rt.Fatalf("%s", strings.Join(p.watch.violations, "\n"))
	}
}

// granted compares every write with the journal: it was confirmed, for this object, once, in time, and recorded before it was
// sent.
func (p *proof) granted(rt *rapid.T, writes []wrote, records []engine.Record) {
	grants, begun := map[string]engine.Record{}, map[string]engine.Record{}
	var before []engine.Record
	for _, r := range records {
		switch r.Kind {
		case engine.RecordGrant:
			grants[r.Operation] = r
		case engine.RecordBefore:
			parent, _, item := strings.Cut(r.Operation, "/")
			g, ok := grants[parent]
			if !ok {
				rt.Fatalf("%s was begun without a grant", r.Title)
			}
			// A failed migration is tried again, as often as the grant says; each try has a title of its own.
			if _, twice := begun[r.Operation+" "+r.Title]; twice {
				rt.Fatalf("%s was begun twice on one grant", r.Title)
			}
			begun[r.Operation+" "+r.Title] = r
			if slices.Contains(typed, g.Intent.Kind) && g.Typed == "" {
				rt.Fatalf("%s was begun, and nothing was typed", g.Title)
			}
			if !item && *g.Object != *r.Object {
				rt.Fatalf("%s was granted for %s, and begun on %s", r.Title, g.Object, r.Object)
			}
			for _, command := range r.Commands {
				if !slices.Contains(g.Commands, command) {
					rt.Fatalf("%s does %q; the grant was for\n%s", r.Title, command, strings.Join(g.Commands, "\n"))
				}
			}
			before = append(before, r)
		}
	}
	p.armedThen(rt)
	used := map[string]bool{}
	for _, w := range writes {
		found := false
		for _, r := range slices.Backward(before) {
			if r.At.After(w.at) || !p.is(r, w.object) || !slices.Contains(w.intents, r.Intent.Kind) || w.done() && used[w.part(r)] {
				continue
			}
			used[w.part(r)], found = used[w.part(r)] || w.done(), true
			break
		}
		if !found {
			rt.Fatalf("a server received %s at %s, and the journal has no confirmed step for it", w.what, w.at.Format("15:04:05.000"))
		}
	}
}

// inFlight is how long after its last look at the operator lease a step may be recorded, in the cluster's time.
const inFlight = 3 * time.Minute

// armedThen compares what was begun with the times in which its run was not armed, or somebody else had the operator lease.
func (p *proof) armedThen(rt *rapid.T) {
	p.mu.Lock()
	without := slices.Clone(p.without)
	p.mu.Unlock()
	p.eachBefore(func(folder string, r engine.Record) {
		for _, w := range without {
			if w.folder == folder && r.At.After(w.from.Add(inFlight)) && (w.to.IsZero() || r.At.Before(w.to)) {
				rt.Fatalf("%s was begun at %s by a run that could not write since %s", r.Title, r.At.Format("15:04:05"), w.from.Format("15:04:05"))
			}
		}
	})
}

// is tells whether a step was about an object. The records of a played controller's steps on a service name its lock.
func (p *proof) is(r engine.Record, object string) bool {
	host, service := p.hosts[object]
	if r.Intent.Kind == core.IntentActVolumeOut || r.Intent.Kind == core.IntentActVolumeIn {
		return r.Intent.Object.Name == object
	}
	return r.Object.Name == object || r.Object.UID == object || service && r.Node == host
}

// verified compares every write of Lockstep that lets a host go with what was on the host when it arrived. Lockstep cannot know
// what the history itself changed after Lockstep's last look.
func (p *proof) verified(rt *rapid.T, writes []wrote, records []engine.Record) {
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	number := map[string]int{}
	for _, w := range writes {
		all := p.watch.releases[w.object]
		if !strings.Contains(w.what, "nodeworkloadlocks/status") || number[w.object] >= len(all) {
			continue
		}
		a := all[number[w.object]]
		number[w.object]++
		if w.lock != "inactive" {
			continue
		}
		i := -1
		for n, r := range records {
			if r.Kind == engine.RecordBefore && r.Object.Name == w.object && slices.Contains(w.intents, r.Intent.Kind) && !r.At.After(w.at) {
				i = n
			}
		}
		if i < 0 || records[i].Intent.Kind == core.IntentOverrideLock {
			continue
		}
		looked := p.lookedAt(a.node, records[i].At)
		if records[i].Intent.Kind == core.IntentActRelease {
			for _, service := range p.inScheduling(a.node, looked, w.at) {
				rt.Fatalf("the lock of %s was released while %s was in scheduling", p.label[a.node], service)
			}
			if p.scope(a.node, w.at) == core.ScopeDrain {
				continue // it does not ask any instance to move
			}
		}
		for _, st := range a.servers {
			always := true
			modes := p.watch.modes[a.node] // the last two of that time, and those since: a mode is seen a little late
			for _, mode := range modes[max(a.modes-2, 0):] {
				always = always && blocks(st, mode)
			}
			late := slices.ContainsFunc(p.watch.touched[st.ID], func(t time.Time) bool { return t.After(looked) })
			if always && !late {
				rt.Fatalf("the lock of %s was released with %s on it: %s, %s, power %d, tags %q", p.label[a.node], st.Name, st.Status, st.VMState,
					st.PowerState, st.Tags)
			}
		}
	}
}

// inScheduling returns the services of a host that took instances or volumes the whole time between two moments; of its volume
// services, the one that a played controller takes out (docs/mosk.md#services).
func (p *proof) inScheduling(host string, from, to time.Time) []string {
	enabled := map[string]bool{"nova-compute": true}
	first := host + "@"
	if backends := p.backends[host]; len(backends) > 0 {
		first += backends[0]
		enabled["cinder-volume of "+first] = true
	}
	for _, r := range p.cloud.OpenStack.Writes() {
		service, on := "", strings.Contains(r.Body, `"enabled"`)
		if m := servicePath.FindStringSubmatch(r.Path); m != nil && p.hosts[m[1]] == host {
			service = "nova-compute"
		}
		if m := volumePath.FindStringSubmatch(r.Path); m != nil && volumeHost(r) == first {
			service, on = "cinder-volume of "+volumeHost(r), m[1] == "enable"
		}
		lost := r.Status == 0 // its answer broke off: it may have been done
		if service == "" || r.Status != http.StatusOK && !lost || lost && on || r.At.After(to) {
			continue
		}
		if !on || !r.At.After(from) { // Lockstep cannot know who enabled it after its look
			enabled[service] = on
		}
	}
	var all []string
	for service, on := range enabled {
		if on {
			all = append(all, service)
		}
	}
	return all
}

// scope returns the scope of a node's maintenance request at a time.
func (p *proof) scope(node string, at time.Time) core.Scope {
	var scope core.Scope
	for _, r := range p.cloud.Kube.Requests() {
		if r.Verb != "create" || r.Resource != "nodemaintenancerequests" || r.DryRun || r.Code != http.StatusCreated || r.Time.After(at) {
			continue
		}
		var made struct {
			Spec struct{ NodeName, Scope string }
		}
		if err := json.Unmarshal(r.Body, &made); err == nil && made.Spec.NodeName == node {
			scope = core.Scope(made.Spec.Scope)
		}
	}
	return scope
}

// lookedAt returns when Lockstep read the list of a host's instances the last time but one before t.
func (p *proof) lookedAt(host string, t time.Time) time.Time {
	var looks []time.Time
	for _, r := range p.cloud.OpenStack.Requests() {
		if r.Method == http.MethodGet && strings.HasPrefix(r.UserAgent, "lockstep/") && strings.Contains(r.Query, "host="+host) &&
			!r.At.After(t) {
			looks = append(looks, r.At)
		}
	}
	if len(looks) < 2 {
		return time.Time{}
	}
	return looks[len(looks)-2]
}

// halting are the steps after which an instance may be down.
var halting = []core.IntentKind{core.IntentStop, core.IntentShelve, core.IntentColdMigrate, core.IntentConfirmResize,
	core.IntentRevertResize, core.IntentEvacuate,
	core.IntentLiveMigrate, core.IntentResetState, core.IntentUnshelve, core.IntentStart, core.IntentResume}

// explained checks that every instance that stopped had a reason: a confirmed step on it, an act of the history, or its host,
// which went down for LCM after its lock was released.
func (p *proof) explained(rt *rapid.T, records []engine.Record) {
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	for _, h := range p.watch.stopped {
		before := func(r engine.Record) bool { return !r.At.After(h.at) }
		step := slices.ContainsFunc(records, func(r engine.Record) bool {
			return r.Kind == engine.RecordBefore && r.Object.UID == h.id && slices.Contains(halting, r.Intent.Kind) && before(r)
		})
		touched := slices.ContainsFunc(p.watch.touched[h.id], func(t time.Time) bool { return !t.After(h.at) })
		down := slices.ContainsFunc(p.watch.down[h.host], func(f fall) bool { return !f.at.After(h.at) })
		if !step && !touched && !down {
			rt.Fatalf("%s is %s on %s since %s, and nobody said why", p.name(h.id), h.status, p.label[h.host], h.at.Format("15:04:05"))
		}
	}
}

// visible checks that a Snapshot shows what is down in the end as it is, with a reason or with what is to be done.
func (p *proof) visible(s *core.Snapshot) {
	for _, id := range p.instances() {
		st, ok := p.cloud.OpenStack.Server(id)
		if !ok || runs(st.Status) {
			continue
		}
		v, shown := progress.InstanceView(s, id)
		needs := slices.ContainsFunc(attention.Of(s), func(a core.Attention) bool { return a.Instance == id })
		switch {
		case !shown:
			p.rt.Fatalf("%s is %s, and is not shown", st.Name, st.Status)
		case v.Instance.Status != st.Status:
			p.rt.Fatalf("%s is %s, and is shown as %s", st.Name, st.Status, v.Instance.Status)
		case v.Why == "" && !needs:
			p.rt.Fatalf("%s is %s, and the screen has no word about it", st.Name, st.Status)
		}
	}
}

// letGo are the stages of a node from its release on.
var letGo = []core.Stage{core.StageReleased, core.StageDraining, core.StageUpdating, core.StageRebooting, core.StageReturning,
	core.StageDone}

// journalled checks the journals for every host that went down with instances on it: one of them says that it was let go.
func (p *proof) journalled() {
	records := p.records()
	p.watch.mu.Lock()
	defer p.watch.mu.Unlock()
	for _, h := range p.watch.stopped {
		if !slices.ContainsFunc(p.watch.down[h.host], func(f fall) bool {
			unseen := slices.ContainsFunc(p.blind, func(b blindness) bool { return b.from.Before(f.at) && f.at.Before(b.to) })
			return !unseen && !f.at.After(h.at) &&
				slices.ContainsFunc(f.servers, func(st openstack.ServerState) bool { return st.ID == h.id })
		}) {
			continue // it stopped there another time, or nobody could see it
		}
		if !slices.ContainsFunc(records, func(r engine.Record) bool {
			return r.Node == h.host && (r.Kind == engine.RecordLock && r.To == string(core.LockInactive) ||
				r.Kind == engine.RecordStage && slices.Contains(letGo, core.Stage(r.To)))
		}) {
			p.rt.Fatalf("%s went down with %s, and no journal tells that %s was released", p.name(h.id), p.label[h.host], p.label[h.host])
		}
	}
}

func (p *proof) name(id string) string {
	if st, ok := p.cloud.OpenStack.Server(id); ok {
		return st.Name
	}
	return id
}

// instances returns the IDs of all instances that there were.
func (p *proof) instances() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.servers
}

func (p *proof) journals() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.folders)
}

// rockoonEver tells whether the OpenStack controller was at work in this history.
func (p *proof) rockoonEver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rockoonWas
}

// What the history itself does to the cloud.

var noTrouble = openstack.Behaviour{}

func (p *proof) behave(id string, b openstack.Behaviour) bool {
	return p.cloud.OpenStack.SetBehaviour(id, b) == nil
}

// instance returns one that exists.
func (p *proof) instance(rt *rapid.T) string {
	return rapid.SampledFrom(p.instances()).Draw(rt, "instance")
}

func (p *proof) trouble(rt *rapid.T) {
	id := p.instance(rt)
	what := rapid.SampledFrom([]string{"nothing", "live fails", "live fails late", "cold fails", "finish fails", "never converges",
		"no valid host", "stop fails"}).Draw(rt, "trouble")
	b := map[string]openstack.Behaviour{
		"live fails":      {FailLive: openstack.Failure{Times: 2, Text: "it is busy", At: 0}},
		"live fails late": {FailLive: openstack.Failure{Times: 1, At: 0.8}},
		"cold fails":      {FailCold: openstack.Failure{Times: 1, Text: "disk"}},
		"finish fails":    {FailFinish: openstack.Failure{Times: 1, Text: "disk"}},
		"never converges": {NeverConverges: true},
		"no valid host":   {NoValidHost: true},
		"stop fails":      {FailStop: openstack.Failure{Times: 1}},
	}[what]
	if p.behave(id, b) {
		p.endless[id] = b.NeverConverges
	}
	p.tell("%s: %s", p.name(id), what)
}

// owner is an owner of instances, or another administrator, who goes about their own business.
func (p *proof) owner(rt *rapid.T) {
	id := p.instance(rt)
	tag := core.TagMaintenanceAction
	what := rapid.SampledFrom([]string{"tag live_migrate", "tag poweroff", "tag notify", "no tags", "os-stop", "os-start", "lock", "unlock",
		"error", "active", "migrate", "os-migrateLive", "confirmResize", "delete", "create"}).Draw(rt, "what")
	p.watch.touch(id)
	defer p.watch.touch(id) // it takes its time
	var err error
	switch what {
	case "tag live_migrate", "tag poweroff", "tag notify":
		err = p.cloud.OpenStack.SetTags(id, tag+strings.TrimPrefix(what, "tag "), "mine")
	case "no tags":
		err = p.cloud.OpenStack.SetTags(id)
	case "delete":
		err = p.cloud.OpenStack.DeleteServer(id)
	case "create":
		name := fmt.Sprintf("new-%d", len(p.instances()))
		var made string
		made, err = p.cloud.OpenStack.AddServer(openstack.ServerSpec{Name: name, Project: "shop", Flavor: "m1.small",
			Host: rapid.SampledFrom(p.nodes).Draw(rt, "host")})
		if err == nil {
			p.watch.touch(made)
			p.mu.Lock()
			p.servers = append(slices.Clone(p.servers), made)
			p.mu.Unlock()
		}
	case "error", "active":
		err = p.nova(id, map[string]any{"os-resetState": map[string]any{"state": what}})
	case "os-migrateLive":
		err = p.nova(id, map[string]any{what: map[string]any{"host": nil, "block_migration": "auto"}})
	default:
		err = p.nova(id, map[string]any{what: nil})
	}
	p.tell("the owner of %s: %s: %v", p.name(id), what, err)
}

func (p *proof) nova(id string, body map[string]any) error {
	compute := p.cloud.Controllers().Compute
	_, err := compute.Post(p.ctx, compute.ServiceURL("servers", id, "action"), body, nil, nil)
	return err
}

// stranger changes nodes and compute services by hand.
func (p *proof) stranger(rt *rapid.T) {
	node := rapid.SampledFrom(p.nodes).Draw(rt, "node")
	what := rapid.SampledFrom([]string{"mode live", "mode manual", "mode skip", "no mode", "disable", "enable", "disable its volumes",
		"enable its volumes"}).Draw(rt, "what")
	var err error
	switch what {
	case "disable its volumes", "enable its volumes":
		for _, backend := range p.backends[node] {
			err = errors.Join(err, p.setVolumeService(node+"@"+backend, what == "enable its volumes"))
		}
	case "disable", "enable":
		err = p.setService(node, what == "enable")
	default:
		mode := "null"
		if m, ok := strings.CutPrefix(what, "mode "); ok {
			mode = `"` + m + `"`
		}
		_, err = p.admin.Resource(nodeResource).Patch(p.ctx, node, types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, core.AnnotationMigrationMode, mode), metav1.PatchOptions{})
	}
	p.tell("a stranger on %s: %s: %v", p.label[node], what, err)
}

func (p *proof) setService(host string, enabled bool) error {
	compute := p.cloud.Controllers().Compute
	var found struct{ Services []struct{ ID string } }
	if _, err := compute.Get(p.ctx, compute.ServiceURL("os-services")+"?binary=nova-compute&host="+host, &found, nil); err != nil {
		return err
	}
	if len(found.Services) != 1 {
		return fmt.Errorf("%d services", len(found.Services))
	}
	body := map[string]any{"status": "disabled", "disabled_reason": "broken fan, do not touch"}
	if enabled {
		body = map[string]any{"status": "enabled"}
	}
	_, err := compute.Put(p.ctx, compute.ServiceURL("os-services", found.Services[0].ID), body, nil,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
	return err
}

func (p *proof) setVolumeService(host string, enabled bool) error {
	volume := p.cloud.Controllers().Volume
	verb, body := "disable-log-reason", map[string]any{"binary": "cinder-volume", "host": host, "disabled_reason": "a dead disk"}
	if enabled {
		verb = "enable"
		delete(body, "disabled_reason")
	}
	_, err := volume.Put(p.ctx, volume.ServiceURL("os-services", verb), body, nil, &gophercloud.RequestOpts{OkCodes: []int{http.StatusOK}})
	return err
}

// rockoon switches the OpenStack controller off, or on again.
func (p *proof) rockoon(rt *rapid.T) {
	if rapid.IntRange(0, 2).Draw(rt, "really") > 0 {
		rt.Skip("it stays so")
	}
	p.scaleRockoon(!p.rockoonOn)
}

func (p *proof) scaleRockoon(on bool) {
	replicas := 0
	if on {
		replicas = 1
	}
	_, err := p.admin.Resource(deploymentResource).Namespace("osh-system").Patch(p.ctx, "rockoon", types.MergePatchType,
		fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas), metav1.PatchOptions{})
	p.tell("rockoon has %d replicas: %v", replicas, err)
	if err == nil {
		p.rockoonOn = on
		p.mu.Lock()
		p.rockoonWas = p.rockoonWas || on
		p.mu.Unlock()
	}
}
