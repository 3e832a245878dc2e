package openstack

import (
	"context"
	"sync"

	"lockstep/core"
	"lockstep/core/permittest"
	"lockstep/nova"
)

// novaClient is the adapter's client for the administrator.
func (d *desk) novaClient() *nova.Client {
	d.Helper()
	config, err := nova.Load(nova.Options{Cloud: d.admin.name, CloudsYAML: d.suite.cloud.CloudsYAML, UserAgent: "lockstep-contract", Rate: 50})
	if err != nil {
		d.Fatal(err)
	}
	c := nova.Connect(config)
	d.Cleanup(c.Close)
	return c
}

// hand is the adapter, through which a case reads and, with the Permits of tests, writes.
type hand struct {
	*nova.Checker
	d      *desk
	writer *nova.Writer
}

// write makes a change.
func (h hand) write(c core.Change) error {
	h.d.Helper()
	return h.writer.Write(h.d.Context(), permittest.For(h.d, c), c)
}

// does makes Nova perform an action on a server, or on a migration of it.
func (h hand) does(what core.IntentKind, s *server, migration int) error {
	h.d.Helper()
	return h.write(core.InstanceAction{Do: what, Instance: core.Ref{Kind: core.KindInstance, UID: s.ID}, MigrationID: migration})
}

// writer returns the adapter's hand.
func (d *desk) writer() hand {
	d.Helper()
	c := d.novaClient()
	return hand{nova.NewChecker(c), d, nova.NewWriter(c, nil)}
}

// eye is what the adapter has reported of the cloud.
type eye struct {
	*desk
	mu         sync.Mutex
	instances  map[string]*core.Instance
	migrations map[string]*core.Migration // the newest, by instance
	services   map[string]*core.ComputeService
	states     map[core.SourceID]string
}

// watch makes the adapter poll for as long as the case runs, with some hosts in focus.
func (d *desk) watch(hosts ...string) (*eye, hand) {
	d.Helper()
	e := &eye{desk: d, instances: map[string]*core.Instance{}, migrations: map[string]*core.Migration{},
		services: map[string]*core.ComputeService{}, states: map[core.SourceID]string{}}
	client := d.novaClient()
	p := nova.NewPoller(client, e.see, nova.PollOptions{Pace: 20})
	p.SetHosts(hosts, true)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { p.Run(ctx) })
	d.Cleanup(func() { cancel(); done.Wait() })
	return e, hand{nova.NewChecker(client), d, nova.NewWriter(client, p.Nudge)}
}

func (e *eye) see(delta core.Delta) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if delta.State != "" {
		e.states[delta.Source] = string(delta.State)
		if delta.Err != nil {
			e.states[delta.Source] += " (" + delta.Err.Error() + ")"
		}
	}
	for _, o := range delta.Upserts {
		switch o := o.(type) {
		case *core.Instance:
			e.instances[o.ID] = o
		case *core.Migration:
			if last := e.migrations[o.InstanceID]; last == nil || last.ID <= o.ID {
				e.migrations[o.InstanceID] = o
			}
		case *core.ComputeService:
			e.services[o.Host] = o
		}
	}
	for _, key := range delta.Deletes {
		if delta.Source == core.SourceInstances {
			delete(e.instances, key)
		}
	}
}

// sees waits until the adapter has reported the expected server and its newest migration; each is empty while nothing was
// reported.
func (e *eye) sees(what string, s *server, told func(i core.Instance, m core.Migration) bool) {
	e.Helper()
	var i core.Instance
	var m core.Migration
	defer func() {
		if e.Failed() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.Logf("the adapter last told of %+v and %+v; its sources: %v", i, m, e.states)
		}
	}()
	e.until("the adapter sees "+what, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		i, m = core.Instance{}, core.Migration{}
		if seen := e.instances[s.ID]; seen != nil {
			i = *seen
		}
		if seen := e.migrations[s.ID]; seen != nil {
			m = *seen
		}
		return told(i, m)
	})
}

// seesService waits until the adapter has reported the expected compute service of a host.
func (e *eye) seesService(what, host string, told func(s core.ComputeService) bool) {
	e.Helper()
	e.until("the adapter sees the service of "+host+" "+what, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		s := e.services[host]
		return s != nil && told(*s)
	})
}
