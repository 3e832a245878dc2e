package openstack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
)

// object is a JSON object.
type object = map[string]any

// login is a user of the cloud with a token and the endpoints of the services.
type login struct {
	name, authURL            string
	user, password           string
	project, domain          string
	userID, projectID, token string
	endpoints                map[string]string // the public ones, by type
}

var client = sync.OnceValue(func() *http.Client {
	return &http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
})

// newLogin reads a login of clouds.yaml and gets a token.
func newLogin(d *desk, name string) *login {
	d.Helper()
	auth, _, _, err := clouds.Parse(clouds.WithCloudsYAML(bytes.NewReader(d.suite.cloud.CloudsYAML)), clouds.WithCloudName(name))
	if err != nil {
		d.Fatalf("read cloud %s: %v", name, err)
	}
	l := &login{name: name, authURL: strings.TrimSuffix(auth.IdentityEndpoint, "/"), user: auth.Username, password: auth.Password,
		project: auth.TenantName, domain: cmp.Or(auth.DomainName, "Default"), endpoints: map[string]string{}}
	if auth.Scope != nil {
		l.project = cmp.Or(l.project, auth.Scope.ProjectName)
	}
	answer := d.authenticate(l, l.byPassword(l.password), l.toProject()).is(201)
	l.token = answer.header.Get("X-Subject-Token")
	l.userID, l.projectID = text(answer.at("token", "user", "id")), text(answer.at("token", "project", "id"))
	for _, service := range answer.list("token", "catalog") {
		for _, e := range list(service["endpoints"]) {
			if e["interface"] == "public" {
				l.endpoints[text(service["type"])] = strings.TrimSuffix(text(e["url"]), "/")
			}
		}
	}
	return l
}

// byPassword returns the part identity of a request for a token.
func (l *login) byPassword(password string) object {
	return object{"methods": []string{"password"},
		"password": object{"user": object{"name": l.user, "domain": object{"name": l.domain}, "password": password}}}
}

// toProject returns the part scope of a request for a token.
func (l *login) toProject() object {
	return object{"project": object{"name": l.project, "domain": object{"name": l.domain}}}
}

// authenticate asks Keystone for a token.
func (d *desk) authenticate(l *login, identity object, scope any) *answer {
	d.Helper()
	auth := object{"identity": identity}
	if scope != nil {
		auth["scope"] = scope
	}
	return d.send(d.Context(), http.MethodPost, l.authURL+"/auth/tokens", nil, object{"auth": auth})
}

// compute asks Nova as the administrator, at a microversion; "" asks for none.
func (d *desk) compute(microversion, method, path string, body any) *answer {
	d.Helper()
	return d.call(d.Context(), d.admin, "compute", microversion, method, path, body)
}

// service asks another service.
func (d *desk) service(as *login, service, method, path string, body any) *answer {
	d.Helper()
	return d.call(d.Context(), as, service, "", method, path, body)
}

// call asks a service from the login's catalog.
func (d *desk) call(ctx context.Context, as *login, service, microversion, method, path string, body any) *answer {
	d.Helper()
	base, known := as.endpoints[service]
	if !known {
		d.Fatalf("the catalog of %s has no %s", as.name, service)
	}
	if service == "identity" && !strings.HasSuffix(base, "/v3") {
		base += "/v3"
	}
	header := http.Header{"X-Auth-Token": {as.token}}
	if microversion != "" {
		header.Set("OpenStack-API-Version", "compute "+microversion)
	}
	return d.send(ctx, method, base+path, header, body)
}

// send makes a request and reads its answer. Any answer is returned; a missing answer ends the case.
func (d *desk) send(ctx context.Context, method, url string, header http.Header, body any) *answer {
	d.Helper()
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			d.Fatal(err)
		}
		sent = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, sent)
	if err != nil {
		d.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := client().Do(r)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		d.Fatalf("read the answer to %s %s: %v", method, url, err)
	}
	a := &answer{d: d, call: method + " " + url, status: response.StatusCode, header: response.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &a.body) // an answer that is not JSON has no fields
	return a
}

// answer is what a service answered.
type answer struct {
	d      *desk
	call   string
	status int
	header http.Header
	raw    string
	body   any
}

// is checks the status.
func (a *answer) is(status int) *answer {
	a.d.Helper()
	if a.status != status {
		a.d.Fatalf("%s: %d %s, want %d", a.call, a.status, a.raw, status)
	}
	return a
}

// errorKeys are the keys in which Nova wraps its errors.
var errorKeys = map[int]string{400: "badRequest", 403: "forbidden", 404: "itemNotFound", 406: "computeFault", 409: "conflictingRequest"}

// refused checks for an error of Nova, in exactly these words.
func (a *answer) refused(status int, format string, args ...any) {
	a.d.Helper()
	message := fmt.Sprintf(format, args...)
	want := object{errorKeys[status]: object{"code": float64(status), "message": message}}
	if a.status != status || !reflect.DeepEqual(a.body, want) {
		a.d.Errorf("%s: %d %s\nwant %d %v", a.call, a.status, a.raw, status, want)
	}
}

// refusedByKeystone checks for an error of Keystone, in exactly these words.
func (a *answer) refusedByKeystone(status int, title, message string) {
	a.d.Helper()
	want := object{"error": object{"code": float64(status), "title": title, "message": message}}
	if a.status != status || !reflect.DeepEqual(a.body, want) {
		a.d.Errorf("%s: %d %s\nwant %d %v", a.call, a.status, a.raw, status, want)
	}
}

// at returns a field of the answer; nil if it is missing.
func (a *answer) at(path ...string) any {
	value := a.body
	for _, name := range path {
		fields, _ := value.(object)
		value = fields[name]
	}
	return value
}

// list returns a list of objects in the answer; a missing list ends the case.
func (a *answer) list(path ...string) []object {
	a.d.Helper()
	if _, is := a.at(path...).([]any); !is {
		a.d.Fatalf("%s: %s has no list %s", a.call, a.raw, strings.Join(path, "."))
	}
	return list(a.at(path...))
}

// list returns a list of objects.
func list(value any) []object {
	items, _ := value.([]any)
	var objects []object
	for _, item := range items {
		if fields, is := item.(object); is {
			objects = append(objects, fields)
		}
	}
	return objects
}

// text returns a text, or "" for anything else.
func text(value any) string {
	s, _ := value.(string)
	return s
}

// number returns a number as it is written, or 0 for anything else.
func number(value any) int {
	n, _ := value.(float64)
	return int(n)
}

// field collects one field of objects.
func field(objects []object, name string) []string {
	values := []string{}
	for _, o := range objects {
		values = append(values, fmt.Sprint(o[name]))
	}
	return values
}
