package controller_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

// logged is the log of the controllers.
type logged struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *logged) has(words string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.all.String(), words)
}

// alone is a cloud whose LCM does nothing: the test creates the requests.
func alone(t *testing.T, cloud, nodes, instances string) (*world, *logged) {
	t.Helper()
	log := &logged{}
	timing := quick
	timing.StartDelay, timing.RockoonRollout = 10000*time.Hour, 10000*time.Hour
	timing.ServicesUp, timing.ServiceHealthy = 30*time.Second, 20*time.Second
	timing.RockoonStart = 4 * time.Minute // until then a new controller must say what it waits for
	w := begin(t, story(cloud, nodes, instances), sim.Options{Timing: timing, Log: slog.New(slog.NewTextHandler(log, nil))})
	return w.run(), log
}

// object creates an object of the maintenance API.
func (w *world) object(plural, kind, name string, spec map[string]any) {
	w.t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetAPIVersion("lcm.mirantis.com/v1alpha1")
	object.SetKind(kind)
	object.SetName(name)
	if _, err := w.dyn.Resource(resource(plural)).Create(w.t.Context(), object, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// maintain requests the maintenance of a machine.
func (w *world) maintain(machine, scope string) {
	w.t.Helper()
	w.object("nodemaintenancerequests", "NodeMaintenanceRequest", w.node(machine),
		map[string]any{"nodeName": w.node(machine), "scope": scope, "release": "17.4.0+25.1"})
}

// remove deletes an object of the maintenance API.
func (w *world) remove(plural, name string) {
	w.t.Helper()
	if err := w.dyn.Resource(resource(plural)).Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// untilTold waits until a lock's text, after its time, is exactly this text. <url> in it stands for any URL.
func (w *world) untilTold(letter, lock, text string) {
	w.t.Helper()
	pattern := strings.ReplaceAll(regexp.QuoteMeta(text), "<url>", `http://\S+`)
	w.untilSaid(lock, `^(active|inactive)/(active|inactive|): `+pattern+`$`)
	w.t.Logf("%s: %s", letter, text)
}

// fault makes matching requests to OpenStack fail until the returned function is called.
func (w *world) fault(method, path string, status int, message string) func() {
	return w.OpenStack.SetFault(openstack.Fault{Method: method, Path: regexp.MustCompile(path), Status: status, Message: message})
}

// deployController changes the OpenStack controller's Deployment, as a new release or version of it does.
func (w *world) deployController(release, version string) {
	w.t.Helper()
	d, err := w.kube.AppsV1().Deployments("osh-system").Get(w.t.Context(), "rockoon", metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	containers := d.Spec.Template.Spec.Containers
	for i := range containers {
		containers[i].Image = "registry.local/openstack/rockoon:" + version
		containers[i].Env[0].Value = release
	}
	if _, err := w.kube.AppsV1().Deployments("osh-system").Update(w.t.Context(), d, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// setHealth writes the health of a component without a workload.
func (w *world) setHealth(application, component, health string) {
	w.t.Helper()
	patch := `{"status":{"health":{"` + application + `":{"` + component + `":{"status":"` + health + `"}}}}}`
	_, err := w.dyn.Resource(resource("openstackdeploymentstatus")).Namespace("openstack").
		Patch(w.t.Context(), "osh-dev", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// tag gives an instance of cmp-01 one maintenance action and no other tag.
func (w *world) tag(name, action string) {
	w.t.Helper()
	id := w.on("cmp-01")[name].ID
	body := map[string]any{"tags": []string{"openstack.lcm.mirantis.com:maintenance_action=" + action}}
	if _, err := w.nova.Compute.Put(w.t.Context(), w.nova.Compute.ServiceURL("servers", id, "tags"), body, nil,
		&gophercloud.RequestOpts{OkCodes: []int{200}}); err != nil {
		w.t.Fatal(err)
	}
}

// untilCrashed waits until the machine's pod of each workload exists and is not ready.
func (w *world) untilCrashed(machine string, workloads ...string) {
	w.t.Helper()
	w.until("the pods of "+strings.Join(workloads, ", ")+" on "+machine+" crash", func() bool {
		crashed := 0
		for _, pod := range w.podsOn(machine) {
			if slices.Contains(workloads, pod.Labels["app.kubernetes.io/name"]) && !podIsReady(&pod) {
				crashed++
			}
		}
		return crashed == len(workloads)
	})
}

// times returns how often a lock has said something with these words.
func (w *world) times(lock, words string) int {
	n := 0
	for _, said := range w.said(lock) {
		if strings.Contains(said, words) {
			n++
		}
	}
	return n
}

const (
	clusterLockName = "openstack-osh-dev"
	unavailable     = http.StatusServiceUnavailable
	small3          = `
- {machine: ctl-01, roles: [master, controller]}
- {machine: cmp-01, roles: [compute]}
- {machine: cmp-02, roles: [compute]}`
)

// The letters are those of the table of texts in docs/mosk.md#texts.

func TestTextsAToEOfTheClusterLock(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		w.object("clustermaintenancerequests", "ClusterMaintenanceRequest", "mos", map[string]any{"release": "21.0.0+25.2"})
		w.untilTold("A", clusterLockName, "Current maintenancerequest 21.0.0+25.2 release does not match ours 17.4.0+25.1. Skipping handling.")
		w.deployController("21.0.0+25.2", "1.1.5")
		w.untilTold("B", clusterLockName, "Waitinging for cwl release is 21.0.0+25.2.")
		w.untilTold("D", clusterLockName, "Waiting osdpl status APPLIED, current state is APPLYING")
		w.untilTold("E", clusterLockName, "Waiting for all OpenStack services are healthy.")
		w.untilSaid(clusterLockName, "^inactive/inactive$")
		w.remove("clustermaintenancerequests", "mos")
		w.until("the lock is armed again", func() bool { said := w.said(clusterLockName); return said[len(said)-1] == "active/inactive" })

		w.deployController("21.0.0+25.2", "1.1.6") // of the same release
		w.object("clustermaintenancerequests", "ClusterMaintenanceRequest", "again", map[string]any{"release": "21.0.0+25.2"})
		w.untilTold("C", clusterLockName, "OpenStackDeploymentStatus controller version is not updated yet.")
		if missing := inOrder(w.said(clusterLockName), "Skipping handling", "Waitinging", "APPLIED", "healthy", "^inactive", "^active/inactive$",
			"not updated yet"); missing != "" {
			t.Errorf("the lock never said %s, in order: %s", missing, pretty(w.said(clusterLockName)))
		}
	})
}

func TestTextEStaysWhileAServiceIsNotHealthy(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, log := alone(t, "", small3, " []")
		w.setHealth("barbican", "api", "Unhealthy")
		w.object("clustermaintenancerequests", "ClusterMaintenanceRequest", "mos", map[string]any{"release": "17.4.0+25.1"})
		w.until("E is said at each retry", func() bool {
			return w.times(clusterLockName,
				"Waiting for all OpenStack services are healthy.") >= 2
		})
		w.until("the exception is logged", func() bool { return log.has("Services are not healthy") })
		if w.times(clusterLockName, "inactive/inactive") > 0 {
			t.Errorf("the lock was released: %v", w.said(clusterLockName))
		}
		w.setHealth("barbican", "api", "Ready")
		w.untilSaid(clusterLockName, "^inactive/inactive$")
	})
}

func TestTextFWhenARoleIsFull(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, log := alone(t, "", `
- {machine: ctl-01, roles: [master, controller]}
- {machine: gtw-01, roles: [gateway]}
- {machine: cmp-01, roles: [compute]}`, " []")
		w.maintain("gtw-01", "os")
		w.untilSaid(w.openstackLock("gtw-01"), "^inactive/active$")
		w.maintain("cmp-01", "os")
		w.untilTold("F", w.openstackLock("cmp-01"),
			"Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node "+w.node("cmp-01"))
		if words := "Handling Nodemaintenancerequest for node " + w.node("cmp-01") + " is not allowed. Already handling [" +
			w.openstackLock("gtw-01") + "] for role: gateway"; !log.has(words) {
			t.Errorf("the log does not say: %s", words)
		}
		// When the full role has room again, the node gets in at the next retry.
		w.remove("nodemaintenancerequests", w.node("gtw-01"))
		w.untilSaid(w.openstackLock("cmp-01"), "^inactive/active$")
	})
}

func TestTextGWhenAServiceRefuses(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		services := "[ingress, memcached, messaging, database, redis, coordination, identity, image, placement, block-storage, networking, " +
			"compute, metric-storage]"
		sets := []string{"mariadb-server", "etcd-etcd", "rfr-openstack-redis", "openstack-prometheus-server"}
		var crashing []string
		for _, set := range sets {
			for _, node := range []string{"ctl-02", "ctl-03"} {
				crashing = append(crashing, "- {kind: podsNotReady, node: "+node+", workload: "+set+"}")
			}
		}
		w, log := alone(t, "openstack: {services: "+services+"}\ntroubles:\n"+strings.Join(crashing, "\n"), `
- {machine: ctl-01, roles: [master, controller]}
- {machine: ctl-02, roles: [master, controller]}
- {machine: ctl-03, roles: [master, controller]}
- {machine: cmp-01, roles: [compute]}`, " []")
		w.untilCrashed("ctl-02", sets...)
		w.untilCrashed("ctl-03", sets...)
		w.maintain("cmp-01", "drain")
		lock := w.openstackLock("cmp-01")
		w.untilTold("G", lock,
			"Some services blocks nmr handling {'compute': True, 'networking': True, 'block-storage': True, 'database': False, "+
				"'coordination': False, 'redis': False, 'metric-storage': False}. Deferring processing for node "+w.node("cmp-01"))
		if words := "The node " + w.node("cmp-01") + " is hard locked by mariadb."; !log.has(words) {
			t.Errorf("the log does not say: %s", words)
		}
		// A deferred node counts already.
		if missing := inOrder(w.said(lock), "^active/active: Some services blocks"); missing != "" {
			t.Errorf("the lock never said %s: %v", missing, w.said(lock))
		}
		// Two members of three are enough, wherever the third is.
		for _, pod := range w.podsOn("ctl-02") {
			if slices.ContainsFunc(sets, func(set string) bool { return strings.HasPrefix(pod.Name, set) }) {
				if err := w.kube.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.untilSaid(lock, "^inactive/active$")
		down := 0
		for _, pod := range w.podsOn("ctl-03") {
			if slices.ContainsFunc(sets, func(set string) bool { return strings.HasPrefix(pod.Name, set) }) && !podIsReady(&pod) {
				down++
			}
		}
		if down != len(sets) {
			t.Errorf("%d members are down on ctl-03, want %d", down, len(sets))
		}
	})
}

func TestTextsHToLOfAnEvacuation(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "openstack: {ignoreZones: true}", small3, `
- {name: a, project: p, flavor: large, host: cmp-01}
- {name: b, project: p, flavor: large, host: cmp-01, actions: [poweroff]}
- {name: tell, project: p, flavor: small, host: cmp-01, actions: [notify]}`)
		a, b, tell := w.on("cmp-01")["a"].ID, w.on("cmp-01")["b"].ID, w.on("cmp-01")["tell"].ID
		lock := w.openstackLock("cmp-01")
		clear := w.fault(http.MethodPut, "/compute/v2.1/os-services/", 500, "")
		w.maintain("cmp-01", "os")
		w.untilTold("L", lock, "Can not disable compute service on a host to be deleted")
		// Each fault is set before the previous one is removed: a try in between would get further than the test wants.
		next := w.fault(http.MethodGet, "/compute/v2.1/servers/detail", unavailable, "no conductor")
		clear()
		clear = next
		w.untilTold("K", lock,
			"Retrying migrate instances from host. Cannot execute openstack commands, error: HttpException: 503: Server Error for url: <url>, no "+
				"conductor")
		next = w.fault(http.MethodPost, "/servers/"+a+"/action", 409, "Instance "+a+" is in an invalid state for 'live migration'")
		clear()
		clear = next
		w.untilTold("I", lock, "Got error while trying to migrate server "+a+": ConflictException: 409: Client Error for url: <url>, Instance "+a+
			" is in an invalid state for 'live migration'")
		w.untilTold("J", lock, "Some servers are still present on the host. Notify owners of the following server: ['"+tell+
			"'] Servers with unset maintenance action: ['"+a+"']")
		const present = "Some servers are still present on the host."
		w.until("J is said again", func() bool { return w.times(lock, present) >= 2 })
		tries, counting := 0, false
		for _, said := range w.said(lock) { // each run counts for itself
			switch {
			case strings.Contains(said, present) && counting:
				counting = false
				if tries != 3 {
					t.Errorf("%d tries in a run: %s", tries, pretty(w.said(lock)))
				}
			case strings.Contains(said, present):
				counting, tries = true, 0
			case strings.Contains(said, "Starting migration for"):
				tries++
			}
		}
		w.tag("b", "live_migrate") // one has to wait for the other
		clear()
		w.untilSaid(lock, `: Starting migration for (`+a+`|`+b+`)$`)                        // H
		w.untilSaid(lock, `: Waiting servers migration is completed: \['(`+a+`|`+b+`)'\]$`) // H
		if err := servers.Stop(t.Context(), w.nova.Compute, tell).ExtractErr(); err != nil {
			t.Fatal(err)
		}
		w.untilSaid(lock, "^inactive/active$")
	})
}

func TestTextsMToRWhenANodeReturns(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "openstack: {ignoreZones: true}", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		if err := w.OpenStack.AddVolumeService(host); err != nil {
			t.Fatal(err)
		}
		clear := w.fault(http.MethodPut, "/volume/v3/os-services/disable-log-reason", unavailable, "")
		w.maintain("cmp-01", "drain")
		w.untilTold("R", lock, "Can not disable block-storage service on a host to be deleted")
		clear()
		w.untilSaid(lock, "^inactive/active$")

		clear = w.fault(http.MethodPut, "/volume/v3/os-services/enable", unavailable, "")
		w.remove("nodemaintenancerequests", host)
		w.untilTold("R", lock, "Can not enable block-storage service on the host "+host+".")
		do := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		do(w.OpenStack.StopAgents(host))
		clear()
		w.untilTold("P", lock, "Timeout waiting for network agents on the host "+host+".")
		clear = w.fault(http.MethodGet, "/network/v2.0/agents", 500, "broken")
		w.untilTold("Q", lock,
			"Got error while waiting for network agents. Cannot execute openstack commands, error: HttpException: 500: Server Error for url: "+
				"<url>, broken.")
		do(w.OpenStack.StopCompute(host))
		w.until("Nova shows it down", func() bool { return w.computeService("cmp-01").State == "down" }) // it counts as up for a minute yet
		do(w.OpenStack.StartAgents(host))
		clear()
		w.untilTold("M", lock, "Timeout waiting for compute services up on the host.")
		clear = w.fault(http.MethodGet, "/compute/v2.1/os-services", unavailable, "away")
		w.untilTold("N", lock,
			"Got error while waiting services to be UP on the host. Cannot execute openstack commands, error: HttpException: 503: Server Error "+
				"for url: <url>, away")
		do(w.OpenStack.StartCompute(host))
		still := w.fault(http.MethodPut, "/compute/v2.1/os-services/", http.StatusForbidden, "Policy doesn't allow it.")
		clear()
		w.untilTold("O", lock,
			"Can not bring node back to scheduling. Cannot execute openstack commands, error: ForbiddenException: 403: Client Error for url: "+
				"<url>, Policy doesn't allow it.")
		still()
		w.until("the node is back", func() bool { return w.request("cmp-01") == nil })
		if service := w.computeService("cmp-01"); service.Status != "enabled" || service.DisabledReason != "" {
			t.Errorf("nova-compute is %s (%s)", service.Status, service.DisabledReason)
		}
	})
}

func TestTextsSAndTWhenANodeIsToBeDeleted(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, `
- {name: a, project: p, flavor: small, host: cmp-01, status: SHUTOFF}`)
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		volume, err := w.OpenStack.AddVolume(host, "p", "data")
		if err != nil {
			t.Fatal(err)
		}
		w.object("nodedeletionrequests", "NodeDeletionRequest", host, map[string]any{"nodeName": host})
		w.untilTold("T", lock, "Some volumes ['"+volume+"'] are still present on host "+host+
			". Blocking node removal unless they removed or migrated.")
		if _, err := w.nova.Volume.Delete(t.Context(), w.nova.Volume.ServiceURL("volumes", volume), nil); err != nil {
			t.Fatal(err)
		}
		a := w.on("cmp-01")["a"].ID
		w.untilTold("S", lock, "Some servers {'"+a+"': 'SHUTOFF'} are still present on host "+host+
			". Blocking node removal unless they removed or migrated.")
		if err := servers.Delete(t.Context(), w.nova.Compute, a).ExtractErr(); err != nil {
			t.Fatal(err)
		}
		w.untilSaid(lock, "^inactive/inactive$")
		if service := w.computeService("cmp-01"); service.Status != "disabled" {
			t.Errorf("nova-compute is %s", service.Status)
		}
	})
}

func TestTextsUAndVWhenANodeIsGone(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		services := "[database, redis, coordination, networking, compute, metric-storage]"
		sets := []struct{ workload, application string }{ // in the order of the cleanup
			{"openstack-prometheus-server", "prometheus"}, {"rfr-openstack-redis", "redis"}, {"etcd-etcd", "etcd"},
			{"mariadb-server", "mariadb"}, {"openvswitch-ovn-db", "openvswitch-ovn"},
		}
		var crashing, workloads []string
		for _, set := range sets {
			workloads = append(workloads, set.workload)
			crashing = append(crashing, "- {kind: podsNotReady, node: ctl-02, workload: "+set.workload+"}")
		}
		w, log := alone(t, "openstack: {ovn: true, services: "+services+"}\ntroubles:\n"+strings.Join(crashing, "\n"), `
- {machine: ctl-01, roles: [master, controller]}
- {machine: ctl-02, roles: [master, controller]}
- {machine: ctl-03, roles: [master, controller]}
- {machine: cmp-01, roles: [compute]}`, " []")
		host, lock := w.node("ctl-03"), w.openstackLock("ctl-03")
		w.untilCrashed("ctl-02", workloads...)
		w.remove("nodeworkloadlocks", lock)
		w.until("V is logged", func() bool {
			return log.has("The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal.")
		})
		if err := w.OpenStack.PowerOffHost(host); err != nil {
			t.Fatal(err)
		}
		if err := w.kube.CoreV1().Nodes().Delete(t.Context(), host, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, set := range sets {
			w.untilTold("U", lock, "The node "+host+" is hard locked by "+set.application+".")
			for _, pod := range w.podsOn("ctl-02") {
				if pod.Labels["app.kubernetes.io/name"] == set.workload {
					if err := w.kube.CoreV1().Pods(pod.Namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		w.until("the lock is gone", func() bool {
			return !slices.ContainsFunc(w.list("nodeworkloadlocks"), func(o *unstructured.Unstructured) bool { return o.GetName() == lock })
		})
	})
}

func TestDisabledNodeKeepsItsLockUntilTheNoticeGoes(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		w.object("nodedisablenotifications", "NodeDisableNotification", host, map[string]any{"nodeName": host})
		w.until("the controller holds the notice", func() bool {
			all := w.list("nodedisablenotifications")
			return len(all) == 1 && slices.Contains(all[0].GetFinalizers(), finalizer)
		})
		if err := w.OpenStack.PowerOffHost(host); err != nil {
			t.Fatal(err)
		}
		if err := w.kube.CoreV1().Nodes().Delete(t.Context(), host, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		there := func() *unstructured.Unstructured {
			for _, o := range w.list("nodeworkloadlocks") {
				if o.GetName() == lock {
					return o
				}
			}
			return nil
		}
		time.Sleep(3 * time.Minute) // some minutes pass
		if o := there(); o == nil || o.GetDeletionTimestamp() != nil {
			t.Fatal("the lock of a disabled node was removed")
		}
		w.remove("nodedisablenotifications", host)
		w.until("the lock goes with the notice", func() bool { return there() == nil })
		var known struct {
			Services []struct{ Binary string }
		}
		if _, err := w.nova.Compute.Get(t.Context(), w.nova.Compute.ServiceURL("os-services")+"?host="+host, &known, nil); err != nil {
			t.Fatal(err)
		}
		for _, s := range known.Services {
			if s.Binary == "nova-compute" {
				t.Errorf("Nova still knows the host: %+v", known.Services)
			}
		}
	})
}

func TestRetriesComeEveryMinute(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", withModeAlone("manual"), `
- {name: a, project: p, flavor: small, host: cmp-01}`)
		lock := w.openstackLock("cmp-01")
		w.maintain("cmp-01", "os")
		w.until("it is said four times", func() bool { return w.times(lock, "still present") >= 4 })
		var last time.Time
		for _, stamp := range w.stamps(lock) {
			if gap := stamp.Sub(last); !last.IsZero() && gap < time.Minute {
				t.Errorf("the text came again after only %s", gap)
			}
			last = stamp
		}
		w.annotate("cmp-01", "skip") // read again at the next retry
		w.untilSaid(lock, "^inactive/active$")
	})
}

func withModeAlone(mode string) string {
	return regexp.MustCompile(`, done: \d+m`).ReplaceAllString(withMode(mode), "")
}

// A Node that is deleted while the controller does not run stays until the controller has seen it. Then its lock is deleted, and it goes.
func TestADeletedNodeWaitsForTheController(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		w, _ := alone(t, "", small3, " []")
		host, lock := w.node("cmp-01"), w.openstackLock("cmp-01")
		node := func() *corev1.Node {
			n, err := w.kube.CoreV1().Nodes().Get(t.Context(), host, metav1.GetOptions{})
			if err != nil {
				return nil
			}
			return n
		}
		w.until("the controller holds the node", func() bool {
			return slices.Contains(node().Finalizers, "lcm.mirantis.com/rockoon.node-finalizer")
		})
		w.scale("0")
		time.Sleep(time.Minute)
		if err := w.OpenStack.PowerOffHost(host); err != nil {
			t.Fatal(err)
		}
		if err := w.kube.CoreV1().Nodes().Delete(t.Context(), host, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		if n := node(); n == nil || n.DeletionTimestamp == nil {
			t.Fatal("the node went without the controller")
		}
		w.scale("1")
		w.until("the node goes, and its lock with it", func() bool {
			return node() == nil && !slices.ContainsFunc(w.list("nodeworkloadlocks"),
				func(o *unstructured.Unstructured) bool { return o.GetName() == lock })
		})
	})
}
