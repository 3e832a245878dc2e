package core

import (
	"regexp"
	"strings"
)

// The words of failures that the OpenStack controller writes on no lock: exceptions, by their text (docs/mosk.md#bookkeeping).
const (
	wordsScope     = "'scope'"                 // KeyError: the request has none (docs/mosk.md#requests-without-a-scope)
	wordsEmptyList = "list index out of range" // IndexError: of a compute, Nova knows no nova-compute (docs/mosk.md#no-compute-service)
)

var (
	wordsNodeExists = regexp.MustCompile(`^The kubernetes node .* still exists\. Deffer`)
	wordsAttempts   = regexp.MustCompile(`^invalid literal for int\(\)`)
	wordsBusy       = regexp.MustCompile(`^429 Client Error|Too Many Requests`)
	wordsOutage     = regexp.MustCompile(`Unable to establish connection|HTTPS?ConnectionPool|Connection refused|Connection aborted|` +
		`Server Error for url|HttpException: 50\d|Max retries exceeded|Read timed out`)
)

// failureKind is what a failure comes of.
type failureKind int

const (
	failureOther   failureKind = iota // read its words
	failureText                       // a text that stands on a lock as well
	failureScope                      // the request has no scope
	failureMode                       // the node's migration mode is none that the controller knows
	failureTries                      // the node's number of attempts is none
	failureService                    // the compute has no nova-compute
	failureExists                     // the lock is in deletion, and the node is there
	failureOutage                     // an API does not answer
	failureBusy                       // the Kubernetes API turns it away
)

// failure is what the last failure comes of, and that in a few words; these are empty where the controller's own have to do. It is
// about what is asked of the node, or of the cluster when there is none.
func (s *Snapshot) failure(a Account, node string) (failureKind, string) {
	n := s.Nodes[node]
	quoted := func(text string) bool { return text != "" && a.Words == "'"+oneLine(text, MaxWords)+"'" }
	switch {
	case !a.fails():
	case a.Words == wordsScope:
		if r := s.NodeRequest(node); r != nil && r.Scope != "" {
			return failureScope, "its request had no scope then"
		}
		return failureScope, "its request has no scope"
	case n != nil && quoted(n.Annotations[AnnotationMigrationMode]):
		return failureMode, "its migration mode is none that the controller knows"
	case wordsAttempts.MatchString(a.Words):
		return failureTries, "its number of migration attempts is none"
	case a.Words == wordsEmptyList && s.knowsNoCompute(node):
		return failureService, "Nova knows no nova-compute of the node"
	case wordsNodeExists.MatchString(a.Words):
		return failureExists, "the node still exists, and it cleans up only behind one that is gone"
	case wordsBusy.MatchString(a.Words):
		return failureBusy, "the API server turns it away, for it is asked too much"
	case ReadLockMessage(a.Words).ID != "" || ReadLockMessage(a.Words).Class == MessageOutage:
		return failureText, ""
	case wordsOutage.MatchString(a.Words):
		return failureOutage, "an API does not answer it"
	}
	return failureOther, ""
}

// knowsNoCompute tells whether a node is a compute of which Nova is known to have no nova-compute.
func (s *Snapshot) knowsNoCompute(node string) bool {
	n := s.Nodes[node]
	return n != nil && n.Is(RoleCompute) && s.known(SourceComputeServices) && s.Services[s.HostOf(node)] == nil
}

// onLock tells whether the words of the last failure are those that the lock bears: its text begins with them, or is of the same kind.
func (a Account) onLock(m LockMessage) bool {
	if a.Words == "" || m.Class == MessageNone {
		return false
	}
	said := ReadLockMessage(a.Words)
	if said.ID != "" && said.ID == m.ID {
		return true
	}
	begin, text := strings.TrimSuffix(a.Words, " …"), strings.Join(strings.Fields(m.Text), " ")
	return begin != "" && strings.HasPrefix(text, begin)
}

// silentOutage tells whether the controller gets no answer from OpenStack, and says so nowhere but in its bookkeeping.
func (s *Snapshot) silentOutage(l *WorkloadLock) bool {
	a := s.AccountOf(l)
	if a.State != AccountRetries {
		return false // the try that runs now may get its answers
	}
	kind, _ := s.failure(a, l.Node)
	return kind == failureOutage
}

// accountLine is what the controller does with what is asked of a node, or of the cluster, with what its failure comes of. What the lock
// says already is left out.
func (s *Snapshot) accountLine(a Account, node string, m LockMessage) string {
	text := s.AccountText(a, !a.onLock(m))
	if _, means := s.failure(a, node); means != "" && text != "" {
		text += " (" + means + ")"
	}
	return text
}

// accountSentence is the account as a sentence; empty when nothing is known, or nothing failed and nothing is special about it.
func (s *Snapshot) accountSentence(a Account, node string, m LockMessage) string {
	if a.State == AccountNone || a.State == AccountHandled {
		return ""
	}
	return sentence(s.ControllerName(node) + " " + s.accountLine(a, node, m))
}

// ControllerName is what to call the OpenStack controller where its bookkeeping is told: where Lockstep plays it, it is the other one.
func (s *Snapshot) ControllerName(node string) string {
	_, played := s.actAs(ControllerOpenStack)
	if node != "" {
		played = s.playsOn(ControllerOpenStack, node)
	}
	return "the OpenStack controller" + textIf(played, " itself", "")
}

// account is what the OpenStack controller does with what is asked of the node, for its page. Where Lockstep plays it, that it was
// through with it is worth a word too.
func (b *nodeSteps) account() []string {
	s, name, a := b.s, b.v.Name, b.s.NodeAccount(b.v.Name)
	played := s.playsOn(ControllerOpenStack, name)
	text := s.accountLine(a, name, b.message)
	switch {
	case text == "" || a.State == AccountHandled && !played:
		return nil
	case played:
	case strings.HasSuffix(b.v.Reason, text), a.fails() && strings.Contains(b.v.Reason, s.AccountText(a, !a.onLock(b.message))):
		return nil // the first line says it
	}
	return []string{s.ControllerName(name) + " " + text}
}

// clusterAccount is what the OpenStack controller does with the cluster's request, for the cluster's page.
func (s *Snapshot) clusterAccount() []string {
	_, played := s.actAs(ControllerOpenStack)
	a, m := s.requestAccount(s.ClusterRequest()), LockMessage{}
	if l := s.clusterLock(ControllerOpenStack); l != nil {
		m = s.ReadLock(l)
	}
	text := s.accountLine(a, "", m)
	if text == "" || a.State == AccountHandled && !played {
		return nil
	}
	return []string{s.ControllerName("") + " " + text}
}

// AccountMeaning is what the last failure comes of, in a few words; empty where the controller's own have to do. Node is the node of
// which something is asked; empty for the cluster.
func (s *Snapshot) AccountMeaning(a Account, node string) string {
	if kind, means := s.failure(a, node); kind != failureText {
		return means
	}
	return ReadLockMessage(a.Words).Meaning
}
