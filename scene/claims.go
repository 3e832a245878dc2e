package scene

import (
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// WithClaims gives each pod of a set a claim on a disk of the named node. "pending" is a claim without a volume, "nfs" one whose
// volume is on no node, "lost" one whose volume is gone, "none" no claim of that name; "a+b" are two claims.
func (sc Scene) WithClaims(set *core.StatefulSet, nodes ...string) {
	if sc.Claims == nil {
		sc.Snapshot.Claims, sc.Snapshot.LocalVolumes = map[string]*core.VolumeClaim{}, map[string]*core.PersistentVolume{}
	}
	for i, node := range nodes {
		pod := sc.DaemonPods[set.UID][i]
		for j, at := range strings.Split(node, "+") {
			name := "data-" + pod.Name
			if j > 0 {
				name += "-" + wording.Itoa(j)
			}
			pod.Claims = append(pod.Claims, name)
			claim := &core.VolumeClaim{Meta: core.Meta{Namespace: set.Namespace, Name: name, UID: "uid-" + name}, Volume: "pv-" + name}
			volume := &core.PersistentVolume{Meta: core.Meta{Name: claim.Volume}, Nodes: []string{at}}
			switch at {
			case "none":
				continue
			case "pending":
				claim.Volume = ""
			case "nfs":
				volume.Nodes = nil
			}
			sc.Claims[claim.Key()] = claim
			if at != "lost" && at != "pending" {
				sc.LocalVolumes[volume.Name] = volume
			}
		}
	}
}

// GoneController is a cluster that ctl-09 has left, with the volumes of members on its disks; Lockstep plays the OpenStack
// controller.
func GoneController(at ...string) Scene {
	sc := Healthy()
	sc.Settings = PlaysOpenStack()
	sc.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon", Namespace: "osh-system", UID: "dep"}}
	l := sc.Lock("ctl-09", core.ControllerOpenStack, core.LockActive)
	l.Deleting, l.Finalizers = Ago(time.Minute), []string{core.UsualFinalizer}
	set := sc.Stateful(core.NamespaceOpenStack, "mariadb-server", "", "ctl-02", "ctl-03")
	sc.WithClaims(set, append(at, "ctl-02", "ctl-03")...)
	return sc
}
