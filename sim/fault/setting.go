package fault

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Setting is one fault of one server with its parameters.
type Setting struct {
	Server Server
	Kind   string // Kind.ID

	Rate     float64       // the share of affected requests, drawn with the switchboard's seed; 0 means all
	Count    int           // over after this many requests; 0: never
	For      time.Duration // over after this time on the cloud's clock; 0: never
	ForReal  time.Duration // over after this real time; 0: never
	Of       Operation     // which requests are affected
	Resource string        // only this Kubernetes resource, by its plural name; empty: any
	Path     string        // only requests with this text in their path; empty: any
	Everyone bool          // the cloud's own controllers are affected, too

	Latency    time.Duration // until an answer begins, real time
	RetryAfter time.Duration // what a client is asked to wait, whole seconds
	Bytes      int           // of a slow answer, per second
	Every      time.Duration // between two ends of watches, real time
	Skew       time.Duration // how far a clock is ahead; negative: behind
	Lifetime   time.Duration // of a token, real time
}

// Planned is a fault that is scheduled in a scenario.
type Planned struct {
	Setting
	From  time.Duration // after the start, on the cloud's clock
	Until time.Duration // after the start; 0: until it is switched off by hand
}

// longest is the longest time that a parameter takes.
const longest = 30 * 24 * time.Hour

// parameter is one parameter: how to read it and how to write it.
type parameter struct {
	name string
	note string // which values it takes
	read func(s *Setting, value string) error
	text func(s Setting) string // empty if it is not set
}

func duration(name, note string, least time.Duration, of func(*Setting) *time.Duration) parameter {
	return parameter{name, note,
		func(s *Setting, value string) error {
			d, err := time.ParseDuration(value)
			if seconds, notSeconds := strconv.Atoi(value); notSeconds == nil {
				d, err = time.Duration(seconds)*time.Second, nil
			}
			if err != nil || d < least || d > longest {
				return errors.New("want " + note)
			}
			*of(s) = d
			return nil
		},
		func(s Setting) string {
			d := *of(&s)
			if d == 0 {
				return ""
			}
			text := d.String()
			if d%time.Minute == 0 {
				text = strings.TrimSuffix(text, "0s")
			}
			if d%time.Hour == 0 {
				text = strings.TrimSuffix(text, "0m")
			}
			return text
		}}
}

func number(name, note string, of func(*Setting) *int) parameter {
	return parameter{name, note,
		func(s *Setting, value string) error {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > 1_000_000 {
				return errors.New("want " + note)
			}
			*of(s) = n
			return nil
		},
		func(s Setting) string {
			if n := *of(&s); n != 0 {
				return strconv.Itoa(n)
			}
			return ""
		}}
}

func word(name, note string, of func(*Setting) *string) parameter {
	return parameter{name, note,
		func(s *Setting, value string) error {
			if value == "" || strings.ContainsAny(value, " \t,") {
				return errors.New("want " + note)
			}
			*of(s) = value
			return nil
		},
		func(s Setting) string { return *of(&s) }}
}

// parameters lists all parameters; the first ones are the values of single kinds.
var parameters = []parameter{
	duration("latency", "a time such as 2s", time.Millisecond, func(s *Setting) *time.Duration { return &s.Latency }),
	duration("retry-after", "seconds, such as 30", time.Second, func(s *Setting) *time.Duration { return &s.RetryAfter }),
	number("bytes", "a number of bytes per second", func(s *Setting) *int { return &s.Bytes }),
	duration("every", "a time such as 2s", 100*time.Millisecond, func(s *Setting) *time.Duration { return &s.Every }),
	duration("skew", "a time such as 5m or -90s", -longest, func(s *Setting) *time.Duration { return &s.Skew }),
	duration("lifetime", "a time such as 5s", 100*time.Millisecond, func(s *Setting) *time.Duration { return &s.Lifetime }),
	{"of", "reads, writes or watches",
		func(s *Setting, value string) error {
			s.Of = Operation(value)
			if !slices.Contains([]Operation{Reads, Writes, Watches}, s.Of) {
				return errors.New("want reads, writes or watches")
			}
			return nil
		},
		func(s Setting) string { return string(s.Of) }},
	word("resource", "the plural name of a Kubernetes resource, such as nodes", func(s *Setting) *string { return &s.Resource }),
	word("path", "a part of a path, such as /servers/", func(s *Setting) *string { return &s.Path }),
	{"rate", "a share above 0, up to 1",
		func(s *Setting, value string) error {
			rate, err := strconv.ParseFloat(value, 64)
			if err != nil || !(rate > 0 && rate <= 1) {
				return errors.New("want a share above 0, up to 1")
			}
			s.Rate = rate
			return nil
		},
		func(s Setting) string {
			if s.Rate == 0 {
				return ""
			}
			return strconv.FormatFloat(s.Rate, 'g', -1, 64)
		}},
	number("count", "a number of requests", func(s *Setting) *int { return &s.Count }),
	duration("for", "a time on the cloud's clock, such as 10m", time.Second, func(s *Setting) *time.Duration { return &s.For }),
	duration("for-real", "a time on your clock, such as 10s", time.Millisecond, func(s *Setting) *time.Duration { return &s.ForReal }),
}

// selectors are the parameters that select the affected requests; a fault of the whole server has none.
var selectors = []string{"of", "resource", "path", "rate", "count"}

// Parameters returns the names of the parameters that the fault takes on the server, and the values that each takes.
func (k Kind) Parameters(s Server) (names, notes []string) {
	for _, p := range parameters {
		if k.takes(s, p.name) {
			names, notes = append(names, p.name), append(notes, p.note)
		}
	}
	if !k.always {
		names, notes = append(names, "everyone"), append(notes, "no value: the cloud's own controllers meet it, too")
	}
	return names, notes
}

func (k Kind) takes(s Server, name string) bool {
	switch {
	case name == k.Value || slices.Contains(k.parameters, name) || name == "for" || name == "for-real":
		return true
	case k.always || !slices.Contains(selectors, name):
		return false
	case name == "of":
		return k.standard.Of == Anything
	case name == "resource":
		return s.IsKubernetes()
	case name == "path":
		return !s.IsKubernetes()
	}
	return true
}

// Parse reads a setting in its written form: SERVER:FAULT[=VALUE][,PARAMETER[=VALUE]]...
func Parse(text string) (Setting, error) {
	parts := strings.Split(strings.TrimSpace(text), ",")
	server, rest, found := strings.Cut(parts[0], ":")
	if !found {
		return Setting{}, fmt.Errorf("fault %q: want SERVER:FAULT, such as kubernetes:503", text)
	}
	if !slices.Contains(Servers(), Server(server)) {
		return Setting{}, fmt.Errorf("fault %q: there is no server %q; there are %s", text, server, join(Servers()))
	}
	id, value, hasValue := strings.Cut(rest, "=")
	kind, known := Find(id)
	if !known {
		return Setting{}, fmt.Errorf("fault %q: there is no fault %q; there are %s", text, id, strings.Join(ids(Server(server)), ", "))
	}
	if !kind.Has(Server(server)) {
		return Setting{}, fmt.Errorf("fault %q: %s has no fault %s; %s have it", text, server, id, join(kind.Servers))
	}
	s := kind.Standard(Server(server))
	if hasValue {
		if kind.Value == "" {
			return Setting{}, fmt.Errorf("fault %q: %s takes no value", text, id)
		}
		if err := s.set(kind, kind.Value, value); err != nil {
			return Setting{}, fmt.Errorf("fault %q: %w", text, err)
		}
	}
	for _, part := range parts[1:] {
		name, value, hasValue := strings.Cut(strings.TrimSpace(part), "=")
		switch {
		case name == "everyone" && !hasValue && !kind.always:
			s.Everyone = true
			continue
		case !hasValue:
			return Setting{}, fmt.Errorf("fault %q: want PARAMETER=VALUE, not %q", text, part)
		}
		if err := s.set(kind, name, value); err != nil {
			return Setting{}, fmt.Errorf("fault %q: %w", text, err)
		}
	}
	return s, nil
}

func (s *Setting) set(kind Kind, name, value string) error {
	for _, p := range parameters {
		if p.name != name || !kind.takes(s.Server, name) {
			continue
		}
		if err := p.read(s, value); err != nil {
			return fmt.Errorf("%s=%s: %w", name, value, err)
		}
		return nil
	}
	names, _ := kind.Parameters(s.Server)
	return fmt.Errorf("%s of %s has no parameter %q; it has %s", kind.ID, s.Server, name, strings.Join(names, ", "))
}

// String is the setting in its written form, without default values.
func (s Setting) String() string {
	text := string(s.Server) + ":" + s.Kind
	if details := s.Details(); details != "" {
		text += "," + details
	}
	return text
}

// Details are the parameters in their written form; empty if there are none.
func (s Setting) Details() string {
	kind, _ := Find(s.Kind)
	var parts []string
	for _, p := range parameters {
		if value := p.text(s); value != "" && kind.takes(s.Server, p.name) {
			parts = append(parts, p.name+"="+value)
		}
	}
	if s.Everyone {
		parts = append(parts, "everyone")
	}
	return strings.Join(parts, ",")
}

func ids(s Server) []string {
	var all []string
	for _, k := range catalogue {
		if k.Has(s) {
			all = append(all, k.ID)
		}
	}
	return all
}

func join(servers []Server) string {
	names := make([]string, len(servers))
	for i, s := range servers {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}
