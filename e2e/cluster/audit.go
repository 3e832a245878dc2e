package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	auditPolicyFile = "audit-policy.yaml"
	auditLogFile    = "audit.log"

	// auditInterval is how often AwaitRequest reads the log again, and auditPatience for how long; only a failing test waits that
	// long.
	auditInterval = 20 * time.Millisecond
	auditPatience = 5 * time.Minute
)

// auditPolicy records who did what, with the bodies of writes. It leaves out the server's own requests and anonymous health
// probes. Secrets are recorded without their content.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    users: ["system:apiserver", "system:anonymous"]
  - level: Metadata
    resources: [{group: "", resources: ["secrets"]}]
  - level: RequestResponse
    verbs: [create, update, patch, delete, deletecollection]
  - level: Metadata
`

// Request is one request as the API server received and answered it.
type Request struct {
	User        string
	UserAgent   string
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	Group       string // API group, "" for the core group
	Resource    string // plural; "" where the path is not a resource, for example /readyz
	Subresource string // for example status
	Namespace   string
	Name        string
	URI         string // path and query

	Body    json.RawMessage // what a write sent; nil for reads and secrets
	DryRun  bool            // the write was a dry-run
	Code    int             // HTTP status of the answer; 0 while a watch runs
	Message string          // the server's reason when it refused
	Time    time.Time       // when it was received
}

// String returns one line for a test's failure text.
func (r Request) String() string {
	what := r.Resource
	if r.Group != "" {
		what += "." + r.Group
	}
	if r.Subresource != "" {
		what += "/" + r.Subresource
	}
	if r.Resource == "" {
		what = r.URI
	}
	line := fmt.Sprintf("%s %s %s %s", r.User, r.Verb, what, strings.TrimPrefix(r.Namespace+"/"+r.Name, "/"))
	if r.DryRun {
		line += " (dry run)"
	}
	line += fmt.Sprintf(" → %d", r.Code)
	if r.Message != "" {
		line += " " + r.Message
	}
	if len(r.Body) > 0 {
		line += " " + string(r.Body)
	}
	return line
}

// Write reports whether the request asked for a change. A create that only asks for the user's rights, or who the user is, is not one.
func (r Request) Write() bool {
	if r.Group == "authorization.k8s.io" || r.Group == "authentication.k8s.io" {
		return false
	}
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// auditEvent is the part of an audit.k8s.io/v1 Event that Request is made of.
type auditEvent struct {
	AuditID    string
	Stage      string
	Verb       string
	RequestURI string
	UserAgent  string
	User       struct{ Username string }
	ObjectRef  *struct {
		Resource, Namespace, Name, APIGroup, Subresource string
	}
	RequestObject  json.RawMessage
	ResponseStatus *struct {
		Code    int
		Message string
	}
	RequestReceivedTimestamp time.Time
}

// Requests returns every request that the server has recorded since its first start, or since it was lent by a Pool, in the order in
// which they were received. It includes watches that still run.
func (c *Cluster) Requests() ([]Request, error) {
	raw, err := os.ReadFile(c.file(auditLogFile))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	requests, err := parseAudit(raw)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(requests, func(r Request) bool { return r.Time.Before(c.began) }), nil
}

// Writes returns the requests of the user that asked for a change, in the order in which they were received.
func (c *Cluster) Writes(user User) ([]Request, error) {
	requests, err := c.Requests()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(requests, func(r Request) bool {
		return r.User != string(user) || !r.Write()
	}), nil
}

// Changes returns in a few words what the user asked to change, "patch nodes cmp-1" or "patch nodeworkloadlocks l (status)", in
// the order in which it was received. It leaves out leases and dry-runs.
func (c *Cluster) Changes(user User) ([]string, error) {
	writes, err := c.Writes(user)
	if err != nil {
		return nil, err
	}
	var changes []string
	for _, r := range writes {
		if r.Resource == "leases" || r.DryRun {
			continue
		}
		change := r.Verb + " " + r.Resource + " " + r.Name
		if r.Subresource != "" {
			change += " (" + r.Subresource + ")"
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// AwaitRequest waits until the server has recorded a request that matches, and returns the first; after auditPatience it gives up. The
// log lags a moment: the server writes a record after it has answered.
func (c *Cluster) AwaitRequest(ctx context.Context, match func(Request) bool) (Request, error) {
	ctx, cancel := context.WithTimeout(ctx, auditPatience)
	defer cancel()
	ticker := time.NewTicker(auditInterval)
	defer ticker.Stop()
	for {
		requests, err := c.Requests()
		if err != nil {
			return Request{}, err
		}
		if i := slices.IndexFunc(requests, match); i >= 0 {
			return requests[i], nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("wait for a request in the audit log: %w", ctx.Err())
		}
	}
}

// parseAudit reads the log's lines. A request that is recorded at two stages, as watches are, is returned once, with its last
// record.
func parseAudit(raw []byte) ([]Request, error) {
	var requests []Request
	byID := map[string]int{}
	for len(raw) > 0 {
		line, rest, complete := bytes.Cut(raw, []byte("\n"))
		if !complete {
			break // the server is about to write the rest
		}
		raw = rest
		var event auditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("read the audit log's line %.200q: %w", line, err)
		}
		request := event.request()
		if i, again := byID[event.AuditID]; again {
			requests[i] = request
			continue
		}
		byID[event.AuditID] = len(requests)
		requests = append(requests, request)
	}
	slices.SortStableFunc(requests, func(a, b Request) int { return a.Time.Compare(b.Time) })
	return requests, nil
}

func (e auditEvent) request() Request {
	r := Request{
		User:      e.User.Username,
		UserAgent: e.UserAgent,
		Verb:      e.Verb,
		URI:       e.RequestURI,
		Body:      e.RequestObject,
		Time:      e.RequestReceivedTimestamp,
	}
	if e.ObjectRef != nil {
		r.Group, r.Resource, r.Subresource = e.ObjectRef.APIGroup, e.ObjectRef.Resource, e.ObjectRef.Subresource
		r.Namespace, r.Name = e.ObjectRef.Namespace, e.ObjectRef.Name
	}
	if e.ResponseStatus != nil && e.Stage != "ResponseStarted" {
		r.Code, r.Message = e.ResponseStatus.Code, e.ResponseStatus.Message
	}
	_, query, _ := strings.Cut(e.RequestURI, "?")
	r.DryRun = strings.Contains("&"+query, "&dryRun=All")
	return r
}
