package kubeapi

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// journalSize is how many requests a server remembers.
const journalSize = 20000

// Request is one request that the server answered.
type Request struct {
	Time        time.Time // of its arrival, by the simulated clock
	User        string    // "" if the token was not valid
	UserAgent   string
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	Group       string
	Resource    string // plural; "" for a path without a resource
	Subresource string
	Namespace   string
	Name        string
	Path        string
	Query       url.Values
	ContentType string
	Body        []byte
	DryRun      bool
	Code        int    // HTTP status; 0 if the connection was cut
	Fault       string // name of the Fault that applied, or ""
}

// Write tells whether the request was for a change.
func (r Request) Write() bool {
	switch r.Verb {
	case "get", "list", "watch", "head", "options":
		return false
	}
	return true
}

// journal remembers requests in the order of their answers; a watch counts when it starts.
type journal struct {
	mu      sync.Mutex
	entries []Request
}

func (j *journal) add(r Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.entries) >= journalSize {
		j.entries = slices.Delete(j.entries, 0, journalSize/4)
	}
	j.entries = append(j.entries, r)
}

// Requests returns the writes that the server answered (with Options.LogReads all requests), oldest first; the last
// 15,000 at least. Access reviews count as reads.
func (s *Server) Requests() []Request {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return slices.Clone(s.journal.entries)
}

// ForgetRequests empties the log of requests.
func (s *Server) ForgetRequests() {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.journal.entries = nil
}

// answer is a ResponseWriter that records the status before the client sees it: once a client has its answer, the
// request is in the log.
type answer struct {
	http.ResponseWriter
	told bool
	tell func(code int)
}

// once records the status, unless it is recorded already.
func (a *answer) once(code int) {
	if !a.told {
		a.told = true
		a.tell(code)
	}
}

func (a *answer) WriteHeader(code int) {
	a.once(code)
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(p []byte) (int, error) {
	a.once(http.StatusOK)
	return a.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
