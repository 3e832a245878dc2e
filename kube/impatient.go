package kube

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// impatient keeps client-go from retrying a call by itself, up to ten times, when the server asks to wait. Lockstep would notice
// only after its own deadline, and a write would be repeated behind the operator's back. The wait is in the answer's Status too, or is put
// there, and the caller heeds it.
func impatient(base http.RoundTripper) http.RoundTripper { return &impatientTransport{base} }

type impatientTransport struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *impatientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := loggedIn(r.Context()); err != nil {
		return nil, err
	}
	resp, err := t.base.RoundTrip(r)
	if resp != nil && resp.StatusCode >= http.StatusBadRequest {
		keepWait(resp)
		resp.Header.Del("Retry-After")
	}
	if err == nil {
		err = strangeAnswer(r, resp)
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// keepWait makes a Status of a plain text with which a server asks to wait: so does the API server's priority and fairness.
func keepWait(resp *http.Response) {
	seconds, err := strconv.ParseInt(strings.TrimSpace(resp.Header.Get("Retry-After")), 10, 32)
	plain := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain")
	if err != nil || seconds <= 0 || resp.StatusCode != http.StatusTooManyRequests || !plain {
		return
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil {
		return // the text was all there was
	}
	resp.Body.Close()
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusTooManyRequests,
		Reason: metav1.StatusReasonTooManyRequests, Message: strings.TrimSpace(string(text)),
		Details: &metav1.StatusDetails{RetryAfterSeconds: int32(seconds)},
	})
	if err != nil {
		body = text
	} else {
		resp.Header.Set("Content-Type", "application/json")
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
}

// WrappedRoundTripper lets client-go reach the transport below, to close its idle connections.
func (t *impatientTransport) WrappedRoundTripper() http.RoundTripper { return t.base }

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (t *impatientTransport) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.base) }
