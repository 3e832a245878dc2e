package progress

import (
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
)

// BoundClaim is a claim of a pod of one of the QuorumSets whose volume is bound to a node.
type BoundClaim struct {
	Set    QuorumView
	Pod    *core.DaemonPod
	Claim  *core.VolumeClaim
	Volume *core.PersistentVolume // nil: it does not exist, so its node is not known
}

// usedElsewhere tells whether the pod that uses the claim is on another node that has the volume: nothing is lost.
func (c BoundClaim) usedElsewhere(node string) bool { return c.Pod.Node != "" && c.Pod.Node != node }

// ClaimsOn are the claims of the set's pods that are bound to the node, as the OpenStack controller finds them: by the volumes of the
// pods, and by their node affinity (docs/mosk.md#volume-claims). It leaves out a claim that does not
// exist (the StatefulSet is about to create it), one without a volume, and one in use on another node.
func (v QuorumView) ClaimsOn(node string, claims map[string]*core.VolumeClaim, volumes map[string]*core.PersistentVolume) []BoundClaim {
	var out []BoundClaim
	for _, pod := range v.Pods {
		for _, name := range pod.Claims {
			c := BoundClaim{Set: v, Pod: pod, Claim: claims[v.Namespace+"/"+name]}
			known := func(had BoundClaim) bool { return had.Claim.UID == c.Claim.UID }
			if c.Claim == nil || c.Claim.Volume == "" || slices.ContainsFunc(out, known) {
				continue
			}
			if c.Volume = volumes[c.Claim.Volume]; c.Volume != nil && !slices.Contains(c.Volume.Nodes, node) || c.usedElsewhere(node) {
				continue
			}
			out = append(out, c)
		}
	}
	return out
}

// Missing says that some of the set's pods are not there, so that it is not known what they claim; empty when all are.
func (v QuorumView) Missing() string {
	if n := v.Replicas - len(v.Pods); n > 0 {
		return v.Name + " has " + wording.Itoa(len(v.Pods)) + " of " + wording.Itoa(v.Replicas) + " pods: what the " +
			wording.Verb(n, "other claims", "others claim") + " is not known"
	}
	return ""
}

// ReleasesClaims tells whether the OpenStack controller releases the set's claims at all: those of openvswitch-ovn-db only with ml2/ovn. No
// back end means the release's default.
func ReleasesClaims(s *core.Snapshot, q QuorumSet) bool {
	if q.AskedFirst() || len(s.Deployments) != 1 || !s.Known(core.SourceOpenStackDeployment) {
		return true
	}
	backend := s.Deployments[0].Network
	return backend == "" || backend == core.BackendOVN
}

// ReleaseOrder are the sets in the order in which the OpenStack controller releases their claims: its services from the last to the
// first (docs/mosk.md#after-a-node-is-gone).
func ReleaseOrder() []QuorumSet {
	var asked, others []QuorumSet
	for _, q := range QuorumSets {
		if q.AskedFirst() {
			asked = append(asked, q)
		} else {
			others = append(others, q)
		}
	}
	slices.Reverse(asked)
	return slices.Concat(asked, others)
}

// ClaimSources are the sources of the claims of the set's pods, and of their volumes.
func (q QuorumSet) ClaimSources() []core.SourceID {
	if q.Namespace == core.NamespaceRedis {
		return []core.SourceID{core.SourceRedisClaims, core.SourceLocalVolumes}
	}
	return []core.SourceID{core.SourceClaims, core.SourceLocalVolumes}
}

// ClaimsOn are the claims that are bound to a node, in the order in which they are released, and what is not known of them.
func ClaimsOn(s *core.Snapshot, node string) (bound []BoundClaim, unknown []string) {
	say := func(text string) {
		if text != "" && !slices.Contains(unknown, text) {
			unknown = append(unknown, text)
		}
	}
	for _, q := range ReleaseOrder() {
		v, there := Quorum(s, q)
		if why := QuorumUnknown(s, q); why != "" {
			say(why)
			continue
		}
		if !there || !ReleasesClaims(s, q) {
			continue
		}
		seen := true
		for _, id := range q.ClaimSources() {
			if !s.Known(id) {
				seen = false
				say(string(id) + ": " + s.WhyUnknown(id))
			}
		}
		say(v.Missing())
		if seen {
			bound = append(bound, v.ClaimsOn(node, s.Claims, s.LocalVolumes)...)
		}
	}
	return bound, unknown
}

// Name is the claim's name and its namespace, on one line.
func (c BoundClaim) Name() string {
	return wording.OneLine(c.Claim.Name, 100) + " in " + wording.OneLine(c.Claim.Namespace, 64)
}

// Where names the claim's volume and the node to which it is bound.
func (c BoundClaim) Where(s *core.Snapshot) string {
	if c.Volume == nil {
		return "its volume " + wording.OneLine(c.Claim.Volume, 64) + " is not there: to which node it was bound is not known"
	}
	nodes := make([]string, len(c.Volume.Nodes))
	for i, node := range c.Volume.Nodes {
		nodes[i] = wording.OneLine(s.Label(node), 64)
	}
	return "volume " + wording.OneLine(c.Volume.Name, 64) + " on " + wording.Some(nodes, 3)
}

// GoneLeft is what Lockstep still has to clean up behind a node that is gone, when it plays the controller.
func GoneLeft(s *core.Snapshot, a core.ActAs, node string) string {
	text := "its lock and what OpenStack knows of it"
	if bound, unknown := ClaimsOn(s, node); a.Controller == core.ControllerOpenStack && len(bound)+len(unknown) > 0 {
		claims := "its volume claims (which cannot all be seen)"
		if len(bound) > 0 {
			claims = wording.Count(len(bound), "volume claim") + " on its disks"
		}
		text = claims + ", " + text
	}
	return text
}
