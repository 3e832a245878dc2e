package kubeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"lockstep/sim/intern"
)

// structural is the schema of a custom resource: it says what to prune, fill in and refuse. The zero value, for a
// definition without a schema, keeps everything.
type structural struct {
	root     *node
	openapi  *spec.Schema
	document map[string]any // as it was defined, for the OpenAPI document
}

// node is one level of the schema, for pruning and defaults.
type node struct {
	properties map[string]*node
	additional *node // schema of a map's values; nil if the properties are named
	items      *node
	preserve   bool // x-kubernetes-preserve-unknown-fields
	embedded   bool // x-kubernetes-embedded-resource: keeps apiVersion, kind and metadata
	fallback   any  // the default
	defaulted  bool

	// For accepts.
	plain    bool // only of keywords that accepts knows
	kind     string
	required []string
	enum     []any
}

// newStructural reads an openAPIV3Schema.
func newStructural(document map[string]any) (*structural, error) {
	if kind, _ := document["type"].(string); kind != "object" {
		return nil, fmt.Errorf("the type at the root must be object, not %q", kind)
	}
	root, err := newNode(document)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(validationDocument(runtime.DeepCopyJSON(document)))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	openapi := &spec.Schema{}
	if err := json.Unmarshal(raw, openapi); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return &structural{root: root, openapi: openapi, document: document}, nil
}

func newNode(document map[string]any) (*node, error) {
	n := &node{plain: isPlain(document)}
	n.kind, _ = document["type"].(string)
	n.enum, _ = document["enum"].([]any)
	if names, ok := document["required"].([]any); ok {
		for _, name := range names {
			text, isText := name.(string)
			n.required, n.plain = append(n.required, text), n.plain && isText
		}
	}
	n.preserve, _ = document["x-kubernetes-preserve-unknown-fields"].(bool)
	n.embedded, _ = document["x-kubernetes-embedded-resource"].(bool)
	n.fallback, n.defaulted = document["default"]
	intOrString, _ := document["x-kubernetes-int-or-string"].(bool)
	if _, typed := document["type"].(string); !typed && !n.preserve && !intOrString {
		return nil, errors.New("a field has no type, and is neither x-kubernetes-int-or-string nor x-kubernetes-preserve-unknown-fields")
	}
	if properties, ok := document["properties"].(map[string]any); ok {
		n.properties = map[string]*node{}
		for name, value := range properties {
			child, ok := value.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("property %s is not a schema", name)
			}
			var err error
			if n.properties[name], err = newNode(child); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	switch additional := document["additionalProperties"].(type) {
	case map[string]any:
		child, err := newNode(additional)
		if err != nil {
			return nil, fmt.Errorf("additionalProperties: %w", err)
		}
		n.additional = child
	case bool:
		if additional {
			n.preserve = true
		}
	}
	if items, ok := document["items"].(map[string]any); ok {
		child, err := newNode(items)
		if err != nil {
			return nil, fmt.Errorf("items: %w", err)
		}
		n.items = child
	}
	return n, nil
}

// isPlain tells whether accepts knows all keywords of a level.
func isPlain(document map[string]any) bool {
	for keyword, value := range document {
		switch keyword {
		case "type", "properties", "items", "required", "enum", "default", "description", "title", "x-kubernetes-preserve-unknown-fields",
			"x-kubernetes-embedded-resource", "x-kubernetes-validations":
		case "additionalProperties":
			if _, ok := value.(map[string]any); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// accepts tells whether a value is valid, without the validator, which costs as much as the rest of a write. False means that it may be
// invalid, or that the schema says more than accepts knows.
func (n *node) accepts(value any) bool {
	if !n.plain || n.enum != nil && !slices.ContainsFunc(n.enum, func(one any) bool { return intern.Equal(one, value) }) {
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		if n.kind != "object" {
			return false
		}
		for _, name := range n.required {
			if _, found := value[name]; !found {
				return false
			}
		}
		for name, one := range value {
			below := n.properties[name]
			if below == nil {
				below = n.additional
			}
			if below != nil && !below.accepts(one) {
				return false
			}
		}
		return true
	case []any:
		return n.kind == "array" && (n.items == nil || !slices.ContainsFunc(value, func(one any) bool { return !n.items.accepts(one) }))
	case string:
		return n.kind == "string"
	case bool:
		return n.kind == "boolean"
	case int64:
		return n.kind == "integer" || n.kind == "number"
	case float64:
		return n.kind == "number"
	}
	return false
}

// validationDocument converts int-or-string to a form that the validator supports: one of two types.
func validationDocument(document map[string]any) map[string]any {
	if intOrString, _ := document["x-kubernetes-int-or-string"].(bool); intOrString {
		delete(document, "type")
		document["anyOf"] = []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if child, ok := document[name].(map[string]any); ok {
			document[name] = validationDocument(child)
		}
	}
	if properties, ok := document["properties"].(map[string]any); ok {
		for name, value := range properties {
			if child, ok := value.(map[string]any); ok {
				properties[name] = validationDocument(child)
			}
		}
	}
	return document
}

// prune removes unknown fields from a custom resource and fills in defaults. It returns the paths of what it removed,
// sorted.
func (s *structural) prune(content map[string]any) []string {
	if s.root == nil {
		return nil
	}
	var removed []string
	s.root.prune(content, "", true, &removed)
	s.root.fill(content)
	sort.Strings(removed)
	return removed
}

func (n *node) prune(value any, path string, root bool, removed *[]string) {
	switch value := value.(type) {
	case map[string]any:
		for name, child := range value {
			if (root || n.embedded) && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
				continue
			}
			at := strings.TrimPrefix(path+"."+name, ".")
			switch {
			case n.properties[name] != nil:
				n.properties[name].prune(child, at, false, removed)
			case n.additional != nil:
				n.additional.prune(child, at, false, removed)
			case !n.preserve:
				delete(value, name)
				*removed = append(*removed, at)
			}
		}
	case []any:
		if n.items == nil {
			return
		}
		for i, child := range value {
			n.items.prune(child, fmt.Sprintf("%s[%d]", path, i), false, removed)
		}
	}
}

func (n *node) fill(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, child := range n.properties {
			if _, found := value[name]; !found && child.defaulted {
				value[name] = runtime.DeepCopyJSONValue(child.fallback)
			}
			if present, found := value[name]; found {
				child.fill(present)
			}
		}
		if n.additional != nil {
			for name, child := range value {
				if n.properties[name] == nil {
					n.additional.fill(child)
				}
			}
		}
	case []any:
		if n.items != nil {
			for _, child := range value {
				n.items.fill(child)
			}
		}
	}
}

// validate reports what the schema refuses in a custom resource, in the words of the real server. For a write to the
// status, the field paths start there.
func (s *structural) validate(content map[string]any, status bool) field.ErrorList {
	if s.openapi == nil || s.root.accepts(content) {
		return nil
	}
	result := validate.NewSchemaValidator(s.openapi, nil, "", strfmt.Default).Validate(content)
	var list field.ErrorList
	for _, err := range result.Errors {
		list = append(list, fieldError(err, status))
	}
	return list
}

func fieldError(err error, status bool) *field.Error {
	var failure *openapierrors.Validation
	if !errors.As(err, &failure) {
		return field.Invalid(nil, "", err.Error())
	}
	var path *field.Path
	if failure.Name != "" && failure.Name != "." {
		path = field.NewPath(strings.TrimPrefix(failure.Name, "."))
	}
	text := failure.Error()
	if below, nested := strings.CutPrefix(failure.Name, "status."); status && nested {
		text = strings.Replace(text, failure.Name+" in body", below+" in body", 1)
	}
	var value any = ""
	if failure.Value != nil {
		value = failure.Value
	}
	switch failure.Code() {
	case openapierrors.RequiredFailCode:
		return field.Required(path, "")
	case openapierrors.EnumFailCode:
		allowed := make([]string, 0, len(failure.Values))
		for _, one := range failure.Values {
			name, ok := one.(string)
			if !ok {
				raw, _ := json.Marshal(one) // it came from JSON
				name = string(raw)
			}
			allowed = append(allowed, name)
		}
		return field.NotSupported(path, failure.Value, allowed)
	case openapierrors.TooLongFailCode:
		limit, _ := failure.Valid.(int64)
		return field.TooLong(path, "", int(limit))
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		actual, _ := failure.Value.(int64)
		limit, _ := failure.Valid.(int64)
		return field.TooMany(path, int(actual), int(limit))
	case openapierrors.InvalidTypeCode:
		return field.TypeInvalid(path, value, text)
	}
	return field.Invalid(path, value, text)
}

// decodeJSON decodes JSON as the API does: whole numbers are int64, others float64.
func decodeJSON(raw []byte, into any) error { return utiljson.Unmarshal(raw, into) }
