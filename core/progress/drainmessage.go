package progress

import (
	"fmt"
	"regexp"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// DrainMessage is why a drain does not go on, from LCMClusterState.status.message (docs/mosk.md#lcmclusterstate, #lcm-waits): an
// eviction was refused, in the words of kubectl drain, or its turn has not come, in LCM's words. Fields not found in the text are empty.
type DrainMessage struct {
	Namespace string
	Pod       string
	Budget    string // the PodDisruptionBudget that allows no eviction; empty when the text names none
	Budgeted  bool   // a PodDisruptionBudget is in the way
	Ending    bool   // the pod was evicted and is being deleted, and does not end
	Healthy   string // "needs 1 healthy pods and has 1 currently": what the budget says of itself
	Text      string // the message, on one line

	Waits bool       // nothing is refused: LCM waits for the node's locks, or for another drain to come first
	Locks []LockWait // the locks that it waits for
	First string     // the node that has to be drained first
}

// LockWait is a lock that LCM waits for before it drains a node.
type LockWait struct {
	Controller string
	State      string // LCM's word for what the controller does: "UpdatingController", "InProgress"; empty when it has none
}

var (
	drainPod    = regexp.MustCompile(`(?:pods?/|[Pp]od )"?([a-z0-9][a-z0-9.-]*)"? (?:-n|in namespace) "?([a-z0-9][a-z0-9-]*)"?`)
	drainBudget = regexp.MustCompile(`[Tt]he disruption budget (\S+) (needs \d+ healthy pods and has \d+ currently)`)
	otherPod    = regexp.MustCompile(`(?:evicting|evict|deleting|delete) pod "?([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)"?`)
	waitLocks   = regexp.MustCompile(`NodeWorkloadLocks? (?:are|is) still active(?: ?[-:] ?(.*))?`)
	waitFirst   = regexp.MustCompile(`waiting for (?:kubernetes )?node (\S+) to be drained first`)
)

// ReadDrainMessage finds the pod and the budget in a text. It never fails: of a text of another form it
// keeps only the text.
func ReadDrainMessage(text string) DrainMessage {
	m := DrainMessage{Text: wording.OneLine(text, wording.MostRead)}
	if g := drainPod.FindStringSubmatch(m.Text); g != nil {
		m.Pod, m.Namespace = g[1], g[2]
	} else if g := otherPod.FindStringSubmatch(m.Text); g != nil {
		m.Namespace, m.Pod = g[1], g[2]
	}
	m.Budgeted = strings.Contains(m.Text, "disruption budget")
	m.Ending = m.Pod != "" && !m.Budgeted && strings.Contains(m.Text, " to terminate")
	if g := drainBudget.FindStringSubmatch(m.Text); g != nil {
		m.Budget, m.Healthy = g[1], g[2]
	}
	if m.Pod == "" && !m.Budgeted {
		m.readWait()
	}
	return m
}

// readWait finds what LCM waits for where nothing is refused.
func (m *DrainMessage) readWait() {
	if g := waitFirst.FindStringSubmatch(m.Text); g != nil {
		m.Waits, m.First = true, g[1]
	}
	g := waitLocks.FindStringSubmatch(m.Text)
	if g == nil {
		return
	}
	m.Waits = true
	for _, part := range strings.Split(g[1], ",") {
		controller, state, _ := strings.Cut(part, ":")
		if controller = strings.TrimSpace(controller); controller != "" {
			m.Locks = append(m.Locks, LockWait{Controller: wording.OneLine(controller, 40), State: wording.OneLine(state, 40)})
		}
	}
}

// LockState is LCM's word for what a controller does while LCM waits for its lock; empty when it waits for none of it.
func (m DrainMessage) LockState(controller string) string {
	for _, l := range m.Locks {
		if l.Controller == controller {
			return l.State
		}
	}
	return ""
}

// Reason is what is in the way, in one line: "budget exporter keeps pod stacklight/exporter-0 (needs 1 healthy pods and has 1
// currently)". Of one that waits it is "LCM waits for: ceph UpdatingController, openstack InProgress".
func (m DrainMessage) Reason() string {
	pod := m.Pod
	if m.Namespace != "" {
		pod = m.Namespace + "/" + m.Pod
	}
	switch {
	case m.Waits:
		return m.WaitText()
	case m.Pod == "":
		return m.Text
	case m.Budget != "":
		return fmt.Sprintf("budget %s keeps pod %s (%s)", m.Budget, pod, m.Healthy)
	case m.Budgeted:
		return "a disruption budget keeps pod " + pod
	}
	return "pod " + pod + " does not go: " + m.Text
}

// WaitText is what LCM waits for; empty when it does not wait.
func (m DrainMessage) WaitText() string {
	var locks []string
	for _, l := range m.Locks {
		locks = append(locks, strings.TrimSpace(l.Controller+" "+l.State))
	}
	switch {
	case len(locks) > 0:
		return "LCM waits for: " + wording.Some(locks, 8)
	case !m.Waits:
		return ""
	case m.First != "":
		return "LCM waits until node " + wording.OneLine(m.First, 80) + " is drained"
	}
	return "LCM waits for the node's locks"
}

// Commands show by hand what is in the way.
func (m DrainMessage) Commands() []string {
	if m.Pod == "" {
		return nil
	}
	out := []string{wording.ShellCommand("kubectl", "-n", m.Namespace, "get", "pod", m.Pod, "-o", "wide")}
	switch {
	case m.Budget != "":
		out = append(out, wording.ShellCommand("kubectl", "-n", m.Namespace, "describe", "pdb", m.Budget))
	case m.Budgeted:
		out = append(out, wording.ShellCommand("kubectl", "-n", m.Namespace, "get", "pdb"))
	}
	return out
}

// DrainBlocked tells whether a drain is wanted and refused. A drain that waits for its turn is not blocked.
func DrainBlocked(d *core.DrainState) bool {
	return d.Pending() && !ReadDrainMessage(d.Message).Waits
}

// DrainWaits tells whether a drain is wanted whose turn has not come: LCM waits for the node's locks, or for the drain that comes
// first. That is the normal course of an update.
func DrainWaits(d *core.DrainState) bool {
	return d.Pending() && ReadDrainMessage(d.Message).Waits
}
