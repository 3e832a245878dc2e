package switchboard

import (
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
	"lockstep/sim/openstack"
	"lockstep/sim/wire"
)

// damage returns how a fault spoils the answer to a request that it lets through.
func damage(s fault.Setting) wire.Damage {
	switch s.Kind {
	case "truncated":
		return wire.Damage{Body: wire.Broken}
	case "short":
		return wire.Damage{Body: wire.Short}
	case "malformed":
		return wire.Damage{Body: wire.Garbled}
	case "slow":
		return wire.Damage{Body: wire.Slow, Rate: s.Bytes}
	case "clock-skew":
		return wire.Damage{Skew: s.Skew}
	}
	return wire.Damage{}
}

// statuses are the kinds that answer with a status from the server itself.
var statuses = map[string]int{"401": 401, "403": 403, "404": 404, "409": 409, "410": 410, "429": 429, "500": 500, "503": 503}

// pages are the kinds that answer with a proxy's error page.
var pages = map[string]int{"page-200": http.StatusOK, "page-502": http.StatusBadGateway}

// onKubernetes is the fault in the form of the simulated API server.
func onKubernetes(s fault.Setting, met func(*http.Request) bool) kubeapi.Fault {
	f := kubeapi.Fault{
		Label: s.String(), Match: met, Resource: s.Resource, Delay: s.Latency, Code: statuses[s.Kind], Page: pages[s.Kind],
		RetryAfter: int(s.RetryAfter / time.Second), Hang: s.Kind == "hang", Cut: s.Kind == "reset", Damage: damage(s),
		Silent: s.Kind == "watches-silent", CutEvents: s.Kind == "watches-cut",
	}
	switch s.Kind {
	case "409":
		f.Message = "the object has been modified; please apply your changes to the latest version and try again"
	case "410":
		f.AsEvent, f.Reason, f.Message = true, metav1.StatusReasonExpired, "too old resource version: 1 (2)"
	}
	return f
}

// onOpenStack is the fault in the form of the simulated OpenStack.
func onOpenStack(s fault.Setting, met func(*http.Request) bool) openstack.Fault {
	return openstack.Fault{
		Match: met, Latency: s.Latency, Status: statuses[s.Kind], Page: pages[s.Kind], RetryAfter: s.RetryAfter,
		Hang: s.Kind == "hang", Drop: s.Kind == "reset", Damage: damage(s),
	}
}

// below is the path prefix of an OpenStack server's API.
var below = map[fault.Server]string{
	fault.OpenStack: "/", fault.Identity: "/identity", fault.Compute: "/compute", fault.Network: "/network",
}

// concerns tells whether a setting applies to a request.
func concerns(s fault.Setting, r *http.Request) bool {
	switch {
	case !s.Everyone && ownController(r.UserAgent()) && s.Kind != "clock-skew":
		return false
	case !s.Server.IsKubernetes() && !strings.HasPrefix(r.URL.Path, below[s.Server]):
		return false
	case s.Path != "" && !strings.Contains(r.URL.Path, s.Path):
		return false
	case s.Kind == "410":
		return operation(r) == fault.Watches || r.URL.Query().Has("continue")
	}
	return s.Of == fault.Anything || s.Of == operation(r)
}

// ownController tells whether a request comes from a controller of the simulated cloud itself.
func ownController(agent string) bool {
	return strings.HasPrefix(agent, "lockstep-sim-controllers") || strings.HasPrefix(agent, "rockoon")
}

// operation classifies a request.
func operation(r *http.Request) fault.Operation {
	path := r.URL.Path
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		if watch := r.URL.Query().Get("watch"); watch == "1" || watch == "true" {
			return fault.Watches
		}
		return fault.Reads
	case strings.HasPrefix(path, "/identity/") && strings.HasSuffix(path, "/auth/tokens"),
		strings.HasPrefix(path, "/apis/authorization.k8s.io/"), strings.HasPrefix(path, "/apis/authentication.k8s.io/"):
		return fault.Reads
	}
	return fault.Writes
}
