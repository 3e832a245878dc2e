package core

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// The namespaces whose DaemonSets Lockstep looks at: OpenStack's, and Tungsten Fabric's (docs/mosk.md#where-things-live).
const (
	namespaceOpenStack = "openstack"
	namespaceFabric    = "tf"
)

// DaemonSet is what Lockstep keeps of a DaemonSet (apps/v1).
type DaemonSet struct {
	Meta
	OnDelete    bool   // its pods are replaced by whoever deletes them (spec.updateStrategy)
	Generation  int    // metadata.generation
	Observed    int    // status.observedGeneration: the generation that its controller has seen
	Template    int    // the generation of its pods' template, which its pods carry as a label; 0 when unknown
	Desired     int    // status.desiredNumberScheduled
	Ready       int    // status.numberReady
	Updated     int    // status.updatedNumberScheduled; 0 also where the API does not tell it
	Application string // the label application of its pods: "neutron"
	Component   string // the label component of its pods: "l3-agent"
	Selector    string // its pods' label selector, as the API writes it
}

// Ref names the DaemonSet.
func (d *DaemonSet) Ref() Ref {
	return Ref{Kind: KindDaemonSet, Namespace: d.Namespace, Name: d.Name, UID: d.UID}
}

// DaemonRevision is what Lockstep keeps of a ControllerRevision of a DaemonSet: one state of its pods' template.
type DaemonRevision struct {
	Meta
	Owner  string // the DaemonSet's UID
	Number int    // the higher, the newer; a roll-back gives an old one a new number
	Hash   string // the label controller-revision-hash, which pods made from it carry
}

// DaemonPod is what Lockstep keeps of a pod that belongs to a DaemonSet, or to a StatefulSet.
type DaemonPod struct {
	Meta
	Owner    string // its set's UID
	Set      string // its set's name
	Node     string
	Hash     string // the revision that it was made from; empty when it does not say
	Template int    // the generation of the template that it was made from; 0 when it does not say
	Ready    bool
	Waits    string   // why a container of it does not run, "CrashLoopBackOff", or why no node has it, "Unschedulable"; may be empty
	Claims   []string // the PersistentVolumeClaims that its volumes name
}

// Ref names the pod.
func (p *DaemonPod) Ref() Ref {
	return Ref{Kind: KindPod, Namespace: p.Namespace, Name: p.Name, UID: p.UID}
}

// DaemonView is a DaemonSet with its pods, and which of them are old.
type DaemonView struct {
	Set      *DaemonSet
	Revision string       // the hash of its newest revision; empty when it is not known
	Made     time.Time    // when that revision was made; zero when it is not known
	Pods     []*DaemonPod // by their names
	Old      []*DaemonPod // those that were made from an older template, by their nodes' labels
	Unknown  string       // why it cannot be told which are old; empty when it can

	down []*DaemonPod // those that do not serve now
}

// Name is "tf/tf-vrouter-agent", on one line.
func (v DaemonView) Name() string { return oneLine(v.Set.Namespace+"/"+v.Set.Name, 100) }

// Short is the DaemonSet's name by itself, on one line.
func (v DaemonView) Short() string { return oneLine(v.Set.Name, 64) }

// daemonSources are the sources that tell of the DaemonSets of a namespace; none for another namespace.
func daemonSources(namespace string) (sets, revisions, pods SourceID) {
	switch namespace {
	case namespaceOpenStack:
		return SourceDaemonSets, SourceRevisions, SourceDaemonPods
	case namespaceFabric:
		return SourceFabricSets, SourceFabricRevisions, SourceFabricPods
	}
	return "", "", ""
}

var daemonViews Derivation[[]DaemonView]

// DaemonViews are the DaemonSets that are known, by namespace and name.
func (s *Snapshot) DaemonViews() []DaemonView {
	return daemonViews.Of(s, func(s *Snapshot) []DaemonView {
		views := make([]DaemonView, 0, len(s.DaemonSets))
		for _, set := range s.DaemonSets {
			views = append(views, s.viewDaemon(set))
		}
		return views
	})
}

// DaemonView is the view of the DaemonSet with this UID.
func (s *Snapshot) DaemonView(uid string) (DaemonView, bool) {
	for _, v := range s.DaemonViews() {
		if v.Set.UID == uid && uid != "" {
			return v, true
		}
	}
	return DaemonView{}, false
}

// viewDaemon tells which pods of a DaemonSet are old: those whose controller-revision-hash is not that of the newest
// ControllerRevision, and where hashes are not known, those of another generation of the template. The DaemonSet's own
// count (updatedNumberScheduled) is no help: Rockoon finds it missing under OnDelete (docs/mosk.md#restarts).
func (s *Snapshot) viewDaemon(set *DaemonSet) DaemonView {
	v := DaemonView{Set: set, Pods: s.DaemonPods[set.UID]}
	var newest *DaemonRevision
	for _, r := range s.DaemonRevisions[set.UID] {
		if newest == nil || r.Number > newest.Number {
			newest = r
		}
	}
	if newest != nil {
		v.Revision, v.Made = newest.Hash, newest.Created
	}
	for _, p := range v.Pods {
		if !p.Ready || !p.Deleting.IsZero() {
			v.down = append(v.down, p)
		}
	}
	_, _, pods := daemonSources(set.Namespace)
	switch {
	case set.Observed < set.Generation:
		v.Unknown = "its change has not been taken up yet"
	case !s.known(pods):
		v.Unknown = "its pods are not known: " + s.whyUnknown(pods)
	case v.Revision == "" && set.Template == 0:
		v.Unknown = "its revisions are not known"
	}
	if v.Unknown != "" {
		return v
	}
	for _, p := range v.Pods {
		if old, _ := v.isOld(p); old {
			v.Old = append(v.Old, p)
		}
	}
	slices.SortFunc(v.Old, func(a, b *DaemonPod) int {
		return cmp.Or(strings.Compare(s.Label(a.Node), s.Label(b.Node)), strings.Compare(a.Node, b.Node), strings.Compare(a.Name, b.Name))
	})
	return v
}

// isOld tells whether a pod was made from another template than the DaemonSet has now, and whether that can be told.
func (v DaemonView) isOld(p *DaemonPod) (old, known bool) {
	switch {
	case v.Unknown != "":
		return false, false
	case v.Revision != "" && p.Hash != "":
		return p.Hash != v.Revision, true
	case v.Set.Template != 0 && p.Template != 0:
		return p.Template != v.Set.Template, true
	}
	return false, false
}

// on is the DaemonSet's pod on a node: of several, the one that stays.
func (v DaemonView) on(node string) *DaemonPod {
	var found *DaemonPod
	for _, p := range v.Pods {
		if p.Node == node && (found == nil || !found.Deleting.IsZero() && p.Deleting.IsZero()) {
			found = p
		}
	}
	return found
}

// behind is how a DaemonSet that replaces its pods itself is not where it should be; empty when it is.
func (v DaemonView) behind() string {
	d := v.Set
	switch {
	case d.Observed < d.Generation:
		return "its change has not been taken up yet"
	case !d.OnDelete && v.Unknown == "" && len(v.Old) > 0:
		return count(len(v.Old), "pod") + " of an older revision"
	case !d.OnDelete && v.Unknown != "" && d.Updated < d.Desired:
		return itoa(d.Updated) + " of " + itoa(d.Desired) + " pods updated"
	case d.Ready < d.Desired:
		return itoa(d.Ready) + " of " + itoa(d.Desired) + " pods ready"
	}
	return ""
}

// podDrops is what stops while a pod is replaced, by the component that it is or a part of its DaemonSet's name; the first
// that fits counts. The times are those of the documents' plan steps (docs/mosk.md#plan-steps).
var podDrops = []struct {
	part string
	text string
	wide bool // it touches the instances of the whole node
}{
	{"vrouter", "The network of every instance on the node is cut until the new vRouter is ready.", true},
	{"vswitchd", "The network of every instance on the node stands still while Open vSwitch starts anew.", true},
	{"l3-agent", "Routers on the node: those with HA fail over within a minute, those without are down for up to 10 minutes.", true},
	{"ovn-controller", "Traffic flows on; changes to the networks of the node's instances wait until it is back.", true},
	{"dhcp-agent", "Instances get no new addresses from this node until it is back; other DHCP agents of their networks answer.", false},
	{"metadata-agent", "Instances get no metadata through the node until it is back.", false},
	{"ovs-agent", "Traffic flows on; changes to the networks of the node's instances wait until it is back.", false},
	{"nova-compute", "Instances run on; what Nova does with them on the host, migrations too, waits until it is back.", false},
	{"sriov", "Traffic flows on; changes to the SR-IOV ports of the node's instances wait until it is back.", false},
}

// drop is what stops while a pod of the DaemonSet is replaced, and whether that is felt by all instances on the node.
func (d *DaemonSet) drop() (text string, wide bool) {
	for _, row := range podDrops {
		if strings.Contains(d.Component, row.part) || strings.Contains(d.Name, row.part) {
			return row.text, row.wide
		}
	}
	return "What the pod does for the node stands still until the new one is ready.", false
}

// agentsOfComponent are the binaries of Neutron's agents that run in the pods of a component (openstack-helm's names, and
// Neutron's for the binaries).
var agentsOfComponent = map[string][]string{
	"l3-agent":            {"neutron-l3-agent"},
	"dhcp-agent":          {"neutron-dhcp-agent"},
	"metadata-agent":      {"neutron-metadata-agent"},
	"neutron-ovs-agent":   {"neutron-openvswitch-agent"},
	"neutron-sriov-agent": {"neutron-sriov-nic-agent"},
	"ovn-controller":      {"ovn-controller"},
	"ovn-metadata-agent":  {"neutron-ovn-metadata-agent"},
}

// isNetworkAgent tells whether the DaemonSet's pods are agents of Neutron's.
func (d *DaemonSet) isNetworkAgent() bool {
	if d.Namespace != namespaceOpenStack {
		return false
	}
	return len(agentsOfComponent[d.Component]) > 0 || d.Application == "neutron" && strings.HasSuffix(d.Component, "agent")
}

// isNovaCompute tells whether the DaemonSet's pods are nova-compute.
func (d *DaemonSet) isNovaCompute() bool {
	return d.Namespace == namespaceOpenStack && d.Application == "nova" && d.Component == "compute"
}

// agentsOnSwitch are the agents that work with Open vSwitch: its restart is felt by them.
var agentsOnSwitch = []string{"neutron-openvswitch-agent", "ovn-controller"}

// agentsTouched are Neutron's agents on the node that have to be seen again after a restart of the DaemonSet's pod there.
func (s *Snapshot) agentsTouched(d *DaemonSet, node string) []*NetworkAgent {
	out := s.agentsIn(d, node)
	if d.Namespace == namespaceOpenStack && strings.Contains(d.Component, "vswitchd") {
		for _, a := range s.Agents[s.HostOf(node)] {
			if slices.Contains(agentsOnSwitch, a.Binary) {
				out = append(out, a)
			}
		}
	}
	return out
}

// agentsIn are Neutron's agents on the node that run in the pods of the DaemonSet, as Neutron shows them.
func (s *Snapshot) agentsIn(d *DaemonSet, node string) []*NetworkAgent {
	var out []*NetworkAgent
	for _, a := range s.Agents[s.HostOf(node)] {
		if slices.Contains(agentsOfComponent[d.Component], a.Binary) {
			out = append(out, a)
		}
	}
	return out
}
