package core

import (
	"fmt"
	"regexp"
	"strings"
)

// DrainMessage is what keeps a drain from going on, as the eviction that was refused says it (kubectl's drain, whose words
// LCMClusterState.status.message carries; docs/mosk.md#lcmclusterstate). What is not found in the text is empty.
type DrainMessage struct {
	Namespace string
	Pod       string
	Budget    string // the PodDisruptionBudget that allows no eviction; empty when the text names none
	Budgeted  bool   // a PodDisruptionBudget is in the way
	Healthy   string // "needs 1 healthy pods and has 1 currently": what the budget says of itself
	Text      string // the message, on one line
}

var (
	drainPod    = regexp.MustCompile(`(?:pods?/|[Pp]od )"?([a-z0-9][a-z0-9.-]*)"? (?:-n|in namespace) "?([a-z0-9][a-z0-9-]*)"?`)
	drainBudget = regexp.MustCompile(`[Tt]he disruption budget (\S+) (needs \d+ healthy pods and has \d+ currently)`)
	otherPod    = regexp.MustCompile(`(?:evicting|evict|deleting|delete) pod "?([a-z0-9][a-z0-9-]*)/([a-z0-9][a-z0-9.-]*)"?`)
)

// ReadDrainMessage finds the pod and the budget in a text. It is total: a text of another form is only its own words.
func ReadDrainMessage(text string) DrainMessage {
	m := DrainMessage{Text: oneLine(text, 600)}
	if g := drainPod.FindStringSubmatch(m.Text); g != nil {
		m.Pod, m.Namespace = g[1], g[2]
	} else if g := otherPod.FindStringSubmatch(m.Text); g != nil {
		m.Namespace, m.Pod = g[1], g[2]
	}
	m.Budgeted = strings.Contains(m.Text, "disruption budget")
	if g := drainBudget.FindStringSubmatch(m.Text); g != nil {
		m.Budget, m.Healthy = g[1], g[2]
	}
	return m
}

// Reason is what is in the way, in one line: "budget exporter keeps pod stacklight/exporter-0 (needs 1 healthy pods and has 1
// currently)".
func (m DrainMessage) Reason() string {
	pod := m.Pod
	if m.Namespace != "" {
		pod = m.Namespace + "/" + m.Pod
	}
	switch {
	case m.Pod == "":
		return m.Text
	case m.Budget != "":
		return fmt.Sprintf("budget %s keeps pod %s (%s)", m.Budget, pod, m.Healthy)
	case m.Budgeted:
		return "a disruption budget keeps pod " + pod
	}
	return "pod " + pod + " does not go: " + m.Text
}

// commands show by hand what is in the way.
func (m DrainMessage) commands() []string {
	if m.Pod == "" {
		return nil
	}
	out := []string{shellCommand("kubectl", "-n", m.Namespace, "get", "pod", m.Pod, "-o", "wide")}
	switch {
	case m.Budget != "":
		out = append(out, shellCommand("kubectl", "-n", m.Namespace, "describe", "pdb", m.Budget))
	case m.Budgeted:
		out = append(out, shellCommand("kubectl", "-n", m.Namespace, "get", "pdb"))
	}
	return out
}
