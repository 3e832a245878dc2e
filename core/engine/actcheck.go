package engine

import (
	"context"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// actCheck returns what asks the servers right before a step of a played controller, because the Snapshot can be older than the last
// change. It is nil for all other steps.
func (e *Engine) actCheck(step core.Step) func(context.Context) error {
	checks := actChecks[step.Intent.Kind]
	if checks == nil {
		return nil
	}
	return func(ctx context.Context) error {
		s := e.Snapshot()
		a, played := progress.ActAs(s, step.Intent.Controller)
		if !played {
			return refuse("Lockstep does not play %s", step.Intent.Controller)
		}
		for _, check := range checks {
			if err := check(actCheckAt{e, s, a, step}, ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// nobodyElse reads the Deployment of the OpenStack controller right before a write in its name, where Lockstep plays it: two that write
// the same locks undo each other's work.
func (e *Engine) nobodyElse(ctx context.Context, step core.Step) error {
	s := e.Snapshot()
	a, played := progress.ActAs(s, step.Intent.Controller)
	if !played || a.Controller != core.ControllerOpenStack || e.cfg.Kubernetes == nil {
		return nil
	}
	now, err := e.cfg.Kubernetes.ControllerDeployment(ctx)
	if err != nil {
		return err
	}
	g := core.Guard{Holds: true}
	if progress.OutOfTheWay(&g, now, a.Absent); !g.Holds {
		return refuse("the OpenStack controller itself is not out of the way: %s", g.Answer)
	}
	return nil
}

// actCheckAt is the step to check, and the Snapshot that it is checked with.
type actCheckAt struct {
	e    *Engine
	s    *core.Snapshot
	a    core.ActAs
	step core.Step
}

// actChecks are the checks of each kind of step, in order.
var actChecks = map[core.IntentKind][]func(actCheckAt, context.Context) error{
	core.IntentActBegin:           {actCheckAt.requestStands, actCheckAt.withinTheRule, actCheckAt.quorumsHold},
	core.IntentActOutOfScheduling: {actCheckAt.requestStands},
	core.IntentActVolumeOut:       {actCheckAt.requestStands},
	core.IntentActRelease: {actCheckAt.requestStands, actCheckAt.outOfScheduling, actCheckAt.volumesOut, actCheckAt.noVolumes,
		actCheckAt.hostEmpty,
		actCheckAt.clusterPodsReady, actCheckAt.quorumsHold, actCheckAt.requestStands}, // once more: what lies between can take a minute
	core.IntentActVolumeIn:       {actCheckAt.nodePodsReady, actCheckAt.nobodyAsks},
	core.IntentActIntoScheduling: {actCheckAt.nodePodsReady, actCheckAt.computeUp, actCheckAt.nobodyAsks},
	core.IntentActDeleteClaim:    {},
	core.IntentActDropLock:       {actCheckAt.nodeGone, actCheckAt.noClaims},
	core.IntentActLetGo:          {actCheckAt.noClaims},
	core.IntentActRearm:          {actCheckAt.nodePodsReady, actCheckAt.backInScheduling, actCheckAt.volumesBack},
	core.IntentActFinish:         {actCheckAt.nodePodsReady, actCheckAt.backInScheduling, actCheckAt.volumesBack},
}

// nodeGone asks whether the node is still gone: the lock of one that is back holds it.
func (c actCheckAt) nodeGone(ctx context.Context) error {
	return c.e.nodeIsGone(ctx, c.step.Intent.Node)
}

// lastLook returns what asks the server right before a step about a lock or a request; nil when nothing is asked.
func (e *Engine) lastLook(st core.Step) func(context.Context) error {
	switch st.Intent.Kind {
	case core.IntentFreeLock:
		return e.nobodyTakes(st)
	case core.IntentClearInner, core.IntentRearmLock:
		return func(ctx context.Context) error { return e.notAskedFor(ctx, st.Node) }
	case core.IntentAskCluster, core.IntentAskNode:
		return func(ctx context.Context) error { return e.requestsAsConfirmed(ctx, st) }
	case core.IntentWithdraw:
		if st.Node == "" { // that of a node is named by its UID, and rests on no other request
			return func(ctx context.Context) error { return e.requestsAsConfirmed(ctx, st) }
		}
	case core.IntentOverrideLock:
		if st.Intent.State == core.LockInactive { // with another state LCM begins nothing
			return func(ctx context.Context) error { return e.lockAsConfirmed(ctx, st) }
		}
	}
	return e.actCheck(st)
}

// lockAsConfirmed reads, right before a lock is set inactive, what decides what LCM does then: the removal, the locks there, and the
// requests, and plans the step with that once more. LCM acts at once on the last lock that lets go: what was confirmed while another lock
// held the node is not done when none does.
func (e *Engine) lockAsConfirmed(ctx context.Context, st core.Step) error {
	s, node := e.Snapshot().CopyFacts(), st.Node
	locks := s.ClusterLocks
	if node != "" {
		locks = s.NodeLocks.At(node)
		if d := s.Deletions[node]; d != nil {
			if now, err := e.cfg.Kubernetes.DeletionRequest(ctx, d.Name, d.UID); err != nil {
				return err
			} else if now == nil {
				return refuse("the request for the node's removal is gone")
			}
		}
	}
	var now []*core.WorkloadLock
	for _, l := range locks {
		switch at, err := e.cfg.Kubernetes.Lock(ctx, l.Ref()); {
		case err == nil:
			now = append(now, at)
		case !isGone(err):
			return err
		}
	}
	if node != "" {
		s.NodeLocks = s.NodeLocks.With(map[string][]*core.WorkloadLock{node: now})
	} else {
		s.ClusterLocks = now
	}
	if err := e.readRequests(ctx, s); err != nil {
		return err
	}
	return stillAs(s, step.Plan(s, st.Intent), st.Target, st.Basis)
}

// requestsAsConfirmed reads all maintenance requests right before one is made, or that of the cluster is withdrawn, and plans the step with
// them once more: a colleague, or LCM, may have made or withdrawn another since the last Snapshot.
func (e *Engine) requestsAsConfirmed(ctx context.Context, st core.Step) error {
	s := e.Snapshot().CopyFacts()
	if err := e.readRequests(ctx, s); err != nil {
		return err
	}
	s.Operations = nil // the running one is among them
	now := step.Plan(s, st.Intent)
	for _, id := range []core.GuardID{core.GuardNotAsked, core.GuardClusterByHand, core.GuardConcurrency, core.GuardNoNodes} {
		if g, unmet := now.Unmet(id); unmet {
			return refuse("%s: %s", g.Text, g.Answer)
		}
	}
	return stillAs(s, now, st.Target, st.Basis)
}

// readRequests reads all maintenance requests from the server into a Snapshot.
func (e *Engine) readRequests(ctx context.Context, s *core.Snapshot) error {
	requests, err := e.cfg.Kubernetes.Requests(ctx)
	if err != nil {
		return err
	}
	s.ClusterRequests, s.NodeRequests = nil, map[string][]*core.MaintenanceRequest{}
	for _, r := range requests {
		if r.Kind == core.KindClusterMaintenanceRequest {
			s.ClusterRequests = append(s.ClusterRequests, r)
		} else {
			s.NodeRequests[r.Node] = append(s.NodeRequests[r.Node], r)
		}
	}
	return nil
}

// notAskedFor asks whether the node still has no maintenance request. With one the controller is at work there: it has set anew what is to
// be cleared, to the same value, or is to find what it has let go.
func (e *Engine) notAskedFor(ctx context.Context, node string) error {
	requests, err := e.cfg.Kubernetes.Requests(ctx)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(requests, func(r *core.MaintenanceRequest) bool { return r.Node == node }); i >= 0 {
		return refuse("the node has a NodeMaintenanceRequest now, since %s", wording.ClockText(requests[i].Created))
	}
	return nil
}

// nobodyTakes returns what asks, right before the lock of a node is let go, whether LCM could take the node then: whether the other lock
// that holds it still does, or, where none does, whether there is a request by now.
func (e *Engine) nobodyTakes(st core.Step) func(context.Context) error {
	i := slices.IndexFunc(st.Basis, func(f core.Fact) bool { return f.Name == step.HeldFactName })
	if i < 0 {
		return func(ctx context.Context) error {
			requests, err := e.cfg.Kubernetes.Requests(ctx)
			if err != nil {
				return err
			}
			for _, r := range requests {
				switch {
				case r.Kind == core.KindClusterMaintenanceRequest:
					return refuse("an update runs now: LCM may take the node at any moment")
				case r.Node == st.Node && r.Deleting.IsZero():
					return refuse("LCM asks for the node now")
				}
			}
			return nil
		}
	}
	return func(ctx context.Context) error {
		locks, err := e.cfg.Kubernetes.NodeLocks(ctx)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(locks, func(l *core.WorkloadLock) bool {
			return l.UID == st.Basis[i].Value && l.State() == core.LockActive && l.Deleting.IsZero()
		}) {
			return refuse("the lock that holds the node otherwise is gone, or is not active any more")
		}
		return nil
	}
}

// requestStands asks whether the request for which the step was granted is still there. Without it LCM does not take the node now, and
// a released lock lets LCM go on at once when it asks the next time.
func (c actCheckAt) requestStands(ctx context.Context) error {
	node := c.step.Intent.Node
	if c.removal() {
		return c.removalStands(ctx)
	}
	r := c.s.ClusterRequest()
	if node != "" {
		r = c.s.NodeRequest(node)
	}
	i := slices.IndexFunc(c.step.Basis, func(f core.Fact) bool { return f.Name == step.RequestFactName })
	if r == nil || i < 0 || c.step.Basis[i].Value != r.UID {
		return refuse("its maintenance request is gone, or is another one now")
	}
	now, err := c.e.cfg.Kubernetes.Request(ctx, r.Ref())
	switch {
	case err != nil && isGone(err):
		return refuse("the request is gone: %v", err)
	case err != nil:
		return err
	case !now.Deleting.IsZero():
		return refuse("the request is being removed")
	case now.Scope != r.Scope:
		return refuse("the request has changed: its scope is %q now", wording.OneLine(string(now.Scope), 40))
	case progress.FinalizerOn(c.s, r.Meta) != "" && progress.FinalizerOn(c.s, now.Meta) == "":
		return refuse("the request does not bear the controller's finalizer any more")
	}
	return nil
}

// nobodyAsks asks whether there is still no request for the node but one that is being removed: what is put on a node that is asked for
// again goes down with it.
func (c actCheckAt) nobodyAsks(ctx context.Context) error {
	requests, err := c.e.cfg.Kubernetes.Requests(ctx)
	if err != nil {
		return err
	}
	for _, r := range requests {
		if r.Kind == core.KindNodeMaintenanceRequest && r.Node == c.step.Intent.Node && r.Deleting.IsZero() {
			return refuse("the node is asked for again, since %s", wording.ClockText(r.Created))
		}
	}
	return nil
}

// removalStands asks the same about the request for a removal.
func (c actCheckAt) removalStands(ctx context.Context) error {
	d := progress.AsksRemoval(c.s, c.step.Intent.Node)
	i := slices.IndexFunc(c.step.Basis, func(f core.Fact) bool { return f.Name == step.RemovalFactName })
	if d == nil || i < 0 || c.step.Basis[i].Value != d.UID {
		return refuse("the request for its removal is gone, or is another one now")
	}
	now, err := c.e.cfg.Kubernetes.DeletionRequest(ctx, d.Name, d.UID)
	switch {
	case err != nil:
		return err
	case now == nil:
		return refuse("the request for its removal is gone")
	case !now.Deleting.IsZero():
		return refuse("the request for its removal is being removed")
	}
	return nil
}

// withinTheRule reads all locks and asks whether the rule for how many nodes may be worked on at a time still holds.
func (c actCheckAt) withinTheRule(ctx context.Context) error {
	s := c.s.CopyFacts()
	if err := c.e.readNodeLocks(ctx, s); err != nil {
		return err
	}
	s.Operations = nil // the running one is among them
	now := step.Plan(s, c.step.Intent)
	for _, id := range []core.GuardID{core.GuardConcurrency, core.GuardZone} {
		if g, unmet := now.Unmet(id); unmet {
			return refuse("%s: %s", g.Text, g.Answer)
		}
	}
	return nil
}

// readNodeLocks reads all locks of nodes from the server into a Snapshot.
func (e *Engine) readNodeLocks(ctx context.Context, s *core.Snapshot) error {
	locks, err := e.cfg.Kubernetes.NodeLocks(ctx)
	if err != nil {
		return err
	}
	of := map[string][]*core.WorkloadLock{}
	for _, l := range locks {
		of[l.Node] = append(of[l.Node], l)
	}
	s.NodeLocks = core.NamesIn(of)
	return nil
}

// compute reads the node's nova-compute from Nova; nil where the step does not concern one.
func (c actCheckAt) compute(ctx context.Context) (*core.ComputeService, error) {
	node := c.step.Intent.Node
	if node == "" || c.a.Controller != core.ControllerOpenStack || !progress.HasGuests(c.s, c.a, node) ||
		c.s.Services[c.s.HostOf(node)] == nil {
		return nil, nil
	}
	if c.e.cfg.OpenStack == nil {
		return nil, refuse("Nova cannot be asked")
	}
	return c.e.cfg.OpenStack.ComputeService(ctx, c.s.HostOf(node))
}

func (c actCheckAt) outOfScheduling(ctx context.Context) error {
	svc, err := c.compute(ctx)
	if err == nil && svc != nil && svc.Enabled {
		err = refuse("nova-compute of %s is enabled again: the scheduler may put instances on it", c.s.Label(c.step.Intent.Node))
	}
	return err
}

func (c actCheckAt) computeUp(ctx context.Context) error {
	svc, err := c.compute(ctx)
	if err == nil && svc != nil && (!svc.Up || svc.ForcedDown) {
		err = refuse("nova-compute of %s is %s now", c.s.Label(c.step.Intent.Node), step.UpText(svc))
	}
	return err
}

func (c actCheckAt) backInScheduling(ctx context.Context) error {
	svc, err := c.compute(ctx)
	if err == nil && svc != nil && !svc.Enabled && svc.DisabledReason == core.DisabledReasonMaintenance {
		err = refuse("nova-compute of %s is %s", c.s.Label(c.step.Intent.Node), core.ServiceText(svc))
	}
	return err
}

// removal tells whether the node is to be removed rather than maintained.
func (c actCheckAt) removal() bool {
	return c.step.Intent.Node != "" && progress.TurnOn(c.s, c.a, c.step.Intent.Node) == progress.TurnRemove
}

func (c actCheckAt) hostEmpty(ctx context.Context) error {
	if c.removal() {
		return c.nothingOn(ctx)
	}
	node := c.step.Intent.Node
	if node == "" || !progress.MovesInstances(c.s, c.a, node) {
		return nil
	}
	if err := c.sameMode(ctx, node); err != nil {
		return err
	}
	return c.e.hostIsSafe(ctx, node)
}

// sameMode asks whether the node's mode is the one by which is judged what may go down with it.
func (c actCheckAt) sameMode(ctx context.Context, node string) error {
	n := c.s.Nodes[node]
	if n == nil {
		return refuse("the node is gone")
	}
	now, err := c.e.cfg.Kubernetes.NodeAnnotation(ctx, n.Ref(), core.AnnotationMigrationMode)
	if err != nil {
		return err
	}
	if !step.EqualText(now, n.Annotation(core.AnnotationMigrationMode)) {
		return refuse("the node's migration mode has just changed: %s", modeText(now))
	}
	return nil
}

// modeText is a node's annotation of its migration mode in words.
func modeText(mode *string) string {
	if mode == nil {
		return "it is not set any more"
	}
	return "it is " + wording.OneLine(*mode, 40)
}

// nothingOn asks Nova, right before a node is let go for good, whether any instance is on it, whatever its state.
func (c actCheckAt) nothingOn(ctx context.Context) error {
	node := c.step.Intent.Node
	if c.a.Controller != core.ControllerOpenStack {
		return nil
	}
	if c.e.cfg.OpenStack == nil {
		return refuse("Nova cannot be asked what is on the host")
	}
	found, err := c.e.instancesOn(ctx, c.s.HostOf(node))
	if err != nil {
		return err
	}
	if len(found) > 0 {
		names := make([]string, len(found))
		for i, in := range found {
			names[i] = progress.InstanceLabel(in)
		}
		return refuse("Nova still shows on %s: %s", c.s.Label(node), wording.Clip(strings.Join(names, ", "), 300))
	}
	if !progress.HasGuests(c.s, c.a, node) {
		return nil // nothing comes to a node that is not a compute
	}
	return c.e.nothingComes(ctx, node)
}

// clusterPodsReady asks whether all pods of the controller are ready, before its cluster lock is released.
func (c actCheckAt) clusterPodsReady(ctx context.Context) error {
	if c.step.Intent.Node != "" {
		return nil
	}
	return c.podsReady(ctx, "")
}

// nodePodsReady asks whether the controller's pods on the node are ready, before the node is taken back.
func (c actCheckAt) nodePodsReady(ctx context.Context) error {
	if c.step.Intent.Node == "" {
		return nil
	}
	return c.podsReady(ctx, c.step.Intent.Node)
}

func (c actCheckAt) podsReady(ctx context.Context, node string) error {
	if c.a.Namespace == "" {
		return nil
	}
	pods, err := c.e.cfg.Kubernetes.NotReadyPods(ctx, c.a.Namespace, node)
	if err != nil {
		return err
	}
	if len(pods) > 0 {
		return refuse("pods in %s are not ready: %s", c.a.Namespace, wording.Clip(wording.Some(pods, 6), 300))
	}
	return nil
}

// quorumsHold asks whether the StatefulSets that need a quorum can do without the node's pods.
func (c actCheckAt) quorumsHold(ctx context.Context) error {
	return c.e.quorumCheck(ctx, c.step.Intent.Controller, c.step.Intent.Node)
}

// quorumCheck asks the server whether every StatefulSet that needs a quorum can do without the node. It does so right before a played
// controller gives the node to LCM, because a pod may have gone down since the Snapshot was made. Of a node that seems to have no part in a
// quorum, those sets are asked that the Snapshot does not know.
func (e *Engine) quorumCheck(ctx context.Context, controller, node string) error {
	s := e.Snapshot()
	if controller != core.ControllerOpenStack || node == "" {
		return nil
	}
	matters := progress.QuorumMatters(s, node)
	s, asked := s.CopyFacts(), false
	for _, q := range progress.QuorumSets {
		if !q.AskedFirst() || !matters && progress.QuorumUnknown(s, q) == "" {
			continue
		}
		set, pods, err := e.cfg.Kubernetes.StatefulSet(ctx, q.Namespace, q.Name)
		if err != nil {
			return err
		}
		if set == nil {
			continue
		}
		v := progress.QuorumView{QuorumSet: q, Replicas: set.Replicas, Pods: pods}
		if !matters && !v.On(node) {
			continue
		}
		if !asked { // another node may have been let go since the Snapshot was made
			if err := e.readNodeLocks(ctx, s); err != nil {
				return err
			}
			asked = true
		}
		if hold, text := v.HoldsBesideLetGo(s, node); hold != progress.QuorumFree {
			return refuse("what needs a quorum cannot do without the node: %s", text)
		}
	}
	return nil
}
