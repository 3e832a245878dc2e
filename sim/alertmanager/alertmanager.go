// Package alertmanager is a simulated Alertmanager: the part of its API (version 2) that shows alerts, and shows, makes and expires
// silences. It is an http.Handler; who serves it says where.
package alertmanager

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
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
	UpdatedAt stamp     `json:"updatedAt"`
	Comment   string    `json:"comment"`
	CreatedBy string    `json:"createdBy"`
	EndsAt    stamp     `json:"endsAt"`
	Matchers  []matcher `json:"matchers"`
	StartsAt  stamp     `json:"startsAt"`
}

// stamp is a time as the API writes it.
type stamp struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (s stamp) MarshalJSON() ([]byte, error) {
	return []byte(s.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

type status struct {
	State string `json:"state"`
}

type matcher struct {
	IsEqual bool   `json:"isEqual"`
	IsRegex bool   `json:"isRegex"`
	Name    string `json:"name"`
	Value   string `json:"value"`
}

// UnmarshalJSON implements json.Unmarshaler: a matcher that does not say is one for equal values.
func (m *matcher) UnmarshalJSON(raw []byte) error {
	type plain matcher
	read := plain{IsEqual: true}
	if err := json.Unmarshal(raw, &read); err != nil {
		return err
	}
	*m = matcher(read)
	return nil
}

func (m matcher) matches(value string) bool {
	if !m.IsRegex {
		return (m.Value == value) == m.IsEqual
	}
	re, err := regexp.Compile("^(?:" + m.Value + ")$")
	return err == nil && re.MatchString(value) == m.IsEqual
}

func (s *silence) state(now time.Time) string {
	switch {
	case now.Before(s.StartsAt.Time):
		return "pending"
	case now.Before(s.EndsAt.Time):
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
	one := &silence{ID: s.id(), UpdatedAt: stamp{now}, Matchers: []matcher{{Name: label, Value: value, IsEqual: true}}, StartsAt: stamp{now},
		EndsAt: stamp{until}, CreatedBy: by, Comment: comment}
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

// methods are what the paths take; a silence's path ends with its ID.
var methods = map[string][]string{"alerts": {http.MethodPost, http.MethodGet}, "silences": {http.MethodPost, http.MethodGet},
	"silence": {http.MethodDelete, http.MethodGet}}

// ServeHTTP answers the API's requests under /api/v2.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	s.silences = slices.DeleteFunc(s.silences, func(one *silence) bool { return now.Sub(one.EndsAt.Time) > retention })
	path, ok := strings.CutPrefix(r.URL.Path, "/api/v2/")
	if !ok {
		http.NotFound(w, r)
		return
	}
	name, id, one := strings.Cut(path, "/")
	takes, known := methods[name]
	switch {
	case !known || one != (name == "silence"):
		refuse(w, http.StatusNotFound, http.StatusNotFound, "path "+r.URL.Path+" was not found")
	case !slices.Contains(takes, r.Method):
		refuse(w, http.StatusMethodNotAllowed, http.StatusMethodNotAllowed,
			"method "+r.Method+" is not allowed, but ["+strings.Join(takes, ",")+"] are")
	case one && !uuid.MatchString(id):
		refuse(w, http.StatusUnprocessableEntity, wrongType, fmt.Sprintf("silenceID in path must be of type uuid: %q", id))
	case name == "alerts" && r.Method == http.MethodPost:
		w.WriteHeader(http.StatusNotImplemented) // alerts fire by Fire
	case name == "alerts":
		answer(w, http.StatusOK, s.shown(now))
	case name == "silences" && r.Method == http.MethodPost:
		s.post(w, r, now)
	case name == "silences":
		answer(w, http.StatusOK, s.listed(now))
	case r.Method == http.MethodDelete:
		s.expire(w, id, now)
	default:
		if found := s.find(id); found != nil {
			answer(w, http.StatusOK, found.at(now))
			return
		}
		empty(w, http.StatusNotFound)
	}
}

// uuid is what an ID of a silence looks like.
var uuid = regexp.MustCompile(`(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)

// The codes of requests that do not fit the API's description.
const (
	wrongType = 601
	missing   = 602
	tooFew    = 612
)

// empty is an answer that has neither a body nor a type.
func empty(w http.ResponseWriter, code int) {
	w.Header()["Content-Type"] = nil
	w.WriteHeader(code)
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the client has gone
}

// refuse answers that a request does not fit the API's description.
func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	raw, _ := json.Marshal(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, message}) // of a number and a text, it cannot fail
	_, _ = w.Write(raw) // the client has gone
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

// listed are all silences, the expired ones too, whatever was asked.
func (s *Server) listed(now time.Time) []silence {
	out := []silence{}
	for _, one := range s.silences {
		out = append(out, one.at(now))
	}
	states := []string{"active", "pending", "expired"}
	slices.SortStableFunc(out, func(a, b silence) int {
		return slices.Index(states, a.Status.State) - slices.Index(states, b.Status.State)
	})
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
		out = append(out, map[string]any{"annotations": a.annotations, "endsAt": stamp{now.Add(5 * time.Minute)},
			"fingerprint": fingerprint(a.labels), "receivers": []any{map[string]any{"name": "HTTP-alerta"}}, "startsAt": stamp{a.since},
			"updatedAt": stamp{now}, "labels": a.labels,
			"status": map[string]any{"state": state, "silencedBy": by, "inhibitedBy": []string{}, "mutedBy": []string{}}})
	}
	return out
}

// post makes a silence, or refuses as the real server does.
func (s *Server) post(w http.ResponseWriter, r *http.Request, now time.Time) {
	one := struct {
		silence
		Comment   *string `json:"comment"`
		CreatedBy *string `json:"createdBy"`
	}{}
	kind := r.Header.Get("Content-Type")
	if kind == "" {
		kind = "application/octet-stream"
	}
	if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, http.StatusUnsupportedMediaType,
			fmt.Sprintf("unsupported media type %q, only [application/json] are allowed", kind))
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&one); err != nil {
		refuse(w, http.StatusBadRequest, http.StatusBadRequest, `parsing silence body from "" failed, because `+err.Error())
		return
	}
	switch {
	case one.Comment == nil:
		refuse(w, http.StatusUnprocessableEntity, missing, "comment in body is required")
		return
	case one.CreatedBy == nil:
		refuse(w, http.StatusUnprocessableEntity, missing, "createdBy in body is required")
		return
	case len(one.Matchers) == 0:
		refuse(w, http.StatusUnprocessableEntity, tooFew, "matchers in body should have at least 1 items")
		return
	}
	made := one.silence
	made.Comment, made.CreatedBy = *one.Comment, *one.CreatedBy
	everything := true
	for i, m := range made.Matchers {
		if m.IsRegex {
			if _, err := regexp.Compile(m.Value); err != nil {
				answer(w, http.StatusBadRequest, fmt.Sprintf("invalid silence: invalid label matcher %d: invalid regular expression %q: %v", i,
					m.Value, err))
				return
			}
		}
		everything = everything && m.IsEqual && m.matches("") // of what must not match, the real one asks nothing
	}
	switch {
	case everything:
		answer(w, http.StatusBadRequest, "invalid silence: at least one matcher must not match the empty string")
		return
	case !made.StartsAt.Before(made.EndsAt.Time):
		answer(w, http.StatusBadRequest, "Failed to create silence: start time must be before end time")
		return
	case made.EndsAt.Before(now):
		answer(w, http.StatusBadRequest, "Failed to create silence: end time can't be in the past")
		return
	case made.ID != "":
		answer(w, http.StatusNotFound, "silence not found") // none is changed here
		return
	}
	if made.StartsAt.Before(now) {
		made.StartsAt = stamp{now}
	}
	made.ID, made.UpdatedAt = s.id(), stamp{now}
	s.silences = append(s.silences, &made)
	answer(w, http.StatusOK, map[string]string{"silenceID": made.ID})
}

// expire ends a silence.
func (s *Server) expire(w http.ResponseWriter, id string, now time.Time) {
	one := s.find(id)
	if one == nil {
		empty(w, http.StatusNotFound)
		return
	}
	switch one.state(now) {
	case "pending":
		one.StartsAt, one.EndsAt, one.UpdatedAt = stamp{now}, stamp{now}, stamp{now}
	case "active":
		one.EndsAt, one.UpdatedAt = stamp{now}, stamp{now}
	}
	empty(w, http.StatusOK)
}
