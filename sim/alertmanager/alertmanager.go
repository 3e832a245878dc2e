// Package alertmanager is a simulated Alertmanager: the part of its API (version 2) that shows alerts, and shows, makes and expires
// silences. It is an http.Handler; who serves it says where.
package alertmanager

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/sim/clock"
)

// retention is how long an expired silence stays known.
const retention = 120 * time.Hour

// Server is an Alertmanager. Its methods are safe for use by several goroutines.
type Server struct {
	clock  *clock.Clock
	random io.Reader

	mu       sync.Mutex
	alerts   []*alert
	silences []*silence
}

// New returns an Alertmanager without alerts and silences. Without a source of randomness it uses crypto/rand.
func New(clock *clock.Clock, random io.Reader) *Server {
	if random == nil {
		random = rand.Reader
	}
	return &Server{clock: clock, random: random}
}

type alert struct {
	labels      map[string]string
	annotations map[string]string
	since       time.Time
}

// silence is written as the API writes it.
type silence struct {
	ID        string    `json:"id"`
	Status    status    `json:"status"`
	UpdatedAt time.Time `json:"updatedAt"`
	Matchers  []matcher `json:"matchers"`
	StartsAt  time.Time `json:"startsAt"`
	EndsAt    time.Time `json:"endsAt"`
	CreatedBy string    `json:"createdBy"`
	Comment   string    `json:"comment"`
}

type status struct {
	State string `json:"state"`
}

type matcher struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	IsRegex bool   `json:"isRegex"`
	IsEqual *bool  `json:"isEqual"`
}

func (m matcher) matches(value string) bool {
	equal := m.IsEqual == nil || *m.IsEqual
	if !m.IsRegex {
		return (m.Value == value) == equal
	}
	re, err := regexp.Compile("^(?:" + m.Value + ")$")
	return err == nil && re.MatchString(value) == equal
}

func (s *silence) state(now time.Time) string {
	switch {
	case now.Before(s.StartsAt):
		return "pending"
	case now.Before(s.EndsAt):
		return "active"
	}
	return "expired"
}

func (s *silence) matches(labels map[string]string) bool {
	return !slices.ContainsFunc(s.Matchers, func(m matcher) bool { return !m.matches(labels[m.Name]) })
}

// Fire makes an alert fire, with the labels that tell it from others; one that fires already goes on.
func (s *Server) Fire(labels map[string]string, summary string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.alerts, func(a *alert) bool { return fingerprint(a.labels) == fingerprint(labels) }) {
		return
	}
	s.alerts = append(s.alerts, &alert{labels: labels, annotations: map[string]string{"summary": summary}, since: s.clock.Now()})
}

// Resolve ends an alert.
func (s *Server) Resolve(labels map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alerts = slices.DeleteFunc(s.alerts, func(a *alert) bool { return fingerprint(a.labels) == fingerprint(labels) })
}

// Silence makes a silence, as somebody would who does not use Lockstep. It returns the silence's ID.
func (s *Server) Silence(label, value, by, comment string, until time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	one := &silence{ID: s.id(), UpdatedAt: now, Matchers: []matcher{{Name: label, Value: value}}, StartsAt: now, EndsAt: until,
		CreatedBy: by, Comment: comment}
	s.silences = append(s.silences, one)
	return one.ID
}

func (s *Server) id() string {
	b := make([]byte, 16)
	if _, err := io.ReadFull(s.random, b); err != nil {
		panic(fmt.Sprintf("alertmanager: the source of randomness: %v", err)) // it must be endless
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// fingerprint tells alerts apart by their labels (FNV-1a, as the real one's).
func fingerprint(labels map[string]string) string {
	names := make([]string, 0, len(labels))
	for name := range labels {
		names = append(names, name)
	}
	slices.Sort(names)
	h := uint64(14695981039346656037)
	for _, name := range names {
		for _, b := range []byte(name + "\xff" + labels[name] + "\xff") {
			h = (h ^ uint64(b)) * 1099511628211
		}
	}
	return fmt.Sprintf("%016x", h)
}

// ServeHTTP answers the API's requests under /api/v2.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	s.silences = slices.DeleteFunc(s.silences, func(one *silence) bool { return now.Sub(one.EndsAt) > retention })
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v2/")
	id, one := strings.CutPrefix(path, "silence/")
	switch {
	case !ok:
		http.NotFound(w, r)
	case path == "alerts" && r.Method == http.MethodGet:
		answer(w, http.StatusOK, s.shown(now))
	case path == "silences" && r.Method == http.MethodGet:
		answer(w, http.StatusOK, s.listed(now, r.URL.Query().Get("expired") != "false"))
	case path == "silences" && r.Method == http.MethodPost:
		s.post(w, r, now)
	case one && r.Method == http.MethodGet:
		if found := s.find(id); found != nil {
			answer(w, http.StatusOK, found.at(now))
			return
		}
		w.WriteHeader(http.StatusNotFound)
	case one && r.Method == http.MethodDelete:
		s.expire(w, id, now)
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

func (s *Server) find(id string) *silence {
	i := slices.IndexFunc(s.silences, func(one *silence) bool { return one.ID == id })
	if i < 0 {
		return nil
	}
	return s.silences[i]
}

// at is the silence with its state.
func (s *silence) at(now time.Time) silence {
	out := *s
	out.Status.State = s.state(now)
	return out
}

func (s *Server) listed(now time.Time, expired bool) []silence {
	out := []silence{}
	for _, one := range s.silences {
		if shown := one.at(now); expired || shown.Status.State != "expired" {
			out = append(out, shown)
		}
	}
	return out
}

func (s *Server) shown(now time.Time) []any {
	out := []any{}
	for _, a := range s.alerts {
		by := []string{}
		for _, one := range s.silences {
			if one.state(now) == "active" && one.matches(a.labels) {
				by = append(by, one.ID)
			}
		}
		state := "active"
		if len(by) > 0 {
			state = "suppressed"
		}
		out = append(out, map[string]any{"annotations": a.annotations, "endsAt": now.Add(5 * time.Minute), "fingerprint": fingerprint(a.labels),
			"receivers": []any{map[string]any{"name": "HTTP-alerta"}}, "startsAt": a.since, "updatedAt": now, "labels": a.labels,
			"status": map[string]any{"state": state, "silencedBy": by, "inhibitedBy": []string{}, "mutedBy": []string{}}})
	}
	return out
}

// post makes a silence, or refuses as the real server does.
func (s *Server) post(w http.ResponseWriter, r *http.Request, now time.Time) {
	var one silence
	if err := json.NewDecoder(r.Body).Decode(&one); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"code": 400, "message": "parsing silence body failed: " + err.Error()})
		return
	}
	empty := true
	for _, m := range one.Matchers {
		if m.IsRegex {
			if _, err := regexp.Compile(m.Value); err != nil {
				answer(w, http.StatusBadRequest, "invalid silence: invalid label matcher: "+err.Error())
				return
			}
		}
		empty = empty && (m.IsEqual == nil || *m.IsEqual) && m.matches("")
	}
	switch {
	case empty:
		answer(w, http.StatusBadRequest, "invalid silence: at least one matcher must not match the empty string")
		return
	case !one.StartsAt.Before(one.EndsAt):
		answer(w, http.StatusBadRequest, "Failed to create silence: start time must be before end time")
		return
	case one.EndsAt.Before(now):
		answer(w, http.StatusBadRequest, "Failed to create silence: end time can't be in the past")
		return
	case one.ID != "":
		answer(w, http.StatusNotFound, "silence not found") // none is changed here
		return
	}
	if one.StartsAt.Before(now) {
		one.StartsAt = now
	}
	one.ID, one.UpdatedAt = s.id(), now
	s.silences = append(s.silences, &one)
	answer(w, http.StatusOK, map[string]string{"silenceID": one.ID})
}

// expire ends a silence. The answer has neither a body nor a type.
func (s *Server) expire(w http.ResponseWriter, id string, now time.Time) {
	one := s.find(id)
	if one == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch one.state(now) {
	case "pending":
		one.StartsAt, one.EndsAt, one.UpdatedAt = now, now, now
	case "active":
		one.EndsAt, one.UpdatedAt = now, now
	}
	w.Header()["Content-Type"] = nil
	w.WriteHeader(http.StatusOK)
}
