package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// SortInstances sorts instances in place by name, then ID, and returns them.
func SortInstances(list []*core.Instance) []*core.Instance {
	slices.SortFunc(list, func(a, b *core.Instance) int { return strings.Compare(a.Name+"\x00"+a.ID, b.Name+"\x00"+b.ID) })
	return list
}

// Stranded tells whether the instance runs in a status in which nothing moves it.
func Stranded(v core.InstanceView) bool {
	in := v.Instance
	return v.Blocks && in.Status != "ACTIVE" && in.Status != "PAUSED" && in.TaskState == ""
}

// InstanceLabel is what to call an instance: its name, or the beginning of its ID when it has none.
func InstanceLabel(in *core.Instance) string {
	if name := wording.OneLine(in.Name, 100); name != "" {
		return name
	}
	return core.ShortID(in.ID)
}

// HostMaintenance is what a node's request and annotations mean for the instances on it.
type HostMaintenance struct {
	node        *core.Node
	name        string // the node's
	Host        string // by which OpenStack knows it
	Mode        core.MigrationMode
	modeSet     bool
	Attempts    int
	attemptsRaw string
	request     *core.MaintenanceRequest // nil when nothing is asked of the node
	Reboot      bool                     // the host may reboot: only then does Rockoon look at instances
	Compute     bool
}

// MaintenanceOf is the HostMaintenance of the node called name.
func MaintenanceOf(s *core.Snapshot, name string) HostMaintenance {
	m := HostMaintenance{node: s.Nodes[name], name: name, Host: s.HostOf(name), Mode: core.ModeLive, Attempts: core.DefaultMigrationAttempts,
		request: s.NodeRequest(name), Compute: true}
	if m.node != nil {
		if v, ok := m.node.Annotations[core.AnnotationMigrationMode]; ok {
			m.Mode, m.modeSet = core.MigrationMode(v), true
		}
		if v, ok := m.node.Annotations[core.AnnotationMigrationAttempts]; ok {
			m.attemptsRaw = v
			if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
				m.Attempts = n
			}
		}
		m.Compute = m.node.Is(core.RoleCompute)
	}
	m.Reboot = ScopeOf(s, m.request) != core.ScopeDrain
	return m
}

// ScopeOf is the scope of a node's request. That of the cluster's request counts for no node: the OpenStack controller never
// reads it (docs/mosk.md#requests-without-a-scope). A missing scope or request is empty, and
// counts as the wider scope, os.
func ScopeOf(s *core.Snapshot, r *core.MaintenanceRequest) core.Scope {
	if r == nil {
		return ""
	}
	return r.Scope
}

// Scopeless is what a node's request without a scope does: the controller has taken nova-compute out of scheduling by then, tries
// again for ever, and writes no text (docs/mosk.md#requests-without-a-scope).
const Scopeless = "its request has no scope: the OpenStack controller fails on it without a word"

// LacksScope tells whether the request has no scope and is not being removed.
func LacksScope(r *core.MaintenanceRequest) bool {
	return r != nil && r.Deleting.IsZero() && r.Scope == ""
}

// InstanceViews are the instances of the node, those that block its lock first, then by name.
func InstanceViews(s *core.Snapshot, node string) []core.InstanceView {
	m := MaintenanceOf(s, node)
	on := s.ByHost[m.Host]
	views := make([]core.InstanceView, 0, len(on))
	for _, in := range on {
		views = append(views, ViewInstance(s, in, m))
	}
	slices.SortStableFunc(views, func(a, b core.InstanceView) int {
		if a.Blocks != b.Blocks {
			if a.Blocks {
				return -1
			}
			return 1
		}
		return byName(a.Instance, b.Instance)
	})
	return views
}

// BlockingInstances are the views of the node's instances that block its lock, in the order of InstanceViews. A full host has fifty
// instances, and those that do not block cost nothing here.
func BlockingInstances(s *core.Snapshot, node string) []core.InstanceView {
	return new(Blocking).On(s, node, nil)
}

// Blocking finds the instances that block locks, of one node after the other. The zero value is ready.
type Blocking struct {
	instances []*core.Instance
	views     []core.InstanceView
}

// On are BlockingInstances of the node. Where these are as in an earlier list, it is that list.
func (b *Blocking) On(s *core.Snapshot, node string, earlier []core.InstanceView) []core.InstanceView {
	m := MaintenanceOf(s, node)
	if !m.Reboot {
		return nil
	}
	b.instances, b.views = b.instances[:0], b.views[:0]
	for _, in := range s.ByHost[m.Host] {
		if action, _ := core.EffectiveAction(in.Tags, m.Mode); in.Host != "" && core.Blocks(in, action) {
			b.instances = append(b.instances, in)
		}
	}
	if !slices.IsSortedFunc(b.instances, byName) {
		slices.SortFunc(b.instances, byName)
	}
	for _, in := range b.instances {
		b.views = append(b.views, ViewInstance(s, in, m))
	}
	if earlier != nil && slices.EqualFunc(earlier, b.views, core.InstanceView.Same) {
		return earlier
	}
	return append(make([]core.InstanceView, 0, len(b.views)), b.views...)
}

func byName(a, b *core.Instance) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
}

// InstanceView is the view of one instance; false when it is not known.
func InstanceView(s *core.Snapshot, id string) (core.InstanceView, bool) {
	in := s.Instances.At(id)
	if in == nil {
		return core.InstanceView{}, false
	}
	name := in.Host
	if n := s.NodeOfHost(in.Host); n != nil {
		name = n.Name
	}
	return ViewInstance(s, in, MaintenanceOf(s, name)), true
}

// ViewInstance is the view of an instance on a host with that maintenance.
func ViewInstance(s *core.Snapshot, in *core.Instance, m HostMaintenance) core.InstanceView {
	v := core.InstanceView{Instance: in, Tags: core.RecognisedTags(in.Tags), Migration: s.LatestMigration(in.ID)}
	v.Action, v.Origin = core.EffectiveAction(in.Tags, m.Mode)
	v.Migrates = m.Reboot && core.Migrates(in, v.Action)
	v.Blocks = m.Reboot && in.Host != "" && core.Blocks(in, v.Action)
	v.Failures, v.Failure = failuresOf(s.Migrations[in.ID], in, m)
	v.Why = whyOf(s, in, v, m)
	return v
}

// failuresOf counts the migrations from the instance's present host that failed since its maintenance began, and tells the
// newest one's text that is known. That there was no room counts until a later try found a host.
func failuresOf(records []*core.Migration, in *core.Instance, m HostMaintenance) (int, string) {
	if m.request == nil {
		return 0, ""
	}
	n, text, placed := 0, "", false
	for _, r := range records { // newest first
		if r.SourceHost != in.Host || r.Created.Before(m.request.Created) {
			continue
		}
		if r.Failed() {
			if text == "" && !(placed && NoValidHost(r.Failure)) { // of the newest one the reason may not have been found yet
				text = r.Failure
			}
			n++
		}
		placed = placed || r.DestHost != "" && r.DestHost != in.Host
	}
	return n, text
}

// NoValidHost tells whether a migration failed because the scheduler found no host (nova.exception.NoValidHost).
func NoValidHost(failure string) bool {
	return strings.Contains(strings.ToLower(failure), "no valid host")
}

// Moving tells whether the instance is on its way off its host.
func Moving(s *core.Snapshot, in *core.Instance) bool {
	if marked(in) {
		return true
	}
	r := s.LatestMigration(in.ID)
	return r != nil && r.Running() && r.SourceHost == in.Host && !LeftRunning(s, in)
}

// LeftRunning tells whether the record of a migration runs for ever: the host that would end it is dead, and the instance itself is not on
// its way any more.
func LeftRunning(s *core.Snapshot, in *core.Instance) bool {
	return in.TaskState == "" && HostDead(s, in.Host)
}

// marked tells whether the instance itself says that it is on its way.
func marked(in *core.Instance) bool { return in.TaskState == "migrating" || in.Status == "MIGRATING" }

// underWay are the instances whose newest migration is under way, by the host that they leave.
type underWay struct {
	of   map[string][]*core.Migration // what this was made of: the Snapshot's Migrations
	from map[string]map[string]bool   // by host and by ID
}

var leaving core.Derivation[underWay]

// leavingOf are the IDs of the instances whose newest migration is under way from the host. Whoever looks at all hosts asks for these, as
// few instances of a cloud migrate at a time: it would cost one look for each instance otherwise.
func leavingOf(s *core.Snapshot, host string) map[string]bool {
	return leaving.After(s, func(s *core.Snapshot, earlier underWay) underWay {
		if core.SameMap(earlier.of, s.Migrations) {
			return earlier
		}
		now := underWay{of: s.Migrations, from: map[string]map[string]bool{}}
		for id := range s.Migrations {
			if r := s.LatestMigration(id); r != nil && r.Running() {
				if now.from[r.SourceHost] == nil {
					now.from[r.SourceHost] = map[string]bool{}
				}
				now.from[r.SourceHost][id] = true
			}
		}
		return now
	}).from[host]
}

// NothingMoves are the statuses in which nothing migrates a running instance, with what has to come first.
var NothingMoves = map[string]string{
	"VERIFY_RESIZE": "confirm or revert its migration first",
	"ERROR":         "stop it, or reset its state and then migrate it",
	"RESCUE":        "end its rescue first",
	"RESIZE":        "wait until the resize is over",
	"REBOOT":        "wait until the reboot is over",
	"HARD_REBOOT":   "wait until the reboot is over",
	"PASSWORD":      "wait until it is over",
	"REBUILD":       "wait until the rebuild is over",
}

// WayOut is what has to come first for an instance that runs in a status in which nobody migrates it; empty for any other.
func WayOut(in *core.Instance) string {
	if in.Status == "ERROR" && in.Power != core.PowerRunning {
		return "stop it, or have its owner repair or delete it" // ACTIVE would not be true of it
	}
	return NothingMoves[in.Status]
}

// whyOf says why the instance holds its node's lock, or why it does not, in operators' words.
func whyOf(s *core.Snapshot, in *core.Instance, v core.InstanceView, m HostMaintenance) string {
	word, safe := core.SafeAsItStands(in)
	failure, givenUp := "", false
	if v.Migrates {
		failure, givenUp = gaveUp(s, v, m)
	}
	switch {
	case in.Host == "":
		return "safe: on no host"
	case holdsRemoval(s, m):
		return removalWhy(s, in)
	case safe && in.TaskState != "":
		return fmt.Sprintf("safe: %s, but busy: %s", word, in.TaskState)
	case safe:
		return "safe: " + word
	case !m.Reboot:
		return "safe: the host does not reboot (scope drain)"
	case Moving(s, in):
		return "moves: " + MovingText(s, in)
	case in.Status == "VERIFY_RESIZE" && in.TaskState == "" && v.Action != core.ActionPowerOff:
		return "waits for a decision: confirm or revert its migration (VERIFY_RESIZE)"
	case v.Action == core.ActionPowerOff && v.Origin == core.OriginTag:
		return "safe: poweroff, goes down with the host and comes back"
	case v.Action == core.ActionPowerOff:
		return "safe: skip, goes down with the host and comes back"
	case v.Action == core.ActionUnknown:
		return fmt.Sprintf("the controller does not know the node's mode %q", wording.OneLine(string(m.Mode), 40))
	case v.Action == core.ActionNotify && v.Origin == core.OriginTag:
		return "notify: its owner decides (project " + s.Project(in.ProjectID) + ")"
	case in.TaskState != "":
		return "busy: " + in.TaskState
	case v.Action == core.ActionNotify && in.Status != "ACTIVE" && in.Status != "PAUSED":
		return fmt.Sprintf("%s, and cannot be live-migrated: status %s%s", in.PowerWord(), in.Status, wording.Dashed(WayOut(in)))
	case v.Action == core.ActionNotify:
		return "manual: the operator moves it"
	case !v.Migrates:
		return fmt.Sprintf("%s, and nothing moves it: status %s%s", in.PowerWord(), in.Status, wording.Dashed(WayOut(in)))
	case givenUp && v.Failures > 0:
		return "live migration failed " + wording.Times(v.Failures) + ", and the OpenStack controller tries again every minute" +
			wording.Because(wording.OneLine(v.Failure, wording.MostRead))
	case givenUp:
		return "the OpenStack controller could not move it, and tries again every minute" + wording.Because(failure)
	case LacksScope(m.request):
		return in.PowerWord() + ", and nothing moves it: the request of its node has no scope"
	case v.Failures > 0:
		return fmt.Sprintf("live migration failed %s%s", wording.Times(v.Failures), wording.Because(wording.OneLine(v.Failure, wording.MostRead)))
	case m.request == nil:
		return in.PowerWord() + ": live-migrated in its node's next maintenance"
	}
	if PlaysOn(s, core.ControllerOpenStack, m.name) {
		return in.PowerWord() + ": it is live-migrated first"
	}
	return in.PowerWord() + ": the OpenStack controller live-migrates it"
}

// MovingText is how the instance's migration goes: "to cmp-09, 81 %".
func MovingText(s *core.Snapshot, in *core.Instance) string {
	r := s.LatestMigration(in.ID)
	if r == nil || !r.Running() {
		if in.TaskState != "" {
			return in.TaskState
		}
		return strings.ToLower(in.Status)
	}
	parts := []string{r.Status}
	if r.DestHost != "" {
		dest := r.DestHost
		if n := s.NodeOfHost(dest); n != nil {
			dest = n.Label()
		}
		parts = append(parts, "to "+dest)
	}
	if p := r.Percent(); p >= 0 {
		parts = append(parts, wording.Itoa(p)+" %")
	}
	return strings.Join(parts, ", ")
}

// hostCount counts what is on a host. It is done for every host in every Snapshot, so it makes no texts.
type hostCount struct {
	all, blocking, migrating, movable int
	inVain                            bool                           // the controller has tried each one often enough, and tries again
	byAction                          map[core.MaintenanceAction]int // of those that block
	manual                            int                            // of those to be notified of, because the node is manual
	stranded                          map[string]int                 // of those to be live-migrated, by a status in which nothing is
	since                             time.Time                      // the oldest running migration's beginning
}

func countOn(s *core.Snapshot, m HostMaintenance) hostCount {
	c, leaving := hostCount{}, leavingOf(s, m.Host)
	var v vain
	for _, in := range s.ByHost[m.Host] {
		c.all++
		moves := marked(in) || leaving[in.ID] && !LeftRunning(s, in)
		if moves {
			c.migrating++
			if r := s.LatestMigration(in.ID); r != nil && r.Running() && (c.since.IsZero() || r.Created.Before(c.since)) {
				c.since = r.Created
			}
		}
		if !m.Reboot {
			continue
		}
		action, origin := core.EffectiveAction(in.Tags, m.Mode)
		if core.Blocks(in, action) {
			c.blocking++
			if action == core.ActionNotify && origin != core.OriginTag {
				c.manual++
			}
			if c.byAction == nil {
				c.byAction = map[core.MaintenanceAction]int{}
			}
			c.byAction[action]++
			if action == core.ActionLiveMigrate && in.Status != "ACTIVE" && in.Status != "PAUSED" && in.Status != "MIGRATING" {
				if c.stranded == nil {
					c.stranded = map[string]int{}
				}
				c.stranded[wording.OneLine(in.Status, 30)]++
			}
		}
		if core.Migrates(in, action) {
			c.movable++
		}
		v.count(s, in, m, action, moves)
	}
	c.inVain = v.of(s, m, c.migrating)
	return c
}

// vain finds a host that nothing more leaves by itself: each instance that the controller moves has failed as often as the controller tries
// before it gives up, and none that had failed as often has left the host since. The controller begins anew with them every 60 s
// (docs/mosk.md#migration-loop). All of it is in Nova's records, so it does not matter since when somebody looks. A try that Nova refuses
// leaves no record there: of such instances only an earlier look tells.
type vain struct {
	given, spent, moving int       // instances for the controller to move; those that used up its attempts; of these those that it may move
	failed               time.Time // the earliest of their newest failures
}

func (v *vain) count(s *core.Snapshot, in *core.Instance, m HostMaintenance, action core.MaintenanceAction, moves bool) {
	if m.request == nil || action != core.ActionLiveMigrate || !core.Migrates(in, action) && !moves {
		return
	}
	v.given++
	failed, spent := usedUp(s.Migrations[in.ID], m)
	if !spent {
		return
	}
	v.spent++
	if r := s.LatestMigration(in.ID); moves && (marked(in) || r.Type == core.MigrationLive || r.Type == "") {
		v.moving++
	}
	if v.failed.IsZero() || failed.Before(v.failed) {
		v.failed = failed
	}
}

// usedUp tells whether so many of an instance's migrations from the host have failed since its maintenance began as the controller tries,
// and when the newest one did.
func usedUp(records []*core.Migration, m HostMaintenance) (newest time.Time, spent bool) {
	n := 0
	for _, r := range records { // newest first
		if r.SourceHost != m.Host || r.Created.Before(m.request.Created) || !r.Failed() {
			continue
		}
		if n++; n == 1 {
			newest = r.Updated
		}
	}
	return newest, n > 0 && n >= m.Attempts
}

func (v *vain) of(s *core.Snapshot, m HostMaintenance, migrating int) bool {
	if v.given == 0 || v.spent < v.given || v.moving < migrating {
		return false
	}
	for id, records := range s.Migrations {
		left := slices.IndexFunc(records, func(r *core.Migration) bool { return r.SourceHost == m.Host && !r.Failed() && !r.Running() })
		if left < 0 || !records[left].Created.After(v.failed) {
			continue
		}
		if in := s.Instances.At(id); in == nil || in.Host == m.Host {
			continue
		}
		if _, spent := usedUp(records, m); spent {
			return false
		}
	}
	return true
}

// HostLabel is what people call the node of a host.
func HostLabel(s *core.Snapshot, host string) string {
	if n := s.NodeOfHost(host); n != nil {
		return n.Label()
	}
	return host
}
