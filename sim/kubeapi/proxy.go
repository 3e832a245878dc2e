package kubeapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// proxied are the handlers behind Services, by namespace and name.
type proxied struct {
	mu       sync.Mutex
	handlers map[string]http.Handler
}

// Behind has a handler answer for a Service, to requests through the server's proxy. The Service itself is an object like any other.
func (s *Server) Behind(namespace, service string, h http.Handler) {
	s.proxied.mu.Lock()
	defer s.proxied.mu.Unlock()
	if s.proxied.handlers == nil {
		s.proxied.handlers = map[string]http.Handler{}
	}
	s.proxied.handlers[key(namespace, service)] = h
}

// proxy passes a request on to what is behind a Service, which the path names as NAME, NAME:PORT or SCHEME:NAME:PORT.
func (s *Server) proxy(c *call, services *resource) error {
	name, port, scheme := c.info.name, "", ""
	switch parts := strings.Split(name, ":"); len(parts) {
	case 2:
		name, port = parts[0], parts[1]
	case 3:
		scheme, name, port = parts[0], parts[1], parts[2]
	}
	o := services.table.get(key(c.info.namespace, name))
	if o == nil {
		return apierrors.NewNotFound(services.GroupResource(), name)
	}
	if scheme == "https" || !hasPort(o, port) {
		return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", c.info.name))
	}
	s.proxied.mu.Lock()
	h := s.proxied.handlers[key(c.info.namespace, name)]
	s.proxied.mu.Unlock()
	if h == nil {
		return apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", c.info.name))
	}
	_, rest, _ := strings.Cut(c.URL.Path, "/services/"+c.info.name+"/proxy")
	r := c.Request.Clone(c.Context())
	r.URL.Path = "/" + strings.TrimPrefix(rest, "/")
	r.Body = io.NopCloser(bytes.NewReader(c.body))
	h.ServeHTTP(c.w, r)
	return nil
}

// hasPort tells whether a Service has the port of a request, by its number or its name. An empty one is that of a single port without a
// name, as on the real server.
func hasPort(service *object, port string) bool {
	ports, _, _ := unstructured.NestedSlice(service.content, "spec", "ports")
	for _, one := range ports {
		p, _ := one.(map[string]any)
		name, _ := p["name"].(string)
		if name == port || fmt.Sprint(p["port"]) == port {
			return true
		}
	}
	return false
}
