package core

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// RedactObject hides secrets in an object of an API, in place, by the rule of Redact: what stands under a secret's name (texts, numbers
// and lists), variables of containers by their names, arguments with their options, JSON in a text, and every text by itself. hide is
// what a text passes; it is Redact, with what an adapter logs in with.
func RedactObject(object map[string]any, hide func(string) string) {
	redactFields(object, hide, false, 0)
}

// deepestJSON is how deep JSON in texts is looked into: the text of an annotation is an object that has annotations.
const deepestJSON = 8

// referenceFields are fields of something that is called a secret which only say which and where it is.
var referenceFields = []string{"name", "key", "namespace", "kind", "apiVersion", "apiGroup", "uid", "resourceVersion", "optional",
	"defaultMode", "mode", "path", "items", "audience", "expirationSeconds", "fieldPath"}

// redactFields does it for the fields of an object; under tells whether it stands under a secret's name.
func redactFields(object map[string]any, hide func(string) string, under bool, depth int) {
	if name, _ := object["name"].(string); SecretName(name) {
		if value, has := object["value"]; has {
			object["value"] = hidden(value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		secret := SecretName(key) || under && !slices.Contains(referenceFields, key) && !plainName(key)
		object[key] = redactValue(object[key], hide, secret, depth)
	}
}

func redactValue(value any, hide func(string) string, secret bool, depth int) any {
	switch v := value.(type) {
	case map[string]any:
		redactFields(v, hide, secret, depth)
	case []any:
		redactList(v, hide, secret, depth)
	case string:
		if secret {
			return hidden(v)
		}
		return redactText(v, hide, depth)
	default:
		if secret {
			return hidden(v)
		}
	}
	return value
}

// redactList does it for a list; an argument after the option of a secret is one.
func redactList(list []any, hide func(string) string, secret bool, depth int) {
	option := false
	for i, one := range list {
		text, isText := one.(string)
		next := isText && strings.HasPrefix(text, "-") && !strings.ContainsAny(text, "= ") && SecretName(text)
		switch {
		case option && isText && !strings.HasPrefix(text, "-"):
			list[i] = hidden(text)
		default:
			list[i] = redactValue(one, hide, secret, depth)
		}
		option = next
	}
}

// redactText does it for a text, which may be JSON.
func redactText(text string, hide func(string) string, depth int) string {
	trimmed := strings.TrimSpace(text)
	if depth < deepestJSON && trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') {
		in := json.NewDecoder(strings.NewReader(trimmed))
		in.UseNumber()
		var value any
		if in.Decode(&value) == nil && !in.More() {
			value = redactValue(value, hide, false, depth+1)
			var out bytes.Buffer
			writer := json.NewEncoder(&out)
			writer.SetEscapeHTML(false)
			if writer.Encode(value) == nil {
				return strings.TrimSpace(out.String())
			}
		}
	}
	return hide(text)
}

// hidden is what is shown of a secret. A switch is none, and neither is what is empty or only a reference.
func hidden(value any) any {
	switch v := value.(type) {
	case nil, bool:
		return value
	case string:
		if isReference(v) {
			return v
		}
	case map[string]any, []any:
		return value
	}
	return Hidden
}
