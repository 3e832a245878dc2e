package kube

import (
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
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"lockstep/core"
)

// longestWait caps the wait that a server asks for: it may well be back earlier.
const longestWait = 5 * time.Minute

// maxMessage is how much of a server's own words is kept, in bytes.
const maxMessage = 4 << 10

// Describe says in core's words why a call failed; call is what was being done ("list nodes"). It returns nil for nil, and an error
// that already is a *core.APIError unchanged.
func Describe(err error, call string) *core.APIError {
	if err == nil {
		return nil
	}
	var already *core.APIError
	if errors.As(err, &already) {
		return already
	}
	e := &core.APIError{Kind: core.ErrOther, Server: core.ServerKubernetes, Call: call, Message: cut(core.Redact(err.Error())), Err: err}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		describeStatus(e, status)
		return e
	}
	describeTransport(e, err)
	return e
}

// describeStatus reads an answer of the API server.
func describeStatus(e *core.APIError, answer apierrors.APIStatus) {
	s := answer.Status()
	e.Status = int(s.Code)
	if s.Details != nil {
		e.After = min(time.Duration(s.Details.RetryAfterSeconds)*time.Second, longestWait)
	}
	if s.Message != "" {
		e.Message = cut(core.Redact(s.Message))
	}
	switch code := e.Status; {
	case code == http.StatusUnauthorized:
		e.Kind = core.ErrUnauthorized
		e.Remedy = "The login was refused or has expired: log in again as you do for kubectl (`kubectl auth whoami` tells when it works). " +
			"Lockstep reads the kubeconfig again by itself."
	case code == http.StatusForbidden:
		e.Kind = core.ErrForbidden
		e.Remedy = forbiddenRemedy(e.Message)
	case code == http.StatusNotFound:
		e.Kind = core.ErrNotFound
	case code == http.StatusConflict:
		e.Kind = core.ErrConflict
	case code == http.StatusTooManyRequests:
		e.Kind = core.ErrTooManyRequests
		e.Remedy = "The API server is busy: try again in a moment."
		if e.After > 0 {
			e.Remedy = fmt.Sprintf("The API server is busy: try again in %s, as it asks.", e.After)
		}
	case code == http.StatusRequestTimeout, code == http.StatusGatewayTimeout:
		e.Kind = core.ErrTimeout
		e.Remedy = "The API server took too long; whether the call was carried out shows on the object."
	case code == http.StatusGone:
		e.Kind = core.ErrOther
		e.Remedy = "The server's history does not reach back that far; everything is listed again."
	case code >= 500:
		e.Kind = core.ErrServer
		e.Remedy = "The API server is in trouble; short 50x answers are usual while its nodes are updated."
	case code >= 400:
		e.Kind = core.ErrInvalid
	}
	if isPage(s.Message) {
		e.Message = strings.TrimSpace(fmt.Sprintf("%d %s, with a page that is not the API's", e.Status, http.StatusText(e.Status)))
		e.Remedy = strings.TrimSpace("A proxy or a load balancer answered in the API server's place. " + e.Remedy)
	}
}

// foreignText is an answer that was no Status of the API, as far as client-go could read it.
func foreignText(s metav1.Status) (string, bool) {
	if s.Details != nil {
		for _, c := range s.Details.Causes {
			if c.Type == metav1.CauseTypeUnexpectedServerResponse {
				return strings.TrimSpace(c.Message), true
			}
		}
	}
	return "", false
}

// notOfAPI tells whether an error is a 404 in words that no API server uses for a resource that it does not know: a proxy's. Where nobody
// can read the words, they may be an API server's.
func notOfAPI(e *core.APIError) bool {
	var status apierrors.APIStatus
	if e.Kind != core.ErrNotFound || !errors.As(e.Err, &status) {
		return false
	}
	text, _ := foreignText(status.Status())
	return text != "" && text != "unknown" && text != "404 page not found"
}

// ofOne is why one object could not be read. Only the API itself, in a Status about the object, knows that it does not exist. What knows
// nothing of its kind, or is no API server at all, does not: nobody may conclude that the object is gone.
func ofOne(e *core.APIError) *core.APIError {
	var status apierrors.APIStatus
	if e == nil || e.Kind != core.ErrNotFound || !errors.As(e.Err, &status) {
		return e
	}
	if _, ok := foreignText(status.Status()); ok {
		e.Kind, e.Message = core.ErrOther, "404 Not Found, without a word about the object"
		e.Remedy = "Its kind is not known there: a proxy or a load balancer may have answered in the API server's place, or an API server that " +
			"is just starting. Try again."
	}
	return e
}

// isPage tells whether the server's words are an HTML page, which only a proxy on the way to an API server sends.
func isPage(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "<html") || strings.Contains(text, "<!doctype")
}

// forbidden finds the verb and the resource in the API server's own words: `nodes is forbidden: User "ann" cannot list
// resource "nodes" in API group "" at the cluster scope`.
var forbidden = regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

func forbiddenRemedy(message string) string {
	m := forbidden.FindStringSubmatch(message)
	if m == nil {
		return "Ask an administrator for the right; deploy/rbac-readonly.yaml has what watching needs, deploy/rbac-operator.yaml what acting " +
			"needs."
	}
	verb, resource, group, namespace := m[1], m[2], m[3], m[4]
	if group != "" {
		resource += "." + group
	}
	where := ""
	if namespace != "" {
		where = " in namespace " + namespace
	}
	file := manifestWith(verb, group, m[2])
	return fmt.Sprintf("You may not %s %s%s: ask an administrator to apply %s.", verb, resource, where, file)
}

// manifestWith is the manifest that has a right.
func manifestWith(verb, group, resource string) string {
	among := func(needs []Permission) bool {
		return slices.ContainsFunc(needs, func(p Permission) bool { return p.Verb == verb && p.Group == group && p.Resource == resource })
	}
	kind := "operator"
	switch verb {
	case "get", "list", "watch":
		kind = "readonly"
	}
	switch {
	case onManagement(group, resource):
		return "deploy/rbac-management-" + kind + ".yaml"
	case among(MaintenancePermissions()), among(claimPermissions()):
		return maintenanceRights
	case !among(WatchPermissions()) && (among(WritePermissions("")) || among(WorkloadPermissions())):
		kind = "operator" // what acting reads
	}
	return "deploy/rbac-" + kind + ".yaml"
}

// onManagement tells whether a resource is one of the management cluster's. All of its groups are its own, except lcm.mirantis.com.
func onManagement(group, resource string) bool {
	return group == gvrClusters.Group || group == gvrUpdatePlans.Group || strings.HasPrefix(resource, "lcm")
}

// providerFailures are in client-go's texts when its auth-provider oidc has no token, and sends nothing.
var providerFailures = []string{"No valid id-token", "failed to refresh token: ", "token response did not contain an id_token",
	"could not persist new tokens: ", "oidc: failed to ", "oidc: discovery object "}

// describeTransport reads an error of a call that has no answer.
func describeTransport(e *core.APIError, err error) {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		dns       *net.DNSError
		op        *net.OpError
		timeout   net.Error
		strange   *strangeError
	)
	text := err.Error()
	// The URL and client-go's own prefixes add nothing to the call.
	var request *url.Error
	if errors.As(err, &request) {
		e.Message = cut(core.Redact(request.Err.Error()))
	}
	switch {
	// client-go wraps a plugin's failure in text only.
	case strings.Contains(text, "getting credentials: "):
		e.Kind = core.ErrUnauthorized
		e.Remedy = "The credential plugin of the kubeconfig failed: log in again in another terminal (`kubectl auth whoami` runs the same " +
			"plugin)."
	case slices.ContainsFunc(providerFailures, func(part string) bool { return strings.Contains(text, part) }):
		e.Kind = core.ErrUnauthorized
		e.Remedy = "The kubeconfig's auth-provider has no valid token: log in again as you do for kubectl, or get the kubeconfig anew. " +
			"Lockstep reads it again by itself."
	case errors.Is(err, context.Canceled):
		e.Kind = core.ErrTimeout
		e.Message = "given up before the answer came"
	case errors.As(err, &authority):
		e.Kind = core.ErrConfiguration
		e.Remedy = "The server's certificate is signed by an authority that the kubeconfig does not know: put the cluster's CA into " +
			"certificate-authority-data, or get the kubeconfig anew."
	case errors.As(err, &host):
		e.Kind = core.ErrConfiguration
		e.Remedy = "The server's certificate is for another name: check the server's address in the kubeconfig, or set its tls-server-name."
	case errors.As(err, &invalid):
		e.Kind = core.ErrConfiguration
		e.Remedy = "The server's certificate is not valid (expired, or this machine's clock is wrong)."
	case strings.Contains(text, "tls: expired certificate"), strings.Contains(text, "tls: bad certificate"),
		strings.Contains(text, "tls: certificate required"):
		e.Kind = core.ErrUnauthorized
		e.Remedy = "The server refused your client certificate (expired?): get the kubeconfig anew."
	case errors.As(err, &record), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		e.Kind = core.ErrConfiguration
		e.Remedy = "What answers there does not speak TLS: check the server's address in the kubeconfig."
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Kind = core.ErrUnreachable
		e.Remedy = fmt.Sprintf("The name %s does not resolve here: check the server's address in the kubeconfig, DNS and the VPN.", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Kind = core.ErrUnreachable
		e.Remedy = "Nothing listens there: check the server's address, the VPN and the proxy; if it is right, the API server is down."
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		e.Kind = core.ErrUnreachable
		e.Remedy = "There is no way to the server from here: check the VPN and routes."
	case errors.As(err, &op) && op.Op == "dial":
		e.Kind = core.ErrUnreachable
		e.Remedy = "No connection to the server could be made: check the VPN, the firewall and the proxy."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout(),
		strings.Contains(text, "context deadline exceeded"):
		e.Kind = core.ErrTimeout
		e.Remedy = "No answer in time: whether the call was carried out shows on the object."
	case errors.As(err, &strange), isNotJSON(err):
		if strange == nil {
			e.Message = "the answer is not the API's: " + e.Message
		}
		e.Remedy = "A proxy on the way may answer in the API server's place, or the answer was damaged: see what `kubectl get --raw /version` " +
			"gets."
	case errors.As(err, &op), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		strings.Contains(text, "http2: "), strings.Contains(text, "stream error: "), strings.Contains(text, "connection reset"):
		e.Kind = core.ErrUnreachable
		e.Remedy = "The connection broke off."
	}
}

// isNotJSON tells whether an answer arrived completely, but could not be read. client-go wraps some of these failures in text only.
func isNotJSON(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	if errors.As(err, &syntax) || errors.As(err, &kind) || runtime.IsNotRegisteredError(err) || runtime.IsMissingKind(err) {
		return true
	}
	text := err.Error()
	for _, words := range []string{"serializer for ", "json parse error", "invalid character", "unexpected end of JSON input",
		"cannot unmarshal"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// cut shortens a message to maxMessage bytes without splitting a character.
func cut(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}
