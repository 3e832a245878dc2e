package kubernetes

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fiveMaps creates a namespace with five ConfigMaps and returns their path.
func (s *suite) fiveMaps(t *testing.T, namespace string) string {
	t.Helper()
	s.namespace(t, namespace)
	path := of("v1", namespace, "configmaps")
	for i := range 5 {
		s.make(t, path, fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: m%d, labels: {odd: "%v"}}}`, i, i%2 == 1))
	}
	return path
}

func lists(t *testing.T, s *suite) {
	path := s.fiveMaps(t, "lists")

	t.Run("comes in chunks, all of one moment", func(t *testing.T) {
		first := s.get(t, path+"?limit=2").list(t)
		if got := names(first); got != "m0 m1" {
			t.Errorf("the first chunk is %s", got)
		}
		if left := first.GetRemainingItemCount(); left == nil || *left != 3 {
			t.Errorf("the first chunk leaves %s", asText(t, left))
		}
		s.make(t, path, configMap("m15", "new"))
		s.remove(t, path+"/m3", "").object(t, http.StatusOK)

		second := s.get(t, path+"?limit=2&continue="+url.QueryEscape(first.GetContinue())).list(t)
		if got := names(second); got != "m2 m3" {
			t.Errorf("the second chunk is %s", got)
		}
		if second.GetResourceVersion() != first.GetResourceVersion() {
			t.Errorf("the second chunk is of %s, the first of %s", second.GetResourceVersion(), first.GetResourceVersion())
		}
		if left := second.GetRemainingItemCount(); left == nil || *left != 1 {
			t.Errorf("the second chunk leaves %s", asText(t, left))
		}
		last := s.get(t, path+"?limit=2&continue="+url.QueryEscape(second.GetContinue())).list(t)
		if got := names(last); got != "m4" || last.GetContinue() != "" || last.GetRemainingItemCount() != nil {
			t.Errorf("the last chunk is %s, goes on at %q and leaves %s", got, last.GetContinue(), asText(t, last.GetRemainingItemCount()))
		}
		if now := s.get(t, path).list(t); names(now) != "m0 m1 m15 m2 m4" {
			t.Errorf("now there are %s", names(now))
		}
	})

	t.Run("in chunks does not count what a selector leaves", func(t *testing.T) {
		first := s.get(t, path+"?limit=1&labelSelector=odd%3Dfalse").list(t)
		if names(first) != "m0" || first.GetContinue() == "" || first.GetRemainingItemCount() != nil {
			t.Errorf("the chunk is %s, goes on at %q and leaves %s", names(first), first.GetContinue(), asText(t, first.GetRemainingItemCount()))
		}
		next := s.get(t, path+"?limit=5&labelSelector=odd%3Dfalse&continue="+url.QueryEscape(first.GetContinue())).list(t)
		if names(next) != "m2 m4" || next.GetContinue() != "" {
			t.Errorf("the rest is %s, goes on at %q", names(next), next.GetContinue())
		}
	})

	t.Run("of nothing is empty and has a resourceVersion", func(t *testing.T) {
		a := s.get(t, of("v1", "no-such-namespace", "configmaps"))
		list := a.list(t)
		if list.Items == nil || len(list.Items) > 0 || list.GetResourceVersion() == "" {
			t.Errorf("the answer is %s", a.body)
		}
	})

	t.Run("with a bad token is refused", func(t *testing.T) {
		s.get(t, path+"?limit=2&continue=nonsense!").refuses(t, refusal{
			code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: `invalid continue token: continue key is not valid: illegal base64 data at input byte 8`,
		})
	})
}

func versions(t *testing.T, s *suite) {
	path := s.fiveMaps(t, "versions")
	then := s.get(t, path).list(t)
	s.remove(t, path+"/m2", "").object(t, http.StatusOK)
	s.make(t, path, configMap("m9", "later"))
	now := s.get(t, path).list(t)
	at := "?resourceVersion=" + then.GetResourceVersion()

	t.Run("that is exact gives the list as it was", func(t *testing.T) {
		list := s.get(t, path+at+"&resourceVersionMatch=Exact").list(t)
		if got := names(list); got != "m0 m1 m2 m3 m4" || list.GetResourceVersion() != then.GetResourceVersion() {
			t.Errorf("the list is %s of %s, want that of %s", got, list.GetResourceVersion(), then.GetResourceVersion())
		}
	})
	for _, query := range []string{at, at + "&resourceVersionMatch=NotOlderThan"} {
		t.Run("that is not exact gives the list as it is: "+query[len(at):], func(t *testing.T) {
			// The cache of the real server may be stale, but not older than the requested version.
			list := s.get(t, path+"?resourceVersion="+now.GetResourceVersion()+query[len(at):]).list(t)
			if got := names(list); got != "m0 m1 m3 m4 m9" {
				t.Errorf("the list is %s", got)
			}
		})
	}
	t.Run("of 0 gives any list", func(t *testing.T) {
		if list := s.get(t, path+"?resourceVersion=0").list(t); list.GetResourceVersion() == "" || list.GetResourceVersion() == "0" {
			t.Errorf("the list is of %q", list.GetResourceVersion())
		}
	})
	t.Run("that is not reached yet is refused", func(t *testing.T) {
		for _, path := range []string{path, path + "/m0"} {
			a := s.get(t, path+"?resourceVersion=1000000000")
			var status metav1.Status
			a.decode(t, &status)
			current := ""
			if _, err := fmt.Sscanf(status.Message, "Timeout: Too large resource version: 1000000000, current: %s", &current); err != nil {
				t.Errorf("the message is %q", status.Message)
			}
			a.refuses(t, refusal{
				code: http.StatusGatewayTimeout, reason: metav1.StatusReasonTimeout,
				message: "Timeout: Too large resource version: 1000000000, current: " + current,
				details: &metav1.StatusDetails{RetryAfterSeconds: 1, Causes: []metav1.StatusCause{
					{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}},
			})
			if after := a.header.Get("Retry-After"); after != "1" {
				t.Errorf("it says to try again after %q", after)
			}
		}
	})
	t.Run("that is no number is refused", func(t *testing.T) {
		s.get(t, path+"?resourceVersion=abc").refuses(t, refusal{
			code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: `invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax`,
		})
	})
	t.Run("cannot be matched unless it is given", func(t *testing.T) {
		s.get(t, path+"?resourceVersionMatch=Exact").refuses(t, refusal{
			code: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid,
			message: `ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless ` +
				`resourceVersion is provided`,
			details: &metav1.StatusDetails{Group: "meta.k8s.io", Kind: "ListOptions", Causes: []metav1.StatusCause{{
				Type: "FieldValueForbidden", Field: "resourceVersionMatch",
				Message: "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"}}},
		})
	})
	t.Run("that is exact cannot go with a continuation", func(t *testing.T) {
		first := s.get(t, path+"?limit=1").list(t)
		s.get(t, path+at+"&limit=1&continue="+url.QueryEscape(first.GetContinue())).refuses(t, refusal{
			code: http.StatusBadRequest, reason: metav1.StatusReasonBadRequest,
			message: "specifying resource version is not allowed when using continue",
		})
	})
	t.Run("of an object is that of its last change", func(t *testing.T) {
		before := s.get(t, path+"/m0").object(t, http.StatusOK)
		s.make(t, path, configMap("m10", "another"))
		if after := s.get(t, path+"/m0").object(t, http.StatusOK); after.GetResourceVersion() != before.GetResourceVersion() {
			t.Errorf("it is %s after a change of another object, was %s", after.GetResourceVersion(), before.GetResourceVersion())
		}
		same := s.patch(t, path+"/m0", mergePatch, `{"metadata":{"labels":{"odd":"false"}}}`).object(t, http.StatusOK)
		if same.GetResourceVersion() != before.GetResourceVersion() {
			t.Errorf("it is %s after a change that changes nothing, was %s", same.GetResourceVersion(), before.GetResourceVersion())
		}
	})
}
