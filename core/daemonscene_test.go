package core

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

const (
	vRouters  = "tf/tf-vrouter-agent"
	ovsAgents = "openstack/neutron-ovs-agent-default"
)

// daemonSet adds a DaemonSet at its second revision, with a pod of it on each of the nodes.
func (sc scene) daemonSet(workload, component string, onDelete bool, nodes ...string) *DaemonSet {
	namespace, name, _ := strings.Cut(workload, "/")
	d := &DaemonSet{Meta: Meta{Namespace: namespace, Name: name, UID: "ds-" + name}, OnDelete: onDelete, Generation: 2, Observed: 2, Template: 2,
		Desired: len(nodes), Ready: len(nodes), Component: component, Selector: "component=" + component}
	if namespace == namespaceOpenStack {
		d.Application = "neutron"
	}
	sc.DaemonSets = append(sc.DaemonSets, d)
	if sc.DaemonPods == nil {
		sc.DaemonPods, sc.DaemonRevisions = map[string][]*DaemonPod{}, map[string][]*DaemonRevision{}
	}
	for i, hash := range []string{"old", "new"} {
		sc.DaemonRevisions[d.UID] = append(sc.DaemonRevisions[d.UID], &DaemonRevision{Meta: Meta{Namespace: namespace, Name: name + "-" + hash, UID: d.UID + hash}, Owner: d.UID, Number: i + 1, Hash: hash})
	}
	for _, node := range nodes {
		sc.daemonPod(d, node, "new", 2)
	}
	return d
}

func (sc scene) daemonPod(d *DaemonSet, node, hash string, template int) *DaemonPod {
	p := &DaemonPod{Meta: Meta{Namespace: d.Namespace, Name: d.Name + "-" + node, UID: "pod-" + d.Name + "-" + node, Created: ago(time.Hour)}, Owner: d.UID, Set: d.Name,
		Node: node, Hash: hash, Template: template, Ready: true}
	sc.DaemonPods[d.UID] = append(sc.DaemonPods[d.UID], p)
	return p
}

// pod is the DaemonSet's pod on the node.
func (sc scene) pod(workload, node string) *DaemonPod {
	for _, d := range sc.DaemonSets {
		for _, p := range sc.DaemonPods[d.UID] {
			if d.Namespace+"/"+d.Name == workload && p.Node == node {
				return p
			}
		}
	}
	return nil
}

// old makes the DaemonSet's pod on the node one of the revision before.
func (sc scene) old(workload string, nodes ...string) {
	for _, node := range nodes {
		p := sc.pod(workload, node)
		p.Hash, p.Template = "old", 1
	}
}

// vRouterScene is a cluster at rest whose three vRouters are old.
func vRouterScene() scene {
	sc := healthy()
	sc.daemonSet(vRouters, "vrouter", true, "cmp-01", "cmp-02", "cmp-03")
	sc.old(vRouters, "cmp-01", "cmp-02", "cmp-03")
	return sc
}

// anyDaemons draws DaemonSets whose pods can be old, unready, ending, and what Neutron says of their agents.
func anyDaemons(t *rapid.T, sc scene) {
	for workload, component := range map[string]string{vRouters: "vrouter", ovsAgents: "neutron-ovs-agent"} {
		d := sc.daemonSet(workload, component, component == "vrouter" || rapid.Bool().Draw(t, "on delete"), "cmp-01", "cmp-02")
		if rapid.IntRange(0, 9).Draw(t, "unobserved") == 9 {
			d.Observed = 1
		}
		if rapid.IntRange(0, 9).Draw(t, "no revisions") == 9 {
			delete(sc.DaemonRevisions, d.UID)
		}
		for _, p := range sc.DaemonPods[d.UID] {
			if rapid.Bool().Draw(t, "old") {
				p.Hash, p.Template = "old", 1
			}
			if rapid.IntRange(0, 9).Draw(t, "unready") == 9 {
				p.Ready = false
			}
			if rapid.IntRange(0, 9).Draw(t, "ending") == 9 {
				p.Deleting = noon
			}
		}
	}
	for _, host := range []string{"cmp-01", "cmp-02"} {
		if rapid.Bool().Draw(t, "agent") {
			sc.Agents[host] = []*NetworkAgent{{ID: "agent-" + host, Host: host, Type: "Open vSwitch agent", Binary: "neutron-openvswitch-agent",
				Alive: rapid.Bool().Draw(t, "alive"), AdminUp: true, Heartbeat: ago(time.Minute)}}
		}
	}
	for _, id := range []SourceID{SourceFabricPods, SourceFabricSets, SourceFabricRevisions, SourceNetworkAgents} {
		if rapid.IntRange(0, 19).Draw(t, string(id)) == 19 {
			sc.source(id, SourceStale)
		}
	}
	if rapid.Bool().Draw(t, "deployment") {
		sc.Deployments = []*OpenStackDeployment{{Meta: Meta{Namespace: namespaceOpenStack, Name: "osh-dev", UID: "osdpl"},
			Services: rapid.SampledFrom([][]string{nil, {"compute"}, {"compute", "tempest"}}).Draw(t, "services")}}
		sc.OpenStack = []*OpenStackStatus{{Meta: Meta{Name: "osh-dev"}, State: rapid.SampledFrom([]string{"APPLIED", "APPLYING"}).Draw(t, "osdpl")}}
	}
}

// testDaemons are the DaemonSets of a testCloud and their pods, and an OpenStackDeployment.
type testDaemons struct {
	sets      []*DaemonSet
	revisions []*DaemonRevision
	pods      []*DaemonPod
	agents    []*NetworkAgent
	services  []string // of the OpenStackDeployment
	job       *Job

	broken  map[string]bool // nodes on which a new pod does not become ready
	hash    string          // of new pods
	made    int
	down    int // how many pods of one set were down at once at most
	holdNew bool
}

func (d *testDaemons) objects() map[SourceID][]Object {
	out := map[SourceID][]Object{SourceDaemonSets: nil, SourceRevisions: nil, SourceDaemonPods: nil, SourceFabricSets: nil, SourceFabricRevisions: nil,
		SourceFabricPods: nil, SourceOpenStackDeployment: nil, SourceTempestJob: nil, SourceStatefulSets: nil, SourceRedisSets: nil, SourceRedisPods: nil}
	for _, set := range d.sets {
		cp := *set
		sets, _, _ := daemonSources(set.Namespace)
		out[sets] = append(out[sets], &cp)
	}
	for _, r := range d.revisions {
		_, revisions, _ := daemonSources(r.Namespace)
		out[revisions] = append(out[revisions], r)
	}
	for _, p := range d.pods {
		cp := *p
		_, _, pods := daemonSources(p.Namespace)
		out[pods] = append(out[pods], &cp)
	}
	if d.services != nil {
		out[SourceOpenStackDeployment] = []Object{&OpenStackDeployment{Meta: Meta{Namespace: namespaceOpenStack, Name: "osh-dev", UID: "osdpl"}, Services: slices.Clone(d.services)}}
		out[SourceOpenStackStatus] = []Object{&OpenStackStatus{Meta: Meta{Namespace: namespaceOpenStack, Name: "osh-dev"}, State: "APPLIED"}}
	}
	if len(d.agents) > 0 {
		for _, a := range d.agents {
			cp := *a
			out[SourceNetworkAgents] = append(out[SourceNetworkAgents], &cp)
		}
	}
	if d.job != nil {
		cp := *d.job
		out[SourceTempestJob] = []Object{&cp}
	}
	return out
}

// withVRouters gives the cloud old vRouters on its nodes, of which none is in maintenance.
func (c *testCloud) withVRouters() *testCloud {
	c.cluster = nil // the update is over
	clear(c.requests)
	sc := newScene()
	set := sc.daemonSet(vRouters, "vrouter", true, "cmp-1", "cmp-2", "cmp-3")
	sc.old(vRouters, "cmp-1", "cmp-2", "cmp-3")
	c.daemons = testDaemons{sets: []*DaemonSet{set}, revisions: sc.DaemonRevisions[set.UID], pods: sc.DaemonPods[set.UID], hash: "new", broken: map[string]bool{}}
	return c
}

func (c *testCloud) DaemonPods(_ context.Context, set Ref, selector string) ([]*DaemonPod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := &c.daemons
	down := 0
	var out []*DaemonPod
	for _, p := range d.pods {
		if p.Owner != set.UID {
			continue
		}
		if !p.Deleting.IsZero() && !d.holdNew { // it ends, and its successor is there
			d.made++
			*p = DaemonPod{Meta: Meta{Namespace: p.Namespace, Name: fmt.Sprintf("%s-new-%d", p.Set, d.made), UID: fmt.Sprintf("new-%d", d.made), Created: worldTime},
				Owner: p.Owner, Set: p.Set, Node: p.Node, Hash: d.hash, Template: 2}
		} else if !p.Ready && p.Deleting.IsZero() && !d.broken[p.Node] {
			p.Ready = true
		}
		if !p.Ready {
			down++
		}
		cp := *p
		out = append(out, &cp)
	}
	d.down = max(d.down, down)
	if selector == "" {
		return nil, conflict("no selector")
	}
	return out, nil
}

func (c *testCloud) Pod(_ context.Context, namespace, name string) (*EndedPod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pods == nil {
		return nil, nil
	}
	for _, e := range c.pods.Ended {
		if e.Namespace == namespace && e.Name == name {
			return &e, nil
		}
	}
	return nil, nil
}

func (c *testCloud) deletePod(ref Ref, dryRun bool) error {
	do := func() error {
		if c.pods != nil {
			for _, e := range c.pods.Ended {
				switch {
				case e.Name != ref.Name || e.Namespace != ref.Namespace:
				case e.UID != ref.UID:
					return conflict("the UID is %s", e.UID)
				case !dryRun:
					left := *c.pods
					left.Ended = slices.DeleteFunc(slices.Clone(left.Ended), func(e EndedPod) bool { return e.UID == ref.UID })
					left.NotReady = endedNames(left.Ended)
					c.pods = &left
					return nil
				default:
					return nil
				}
			}
		}
		for _, p := range c.daemons.pods {
			if p.Name == ref.Name && p.Namespace == ref.Namespace {
				if p.UID != ref.UID {
					return conflict("the UID is %s", p.UID)
				}
				if !dryRun {
					p.Deleting, p.Ready = worldTime, false
				}
				return nil
			}
		}
		return &APIError{Kind: ErrNotFound, Call: "delete pod", Status: 404}
	}
	if dryRun {
		c.mu.Lock()
		defer c.mu.Unlock()
		return do()
	}
	return c.write("delete-pod", ref.Name, do)
}

func (c *testCloud) OpenStackServices(context.Context, Ref) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.daemons.services), nil
}

func (c *testCloud) setTempest(s SetTempest, dryRun bool) error {
	ref, service, add, services := s.Deployment, serviceTempest, s.Add, s.Services
	do := func() error {
		d := &c.daemons
		if ref.UID != "osdpl" || !slices.Equal(d.services, services) {
			return conflict("the services are %v", d.services)
		}
		switch {
		case dryRun:
		case add:
			d.services = append(slices.Clone(d.services), service)
		default:
			d.services = slices.DeleteFunc(slices.Clone(d.services), func(s string) bool { return s == service })
		}
		return nil
	}
	if dryRun {
		c.mu.Lock()
		defer c.mu.Unlock()
		return do()
	}
	return c.write("services", fmt.Sprintf("%s %v", service, add), do)
}
