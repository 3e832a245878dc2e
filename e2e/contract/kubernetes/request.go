package kubernetes

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// patience is how long a test waits; only a failing test waits that long.
const patience = 5 * time.Minute

// await polls until the condition holds.
func (s *suite) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("it did not come to be that %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// The media types of bodies.
const (
	jsonBody       = "application/json"
	jsonPatch      = "application/json-patch+json"
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	applyPatch     = "application/apply-patch+yaml"
)

// answer is a server's answer, uninterpreted by a client library.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// send sends a request as the user. Headers are pairs of name and value; a body is JSON unless they say otherwise.
func (s *suite) send(t *testing.T, user User, method, path, body string, headers ...string) answer {
	t.Helper()
	response := s.open(t.Context(), t, user, method, path, body, headers...)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: read the answer: %v", method, path, err)
	}
	return answer{response.StatusCode, response.Header, raw}
}

// open sends a request and leaves the body to the caller, who closes it.
func (s *suite) open(ctx context.Context, t *testing.T, user User, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	config := s.Config(user)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, method, config.Host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("User-Agent", "contract/1.0")
	if body != "" {
		request.Header.Set("Content-Type", jsonBody)
	}
	for pair := range slices.Chunk(headers, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return response
}

// get, post, put, patch and remove are the requests of Admin.
func (s *suite) get(t *testing.T, path string, headers ...string) answer {
	t.Helper()
	return s.send(t, Admin, http.MethodGet, path, "", headers...)
}

func (s *suite) post(t *testing.T, path, manifest string) answer {
	t.Helper()
	return s.send(t, Admin, http.MethodPost, path, asJSON(t, manifest))
}

func (s *suite) put(t *testing.T, path, manifest string) answer {
	t.Helper()
	return s.send(t, Admin, http.MethodPut, path, asJSON(t, manifest))
}

func (s *suite) patch(t *testing.T, path, media, patch string) answer {
	t.Helper()
	return s.send(t, Admin, http.MethodPatch, path, patch, "Content-Type", media)
}

func (s *suite) remove(t *testing.T, path, options string) answer {
	t.Helper()
	return s.send(t, Admin, http.MethodDelete, path, options)
}

// asJSON turns a manifest into JSON; JSON stays as it is.
func asJSON(t *testing.T, manifest string) string {
	t.Helper()
	if strings.HasPrefix(manifest, "{\"") {
		return manifest
	}
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatalf("read a manifest: %v\n%s", err, manifest)
	}
	return string(raw)
}

// object returns the answer's object; the answer must have the code.
func (a answer) object(t *testing.T, code int) *unstructured.Unstructured {
	t.Helper()
	if a.code != code {
		t.Fatalf("the answer is %d, want %d: %s", a.code, code, a.body)
	}
	return decodeObject(t, a.body)
}

func decodeObject(t *testing.T, raw []byte) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(raw, &object.Object); err != nil {
		t.Fatalf("the answer is no object: %v: %s", err, raw)
	}
	return object
}

// list returns the answer's list.
func (a answer) list(t *testing.T) *unstructured.UnstructuredList {
	t.Helper()
	if a.code != http.StatusOK {
		t.Fatalf("the answer is %d: %s", a.code, a.body)
	}
	var list unstructured.UnstructuredList
	if err := list.UnmarshalJSON(a.body); err != nil {
		t.Fatalf("the answer is no list: %v: %s", err, a.body)
	}
	return &list
}

// names returns the names of a list's objects, in its order.
func names(list *unstructured.UnstructuredList) string {
	var all []string
	for _, item := range list.Items {
		all = append(all, item.GetName())
	}
	return strings.Join(all, " ")
}

// decode reads the answer's body.
func (a answer) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(a.body, into); err != nil {
		t.Fatalf("read the answer: %v: %s", err, a.body)
	}
}

// refusal is the answer to a refused request.
type refusal struct {
	code    int
	reason  metav1.StatusReason
	message string
	details *metav1.StatusDetails
}

// refuses compares the answer to the letter.
func (a answer) refuses(t *testing.T, want refusal) {
	t.Helper()
	if want.details == nil {
		want.details = &metav1.StatusDetails{}
	}
	var got metav1.Status
	a.decode(t, &got)
	if got.Details == nil {
		got.Details = &metav1.StatusDetails{}
	}
	if media := a.header.Get("Content-Type"); media != jsonBody {
		t.Errorf("the refusal's media type is %q", media)
	}
	if got.Kind != "Status" || got.APIVersion != "v1" || got.Status != metav1.StatusFailure || int(got.Code) != a.code {
		t.Errorf("the refusal is no Status of its code %d: %s", a.code, a.body)
	}
	if a.code != want.code || got.Reason != want.reason {
		t.Errorf("the answer is %d %s, want %d %s", a.code, got.Reason, want.code, want.reason)
	}
	if got.Message != want.message {
		t.Errorf("the message is\n\t%q, want\n\t%q", got.Message, want.message)
	}
	if is, should := asText(t, got.Details), asText(t, want.details); is != should {
		t.Errorf("the details are\n\t%s, want\n\t%s", is, should)
	}
}

// asText returns a value as JSON.
func asText(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
