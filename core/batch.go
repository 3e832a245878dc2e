package core

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
)

// runBatch does the items of a batch in order, at most AtOnce at a time, each planned again from the newest Snapshot right
// before it. It pauses by itself at the first failure and when the gate closes, and goes on only when the operator says so.
func (e *Engine) runBatch(op *operation, b Batch) {
	atOnce := max(b.AtOnce, 1)
	var (
		running sync.WaitGroup
		slots   = make(chan struct{}, atOnce)
		mu      sync.Mutex
		failed  string // why the batch pauses; empty while nothing failed
	)
	fail := func(why string) {
		mu.Lock()
		defer mu.Unlock()
		if failed == "" {
			failed = why
		}
	}
	takeFailure := func() string {
		mu.Lock()
		defer mu.Unlock()
		why := failed
		failed = ""
		return why
	}

	for i := 0; i < len(b.Items); i++ {
		select {
		case slots <- struct{}{}:
		case <-e.ctx.Done():
		}
		if !e.mayBegin(op, i, takeFailure) {
			break
		}
		if op.takeSkip() {
			op.setItem(i, OperationSkipped, "left out by the operator", e.cfg.Clock())
			<-slots
			continue
		}
		running.Add(1)
		go func() {
			defer running.Done()
			defer func() { <-slots }()
			state, text := e.runItem(op, i, b.Items[i])
			op.setItem(i, state, text, e.cfg.Clock())
			if state == OperationFailed || state == OperationUnknown {
				fail(b.Items[i].Label + ": " + text)
			}
			e.changed()
		}()
		if atOnce == 1 {
			running.Wait() // a failure must be seen before the next item begins
		}
	}
	running.Wait()

	// What is left over was never begun.
	stopped := false
	for i, item := range op.snapshot().Items {
		if item.State == OperationQueued {
			stopped = true
			op.setItem(i, OperationStopped, "not begun", e.cfg.Clock())
		}
	}
	state, text := op.sum(stopped)
	op.set(state, text, e.cfg.Clock())
}

// mayBegin waits while the batch is paused, and tells whether item i may begin: not when the operator has stopped the
// batch or Lockstep leaves.
func (e *Engine) mayBegin(op *operation, i int, takeFailure func() string) bool {
	why := takeFailure()
	if why == "" {
		if err := e.mayWrite(); err != nil {
			why = err.Error()
		}
	}
	op.mu.Lock()
	if why != "" && i > 0 {
		op.paused = true
	}
	op.mu.Unlock()
	for {
		op.mu.Lock()
		paused, stopped := op.paused, op.stopped
		op.mu.Unlock()
		if stopped || e.ctx.Err() != nil {
			return false
		}
		if !paused {
			if err := e.mayWrite(); err == nil {
				op.set(OperationRunning, "", e.cfg.Clock())
				return true
			} else {
				why = err.Error()
				op.mu.Lock()
				op.paused = true
				op.mu.Unlock()
			}
		}
		text := "paused by the operator"
		if why != "" {
			text = "paused: " + why
		}
		op.set(OperationPaused, text, e.cfg.Clock())
		e.changed()
		select {
		case <-op.control:
		case <-e.ctx.Done():
			return false
		}
	}
}

func (op *operation) takeSkip() bool {
	op.mu.Lock()
	defer op.mu.Unlock()
	if op.skip == 0 {
		return false
	}
	op.skip--
	return true
}

// runItem plans one item again and does it. An item that has nothing left to do is skipped, one that is not as the grant
// was given for is a failure.
func (e *Engine) runItem(op *operation, i int, item BatchItem) (OperationState, string) {
	s := e.Snapshot().without(op.state.ID)
	step := Plan(s, item.Intent)
	if gone, why := nothingLeft(s, item); gone {
		return OperationSkipped, why
	}
	if step.Change == nil {
		return OperationFailed, "it cannot be done any more: " + step.Blocker()
	}
	if !reflect.DeepEqual(step.Change, item.Change) {
		return OperationFailed, "it has changed since the batch was confirmed: " + changeText(item.Change) + " → " + changeText(step.Change)
	}
	if changed := ChangedFacts(item.Basis, step.Basis); len(changed) > 0 {
		return OperationFailed, "it has changed since the batch was confirmed: " + strings.Join(changed, "; ")
	}
	if b := step.Blocker(); b != "" {
		return OperationFailed, b
	}
	op.setItem(i, OperationRunning, "", e.cfg.Clock())
	e.changed()
	return e.perform(op, i, step, step.Change)
}

// nothingLeft tells whether what an item is for has happened already: the instance is gone from the host, or the value is
// set.
func nothingLeft(s *Snapshot, item BatchItem) (bool, string) {
	switch c := item.Change.(type) {
	case InstanceAction:
		in := s.Instances[c.Instance.UID]
		if in == nil {
			return true, "it does not exist any more"
		}
		if in.Host != c.Host && in.Host != "" {
			return true, "it is on " + s.Label(in.Host) + " already"
		}
	case SetNodeAnnotation:
		n := s.Nodes[c.Node.Name]
		if n == nil || n.UID != c.Node.UID {
			return true, "the node does not exist any more"
		}
		v, set := n.Annotations[c.Key]
		if set && c.New != nil && v == *c.New || !set && c.New == nil {
			return true, "it is set already"
		}
	case RestartPod:
		v, ok := s.DaemonView(c.Set.UID)
		if !ok {
			return false, ""
		}
		if p := v.on(c.Node); p != nil && p.UID != c.Pod.UID && p.Ready {
			if old, known := v.isOld(p); known && !old {
				return true, "a new pod is there already"
			}
		}
	}
	return false, ""
}

func changeText(c Change) string {
	switch c := c.(type) {
	case InstanceAction:
		return fmt.Sprintf("%s, %s on %s", c.Do, c.Status, c.Host)
	case SetNodeAnnotation:
		return annotationText(c.Key, c.New) + " instead of " + textOr(c.Old, "(not set)")
	case SetComputeService:
		return serviceText(&ComputeService{Enabled: c.Enabled, DisabledReason: c.Reason})
	case RestartPod:
		return "restart pod " + c.Pod.Name + " on " + c.Node
	case SetTempest:
		return c.text()
	}
	return fmt.Sprintf("%T", c)
}

// sum is how a batch ended, from its items.
func (op *operation) sum(stopped bool) (OperationState, string) {
	counts := map[OperationState]int{}
	items := op.snapshot().Items
	for _, item := range items {
		counts[item.State]++
	}
	parts := []string{fmt.Sprintf("%d of %d done", counts[OperationDone], len(items))}
	for _, s := range []OperationState{OperationFailed, OperationUnknown, OperationSkipped, OperationStopped} {
		if counts[s] > 0 {
			word := string(s)
			if s == OperationStopped {
				word = "not begun"
			}
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], word))
		}
	}
	text := strings.Join(parts, ", ")
	switch {
	case counts[OperationFailed] > 0:
		return OperationFailed, text
	case counts[OperationUnknown] > 0:
		return OperationUnknown, text
	case stopped:
		return OperationStopped, text
	}
	return OperationDone, text
}

// without is the Snapshot as it would be without one operation: a batch must not be in its own way.
func (s *Snapshot) without(operation string) *Snapshot {
	c := s.copyFacts()
	c.Operations = nil
	for _, op := range s.Operations {
		if op.ID != operation {
			c.Operations = append(c.Operations, op)
		}
	}
	return c
}

// withInstances is the Snapshot as it would be if exactly these instances were on the host.
func (s *Snapshot) withInstances(host string, found []*Instance) *Snapshot {
	c := s.copyFacts()
	c.Instances, c.ByHost = maps.Clone(s.Instances), maps.Clone(s.ByHost)
	if c.Instances == nil {
		c.Instances = map[string]*Instance{}
	}
	if c.ByHost == nil {
		c.ByHost = map[string][]*Instance{}
	}
	c.ByHost[host] = found
	for _, in := range found {
		c.Instances[in.ID] = in
	}
	return c
}

// copyFacts is a Snapshot of the same facts, with nothing derived from them yet.
func (s *Snapshot) copyFacts() *Snapshot {
	return &Snapshot{
		Revision: s.Revision, Now: s.Now, Wall: s.Wall, Cluster: s.Cluster, Place: s.Place, Operator: s.Operator, Sources: s.Sources,
		Nodes: s.Nodes, ClusterLocks: s.ClusterLocks, NodeLocks: s.NodeLocks, ClusterRequests: s.ClusterRequests,
		NodeRequests: s.NodeRequests, Deletions: s.Deletions, Disablings: s.Disablings, OpenStack: s.OpenStack,
		Controller: s.Controller, Pods: s.Pods, Services: s.Services, Instances: s.Instances, ByHost: s.ByHost,
		Migrations: s.Migrations, Agents: s.Agents, Projects: s.Projects, Management: s.Management, History: s.History, Operations: s.Operations,
		Write: s.Write, Settings: s.Settings,
		DaemonSets: s.DaemonSets, DaemonRevisions: s.DaemonRevisions, DaemonPods: s.DaemonPods, Deployments: s.Deployments, TempestJob: s.TempestJob,
	}
}
