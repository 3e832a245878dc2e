package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// hostMaintenance is what a node says about the instances on it.
type hostMaintenance struct {
	node        *Node
	name        string // the node's
	host        string // by which OpenStack knows it
	mode        MigrationMode
	modeSet     bool
	attempts    int
	attemptsRaw string
	request     *MaintenanceRequest // nil when nothing is asked of the node
	reboot      bool                // the host may reboot: only then does Rockoon look at instances
	compute     bool
}

func (s *Snapshot) maintenanceOf(name string) hostMaintenance {
	m := hostMaintenance{node: s.Nodes[name], name: name, host: s.HostOf(name), mode: ModeLive, attempts: DefaultMigrationAttempts,
		request: s.NodeRequest(name), compute: true}
	if m.node != nil {
		if v, ok := m.node.Annotations[AnnotationMigrationMode]; ok {
			m.mode, m.modeSet = MigrationMode(v), true
		}
		if v, ok := m.node.Annotations[AnnotationMigrationAttempts]; ok {
			m.attemptsRaw = v
			if n, err := strconv.Atoi(strings.TrimSpace(v)); err == nil {
				m.attempts = n
			}
		}
		m.compute = m.node.Is(RoleCompute)
	}
	m.reboot = s.scopeOf(m.request) != ScopeDrain
	return m
}

// scopeOf is the scope of a node's request. That of the cluster's request counts for no node: the OpenStack controller never
// reads it (docs/mosk.md#requests-without-a-scope). A scope that nobody says, or a request that is not there yet, is taken for the wider one: empty.
func (s *Snapshot) scopeOf(r *MaintenanceRequest) Scope {
	if r == nil {
		return ""
	}
	return r.Scope
}

// scopeless is what a node's request without a scope does: the controller has taken nova-compute out of scheduling by then, tries
// again for ever, and writes no text (docs/mosk.md#requests-without-a-scope).
const scopeless = "its request has no scope: the OpenStack controller fails on it without a word"

// lacksScope tells whether a node is asked for by a request that has no scope.
func lacksScope(r *MaintenanceRequest) bool { return r != nil && r.Deleting.IsZero() && r.Scope == "" }

// InstanceViews are the instances of the node, those that block its lock first, then by name.
func (s *Snapshot) InstanceViews(node string) []InstanceView {
	m := s.maintenanceOf(node)
	on := s.ByHost[m.host]
	views := make([]InstanceView, 0, len(on))
	for _, in := range on {
		views = append(views, s.viewInstance(in, m))
	}
	slices.SortStableFunc(views, func(a, b InstanceView) int {
		if a.Blocks != b.Blocks {
			if a.Blocks {
				return -1
			}
			return 1
		}
		if c := strings.Compare(a.Instance.Name, b.Instance.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Instance.ID, b.Instance.ID)
	})
	return views
}

// InstanceView is the view of one instance; false when it is not known.
func (s *Snapshot) InstanceView(id string) (InstanceView, bool) {
	in := s.Instances[id]
	if in == nil {
		return InstanceView{}, false
	}
	name := in.Host
	if n := s.NodeOfHost(in.Host); n != nil {
		name = n.Name
	}
	return s.viewInstance(in, s.maintenanceOf(name)), true
}

func (s *Snapshot) viewInstance(in *Instance, m hostMaintenance) InstanceView {
	v := InstanceView{Instance: in, Tags: recognisedTags(in.Tags), Migration: s.LatestMigration(in.ID)}
	v.Action, v.Origin = EffectiveAction(in.Tags, m.mode)
	v.Migrates = m.reboot && migrates(in, v.Action)
	v.Blocks = m.reboot && in.Host != "" && blocks(in, v.Action)
	v.Failures, v.Failure = failuresOf(s.Migrations[in.ID], in, m)
	v.Why = s.whyOf(in, v, m)
	return v
}

// failuresOf counts the migrations from the instance's present host that failed since its maintenance began, and tells the
// newest one's text that is known.
func failuresOf(records []*Migration, in *Instance, m hostMaintenance) (int, string) {
	if m.request == nil {
		return 0, ""
	}
	n, text := 0, ""
	for _, r := range records { // newest first
		if r.SourceHost != in.Host || !r.Failed() || r.Created.Before(m.request.Created) {
			continue
		}
		if text == "" { // of the newest one the reason may not have been found yet
			text = r.Failure
		}
		n++
	}
	return n, text
}

// moving tells whether the instance is on its way off its host.
func (s *Snapshot) moving(in *Instance) bool {
	if in.TaskState == "migrating" || in.Status == "MIGRATING" {
		return true
	}
	r := s.LatestMigration(in.ID)
	return r != nil && r.Running() && r.SourceHost == in.Host
}

// nothingMoves is what has to come first for the states in which a running instance is migrated by nobody.
var nothingMoves = map[string]string{
	"VERIFY_RESIZE": "confirm or revert its migration first",
	"ERROR":         "stop it, or reset its state and then migrate it",
	"RESCUE":        "end its rescue first",
	"RESIZE":        "wait until the resize is over",
	"REBOOT":        "wait until the reboot is over",
	"HARD_REBOOT":   "wait until the reboot is over",
	"PASSWORD":      "wait until it is over",
	"REBUILD":       "wait until the rebuild is over",
}

// wayOut is what has to come first for an instance that runs in a status in which nobody migrates it; empty for any other.
func wayOut(in *Instance) string {
	if in.Status == "ERROR" && in.Power != PowerRunning {
		return "stop it, or have its owner repair or delete it" // ACTIVE would not be true of it
	}
	return nothingMoves[in.Status]
}

// whyOf says why the instance holds its node's lock, or why it does not, in operators' words.
func (s *Snapshot) whyOf(in *Instance, v InstanceView, m hostMaintenance) string {
	word, safe := safeAsItStands(in)
	failure, givenUp := "", false
	if v.Migrates {
		failure, givenUp = s.gaveUp(v, m)
	}
	switch {
	case in.Host == "":
		return "safe: on no host"
	case s.holdsRemoval(m):
		return s.removalWhy(in)
	case safe && in.TaskState != "":
		return fmt.Sprintf("safe: %s, but busy: %s", word, in.TaskState)
	case safe:
		return "safe: " + word
	case !m.reboot:
		return "safe: the host does not reboot (scope drain)"
	case s.moving(in):
		return "moves: " + s.movingText(in)
	case in.Status == "VERIFY_RESIZE" && in.TaskState == "" && v.Action != ActionPowerOff:
		return "waits for a decision: confirm or revert its migration (VERIFY_RESIZE)"
	case v.Action == ActionPowerOff && v.Origin == OriginTag:
		return "safe: poweroff, goes down with the host and comes back"
	case v.Action == ActionPowerOff:
		return "safe: skip, goes down with the host and comes back"
	case v.Action == ActionUnknown:
		return fmt.Sprintf("the node's mode %q is none that the controller knows", oneLine(string(m.mode), 40))
	case v.Action == ActionNotify && v.Origin == OriginTag:
		return "notify: its owner decides (project " + s.Project(in.ProjectID) + ")"
	case in.TaskState != "":
		return "busy: " + in.TaskState
	case v.Action == ActionNotify && in.Status != "ACTIVE" && in.Status != "PAUSED":
		return fmt.Sprintf("%s, and cannot be live-migrated: status %s%s", in.powerWord(), in.Status, dashed(wayOut(in)))
	case v.Action == ActionNotify:
		return "manual: the operator moves it"
	case !v.Migrates:
		return fmt.Sprintf("%s, and nothing moves it: status %s%s", in.powerWord(), in.Status, dashed(wayOut(in)))
	case givenUp && v.Failures > 0:
		return "live migration failed " + times(v.Failures) + ", and the OpenStack controller tries again every minute" +
			because(oneLine(v.Failure, mostRead))
	case givenUp:
		return "the OpenStack controller could not move it, and tries again every minute" + because(failure)
	case v.Failures > 0:
		return fmt.Sprintf("live migration failed %s%s", times(v.Failures), because(oneLine(v.Failure, mostRead)))
	case m.request == nil:
		return in.powerWord() + ": live-migrated in its node's next maintenance"
	}
	if s.playsOn(ControllerOpenStack, m.name) {
		return in.powerWord() + ": it is live-migrated first"
	}
	return in.powerWord() + ": the OpenStack controller live-migrates it"
}

// powerWord says of an instance that the blocking check does not leave out whether its guest runs: one of whose power Nova knows nothing
// holds its node as one that runs (docs/mosk.md#tags).
func (in *Instance) powerWord() string {
	switch in.Power {
	case PowerRunning:
		return "runs"
	case PowerPaused:
		return "is paused"
	}
	return "has no power"
}

func dashed(text string) string {
	if text == "" {
		return ""
	}
	return " — " + text
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return itoa(n) + " times"
}

// movingText is how the instance's migration goes: "to cmp-09, 81 %".
func (s *Snapshot) movingText(in *Instance) string {
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
		parts = append(parts, itoa(p)+" %")
	}
	return strings.Join(parts, ", ")
}

// hostCount counts what is on a host. It is done for every host in every Snapshot, so it makes no texts.
type hostCount struct {
	all, blocking, migrating, movable int
	byAction                          map[MaintenanceAction]int // of those that block
	manual                            int                       // of those to be notified of, because the node is manual
	stranded                          map[string]int            // of those to be live-migrated, by a status in which nothing is
	since                             time.Time                 // the oldest running migration's beginning
}

func (s *Snapshot) countOn(m hostMaintenance) hostCount {
	c := hostCount{}
	for _, in := range s.ByHost[m.host] {
		c.all++
		if s.moving(in) {
			c.migrating++
			if r := s.LatestMigration(in.ID); r != nil && r.Running() && (c.since.IsZero() || r.Created.Before(c.since)) {
				c.since = r.Created
			}
		}
		if !m.reboot {
			continue
		}
		action, origin := EffectiveAction(in.Tags, m.mode)
		if blocks(in, action) {
			c.blocking++
			if action == ActionNotify && origin != OriginTag {
				c.manual++
			}
			if c.byAction == nil {
				c.byAction = map[MaintenanceAction]int{}
			}
			c.byAction[action]++
			if action == ActionLiveMigrate && in.Status != "ACTIVE" && in.Status != "PAUSED" && in.Status != "MIGRATING" {
				if c.stranded == nil {
					c.stranded = map[string]int{}
				}
				c.stranded[oneLine(in.Status, 30)]++
			}
		}
		if migrates(in, action) {
			c.movable++
		}
	}
	return c
}
