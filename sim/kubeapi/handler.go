package kubeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxBody is the largest body that the real server accepts.
const maxBody = 3 << 20

// call is one request on its way through the server.
type call struct {
	*http.Request
	w     http.ResponseWriter
	info  requestInfo
	query url.Values // shared with the journal: read only
	user  User
	body  []byte
	// contentType is the media type of the body, without its parameters.
	contentType string
	form        form
	applied     bool // it applies a manifest: the managers of its fields are already set
}

// ServeHTTP answers one request: authentication, faults, authorisation, then the request itself.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	info := readRequest(r, query)
	entry := Request{
		Time: s.now(), UserAgent: r.UserAgent(), Verb: info.verb, Group: info.gvr.Group, Resource: info.gvr.Resource,
		Subresource: info.sub, Namespace: info.namespace, Name: info.name, Path: r.URL.Path, Query: query,
		ContentType: r.Header.Get("Content-Type"), DryRun: slices.Contains(query["dryRun"], metav1.DryRunAll),
	}
	logged := s.options.LogReads || entry.Write() && !strings.HasPrefix(info.gvr.Resource, "selfsubject")
	recorder := &answer{ResponseWriter: w, tell: func(code int) {
		if logged {
			entry.Code = code
			s.journal.add(entry)
		}
	}}
	defer recorder.once(0) // the connection was cut

	c := &call{Request: r, w: recorder, info: info, query: query}
	c.contentType, _, _ = mime.ParseMediaType(entry.ContentType)
	if r.Body != nil && r.Method != http.MethodGet {
		body, err := io.ReadAll(http.MaxBytesReader(recorder, r.Body, maxBody))
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			writeError(recorder, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody)))
			return
		} else if err != nil {
			writeError(recorder, apierrors.NewBadRequest(fmt.Sprintf("read the body: %v", err)))
			return
		}
		c.body, entry.Body = body, body
		entry.DryRun = entry.DryRun || (info.verb == "delete" || info.verb == "deletecollection" || info.sub == "eviction") && asksForDryRun(body)
	}

	var known bool
	c.user, known = s.accounts.authenticate(r)
	entry.User = c.user.Name
	if fault := s.faults.take(r, info, c.user.Name); fault != nil {
		entry.Fault = fault.Label
		if fault.apply(recorder, r, info) {
			return
		}
	}
	if !known {
		writeError(recorder, unauthorized())
		return
	}
	recorder.Header().Set("Cache-Control", "no-cache, private")
	if err := s.impersonate(c); err != nil {
		writeError(recorder, err)
		return
	}
	if allowed, _ := s.may(c.user, info.attributes()); !allowed {
		writeError(recorder, forbidden(c.user.Name, info.attributes()))
		return
	}
	if !info.isResource {
		s.servePath(c)
		return
	}
	if err := s.serveResource(c); err != nil {
		writeError(recorder, err)
	}
}

// asksForDryRun tells whether the options of a deletion or an eviction, which are in the body, request a dry run.
func asksForDryRun(body []byte) bool {
	type options struct{ DryRun []string }
	var given struct {
		options
		DeleteOptions options
	}
	_ = json.Unmarshal(body, &given) // options that cannot be decoded count as none
	return slices.Contains(append(given.DryRun, given.DeleteOptions.DryRun...), metav1.DryRunAll)
}

// errNoSuchPath is the real server's answer for an unknown resource.
func errNoSuchPath() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: "the server could not find the requested resource", Details: &metav1.StatusDetails{},
	}}
}

// errNoSuchMethod is the real server's answer to a method that a path does not support.
func errNoSuchMethod() error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed,
		Message: "the server does not allow this method on the requested resource", Details: &metav1.StatusDetails{},
	}}
}

// noSuchResource answers like the server of the group: the built-in groups' with a Status, the custom resources' with a
// page.
func (s *Server) noSuchResource(c *call) error {
	for _, r := range s.catalogue.all() {
		if !r.custom() && r.GroupVersion() == c.info.gvr.GroupVersion() {
			return errNoSuchPath()
		}
	}
	http.NotFound(c.w, c.Request)
	return nil
}

// serveResource answers a request for a resource. A returned error is the answer, unless an answer has been written.
func (s *Server) serveResource(c *call) error {
	if review := reviews[c.info.gvr]; review != nil {
		if c.info.verb != "create" {
			return apierrors.NewMethodNotSupported(c.info.gvr.GroupResource(), c.info.verb)
		}
		return review(s, c)
	}
	r := s.catalogue.find(c.info.gvr)
	if r != nil && r.Resource == "services" && r.Group == "" && c.info.sub == "proxy" {
		return s.proxy(c, r)
	}
	if r == nil || c.info.extra {
		return s.noSuchResource(c)
	}
	switch {
	case c.info.sub == "":
	case c.info.sub == "status" && r.status:
	case c.info.sub == "scale" && r.scale:
		return s.serveScale(c, r)
	case c.info.sub == "log" && r.Resource == "pods" && r.Group == "":
		return s.podLog(c, r)
	case c.info.sub == "eviction" && r.Resource == "pods" && r.Group == "":
		if c.info.verb != "create" {
			return apierrors.NewMethodNotSupported(r.GroupResource(), c.info.verb)
		}
		return s.evict(c, r)
	case r.custom():
		return apierrors.NewNotFound(r.GroupResource(), c.info.name)
	default:
		return errNoSuchPath()
	}
	if r.namespaced && c.info.namespace == "" && c.info.verb != "list" && c.info.verb != "watch" {
		return s.noSuchResource(c)
	}
	if !r.namespaced && c.info.namespace != "" && r.Resource != "namespaces" {
		return s.noSuchResource(c)
	}
	changes := c.info.verb == "update" || c.info.verb == "patch"
	if c.info.name == "" && changes || r.readonly && (changes || c.info.verb == "create") {
		return errNoSuchMethod()
	}
	var err error
	if c.form, err = negotiate(c.Request); err != nil {
		return err
	}
	switch c.info.verb {
	case "get":
		return s.get(c, r)
	case "list":
		return s.list(c, r)
	case "watch":
		return s.watch(c, r)
	case "create":
		if c.info.name != "" && !r.custom() {
			return errNoSuchMethod()
		}
		return s.create(c, r)
	case "update":
		return s.update(c, r)
	case "patch":
		if c.applies() {
			return s.apply(c, r)
		}
		return s.patch(c, r)
	case "delete":
		if c.info.sub != "" && !r.custom() {
			return errNoSuchMethod()
		}
		if c.info.sub != "" {
			return apierrors.NewMethodNotSupported(r.GroupResource(), c.info.verb)
		}
		return s.delete(c, r)
	case "deletecollection":
		if r.oneByOne {
			return errNoSuchMethod()
		}
		return s.deleteCollection(c, r)
	}
	return apierrors.NewMethodNotSupported(r.GroupResource(), c.Method)
}

// objectNamespace is the namespace of the object that a request names: empty for a Namespace.
func (c *call) objectNamespace(r *resource) string {
	if !r.namespaced {
		return ""
	}
	return c.info.namespace
}

// objectKey is the table key of the object that a request names.
func (c *call) objectKey(r *resource) string { return key(c.objectNamespace(r), c.info.name) }

// get answers with one object.
func (s *Server) get(c *call, r *resource) error {
	if raw := c.query.Get("resourceVersion"); raw != "" {
		if err := s.reached(raw); err != nil {
			return err
		}
	}
	o := r.table.get(c.objectKey(r))
	if o == nil {
		return apierrors.NewNotFound(r.GroupResource(), c.info.name)
	}
	return s.writeObject(c, r, http.StatusOK, o)
}

// writeObject answers with one object in the form that the client requested.
func (s *Server) writeObject(c *call, r *resource, code int, o *object) error {
	if c.form != formTable {
		o = r.shown(o)
	}
	switch c.form {
	case formTable:
		include, err := includeObject(c.query)
		if err != nil {
			return err
		}
		table := s.table(r, []*object{o}, include, true)
		table.ResourceVersion = o.meta().GetResourceVersion()
		writeJSON(c.w, code, table)
	case formMetadata:
		writeRaw(c.w, code, partial(o))
	default:
		writeRaw(c.w, code, append(slices.Clone(o.json()), '\n'))
	}
	return nil
}

func groupKind(group, kind string) schema.GroupKind {
	return schema.GroupKind{Group: group, Kind: kind}
}

func groupResource(group, resource string) schema.GroupResource {
	return schema.GroupResource{Group: group, Resource: resource}
}
