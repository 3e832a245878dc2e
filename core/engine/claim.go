package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

const (
	// memberPatience is how long a new member may take to be ready: one of MariaDB copies all data first.
	memberPatience = time.Hour
	// placePatience is how long it may be on no node before the step fails: there may be no node for it.
	placePatience = 3 * time.Minute
)

// claimChecker checks the deletion of one claim.
type claimChecker struct {
	e      *Engine
	change core.DeleteClaim
	before func(context.Context) error // asks whether the controller is played
}

func checkDeleteClaim(e *Engine, step core.Step, c core.DeleteClaim) checker {
	return &claimChecker{e: e, change: c, before: e.actCheck(step)}
}

// set is the StatefulSet whose claim it is.
func (w *claimChecker) set() (progress.QuorumSet, error) {
	for _, q := range progress.QuorumSets {
		if q.Name == w.change.Set && q.Namespace == w.change.Claim.Namespace {
			return q, nil
		}
	}
	return progress.QuorumSet{}, refuse("%s is not one of the StatefulSets whose claims Lockstep releases", w.change.Set)
}

// check asks the servers whether the claim may still go: the node is not back, the set can do without the member, and this very claim
// is bound to the node.
func (w *claimChecker) check(ctx context.Context) error {
	q, err := w.set()
	if err != nil {
		return err
	}
	if w.before != nil {
		if err := w.before(ctx); err != nil {
			return err
		}
	}
	if err := w.e.nodeIsGone(ctx, w.change.Node); err != nil {
		return err
	}
	v, bound, err := w.e.claimsNow(ctx, q, w.change.Node)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(bound, func(c progress.BoundClaim) bool { return c.Claim.UID == w.change.Claim.UID })
	switch {
	case v == nil:
		return refuse("StatefulSet %s is gone", q.Name)
	case i < 0:
		return refuse("the claim is gone, or is another one now, or no pod of %s needs it", q.Name)
	case bound[i].Volume == nil:
		return refuse("its volume %s is not there", bound[i].Claim.Volume)
	case !bound[i].Claim.Deleting.IsZero():
		return refuse("the claim is being deleted already")
	case v.Holds(w.change.Node) != progress.QuorumFree:
		return refuse("%s holds the node: %s", q.Name, progress.QuorumText(w.e.Snapshot(), *v, w.change.Node))
	}
	return nil
}

// outcome waits until the claim is gone, and then for the new member of the set.
func (w *claimChecker) outcome(ctx context.Context, of sent) outcome {
	q, err := w.set()
	if err != nil {
		return outcome{state: core.OperationFailed, text: err.Error()}
	}
	claims, err := w.e.cfg.Kubernetes.VolumeClaims(ctx, q.Namespace)
	if err != nil {
		return outcome{err: err}
	}
	v, bound, err := w.e.claimsNow(ctx, q, w.change.Node)
	if err != nil {
		return outcome{err: err}
	}
	pod := memberOf(v, w.change.Pod)
	took := w.e.cfg.Clock().Sub(of.began)
	name := wording.OneLine(w.change.Pod, 64)
	waits := func(patience time.Duration, format string, args ...any) outcome {
		text := fmt.Sprintf(format, args...)
		if took > patience {
			return outcome{state: core.OperationFailed, text: text}
		}
		return outcome{state: core.OperationVerifying, moving: true, text: text}
	}
	if i := slices.IndexFunc(claims, func(c *core.VolumeClaim) bool { return c.UID == w.change.Claim.UID }); i >= 0 {
		c := claims[i]
		switch {
		case c.Deleting.IsZero():
			return outcome{state: core.OperationVerifying, text: "the claim is still there"}
		case pod != nil && pod.Node != "":
			return waits(memberPatience, "the claim is being deleted; %s still uses it", name)
		}
		return waits(memberPatience, "the claim is being deleted%s",
			wording.TextIf(len(c.Finalizers) > 0, ", held by "+wording.Some(c.Finalizers, 3), ""))
	}
	var others []string
	for _, c := range bound {
		if c.Pod.Name == w.change.Pod {
			others = append(others, wording.OneLine(c.Claim.Name, 100))
		}
	}
	switch {
	case v == nil:
		return outcome{state: core.OperationDone, text: "the claim is gone, and so is the StatefulSet"}
	case len(others) > 0:
		return outcome{state: core.OperationDone,
			text: "the claim is gone; " + name + " waits for another of its own, bound to the node: " + wording.Some(others, 3)}
	case pod == nil:
		return waits(placePatience, "the claim is gone; %s is not there yet", name)
	case pod.Node == w.change.Node:
		return waits(memberPatience, "the claim is gone; the old %s is still said to be on the node", name)
	case pod.Node == "":
		return waits(placePatience, "the claim is gone; %s is on no node%s: it starts when one can have it", name,
			wording.TextIf(pod.Waits != "", " ("+wording.OneLine(pod.Waits, 60)+")", ""))
	case !progress.Serves(pod):
		return waits(memberPatience, "the claim is gone; %s on %s is %s", name, wording.OneLine(w.e.Snapshot().Label(pod.Node), 64),
			step.ReadyText(pod))
	}
	return outcome{state: core.OperationDone,
		text: name + " is ready on " + wording.OneLine(w.e.Snapshot().Label(pod.Node), 64) + ", with a new volume"}
}

// memberOf is the pod with the name; nil when there is none. Of two, when one ends and the other begins, it is the one that stays.
func memberOf(v *progress.QuorumView, name string) *core.DaemonPod {
	if v == nil {
		return nil
	}
	var found *core.DaemonPod
	for _, p := range v.Pods {
		if p.Name == name && (found == nil || p.Deleting.IsZero()) {
			found = p
		}
	}
	return found
}

func (w *claimChecker) values() (string, string) {
	return "bound to " + w.change.Node, "deleted"
}

// nodeIsGone asks whether the node is still gone.
func (e *Engine) nodeIsGone(ctx context.Context, node string) error {
	_, err := e.cfg.Kubernetes.NodeAnnotation(ctx, core.Ref{Kind: core.KindNode, Name: node}, core.AnnotationMigrationMode)
	switch {
	case err == nil || asAPIError(err, "get node "+node).Kind == core.ErrConflict: // the node has a UID, and none was asked for
		return refuse("the cluster has a node of this name again: %s", node)
	case !isGone(err):
		return err
	}
	return nil
}

// claimsNow reads from the server a set, and those of its pods' claims that are bound to the node; nil when there is no such set.
func (e *Engine) claimsNow(ctx context.Context, q progress.QuorumSet, node string) (*progress.QuorumView, []progress.BoundClaim, error) {
	set, pods, err := e.cfg.Kubernetes.StatefulSet(ctx, q.Namespace, q.Name)
	if err != nil || set == nil {
		return nil, nil, err
	}
	v := progress.QuorumView{QuorumSet: q, Replicas: set.Replicas, Pods: pods}
	list, err := e.cfg.Kubernetes.VolumeClaims(ctx, q.Namespace)
	if err != nil {
		return nil, nil, err
	}
	claims, volumes := map[string]*core.VolumeClaim{}, map[string]*core.PersistentVolume{}
	for _, c := range list {
		claims[c.Key()] = c
	}
	for _, pod := range pods {
		for _, name := range pod.Claims {
			c := claims[q.Namespace+"/"+name]
			if c == nil || c.Volume == "" {
				continue
			}
			volume, err := e.cfg.Kubernetes.PersistentVolume(ctx, c.Volume)
			if err != nil {
				return nil, nil, err
			}
			if volume != nil {
				volumes[c.Volume] = volume
			}
		}
	}
	return &v, v.ClaimsOn(node, claims, volumes), nil
}

// noClaims asks, right before a clean-up ends, whether a claim is still bound to the node.
func (c actCheckAt) noClaims(ctx context.Context) error {
	node := c.step.Node
	if c.a.Controller != core.ControllerOpenStack || c.step.Target.Kind != core.KindNodeWorkloadLock {
		return nil
	}
	for _, q := range progress.ReleaseOrder() {
		if !progress.ReleasesClaims(c.s, q) {
			continue
		}
		v, bound, err := c.e.claimsNow(ctx, q, node)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		if missing := v.Missing(); missing != "" {
			return refuse("%s", missing)
		}
		if len(bound) > 0 {
			return refuse("a volume claim is bound to its disks: %s", bound[0].Name())
		}
	}
	return nil
}
