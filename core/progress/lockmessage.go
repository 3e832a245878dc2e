package progress

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// MessageClass is what the text of a lock's errorMessage means for the operator.
type MessageClass string

// The classes.
const (
	MessageNone       MessageClass = ""           // no text
	MessageWaiting    MessageClass = "waiting"    // the controller waits for something that comes by itself
	MessageProgress   MessageClass = "progress"   // it works
	MessageActionable MessageClass = "actionable" // it needs a person
	MessageOutage     MessageClass = "outage"     // an API is away; it retries
	MessageUnknown    MessageClass = "unknown"    // a text that the documents do not list: read it
)

// MessageID is a row of the table of texts that the OpenStack controller writes (docs/mosk.md#texts), by its letter there; empty for a
// text that is not in the table. The constants are named after what the texts say.
type MessageID string

// The texts.
const (
	SaysOtherRelease MessageID = "A" // both: the request is for another release than the controller's
	// on the cluster's lock, as are the next three: the controller of the new release has not taken it up
	SaysLockNotTakenUp       MessageID = "B"
	SaysDeploymentNotTakenUp MessageID = "C" // it has not taken the OpenStack deployment up
	SaysNotApplied           MessageID = "D" // OpenStack's services are being updated
	SaysNotHealthy           MessageID = "E" // a service of OpenStack is not healthy
	SaysOthersFirst          MessageID = "F" // on a node's lock, as are all that follow: as many nodes as may be are under way
	SaysServicesNeedNode     MessageID = "G" // services cannot do without the node
	SaysInstancesMove        MessageID = "H" // live migrations are under way
	SaysMigrationRefused     MessageID = "I" // Nova refused a migration
	SaysLeftToOperator       MessageID = "J" // instances are left that the controller does not move
	SaysMigrationOutage      MessageID = "K" // OpenStack did not answer while instances were moved
	SaysComputeNotDisabled   MessageID = "L" // nova-compute could not be disabled
	SaysComputeStaysDown     MessageID = "M" // nova-compute did not come up
	SaysComputeOutage        MessageID = "N" // OpenStack did not answer while nova-compute was awaited
	SaysSchedulingOutage     MessageID = "O" // OpenStack did not answer when the host was to be enabled for scheduling
	SaysAgentsStayDown       MessageID = "P" // the network agents did not come up
	SaysAgentsOutage         MessageID = "Q" // Neutron did not answer while the agents were awaited
	SaysVolumeServiceNotSet  MessageID = "R" // cinder-volume could be neither disabled nor enabled
	SaysInstancesHoldRemoval MessageID = "S" // instances hold the removal of the node
	SaysVolumesHoldRemoval   MessageID = "T" // volumes hold the removal of the node
	SaysQuorumHoldsCleanup   MessageID = "U" // a StatefulSet holds the cleanup behind a node that is gone
)

// AwaitsAgents tells whether the text says that the node's network agents are awaited.
func (id MessageID) AwaitsAgents() bool { return id == SaysAgentsStayDown || id == SaysAgentsOutage }

// AwaitsRelease tells whether the text says that a controller, or what it takes up, is not at the release yet.
func (id MessageID) AwaitsRelease() bool {
	return id == SaysOtherRelease || id == SaysLockNotTakenUp || id == SaysDeploymentNotTakenUp
}

// LockMessage is an errorMessage, read by the table of literals (docs/mosk.md#texts).
type LockMessage struct {
	Raw       string
	ID        MessageID    // the row of the table; empty when unknown or none
	Name      string       // the situation that it describes, in a few words: "others come first"; empty when unknown or none
	Class     MessageClass // what it means
	Text      string       // the text without its timestamp
	At        time.Time    // its timestamp, UTC; zero when it has none
	Meaning   string       // one plain sentence
	Remedy    string       // what to do or to wait for; may be empty
	Notify    []string     // instance IDs whose owners are to be notified
	Unset     []string     // instance IDs with no action that moves them
	Instances []string     // all instance IDs named in it, those of Notify and Unset among them
	Blockers  []string     // services that block (SaysServicesNeedNode), sorted

	TellsRetry bool   // Meaning says when the controller tries again, by its bookkeeping
	happened   string // Meaning without when it tries again; empty where it does not say that
}

// blockersRemedy is what to do about the services that text G names: those that need a quorum wait for their pods, compute for
// the computes of other zones (docs/mosk.md#services).
func blockersRemedy(services []string) string {
	var parts, sets []string
	for _, name := range services {
		if _, quorum := QuorumNamed(name); quorum {
			sets = append(sets, name)
		}
	}
	if len(sets) > 0 {
		parts = append(parts, wording.Some(sets, 4)+
			": a StatefulSet would lose its quorum with the node; mend the pod that is not ready, or wait until it is")
	}
	if slices.Contains(services, "compute") {
		parts = append(parts,
			"compute: wait until no compute of another availability zone is in maintenance, or let zones go together by respect_nova_az = False")
	}
	return wording.TextOf(strings.Join(parts, "; "), "wait; when it lasts, look at the pods of these services")
}

// maxMessageRead is how much of an errorMessage is read, in bytes. Nothing that a controller says needs more; a text of
// megabytes is shown cut.
const maxMessageRead = 64 << 10

// Literal is one row of the table of texts that the OpenStack controller writes (docs/mosk.md#texts).
type Literal struct {
	ID      MessageID
	Name    string         // the situation, in a few words
	Pattern *regexp.Regexp // on the text without its timestamp
	begin   string         // what each text begins with that the pattern matches; by beginnings
	plain   bool           // and the pattern asks for no more
	class   MessageClass
	Meaning string
	retried bool // a try failed, and the text does not say when the next one is
	remedy  string
	read    func(m *LockMessage, groups []string) // takes lists out of the text; may be nil
}

// Remedy is what to do or to wait for, where the text itself does not say more; may be empty.
func (l Literal) Remedy() string { return l.remedy }

// triesAgainSoon ends what a text of a failed try means, where nothing says when the next one is (docs/mosk.md#retries).
const triesAgainSoon = "; the controller tries again within 60 s"

// failed gives a text the meaning of a failed try.
func (m *LockMessage) failed(happened string) {
	m.happened, m.Meaning = happened, happened+triesAgainSoon
}

// Literals are tried in order; the first that matches counts. More than one text can carry a letter: older releases worded
// some of them differently.
var Literals = beginnings([]Literal{
	{ID: SaysMigrationOutage, Name: "OpenStack does not answer",
		Pattern: regexp.MustCompile(`^Retrying migrate instances from host\. Cannot execute openstack commands`), class: MessageOutage,
		Meaning: "the OpenStack API did not answer while instances were being moved", retried: true,
		remedy: "wait; when it lasts, look at Keystone and Nova"},
	{ID: SaysComputeOutage, Name: "OpenStack does not answer",
		Pattern: regexp.MustCompile(`^Got error while waiting services to be UP on the host\. Cannot execute openstack commands`),
		class:   MessageOutage,
		Meaning: "the OpenStack API did not answer while the host's compute services were awaited", retried: true,
		remedy: "wait; when it lasts, look at Keystone and Nova"},
	{ID: SaysSchedulingOutage, Name: "OpenStack does not answer",
		Pattern: regexp.MustCompile(`^Can not bring node back to scheduling\. Cannot execute openstack commands`), class: MessageOutage,
		Meaning: "the OpenStack API did not answer when the host was to be enabled for scheduling", retried: true,
		remedy: "wait; when it lasts, look at Keystone and Nova"},
	{ID: SaysAgentsOutage, Name: "Neutron does not answer",
		Pattern: regexp.MustCompile(`^Got error while waiting for network agents\. Cannot execute openstack commands`), class: MessageOutage,
		Meaning: "the Neutron API did not answer while the host's agents were awaited", retried: true,
		remedy: "wait; when it lasts, look at Keystone and Neutron"},
	{Name: "OpenStack does not answer", Pattern: regexp.MustCompile(`Cannot execute openstack commands`), class: MessageOutage,
		Meaning: "an OpenStack API did not answer", retried: true,
		remedy: "wait; when it lasts, look at Keystone, Nova and Neutron"},

	{ID: SaysOtherRelease, Name: "another release",
		Pattern: regexp.MustCompile(`^Current maintenancerequest (.*?) release does not match ours (.*?)\. Skipping handling`),
		class:   MessageWaiting,
		Meaning: "the OpenStack controller is not at the release that the request is for",
		remedy:  "wait until the controller is updated; when it lasts, look at the Deployment rockoon in osh-system and its Helm bundle",
		read: func(m *LockMessage, g []string) {
			m.Meaning = "the OpenStack controller is at " + wording.OneLine(g[2], 60) + ", the request is for " + wording.OneLine(g[1], 60)
		}},
	{ID: SaysLockNotTakenUp, Name: "the lock is not taken up yet", Pattern: regexp.MustCompile(`^Waiting(?:ing)? for cwl release is`),
		class:   MessageWaiting,
		Meaning: "the cluster lock was not yet taken up by the controller of the new release",
		remedy:  "wait; when it lasts, look at the Deployment rockoon in osh-system"},
	{ID: SaysDeploymentNotTakenUp, Name: "the deployment is not taken up yet",
		Pattern: regexp.MustCompile(`^OpenStackDeploymentStatus controller version is not updated yet`), class: MessageWaiting,
		Meaning: "the new OpenStack controller has not taken the deployment up yet",
		remedy:  "wait; when it lasts, look at osdplst and the controller's logs"},
	{ID: SaysNotApplied, Name: "OpenStack is being updated", Pattern: regexp.MustCompile(`^Waiting osdpl status APPLIED, current state is`),
		class:   MessageWaiting,
		Meaning: "OpenStack's services are being updated",
		remedy:  "wait; when it lasts, look for a failing Helm release or job: kubectl -n openstack get osdplst -o yaml"},
	{ID: SaysNotHealthy, Name: "OpenStack is not healthy",
		Pattern: regexp.MustCompile(`^Waiting for all OpenStack services are healthy|^Services are not healthy`), class: MessageWaiting,
		Meaning: "all OpenStack services have to be healthy first",
		remedy:  "wait up to 20 minutes a service; when it lasts, look at the pods that are not ready"},
	{ID: SaysOthersFirst, Name: "others come first",
		Pattern: regexp.MustCompile(`^Number of inactive NodeWorkloadLocks exceeds allowed concurrency`), class: MessageWaiting,
		Meaning: "as many nodes as the controller allows are in maintenance already; one role that is full holds up all nodes",
		remedy:  "wait for the nodes before it; when none is under way, a lock's inner_state was left active"},
	{ID: SaysServicesNeedNode, Name: "services need the node", Pattern: regexp.MustCompile(`^Some services blocks nmr handling`),
		class: MessageWaiting, Meaning: "some services cannot do without the node now",
		remedy: "wait; when it lasts, look at the pods of the services that are False",
		read: func(m *LockMessage, _ []string) {
			m.Blockers = wording.PythonFalse(m.Text)
			if len(m.Blockers) > 0 {
				m.Meaning = "these cannot do without the node now: " + wording.Some(m.Blockers, 8)
				m.Remedy = blockersRemedy(m.Blockers)
			}
		}},
	{ID: SaysInstancesMove, Name: "instances are moving", Pattern: regexp.MustCompile(`^Starting migration for (\S+)`),
		class: MessageProgress, Meaning: "a live migration was started",
		read: func(m *LockMessage, g []string) {
			m.Instances = wording.AddNew(m.Instances, strings.Trim(g[1], `'".,`))
		}},
	{ID: SaysInstancesMove, Name: "instances are moving", Pattern: regexp.MustCompile(`^Waiting servers migration is completed`),
		class: MessageProgress, Meaning: "live migrations are under way",
		read: func(m *LockMessage, _ []string) {
			m.Instances = wording.AddNew(m.Instances, wording.PythonList(m.Text)...)
		}},
	{ID: SaysMigrationRefused, Name: "a migration was refused",
		Pattern: regexp.MustCompile(`^Got error while trying to migrate server (\S+?): `), class: MessageProgress,
		Meaning: "Nova refused to migrate an instance; the controller goes on, and tries again as often as the node allows",
		remedy:  "watch whether the next try succeeds; else move the instance by hand",
		read:    func(m *LockMessage, g []string) { m.Instances = wording.AddNew(m.Instances, g[1]) }},
	{ID: SaysLeftToOperator, Name: "left to the operator", Pattern: regexp.MustCompile(`^Some servers are still present on the host`),
		class:   MessageActionable,
		Meaning: "instances are left that the controller does not move",
		remedy:  "move, stop or shelve them, or declare the node safe",
		read: func(m *LockMessage, _ []string) {
			if _, list, ok := strings.Cut(m.Text, "Notify owners of the following server"); ok {
				m.Notify = wording.AddNew(nil, wording.PythonList(list)...)
			}
			if _, list, ok := strings.Cut(m.Text, "Servers with unset maintenance action"); ok {
				m.Unset = wording.AddNew(nil, wording.PythonList(list)...)
			}
			m.Instances = wording.AddNew(wording.AddNew(m.Instances, m.Notify...), m.Unset...)
		}},
	{ID: SaysInstancesHoldRemoval, Name: "the removal is held",
		Pattern: regexp.MustCompile(`^Some servers (.*?) are still present on host (\S+)\. Blocking node removal`), class: MessageActionable,
		Meaning: "the node is to be removed, and instances are left on it",
		remedy:  "move or delete them",
		read: func(m *LockMessage, g []string) {
			m.Instances = wording.AddNew(m.Instances, wording.PythonKeys(g[1])...)
		}},
	// Before MOSK 25.1 (docs/mosk.md#texts).
	{ID: SaysLeftToOperator, Name: "left to the operator", Pattern: regexp.MustCompile(`^Some servers (.*?) are still present on host`),
		class:   MessageActionable,
		Meaning: "instances are left that the controller does not move",
		remedy:  "move, stop or shelve them, or declare the node safe",
		read: func(m *LockMessage, g []string) {
			m.Instances = wording.AddNew(m.Instances, wording.PythonList(g[1])...)
		}},
	{ID: SaysComputeNotDisabled, Name: "nova-compute cannot be disabled",
		Pattern: regexp.MustCompile(`^Can not disable compute service on a host to be deleted`), class: MessageOutage,
		Meaning: "Nova did not answer when nova-compute was to be disabled (the text speaks of deletion during updates too)", retried: true,
		remedy: "wait; when it lasts, look at Keystone and Nova"},
	{ID: SaysComputeStaysDown, Name: "nova-compute stays down",
		Pattern: regexp.MustCompile(`^Timeout waiting for compute services up on the host`), class: MessageActionable,
		Meaning: "nova-compute did not come up within 5 minutes", retried: true,
		remedy: "look at the nova-compute pod of the node, at RabbitMQ, and restart the pod"},
	{ID: SaysAgentsStayDown, Name: "network agents stay down", Pattern: regexp.MustCompile(`^Timeout waiting for network agents on the host`),
		class:   MessageActionable,
		Meaning: "the network agents did not come up within 5 minutes", retried: true,
		remedy: "look at the agents' pods on the node, at RabbitMQ, and restart the pods"},
	{ID: SaysVolumeServiceNotSet, Name: "cinder-volume cannot be set",
		Pattern: regexp.MustCompile(`^Can not disable block-storage service on a host to be deleted`), class: MessageOutage,
		Meaning: "Cinder did not answer when cinder-volume was to be disabled (the text speaks of deletion during updates too)", retried: true,
		remedy: "wait; when it lasts, look at Keystone and Cinder"},
	{ID: SaysVolumeServiceNotSet, Name: "cinder-volume cannot be set",
		Pattern: regexp.MustCompile(`^Can not enable block-storage service on the host`), class: MessageActionable,
		Meaning: "cinder-volume could not be enabled", retried: true,
		remedy: "look at the cinder-volume service of the host"},
	{ID: SaysVolumesHoldRemoval, Name: "the removal is held", Pattern: regexp.MustCompile(`^Some volumes .* are still present on host`),
		class:   MessageActionable,
		Meaning: "the node is to be removed, and volumes are left on it",
		remedy:  "move or delete the volumes"},
	{ID: SaysQuorumHoldsCleanup, Name: "a quorum needs the node",
		Pattern: regexp.MustCompile(`^The node (\S+) is hard locked by (\S+?)\.?(\s|$)`), class: MessageActionable,
		Meaning: "a StatefulSet cannot do without the node",
		remedy:  "repair the StatefulSet until all its other pods are ready",
		read: func(m *LockMessage, g []string) {
			m.Blockers = []string{g[2]}
			m.Meaning = "the StatefulSet of " + wording.OneLine(g[2], 60) + " cannot do without the node"
		}},
})

// beginnings fills in what the patterns say themselves of how a text begins. To compare it costs less than a try of the pattern,
// and texts are read again with every Snapshot.
func beginnings(all []Literal) []Literal {
	for i := range all {
		parsed, err := syntax.Parse(all[i].Pattern.String(), syntax.Perl)
		if err != nil || parsed.Op != syntax.OpConcat || len(parsed.Sub) < 2 || parsed.Sub[0].Op != syntax.OpBeginText {
			continue
		}
		if first := parsed.Sub[1]; first.Op == syntax.OpLiteral && first.Flags&syntax.FoldCase == 0 {
			all[i].begin, all[i].plain = string(first.Rune), len(parsed.Sub) == 2
		}
	}
	return all
}

// match is what the pattern finds in a text, nil for nothing.
func (l Literal) match(text string) []string {
	switch {
	case !strings.HasPrefix(text, l.begin):
		return nil
	case l.plain:
		return []string{l.begin}
	}
	return l.Pattern.FindStringSubmatch(text)
}

// judge is a lock's text with what Lockstep knows beside it. Text L comes of any error of the OpenStack API, so it is an outage; where
// Nova has answered Lockstep since before the text, it is this one service that cannot be disabled. The first text of R is the same for
// Cinder (docs/mosk.md#text-l).
func judge(s *core.Snapshot, m LockMessage) LockMessage {
	if m.ID == SaysComputeNotDisabled && answersSince(s, core.SourceComputeServices, m.At) {
		m.Class = MessageActionable
		m.failed("nova-compute could not be disabled (the text speaks of deletion during updates too)")
		m.Remedy = "look at the compute service of the host, and disable it by hand when the controller keeps failing"
	}
	if m.ID == SaysVolumeServiceNotSet && m.Class == MessageOutage && answersSince(s, core.SourceVolumeServices, m.At) {
		m.Class = MessageActionable
		m.failed("cinder-volume could not be disabled (the text speaks of deletion during updates too)")
		m.Remedy = "look at the cinder-volume service of the host"
	}
	return m
}

// ReadLock is what a lock's text means now.
func ReadLock(s *core.Snapshot, l *core.WorkloadLock) LockMessage {
	return JudgeOn(s, l, ReadLockMessage(l.Message))
}

// JudgeOn is judge for the text of a lock: when the controller tries again is what its bookkeeping says, where it does.
func JudgeOn(s *core.Snapshot, l *core.WorkloadLock, m LockMessage) LockMessage {
	m = judge(s, m)
	if m.happened != "" {
		switch a := AccountOf(s, l); a.State {
		case AccountRetries, AccountWorks, AccountGaveUp:
			m.Meaning, m.TellsRetry = m.happened+"; the controller "+AccountText(s, a, !a.OnLock(m)), true
		}
	}
	return m
}

// answersSince tells whether a source is live, and has been since the moment; one that is zero is long ago, or not known.
func answersSince(s *core.Snapshot, id core.SourceID, at time.Time) bool {
	src := s.Sources[id]
	return src.State == core.SourceLive && (at.IsZero() || !s.OfWall(src.Since).After(at))
}

// stamp is how Rockoon begins an errorMessage: the time in UTC, without a zone.
var stamp = regexp.MustCompile(`^\s*(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,9})?)\s+`)

// ReadLockMessage reads an errorMessage by the table of literals. It never fails: a text that is not in the table is
// MessageUnknown, and shown as written.
func ReadLockMessage(text string) LockMessage {
	if text == "" {
		return LockMessage{}
	}
	return textsRead.message(text, readLockMessage)
}

func readLockMessage(text string) LockMessage {
	m := LockMessage{Raw: text}
	read := text
	if len(read) > maxMessageRead {
		read = wording.Clip(read, maxMessageRead)
	}
	if g := stamp.FindStringSubmatchIndex(read); g != nil {
		raw := strings.Replace(read[g[2]:g[3]], "T", " ", 1)
		if at, err := time.Parse("2006-01-02 15:04:05", raw); err == nil {
			m.At = at
			read = read[g[1]:]
		}
	}
	m.Text = strings.TrimSpace(read)
	if m.Text == "" {
		return m
	}
	m.Class = MessageUnknown
	for _, l := range Literals {
		groups := l.match(m.Text)
		if groups == nil {
			continue
		}
		m.ID, m.Name, m.Class, m.Meaning, m.Remedy = l.ID, l.Name, l.class, l.Meaning, l.remedy
		if l.retried {
			m.failed(l.Meaning)
		}
		if l.read != nil {
			l.read(&m, groups)
		}
		return m
	}
	return m
}
