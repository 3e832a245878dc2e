package kube

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

func statefulSet(namespace, name, spec string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: %[2]s, namespace: %[1]s, uid: sts-%[2]s}
spec:
  %[3]s
  serviceName: %[2]s
  selector: {matchLabels: {application: mariadb, component: server}}
  template:
    metadata: {labels: {application: mariadb, component: server}}
    spec: {containers: [{name: c, image: i}]}
`, namespace, name, spec)
}

func statefulPod(namespace, name, set, node string, ready bool) string {
	return strings.NewReplacer("kind: DaemonSet", "kind: StatefulSet", "ds-"+set, "sts-"+set, "application: tf, component: vrouter",
		"application: mariadb, component: server").
		Replace(daemonPod(namespace, name, set, node, set+"-abc", ready))
}

// The StatefulSets of OpenStack and Redis arrive with their pods: those of OpenStack by the source of its DaemonSets' pods.
func TestStatefulSetsAreWatched(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: openstack-redis}}`)
		c.create(statefulSet("openstack", "mariadb-server", "replicas: 3"))
		c.create(statefulSet("openstack-redis", "rfr-openstack-redis", ""))
		c.create(statefulPod("openstack", "mariadb-server-0", "mariadb-server", "ctl-1", false))
		c.create(statefulPod("openstack-redis", "rfr-openstack-redis-0", "rfr-openstack-redis", "ctl-2", true))
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{})
		o.wait("the StatefulSets and their pods", func(v *view) bool {
			return v.is(core.SourceStatefulSets, "openstack/mariadb-server") && v.is(core.SourceRedisSets, "openstack-redis/rfr-openstack-redis") &&
				v.is(core.SourceDaemonPods, "openstack/mariadb-server-0") && v.is(core.SourceRedisPods, "openstack-redis/rfr-openstack-redis-0")
		})
		o.look(func(v *view) {
			set, _ := v.objects[core.SourceStatefulSets]["openstack/mariadb-server"].(*core.StatefulSet)
			if set.Replicas != 3 || set.Selector != "application=mariadb,component=server" || set.UID != "sts-mariadb-server" {
				t.Errorf("%+v", set)
			}
			if redis, _ := v.objects[core.SourceRedisSets]["openstack-redis/rfr-openstack-redis"].(*core.StatefulSet); redis.Replicas != 1 {
				t.Errorf("no replicas are %d, and mean 1", redis.Replicas)
			}
			p, _ := v.objects[core.SourceDaemonPods]["openstack/mariadb-server-0"].(*core.DaemonPod)
			if p.Owner != "sts-mariadb-server" || p.Set != "mariadb-server" || p.Node != "ctl-1" || p.Ready || p.Waits != "CrashLoopBackOff" {
				t.Errorf("%+v", p)
			}
		})
	})
}

// A StatefulSet is read with its own pods, and no others that its selector matches; one that is not there is not an error,
// forbidden is one. A reader's rights are enough.
func TestAStatefulSetIsReadWithItsPods(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "ann"}}})
		c.create(statefulSet("openstack", "mariadb-server", "replicas: 3"))
		c.create(statefulSet("openstack", "another", "replicas: 3"))
		c.create(statefulPod("openstack", "mariadb-server-1", "mariadb-server", "ctl-2", false))
		c.create(statefulPod("openstack", "mariadb-server-0", "mariadb-server", "ctl-1", true))
		c.create(statefulPod("openstack", "another-0", "another", "ctl-1", true))
		ctx := context.Background()
		w := writes(t, c.client(kubeapi.Readonly))
		set, pods, err := w.StatefulSet(ctx, "openstack", "mariadb-server")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range pods {
			got += fmt.Sprintf("%s on %s %v, ", p.Name, p.Node, p.Ready)
		}
		if want := "mariadb-server-0 on ctl-1 true, mariadb-server-1 on ctl-2 false, "; set.Name != "mariadb-server" || set.Replicas != 3 ||
			got != want {
			t.Errorf("%+v, %q, want %q", set, got, want)
		}
		if set, pods, err := w.StatefulSet(ctx, "openstack-redis", "rfr-openstack-redis"); set != nil || len(pods) > 0 || err != nil {
			t.Errorf("%+v, %d pods, %v", set, len(pods), err)
		}
		if _, _, err := writes(t, c.client("ann")).StatefulSet(ctx, "openstack", "mariadb-server"); kindOf(err) != core.ErrForbidden ||
			!strings.Contains(err.Error(), "list StatefulSet mariadb-server") {
			t.Errorf("who may not list them: %v", err)
		}
	})
}

// An inventory has the StatefulSets of OpenStack and Redis with their own pods, and the DaemonSets with theirs.
func TestAnInventoryHasTheStatefulSets(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: openstack-redis}}`)
		c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: stacklight}}`)
		c.create(statefulSet("openstack", "mariadb-server", "replicas: 3"))
		c.create(statefulSet("openstack-redis", "rfr-openstack-redis", "replicas: 1"))
		c.create(statefulSet("stacklight", "patroni", "replicas: 3"))
		c.create(statefulPod("openstack", "mariadb-server-1", "mariadb-server", "ctl-2", false))
		c.create(statefulPod("openstack", "mariadb-server-0", "mariadb-server", "ctl-1", true))
		c.create(statefulPod("openstack-redis", "rfr-openstack-redis-0", "rfr-openstack-redis", "ctl-2", true))
		c.create(daemonSet("openstack", "agent", "OnDelete"))
		c.create(daemonPod("openstack", "agent-1", "agent", "cmp-1", "abc", true))
		inv, missing := c.client(kubeapi.Readonly).Inventory(t.Context(), nil)
		if len(missing) > 0 {
			t.Fatalf("%s: %v", missing[0].What, missing[0].Err)
		}
		got := ""
		for _, set := range inv.StatefulSets {
			got += fmt.Sprintf("%s/%s %d:", set.Namespace, set.Name, set.Replicas)
			for _, p := range inv.DaemonPods[set.UID] {
				got += fmt.Sprintf(" %s on %s %v", p.Name, p.Node, p.Ready)
			}
			got += "; "
		}
		if want := "openstack/mariadb-server 3: mariadb-server-0 on ctl-1 true mariadb-server-1 on ctl-2 false; " +
			"openstack-redis/rfr-openstack-redis 1: rfr-openstack-redis-0 on ctl-2 true; "; got != want {
			t.Errorf("the StatefulSets are %q, want %q", got, want)
		}
		if len(inv.DaemonSets) != 1 || !inv.DaemonSets[0].OnDelete || len(inv.DaemonPods[inv.DaemonSets[0].UID]) != 1 {
			t.Errorf("the DaemonSets are %+v, with the pods %v", inv.DaemonSets, inv.DaemonPods)
		}
	})
}
