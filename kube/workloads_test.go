package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

func daemonSet(namespace, name, strategy string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: %[2]s, namespace: %[1]s, uid: ds-%[2]s}
spec:
  updateStrategy: {type: %[3]s}
  selector: {matchLabels: {application: tf, component: vrouter}}
  template:
    metadata: {labels: {application: tf, component: vrouter}}
    spec: {containers: [{name: c, image: i}]}
status: {observedGeneration: 1, desiredNumberScheduled: 2, numberReady: 1, currentNumberScheduled: 2, numberMisscheduled: 0}
`, namespace, name, strategy)
}

func daemonPod(namespace, name, set, node, hash string, ready bool) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: %[2]s
  namespace: %[1]s
  uid: uid-%[2]s
  labels: {application: tf, component: vrouter, controller-revision-hash: %[5]s, pod-template-generation: "3"}
  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: %[3]s, uid: ds-%[3]s, controller: true}]
spec: {nodeName: %[4]s, containers: [{name: c, image: i}]}
status:
  conditions: [{type: Ready, status: "%[6]s"}]
  containerStatuses: [{name: c, image: i, imageID: i, ready: %[7]v, restartCount: 4, state: {waiting: {reason: CrashLoopBackOff}}}]
`, namespace, name, set, node, hash, map[bool]string{true: "True", false: "False"}[ready], ready)
}

// DaemonSets, revisions, pods and Tempest of both namespaces arrive as core's types.
func TestWorkloadsAreWatched(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: tf}}`)
		c.create(daemonSet("tf", "vrouter", "OnDelete"))
		c.create(daemonSet("openstack", "agent", "RollingUpdate"))
		c.create(`{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: vrouter-abc, namespace: tf, labels: ` +
			`{controller-revision-hash: abc}, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: vrouter, uid: ds-vrouter, ` +
			`controller: true}]}, revision: 7, data: {}}`)
		c.create(daemonPod("tf", "vrouter-1", "vrouter", "cmp-1", "abc", false))
		c.create(`{apiVersion: v1, kind: Pod, metadata: {name: another, namespace: tf}, spec: {nodeName: cmp-1, containers: [{name: c, image: ` +
			`i}]}}`)
		for _, name := range []string{"openstack-tempest-run-tests", "another"} {
			c.create(`{apiVersion: batch/v1, kind: Job, metadata: {name: ` + name +
				`, namespace: openstack}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}, status: {failed: 2, ` +
				`startTime: "2026-03-14T11:00:00Z", conditions: [{type: Failed, status: "True", message: "Job has reached the specified backoff ` +
				`limit"}]}}`)
		}
		c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: OpenStackDeployment, metadata: {name: osh, namespace: openstack},
		spec: {openstack_version: antelope,
		features: {services: [stepler, 7, tempest], password: secret, nova: {images: {backend: ceph, encryption: {key: secret}}}},
		nodes: {"disks::local": {features: {nova: {images: {backend: lvm}}}}, "disks::none": {features: {nova: {vcpu_type: secret}}}}}}`)
		_, o := watchCluster(t, c.client(kubeapi.Operator), WatchOptions{})
		o.wait("the vRouters", func(v *view) bool {
			return v.is(core.SourceFabricSets, "tf/vrouter") && v.is(core.SourceDaemonSets, "openstack/agent") &&
				v.is(core.SourceFabricRevisions, "tf/vrouter-abc") &&
				v.is(core.SourceFabricPods, "tf/vrouter-1") && v.is(core.SourceTempestJob, "openstack/openstack-tempest-run-tests") &&
				v.is(core.SourceOpenStackDeployment, "openstack/osh")
		})
		o.look(func(v *view) {
			d, _ := v.objects[core.SourceFabricSets]["tf/vrouter"].(*core.DaemonSet)
			if !d.OnDelete || d.Desired != 2 || d.Ready != 1 || d.Updated != 0 || d.Component != "vrouter" ||
				d.Selector != "application=tf,component=vrouter" || d.Observed != 1 || d.Generation != 1 {
				t.Errorf("%+v", d)
			}
			if a, _ := v.objects[core.SourceDaemonSets]["openstack/agent"].(*core.DaemonSet); a.OnDelete {
				t.Errorf("%+v", a)
			}
			r, _ := v.objects[core.SourceFabricRevisions]["tf/vrouter-abc"].(*core.DaemonRevision)
			if r.Number != 7 || r.Hash != "abc" || r.Owner != "ds-vrouter" {
				t.Errorf("%+v", r)
			}
			p, _ := v.objects[core.SourceFabricPods]["tf/vrouter-1"].(*core.DaemonPod)
			if p.Node != "cmp-1" || p.Hash != "abc" || p.Template != 3 || p.Ready || p.Owner != "ds-vrouter" || p.Set != "vrouter" ||
				p.Waits != "CrashLoopBackOff" {
				t.Errorf("%+v", p)
			}
			j, _ := v.objects[core.SourceTempestJob]["openstack/openstack-tempest-run-tests"].(*core.Job)
			if j.State != core.JobFailed || j.Failed != 2 || j.Started.IsZero() || j.Message != "Job has reached the specified backoff limit" {
				t.Errorf("%+v", j)
			}
			osdpl, _ := v.objects[core.SourceOpenStackDeployment]["openstack/osh"].(*core.OpenStackDeployment)
			if !slices.Equal(osdpl.Services, []string{"stepler", "tempest"}) || osdpl.Disks != "ceph" || len(osdpl.NodeDisks) != 1 ||
				osdpl.NodeDisks["disks::local"] != "lvm" || strings.Contains(fmt.Sprintf("%+v", osdpl), "secret") {
				t.Errorf("%+v", osdpl)
			}
		})
	})
}

// For a login that may not read the OpenStackDeployment, which is for operators, that source is off; a source that everybody needs
// is forbidden. Neither affects the others.
func TestWhatIsForOperatorsOnlyIsNoFailure(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{Users: []kubeapi.User{{Name: "ann", Rules: []kubeapi.Rule{
			{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"nodes"}, Verbs: []string{"list", "watch"}}},
		}}}})
		c.create(node("n1"))
		_, o := watchCluster(t, c.client("ann"), WatchOptions{})
		o.wait("nodes live, the others as they are", func(v *view) bool {
			return v.is(core.SourceNodes, "n1") && v.state[core.SourceOpenStackDeployment] == core.SourceOff &&
				v.state[core.SourceDaemonSets] == core.SourceForbidden
		})
		o.look(func(v *view) {
			if err := v.err[core.SourceOpenStackDeployment]; err.Kind != core.ErrForbidden || !strings.Contains(err.Remedy, "rbac-operator.yaml") {
				t.Errorf("%+v", err)
			}
		})
	})
}

func kindOf(err error) core.ErrorKind {
	var api *core.APIError
	if !errors.As(err, &api) {
		return ""
	}
	return api.Kind
}

// Exactly the pod with the UID is deleted; a dry-run deletes nothing.
func TestExactlyOnePodIsDeleted(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: tf}}`)
		c.create(daemonPod("tf", "vrouter-1", "vrouter", "cmp-1", "old", true))
		c.create(daemonPod("tf", "vrouter-2", "vrouter", "cmp-2", "new", true))
		c.create(daemonPod("tf", "foreign", "another", "cmp-3", "new", true)) // the same labels, another owner
		w := writes(t, c.client(kubeapi.Operator))
		ctx := context.Background()
		set := core.Ref{Kind: core.KindDaemonSet, Namespace: "tf", Name: "vrouter", UID: "ds-vrouter"}
		names := func() (out []string) {
			pods, err := w.DaemonPods(ctx, set, "application=tf,component=vrouter")
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pods {
				out = append(out, p.Name+" "+p.Hash)
			}
			slices.Sort(out)
			return out
		}
		both := []string{"vrouter-1 old", "vrouter-2 new"}
		if got := names(); !slices.Equal(got, both) {
			t.Fatalf("%q", got)
		}
		if _, err := w.DaemonPods(ctx, set, ""); kindOf(err) != core.ErrInvalid {
			t.Errorf("every pod was asked for: %v", err)
		}
		ref := core.Ref{Kind: core.KindPod, Namespace: "tf", Name: "vrouter-1", UID: "uid-vrouter-1"}
		another := ref
		another.UID = "another"
		if err := w.write(core.DeletePod{Pod: another}); kindOf(err) != core.ErrConflict {
			t.Errorf("another pod under the name: %v", err)
		}
		if err := w.DryRun(ctx, core.DeletePod{Pod: ref}); err != nil || !slices.Equal(names(), both) {
			t.Errorf("dry run: %v, %q", err, names())
		}
		if err := writes(t, c.client(kubeapi.Readonly)).DryRun(ctx, core.DeletePod{Pod: ref}); kindOf(err) != core.ErrForbidden {
			t.Errorf("a reader: %v", err)
		}
		if err := w.write(core.DeletePod{Pod: ref}); err != nil {
			t.Fatal(err)
		}
		pods, err := w.DaemonPods(ctx, set, "application=tf,component=vrouter")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods { // there is no kubelet to end it
			if (p.Name == "vrouter-1") != !p.Deleting.IsZero() {
				t.Errorf("%s: deleting %v", p.Name, p.Deleting)
			}
		}
		if p, err := w.Pod(ctx, "tf", "vrouter-1"); err != nil || p == nil || p.UID != "uid-vrouter-1" || p.Deleting.IsZero() {
			t.Errorf("the pod that ends is read as %+v: %v", p, err)
		}
		if p, err := w.Pod(ctx, "tf", "gone"); err != nil || p != nil {
			t.Errorf("no pod is read as %+v: %v", p, err)
		}
		if err := w.DryRun(ctx, core.DeletePod{Pod: core.Ref{Namespace: "tf", Name: "gone", UID: "x"}}); kindOf(err) != core.ErrNotFound {
			t.Errorf("no pod: %v", err)
		}
	})
}

// One service is added or removed, and only on the list that was seen.
func TestServicesAreComparedAndSwapped(t *testing.T) {
	for name, features := range map[string]string{"a list": "features: {services: [stepler, instance-ha]}",
		"an empty list": "features: {services: []}",
		"no list":       "features: {neutron: {backend: ml2}}", "no features": "size: small"} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				c := newCluster(t, kubeapi.Options{})
				c.create(`{apiVersion: lcm.mirantis.com/v1alpha1, kind: OpenStackDeployment, metadata: {name: osh, namespace: openstack, uid: ` +
					`osdpl}, spec: {openstack_version: antelope, ` + features + `}}`)
				w := writes(t, c.client(kubeapi.Operator))
				ctx, ref := context.Background(), core.Ref{Namespace: "openstack", Name: "osh", UID: "osdpl"}
				services := func() []string {
					s, err := w.OpenStackServices(ctx, ref)
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
				before := services()
				if err := w.write(core.SetTempest{Deployment: ref, Add: true,
					Services: append(slices.Clone(before), "other")}); kindOf(err) != core.ErrConflict {
					t.Errorf("another list: %v", err)
				}
				if err := w.write(core.SetTempest{Deployment: core.Ref{Namespace: "openstack", Name: "osh", UID: "another"}, Add: true,
					Services: before}); kindOf(err) != core.ErrConflict {
					t.Errorf("another object: %v", err)
				}
				if err := w.DryRun(ctx, core.SetTempest{Deployment: ref, Add: true, Services: before}); err != nil ||
					!slices.Equal(services(), before) {
					t.Errorf("dry run: %v, %q", err, services())
				}
				if err := w.write(core.SetTempest{Deployment: ref, Add: true, Services: before}); err != nil ||
					!slices.Equal(services(), append(slices.Clone(before), "tempest")) {
					t.Fatalf("added: %v, %q", err, services())
				}
				if err := w.write(core.SetTempest{Deployment: ref, Add: false, Services: services()}); err != nil || !slices.Equal(services(), before) {
					t.Errorf("removed: %v, %q", err, services())
				}
			})
		})
	}
}
