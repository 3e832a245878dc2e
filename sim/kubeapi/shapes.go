package kubeapi

import (
	"reflect"
	"strings"

	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

// shapes holds the schemas of Go types for the OpenAPI document: the fields come from reflection, the descriptions from
// the types' documentation.
type shapes map[string]any

// leaves are the types that are a single value on the wire.
var leaves = map[reflect.Type]map[string]any{
	reflect.TypeFor[metav1.Time]():          {"type": "string", "format": "date-time"},
	reflect.TypeFor[metav1.MicroTime]():     {"type": "string", "format": "date-time"},
	reflect.TypeFor[metav1.Duration]():      {"type": "string"},
	reflect.TypeFor[apiresource.Quantity](): {"type": "string"},
	reflect.TypeFor[intstr.IntOrString]():   {"type": "string", "format": "int-or-string"},
	reflect.TypeFor[metav1.FieldsV1]():      {"type": "object"},
	reflect.TypeFor[runtime.RawExtension](): {"type": "object"},
	reflect.TypeFor[[]byte]():               {"type": "string", "format": "byte"},
}

// add adds a built-in kind and its parts. It does nothing for a kind without a Go type or one that was added before.
func (s shapes) add(kind schema.GroupVersionKind) {
	known, err := scheme.Scheme.New(kind)
	if err != nil {
		return
	}
	goType := reflect.TypeOf(known).Elem()
	s.define(goType)
	if shape, ok := s[shapeName(goType)].(map[string]any); ok {
		shape["x-kubernetes-group-version-kind"] = []any{map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}}
	}
}

// shapeName is the name of a type's schema in the real server: io.k8s.api.core.v1.Node.
func shapeName(goType reflect.Type) string {
	path := strings.Split(goType.PkgPath(), "/") // k8s.io/api/core/v1
	return reverse(path[0]) + "." + strings.Join(append(path[1:], goType.Name()), ".")
}

// define adds a struct and its parts.
func (s shapes) define(goType reflect.Type) {
	name := shapeName(goType)
	if s[name] != nil {
		return
	}
	shape := map[string]any{"type": "object"}
	s[name] = shape // first, because the type may be recursive
	about := map[string]string{}
	if documented, ok := reflect.New(goType).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
		about = documented.SwaggerDoc()
	}
	if text := about[""]; text != "" {
		shape["description"] = text
	}
	properties := map[string]any{}
	var required []any
	s.fields(goType, about, properties, &required)
	shape["properties"] = properties
	if len(required) > 0 {
		shape["required"] = required
	}
}

// fields adds the fields of a struct, including those of embedded structs.
func (s shapes) fields(goType reflect.Type, about map[string]string, properties map[string]any, required *[]any) {
	for field := range fieldsOf(goType) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" && field.Anonymous {
			embedded := about
			if documented, ok := reflect.New(field.Type).Interface().(interface{ SwaggerDoc() map[string]string }); ok {
				embedded = documented.SwaggerDoc()
			}
			if field.Type == reflect.TypeFor[metav1.TypeMeta]() {
				properties["kind"] = map[string]any{"type": "string", "description": embedded["kind"]}
				properties["apiVersion"] = map[string]any{"type": "string", "description": embedded["apiVersion"]}
				continue
			}
			s.fields(field.Type, embedded, properties, required)
			continue
		}
		shape := s.of(field.Type)
		if ref := shape["$ref"]; ref != nil {
			shape = map[string]any{"allOf": []any{shape}} // a reference cannot have a description next to it
		}
		if text := about[name]; text != "" {
			shape["description"] = text
		}
		properties[name] = shape
		if !strings.Contains(options, "omitempty") && field.Type.Kind() != reflect.Pointer && name != "metadata" && name != "status" {
			*required = append(*required, name)
		}
	}
}

// fieldsOf yields the exported fields of a struct.
func fieldsOf(goType reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range goType.NumField() {
			if field := goType.Field(i); field.IsExported() && !yield(field) {
				return
			}
		}
	}
}

// of returns the schema of a type: a reference for a struct.
func (s shapes) of(goType reflect.Type) map[string]any {
	if leaf, ok := leaves[goType]; ok {
		copied := map[string]any{}
		for name, value := range leaf {
			copied[name] = value
		}
		return copied
	}
	switch goType.Kind() {
	case reflect.Pointer:
		return s.of(goType.Elem())
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return map[string]any{"type": "integer", "format": "int32"}
	case reflect.Int64, reflect.Uint64:
		return map[string]any{"type": "integer", "format": "int64"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number", "format": "double"}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": s.of(goType.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(goType.Elem())}
	case reflect.Struct:
		s.define(goType)
		return map[string]any{"$ref": "#/components/schemas/" + shapeName(goType)}
	}
	return map[string]any{"type": "string"}
}
