package nova

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gophercloud/gophercloud/v2"

	"lockstep/core"
)

// action is a call as the operator reads it.
type action struct {
	call   string        // "list compute services"
	policy string        // the rule of policy.yaml that allows it; empty when every user may
	limit  time.Duration // how long a write may take; 0 means writeLimit
}

// maxMessage is how much of a server's words is kept, in bytes (core.APIError.Message).
const maxMessage = 4 << 10

// errAnswer is an answer that the API does not send.
type errAnswer struct{ want string }

func (e *errAnswer) Error() string { return "the answer is not " + e.want }

func errShape(want string) error { return &errAnswer{want: want} }

// errHidden is an answer that leaves out what Nova tells only some logins. An instance that is on no known host would be on no node.
var errHidden = errors.New("it does not tell this login on which host an instance is")

// policyHidden is the rule that allows what errHidden says.
const policyHidden = "os_compute_api:os-extended-server-attributes"

// fail turns any error of a call into a core.APIError, without secrets. An error that already is one stays as it is.
func (c *Client) fail(a action, err error) *core.APIError {
	var done *core.APIError
	if errors.As(err, &done) {
		return done
	}
	e := &core.APIError{Server: core.ServerOpenStack, Call: a.call}

	cause := err
	var relogin *gophercloud.ErrUnableToReauthenticate
	if errors.As(err, &relogin) {
		e.Call = "log in again to " + a.call
		cause = relogin.ErrReauth
	}
	var http *gophercloud.ErrUnexpectedResponseCode
	var httpValue gophercloud.ErrUnexpectedResponseCode
	if errors.As(cause, &httpValue) {
		http = &httpValue
	} else {
		errors.As(cause, &http)
	}
	if http != nil {
		e.Status = http.Actual
		e.After, _ = retryAfter(cause)
		e.Kind = kindOfStatus(http.Actual)
		e.Message = messageOf(http.Body, http.Actual)
		if http.Actual < 400 { // the write may have been made
			cause = errShape("the API's: " + e.Message)
			e.Message = cause.Error()
		}
	} else {
		e.Kind, e.Message = kindOfFailure(cause)
	}
	if e.Kind == core.ErrUnauthorized && refusesNewToken(err) {
		e.Kind = core.ErrServer
		e.Message = "the service refuses a token that Keystone has just issued: " + e.Message
	}
	e.Message = truncate(c.secrets.Redact(e.Message))
	e.Remedy = c.remedy(a, e, cause)
	if e.Kind == core.ErrServer && e.Status == 401 {
		e.Remedy = "see the section keystone_authtoken of the service, its log, and whether Keystone's keys were just changed"
	}
	e.Err = core.RedactedError(fmt.Sprintf("%s: %s", e.Kind, e.Message), cause)
	return e
}

// refusesNewToken tells whether the login was renewed for a call, and the service refused the new token, too.
func refusesNewToken(err error) bool {
	var after *gophercloud.ErrErrorAfterReauthentication
	return errors.As(err, &after)
}

// notOfAPI tells whether an error is a 404 or 410 in words that are no API's: a proxy's or a load balancer's page, such as an ingress shows
// that has nothing to send a request to. Nobody may conclude that the object is gone. An API's answer without words counts as its own.
func notOfAPI(err error) bool {
	e := responseOf(err)
	if e == nil || e.Actual != http.StatusNotFound && e.Actual != http.StatusGone {
		return false
	}
	var object map[string]json.RawMessage
	return len(bytes.TrimSpace(e.Body)) > 0 && json.Unmarshal(e.Body, &object) != nil
}

// notFound tells whether the API itself says that there is nothing of the kind.
func notFound(err error) bool {
	var api *core.APIError
	if errors.As(err, &api) {
		return api.Kind == core.ErrNotFound
	}
	return statusOf(err) == http.StatusNotFound && !notOfAPI(err)
}

// proxied is the failure of a call that notOfAPI is about: one of the server as a whole, which may pass.
func (c *Client) proxied(e *core.APIError) *core.APIError {
	e.Kind = core.ErrServer
	e.Message = fmt.Sprintf("%d %s, in words that are not the API's: a proxy or a load balancer may have answered in its place", e.Status,
		http.StatusText(e.Status))
	e.Remedy = fmt.Sprintf("try again; if it stays, look at the ingress and its back ends, and at the endpoints of cloud %s "+
		"(openstack catalog list)", c.Config().cloud)
	e.Err = core.RedactedError(fmt.Sprintf("%s: %s", e.Kind, e.Message), e.Err)
	return e
}

func kindOfStatus(status int) core.ErrorKind {
	switch {
	case status == http.StatusUnauthorized:
		return core.ErrUnauthorized
	case status == http.StatusForbidden:
		return core.ErrForbidden
	case status == http.StatusNotFound, status == http.StatusGone:
		return core.ErrNotFound
	case status == http.StatusConflict:
		return core.ErrConflict
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		return core.ErrInvalid
	case status == http.StatusNotAcceptable:
		return core.ErrUnsupported // a microversion that the cloud does not have
	case status == http.StatusTooManyRequests, status == http.StatusRequestEntityTooLarge:
		return core.ErrTooManyRequests // 413 is Nova's older word for it
	case status == http.StatusGatewayTimeout:
		return core.ErrTimeout
	case status >= 500:
		return core.ErrServer
	}
	return core.ErrOther
}

// kindOfFailure is for errors without an HTTP status.
func kindOfFailure(err error) (core.ErrorKind, string) {
	var answer *errAnswer
	var netErr net.Error
	var urlErr *url.Error
	var opErr *net.OpError
	var unknownCA x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	var noEndpoint *gophercloud.ErrEndpointNotFound
	message := err.Error()
	if errors.As(err, &urlErr) {
		message = urlErr.Err.Error() // its URL is in the remedy, and its verb in the call
	}
	switch {
	case isNotJSON(err):
		return core.ErrOther, "the answer is not JSON"
	case errors.Is(err, context.DeadlineExceeded):
		return core.ErrTimeout, "no answer in time"
	case errors.Is(err, context.Canceled):
		return core.ErrTimeout, "given up before the answer came"
	case errors.As(err, &verify), errors.As(err, &unknownCA), errors.As(err, &hostname), errors.As(err, &invalid):
		return core.ErrConfiguration, message
	case errors.As(err, &noEndpoint), errors.Is(err, gophercloud.ErrEndpointNotFound{}):
		return core.ErrConfiguration, message
	case errors.As(err, &answer):
		return core.ErrOther, message
	case errors.Is(err, errHidden):
		return core.ErrForbidden, message
	case errors.As(err, &netErr) && netErr.Timeout():
		return core.ErrTimeout, message
	case errors.As(err, &opErr), errors.As(err, &urlErr):
		return core.ErrUnreachable, message
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return core.ErrUnreachable, "the connection broke off in the middle of the answer"
	}
	return core.ErrOther, message
}

// isNotJSON tells whether gophercloud could not read an answer.
func isNotJSON(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}

// messageOf is the server's own message: {"conflictingRequest": {"message": "…"}}, and the forms of Keystone and Neutron.
func messageOf(body []byte, status int) string {
	var envelope map[string]json.RawMessage
	if json.Unmarshal(body, &envelope) == nil {
		for _, raw := range envelope {
			var inner struct {
				Message string `json:"message"`
				Detail  string `json:"detail"`
			}
			if json.Unmarshal(raw, &inner) == nil && inner.Message != "" {
				if inner.Detail != "" {
					return inner.Message + ": " + inner.Detail
				}
				return inner.Message
			}
		}
		var flat string
		for _, key := range []string{"message", "error", "NeutronError"} {
			if json.Unmarshal(envelope[key], &flat) == nil && flat != "" {
				return flat
			}
		}
	}
	var list []struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal(envelope["errors"], &list) == nil && len(list) > 0 && list[0].Detail != "" { // Placement's
		return strings.TrimSpace(list[0].Detail)
	}
	text := strings.TrimSpace(string(body))
	if text == "" || strings.HasPrefix(text, "<") || strings.HasPrefix(text, "{") {
		return fmt.Sprintf("%d %s", status, http.StatusText(status)) // a proxy's page says nothing more
	}
	return text
}

// truncate cuts a text to maxMessage, never within a character.
func truncate(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxMessage {
		return text
	}
	cut := maxMessage - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// remedy is what the operator can do about it.
func (c *Client) remedy(a action, e *core.APIError, cause error) string {
	switch e.Kind {
	case core.ErrForbidden:
		need := "it needs the role admin"
		if errors.Is(cause, errHidden) {
			a.policy = policyHidden
		}
		if a.policy != "" {
			need += " (policy " + a.policy + ")"
		}
		return need +
			": use the cloud's administrator, whose credentials are in the cluster's secret openstack-external/openstack-identity-credentials"
	case core.ErrUnauthorized:
		return fmt.Sprintf("check user, password and domains, or the application credential, of cloud %s in %s", c.Config().cloud,
			c.Config().origin)
	case core.ErrUnreachable, core.ErrTimeout:
		return fmt.Sprintf("see whether %s answers from here (curl -sk); during an update the API can be away for minutes", c.addressOf(cause))
	case core.ErrServer:
		return "see the log of the service; during an update its API can be away for minutes"
	case core.ErrTooManyRequests:
		if e.After > 0 {
			return fmt.Sprintf("wait; the cloud limits the rate of requests, and asks to wait for %s", e.After)
		}
		return "wait; the cloud limits the rate of requests"
	case core.ErrConfiguration:
		var noEndpoint *gophercloud.ErrEndpointNotFound
		if errors.As(cause, &noEndpoint) || errors.Is(cause, gophercloud.ErrEndpointNotFound{}) {
			return fmt.Sprintf("check region_name and interface of cloud %s in %s", c.Config().cloud, c.Config().origin)
		}
		return fmt.Sprintf("check cacert and auth_url of cloud %s in %s", c.Config().cloud, c.Config().origin)
	case core.ErrNotFound:
		return fmt.Sprintf("if it should be there, check the endpoints of cloud %s (openstack catalog list)", c.Config().cloud)
	}
	var answer *errAnswer
	if errors.As(cause, &answer) || isNotJSON(cause) {
		return fmt.Sprintf("a proxy may answer in the place of %s, or the answer was damaged on its way", c.addressOf(cause))
	}
	return ""
}

// addressOf is scheme and host of the server that a failed request went to.
func (c *Client) addressOf(cause error) string {
	var urlErr *url.Error
	if errors.As(cause, &urlErr) {
		if u, err := url.Parse(urlErr.URL); err == nil && u.Host != "" {
			return u.Scheme + "://" + u.Host
		}
	}
	if u, err := url.Parse(c.Config().auth.IdentityEndpoint); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return c.Config().cloud
}
