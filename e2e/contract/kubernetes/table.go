package kubernetes

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// tableHeader is what kubectl get accepts.
const tableHeader = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"

// table asks for a path as kubectl get does.
func (s *suite) table(t *testing.T, path string) metav1.Table {
	t.Helper()
	a := s.get(t, path, "Accept", tableHeader)
	var table metav1.Table
	a.decode(t, &table)
	if a.code != http.StatusOK || table.Kind != "Table" || table.APIVersion != "meta.k8s.io/v1" {
		t.Fatalf("the answer is %d: %s", a.code, a.body)
	}
	return table
}

// columns returns a table's columns: "Name:string:name:0", one per line.
func columns(table metav1.Table) string {
	var all []string
	for _, c := range table.ColumnDefinitions {
		all = append(all, fmt.Sprintf("%s:%s:%s:%d", c.Name, c.Type, c.Format, c.Priority))
	}
	return strings.Join(all, " ")
}

func tables(t *testing.T, s *suite) {
	s.namespace(t, "tables")
	for _, test := range []struct {
		name, path, object, manifest, status string
		columns                              string
		cells                                string
	}{
		{"of nodes", nodesPath, "tabled",
			`{apiVersion: v1, kind: Node, metadata: {name: tabled, labels: {node-role.kubernetes.io/worker: ""}}, spec: {unschedulable: true}}`,
			`{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],` +
				`"nodeInfo":{"kubeletVersion":"v1.31.9","osImage":"Ubuntu","kernelVersion":"5.15","containerRuntimeVersion":"containerd://1"}}`,
			"Name:string:name:0 Status:string::0 Roles:string::0 Age:string::0 Version:string::0 Internal-IP:string::1 External-IP:string::1 " +
				"OS-Image:string::1 Kernel-Version:string::1 Container-Runtime:string::1",
			`["tabled","Ready,SchedulingDisabled","worker","AGE","v1.31.9","10.0.0.1","\u003cnone\u003e","Ubuntu","5.15","containerd://1"]`},
		{"of pods", of("v1", "tables", "pods"), "tabled", pod("tabled", "x", "n1"),
			`{"phase":"Running","podIP":"10.1.0.1","podIPs":[{"ip":"10.1.0.1"}],"containerStatuses":[{"name":"c","ready":true,"restartCount":3,` +
				`"image":"none","imageID":"","state":{"running":{}},"lastState":{}}]}`,
			"Name:string:name:0 Ready:string::0 Status:string::0 Restarts:string::0 Age:string::0 IP:string::1 Node:string::1 Nominated " +
				"Node:string::1 Readiness Gates:string::1",
			`["tabled","1/1","Running","3","AGE","10.1.0.1","n1","\u003cnone\u003e","\u003cnone\u003e"]`},
		{"of locks", nodeLocksPath, "tabled", nodeLock("tabled", "n1"), "",
			"Name:string:name:0 Age:date::0", `["tabled","AGE"]`},
		{"of Deployments", of("apps/v1", "tables", "deployments"), "tabled", deployment("tabled", 2),
			`{"observedGeneration":1,"replicas":2,"updatedReplicas":2,"readyReplicas":1,"availableReplicas":1}`,
			"Name:string:name:0 Ready:string::0 Up-to-date:string::0 Available:string::0 Age:string::0 Containers:string::1 Images:string::1 " +
				"Selector:string::1",
			`["tabled","1/2",2,1,"AGE","c","none","app=tabled"]`},
		{"of DaemonSets", of("apps/v1", "tables", "daemonsets"), "tabled",
			strings.NewReplacer("Deployment", "DaemonSet", "  replicas: 2\n", "").Replace(deployment("tabled", 2)),
			`{"desiredNumberScheduled":3,"currentNumberScheduled":3,"numberReady":2,"updatedNumberScheduled":1,"numberAvailable":2,` +
				`"numberMisscheduled":0}`,
			"Name:string:name:0 Desired:integer::0 Current:integer::0 Ready:integer::0 Up-to-date:integer::0 Available:integer::0 Node " +
				"Selector:string::0 Age:string::0 Containers:string::1 Images:string::1 Selector:string::1",
			`["tabled",3,3,2,1,2,"\u003cnone\u003e","AGE","c","none","app=tabled"]`},
		{"of StatefulSets", of("apps/v1", "tables", "statefulsets"), "tabled",
			strings.Replace(deployment("tabled", 2), "Deployment", "StatefulSet", 1),
			`{"replicas":2,"readyReplicas":1}`, "Name:string:name:0 Ready:string::0 Age:string::0 Containers:string::1 Images:string::1",
			`["tabled","1/2","AGE","c","none"]`},
		{"of Services", of("v1", "tables", "services"), "tabled",
			`{apiVersion: v1, kind: Service, metadata: {name: tabled}, spec: {clusterIP: None, selector: {app: x}, ports: [{port: 80}]}}`, "",
			"Name:string:name:0 Type:string::0 Cluster-IP:string::0 External-IP:string::0 Port(s):string::0 Age:string::0 Selector:string::1",
			`["tabled","ClusterIP","None","\u003cnone\u003e","80/TCP","AGE","app=x"]`},
		{"of ClusterRoles", "/apis/rbac.authorization.k8s.io/v1/clusterroles", "tabled",
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: tabled}}`, "",
			"Name:string:name:0 Created At:date::0", ""},
		{"of RoleBindings", of("rbac.authorization.k8s.io/v1", "tables", "rolebindings"), "tabled",
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: tabled}, roleRef: {apiGroup: ` +
				`rbac.authorization.k8s.io, kind: ClusterRole, name: x}, subjects: [{kind: User, name: anna, apiGroup: rbac.authorization.k8s.io}, ` +
				`{kind: Group, name: g, apiGroup: rbac.authorization.k8s.io}]}`, "",
			"Name:string:name:0 Role:string::0 Age:string::0 Users:string::1 Groups:string::1 ServiceAccounts:string::1",
			`["tabled","ClusterRole/x","AGE","anna","g",""]`},
		{"of ReplicaSets", of("apps/v1", "tables", "replicasets"), "tabled",
			strings.Replace(deployment("tabled", 2), "Deployment", "ReplicaSet", 1), `{"replicas":2,"readyReplicas":1}`,
			"Name:string:name:0 Desired:integer::0 Current:integer::0 Ready:integer::0 Age:string::0 Containers:string::1 Images:string::1 " +
				"Selector:string::1",
			`["tabled",2,2,1,"AGE","c","none","app=tabled"]`},
		{"of Jobs", of("batch/v1", "tables", "jobs"), "tabled",
			`{apiVersion: batch/v1, kind: Job, metadata: {name: tabled}, spec: {completions: 2, suspend: true, template: {spec: {restartPolicy: ` +
				`Never, containers: [{name: c, image: none}]}}}}`, "",
			"Name:string:name:0 Status:string::0 Completions:string::0 Duration:string::0 Age:string::0 Containers:string::1 Images:string::1 " +
				"Selector:string::1", ""},
		{"of definitions", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "nodeworkloadlocks.lcm.mirantis.com", "", "",
			"Name:string:name:0 Created At:date::0", ""},
		{"of Events", of("v1", "tables", "events"), "tabled",
			`{apiVersion: v1, kind: Event, metadata: {name: tabled}, involvedObject: {kind: Pod, name: p, namespace: tables}, reason: Why, ` +
				`message: What, type: Normal, source: {component: me}, count: 3}`, "",
			"Last Seen:string::0 Type:string::0 Reason:string::0 Object:string::0 Subobject:string::1 Source:string::1 Message:string::0 First " +
				"Seen:string::1 Count:string::1 Name:string:name:1", ""},
		{"of Namespaces", namespacesPath, "tables", "", "", "Name:string:name:0 Status:string::0 Age:string::0", `["tables","Active","AGE"]`},
		{"of Leases", of("coordination.k8s.io/v1", "tables", "leases"), "tabled",
			`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: tabled}, spec: {holderIdentity: anna}}`, "",
			"Name:string:name:0 Holder:string::0 Age:string::0", `["tabled","anna","AGE"]`},
		{"of budgets", of("policy/v1", "tables", "poddisruptionbudgets"), "tabled",
			`{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: tabled}, spec: {minAvailable: 2, selector: {matchLabels: {app: ` +
				`x}}}}`, "",
			"Name:string:name:0 Min Available:string::0 Max Unavailable:string::0 Allowed Disruptions:integer::0 Age:string::0",
			`["tabled","2","N/A",0,"AGE"]`},
		{"of Secrets", of("v1", "tables", "secrets"), "tabled", `{apiVersion: v1, kind: Secret, metadata: {name: tabled}, stringData: {a: b}}`,
			"",
			"Name:string:name:0 Type:string::0 Data:string::0 Age:string::0", `["tabled","Opaque",1,"AGE"]`},
		{"of ConfigMaps", of("v1", "tables", "configmaps"), "tabled", configMap("tabled", "1"), "",
			"Name:string:name:0 Data:string::0 Age:string::0", `["tabled",1,"AGE"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.manifest != "" {
				s.make(t, test.path, test.manifest)
			}
			if test.status != "" {
				s.patch(t, test.path+"/"+test.object+"/status", mergePatch, `{"status":`+test.status+`}`).object(t, http.StatusOK)
			}
			for _, path := range []string{test.path + "/" + test.object, test.path + "?fieldSelector=metadata.name%3D" + test.object} {
				table := s.table(t, path)
				if got := columns(table); got != test.columns {
					t.Errorf("the columns are\n\t%s, want\n\t%s", got, test.columns)
				}
				if len(table.Rows) != 1 {
					t.Fatalf("there are %d rows", len(table.Rows))
				}
				if test.cells == "" {
					continue // times of creation, whose columns say enough
				}
				cells := table.Rows[0].Cells
				for i, c := range table.ColumnDefinitions {
					if c.Name == "Age" {
						if text, _ := cells[i].(string); !strings.HasSuffix(text, "s") {
							t.Errorf("the age is %v", cells[i])
						}
						cells[i] = "AGE"
					}
				}
				if got := asText(t, cells); got != test.cells {
					t.Errorf("the cells are\n\t%s, want\n\t%s", got, test.cells)
				}
				object := decodeObject(t, table.Rows[0].Object.Raw)
				if object.GetKind() != "PartialObjectMetadata" || object.GetName() != test.object || object.Object["spec"] != nil {
					t.Errorf("the row's object is %s", table.Rows[0].Object.Raw)
				}
			}
		})
	}
	t.Run("has as much of the objects as is asked for", func(t *testing.T) {
		path := of("v1", "tables", "configmaps")
		s.make(t, path, configMap("carried", "1"))
		for policy, kind := range map[string]string{"Object": "ConfigMap", "Metadata": "PartialObjectMetadata"} {
			if o := decodeObject(t, s.table(t, path+"/carried?includeObject="+policy).Rows[0].Object.Raw); o.GetKind() != kind {
				t.Errorf("with %s it is a %s", policy, o.GetKind())
			}
		}
		if o := s.table(t, path+"/carried?includeObject=None").Rows[0].Object; len(o.Raw) > 0 && string(o.Raw) != "null" {
			t.Errorf("with None it is %s", o.Raw)
		}
	})
	t.Run("that is watched has its columns once", func(t *testing.T) {
		path := of("v1", "tables", "configmaps")
		st := s.watchAs(t, path, "", tableHeader)
		s.make(t, path, configMap("w1", "1"))
		s.make(t, path, configMap("w2", "1"))
		first, second := st.next(), st.next()
		for i, e := range []event{first, second} {
			defined, _ := field(e.object, "columnDefinitions").([]any)
			if e.object.GetKind() != "Table" || (len(defined) > 0) != (i == 0) {
				t.Errorf("event %d is %s", i, asText(t, e.object))
			}
		}
	})
	t.Run("is metadata only, if so asked", func(t *testing.T) {
		path := of("v1", "tables", "configmaps")
		s.make(t, path, configMap("meta", "1"))
		o := s.get(t, path+"/meta", "Accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").object(t, http.StatusOK)
		if o.GetKind() != "PartialObjectMetadata" || o.Object["data"] != nil || o.GetUID() == "" {
			t.Errorf("it is %s", asText(t, o))
		}
	})
}
