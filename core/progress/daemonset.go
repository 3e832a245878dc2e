package progress

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/core"
)

// restartedOnReturn are the components whose old pods Rockoon restarts on a compute or gateway that returns, before it enables
// scheduling there again: those of the OnDelete DaemonSets (docs/mosk.md#restarts). It is not known whether
// automated_openvswitch_restart excludes Open vSwitch in scope drain.
var restartedOnReturn = []string{"ovn-controller", "l3-agent", "openvswitch-vswitchd"}

// IsRestartedOnReturn tells whether Rockoon restarts the DaemonSet's old pods when a node returns.
func IsRestartedOnReturn(d *core.DaemonSet) bool {
	if d.Namespace != core.NamespaceOpenStack || !d.OnDelete {
		return false
	}
	for _, part := range restartedOnReturn {
		if strings.HasSuffix(d.Component, part) {
			return true
		}
	}
	return false
}

// DaemonSources are the sources that report the DaemonSets of a namespace; none for another namespace.
func DaemonSources(namespace string) (sets, revisions, pods core.SourceID) {
	switch namespace {
	case core.NamespaceOpenStack:
		return core.SourceDaemonSets, core.SourceRevisions, core.SourceDaemonPods
	case core.NamespaceFabric:
		return core.SourceFabricSets, core.SourceFabricRevisions, core.SourceFabricPods
	}
	return "", "", ""
}

var daemonViews core.Derivation[[]core.DaemonView]

// DaemonViews are the known DaemonSets, by namespace and name.
func DaemonViews(s *core.Snapshot) []core.DaemonView {
	return daemonViews.Of(s, func(s *core.Snapshot) []core.DaemonView {
		views := make([]core.DaemonView, 0, len(s.DaemonSets))
		for _, set := range s.DaemonSets {
			views = append(views, viewDaemon(s, set))
		}
		return views
	})
}

// DaemonView is the view of the DaemonSet with this UID.
func DaemonView(s *core.Snapshot, uid string) (core.DaemonView, bool) {
	for _, v := range DaemonViews(s) {
		if v.Set.UID == uid && uid != "" {
			return v, true
		}
	}
	return core.DaemonView{}, false
}

// viewDaemon finds the old pods of a DaemonSet: those whose controller-revision-hash is not the newest ControllerRevision's, or,
// where hashes are not known, those of another generation of the template. The DaemonSet's own count (updatedNumberScheduled) does
// not help: Rockoon finds it missing under OnDelete (docs/mosk.md#restarts).
func viewDaemon(s *core.Snapshot, set *core.DaemonSet) core.DaemonView {
	v := core.DaemonView{Set: set, Pods: s.DaemonPods[set.UID]}
	var newest *core.DaemonRevision
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
			v.Down = append(v.Down, p)
		}
	}
	_, _, pods := DaemonSources(set.Namespace)
	switch {
	case set.Observed < set.Generation:
		v.Unknown = "its change has not been taken up yet"
	case !s.Known(pods):
		v.Unknown = "its pods are not known: " + s.WhyUnknown(pods)
	case v.Revision == "" && set.Template == 0:
		v.Unknown = "its revisions are not known"
	}
	if v.Unknown != "" {
		return v
	}
	for _, p := range v.Pods {
		if old, _ := v.IsOld(p); old {
			v.Old = append(v.Old, p)
		}
	}
	slices.SortFunc(v.Old, func(a, b *core.DaemonPod) int {
		return cmp.Or(strings.Compare(s.Label(a.Node), s.Label(b.Node)), strings.Compare(a.Node, b.Node), strings.Compare(a.Name, b.Name))
	})
	return v
}

// podDrops says what stops while a pod is replaced, by a part of its component or of its DaemonSet's name. The first match counts.
// The times are those of the documents' plan steps (docs/mosk.md#plan-steps).
var podDrops = []struct {
	part string
	text string
	wide bool // it affects the instances of the whole node
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

// RestartEffect says what stops while a pod of the DaemonSet is replaced, and whether all instances on the node are affected.
func RestartEffect(d *core.DaemonSet) (text string, wide bool) {
	for _, row := range podDrops {
		if strings.Contains(d.Component, row.part) || strings.Contains(d.Name, row.part) {
			return row.text, row.wide
		}
	}
	return "What the pod does for the node stands still until the new one is ready.", false
}
