package sim

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"lockstep/sim/kubeapi"
	"lockstep/sim/openstack"
)

// Chronicle is the story of a cloud in virtual time, for reading why a test failed: the changes of locks, requests and
// nodes, the requests to OpenStack and who made them, and what the test itself did.
type Chronicle struct {
	cloud *Cloud

	mu      sync.Mutex
	entries []entry
	begun   time.Time
}

type entry struct {
	at   time.Time
	text string
}

// keptEntries is how many of the last entries of a long story are kept.
const keptEntries = 5000

// Follow begins a chronicle that runs until the cloud is closed. It holds only what the simulated servers hold.
func (c *Cloud) Follow() *Chronicle {
	ch := &Chronicle{cloud: c, begun: c.Clock.Now()}
	if c.Kube != nil {
		var resources []string
		for _, k := range kinds {
			resources = append(resources, k.resource)
		}
		c.Kube.Follow(ch.changed, resources...)
	}
	return ch
}

// Tell adds a line of the test to the chronicle.
func (ch *Chronicle) Tell(format string, args ...any) {
	ch.add(ch.cloud.Clock.Now(), fmt.Sprintf(format, args...))
}

func (ch *Chronicle) add(at time.Time, text string) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	if len(ch.entries) >= keptEntries {
		ch.entries = append(ch.entries[:0:0], ch.entries[keptEntries/4:]...)
	}
	ch.entries = append(ch.entries, entry{at, text})
}

// String is the story so far, one line per event, and the state of the instances at its end.
func (ch *Chronicle) String() string {
	ch.mu.Lock()
	all := slices.Clone(ch.entries)
	ch.mu.Unlock()
	all = append(all, ch.asked()...)
	all = append(all, ch.managed()...)
	slices.SortStableFunc(all, func(a, b entry) int { return a.at.Compare(b.at) })
	var b strings.Builder
	fmt.Fprintf(&b, "The story of %s, from %s on:\n", ch.cloud.Scenario.Cluster, ch.begun.Format("2006-01-02 15:04:05"))
	for i := 0; i < len(all); i++ {
		times := 1
		for i+1 < len(all) && all[i+1].text == all[i].text {
			i, times = i+1, times+1
		}
		fmt.Fprintf(&b, "  %s  %s", all[i].at.Format("15:04:05.000"), all[i].text)
		if times > 1 {
			fmt.Fprintf(&b, " (the last of %d)", times)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "Now it is %s.\n", ch.cloud.Clock.Now().Format("15:04:05"))
	var plain []string // readable names in place of the servers' IDs
	for _, n := range ch.cloud.Scenario.Nodes {
		plain = append(plain, n.Name, n.Machine)
	}
	for _, st := range ch.instances() {
		fmt.Fprintf(&b, "  %s on %s: %s %s\n", st.Name, cmp.Or(st.Host, "no host"), st.Status, st.Task)
		plain = append(plain, st.ID, st.Name)
	}
	return strings.NewReplacer(plain...).Replace(b.String())
}

// asked returns the changes that clients requested from OpenStack.
func (ch *Chronicle) asked() []entry {
	if ch.cloud.OpenStack == nil {
		return nil
	}
	var all []entry
	for _, r := range ch.cloud.OpenStack.Writes() {
		who, _, _ := strings.Cut(r.UserAgent, "/")
		what := strings.TrimPrefix(r.Path, "/compute/v2.1")
		if path.Base(what) == "action" {
			id := path.Base(path.Dir(what))
			what = "server " + id
			if st, ok := ch.cloud.OpenStack.Server(id); ok {
				what = st.Name
			}
		}
		text := fmt.Sprintf("%s asks: %s %s %s", who, strings.ToLower(r.Method), what, short(r.Body))
		if r.Status >= http.StatusBadRequest || r.Status == 0 {
			text += fmt.Sprintf(": %d", r.Status)
		}
		if !r.At.Before(ch.begun) {
			all = append(all, entry{r.At, text})
		}
	}
	return all
}

// managed returns the writes on the management cluster.
func (ch *Chronicle) managed() []entry {
	if ch.cloud.Management == nil {
		return nil
	}
	var all []entry
	for _, r := range ch.cloud.Management.Requests() {
		if !r.Write() || r.DryRun || r.Time.Before(ch.begun) {
			continue
		}
		who, _, _ := strings.Cut(r.UserAgent, "/")
		text := fmt.Sprintf("%s, on the management cluster: %s %s %s %s", who, r.Verb, strings.TrimSuffix(r.Resource+"/"+r.Subresource, "/"),
			r.Name, short(string(r.Body)))
		if r.Code >= http.StatusBadRequest || r.Code == 0 {
			text += fmt.Sprintf(": %d", r.Code)
		}
		all = append(all, entry{r.Time, text})
	}
	return all
}

// instances returns the instances on the scenario's nodes, sorted by name.
func (ch *Chronicle) instances() []openstack.ServerState {
	var all []openstack.ServerState
	if ch.cloud.OpenStack == nil {
		return nil
	}
	for _, n := range ch.cloud.Scenario.Nodes {
		all = append(all, ch.cloud.OpenStack.ServersOn(n.Name)...)
	}
	slices.SortFunc(all, func(a, b openstack.ServerState) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// kind says what to report about a resource: its readable name and the fields that matter.
type kind struct {
	resource, name string
	fields         []field
}

type field struct {
	name string
	path []string
}

var kinds = []kind{
	{"nodeworkloadlocks", "node lock", lockFields},
	{"clusterworkloadlocks", "cluster lock", lockFields},
	{"nodemaintenancerequests", "request", []field{{"scope", []string{"spec", "scope"}}, {"finalizers", []string{"metadata", "finalizers"}}}},
	{"clustermaintenancerequests", "cluster request",
		[]field{{"release", []string{"spec", "release"}}, {"finalizers", []string{"metadata", "finalizers"}}}},
	{"nodedeletionrequests", "deletion request", nil},
	{"nodes", "node", []field{
		{"cordoned", []string{"spec", "unschedulable"}},
		{"mode", []string{"metadata", "annotations", "openstack.lcm.mirantis.com/instance_migration_mode"}},
		{"kubelet", []string{"status", "nodeInfo", "kubeletVersion"}},
		{"ready", []string{"status", "conditions", "Ready"}},
	}},
	{"deployments", "deployment", []field{{"replicas", []string{"spec", "replicas"}}}},
}

var lockFields = []field{
	{"state", []string{"status", "state"}},
	{"inner_state", []string{"metadata", "annotations", "inner_state"}},
	{"release", []string{"status", "release"}},
	{"finalizers", []string{"metadata", "finalizers"}},
	{"says", []string{"status", "errorMessage"}},
}

// changed records one change; the server waits until it returns.
func (ch *Chronicle) changed(c kubeapi.Change) {
	k := kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.resource == c.Resource })]
	what := k.name + " " + c.Now.GetName()
	var parts []string
	switch {
	case c.Kind == watch.Deleted:
		parts = append(parts, "is gone")
	case c.Before == nil:
		parts = append(parts, "is made")
	case c.Before.GetDeletionTimestamp() == nil && c.Now.GetDeletionTimestamp() != nil:
		parts = append(parts, "is being deleted")
	}
	if c.Kind != watch.Deleted {
		for _, f := range k.fields {
			before, now := "", read(c.Now, f.path)
			if c.Before != nil {
				before = read(c.Before, f.path)
			}
			if before != now {
				parts = append(parts, fmt.Sprintf("%s %s → %s", f.name, cmp.Or(before, "none"), cmp.Or(now, "none")))
			}
		}
	}
	if len(parts) > 0 {
		ch.add(c.At, what+": "+strings.Join(parts, ", "))
	}
}

// read returns a field as text; it finds a condition by its type.
func read(u *unstructured.Unstructured, at []string) string {
	if at[len(at)-2] == "conditions" {
		conditions, _, _ := unstructured.NestedSlice(u.Object, at[:len(at)-1]...)
		for _, c := range conditions {
			if m, ok := c.(map[string]any); ok && m["type"] == at[len(at)-1] {
				return fmt.Sprint(m["status"])
			}
		}
		return ""
	}
	v, found, _ := unstructured.NestedFieldNoCopy(u.Object, at...)
	if !found || v == nil {
		return ""
	}
	text := fmt.Sprint(v)
	if at[len(at)-1] == "errorMessage" {
		text = strings.TrimLeft(text, "0123456789-:. ") // its timestamp: each try writes the same text with another time
	}
	return short(text)
}

// short cuts a text that would fill the page.
func short(s string) string {
	const most = 160
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
