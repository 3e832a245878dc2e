package engine

import (
	"context"
	"fmt"
	"slices"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/scene"
)

// testDaemons are the DaemonSets of a testCloud, their pods, and an OpenStackDeployment.
type testDaemons struct {
	sets      []*core.DaemonSet
	revisions []*core.DaemonRevision
	pods      []*core.DaemonPod
	agents    []*core.NetworkAgent
	services  []string // of the OpenStackDeployment
	job       *core.Job

	broken  map[string]bool // nodes on which a new pod does not become ready
	hash    string          // of new pods
	made    int
	down    int // how many pods of one set were down at once at most
	holdNew bool
}

func (d *testDaemons) objects() map[core.SourceID][]core.Object {
	out := map[core.SourceID][]core.Object{core.SourceDaemonSets: nil, core.SourceRevisions: nil, core.SourceDaemonPods: nil,
		core.SourceFabricSets: nil, core.SourceFabricRevisions: nil,
		core.SourceFabricPods: nil, core.SourceOpenStackDeployment: nil, core.SourceTempestJob: nil, core.SourceStatefulSets: nil,
		core.SourceRedisSets: nil, core.SourceRedisPods: nil}
	for _, set := range d.sets {
		cp := *set
		sets, _, _ := progress.DaemonSources(set.Namespace)
		out[sets] = append(out[sets], &cp)
	}
	for _, r := range d.revisions {
		_, revisions, _ := progress.DaemonSources(r.Namespace)
		out[revisions] = append(out[revisions], r)
	}
	for _, p := range d.pods {
		cp := *p
		_, _, pods := progress.DaemonSources(p.Namespace)
		out[pods] = append(out[pods], &cp)
	}
	if d.services != nil {
		out[core.SourceOpenStackDeployment] = []core.Object{&core.OpenStackDeployment{Meta: core.Meta{Namespace: core.NamespaceOpenStack,
			Name: "osh-dev", UID: "osdpl"}, Services: slices.Clone(d.services)}}
		out[core.SourceOpenStackStatus] = []core.Object{&core.OpenStackStatus{Meta: core.Meta{Namespace: core.NamespaceOpenStack,
			Name: "osh-dev"}, State: "APPLIED"}}
	}
	if len(d.agents) > 0 {
		for _, a := range d.agents {
			cp := *a
			out[core.SourceNetworkAgents] = append(out[core.SourceNetworkAgents], &cp)
		}
	}
	if d.job != nil {
		cp := *d.job
		out[core.SourceTempestJob] = []core.Object{&cp}
	}
	return out
}

// withVRouters adds old vRouters to the cloud's nodes; no node is in maintenance.
func (c *testCloud) withVRouters() *testCloud {
	c.cluster = nil // the update is over
	clear(c.requests)
	sc := scene.NewScene()
	set := sc.DaemonSet(scene.VRouters, "vrouter", true, "cmp-1", "cmp-2", "cmp-3")
	sc.Old(scene.VRouters, "cmp-1", "cmp-2", "cmp-3")
	c.daemons = testDaemons{sets: []*core.DaemonSet{set}, revisions: sc.DaemonRevisions[set.UID], pods: sc.DaemonPods[set.UID], hash: "new",
		broken: map[string]bool{}}
	return c
}

func (c *testCloud) DaemonPods(_ context.Context, set core.Ref, selector string) ([]*core.DaemonPod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := &c.daemons
	down := 0
	var out []*core.DaemonPod
	for _, p := range d.pods {
		if p.Owner != set.UID {
			continue
		}
		if !p.Deleting.IsZero() && !d.holdNew { // it ends, and its successor appears
			d.made++
			*p = core.DaemonPod{Meta: core.Meta{Namespace: p.Namespace, Name: fmt.Sprintf("%s-new-%d", p.Set, d.made),
				UID: fmt.Sprintf("new-%d", d.made), Created: worldTime},
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

func (c *testCloud) Pod(_ context.Context, namespace, name string) (*core.EndedPod, error) {
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

func (c *testCloud) deletePod(ref core.Ref, dryRun bool) error {
	do := func() error {
		if c.pods != nil {
			for _, e := range c.pods.Ended {
				switch {
				case e.Name != ref.Name || e.Namespace != ref.Namespace:
				case e.UID != ref.UID:
					return conflict("the UID is %s", e.UID)
				case !dryRun:
					left := *c.pods
					left.Ended = slices.DeleteFunc(slices.Clone(left.Ended), func(e core.EndedPod) bool { return e.UID == ref.UID })
					left.NotReady = progress.EndedNames(left.Ended)
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
		return &core.APIError{Kind: core.ErrNotFound, Call: "delete pod", Status: 404}
	}
	if dryRun {
		c.mu.Lock()
		defer c.mu.Unlock()
		return do()
	}
	return c.write("delete-pod", ref.Name, do)
}

func (c *testCloud) OpenStackServices(context.Context, core.Ref) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.daemons.services), nil
}

func (c *testCloud) setTempest(s core.SetTempest, dryRun bool) error {
	ref, service, add, services := s.Deployment, step.ServiceTempest, s.Add, s.Services
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
