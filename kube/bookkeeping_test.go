package kube

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

func micros(h, m, s, us int) time.Time {
	return date(2026, 11, 22, h, m, s).Add(time.Duration(us) * time.Microsecond)
}

// What the OpenStack controller has left on real objects.
func TestBookkeepingOfRealObjects(t *testing.T) {
	raw, err := os.ReadFile("testdata/bookkeeping.yaml")
	if err != nil {
		t.Fatal(err)
	}
	handled := core.Bookkeeping{Handled: true, Marked: true}
	want := map[string]core.Bookkeeping{
		"openstack-cmp-01": handled,
		"openstack-cmp-02": {Handled: true, Marked: true, Delete: &core.Tries{Purpose: "delete", Failed: 1,
			Words:   "The kubernetes node {node_name} still exists. Deffer OpenStack service metadata removal.",
			Started: micros(4, 47, 35, 713005), Next: micros(4, 48, 35, 744845)}},
		"openstack-cmp-03": handled,
		"mos-cmp-03": {Marked: true, Change: &core.Tries{Purpose: "create", Failed: 3, Started: micros(4, 23, 3, 144338),
			Next: micros(4, 49, 25, 176350),
			Words: "Unable to establish connection to http://nova-api.openstack.svc:8774/v2.1/servers/detail: " +
				"HTTPConnectionPool(host='nova-api.openstack.svc', port=8774): Max retries exceeded with url: " +
				"/v2.1/servers/detail?status=ACTIVE&host=cmp-03&all_tenants=True (Caused by NewConnectionError('<urllib3.connecti …"}},
		"mos":               handled,
		"openstack-osh-dev": {},
	}
	read := map[string]core.Bookkeeping{}
	for _, manifest := range strings.Split(string(raw), "\n---\n")[1:] {
		u := object(t, manifest)
		switch o := map[string]translate{
			"NodeWorkloadLock": lockFrom(core.KindNodeWorkloadLock), "ClusterWorkloadLock": lockFrom(core.KindClusterWorkloadLock),
			"NodeMaintenanceRequest":    requestFrom(core.KindNodeMaintenanceRequest),
			"ClusterMaintenanceRequest": requestFrom(core.KindClusterMaintenanceRequest),
		}[u.GetKind()](u).(type) {
		case *core.WorkloadLock:
			read[o.Name] = o.Kept
		case *core.MaintenanceRequest:
			read[o.Name] = o.Kept
		}
	}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Error(diff)
	}
}

func TestBookkeepingIsReadWhateverStandsThere(t *testing.T) {
	const change, deletion = "node_maintenance_request_change_handler", "node_maintenance_request_delete_handler"
	note := func(fields string) string { return `{` + fields + `}` }
	long := strings.Repeat("a", 1000)
	tests := map[string]struct {
		annotations map[string]any
		want        core.Bookkeeping
	}{
		"nothing": {nil, core.Bookkeeping{}},
		"others' annotations": {map[string]any{"inner_state": "active", "example.org/note": "x", change: note(`"retries":1`)},
			core.Bookkeeping{}},
		"another's handler": {map[string]any{"kopf.zalando.org/ceph_request_handler": note(`"retries":3`)}, core.Bookkeeping{Marked: true}},
		"another kind's": {map[string]any{"kopf.zalando.org/node_workloadlock_request_delete_handler": note(`"retries":3`)},
			core.Bookkeeping{Marked: true}},
		"another prefix": {map[string]any{"openstack.example.org/" + change: note(`"retries":2,"message":"'scope'"`)},
			core.Bookkeeping{Marked: true, Change: &core.Tries{Failed: 2, Words: "'scope'"}}},
		"a prefix's mark":       {map[string]any{"openstack.example.org/kopf-managed": "yes"}, core.Bookkeeping{Marked: true}},
		"a prefix under kopf's": {map[string]any{"a.kopf.zalando.org/x": "1"}, core.Bookkeeping{Marked: true}},
		"two prefixes: the later one": {map[string]any{
			"a.example.org/" + change: note(`"started":"2026-11-22T04:00:00+00:00","retries":5`),
			"b.example.org/" + change: note(`"started":"2026-11-22T03:00:00+00:00","retries":1`),
		}, core.Bookkeeping{Marked: true, Change: &core.Tries{Failed: 5, Started: date(2026, 11, 22, 4, 0, 0)}}},
		"both handlers": {map[string]any{"kopf.zalando.org/" + change: note(`"retries":1`), "kopf.zalando.org/" + deletion: note(`"retries":2`)},
			core.Bookkeeping{Marked: true, Change: &core.Tries{Failed: 1}, Delete: &core.Tries{Failed: 2}}},
		"given up": {map[string]any{"kopf.zalando.org/" + change: note(`"retries":1,"failure":true,"message":"no"`)},
			core.Bookkeeping{Marked: true, Change: &core.Tries{Failed: 1, GaveUp: true, Words: "no"}}},
		"succeeded": {map[string]any{"kopf.zalando.org/" + change: note(`"retries":1,"success":true`)},
			core.Bookkeeping{Marked: true}},
		"begun, none failed": {map[string]any{"kopf.zalando.org/" + change: note(`"started":"2026-11-22T04:00:00+00:00","retries":0`)},
			core.Bookkeeping{Marked: true}},
		"no JSON":              {map[string]any{"kopf.zalando.org/" + change: "{"}, core.Bookkeeping{Marked: true}},
		"JSON of another form": {map[string]any{"kopf.zalando.org/" + change: `[1]`}, core.Bookkeeping{Marked: true}},
		"null":                 {map[string]any{"kopf.zalando.org/" + change: `null`}, core.Bookkeeping{Marked: true}},
		"no text":              {map[string]any{"kopf.zalando.org/" + change: int64(7)}, core.Bookkeeping{Marked: true}},
		"fields of other types": {map[string]any{"kopf.zalando.org/" +
			change: note(`"retries":"4","message":{"a":1},"started":7,"delayed":[],"purpose":null,"failure":"yes"`)},
			core.Bookkeeping{Marked: true, Change: &core.Tries{Failed: 4}}},
		"numbers without end": {map[string]any{"kopf.zalando.org/" + change: note(`"retries":1e300,"message":"x"`)},
			core.Bookkeeping{Marked: true, Change: &core.Tries{Words: "x"}}},
		"less than none": {map[string]any{"kopf.zalando.org/" + change: note(`"retries":-3,"message":"x"`)},
			core.Bookkeeping{Marked: true, Change: &core.Tries{Words: "x"}}},
		"words that are no line": {map[string]any{"kopf.zalando.org/" +
			change: note(`"retries":1,"message":" a\n\tb\u001b[31m \u202ec\u0000\u200b\ufffd "`)},
			core.Bookkeeping{Marked: true, Change: &core.Tries{Failed: 1, Words: "a b[31m c"}}},
		"too long a word": {map[string]any{"kopf.zalando.org/" + change: note(`"retries":1,"message":"` + long + `"`)},
			core.Bookkeeping{Marked: true, Change: &core.Tries{Failed: 1, Words: long[:core.MaxWords-len(" …")-1] + " …"}}},
		"too long a note": {map[string]any{"kopf.zalando.org/" +
			change: note(`"retries":1,"message":"` + strings.Repeat("a", maxKept) + `"`)}, core.Bookkeeping{Marked: true}},
		"a handled form that is none": {map[string]any{"kopf.zalando.org/last-handled-configuration": "{"},
			core.Bookkeeping{Handled: true, Marked: true}},
		"times without a zone": {map[string]any{"kopf.zalando.org/" + change: note(`"retries":1,"delayed":"2026-11-22T04:00:00.5"`)},
			core.Bookkeeping{Marked: true, Change: &core.Tries{Failed: 1, Next: date(2026, 11, 22, 4, 0, 0).Add(500 * time.Millisecond)}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "x", "annotations": test.annotations}}}
			got := requestFrom(core.KindNodeMaintenanceRequest)(u).(*core.MaintenanceRequest).Kept
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			for _, tries := range []*core.Tries{got.Change, got.Delete} {
				if tries != nil && len(tries.Words) > core.MaxWords {
					t.Errorf("%d bytes of words are kept", len(tries.Words))
				}
			}
		})
	}
}

func FuzzBookkeeping(f *testing.F) {
	f.Add(`{"started":"2026-11-22T04:47:35.713005+00:00","delayed":"2026-11-22T04:48:35.744845+00:00","purpose":"delete","retries":1,` +
		`"message":"a"}`)
	f.Add("{")
	f.Fuzz(func(t *testing.T, text string) {
		tries := triesFrom(text)
		if tries == nil {
			return
		}
		if raw, err := json.Marshal(tries.Words); err != nil || len(tries.Words) > core.MaxWords ||
			strings.ContainsAny(tries.Words, "\n\x1b\u202e") {
			t.Errorf("kept are the words %s (%v)", raw, err)
		}
	})
}
