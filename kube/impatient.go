package kube

import (
	"net/http"
)

// impatient keeps client-go from retrying a call by itself, up to ten times, when the server asks to wait. Lockstep would notice
// only after its own deadline, and a write would be repeated behind the operator's back. The wait is in the answer's Status too,
// and the caller heeds it.
func impatient(base http.RoundTripper) http.RoundTripper { return &impatientTransport{base} }

type impatientTransport struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t *impatientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := loggedIn(r.Context()); err != nil {
		return nil, err
	}
	resp, err := t.base.RoundTrip(r)
	if resp != nil && resp.StatusCode >= http.StatusBadRequest {
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

// WrappedRoundTripper lets client-go reach the transport below, to close its idle connections.
func (t *impatientTransport) WrappedRoundTripper() http.RoundTripper { return t.base }

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (t *impatientTransport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
