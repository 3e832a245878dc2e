package kube

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
)

func TestDescribe(t *testing.T) {
	locks := schema.GroupResource{Group: "lcm.mirantis.com", Resource: "nodeworkloadlocks"}
	refused := &url.Error{Op: "Get", URL: "https://mos:6443/x", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	status := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "get", locks, "", "words", 0, true)
	}
	tests := map[string]struct {
		err       error
		kind      core.ErrorKind
		status    int
		uncertain bool
		remedy    string
	}{
		"an expired token": {apierrors.NewUnauthorized("Unauthorized"), core.ErrUnauthorized, 401, false, "log in again"},
		"a forbidden read": {apierrors.NewForbidden(locks, "",
			errors.New(`User "ann" cannot list resource "nodeworkloadlocks" in API group "lcm.mirantis.com" at the cluster scope`)),
			core.ErrForbidden, 403, false,
			"may not list nodeworkloadlocks.lcm.mirantis.com: ask an administrator to apply deploy/rbac-readonly.yaml"},
		"a forbidden write": {apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n1",
			errors.New(`User "ann" cannot patch resource "nodes" in API group "" at the cluster scope`)), core.ErrForbidden, 403, false,
			"may not patch nodes: ask an administrator to apply deploy/rbac-operator.yaml"},
		"a forbidden read of a lock that is to be written": {apierrors.NewForbidden(locks, "l1",
			errors.New(`User "ann" cannot get resource "nodeworkloadlocks" in API group "lcm.mirantis.com" at the cluster scope`)),
			core.ErrForbidden, 403, false,
			"may not get nodeworkloadlocks.lcm.mirantis.com: ask an administrator to apply deploy/rbac-maintenance.yaml"},
		"a forbidden write of a lock": {apierrors.NewForbidden(locks, "l1",
			errors.New(`User "ann" cannot patch resource "nodeworkloadlocks/status" in API group "lcm.mirantis.com" at the cluster scope`)),
			core.ErrForbidden, 403, false, "apply deploy/rbac-maintenance.yaml"},
		"a forbidden read of a node that is to be written": {apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n1",
			errors.New(`User "ann" cannot get resource "nodes" in API group "" at the cluster scope`)), core.ErrForbidden, 403, false,
			"may not get nodes: ask an administrator to apply deploy/rbac-operator.yaml"},
		"forbidden in other words": {status(403), core.ErrForbidden, 403, false, "deploy/rbac-readonly.yaml"},
		"a missing resource":       {status(404), core.ErrNotFound, 404, false, ""},
		"a conflict":               {status(409), core.ErrConflict, 409, false, ""},
		"an object refused":        {status(422), core.ErrInvalid, 422, false, ""},
		"too old a version":        {apierrors.NewResourceExpired("too old resource version"), core.ErrOther, 410, false, "listed again"},
		"too many requests":        {apierrors.NewTooManyRequests("slow down", 1), core.ErrTooManyRequests, 429, false, "try again"},
		"a server in trouble":      {status(503), core.ErrServer, 503, true, "short 50x"},
		"a gateway's timeout":      {status(504), core.ErrTimeout, 504, true, "shows on the object"},
		"a refused connection":     {fmt.Errorf("list: %w", refused), core.ErrUnreachable, 0, true, "Nothing listens there"},
		"an unknown host": {&net.OpError{Op: "dial", Err: &net.DNSError{Name: "mos.example", IsNotFound: true}}, core.ErrUnreachable, 0,
			true, "mos.example does not resolve"},
		"no route":           {&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, core.ErrUnreachable, 0, true, "VPN"},
		"no answer":          {fmt.Errorf("get: %w", context.DeadlineExceeded), core.ErrTimeout, 0, true, "No answer in time"},
		"given up":           {fmt.Errorf("get: %w", context.Canceled), core.ErrTimeout, 0, true, ""},
		"a reset connection": {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, core.ErrUnreachable, 0, true, "broke off"},
		"an unknown authority": {&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, core.ErrConfiguration, 0, false,
			"certificate-authority-data"},
		"an expired certificate": {&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}},
			core.ErrConfiguration, 0, false, "expired"},
		"a failing plugin": {&url.Error{Op: "Get", URL: "x",
			Err: errors.New("getting credentials: exec: executable kubelogin failed with exit code 1")}, core.ErrUnauthorized, 0, false, "plugin"},
		"anything else": {errors.New("odd"), core.ErrOther, 0, true, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := Describe(tt.err, "list things")
			if e.Kind != tt.kind || e.Status != tt.status || e.Uncertain() != tt.uncertain {
				t.Errorf("got kind %q, status %d, uncertain %v; want %q, %d, %v", e.Kind, e.Status, e.Uncertain(), tt.kind, tt.status, tt.uncertain)
			}
			if e.Call != "list things" || e.Server != core.ServerKubernetes || e.Message == "" || !errors.Is(e, tt.err) {
				t.Errorf("call, server, message or cause is lost: %+v", e)
			}
			if !strings.Contains(e.Remedy, tt.remedy) || tt.remedy == "" && e.Remedy != "" {
				t.Errorf("remedy %q does not speak of %q", e.Remedy, tt.remedy)
			}
		})
	}
}

func TestDescribeKeepsWhatIsDescribed(t *testing.T) {
	if e := Describe(nil, "x"); e != nil {
		t.Errorf("no error is described as %v", e)
	}
	first := Describe(errors.New("odd"), "list nodes")
	if again := Describe(fmt.Errorf("wrapped: %w", first), "get node"); again != first {
		t.Errorf("got %v, want %v", again, first)
	}
}

func TestDescribeCutsLongMessages(t *testing.T) {
	status := metav1.Status{Status: metav1.StatusFailure, Code: 400, Message: strings.Repeat("ä", 90_000)}
	e := Describe(&apierrors.StatusError{ErrStatus: status}, "x")
	if len(e.Message) > maxMessage+len("…") || !utf8.ValidString(e.Message) {
		t.Errorf("%d bytes, valid %v", len(e.Message), utf8.ValidString(e.Message))
	}
}

func TestDescribeLeavesOutTheURL(t *testing.T) {
	err := fmt.Errorf("failed to list nodes: %w",
		&url.Error{Op: "Get", URL: "https://mos:6443/api/v1/nodes?limit=500", Err: syscall.ECONNREFUSED})
	if got, want := Describe(err, "list nodes").Error(), "list nodes: unreachable: connection refused"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDescribeRealTransports describes errors of the real transport, not errors that this test made up.
func TestDescribeRealTransports(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for name, tt := range map[string]struct {
		url, remedy string
		kind        core.ErrorKind
	}{
		"a certificate of an unknown authority": {secure.URL, "authority", core.ErrConfiguration},
		"a server without TLS":                  {strings.Replace(plain.URL, "http:", "https:", 1), "TLS", core.ErrConfiguration},
		"nothing listening":                     {closed.URL, "Nothing listens", core.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			resp, err := client.Get(tt.url)
			if err == nil {
				resp.Body.Close()
				t.Fatal("no error")
			}
			if e := Describe(err, "get"); e.Kind != tt.kind || !strings.Contains(e.Remedy, tt.remedy) {
				t.Errorf("%v is described as %q with the remedy %q", err, e.Kind, e.Remedy)
			}
		})
	}
}
