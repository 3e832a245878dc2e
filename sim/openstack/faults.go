package openstack

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	"lockstep/sim/wire"
)

// Fault is trouble of the cloud's APIs for matching requests. The effects happen in the order Latency, Hang, Drop,
// Page, Status; a Fault without the last four lets the request through and applies Damage to its answer.
type Fault struct {
	Method string                   // "" for all
	Path   *regexp.Regexp           // matched against the path, such as /compute/v2.1/servers/detail; nil for all
	User   string                   // name of the token's user; "" for all
	Match  func(*http.Request) bool // asked last; nil for all; must not read the body
	Times  int                      // how many requests it applies to; 0 for all until it is cleared

	Latency    time.Duration // real time to wait first
	Hang       bool          // no answer until the client gives up or the fault is cleared
	Drop       bool          // close the connection without an answer
	Page       int           // HTTP status of an HTML page to answer with, as a proxy does; 0 for none
	Status     int           // answer with this status; 0 to serve the request after Latency
	Message    string        // the error's text; "" for the usual one
	RetryAfter time.Duration // sent with Status as a header, when positive

	Damage wire.Damage
}

// answers tells whether the fault answers the request instead of the cloud.
func (f Fault) answers() bool { return f.Hang || f.Drop || f.Page != 0 || f.Status != 0 }

// faultList holds the faults set on a cloud.
type faultList struct {
	mu     sync.Mutex
	faults []*faultEntry
	outage bool
	skew   map[serviceKind]time.Duration
	life   time.Duration // of tokens; 0 for that of the options
}

type faultEntry struct {
	Fault
	met     int
	cleared chan struct{}
}

// SetFault makes matching requests fail from now on, until the returned function is called, which may be called more
// than once. Faults that let a request through add up; of those that answer it, the first one set wins.
func (c *Cloud) SetFault(f Fault) (clear func()) {
	l := &c.fault
	e := &faultEntry{Fault: f, cleared: make(chan struct{})}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, e)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.drop(e)
	}
}

// drop ends a fault and releases requests that hang on it; the caller holds mu.
func (l *faultList) drop(e *faultEntry) {
	if i := slices.Index(l.faults, e); i >= 0 {
		l.faults = slices.Delete(l.faults, i, i+1)
		close(e.cleared)
	}
}

// ClearFaults ends all faults.
func (c *Cloud) ClearFaults() {
	c.fault.mu.Lock()
	defer c.fault.mu.Unlock()
	for len(c.fault.faults) > 0 {
		c.fault.drop(c.fault.faults[0])
	}
}

// Outage makes all APIs unavailable, or available again. As in MOSK, an ingress controller in front of them answers 503
// with an HTML page.
func (c *Cloud) Outage(away bool) {
	c.fault.mu.Lock()
	defer c.fault.mu.Unlock()
	c.fault.outage = away
}

// The services whose clock can be set.
var serviceNames = map[string]serviceKind{"identity": keystone, "compute": nova, "network": neutron, "placement": placement,
	"image": glance}

// SetSkew sets the clock of a service (identity, compute, network, placement or image) ahead of the cloud's by d, or
// behind if d is negative. The service's timestamps show it, and the time since agents last reported.
func (c *Cloud) SetSkew(service string, d time.Duration) error {
	kind, known := serviceNames[service]
	if !known {
		return fmt.Errorf("openstack: set a clock: there is no service %q", service)
	}
	c.fault.mu.Lock()
	defer c.fault.mu.Unlock()
	if c.fault.skew == nil {
		c.fault.skew = make(map[serviceKind]time.Duration)
	}
	c.fault.skew[kind] = d
	return nil
}

// skewed returns t by the service's own clock.
func (l *faultList) skewed(kind serviceKind, t time.Time) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return t.Add(l.skew[kind])
}

// SetTokenLifetime sets the lifetime of tokens issued from now on, in real time; 0 means Options.TokenLifetime.
func (c *Cloud) SetTokenLifetime(d time.Duration) {
	c.fault.mu.Lock()
	defer c.fault.mu.Unlock()
	c.fault.life = d
}

func (c *Cloud) tokenLifetime() time.Duration {
	c.fault.mu.Lock()
	defer c.fault.mu.Unlock()
	return cmp.Or(c.fault.life, c.opts.TokenLifetime)
}

// match finds the faults that apply to a request, and counts the request.
func (l *faultList) match(r *http.Request, user string) (all []*faultEntry, outage bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outage {
		return nil, true
	}
	for _, e := range l.faults {
		if e.Times > 0 && e.met >= e.Times || !e.matches(r, user) {
			continue
		}
		e.met++
		all = append(all, e)
		if e.answers() {
			break
		}
	}
	return all, false
}

func (f Fault) matches(r *http.Request, user string) bool {
	return (f.Method == "" || f.Method == r.Method) && (f.Path == nil || f.Path.MatchString(r.URL.Path)) &&
		(f.User == "" || f.User == user) && (f.Match == nil || f.Match(r))
}

// intercept applies the faults to the request, and tells whether they have answered it.
func (l *faultList) intercept(w *statusWriter, r *http.Request, user string) bool {
	all, outage := l.match(r, user)
	if outage {
		wire.Page(w, http.StatusServiceUnavailable)
		return true
	}
	for _, e := range all {
		if e.intercept(w, r) {
			return true
		}
		w.ResponseWriter = e.Damage.Spoil(r.Context(), w.ResponseWriter, e.cleared)
	}
	return false
}

func (e *faultEntry) intercept(w http.ResponseWriter, r *http.Request) bool {
	if e.Latency > 0 {
		timer := time.NewTimer(e.Latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-e.cleared:
		case <-r.Context().Done():
			return true
		}
	}
	switch {
	case e.Hang:
		select {
		case <-e.cleared:
			return false
		case <-r.Context().Done():
			return true
		}
	case e.Drop:
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler) // who is near has no connection
		}
		_ = conn.Close()
		return true
	case e.Page != 0:
		wire.Page(w, e.Page)
		return true
	case e.Status != 0:
		answer := faultReply(r, e.Fault)
		if e.RetryAfter > 0 {
			answer = answer.with("Retry-After", fmt.Sprint(int(e.RetryAfter.Seconds()+0.999)))
		}
		write(w, answer)
		return true
	}
	return false
}

func faultReply(r *http.Request, f Fault) reply {
	kind := kindOf(r.URL.Path)
	if f.Status == http.StatusUnauthorized && f.Message == "" {
		return unauthorized(kind, "http://"+r.Host+"/identity")
	}
	text := f.Message
	if text == "" {
		switch {
		case f.Status == http.StatusTooManyRequests:
			text = "This request was rate-limited."
		case f.Status >= 500 && kind == nova:
			text = "Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\n<class " +
				"'oslo_messaging.exceptions.MessagingTimeout'>"
		case f.Status == http.StatusForbidden && kind == nova:
			text = "Policy doesn't allow this operation to be performed."
		default:
			text = http.StatusText(f.Status)
		}
	}
	return errorOf(kind, f.Status, text)
}

func kindOf(path string) serviceKind {
	for kind, prefix := range servicePath {
		if len(path) > len(prefix) && path[:len(prefix)+1] == prefix+"/" || path == prefix {
			return kind
		}
	}
	return keystone
}
