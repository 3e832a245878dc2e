package core

import (
	"slices"
	"strings"
)

// VolumeClaim is what Lockstep keeps of a PersistentVolumeClaim.
type VolumeClaim struct {
	Meta
	Volume string // spec.volumeName: the PersistentVolume that it is bound to; empty while there is none
}

// Ref names the claim.
func (c *VolumeClaim) Ref() Ref {
	return Ref{Kind: KindVolumeClaim, Namespace: c.Namespace, Name: c.Name, UID: c.UID}
}

// PersistentVolume is what Lockstep keeps of a PersistentVolume.
type PersistentVolume struct {
	Meta
	Nodes []string // what its required node affinity names by kubernetes.io/hostname; none: it is on no node's own disks
}

// boundClaim is a claim of a pod of one of the quorumSets whose volume is bound to a node.
type boundClaim struct {
	set    quorumView
	pod    *DaemonPod
	claim  *VolumeClaim
	volume *PersistentVolume // nil: it is not there, and so it is not known to which node it was bound
}

// usedElsewhere tells whether the pod that uses the claim is on another node that has the volume: nothing of it is lost.
func (c boundClaim) usedElsewhere(node string) bool { return c.pod.Node != "" && c.pod.Node != node }

// claimsOn are the claims of the set's pods that are bound to the node, as the OpenStack controller finds them: by the volumes of the
// pods, and by their node affinity (docs/mosk.md#volume-claims). A claim that is not there is about to be made by the StatefulSet, and
// one without a volume is bound to nothing: both are left out, as is one in use on another node.
func (v quorumView) claimsOn(node string, claims map[string]*VolumeClaim, volumes map[string]*PersistentVolume) []boundClaim {
	var out []boundClaim
	for _, pod := range v.pods {
		for _, name := range pod.Claims {
			c := boundClaim{set: v, pod: pod, claim: claims[v.namespace+"/"+name]}
			known := func(had boundClaim) bool { return had.claim.UID == c.claim.UID }
			if c.claim == nil || c.claim.Volume == "" || slices.ContainsFunc(out, known) {
				continue
			}
			if c.volume = volumes[c.claim.Volume]; c.volume != nil && !slices.Contains(c.volume.Nodes, node) || c.usedElsewhere(node) {
				continue
			}
			out = append(out, c)
		}
	}
	return out
}

// missing says that some of the set's pods are not there, so that it is not known what they claim; empty when all are.
func (v quorumView) missing() string {
	if n := v.replicas - len(v.pods); n > 0 {
		return v.name + " has " + itoa(len(v.pods)) + " of " + itoa(v.replicas) + " pods: what the " + verb(n, "other claims", "others claim") + " is not known"
	}
	return ""
}

// backendOVN is the network back end with which the OpenStack controller releases the claims of openvswitch-ovn-db.
const backendOVN = "ml2/ovn"

// released tells whether the OpenStack controller releases the set's claims at all: those of openvswitch-ovn-db only with ml2/ovn. A
// back end that nobody says is the default of the release.
func (s *Snapshot) released(q quorumSet) bool {
	if q.askedFirst() || len(s.Deployments) != 1 || !s.known(SourceOpenStackDeployment) {
		return true
	}
	backend := s.Deployments[0].Network
	return backend == "" || backend == backendOVN
}

// releaseOrder are the sets in the order in which the OpenStack controller releases their claims: its services from the last to the
// first (docs/mosk.md#after-a-node-is-gone).
func releaseOrder() []quorumSet {
	var asked, others []quorumSet
	for _, q := range quorumSets {
		if q.askedFirst() {
			asked = append(asked, q)
		} else {
			others = append(others, q)
		}
	}
	slices.Reverse(asked)
	return slices.Concat(asked, others)
}

// claimSources are those that tell of the claims of the set's pods, and of their volumes.
func (q quorumSet) claimSources() []SourceID {
	if q.namespace == namespaceRedis {
		return []SourceID{SourceRedisClaims, SourceLocalVolumes}
	}
	return []SourceID{SourceClaims, SourceLocalVolumes}
}

// claimsOn are the claims that are bound to a node, in the order in which they are released, and what is not known of them.
func (s *Snapshot) claimsOn(node string) (bound []boundClaim, unknown []string) {
	say := func(text string) {
		if text != "" && !slices.Contains(unknown, text) {
			unknown = append(unknown, text)
		}
	}
	for _, q := range releaseOrder() {
		v, there := s.quorum(q)
		if why := s.quorumUnknown(q); why != "" {
			say(why)
			continue
		}
		if !there || !s.released(q) {
			continue
		}
		seen := true
		for _, id := range q.claimSources() {
			if !s.known(id) {
				seen = false
				say(string(id) + ": " + s.whyUnknown(id))
			}
		}
		say(v.missing())
		if seen {
			bound = append(bound, v.claimsOn(node, s.Claims, s.LocalVolumes)...)
		}
	}
	return bound, unknown
}

// name is the claim's name and its namespace, on one line.
func (c boundClaim) name() string {
	return oneLine(c.claim.Name, 100) + " in " + oneLine(c.claim.Namespace, 64)
}

// where says which volume the claim has, and to which node that is bound.
func (c boundClaim) where(s *Snapshot) string {
	if c.volume == nil {
		return "its volume " + oneLine(c.claim.Volume, 64) + " is not there: to which node it was bound is not known"
	}
	nodes := make([]string, len(c.volume.Nodes))
	for i, node := range c.volume.Nodes {
		nodes[i] = oneLine(s.Label(node), 64)
	}
	return "volume " + oneLine(c.volume.Name, 64) + " on " + some(nodes, 3)
}

// guardClaims holds when no claim is bound to the node any more: the controller's clean-up comes with the deletion of the lock, and
// never again (docs/mosk.md#after-a-node-is-gone).
func (s *Snapshot) guardClaims(node string) Guard {
	g := Guard{ID: GuardNoClaims, Text: "no volume claim is bound to its disks any more", Holds: true, Answer: "none is"}
	bound, unknown := s.claimsOn(node)
	switch {
	case len(bound) > 0:
		names := make([]string, len(bound))
		for i, c := range bound {
			names[i] = c.name()
		}
		g.Holds, g.Answer, g.Remedy = false, "still there: "+some(names, 8), "delete them first, one after the other"
	case len(unknown) > 0:
		g.Holds, g.Answer = false, "not known: "+strings.Join(unknown, "; ")
		g.Remedy = "see to it first: a member whose claim is left there never starts again"
	}
	return g
}

// claimsGone makes a step that ends the clean-up rest on there being no claims.
func (p *planner) claimsGone(node string) {
	p.guard(p.s.guardClaims(node))
	bound, _ := p.s.claimsOn(node)
	ids := make([]string, len(bound))
	for i, c := range bound {
		ids[i] = c.claim.UID
	}
	slices.Sort(ids)
	p.fact("claims", strings.Join(ids, " "))
}

// claimSourcesKnown are the sources of claims and sets that are known, on which such a step rests: what is not known its guard says.
func (s *Snapshot) claimSourcesKnown() []SourceID {
	var out []SourceID
	for _, q := range releaseOrder() {
		ids := q.sources()
		if _, there := s.quorum(q); there && s.released(q) {
			ids = slices.Concat(ids, q.claimSources())
		}
		for _, id := range ids {
			if s.known(id) && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// goneLeft is what is left to be cleaned up behind a node that is gone by who plays a controller.
func (s *Snapshot) goneLeft(a ActAs, node string) string {
	text := "its lock and what OpenStack knows of it"
	if bound, unknown := s.claimsOn(node); a.Controller == ControllerOpenStack && len(bound)+len(unknown) > 0 {
		claims := "its volume claims (which cannot all be seen)"
		if len(bound) > 0 {
			claims = count(len(bound), "volume claim") + " on its disks"
		}
		text = claims + ", " + text
	}
	return text
}
