package progress

import (
	"regexp"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// The texts of exceptions that the OpenStack controller does not write on a lock (docs/mosk.md#bookkeeping).
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

// FailureKind is the cause of a failure.
type FailureKind int

const (
	FailureOther   FailureKind = iota // any other: its text says it
	FailureText                       // a text that is on the lock as well
	FailureScope                      // the request has no scope
	FailureMode                       // the controller does not know the node's migration mode
	FailureTries                      // the node's attempts are not a number
	FailureService                    // the compute has no nova-compute
	FailureExists                     // the lock is in deletion, and the node is there
	FailureOutage                     // an API does not answer
	FailureBusy                       // the Kubernetes API refuses it: too many requests
)

// Failure is the cause of the last failure, with a few words about it, which are empty when the controller's own text must do. It is
// about the node's request, or the cluster's when there is no node.
func Failure(s *core.Snapshot, a Account, node string) (FailureKind, string) {
	n := s.Nodes[node]
	quoted := func(text string) bool { return text != "" && a.Words == "'"+wording.OneLine(text, core.MaxWords)+"'" }
	switch {
	case !a.Fails():
	case a.Words == wordsScope:
		if r := s.NodeRequest(node); r != nil && r.Scope != "" {
			return FailureScope, "its request had no scope then"
		}
		return FailureScope, "its request has no scope"
	case n != nil && quoted(n.Annotations[core.AnnotationMigrationMode]):
		return FailureMode, "the controller does not know its migration mode"
	case wordsAttempts.MatchString(a.Words):
		return FailureTries, "its number of migration attempts is not a number"
	case a.Words == wordsEmptyList && knowsNoCompute(s, node):
		return FailureService, "Nova knows no nova-compute of the node"
	case wordsNodeExists.MatchString(a.Words):
		return FailureExists, "the node still exists, and it cleans up only behind one that is gone"
	case wordsBusy.MatchString(a.Words):
		return FailureBusy, "the API server refuses it: too many requests"
	case ReadLockMessage(a.Words).ID != "" || ReadLockMessage(a.Words).Class == MessageOutage:
		return FailureText, ""
	case wordsOutage.MatchString(a.Words):
		return FailureOutage, "an API does not answer it"
	}
	return FailureOther, ""
}

// knowsNoCompute tells whether a node is a compute of which Nova is known to have no nova-compute.
func knowsNoCompute(s *core.Snapshot, node string) bool {
	n := s.Nodes[node]
	return n != nil && n.Is(core.RoleCompute) && s.Known(core.SourceComputeServices) && s.Services[s.HostOf(node)] == nil
}

// OnLock tells whether the lock already shows the last failure: its text begins with the failure's, or has the same ID.
func (a Account) OnLock(m LockMessage) bool {
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

// SilentOutage tells whether OpenStack does not answer the controller, and only the controller's bookkeeping says so.
func SilentOutage(s *core.Snapshot, l *core.WorkloadLock) bool {
	a := AccountOf(s, l)
	if a.State != AccountRetries {
		return false // the try that runs now may get its answers
	}
	kind, _ := Failure(s, a, l.Node)
	return kind == FailureOutage
}

// AccountLine is what the controller does with the request of a node or of the cluster, and the cause of its failure. It leaves out what
// the lock says already.
func AccountLine(s *core.Snapshot, a Account, node string, m LockMessage) string {
	text := AccountText(s, a, !a.OnLock(m))
	if _, means := Failure(s, a, node); means != "" && text != "" {
		text += " (" + means + ")"
	}
	return text
}

// AccountSentence is the account as a sentence; empty when nothing is known, or nothing failed and nothing is special about it.
func AccountSentence(s *core.Snapshot, a Account, node string, m LockMessage) string {
	if a.State == AccountNone || a.State == AccountHandled {
		return ""
	}
	return wording.Sentence(ControllerName(s, node) + " " + AccountLine(s, a, node, m))
}

// ControllerName is the name for the OpenStack controller beside its bookkeeping. It ends in "itself" where Lockstep plays it too.
func ControllerName(s *core.Snapshot, node string) string {
	_, played := ActAs(s, core.ControllerOpenStack)
	if node != "" {
		played = PlaysOn(s, core.ControllerOpenStack, node)
	}
	return "the OpenStack controller" + wording.TextIf(played, " itself", "")
}

// ClusterAccount is what the OpenStack controller does with the cluster's request, for the cluster's page.
func ClusterAccount(s *core.Snapshot) []string {
	_, played := ActAs(s, core.ControllerOpenStack)
	a, m := RequestAccount(s, s.ClusterRequest()), LockMessage{}
	if l := s.ClusterLock(core.ControllerOpenStack); l != nil {
		m = ReadLock(s, l)
	}
	text := AccountLine(s, a, "", m)
	if text == "" || a.State == AccountHandled && !played {
		return nil
	}
	return []string{ControllerName(s, "") + " " + text}
}

// AccountMeaning is the cause of the last failure in a few words; empty when the controller's own text must do. An empty node is the
// cluster.
func AccountMeaning(s *core.Snapshot, a Account, node string) string {
	if kind, means := Failure(s, a, node); kind != FailureText {
		return means
	}
	return ReadLockMessage(a.Words).Meaning
}
