package nova

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"lockstep/core"
)

// computeServices polls the nova-compute services: one short list.
func (p *Poller) computeServices() pollFunc {
	known := 0
	return func(ctx context.Context, _ bool) (time.Duration, error) {
		services, err := p.c.listServices(ctx, "")
		if err != nil {
			return 0, err
		}
		if len(services) == 0 && known > 0 {
			return 0, cellAway("list compute services", fmt.Sprintf("it shows no nova-compute any more; it showed %d", known))
		}
		known = len(services)
		p.emit(core.Delta{Source: core.SourceComputeServices, State: core.SourceLive, Replace: true, Upserts: objects(services)})
		return p.scaled(servicesEvery), nil
	}
}

// projects polls the names of the projects, which rarely change.
func (p *Poller) projects() pollFunc {
	return func(ctx context.Context, _ bool) (time.Duration, error) {
		projects, err := p.c.listProjects(ctx)
		if err != nil {
			return 0, err
		}
		p.emit(core.Delta{Source: core.SourceProjects, State: core.SourceLive, Replace: true, Upserts: objects(projects)})
		return p.scaled(projectsEvery), nil
	}
}

// agentPoll polls the network agents: all of them now and then, those of the focus hosts often. Silent agents are asked for each time:
// somebody waits for them, and may have mended them. What room a request has left is for the others, in turn: those of 500 hosts are known
// to four minutes then, and while no host is in focus, what is known does not get old for lack of a question.
type agentPoll struct {
	p      *Poller
	known  map[string]*core.NetworkAgent
	relist time.Time // when all are due again
	turn   string    // the host that was asked last in turn
}

func newAgentPoll(p *Poller) *agentPoll {
	return &agentPoll{p: p, known: map[string]*core.NetworkAgent{}}
}

// hostsPerQuery keeps the URL of a request short.
const hostsPerQuery = 40

func (a *agentPoll) poll(ctx context.Context, _ bool) (time.Duration, error) {
	now := wallClock()
	if !now.Before(a.relist) {
		agents, err := a.p.c.listAgents(ctx)
		if err != nil {
			return 0, err
		}
		if err := a.loads(ctx, agents); err != nil {
			return 0, err
		}
		clear(a.known)
		for _, agent := range agents {
			a.known[agent.ID] = agent
		}
		a.relist = now.Add(a.p.scaled(relistEvery))
		a.p.emit(core.Delta{Source: core.SourceNetworkAgents, State: core.SourceLive, Replace: true, Upserts: objects(agents)})
		return a.p.scaled(agentsEvery), nil
	}
	focus, _ := a.p.hosts()
	focus = slices.Concat(focus, a.p.routersOn())
	again := a.p.scaled(agentsEvery)
	if len(focus) == 0 {
		again = min(a.p.scaled(agentsAtRest), max(a.relist.Sub(now), a.p.floor))
	}
	focus = distinct(focus, a.silent())
	if room := len(focus) % hostsPerQuery; room > 0 || len(focus) == 0 {
		focus = distinct(focus, a.inTurn(hostsPerQuery-room))
	}
	for hosts := range slices.Chunk(focus, hostsPerQuery) {
		agents, err := a.p.c.listAgents(ctx, hosts...)
		if err != nil {
			return 0, err
		}
		if err := a.loads(ctx, agents); err != nil {
			return 0, err
		}
		a.merge(hosts, agents)
	}
	if len(focus) == 0 { // there is no agent
		a.relist = time.Time{}
	}
	return again, nil
}

func distinct(hosts ...[]string) []string {
	all := slices.Concat(hosts...)
	slices.Sort(all)
	return slices.Compact(all)
}

// inTurn are the next hosts that have agents, so many at most.
func (a *agentPoll) inTurn(most int) []string {
	var all []string
	for _, agent := range a.known {
		if agent.Host != "" {
			all = append(all, agent.Host)
		}
	}
	all = distinct(all)
	from, there := slices.BinarySearch(all, a.turn)
	if there {
		from++
	}
	hosts := slices.Concat(all[from:], all[:from])
	hosts = hosts[:min(len(hosts), most)]
	if len(hosts) > 0 {
		a.turn = hosts[len(hosts)-1]
	}
	return hosts
}

// silent are the hosts with agents that did not report when they were asked for last, as many as one request takes.
func (a *agentPoll) silent() []string {
	var all []string
	for _, agent := range a.known {
		if !agent.Alive && agent.Host != "" {
			all = append(all, agent.Host)
		}
	}
	all = distinct(all)
	return all[:min(len(all), hostsPerQuery)]
}

// loads asks what the agents of some hosts serve.
func (a *agentPoll) loads(ctx context.Context, agents []*core.NetworkAgent) error {
	hosts := a.p.routersOn()
	for _, agent := range agents {
		if !slices.Contains(hosts, agent.Host) {
			continue
		}
		if err := a.p.c.askLoad(ctx, agent); err != nil {
			return err
		}
	}
	return nil
}

// merge passes on what is new of the agents of some hosts.
func (a *agentPoll) merge(hosts []string, agents []*core.NetworkAgent) {
	d := core.Delta{Source: core.SourceNetworkAgents, State: core.SourceLive}
	seen := map[string]bool{}
	for _, agent := range agents {
		seen[agent.ID] = true
		if old := a.known[agent.ID]; old == nil || !reflect.DeepEqual(old, agent) {
			a.known[agent.ID] = agent
			d.Upserts = append(d.Upserts, agent)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.known)) {
		if agent := a.known[id]; !seen[id] && slices.Contains(hosts, agent.Host) {
			delete(a.known, id)
			d.Deletes = append(d.Deletes, id)
		}
	}
	d.Touch = len(d.Upserts) == 0 && len(d.Deletes) == 0
	a.p.emit(d)
}

// objects is a list of one type as a Delta carries it.
func objects[T core.Object](list []T) []core.Object {
	all := make([]core.Object, len(list))
	for i, o := range list {
		all[i] = o
	}
	return all
}

// same tells whether two instances are equal.
func same(a, b *core.Instance) bool {
	if a == b {
		return a != nil
	}
	if a == nil || b == nil || a.ID != b.ID || a.Host != b.Host || a.Status != b.Status || a.TaskState != b.TaskState ||
		!a.Updated.Equal(b.Updated) {
		return false
	}
	return reflect.DeepEqual(a, b)
}
