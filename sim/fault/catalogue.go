package fault

import (
	"slices"
	"time"
)

// Server is a server of the simulated cloud.
type Server string

// The servers. OpenStack is the ingress in front of all its APIs.
const (
	Kubernetes Server = "kubernetes"
	Management Server = "management" // the API server of the management cluster
	OpenStack  Server = "openstack"
	Identity   Server = "identity" // Keystone
	Compute    Server = "compute"  // Nova
	Network    Server = "network"  // Neutron
)

// Servers lists all servers, in the order of display.
func Servers() []Server {
	return []Server{Kubernetes, Management, OpenStack, Identity, Compute, Network}
}

// Name is the readable name of the server.
func (s Server) Name() string {
	switch s {
	case Kubernetes:
		return "Kubernetes"
	case Management:
		return "management cluster"
	case OpenStack:
		return "OpenStack (all APIs)"
	case Identity:
		return "Keystone"
	case Compute:
		return "Nova"
	case Network:
		return "Neutron"
	}
	return string(s)
}

// IsKubernetes tells whether the server is a Kubernetes API server.
func (s Server) IsKubernetes() bool { return s == Kubernetes || s == Management }

var (
	everywhere = Servers()
	clusters   = []Server{Kubernetes, Management}
)

// Operation is a kind of request.
type Operation string

// The operations. A request for a token or for one's own rights is a read.
const (
	Anything Operation = ""
	Reads    Operation = "reads"
	Writes   Operation = "writes"
	Watches  Operation = "watches"
)

// Kind is one way in which a server can fail.
type Kind struct {
	ID      string // in its written form: "429", "latency"
	Title   string // a few words
	Does    string // what the server does
	Sees    string // what an operator should see
	Servers []Server
	Value   string // the parameter that "=VALUE" after the ID sets; empty if there is none

	EndsWatches bool // running watches end when it is switched on, so that it takes effect at once

	standard   Setting  // the default parameters
	parameters []string // in addition to those of every kind
	always     bool     // the whole server is affected: no rate, count or selection of requests
}

// Has tells whether the server can have the fault.
func (k Kind) Has(s Server) bool { return slices.Contains(k.Servers, s) }

// Standard is the fault of the server with its default parameters.
func (k Kind) Standard(s Server) Setting {
	set := k.standard
	set.Server, set.Kind = s, k.ID
	return set
}

// Find returns the kind with the ID.
func Find(id string) (Kind, bool) {
	i := slices.IndexFunc(catalogue, func(k Kind) bool { return k.ID == id })
	if i < 0 {
		return Kind{}, false
	}
	return catalogue[i], true
}

// Catalogue returns every kind of fault.
func Catalogue() []Kind { return slices.Clone(catalogue) }

var catalogue = []Kind{
	{ID: "latency", Title: "slow to answer", Servers: everywhere, Value: "latency", standard: Setting{Latency: 2 * time.Second},
		Does: "Every answer comes late.",
		Sees: "Everything works, later; what is shown is older, and its age says so."},
	{ID: "401", Title: "logins refused", Servers: everywhere, EndsWatches: true,
		Does: "Every request is answered 401 Unauthorized.",
		Sees: "Its sources are stale and say that the login was refused, and where it came from. Nothing else is concerned."},
	{ID: "403", Title: "no rights", Servers: everywhere, EndsWatches: true,
		Does: "Every request is answered 403 Forbidden.",
		Sees: "Which verb on which resource (or which policy) is missing, and what an administrator applies."},
	{ID: "404", Title: "not found", Servers: everywhere, EndsWatches: true,
		Does: "Every request is answered 404 Not Found, as where a resource or a service is missing.",
		Sees: "What is missing, and where to look. Nodes and instances stay, and grow old; the locks and requests stay for some time, then " +
			"the API is taken at its word that their definitions are gone."},
	{ID: "409", Title: "conflicts", Servers: []Server{Kubernetes, Management, OpenStack, Compute, Network}, standard: Setting{Of: Writes},
		Does: "Every write is answered 409 Conflict.",
		Sees: "All is shown as usual; a step that you confirm fails with the server's words, and is not repeated by itself."},
	{ID: "410", Title: "history gone", Servers: clusters, EndsWatches: true,
		Does: "Watches and the further pages of lists are answered 410 Gone: the history was compacted.",
		Sees: "Everything is listed again and again; what is shown is right, and at most some seconds old."},
	{ID: "429", Title: "too many requests", Servers: everywhere, Value: "retry-after", parameters: []string{"retry-after"}, EndsWatches: true,
		standard: Setting{RetryAfter: 5 * time.Second},
		Does:     "Every request is answered 429 Too Many Requests, with Retry-After.",
		Sees:     "The sources are stale, and say when they are tried again; it is not tried before."},
	{ID: "500", Title: "internal errors", Servers: everywhere, EndsWatches: true,
		Does: "Every request is answered 500 Internal Server Error.",
		Sees: "The sources are stale with the server's words; what was seen stays on the screen with its age."},
	{ID: "503", Title: "unavailable", Servers: everywhere, EndsWatches: true,
		Does: "Every request is answered 503 Service Unavailable, by the server itself.",
		Sees: "The sources are stale; short spells of it are usual while masters are updated."},
	{ID: "page-502", Title: "a proxy's error page", Servers: everywhere, EndsWatches: true,
		Does: "A proxy answers 502 with an HTML page.",
		Sees: "The status, and none of the page's markup."},
	{ID: "page-200", Title: "a proxy's login page", Servers: everywhere, EndsWatches: true,
		Does: "A proxy answers 200 with an HTML page in place of the server.",
		Sees: "That the answer is not the API's. Nothing is taken for empty."},
	{ID: "refused", Title: "connections refused", Servers: []Server{Kubernetes, Management, OpenStack}, always: true,
		Does: "The port is closed: connections break, and new ones are refused. The cloud's own controllers are cut off, too.",
		Sees: "The sources are stale at once; everything is seen again some seconds after the port is open."},
	{ID: "hang", Title: "hung", Servers: everywhere, EndsWatches: true,
		Does: "Connections are accepted, and nothing is ever answered.",
		Sees: "The sources become stale with a timeout; the screen and the other servers are not held up."},
	{ID: "reset", Title: "connections break", Servers: everywhere, EndsWatches: true,
		Does: "Every connection breaks before the answer.",
		Sees: "The sources are stale: the connection broke off."},
	{ID: "truncated", Title: "answers break off", Servers: everywhere, EndsWatches: true,
		Does: "The connection breaks in the middle of every answer, against its Content-Length.",
		Sees: "The sources are stale: half a list is not taken for a list."},
	{ID: "short", Title: "answers end early", Servers: everywhere, EndsWatches: true,
		Does: "Half of every answer comes, with a Content-Length that fits: JSON that just ends.",
		Sees: "The sources are stale: half a list is not taken for a list."},
	{ID: "malformed", Title: "answers are garbled", Servers: everywhere, EndsWatches: true,
		Does: "Every answer comes whole, but is no JSON.",
		Sees: "The sources are stale: the answer is not the API's."},
	{ID: "slow", Title: "answers trickle in", Servers: everywhere, Value: "bytes", standard: Setting{Bytes: 200}, EndsWatches: true,
		Does: "Answers come some bytes at a time.",
		Sees: "Short answers come, long ones time out; each source says which."},
	{ID: "watches-end", Title: "watches end", Servers: clusters, Value: "every", standard: Setting{Every: 2 * time.Second}, always: true,
		Does: "All watches end in good order, again and again.",
		Sees: "Nothing: they are opened again where they were."},
	{ID: "watches-cut", Title: "watches break", Servers: clusters, standard: Setting{Of: Watches},
		Does: "Watches break in the middle of an event.",
		Sees: "Everything is listed again; what is shown is right, and at most some seconds old."},
	{ID: "watches-silent", Title: "watches are silent", Servers: clusters, standard: Setting{Of: Watches},
		Does: "Watches stay open, and bring nothing: no events, no bookmarks, no end.",
		Sees: "That nothing was heard, before it is too old to act on; nothing is written on what such a watch has shown."},
	{ID: "clock-skew", Title: "clock wrong", Servers: everywhere, Value: "skew", standard: Setting{Skew: 5 * time.Minute}, always: true,
		Does: "The server's clock is ahead: its Date, and the timestamps that it writes. Nova and Neutron then take agents for dead.",
		Sees: "New things are no age yet; no age is negative. Compute services may look down."},
	{ID: "token-expires", Title: "login expires", Servers: []Server{Kubernetes, Management, Identity}, Value: "lifetime",
		standard: Setting{Lifetime: 5 * time.Second}, always: true, EndsWatches: true,
		Does: "The tokens that are in use expire. Keystone issues new ones, of a short life; a kubeconfig's stays worthless.",
		Sees: "Of OpenStack nothing: the login is renewed. Of Kubernetes that the login has expired, and that the kubeconfig is read again."},
}
