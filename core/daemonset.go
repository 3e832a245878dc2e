package core

import (
	"time"

	"lockstep/core/wording"
)

// The namespaces whose DaemonSets Lockstep looks at: OpenStack's, and Tungsten Fabric's (docs/mosk.md#where-things-live).
const (
	NamespaceOpenStack = "openstack"
	NamespaceFabric    = "tf"
)

// DaemonSet is what Lockstep keeps of a DaemonSet (apps/v1).
type DaemonSet struct {
	Meta
	OnDelete    bool   // a pod is replaced only when somebody deletes it (spec.updateStrategy)
	Generation  int    // metadata.generation
	Observed    int    // status.observedGeneration: the generation its controller has seen
	Template    int    // the generation of its pods' template, which its pods carry as a label; 0 when unknown
	Desired     int    // status.desiredNumberScheduled
	Ready       int    // status.numberReady
	Updated     int    // status.updatedNumberScheduled; 0 also when the API does not show it
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
	Number int    // higher is newer; a roll-back gives an old revision a new number
	Hash   string // the label controller-revision-hash of the pods made from it
}

// DaemonPod is what Lockstep keeps of a pod that belongs to a DaemonSet, or to a StatefulSet.
type DaemonPod struct {
	Meta
	Owner    string // its set's UID
	Set      string // its set's name
	Node     string
	Hash     string // the revision it was made from; empty when not known
	Template int    // the generation of the template it was made from; 0 when not known
	Ready    bool
	Waits    string   // why a container does not run ("CrashLoopBackOff") or the pod has no node ("Unschedulable"); may be empty
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
	Old      []*DaemonPod // pods made from an older template, by their nodes' labels
	Unknown  string       // why it is not known which are old; empty when it is

	Down []*DaemonPod // pods that are not ready or are being deleted
}

// Name is "tf/tf-vrouter-agent", on one line.
func (v DaemonView) Name() string { return wording.OneLine(v.Set.Namespace+"/"+v.Set.Name, 100) }

// Short is the DaemonSet's name by itself, on one line.
func (v DaemonView) Short() string { return wording.OneLine(v.Set.Name, 64) }

// IsOld tells whether a pod was made from another template than the DaemonSet has now, and whether that is known.
func (v DaemonView) IsOld(p *DaemonPod) (old, known bool) {
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

// On is the DaemonSet's pod on a node; of several, one that is not being deleted.
func (v DaemonView) On(node string) *DaemonPod {
	var found *DaemonPod
	for _, p := range v.Pods {
		if p.Node == node && (found == nil || !found.Deleting.IsZero() && p.Deleting.IsZero()) {
			found = p
		}
	}
	return found
}

// Behind says how far a DaemonSet that replaces its pods itself is from its goal; empty when it is there.
func (v DaemonView) Behind() string {
	d := v.Set
	switch {
	case d.Observed < d.Generation:
		return "its change has not been taken up yet"
	case !d.OnDelete && v.Unknown == "" && len(v.Old) > 0:
		return wording.Count(len(v.Old), "pod") + " of an older revision"
	case !d.OnDelete && v.Unknown != "" && d.Updated < d.Desired:
		return wording.Itoa(d.Updated) + " of " + wording.Itoa(d.Desired) + " pods updated"
	case d.Ready < d.Desired:
		return wording.Itoa(d.Ready) + " of " + wording.Itoa(d.Desired) + " pods ready"
	}
	return ""
}

// NotReady are the pods in Down, without the one with this UID.
func (v DaemonView) NotReady(but string) []*DaemonPod {
	var out []*DaemonPod
	for _, other := range v.Down {
		if other.UID != but {
			out = append(out, other)
		}
	}
	return out
}

// IsNovaCompute tells whether the DaemonSet's pods are nova-compute.
func (d *DaemonSet) IsNovaCompute() bool {
	return d.Namespace == NamespaceOpenStack && d.Application == "nova" && d.Component == "compute"
}

// HeardBy is the service to which the DaemonSet's pods report.
func (d *DaemonSet) HeardBy() string {
	if d.IsNovaCompute() {
		return "Nova"
	}
	return "Neutron"
}
