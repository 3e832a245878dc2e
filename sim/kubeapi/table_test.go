package kubeapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"lockstep/sim/kubeapi"
)

// acceptTable is what kubectl get asks for.
const acceptTable = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

// print is a table as kubectl prints it: the columns, then the rows, cells behind |; a wide column has its name in brackets.
func print(table metav1.Table) string {
	var lines []string
	var cells []string
	for _, c := range table.ColumnDefinitions {
		if c.Priority > 0 {
			cells = append(cells, "("+c.Name+")")
		} else {
			cells = append(cells, c.Name)
		}
	}
	lines = append(lines, strings.Join(cells, "|"))
	for _, row := range table.Rows {
		cells = nil
		for _, cell := range row.Cells {
			cells = append(cells, fmt.Sprint(cell))
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	return strings.Join(lines, "\n")
}

func TestKubectlGetPrintsTables(t *testing.T) {
	w := start(t, kubeapi.Options{})
	object := func(text string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		if err := json.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		return o
	}
	w.load(
		object(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"cmp-1","labels":{"node-role.kubernetes.io/worker":""}},
			"spec":{"unschedulable":true},
			"status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.0.0.7"}],
			"nodeInfo":{"kubeletVersion":"v1.30.4","osImage":"Ubuntu 22.04","kernelVersion":"5.15.0",
				"containerRuntimeVersion":"containerd://1.7"}}}`),
		object(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"nova-compute-x","namespace":"default"},
			"spec":{"nodeName":"cmp-1","containers":[{"name":"a"},{"name":"b"}]},
			"status":{"phase":"Running","podIP":"10.0.0.7","containerStatuses":[
				{"name":"a","ready":true,"restartCount":2},{"name":"b","ready":false,"restartCount":1}]}}`),
		object(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"openstack"}}`),
		object(`{"apiVersion":"lcm.mirantis.com/v1alpha1","kind":"OpenStackDeploymentStatus",
			"metadata":{"name":"osh-dev","namespace":"openstack"},
			"status":{"osdpl":{"openstack_version":"antelope","controller_version":"0.16.1.dev104","state":"APPLIED",
				"lcm_progress":"20/20","health":"21/22","release":"24.1.3"}}}`),
		object(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"rockoon","namespace":"default"},"spec":{"replicas":3},`+
			`"status":{"readyReplicas":2,"updatedReplicas":3,"availableReplicas":2}}`),
		object(`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"mariadb","namespace":"default"},`+
			`"spec":{"maxUnavailable":1},"status":{"disruptionsAllowed":1}}`),
		nodeLock("openstack-cmp-1", "cmp-1"),
	)
	w.clock.Advance(3*time.Hour + 5*time.Minute)
	for path, want := range map[string]string{
		"/api/v1/nodes": "Name|Status|Roles|Age|Version|(Internal-IP)|(External-IP)|(OS-Image)|(Kernel-Version)|(Container-Runtime)\n" +
			"cmp-1|Ready,SchedulingDisabled|worker|3h5m|v1.30.4|10.0.0.7|<none>|Ubuntu 22.04|5.15.0|containerd://1.7",
		"/api/v1/namespaces/default/pods": "Name|Ready|Status|Restarts|Age|(IP)|(Node)|(Nominated Node)|(Readiness Gates)\n" +
			"nova-compute-x|1/2|Running|3|3h5m|10.0.0.7|cmp-1|<none>|<none>",
		"/apis/lcm.mirantis.com/v1alpha1/namespaces/openstack/openstackdeploymentstatus": "Name|OpenStack Version|Controller Version|State|LCM " +
			"Progress|HEALTH|MOSK Release\nosh-dev|antelope|0.16.1.dev104|APPLIED|20/20|21/22|24.1.3",
		"/apis/lcm.mirantis.com/v1alpha1/nodeworkloadlocks":                 "Name|Age\nopenstack-cmp-1|3h5m",
		"/apis/lcm.mirantis.com/v1alpha1/nodeworkloadlocks/openstack-cmp-1": "Name|Age\nopenstack-cmp-1|3h5m",
		"/apis/apps/v1/namespaces/default/deployments": "Name|Ready|Up-to-date|Available|Age|(Containers)|(Images)|(Selector)\n" +
			"rockoon|2/3|3|2|3h5m|||<none>",
		"/apis/policy/v1/namespaces/default/poddisruptionbudgets": "Name|Min Available|Max Unavailable|Allowed " +
			"Disruptions|Age\nmariadb|N/A|1|1|3h5m",
		"/api/v1/namespaces/default/configmaps": "Name|Data|Age",
	} {
		var table metav1.Table
		w.raw(kubeapi.Readonly, "GET", path, "", "Accept", acceptTable).decode(&table)
		if got := print(table); table.Kind != "Table" || got != want {
			t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
		}
	}
	var table metav1.Table
	w.raw(kubeapi.Readonly, "GET", "/api/v1/nodes?includeObject=Object&limit=1", "", "Accept", acceptTable).decode(&table)
	if row := object(string(table.Rows[0].Object.Raw)); row.GetKind() != "Node" {
		t.Errorf("the row carries %v", row)
	}
	if answer := w.raw(kubeapi.Readonly, "GET", "/api/v1/nodes", "", "Accept", "application/vnd.kubernetes.protobuf"); answer.code != 406 {
		t.Errorf("only protobuf: %d %s", answer.code, answer.body)
	}
}

func TestAWatchOfTablesHasItsColumnsOnce(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(node("a"))
	client, err := rest.HTTPClientFor(w.RESTConfig(kubeapi.Readonly))
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(w.ctx, "GET", w.URL()+"/api/v1/nodes?watch=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", acceptTable)
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	w.load(node("b"))
	lines := bufio.NewScanner(answer.Body)
	for i, name := range []string{"a", "b"} {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		var event struct {
			Type   string
			Object metav1.Table
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if event.Type != "ADDED" || event.Object.Kind != "Table" || event.Object.Rows[0].Cells[0] != name ||
			(len(event.Object.ColumnDefinitions) > 0) != (i == 0) {
			t.Errorf("event %d: %s", i, lines.Text())
		}
	}
}
