package openstack

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Request is one request that the cloud received.
type Request struct {
	At           time.Time // virtual
	Method, Path string    // the path begins with the service: /compute/v2.1/servers
	Query        string    // undecoded
	Microversion string    // as requested; "" if not requested
	Body         string    // at most 64 KiB; empty if it contains secrets
	Status       int       // of the answer; 0 while the request is served and if the connection was dropped
	User         string    // name of the token's user
	UserAgent    string
}

// requestLog keeps the latest requests.
type requestLog struct {
	mu      sync.Mutex
	entries []*Request
}

const (
	keptRequests = 20000
	keptBody     = 64 << 10
)

func (l *requestLog) add(e *Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) >= keptRequests {
		l.entries = append(l.entries[:0:0], l.entries[keptRequests/4:]...)
	}
	l.entries = append(l.entries, e)
}

// Requests returns the requests received so far, oldest first; only the latest if there are very many. They contain no
// tokens or passwords.
func (c *Cloud) Requests() []Request {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	list := make([]Request, len(c.log.entries))
	for i, e := range c.log.entries {
		list[i] = *e
	}
	return list
}

// Writes returns the Requests that were for a change, without those that issue or revoke a token.
func (c *Cloud) Writes() []Request {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	var list []Request
	for _, e := range c.log.entries { // most are reads
		if e.Method != http.MethodGet && e.Method != http.MethodHead && !strings.HasPrefix(e.Path, "/identity/") {
			list = append(list, *e)
		}
	}
	return list
}

// ForgetRequests empties the list of Requests.
func (c *Cloud) ForgetRequests() {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.log.entries = nil
}

// statusWriter notes the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// observe logs every request and applies the faults before it is served.
func (c *Cloud) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			write(w, errorOf(kindOf(r.URL.Path), http.StatusRequestEntityTooLarge, "Request is too large."))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		e := &Request{At: c.opts.Clock.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
			Microversion: requestedMicroversion(r.Header), User: c.userOf(r), UserAgent: r.UserAgent()}
		if !strings.HasPrefix(e.Path, "/identity/") {
			e.Body = string(body[:min(len(body), keptBody)])
		}
		c.log.add(e)
		sw := &statusWriter{ResponseWriter: w}
		if !c.fault.intercept(sw, r, e.User) {
			next.ServeHTTP(sw, r)
		}
		c.log.mu.Lock()
		e.Status = sw.status
		c.log.mu.Unlock()
	})
}

// userOf is the name of the user whose token a request carries.
func (c *Cloud) userOf(r *http.Request) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.validToken(r.Header.Get("X-Auth-Token")); t != nil {
		return t.user.name
	}
	return ""
}
