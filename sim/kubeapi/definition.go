package kubeapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// definition is the part of a CustomResourceDefinition that this server reads.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind       string   `json:"kind"`
			ListKind   string   `json:"listKind,omitempty"`
			Plural     string   `json:"plural"`
			Singular   string   `json:"singular,omitempty"`
			ShortNames []string `json:"shortNames,omitempty"`
			Categories []string `json:"categories,omitempty"`
		} `json:"names"`
		Versions []struct {
			Name         string         `json:"name"`
			Served       bool           `json:"served"`
			Storage      bool           `json:"storage"`
			Subresources map[string]any `json:"subresources"`
			Schema       struct {
				OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
			} `json:"schema"`
			Columns []printerColumn `json:"additionalPrinterColumns"`
		} `json:"versions"`
	} `json:"spec"`
}

// printerColumn is a column of kubectl get in a definition.
type printerColumn struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Format      string `json:"format"`
	Description string `json:"description"`
	Priority    int32  `json:"priority"`
	JSONPath    string `json:"jsonPath"`
}

// definitions caches the definitions read in this process, by name and spec: most servers use the same ones, and
// reading them takes most of a server's start. The cached values never change.
var definitions sync.Map // string → []*resource

// readDefinition reads and checks a definition, and builds its resources, without their tables.
func readDefinition(content map[string]any) ([]*resource, error) {
	raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": accessor(content).GetName()}, "spec": content["spec"]})
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	known, ok := definitions.Load(string(raw))
	if !ok {
		resources, err := parseDefinition(content, raw)
		if err != nil {
			return nil, err
		}
		known, _ = definitions.LoadOrStore(string(raw), resources)
	}
	own := slices.Clone(known.([]*resource))
	for i, r := range own {
		own[i] = new(*r)
	}
	return own, nil
}

// parseDefinition is readDefinition for a definition that is not cached yet; raw is its JSON.
func parseDefinition(content map[string]any, raw []byte) ([]*resource, error) {
	var d definition
	if err := decodeJSON(raw, &d); err != nil {
		return nil,
			apierrors.NewBadRequest(fmt.Sprintf("CustomResourceDefinition in version %q cannot be handled as a CustomResourceDefinition: %v", "v1",
				err))
	}
	names, at := d.Spec.Names, field.NewPath("spec")
	var problems field.ErrorList
	for _, required := range []struct {
		path  *field.Path
		value string
	}{
		{at.Child("group"), d.Spec.Group}, {at.Child("scope"), d.Spec.Scope},
		{at.Child("names", "plural"), names.Plural}, {at.Child("names", "kind"), names.Kind},
	} {
		if required.value == "" {
			problems = append(problems, field.Required(required.path, ""))
		}
	}
	if d.Spec.Scope != "" && d.Spec.Scope != "Cluster" && d.Spec.Scope != "Namespaced" {
		problems = append(problems, field.NotSupported(at.Child("scope"), d.Spec.Scope, []string{"Cluster", "Namespaced"}))
	}
	if want := names.Plural + "." + d.Spec.Group; accessor(content).GetName() != want {
		problems = append(problems, field.Invalid(field.NewPath("metadata", "name"), accessor(content).GetName(),
			fmt.Sprintf("must be spec.names.plural+%q+spec.group", ".")))
	}
	if names.Singular == "" {
		names.Singular = strings.ToLower(names.Kind)
	}
	if names.ListKind == "" {
		names.ListKind = names.Kind + "List"
	}
	stored := 0
	var resources []*resource
	for i, version := range d.Spec.Versions {
		path := at.Child("versions").Index(i)
		if version.Storage {
			stored++
		}
		if version.Schema.OpenAPIV3Schema == nil {
			problems = append(problems, field.Required(path.Child("schema", "openAPIV3Schema"), "schemas are required"))
			continue
		}
		structure, err := newStructural(version.Schema.OpenAPIV3Schema)
		if err != nil {
			problems = append(problems, field.Invalid(path.Child("schema", "openAPIV3Schema"), "", err.Error()))
			continue
		}
		columns, err := definedColumns(version.Columns)
		if err != nil {
			problems = append(problems, field.Invalid(path.Child("additionalPrinterColumns"), "", err.Error()))
			continue
		}
		_, status := version.Subresources["status"]
		if !version.Served {
			continue
		}
		r := &resource{
			GroupVersionResource: schema.GroupVersionResource{Group: d.Spec.Group, Version: version.Name, Resource: names.Plural},
			kind:                 names.Kind, listKind: names.ListKind, singular: names.Singular,
			shortNames: names.ShortNames, categories: names.Categories,
			namespaced: d.Spec.Scope == "Namespaced", status: status, schema: structure, columns: columns,
		}
		if r.managers, err = newManagers(r); err != nil {
			problems = append(problems, field.Invalid(path.Child("schema", "openAPIV3Schema"), "", err.Error()))
			continue
		}
		resources = append(resources, r)
	}
	if stored != 1 {
		problems = append(problems, field.Invalid(at.Child("versions"), "", "must have exactly one version marked as storage version"))
	}
	if len(problems) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: crdResource.Group, Kind: "CustomResourceDefinition"},
			accessor(content).GetName(), problems)
	}
	return resources, nil
}

// establish writes the status that the real server's controllers give to an accepted definition.
func (s *Server) establish(content map[string]any) {
	spec, _ := content["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	kind, _ := names["kind"].(string)
	setDefault(content, strings.ToLower(kind), "spec", "names", "singular")
	setDefault(content, kind+"List", "spec", "names", "listKind")
	setDefault(content, map[string]any{"strategy": "None"}, "spec", "conversion")
	stored := []any{}
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		if storage, _ := version["storage"].(bool); storage {
			stored = append(stored, version["name"])
		}
	}
	now := s.timestamp().Format("2006-01-02T15:04:05Z07:00")
	condition := func(kind, reason, message string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now}
	}
	content["status"] = map[string]any{
		"acceptedNames": names,
		"conditions": []any{
			condition("NamesAccepted", "NoConflicts", "no conflicts found"),
			condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
		},
		"storedVersions": stored,
	}
	content["status"] = accessor(map[string]any{"status": content["status"]}).DeepCopy().Object["status"]
}

// serveDefinition serves the resources of a new or changed definition. Objects and watches of a resource that remains
// are kept.
func (s *Server) serveDefinition(content map[string]any) error {
	resources, err := readDefinition(content)
	if err != nil {
		return err
	}
	keep := map[schema.GroupVersionResource]bool{}
	for _, r := range resources {
		keep[r.GroupVersionResource] = true
		if old := s.catalogue.find(r.GroupVersionResource); old != nil {
			r.table = old.table
		} else {
			r.table = s.store.addTable()
		}
		s.catalogue.add(r)
	}
	s.unserve(accessor(content).GetName(), keep)
	return nil
}

// unserve ends the resources of the definition called name, except those to keep: their objects are removed and their
// watches end.
func (s *Server) unserve(name string, keep map[schema.GroupVersionResource]bool) {
	for _, r := range s.catalogue.all() {
		if r.custom() && r.Resource+"."+r.Group == name && !keep[r.GroupVersionResource] {
			s.catalogue.remove(r.GroupVersionResource)
			s.store.removeTable(r.table)
		}
	}
}
