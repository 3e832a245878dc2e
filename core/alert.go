package core

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Alertmanager is what StackLight's Alertmanager tells: the alerts that it has now, and the silences that have not expired
// (docs/mosk.md#alerts).
type Alertmanager struct {
	Place    AlertmanagerPlace
	Alerts   []Alert   // the gravest first, then by name and labels
	Silences []Silence // the one that ends first comes first
}

// Key implements Object: there is one of them.
func (*Alertmanager) Key() string { return "alertmanager" }

// AlertmanagerPlace is the Service of the MOSK cluster that Alertmanager is reached through.
type AlertmanagerPlace struct {
	Namespace string `yaml:"namespace"`
	Service   string `yaml:"service"`
	Port      string `yaml:"port"` // its number or its name; empty: as the Service says
	Path      string `yaml:"path"` // before /api/v2, where Alertmanager has a route prefix; may be empty
}

// API is the path of Alertmanager's API behind the proxy of the API server.
func (p AlertmanagerPlace) API(path string) string {
	name := p.Service
	if p.Port != "" {
		name += ":" + p.Port
	}
	prefix := strings.Trim(p.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return "/api/v1/namespaces/" + p.Namespace + "/services/" + name + "/proxy/" + prefix + "api/v2/" + path
}

// Alert is one alert that Alertmanager has.
type Alert struct {
	Fingerprint string
	Labels      map[string]string
	Summary     string
	Since       time.Time
	SilencedBy  []string // IDs of silences
	Inhibited   bool     // another alert keeps it from being told
}

// LabelAlert is the label that bears an alert's name, and LabelSeverity the one that says how grave it is.
const (
	LabelAlert    = "alertname"
	LabelSeverity = "severity"
)

// Name is the alert's name.
func (a Alert) Name() string { return a.Labels[LabelAlert] }

// Severity is how grave it is, by its own label; may be empty.
func (a Alert) Severity() string { return a.Labels[LabelSeverity] }

// Told tells whether somebody is notified of it: neither a silence nor another alert keeps it back.
func (a Alert) Told() bool { return len(a.SilencedBy) == 0 && !a.Inhibited }

// About are the labels besides name and severity, "label=value", sorted.
func (a Alert) About() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(a.Labels)) {
		if name != LabelAlert && name != LabelSeverity {
			out = append(out, name+"="+a.Labels[name])
		}
	}
	return out
}

// gravity orders severities; one that is not known comes after those that are.
var gravity = map[string]int{"critical": 0, "major": 1, "warning": 2, "minor": 3, "informational": 5, "info": 5, "none": 6}

func (a Alert) gravity() int {
	if n, known := gravity[strings.ToLower(a.Severity())]; known {
		return n
	}
	return 4
}

// CompareAlerts orders alerts: the gravest first, then by name, labels and fingerprint.
func CompareAlerts(a, b Alert) int {
	return cmp.Or(cmp.Compare(a.gravity(), b.gravity()), cmp.Compare(a.Name(), b.Name()), slices.Compare(a.About(), b.About()),
		cmp.Compare(a.Fingerprint, b.Fingerprint))
}

// CompareSilences orders silences by their ends.
func CompareSilences(a, b Silence) int {
	return cmp.Or(a.Ends.Compare(b.Ends), cmp.Compare(a.ID, b.ID))
}

// The states of a silence, as Alertmanager writes them.
const (
	SilenceActive  = "active"
	SilencePending = "pending" // it begins later
	SilenceExpired = "expired"
)

// Silence keeps the alerts that all its matchers match from being told.
type Silence struct {
	ID       string
	State    string
	Matchers []Matcher
	Starts   time.Time
	Ends     time.Time
	By       string
	Comment  string
}

// madeHere is the end of the comment of a silence that Lockstep has made.
const madeHere = " (made with Lockstep)"

// OwnComment is the comment of a silence that Lockstep makes.
func OwnComment(reason string) string { return reason + madeHere }

// Own tells whether Lockstep has made the silence, on whatever machine.
func (s Silence) Own() bool { return strings.HasSuffix(s.Comment, madeHere) }

// Reason is the comment without what Lockstep adds to it.
func (s Silence) Reason() string { return strings.TrimSuffix(s.Comment, madeHere) }

// Ref names the silence.
func (s Silence) Ref() Ref { return Ref{Kind: KindSilence, Name: ShortID(s.ID), UID: s.ID} }

// MatcherText is the matchers in one line, as amtool takes them.
func (s Silence) MatcherText() string { return MatchersText(s.Matchers) }

// Matcher is a condition on one label. A label that an alert lacks counts as empty.
type Matcher struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Regex bool   `json:"isRegex"` // Value is a regular expression for the whole value
	Equal bool   `json:"isEqual"` // false: it must not match
}

// String is the matcher as Alertmanager writes it: alertname=~"A|B".
func (m Matcher) String() string {
	sign := map[[2]bool]string{{false, true}: "=", {false, false}: "!=", {true, true}: "=~", {true, false}: "!~"}[[2]bool{m.Regex, m.Equal}]
	return m.Name + sign + strconv.Quote(m.Value)
}

// MatchersText is matchers in one line.
func MatchersText(all []Matcher) string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = m.String()
	}
	return strings.Join(texts, ", ")
}

// SameMatchers tells whether two lists have the same matchers, in whatever order: Alertmanager sorts them.
func SameMatchers(a, b []Matcher) bool {
	texts := func(list []Matcher) []string {
		out := make([]string, len(list))
		for i, m := range list {
			out[i] = m.String()
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(texts(a), texts(b))
}

// Same tells whether the silence is as it was: the same one, with the same matchers and end. Whether it is pending or active does not
// matter.
func (s Silence) Same(was Silence) bool {
	return s.ID == was.ID && s.State != SilenceExpired && s.Ends.Equal(was.Ends) && SameMatchers(s.Matchers, was.Matchers)
}

// Matching tells which of the alerts all the matchers match. An expression that is none matches nothing.
func Matching(all []Matcher, alerts []Alert) []Alert {
	tests := make([]func(string) bool, len(all))
	for i, m := range all {
		tests[i] = m.test()
	}
	var out []Alert
	for _, a := range alerts {
		fits := len(all) > 0
		for i, m := range all {
			fits = fits && tests[i](a.Labels[m.Name])
		}
		if fits {
			out = append(out, a)
		}
	}
	return out
}

// Matches tells whether the matcher matches a label's value.
func (m Matcher) Matches(value string) bool { return m.test()(value) }

func (m Matcher) test() func(string) bool {
	if !m.Regex {
		return func(value string) bool { return (value == m.Value) == m.Equal }
	}
	re, err := regexp.Compile("^(?:" + m.Value + ")$")
	if err != nil {
		return func(string) bool { return false }
	}
	return func(value string) bool { return re.MatchString(value) == m.Equal }
}

// matchesNothingSet tells whether a label that is not there fits. Alertmanager counts only matchers with = and =~
// (its validateSilence).
func (m Matcher) matchesNothingSet() bool { return m.Equal && m.Matches("") }

const (
	// mostMatchers and mostMatcherText bound what an operator types; Alertmanager has no such limits of its own.
	mostMatchers    = 16
	mostMatcherText = 4096
)

// labelName is what Prometheus takes for the name of a label.
var labelName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// CheckMatchers says why Alertmanager would not take the matchers of a silence; nil when it would.
func CheckMatchers(all []Matcher) error {
	if len(all) == 0 {
		return fmt.Errorf("there is no matcher")
	}
	if len(all) > mostMatchers {
		return fmt.Errorf("there are %d matchers, at most %d can be said here", len(all), mostMatchers)
	}
	empty := true
	for _, m := range all {
		if !labelName.MatchString(m.Name) {
			return fmt.Errorf("%q is no name of a label", m.Name)
		}
		if m.Regex {
			if _, err := regexp.Compile("^(?:" + m.Value + ")$"); err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
		empty = empty && m.matchesNothingSet()
	}
	if empty {
		return fmt.Errorf("each matcher fits a label that is not there: Alertmanager refuses that")
	}
	return nil
}

// ParseMatchers reads matchers as amtool takes them, with commas between them: alertname=~"A|B", node!=cmp-1. Braces around all may be
// left out, and so may quotes around a value without a comma.
func ParseMatchers(text string) ([]Matcher, error) {
	if len(text) > mostMatcherText {
		return nil, fmt.Errorf("it is longer than %d characters", mostMatcherText)
	}
	rest := strings.TrimSpace(text)
	if strings.HasPrefix(rest, "{") && !strings.HasSuffix(rest, "}") {
		return nil, fmt.Errorf("the brace is not closed: } is missing at the end")
	}
	if strings.HasPrefix(rest, "{") && strings.HasSuffix(rest, "}") {
		rest = strings.TrimSpace(rest[1 : len(rest)-1])
	}
	var out []Matcher
	for rest != "" {
		at := strings.IndexAny(rest, "=!")
		if at < 0 {
			return nil, fmt.Errorf("%q: want label=value", rest)
		}
		m := Matcher{Name: strings.TrimSpace(rest[:at]), Equal: rest[at] == '='}
		if rest = rest[at+1:]; !m.Equal && !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "~") {
			return nil, fmt.Errorf("%s: want =, !=, =~ or !~", m.Name)
		}
		if m.Regex = strings.HasPrefix(rest, "~"); m.Regex || !m.Equal {
			rest = rest[1:]
		}
		var err error
		if m.Value, rest, err = matcherValue(strings.TrimSpace(rest)); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		out = append(out, m)
	}
	return out, CheckMatchers(out)
}

// matcherValue reads one value, and the comma behind it.
func matcherValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, ",")
		if value = strings.TrimSpace(value); strings.ContainsAny(value, `"{}`) {
			return "", "", fmt.Errorf("quotes must be around the whole value")
		}
		return value, strings.TrimSpace(rest), nil
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", fmt.Errorf("the quotes are not closed, or \\ is not written \\\\")
	}
	if value, err = strconv.Unquote(quoted); err != nil {
		return "", "", fmt.Errorf("read the quoted value: %w", err)
	}
	rest = strings.TrimSpace(text[len(quoted):])
	if after, comma := strings.CutPrefix(rest, ","); comma {
		return value, strings.TrimSpace(after), nil
	}
	if rest != "" {
		return "", "", fmt.Errorf("want a comma before %q", rest)
	}
	return value, "", nil
}

// NotNamed matches all alerts but those of the names.
func NotNamed(names ...string) Matcher {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return Matcher{Name: LabelAlert, Value: strings.Join(quoted, "|"), Regex: true}
}
