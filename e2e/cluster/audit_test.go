package cluster

import (
	"strings"
	"testing"
)

const (
	watchStarted = `{"kind":"Event","auditID":"w","stage":"ResponseStarted","requestURI":"/api/v1/nodes?watch=true","verb":"watch",` +
		`"user":{"username":"readonly"},"objectRef":{"resource":"nodes","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},` +
		`"requestReceivedTimestamp":"2026-01-01T10:00:02.000000Z"}`
	watchComplete = `{"kind":"Event","auditID":"w","stage":"ResponseComplete","requestURI":"/api/v1/nodes?watch=true","verb":"watch",` +
		`"user":{"username":"readonly"},"objectRef":{"resource":"nodes","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},` +
		`"requestReceivedTimestamp":"2026-01-01T10:00:02.000000Z"}`
	dryPatch = `{"kind":"Event","auditID":"p","stage":"ResponseComplete",` +
		`"requestURI":"/apis/lcm.mirantis.com/v1alpha1/nodeworkloadlocks/openstack-a/status?dryRun=All&fieldManager=lockstep","verb":"patch",` +
		`"user":{"username":"operator"},"userAgent":"lockstep/1","objectRef":{"resource":"nodeworkloadlocks","name":"openstack-a",` +
		`"apiGroup":"lcm.mirantis.com","apiVersion":"v1alpha1","subresource":"status"},"responseStatus":{"metadata":{},"status":"Failure",` +
		`"message":"refused","code":403},"requestObject":[{"op":"test"}],"requestReceivedTimestamp":"2026-01-01T10:00:01.000000Z"}`
)

func TestTheAuditLogIsReadInTheOrderOfReceipt(t *testing.T) {
	log := strings.Join([]string{watchStarted, dryPatch, watchComplete, `{"kind":"Ev`}, "\n")
	requests, err := parseAudit([]byte(log))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range requests {
		got = append(got, r.String())
	}
	want := []string{
		`operator patch nodeworkloadlocks.lcm.mirantis.com/status openstack-a (dry run) → 403 refused [{"op":"test"}]`,
		`readonly watch nodes  → 200`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("read\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !requests[0].Write() || requests[1].Write() {
		t.Error("a patch is a write, a watch is none")
	}
}

func TestAWatchThatRunsHasNoCodeYet(t *testing.T) {
	requests, err := parseAudit([]byte(watchStarted + "\n"))
	if err != nil || len(requests) != 1 || requests[0].Code != 0 {
		t.Errorf("read %v (%v)", requests, err)
	}
}

func TestABrokenAuditLogIsAnError(t *testing.T) {
	if _, err := parseAudit([]byte("not JSON\n")); err == nil || !strings.Contains(err.Error(), "not JSON") {
		t.Errorf("the error is %v", err)
	}
}
