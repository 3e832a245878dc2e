package kube

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
)

// ledger is what a FleetWatcher has told.
type ledger struct {
	mu      sync.Mutex
	objects map[string]map[string]bool // keys of objects, by "project source"
	states  map[string]core.SourceState
	errs    map[string]*core.APIError
	next    map[string]time.Time // when a source is tried again
}

func (l *ledger) take(project string, d core.Delta) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := project + " " + string(d.Source)
	if d.State != "" {
		l.states[at], l.errs[at], l.next[at] = d.State, d.Err, d.Next
	}
	if d.Replace || l.objects[at] == nil {
		l.objects[at] = map[string]bool{}
	}
	for _, o := range d.Upserts {
		l.objects[at][o.Key()] = true
	}
	for _, key := range d.Deletes {
		delete(l.objects[at], key)
	}
}

// is the state of a source in a project, and the keys of its objects.
func (l *ledger) is(project string, id core.SourceID) (core.SourceState, []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := project + " " + string(id)
	return l.states[at], slices.Sorted(maps.Keys(l.objects[at]))
}

// watchFleet runs a FleetWatcher until the test ends.
func watchFleet(t *testing.T, c *cluster, user string, opts FleetOptions) (*FleetWatcher, *ledger) {
	t.Helper()
	l := &ledger{objects: map[string]map[string]bool{}, states: map[string]core.SourceState{}, errs: map[string]*core.APIError{},
		next: map[string]time.Time{}}
	w := NewFleetWatcher(c.client(user), l.take, opts)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return w, l
}

// until waits, by the bubble's clock, until a source in a project is in a state.
func (l *ledger) until(t *testing.T, project string, id core.SourceID, state core.SourceState) []string {
	t.Helper()
	for range 600 {
		if is, keys := l.is(project, id); is == state {
			return keys
		}
		time.Sleep(200 * time.Millisecond)
	}
	is, _ := l.is(project, id)
	t.Fatalf("%s in %q is %q, not %q: %v", id, project, is, state, l.errs[project+" "+string(id)])
	return nil
}

// bounded are users who may look into the project prod only; names says whether they may list the namespaces.
func bounded(names bool) []kubeapi.User {
	users := kubeapi.ManagementUsers()
	for i := range users {
		rules := slices.Clone(users[i].Rules)
		for j := range rules {
			if slices.Contains(rules[j].Resources, "namespaces") {
				if !names {
					rules[j].Resources = []string{"events"}
				}
				continue
			}
			rules[j].Namespaces = []string{"prod"}
		}
		users[i].Rules = rules
	}
	return users
}

// One watch of each kind sees all projects; machines are watched only where that is wanted, and forgotten when it is no longer.
func TestAFleetIsWatchedInAllProjectsAtOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{})
		c.create(`{apiVersion: cluster.k8s.io/v1alpha1, kind: Cluster, metadata: {name: lab, namespace: test}, spec: {providerSpec: ` +
			`{value: {}}}}`)
		c.create(`{apiVersion: cluster.k8s.io/v1alpha1, kind: Cluster, metadata: {name: own, namespace: default}, spec: {providerSpec: ` +
			`{value: {kaas: {release: kaas-2-30-0}}}}}`)
		w, l := watchFleet(t, c, kubeapi.Readonly, FleetOptions{})
		keys := l.until(t, "", core.SourceClusters, core.SourceLive)
		if want := []string{"default/own", "prod/mos", "test/lab"}; !slices.Equal(keys, want) {
			t.Errorf("it sees %v, want %v", keys, want)
		}
		l.until(t, "", core.SourcePlans, core.SourceLive)
		w.SetMachines([]string{"prod"})
		if keys := l.until(t, "prod", core.SourceLCMMachines, core.SourceLive); !slices.Equal(keys, []string{"prod/cmp-1"}) {
			t.Errorf("the machines are %v", keys)
		}
		c.delete(gvrClusters, "test", "lab")
		w.SetMachines(nil)
		if keys := l.until(t, "prod", core.SourceLCMMachines, core.SourceOff); len(keys) > 0 {
			t.Errorf("the machines %v are not forgotten", keys)
		}
		if _, keys := l.is("", core.SourceClusters); slices.Contains(keys, "test/lab") {
			t.Errorf("a cluster that was deleted is still seen: %v", keys)
		}
		for _, r := range c.Requests() {
			if r.UserAgent == "lockstep/test" && strings.Contains(r.Path, "/machines") {
				t.Errorf("machines are read: %s", r.Path)
			}
		}
	})
}

// Where clusters cannot be listed everywhere, each project that there is is looked into: one that is forbidden says so, and the others
// are seen. A project that comes later is found.
func TestAFleetIsWatchedProjectByProject(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{Users: bounded(true)})
		_, l := watchFleet(t, c, kubeapi.Readonly, FleetOptions{Look: 20 * time.Second})
		if keys := l.until(t, "prod", core.SourceClusters, core.SourceLive); !slices.Equal(keys, []string{"prod/mos"}) {
			t.Errorf("it sees %v", keys)
		}
		l.until(t, "prod", core.SourcePlans, core.SourceLive)
		l.until(t, "test", core.SourceClusters, core.SourceForbidden)
		e := l.errs["test clusters"]
		if e == nil || e.Server != core.ServerManagement || !strings.Contains(e.Remedy, "rbac-management-readonly") {
			t.Errorf("the refusal is %+v", e)
		}
		if state, _ := l.is("test", core.SourcePlans); state != "" {
			t.Errorf("a project without clusters is looked into: its plans are %s", state)
		}
		c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: later}}`)
		l.until(t, "later", core.SourceClusters, core.SourceForbidden)
		c.delete(gvrNamespaces, "", "later")
		l.until(t, "later", core.SourceClusters, core.SourceOff)
	})
}

// One list of the namespaces fails: the list of clusters says so, until the next one is there.
func TestAFailedListOfProjectsIsForgottenWithTheNext(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{Users: bounded(true)})
		_, l := watchFleet(t, c, kubeapi.Readonly, FleetOptions{Look: 20 * time.Second})
		l.until(t, "prod", core.SourceClusters, core.SourceLive)
		c.AddFault(kubeapi.Fault{Match: ours, Resource: "namespaces", Code: http.StatusServiceUnavailable, Times: 1})
		l.until(t, "", core.SourceClusters, core.SourceFailed)
		l.until(t, "", core.SourceClusters, core.SourceOff)
		if state, _ := l.is("prod", core.SourceClusters); state != core.SourceLive {
			t.Errorf("its projects are %s", state)
		}
	})
}

// The first request fails, and clusters may be listed in single projects only: the list asks again, says until when it waits, and then
// sees the projects.
func TestAFleetWhoseFirstRequestFailsIsSeenLater(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{Users: bounded(true)})
		c.AddFault(kubeapi.Fault{Match: ours, Resource: "clusters", Code: http.StatusServiceUnavailable, Times: 3})
		_, l := watchFleet(t, c, kubeapi.Readonly, FleetOptions{})
		l.until(t, "", core.SourceClusters, core.SourceFailed)
		if e := l.errs[" clusters"]; e == nil || e.Server != core.ServerManagement || e.Kind != core.ErrServer || l.next[" clusters"].IsZero() {
			t.Errorf("it says %+v, and waits until %v", e, l.next[" clusters"])
		}
		if keys := l.until(t, "prod", core.SourceClusters, core.SourceLive); !slices.Equal(keys, []string{"prod/mos"}) {
			t.Errorf("it sees %v", keys)
		}
	})
}

// The right to list clusters everywhere is taken away: the projects that are left are seen. It is given again to one who may look
// into no project: everything is seen. Neither takes a restart.
func TestAFleetFollowsItsRights(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{})
		_, l := watchFleet(t, c, kubeapi.Readonly, FleetOptions{})
		l.until(t, "", core.SourceClusters, core.SourceLive)
		give(t, c, bounded(true))
		if keys := l.until(t, "prod", core.SourceClusters, core.SourceLive); !slices.Equal(keys, []string{"prod/mos"}) {
			t.Errorf("with a right in one project it sees %v", keys)
		}
		l.until(t, "prod", core.SourcePlans, core.SourceLive)
		if keys := l.until(t, "", core.SourcePlans, core.SourceOff); len(keys) > 0 {
			t.Errorf("what was seen in all projects is not forgotten: %v", keys)
		}
		give(t, c, bounded(false))
		l.until(t, "", core.SourceClusters, core.SourceForbidden)
		give(t, c, everywhere())
		if keys := l.until(t, "", core.SourceClusters, core.SourceLive); !slices.Equal(keys, []string{"prod/mos"}) {
			t.Errorf("with the right to all projects it sees %v", keys)
		}
		if keys := l.until(t, "prod", core.SourceClusters, core.SourceOff); len(keys) > 0 {
			t.Errorf("what was seen in the project is not forgotten: %v", keys)
		}
	})
}

// A project is deleted and made again with a cluster in it: it is watched as before.
func TestAProjectThatIsMadeAgainIsWatchedAgain(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{Users: bounded(true)})
		_, l := watchFleet(t, c, kubeapi.Readonly, FleetOptions{Look: 20 * time.Second})
		l.until(t, "prod", core.SourcePlans, core.SourceLive)
		c.delete(gvrClusters, "prod", "mos")
		c.delete(gvrNamespaces, "", "prod")
		l.until(t, "prod", core.SourcePlans, core.SourceOff)
		c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: prod}}`)
		c.create(`{apiVersion: cluster.k8s.io/v1alpha1, kind: Cluster, metadata: {name: mos, namespace: prod}, spec: {providerSpec: ` +
			`{value: {}}}}`)
		l.until(t, "prod", core.SourceClusters, core.SourceLive)
		l.until(t, "prod", core.SourcePlans, core.SourceLive)
	})
}

// Where not even namespaces can be listed, the configured projects are looked into, and the source says that they may not be all, until
// namespaces can be listed, or clusters in all of them. Without configured ones, it says what to do.
func TestAFleetOfConfiguredProjects(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{Users: bounded(false)})
		_, l := watchFleet(t, c, kubeapi.Readonly, FleetOptions{Projects: []string{"prod", "test"}})
		if keys := l.until(t, "prod", core.SourceClusters, core.SourceLive); !slices.Equal(keys, []string{"prod/mos"}) {
			t.Errorf("it sees %v", keys)
		}
		l.until(t, "test", core.SourceClusters, core.SourceForbidden)
		l.until(t, "", core.SourceClusters, core.SourceForbidden)
		_, blind := watchFleet(t, c, kubeapi.Readonly, FleetOptions{})
		blind.until(t, "", core.SourceClusters, core.SourceForbidden)
		if e := blind.errs[" clusters"]; !strings.Contains(e.Remedy, "configuration (clusters)") {
			t.Errorf("it says %+v", e)
		}
		give(t, c, bounded(true))
		l.until(t, "", core.SourceClusters, core.SourceOff)
		give(t, c, bounded(false))
		l.until(t, "", core.SourceClusters, core.SourceForbidden)
		if state, _ := l.is("prod", core.SourceClusters); state != core.SourceLive {
			t.Errorf("the project that may be read is %s", state)
		}
		give(t, c, everywhere())
		l.until(t, "", core.SourceClusters, core.SourceLive)
		l.until(t, "prod", core.SourceClusters, core.SourceOff)
	})
}

// A server that does not know clusters for a moment gives no right to list them everywhere: the configured projects are not listed anew.
func TestAMomentWithoutClustersGivesNoRight(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := managed(t, kubeapi.Options{Users: bounded(false)})
		_, l := watchFleet(t, c, kubeapi.Readonly, FleetOptions{Projects: []string{"prod"}, Look: 10 * time.Second})
		l.until(t, "", core.SourceClusters, core.SourceForbidden)
		l.until(t, "prod", core.SourcePlans, core.SourceLive)
		asks := func() (n int) {
			for _, r := range c.Requests() {
				if r.UserAgent == "lockstep/test" && strings.HasSuffix(r.Path, "/namespaces/prod/clusters") && r.Verb == "list" {
					n++
				}
			}
			return n
		}
		before := asks()
		c.AddFault(kubeapi.Fault{Match: func(r *http.Request) bool {
			return ours(r) && !strings.Contains(r.URL.Path, "/namespaces/")
		}, Resource: "clusters", Code: http.StatusNotFound, Times: 1})
		time.Sleep(time.Minute)
		if after := asks(); before != 1 || after != before {
			t.Errorf("the project is listed %d times, then %d", before, after)
		}
	})
}

// give gives the reader's rights among those of the users.
func give(t *testing.T, c *cluster, users []kubeapi.User) {
	t.Helper()
	for _, u := range users {
		if u.Name == kubeapi.Readonly {
			if err := c.SetRules(u.Name, u.Rules); err != nil {
				t.Error(err)
			}
		}
	}
}

// everywhere are the usual users, who may not list the namespaces.
func everywhere() []kubeapi.User {
	users := kubeapi.ManagementUsers()
	for i := range users {
		users[i].Rules = slices.DeleteFunc(users[i].Rules, func(r kubeapi.Rule) bool { return slices.Contains(r.Resources, "namespaces") })
	}
	return users
}

// Fifty clusters of two hundred machines each, two of them under way: what they cost in requests, at the start and at rest.
func TestWhatFiftyClustersCost(t *testing.T) {
	for name, tt := range map[string]struct {
		users         []kubeapi.User
		start, minute int // requests at most: until all is seen, and then in a minute
	}{
		// 8 kinds, each a list and a watch, and the question whether clusters may be listed; for each of 2 projects machines and drains.
		"with the right to all projects": {nil, 26, 26},
		// In each project 6 kinds, whose watches last five minutes.
		"with a right in each project": {inEach(50), 650, 90},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Story(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{CRDs: crds.Management(), Users: append(slices.Clone(tt.users), missing(tt.users)...)})
				for i := range 50 {
					p := fmt.Sprintf("p%02d", i)
					c.create(fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: %s}}`, p))
					c.create(fmt.Sprintf(`{apiVersion: cluster.k8s.io/v1alpha1, kind: Cluster, metadata: {name: mos, namespace: %s}, `+
						`spec: {providerSpec: {value: {}}}}`, p))
				}
				for i := range 200 {
					c.create(fmt.Sprintf(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: LCMMachine, metadata: {name: m%d, namespace: p00}, `+
						`spec: {clusterName: mos}, status: {state: Ready}}`, i))
				}
				sent := func() int {
					n := 0
					for _, r := range c.Requests() {
						if r.UserAgent == "lockstep/test" {
							n++
						}
					}
					return n
				}
				w, l := watchFleet(t, c, kubeapi.Readonly, FleetOptions{})
				w.SetMachines([]string{"p00", "p01"})
				last := ""
				if tt.users != nil {
					last = "p49"
				}
				l.until(t, last, core.SourceAutoPauses, core.SourceLive)
				if keys := l.until(t, "p00", core.SourceLCMMachines, core.SourceLive); len(keys) != 200 {
					t.Errorf("%d machines", len(keys))
				}
				time.Sleep(5 * time.Second)
				began := sent()
				time.Sleep(10 * time.Minute)
				rest := (sent() - began) / 10
				t.Logf("%d requests until all is seen, %d a minute at rest", began, rest)
				if began > tt.start || rest > tt.minute {
					t.Errorf("want at most %d and %d", tt.start, tt.minute)
				}
			})
		})
	}
}

// inEach are users who have their rights in each of n projects, and may list the namespaces.
func inEach(n int) []kubeapi.User {
	var projects []string
	for i := range n {
		projects = append(projects, fmt.Sprintf("p%02d", i))
	}
	users := kubeapi.ManagementUsers()
	for i := range users {
		rules := slices.Clone(users[i].Rules)
		for j := range rules {
			if !slices.Contains(rules[j].Resources, "namespaces") {
				rules[j].Namespaces = projects
			}
		}
		users[i].Rules = append(rules, kubeapi.Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{"kaas.mirantis.com"},
			Resources: []string{"kaasreleases", "mccupgrades"}, Verbs: []string{"list", "watch"}}})
	}
	return users
}

// missing are the usual users where there are no others.
func missing(users []kubeapi.User) []kubeapi.User {
	if users == nil {
		return kubeapi.ManagementUsers()
	}
	return nil
}

// A management cluster that is no such thing, or answers nothing but errors, is told as it is.
func TestAFleetOfNoManagementCluster(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		_, l := watchFleet(t, c, kubeapi.Admin, FleetOptions{})
		l.until(t, "", core.SourceClusters, core.SourceAbsent)
		c.AddFault(kubeapi.Fault{Match: ours, Code: http.StatusServiceUnavailable})
		_, broken := watchFleet(t, c, kubeapi.Admin, FleetOptions{})
		broken.until(t, "", core.SourceClusters, core.SourceFailed)
	})
}
