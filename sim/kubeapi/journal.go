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
	User        string    // "" when the token was not good
	UserAgent   string
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	Group       string
	Resource    string // plural; "" for a path that is none of a resource
	Subresource string
	Namespace   string
	Name        string
	Path        string
	Query       url.Values
	ContentType string
	Body        []byte
	DryRun      bool
	Code        int    // HTTP status; 0 when the connection was cut
	Fault       string // name of the Fault that applied, or ""
}

// Write says whether the request asked for a change.
func (r Request) Write() bool {
	switch r.Verb {
	case "get", "list", "watch", "head", "options":
		return false
	}
	return true
}

// journal remembers requests in the order of their answers; a watch when it begins.
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
// 15,000 at least. Questions about the own rights count as reads.
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

// answer is a ResponseWriter that tells the status before the client can know it, so that who has the answer to a request
// finds the request in the log.
type answer struct {
	http.ResponseWriter
	told bool
	tell func(code int)
}

// once tells the status, unless it was told before.
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
