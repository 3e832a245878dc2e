package kube

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

func volumeClaim(namespace, name, volume string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: %[1]s, name: %[2]s, uid: uid-%[2]s}, spec: `+
		`{volumeName: %[3]q}}`, namespace, name, volume)
}

// The claims of OpenStack and Redis and all volumes are watched where they are asked for: a volume with the nodes that Rockoon would
// find it bound to, a pod with what its volumes claim.
func TestVolumeClaimsAreWatched(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create(`{apiVersion: v1, kind: Namespace, metadata: {name: openstack-redis}}`)
		c.create(volumeClaim("openstack", "mysql-data-mariadb-server-0", "local-pv-1"))
		c.create(volumeClaim("openstack", "new", ""))
		c.create(volumeClaim("openstack-redis", "redis-data-rfr-openstack-redis-0", "rbd-1"))
		c.create(`
apiVersion: v1
kind: PersistentVolume
metadata: {name: local-pv-1}
spec:
  nodeAffinity:
    required:
      nodeSelectorTerms:
      - matchExpressions:
        - {key: topology.kubernetes.io/zone, operator: In, values: [az1]}
        - {key: kubernetes.io/hostname, operator: In, values: [ctl-1, ctl-2]}
      - matchExpressions:
        - {key: kubernetes.io/hostname, operator: NotIn, values: [ctl-9]}
        - {key: kubernetes.io/hostname, operator: In, values: [ctl-1, ctl-3]}
`)
		c.create(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: rbd-1}, spec: {csi: {driver: rbd, volumeHandle: h}}}`)
		c.create(`
apiVersion: v1
kind: Pod
metadata:
  {name: mariadb-server-0, namespace: openstack, labels: {controller-revision-hash: abc},
   ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: mariadb-server, uid: sts, controller: true}]}
spec:
  containers: [{name: c, image: i}]
  volumes:
  - {name: mysql-data, persistentVolumeClaim: {claimName: mysql-data-mariadb-server-0}}
  - {name: config, configMap: {name: x}}
  - {name: logs, persistentVolumeClaim: {claimName: logs}}
status:
  phase: Pending
  conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]
`)
		_, plain := watchCluster(t, c.client(kubeapi.Operator), WatchOptions{})
		_, o := watchCluster(t, c.client(kubeapi.Operator), WatchOptions{Claims: true})
		o.wait("the claims and their volumes", func(v *view) bool {
			return v.is(core.SourceClaims, "openstack/mysql-data-mariadb-server-0", "openstack/new") &&
				v.is(core.SourceRedisClaims, "openstack-redis/redis-data-rfr-openstack-redis-0") &&
				v.is(core.SourceLocalVolumes, "local-pv-1", "rbd-1") && v.is(core.SourceDaemonPods, "openstack/mariadb-server-0")
		})
		o.look(func(v *view) {
			claim, _ := v.objects[core.SourceClaims]["openstack/mysql-data-mariadb-server-0"].(*core.VolumeClaim)
			if claim.Volume != "local-pv-1" || claim.UID != "uid-mysql-data-mariadb-server-0" {
				t.Errorf("%+v", claim)
			}
			local, _ := v.objects[core.SourceLocalVolumes]["local-pv-1"].(*core.PersistentVolume)
			ceph, _ := v.objects[core.SourceLocalVolumes]["rbd-1"].(*core.PersistentVolume)
			if !slices.Equal(local.Nodes, []string{"ctl-1", "ctl-2", "ctl-3"}) || len(ceph.Nodes) > 0 {
				t.Errorf("the volumes are on %q and %q", local.Nodes, ceph.Nodes)
			}
			pod, _ := v.objects[core.SourceDaemonPods]["openstack/mariadb-server-0"].(*core.DaemonPod)
			if !slices.Equal(pod.Claims, []string{"mysql-data-mariadb-server-0", "logs"}) || pod.Node != "" || pod.Waits != "Unschedulable" {
				t.Errorf("%+v", pod)
			}
		})
		plain.wait("the pod", func(v *view) bool { return v.is(core.SourceDaemonPods, "openstack/mariadb-server-0") })
		plain.look(func(v *view) {
			if _, told := v.state[core.SourceClaims]; told {
				t.Error("the claims are watched by who did not ask for them")
			}
		})
	})
}

// A login that may not see the claims is told which right is missing, and which manifest gives it.
func TestVolumeClaimsAreForbiddenWithoutTheRight(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		_, o := watchCluster(t, c.client(kubeapi.Readonly), WatchOptions{Claims: true})
		o.wait("it is forbidden", func(v *view) bool { return v.state[core.SourceClaims] == core.SourceForbidden })
		o.look(func(v *view) {
			err := v.err[core.SourceClaims]
			if err == nil || err.Call != "list persistentvolumeclaims in namespace openstack" ||
				!strings.Contains(err.Remedy, "deploy/rbac-maintenance.yaml") {
				t.Errorf("it is told as %+v", err)
			}
		})
		w := writes(t, c.client(kubeapi.Readonly))
		_, err := w.VolumeClaims(t.Context(), "openstack")
		wantError(t, err, core.ErrForbidden, "")
		_, err = w.PersistentVolume(t.Context(), "pv")
		wantError(t, err, core.ErrForbidden, "")
		wantError(t, w.DryRun(t.Context(), core.DeleteClaim{Claim: core.Ref{Namespace: "openstack", Name: "c", UID: "u"}}), core.ErrForbidden, "")
	})
}

// A claim is read and deleted with exactly the rights of the manifest: only the one with the UID. One in use stays, in deletion.
func TestAVolumeClaimIsDeletedByItsUID(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		rules := map[string]*kubeapi.Rule{}
		for _, p := range claimPermissions() {
			r := rules[p.Namespace]
			if r == nil {
				r = &kubeapi.Rule{PolicyRule: rbacv1.PolicyRule{APIGroups: []string{p.Group}, Resources: []string{p.Resource}}}
				if p.Namespace != "" {
					r.Namespaces = []string{p.Namespace}
				}
				rules[p.Namespace] = r
			}
			r.Verbs = append(r.Verbs, p.Verb)
		}
		c := newCluster(t,
			kubeapi.Options{Users: []kubeapi.User{{Name: "anna",
				Rules: []kubeapi.Rule{*rules[""], *rules["openstack"], *rules["openstack-redis"]}}}})
		c.create(volumeClaim("openstack", "data", "pv-1"))
		c.create(strings.Replace(volumeClaim("openstack", "used", "pv-2"), "uid: uid-used",
			"uid: uid-used, finalizers: [kubernetes.io/pvc-protection]", 1))
		c.create(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-1}, spec: {local: {path: /x}}}`)
		w := writes(t, c.client("anna"))
		names := func() (out []string) {
			t.Helper()
			claims, err := w.VolumeClaims(t.Context(), "openstack")
			if err != nil {
				t.Fatal(err)
			}
			for _, claim := range claims {
				name := claim.Name + " " + claim.Volume
				if !claim.Deleting.IsZero() {
					name += ", going, " + strings.Join(claim.Finalizers, " ")
				}
				out = append(out, name)
			}
			return out
		}
		if got := names(); !slices.Equal(got, []string{"data pv-1", "used pv-2"}) {
			t.Errorf("the claims are %q", got)
		}
		for name, there := range map[string]bool{"pv-1": true, "pv-9": false} {
			v, err := w.PersistentVolume(t.Context(), name)
			if err != nil || (v != nil) != there || v != nil && v.Name != name {
				t.Errorf("%s is %+v, %v", name, v, err)
			}
		}
		ref := core.Ref{Kind: core.KindVolumeClaim, Namespace: "openstack", Name: "data", UID: "uid-data"}
		other := ref
		other.UID = "another"
		for _, dryRun := range []bool{true, false} {
			wantError(t, w.do(dryRun, core.DeleteClaim{Claim: other}), core.ErrConflict, "")
		}
		wantError(t, w.DryRun(t.Context(), core.DeleteClaim{Claim: ref}), "", "")
		if got := names(); len(got) != 2 {
			t.Errorf("after dry runs the claims are %q", got)
		}
		wantError(t, w.write(core.DeleteClaim{Claim: ref}), "", "")
		wantError(t, w.write(core.DeleteClaim{Claim: ref}), core.ErrNotFound, "")
		wantError(t, w.write(core.DeleteClaim{Claim: core.Ref{Namespace: "openstack", Name: "used", UID: "uid-used"}}), "", "")
		if got := names(); !slices.Equal(got, []string{"used pv-2, going, kubernetes.io/pvc-protection"}) {
			t.Errorf("the claims are %q", got)
		}
	})
}

// Most clouds have no Redis, and no role in its namespace.
func TestClaimPermissionsOfTheNamespacesThatAreThere(t *testing.T) {
	redis := Permission{Verb: "delete", Resource: gvrClaims.Resource, Namespace: namespaceRedis}
	own := Permission{Verb: "delete", Resource: gvrClaims.Resource, Namespace: namespaceOpenStack}
	if without := ClaimPermissions(namespaceOpenStack); slices.Contains(without, redis) || !slices.Contains(without, own) {
		t.Errorf("without Redis: %v", without)
	}
	if with := ClaimPermissions(namespaceOpenStack, namespaceRedis); !slices.Contains(with, redis) || !slices.Contains(with, own) {
		t.Errorf("with Redis: %v", with)
	}
}
