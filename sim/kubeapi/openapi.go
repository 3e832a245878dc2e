package kubeapi

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// serveOpenAPI answers /openapi/v3: the list of documents, or one. The documents hold what kubectl needs: which kinds
// support server-side validation and dry runs, and the schemas of all kinds, for explain.
func (s *Server) serveOpenAPI(c *call, document string) {
	if document == "" {
		paths := map[string]any{}
		for group, versions := range s.versions() {
			for _, one := range versions {
				name := "apis/" + group + "/" + one
				if group == "" {
					name = "api/" + one
				}
				paths[name] = map[string]any{"serverRelativeURL": "/openapi/v3/" + name}
			}
		}
		writeJSON(c.w, http.StatusOK, map[string]any{"paths": paths})
		return
	}
	parts := strings.Split(document, "/")
	var gv schema.GroupVersion
	switch {
	case len(parts) == 2 && parts[0] == "api":
		gv.Version = parts[1]
	case len(parts) == 3 && parts[0] == "apis":
		gv.Group, gv.Version = parts[1], parts[2]
	default:
		http.NotFound(c.w, c.Request)
		return
	}
	paths, schemas := map[string]any{}, shapes{}
	for _, r := range s.catalogue.all() {
		if r.GroupVersion() != gv {
			continue
		}
		kind := map[string]any{"group": r.Group, "version": r.Version, "kind": r.kind}
		at := "/" + document + "/"
		if r.namespaced {
			at += "namespaces/{namespace}/"
		}
		paths[at+r.Resource+"/{name}"] = map[string]any{"patch": map[string]any{
			"x-kubernetes-action": "patch", "x-kubernetes-group-version-kind": kind,
			"parameters": []any{queryParameter("dryRun"), queryParameter("fieldManager"), queryParameter("fieldValidation")},
			"responses":  map[string]any{"200": map[string]any{"description": "OK"}},
		}}
		if r.typed {
			schemas.add(r.kindOf())
		}
		if r.custom() {
			shape := map[string]any{}
			for name, value := range r.schema.document {
				shape[name] = value
			}
			shape["x-kubernetes-group-version-kind"] = []any{kind}
			schemas[reverse(r.Group)+"."+r.Version+"."+r.kind] = shape
		}
	}
	if len(paths) == 0 {
		http.NotFound(c.w, c.Request)
		return
	}
	writeJSON(c.w, http.StatusOK, map[string]any{
		"openapi": "3.0.0", "info": map[string]any{"title": "Kubernetes", "version": s.options.Version},
		"paths": paths, "components": map[string]any{"schemas": schemas},
	})
}

func queryParameter(name string) map[string]any {
	return map[string]any{"name": name, "in": "query", "schema": map[string]any{"type": "string", "uniqueItems": true}}
}

// reverse reverses a group's name, as in the names of schemas: lcm.mirantis.com becomes com.mirantis.lcm.
func reverse(group string) string {
	parts := strings.Split(group, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".")
}
