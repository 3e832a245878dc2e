package kubeapi_test

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/sim/kubeapi"
)

func TestAPodsLogIsWhatWasSetForItsContainer(t *testing.T) {
	w := start(t, kubeapi.Options{InstantPodDeletion: true})
	const path = "/api/v1/namespaces/default/pods"
	for _, manifest := range []string{
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},"spec":{"containers":[{"name":"c","image":"x"}]}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"two"},"spec":{"containers":[{"name":"a","image":"x"},{"name":"b","image":"x"}]}}`,
	} {
		if made := w.raw(kubeapi.Admin, http.MethodPost, path, manifest, "Content-Type", "application/json"); made.code != http.StatusCreated {
			t.Fatalf("%s", made.body)
		}
	}
	w.SetLog("default", "one", "", []string{"first", "second"})
	w.SetLog("default", "two", "a", []string{"of a"})
	w.SetLog("default", "two", "", []string{"of any"})
	for _, test := range []struct {
		name, query string
		code        int
		want        string // of a refusal the message
	}{
		{"one", "", 200, "first\nsecond\n"},
		{"one", "container=c&tailLines=1", 200, "second\n"},
		{"one", "tailLines=0", 200, ""},
		{"one", "timestamps=true&tailLines=1", 200, "2026-03-01T09:00:00Z second\n"},
		{"one", "tailLines=some", 400, `tailLines: Invalid value: "some"`},
		{"two", "container=a", 200, "of a\n"},
		{"two", "container=b", 200, "of any\n"},
		{"two", "", 400, "a container name must be specified for pod two, choose one of: [a b]"},
		{"two", "container=c", 400, "container c is not valid for pod two"},
		{"three", "", 404, `pods "three" not found`},
	} {
		got := w.raw(kubeapi.Admin, http.MethodGet, path+"/"+test.name+"/log?"+test.query, "")
		text := string(got.body)
		if got.code != http.StatusOK {
			text = got.status().Message
		}
		if got.code != test.code || text != test.want {
			t.Errorf("%s?%s: %d %q, want %d %q", test.name, test.query, got.code, text, test.code, test.want)
		}
	}
	if err := w.typed(kubeapi.Admin).CoreV1().Pods("default").Delete(w.ctx, "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.raw(kubeapi.Admin, http.MethodPost, path,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},"spec":{"containers":[{"name":"c","image":"x"}]}}`)
	if got := w.raw(kubeapi.Admin, http.MethodGet, path+"/one/log", ""); got.code != http.StatusOK || len(got.body) > 0 {
		t.Errorf("a new pod has the log of the old one: %d %q", got.code, got.body)
	}
}
