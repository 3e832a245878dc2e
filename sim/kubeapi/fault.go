package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fault is trouble for some requests. Empty fields to match mean any. What it does happens in the order Delay, Hang, Cut,
// Code; a Fault that only delays lets the request go on.
type Fault struct {
	Label string // shows up in Request.Fault

	Verb, Group, Resource, Subresource, Namespace, Name, User string
	Match                                                     func(*http.Request) bool // nil for any; must not read the body

	Times int // how many requests it applies to; 0 for all until it is removed

	Delay time.Duration // real time before anything else happens
	Hang  bool          // no answer until the client gives up, the Fault is removed or the server ends
	Cut   bool          // the connection breaks without an answer
	Code  int           // HTTP status to answer with, 0 for none

	Reason     metav1.StatusReason // in the Status; derived from Code when empty
	Message    string              // in the Status; derived from Code when empty
	RetryAfter int                 // seconds, in the Retry-After header and the Status; 0 for none
}

// active is a Fault that was added.
type active struct {
	Fault
	used    int
	removed chan struct{}
}

type faults struct {
	mu   sync.Mutex
	list []*active
}

// AddFault lets f apply from now on; the first Fault added that matches a request is the one that applies. It returns
// what removes it again, which may be called more than once.
func (s *Server) AddFault(f Fault) (remove func()) {
	a := &active{Fault: f, removed: make(chan struct{})}
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = append(s.faults.list, a)
	return func() {
		s.faults.mu.Lock()
		defer s.faults.mu.Unlock()
		s.faults.drop(a)
	}
}

// drop removes a and lets requests that hang on it go; the caller holds mu.
func (f *faults) drop(a *active) {
	if i := slices.Index(f.list, a); i >= 0 {
		f.list = slices.Delete(f.list, i, i+1)
		close(a.removed)
	}
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.list) > 0 {
		f.drop(f.list[0])
	}
}

// take finds the Fault for a request and counts it.
func (f *faults) take(r *http.Request, info requestInfo, user string) *active {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.list {
		if a.Times > 0 && a.used >= a.Times || !a.matches(r, info, user) {
			continue
		}
		a.used++
		return a
	}
	return nil
}

func (f Fault) matches(r *http.Request, info requestInfo, user string) bool {
	for _, pair := range [][2]string{
		{f.Verb, info.verb}, {f.Group, info.gvr.Group}, {f.Resource, info.gvr.Resource}, {f.Subresource, info.sub},
		{f.Namespace, info.namespace}, {f.Name, info.name}, {f.User, user},
	} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return f.Match == nil || f.Match(r)
}

// apply does to the request what the Fault says, and reports whether the request has been answered by that.
func (a *active) apply(w http.ResponseWriter, r *http.Request, info requestInfo) (answered bool) {
	if a.Delay > 0 {
		timer := time.NewTimer(a.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-a.removed:
		case <-r.Context().Done():
			return true
		}
	}
	if a.Hang {
		select {
		case <-a.removed:
			return false
		case <-r.Context().Done():
			return true
		}
	}
	if a.Cut {
		panic(http.ErrAbortHandler) // how net/http is told to break a connection
	}
	if a.Code == 0 {
		return false
	}
	if a.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
	err := apierrors.NewGenericServerResponse(a.Code, info.verb, info.gvr.GroupResource(), info.name, a.Message, a.RetryAfter, true)
	if a.Message != "" {
		err.ErrStatus.Message = a.Message
	} else if err.ErrStatus.Message == "" {
		err.ErrStatus.Message = fmt.Sprintf("the simulated server answers %d", a.Code)
	}
	if a.Reason != "" {
		err.ErrStatus.Reason = a.Reason
	}
	writeError(w, err)
	return true
}
