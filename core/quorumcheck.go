package core

import (
	"context"
)

// quorumsHold asks whether the node may go, and its pods with it.
func (c actCheckAt) quorumsHold(ctx context.Context) error {
	return c.e.quorumCheck(ctx, c.step.Intent.Controller, c.step.Intent.Node)
}

// quorumCheck asks the server itself whether every StatefulSet that needs a quorum can do without the node: right before a played
// controller gives it to LCM, what is known can be older than a pod's end.
func (e *Engine) quorumCheck(ctx context.Context, controller, node string) error {
	s := e.Snapshot()
	if len(s.quorumSources(controller, node)) == 0 {
		return nil
	}
	for _, q := range quorumSets {
		if !q.askedFirst() {
			continue
		}
		set, pods, err := e.cfg.Kubernetes.StatefulSet(ctx, q.namespace, q.name)
		if err != nil {
			return err
		}
		if set == nil {
			continue
		}
		v := quorumView{quorumSet: q, replicas: set.Replicas, pods: pods}
		if v.holds(node) != quorumFree {
			return refuse("what needs a quorum cannot do without the node: %s", s.quorumText(v, node))
		}
	}
	return nil
}
