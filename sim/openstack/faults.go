package openstack

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Fault is a misbehaviour of the cloud's APIs towards the requests that match.
type Fault struct {
	Method string         // "" for all
	Path   *regexp.Regexp // matched against the path, such as /compute/v2.1/servers/detail; nil for all
	User   string         // name of the token's user; "" for all
	Times  int            // how many requests it meets before it is over; 0 for all until it is cleared

	Latency    time.Duration // real time to wait first
	Status     int           // answer with this status; 0 to serve the request after Latency
	Message    string        // the error's text; "" for a usual one
	RetryAfter time.Duration // sent with Status as a header, when positive
	Hang       bool          // never answer
	Drop       bool          // close the connection without an answer
}

// faultList is the faults set on a cloud.
type faultList struct {
	mu     sync.Mutex
	faults []*faultEntry
	outage bool
	last   int
}

type faultEntry struct {
	Fault
	number, met int
}

// SetFault makes the matching requests fail from now on, until the returned function is called. The first fault set that
// matches a request meets it.
func (c *Cloud) SetFault(f Fault) (clear func()) {
	l := &c.fault
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	number := l.last
	l.faults = append(l.faults, &faultEntry{Fault: f, number: number})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.faults = slices.DeleteFunc(l.faults, func(e *faultEntry) bool { return e.number == number })
	}
}

// ClearFaults ends all faults that were set.
func (c *Cloud) ClearFaults() {
	c.fault.mu.Lock()
	defer c.fault.mu.Unlock()
	c.fault.faults = nil
}

// Outage makes all APIs unavailable, or available again. As in MOSK, an ingress controller stands before them and answers
// 503 with an HTML page.
func (c *Cloud) Outage(away bool) {
	c.fault.mu.Lock()
	defer c.fault.mu.Unlock()
	c.fault.outage = away
}

func (l *faultList) match(r *http.Request, user string) (f Fault, found, outage bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.outage {
		return Fault{}, false, true
	}
	for _, e := range l.faults {
		if e.Method != "" && e.Method != r.Method || e.Path != nil && !e.Path.MatchString(r.URL.Path) || e.User != "" && e.User != user {
			continue
		}
		if e.Times > 0 && e.met >= e.Times {
			continue
		}
		e.met++
		return e.Fault, true, false
	}
	return Fault{}, false, false
}

const ingressPage = "<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n<body>\r\n" +
	"<center><h1>503 Service Temporarily Unavailable</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

// intercept lets a fault have the request; it says whether that answered it.
func (l *faultList) intercept(w http.ResponseWriter, r *http.Request, user string) bool {
	f, found, outage := l.match(r, user)
	switch {
	case outage:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(ingressPage))
		return true
	case !found:
		return false
	}
	if f.Latency > 0 {
		timer := time.NewTimer(f.Latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return true
		}
	}
	switch {
	case f.Hang:
		<-r.Context().Done()
		return true
	case f.Drop:
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		return true
	case f.Status != 0:
		answer := faultReply(r, f)
		if f.RetryAfter > 0 {
			answer = answer.with("Retry-After", fmt.Sprint(int(f.RetryAfter.Seconds()+0.999)))
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
			text = "Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\n<class 'oslo_messaging.exceptions.MessagingTimeout'>"
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
