package kubernetes

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func forgotten(t *testing.T, s *suite) {
	path := s.fiveMaps(t, "forgotten")
	first := s.get(t, path+"?limit=2").list(t)
	locks := s.get(t, nodeLocksPath).list(t)
	s.make(t, nodeLocksPath, nodeLock("forgotten", "n1"))
	s.make(t, path, configMap("m15", "new"))
	s.remove(t, path+"/m4", "").object(t, http.StatusOK)
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, path, version string }{
		{"ends a watch of ConfigMaps from then with an event", path, first.GetResourceVersion()},
		{"ends a watch of locks from then with an event", nodeLocksPath, locks.GetResourceVersion()},
	} {
		t.Run(test.name, func(t *testing.T) {
			st := s.watch(t, test.path, "resourceVersion="+test.version)
			e := st.next()
			var asked, oldest uint64
			message, _ := e.object.Object["message"].(string)
			if _, err := fmt.Sscanf(message, "too old resource version: %d (%d)", &asked, &oldest); err != nil ||
				fmt.Sprint(asked) != test.version || oldest <= asked {
				t.Errorf("the message is %q", message)
			}
			e.object.Object["message"] = ""
			if got, want := e.kind+" "+asText(t, e.object),
				`ERROR {"apiVersion":"v1","code":410,"kind":"Status","message":"","metadata":{},"reason":"Expired","status":"Failure"}`; got != want {
				t.Errorf("the event is %s", got)
			}
			st.ends()
		})
	}
	t.Run("refuses a list of then", func(t *testing.T) {
		s.get(t, path+"?resourceVersionMatch=Exact&resourceVersion="+first.GetResourceVersion()).refuses(t, refusal{
			code: http.StatusGone, reason: metav1.StatusReasonExpired, message: "The resourceVersion for the provided list is too old."})
	})
	t.Run("refuses the next chunk of a list, and says how to go on regardless", func(t *testing.T) {
		a := s.get(t, path+"?limit=2&continue="+url.QueryEscape(first.GetContinue()))
		a.refuses(t, refusal{code: http.StatusGone, reason: metav1.StatusReasonExpired,
			message: "The provided continue parameter is too old to display a consistent list result. You can start a new list without the " +
				"continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the " +
				"provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk " +
				"was returned and now may show up in the list."})
		var status metav1.Status
		a.decode(t, &status)
		if status.ListMeta.Continue == "" {
			t.Fatalf("it does not say how: %s", a.body)
		}
		rest := s.get(t, path+"?limit=9&continue="+url.QueryEscape(status.ListMeta.Continue)).list(t)
		if names(rest) != "m15 m2 m3" || rest.GetContinue() != "" || rest.GetResourceVersion() == first.GetResourceVersion() {
			t.Errorf("the rest is %s of %s", names(rest), rest.GetResourceVersion())
		}
	})
	t.Run("is no matter for a watch from now", func(t *testing.T) {
		st := s.watch(t, path, "resourceVersion="+s.get(t, path).list(t).GetResourceVersion())
		s.make(t, path, configMap("m16", "new"))
		st.wants("ADDED m16")
	})
}
