package kubeapi

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// requestInfo holds what a request's method and path say: the resource and the verb, for authorisation.
type requestInfo struct {
	path       string
	verb       string // get, list, watch, create, update, patch, delete, deletecollection; the method for other paths
	isResource bool
	gvr        schema.GroupVersionResource
	sub        string // subresource, or ""
	namespace  string // "" for the cluster scope
	name       string
	extra      bool // the path continues after the subresource
}

// readRequest parses a request. The paths are /api/v1/... and /apis/<group>/<version>/..., with namespaces/<namespace>/
// before the resource of a namespaced object.
func readRequest(r *http.Request, query url.Values) requestInfo {
	info := requestInfo{path: r.URL.Path, verb: strings.ToLower(r.Method)}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) >= 3:
		info.gvr.Version, parts = parts[1], parts[2:]
	case parts[0] == "apis" && len(parts) >= 4:
		info.gvr.Group, info.gvr.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return info
	}
	info.isResource = true
	if parts[0] == "namespaces" && len(parts) > 1 {
		info.namespace = parts[1]
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			parts = parts[2:]
		}
	}
	info.gvr.Resource = parts[0]
	if len(parts) > 1 {
		info.name = parts[1]
	}
	if len(parts) > 2 {
		info.sub, info.extra = parts[2], len(parts) > 3
	}
	info.verb = resourceVerb(r.Method, info.name, query)
	if info.name == "" && (info.verb == "list" || info.verb == "watch") {
		// A list limited to one name is authorised like a request for that name.
		if selector, err := fields.ParseSelector(query.Get("fieldSelector")); err == nil {
			if name, ok := selector.RequiresExactMatch("metadata.name"); ok {
				info.name = name
			}
		}
	}
	return info
}

func resourceVerb(method, name string, query url.Values) string {
	switch method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if name == "" {
			return "deletecollection"
		}
		return "delete"
	case http.MethodGet, http.MethodHead:
		watching := query.Get("watch")
		switch {
		case name != "":
			return "get"
		case watching != "" && watching != "false" && watching != "0":
			return "watch"
		default:
			return "list"
		}
	}
	return ""
}
