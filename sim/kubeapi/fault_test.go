package kubeapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
	"lockstep/sim/lan"
)

func TestAFaultAppliesToTheRequestsItNames(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(node("n"), nodeLock("l", "n"))
	remove := w.AddFault(kubeapi.Fault{Label: "no patches", Verb: "patch", Resource: "nodes", Code: 500,
		Message: "etcdserver: request timed out"})
	client := w.dynamic(kubeapi.Admin)
	patch := []byte(`{"metadata":{"annotations":{"a":"b"}}}`)
	_, err := client.Resource(nodes).Patch(w.ctx, "n", types.MergePatchType, patch, metav1.PatchOptions{})
	if !apierrors.IsInternalError(err) || err.Error() != "etcdserver: request timed out" {
		t.Errorf("the request it names: %v", err)
	}
	if _, err := client.Resource(nodeLocks).Patch(w.ctx, "l", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Errorf("another resource: %v", err)
	}
	remove()
	remove()
	if _, err := client.Resource(nodes).Patch(w.ctx, "n", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Errorf("after its removal: %v", err)
	}
	log := w.Requests()
	if len(log) != 3 || log[0].Fault != "no patches" || log[0].Code != 500 || log[2].Fault != "" || log[2].Code != 200 {
		t.Fatalf("the log: %+v", log)
	}
	last := log[2]
	if last.User != kubeapi.Admin || last.Verb != "patch" || last.Resource != "nodes" || last.Name != "n" ||
		last.ContentType != "application/merge-patch+json" ||
		string(last.Body) != string(patch) || !last.Time.Equal(w.clock.Now()) || !last.Write() {
		t.Errorf("the log of the last: %+v", last)
	}
}

func TestAFaultAppliesAsOftenAsItSays(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.AddFault(kubeapi.Fault{Times: 1, Match: func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/nodes") }, Code: 429,
		RetryAfter: 7})
	if answer := w.raw(kubeapi.Admin, "GET", "/api/v1/nodes", ""); answer.code != 429 || answer.header.Get("Retry-After") != "7" ||
		answer.status().Reason != metav1.StatusReasonTooManyRequests {
		t.Errorf("first: %d %s", answer.code, answer.body)
	}
	if answer := w.raw(kubeapi.Admin, "GET", "/api/v1/nodes", ""); answer.code != 200 {
		t.Errorf("second: %d %s", answer.code, answer.body)
	}
}

func TestAConnectionIsCut(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.AddFault(kubeapi.Fault{Verb: "list", Resource: "nodes", Cut: true})
	client, err := rest.HTTPClientFor(w.RESTConfig(kubeapi.Admin))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Get(w.URL() + "/api/v1/nodes")
	if err == nil {
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		t.Fatalf("an answer: %d %s", answer.StatusCode, body)
	}
}

func TestAnAnswerThatNeverComes(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := start(t, kubeapi.Options{Network: lan.New(1)})
		remove := w.AddFault(kubeapi.Fault{Resource: "nodes", Hang: true})
		client := w.dynamic(kubeapi.Admin).Resource(nodes)
		ctx, cancel := context.WithCancel(w.ctx)
		first := make(chan error, 1)
		go func() {
			_, err := client.List(ctx, metav1.ListOptions{})
			first <- err
		}()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
		second := make(chan error, 1)
		go func() {
			_, err := client.List(w.ctx, metav1.ListOptions{})
			second <- err
		}()
		remove()
		if err := <-second; err != nil {
			t.Errorf("once the fault is gone: %v", err)
		}
	})
}

func TestAnOutageRefusesConnections(t *testing.T) {
	w := start(t, kubeapi.Options{})
	w.load(node("n"))
	if err := w.Outage(true); err != nil {
		t.Fatal(err)
	}
	client := w.dynamic(kubeapi.Admin).Resource(nodes)
	if _, err := client.Get(w.ctx, "n", metav1.GetOptions{}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("during the outage: %v", err)
	}
	if err := w.Outage(false); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Get(w.ctx, "n", metav1.GetOptions{}); err != nil {
		t.Errorf("after the outage: %v", err)
	}
	w.Close()
	if err := w.Outage(false); err == nil {
		t.Error("a closed server came back")
	}
}
