package kube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"lockstep/core"
)

// StackLight's Alertmanager is asked through the proxy of the API server, with the operator's own login (docs/mosk.md#alerts).

const (
	// AlertmanagerNamespace and AlertmanagerService say where StackLight has it, unless the configuration says otherwise.
	AlertmanagerNamespace = "stacklight"
	AlertmanagerService   = "prometheus-alertmanager"

	// alertRights is the manifest that gives the rights.
	alertRights = "deploy/rbac-alerts.yaml"

	// mostAlertBytes is how much of an answer is read. An alert takes about a kilobyte; a cluster has a few thousand at the worst.
	mostAlertBytes = 8 << 20
	// mostAlertText is how much of one text is kept.
	mostAlertText = 1 << 10
)

var gvrServices = schema.GroupVersionResource{Version: "v1", Resource: "services"}

// usualAlertPorts are the ports of Alertmanager's Service that the rights are for, where the configuration names none.
var usualAlertPorts = []string{"9093", "80"}

// AlertmanagerPermissions are what reading alerts and silences, and making and expiring silences, needs: reading the Service for its
// port, where none is given, and what the proxy of the API server asks for at each port.
func AlertmanagerPermissions(p core.AlertmanagerPlace) []Permission {
	ports := []string{p.Port}
	var needs []Permission
	if p.Port == "" {
		ports = usualAlertPorts
		needs = append(needs, Permission{"get", "", "services", p.Namespace, p.Service})
	}
	for _, port := range ports {
		for _, verb := range []string{"get", "create", "delete"} {
			needs = append(needs, Permission{verb, "", "services/proxy", p.Namespace, p.Service + ":" + port})
		}
	}
	return needs
}

// alertAPI asks one Alertmanager.
type alertAPI struct {
	client *Client
	place  core.AlertmanagerPlace // without a port: it is read from the Service
}

// located is the place with its port.
func (a *alertAPI) located(ctx context.Context) (core.AlertmanagerPlace, error) {
	p := a.place
	if p.Port != "" {
		return p, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	call := "get service " + p.Service + " in namespace " + p.Namespace
	o, err := a.client.resource(gvrServices, p.Namespace).Get(ctx, p.Service, metav1.GetOptions{})
	if err != nil {
		return p, alertError(err, call)
	}
	ports := fields(o.Object).at("spec").objects("ports")
	// StackLight's Service may have further ports, for the members of Alertmanager's cluster.
	if i := slices.IndexFunc(ports, isAlertPort); i >= 0 && len(ports) > 1 {
		ports = ports[i : i+1]
	}
	if len(ports) == 1 {
		if n, ok := ports[0].number("port"); ok && n > 0 && n < 1<<16 {
			p.Port = strconv.Itoa(n)
			return p, nil
		}
	}
	return p, &core.APIError{Kind: core.ErrConfiguration, Server: core.ServerAlertmanager, Call: call,
		Message: fmt.Sprintf("which of its %d ports is Alertmanager's it does not say", len(ports)),
		Remedy:  "Say alertmanager.port in the configuration."}
}

// isAlertPort tells whether a port of the Service is the one of Alertmanager's API: by the port of its container, or by its name.
func isAlertPort(port fields) bool {
	behind, _ := port.number("targetPort")
	front, _ := port.number("port")
	name := port.text("name")
	return behind == 9093 || front == 9093 || port.text("targetPort") == "http" || name == "http" || name == "web" || name == "http-web"
}

// alertError says in core's words why a call to Alertmanager failed.
func alertError(err error, call string) *core.APIError {
	e := *Describe(err, call)
	e.Server = core.ServerAlertmanager
	if e.Kind == core.ErrForbidden {
		e.Remedy = "Ask an administrator to apply " + alertRights + "."
	}
	return &e
}

// errTooMuch is an answer that is longer than what is read.
var errTooMuch = errors.New("the answer is longer than " + strconv.Itoa(mostAlertBytes>>20) + " MiB")

type emptyAnswerKey struct{}

// mayBeEmpty marks a write whose answer has neither a body nor a type: Alertmanager answers so to an expired silence.
func mayBeEmpty(ctx context.Context) bool { return ctx.Value(emptyAnswerKey{}) == true }

// call asks for a path of Alertmanager's API. The body of the answer is nil when it has none.
func (a *alertAPI) call(ctx context.Context, place core.AlertmanagerPlace, method, path string, query url.Values,
	body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ctx = context.WithValue(ctx, emptyAnswerKey{}, len(body) == 0)
	s := a.client.session.Load()
	base, _, err := rest.DefaultServerUrlFor(s.config)
	if err != nil {
		return nil, fmt.Errorf("make the URL of %s: %w", path, err)
	}
	u := base.JoinPath(place.API(path))
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a request for %s: %w", path, err)
	}
	req.Header.Set("User-Agent", s.config.UserAgent)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, mostAlertBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer to %s: %w", path, err)
	case len(answer) > mostAlertBytes:
		return nil, errTooMuch
	case resp.StatusCode >= http.StatusBadRequest:
		var said string // Alertmanager's own errors are a text, those of a request that does not fit its API are an object
		var about struct {
			Kind, Message string
		}
		if json.Unmarshal(answer, &said) == nil {
			answer = []byte(said)
		} else if json.Unmarshal(answer, &about) == nil && about.Kind == "" && about.Message != "" {
			answer = []byte(about.Message)
		}
		return nil, statusError(resp.StatusCode, answer[:min(len(answer), maxMessage)])
	case resp.StatusCode >= http.StatusMultipleChoices:
		return nil, &strangeError{resp.Status}
	}
	return answer, nil
}

// get reads a path of the API into a value.
func (a *alertAPI) get(ctx context.Context, place core.AlertmanagerPlace, path string, query url.Values, into any) *core.APIError {
	doing := "get " + path + " of Alertmanager"
	body, err := a.call(ctx, place, http.MethodGet, path, query, nil)
	if err == nil {
		var odd *json.UnmarshalTypeError
		if err = json.Unmarshal(body, into); errors.As(err, &odd) && odd.Field != "" {
			err = nil // a field of an unexpected type counts as empty, as everywhere
		}
	}
	if err == nil {
		return nil
	}
	e := alertError(err, doing)
	if errors.Is(err, errTooMuch) {
		e.Kind = core.ErrInvalid
	}
	return e
}

// read reads all alerts and silences.
func (a *alertAPI) read(ctx context.Context) (*core.Alertmanager, error) {
	place, err := a.located(ctx)
	if err != nil {
		return nil, err
	}
	out := &core.Alertmanager{Place: place}
	var alerts []alertAnswer
	if e := a.get(ctx, place, "alerts", url.Values{"active": {"true"}, "silenced": {"true"}, "inhibited": {"true"}}, &alerts); e != nil {
		return nil, ofAlertmanager(e, "alerts")
	}
	for _, o := range alerts {
		out.Alerts = append(out.Alerts, o.alert())
	}
	slices.SortFunc(out.Alerts, core.CompareAlerts)
	if out.Silences, err = a.silences(ctx, place); err != nil {
		return nil, err
	}
	return out, nil
}

// ofAlertmanager says what is wrong when the Service is there and answers that it does not know the API.
func ofAlertmanager(e *core.APIError, path string) *core.APIError {
	if e.Kind == core.ErrNotFound && !noService(e) {
		e.Kind, e.Remedy = core.ErrConfiguration, "What answers there has no /api/v2/"+path+
			": say alertmanager.path or alertmanager.port in the configuration."
	}
	return e
}

// noService tells whether a call failed because the Service is not there: the API server says so itself.
func noService(e *core.APIError) bool {
	var status apierrors.APIStatus
	if e.Kind != core.ErrNotFound || !errors.As(e.Err, &status) {
		return false
	}
	d := status.Status().Details
	return d != nil && (d.Kind == gvrServices.Resource || d.Kind == "namespaces")
}

// silences reads those that have not expired.
func (a *alertAPI) silences(ctx context.Context, place core.AlertmanagerPlace) ([]core.Silence, error) {
	var all []silenceAnswer
	// Older versions do not know expired, and list them as well.
	if e := a.get(ctx, place, "silences", url.Values{"expired": {"false"}}, &all); e != nil {
		return nil, ofAlertmanager(e, "silences")
	}
	var out []core.Silence
	for _, o := range all {
		if s := o.silence(); s.State != core.SilenceExpired {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, core.CompareSilences)
	return out, nil
}

// alertAnswer is an alert as Alertmanager writes it. Of its times only the start is kept: the others change with every evaluation.
type alertAnswer struct {
	Fingerprint string
	Labels      map[string]string
	Annotations map[string]string
	StartsAt    string
	Status      struct {
		SilencedBy  []string
		InhibitedBy []string
	}
}

func (o alertAnswer) alert() core.Alert {
	a := core.Alert{Fingerprint: o.Fingerprint, Labels: map[string]string{}, Since: alertTime(o.StartsAt).UTC().Truncate(time.Second),
		SilencedBy: o.Status.SilencedBy, Inhibited: len(o.Status.InhibitedBy) > 0,
		Summary: kept(cmp.Or(o.Annotations["summary"], o.Annotations["description"], o.Annotations["message"]))}
	for name, value := range o.Labels {
		a.Labels[name] = core.Redact(value) // whole: matchers look at it
	}
	return a
}

// kept is a text without secrets, short enough to keep.
func kept(text string) string {
	text = core.Redact(text)
	if len(text) > mostAlertText {
		text = strings.ToValidUTF8(text[:mostAlertText], "") + "…"
	}
	return text
}

// silenceAnswer is a silence as Alertmanager writes it.
type silenceAnswer struct {
	ID       string
	Status   struct{ State string }
	Matchers []struct {
		Name, Value string
		IsRegex     bool
		IsEqual     *bool // versions before 0.22 do not have it
	}
	StartsAt, EndsAt   string
	CreatedBy, Comment string
}

// alertTime reads a time of Alertmanager's; zero where there is none.
func alertTime(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

func (o silenceAnswer) silence() core.Silence {
	s := core.Silence{ID: o.ID, State: o.Status.State, Starts: alertTime(o.StartsAt).UTC(), Ends: alertTime(o.EndsAt).UTC(),
		By: kept(o.CreatedBy), Comment: kept(o.Comment)}
	for _, m := range o.Matchers {
		s.Matchers = append(s.Matchers, core.Matcher{Name: m.Name, Value: core.Redact(m.Value), Regex: m.IsRegex,
			Equal: m.IsEqual == nil || *m.IsEqual})
	}
	return s
}
