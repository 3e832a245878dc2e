package kubeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"lockstep/sim/wire"
)

// Fault is trouble for some requests. Empty fields to match mean any. The effects happen in the order Delay, Hang, Cut,
// Page, Code; a Fault without the last four lets the request through and applies Damage to its answer.
type Fault struct {
	Label string // shows up in Request.Fault

	Verb, Group, Resource, Subresource, Namespace, Name, User string
	Match                                                     func(*http.Request) bool // asked last; nil for any; must not read the body

	Times int // how many requests it applies to; 0 for all until it is removed

	Delay time.Duration // real time before anything else happens
	Hang  bool          // no answer until the client gives up, the Fault is removed or the server ends
	Cut   bool          // the connection breaks without an answer
	Page  int           // HTTP status of an HTML page to answer with, as a proxy does; 0 for none
	Code  int           // HTTP status to answer with, 0 for none

	Reason     metav1.StatusReason // in the Status; derived from Code when empty
	Message    string              // in the Status; derived from Code when empty
	RetryAfter int                 // seconds, in the Retry-After header and the Status; 0 for none
	Plain      bool                // the message as plain text in place of a Status, as priority and fairness answers
	AsEvent    bool                // the watch starts, and its first event is the Status

	Damage wire.Damage

	// What happens to the events of watches, including running ones. The requests that start them are let through.
	Silent    bool // no event arrives, not even the end, until the Fault is removed
	CutEvents bool // the connection breaks in the middle of the next event
}

// active is a Fault that was added.
type active struct {
	Fault
	used    int
	removed chan struct{}
}

type faults struct {
	skew atomic.Int64 // nanoseconds

	mu   sync.Mutex
	list []*active
}

// AddFault applies f from now on. Faults that let a request through add up; of those that answer it, the first one
// added wins. It returns a function that removes f, which may be called more than once.
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

// SetSkew sets the server's clock ahead of the cluster's by d, or behind if d is negative: the timestamps of objects
// show it.
func (s *Server) SetSkew(d time.Duration) { s.faults.skew.Store(int64(d)) }

// RestoreToken makes a user's token valid again after ExpireToken.
func (s *Server) RestoreToken(user string) error {
	if err := s.accounts.change(user, func(u *User) { s.accounts.tokens[u.Token] = u.Name }); err != nil {
		return fmt.Errorf("kubeapi: restore a token: %w", err)
	}
	return nil
}

// skewed returns t by the server's own clock.
func (f *faults) skewed(t time.Time) time.Time { return t.Add(time.Duration(f.skew.Load())) }

// drop removes a and releases requests that hang on it; the caller holds mu.
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

// answers tells whether the Fault answers the request instead of the server.
func (f Fault) answers() bool { return f.Hang || f.Cut || f.Page != 0 || f.Code != 0 }

// meeting holds the Faults that apply to a request, and the label of one of them.
type meeting struct {
	Label  string
	faults *faults
	all    []*active
	user   string
}

// take finds the Faults for a request and counts it; nil if there are none. A Fault that is added while a watch runs
// applies to the watch.
func (f *faults) take(r *http.Request, info requestInfo, user string) *meeting {
	m := &meeting{faults: f, user: user}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.list {
		if a.Silent || a.CutEvents || !a.meets(r, info, user) {
			continue
		}
		m.all = append(m.all, a)
		if a.Label != "" {
			m.Label = a.Label
		}
		if a.answers() {
			break
		}
	}
	if len(m.all) == 0 && info.verb != "watch" {
		return nil
	}
	return m
}

// takeEvent finds the Fault for the events of a watch and counts it.
func (f *faults) takeEvent(r *http.Request, info requestInfo, user string) *active {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.list {
		if (a.Silent || a.CutEvents) && a.meets(r, info, user) {
			return a
		}
	}
	return nil
}

// meets tells whether the Fault applies to a request, and counts the request; the caller holds mu.
func (a *active) meets(r *http.Request, info requestInfo, user string) bool {
	if a.Times > 0 && a.used >= a.Times || !a.matches(r, info, user) {
		return false
	}
	a.used++
	return true
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

// apply applies the Faults to the request, and reports whether they have answered it.
func (m *meeting) apply(w *answer, r *http.Request, info requestInfo) (answered bool) {
	for _, a := range m.all {
		if a.apply(w, r, info) {
			return true
		}
		w.ResponseWriter = a.Damage.Spoil(r.Context(), w.ResponseWriter, a.removed)
	}
	if info.verb == "watch" {
		w.ResponseWriter = &eventWriter{ResponseWriter: w.ResponseWriter, meeting: m, request: r, info: info}
	}
	return false
}

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
		panic(http.ErrAbortHandler) // makes net/http break the connection
	}
	if a.Page != 0 {
		wire.Page(w, a.Page)
		return true
	}
	if a.Code == 0 {
		return false
	}
	if a.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
	err := a.status(info)
	if a.AsEvent && info.verb == "watch" {
		status := statusOf(err)
		writeJSON(w, http.StatusOK, metav1.WatchEvent{Type: "ERROR", Object: rawStatus(status)})
		return true
	}
	if a.Plain {
		http.Error(w, err.ErrStatus.Message, a.Code)
		return true
	}
	writeError(w, err)
	return true
}

// status is the error of the Fault's answer.
func (a *active) status(info requestInfo) *apierrors.StatusError {
	err := apierrors.NewGenericServerResponse(a.Code, info.verb, info.gvr.GroupResource(), info.name, a.Message, a.RetryAfter, true)
	if a.Message != "" {
		err.ErrStatus.Message = a.Message
	} else if err.ErrStatus.Message == "" {
		err.ErrStatus.Message = fmt.Sprintf("the simulated server answers %d", a.Code)
	}
	if a.Reason != "" {
		err.ErrStatus.Reason = a.Reason
	}
	return err
}

// eventWriter applies Faults to the events of a watch.
type eventWriter struct {
	http.ResponseWriter
	meeting *meeting
	request *http.Request
	info    requestInfo
}

// Unwrap lets http.ResponseController reach the connection.
func (e *eventWriter) Unwrap() http.ResponseWriter { return e.ResponseWriter }

func (e *eventWriter) Write(p []byte) (int, error) {
	a := e.meeting.faults.takeEvent(e.request, e.info, e.meeting.user)
	switch {
	case a == nil:
	case a.Silent:
		select {
		case <-a.removed:
		case <-e.request.Context().Done():
			return 0, e.request.Context().Err()
		}
	case a.CutEvents:
		_, _ = e.ResponseWriter.Write(p[:(len(p)+1)/2])
		_ = http.NewResponseController(e.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return e.ResponseWriter.Write(p)
}

// rawStatus encodes a Status as the object of an event.
func rawStatus(status metav1.Status) runtime.RawExtension {
	raw, err := json.Marshal(status)
	if err != nil {
		return runtime.RawExtension{} // a Status is always encodable
	}
	return runtime.RawExtension{Raw: raw}
}
