package openstack

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Nova checks the bodies of requests against JSON schemas before anything else, and quotes refused values in Python's
// form. The schemas needed here are flat: named properties, some required, no others.

// property checks a value.
type property func(raw json.RawMessage) *complaint

// complaint says what is wrong with a value; its text follows the value.
type complaint struct {
	field string // of an item, its number; "" for the property itself
	value json.RawMessage
	text  string
}

type schema struct {
	properties map[string]property
	order      []string // order in which properties are checked
	required   []string
	open       bool // other properties are allowed
}

// check reads an object of the schema, or refuses it in Nova's words. The field is the object's name in the request; ""
// means the whole body.
func (s schema) check(field string, raw json.RawMessage) (map[string]json.RawMessage, *reply) {
	refuse := func(field string, value json.RawMessage, complaint string) (map[string]json.RawMessage, *reply) {
		r := badRequest("%s", complaint)
		if field != "" {
			r = badRequest("Invalid input for field/attribute %s. Value: %s. %s", field, unquoted(value), complaint)
		}
		return nil, &r
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return refuse(field, raw, python(raw)+" is not of type 'object'")
	}
	for _, name := range s.order {
		value, given := fields[name]
		if !given {
			continue
		}
		if no := s.properties[name](value); no != nil {
			if no.field == "" {
				no.field, no.value = name, value
			}
			return refuse(no.field, no.value, python(no.value)+" "+no.text)
		}
	}
	for _, name := range s.required {
		if _, given := fields[name]; !given {
			return refuse(field, raw, "'"+name+"' is a required property")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !s.open && !slices.Contains(s.order, name) {
			return refuse(field, raw, "Additional properties are not allowed ('"+name+"' was unexpected)")
		}
	}
	return fields, nil
}

// body reads the request's body, which has one property with this name: an object of the schema.
func (s schema) body(k *call, name string) (map[string]json.RawMessage, *reply) {
	whole, no := schema{required: []string{name}, open: true}.check("", k.body)
	if no != nil {
		return nil, no
	}
	return s.check(name, whole[name])
}

// that is a property whose values must pass a test; otherwise it returns the complaint.
func that(passes func(raw json.RawMessage) bool, text string) property {
	return func(raw json.RawMessage) *complaint {
		if passes(raw) {
			return nil
		}
		return &complaint{text: text}
	}
}

const booleans = "True, 'True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes', False, 'False', 'FALSE', 'false', '0', " +
	"'OFF', 'Off', 'off', 'NO', 'No', 'no'"

var (
	booleanProperty = that(isBoolean, "is not one of ["+booleans+"]")
	autoProperty    = that(func(raw json.RawMessage) bool { return isBoolean(raw) || string(raw) == `"auto"` },
		"is not one of ["+booleans+", 'auto']")
	hostProperty   = that(func(raw json.RawMessage) bool { return isString(raw) || string(raw) == "null" }, "is not of type 'string', 'null'")
	textProperty   = that(isString, "is not of type 'string'")
	objectProperty = that(func(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }, "is not of type 'object'")
	anything       = func(json.RawMessage) *complaint { return nil }
)

// lengthOf is a string with a limited length and a pattern.
func lengthOf(shortest, longest int, form *regexp.Regexp) property {
	return func(raw json.RawMessage) *complaint {
		s := text(raw)
		switch n := utf8.RuneCountInString(s); {
		case !isString(raw):
			return textProperty(raw)
		case n < shortest:
			return &complaint{text: "is too short"}
		case n > longest:
			return &complaint{text: "is too long"}
		case form != nil && !form.MatchString(s):
			return &complaint{text: "does not match '" + form.String() + "'"}
		}
		return nil
	}
}

// listOf is a list with a limited number of items, each checked by a property.
func listOf(longest int, item property) property {
	return func(raw json.RawMessage) *complaint {
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return &complaint{text: "is not of type 'array'"}
		}
		if longest > 0 && len(items) > longest {
			return &complaint{text: "is too long"}
		}
		for i, value := range items {
			if no := item(value); no != nil {
				return &complaint{field: strconv.Itoa(i), value: value, text: no.text}
			}
		}
		return nil
	}
}

// oneOf is one of some words.
func oneOf(words ...string) property {
	return that(func(raw json.RawMessage) bool { return isString(raw) && slices.Contains(words, text(raw)) },
		"is not one of ['"+strings.Join(words, "', '")+"']")
}

// someOf is a value with several allowed forms; for a value in none of them Nova only says so.
func someOf(passes func(raw json.RawMessage) bool) property {
	return that(passes, "is not valid under any of the given schemas")
}

// liveMigrationSchema is the schema of os-migrateLive, which changed at 2.25, 2.30 and 2.68.
func liveMigrationSchema(mv microversion) schema {
	s := schema{properties: map[string]property{"block_migration": autoProperty, "host": hostProperty},
		order: []string{"block_migration", "host"}, required: []string{"block_migration", "host"}}
	switch {
	case !mv.atLeast(25):
		s.properties["block_migration"], s.properties["disk_over_commit"] = booleanProperty, booleanProperty
		s.order = []string{"block_migration", "disk_over_commit", "host"}
		s.required = s.order
	case mv.atLeast(30) && !mv.atLeast(68):
		s.properties["force"] = booleanProperty
		s.order = append(s.order, "force")
	}
	return s
}

// evacuationSchema is the schema of evacuate, which changed at 2.14, 2.29 and 2.68.
func evacuationSchema(mv microversion) schema {
	s := schema{properties: map[string]property{"host": textProperty, "adminPass": textProperty}, order: []string{"host", "adminPass"}}
	switch {
	case !mv.atLeast(14):
		s.properties["onSharedStorage"] = booleanProperty
		s.order, s.required = append(s.order, "onSharedStorage"), []string{"onSharedStorage"}
	case mv.atLeast(29) && !mv.atLeast(68):
		s.properties["force"] = booleanProperty
		s.order = append(s.order, "force")
	}
	return s
}

var (
	// coldMigrationSchema is the schema of migrate from 2.56 on, when it has arguments.
	coldMigrationSchema = schema{properties: map[string]property{"host": hostProperty}, order: []string{"host"}}

	resetSchema = schema{properties: map[string]property{"state": oneOf("active", "error")}, order: []string{"state"},
		required: []string{"state"}}

	rebootSchema = schema{properties: map[string]property{"type": func(raw json.RawMessage) *complaint {
		if !isString(raw) {
			return textProperty(raw)
		}
		return oneOf("HARD", "Hard", "hard", "SOFT", "Soft", "soft")(raw)
	}}, order: []string{"type"}, required: []string{"type"}}

	resizeSchema = schema{properties: map[string]property{"flavorRef": textProperty, "OS-DCF:diskConfig": oneOf("AUTO", "MANUAL")},
		order: []string{"flavorRef", "OS-DCF:diskConfig"}, required: []string{"flavorRef"}}
)

func isString(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

func isBoolean(raw json.RawMessage) bool {
	switch strings.ToLower(strings.Trim(string(raw), `"`)) {
	case "true", "false", "1", "0", "on", "off", "yes", "no":
		return true
	}
	return false
}

func truthy(raw json.RawMessage) bool {
	switch strings.ToLower(strings.Trim(string(raw), `"`)) {
	case "true", "1", "on", "yes":
		return true
	}
	return false
}

// text returns a raw value as a string, or "".
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// textMap reads an object of strings, or returns the complaint.
func textMap(raw json.RawMessage) (map[string]string, *reply) {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		r := badRequest("Invalid input for field/attribute metadata. Value: %s. %s is not of type 'object'", unquoted(raw), python(raw))
		return nil, &r
	}
	texts := map[string]string{}
	for name, value := range fields {
		s, ok := value.(string)
		if !ok {
			r := badRequest("Invalid input for field/attribute %s. Value: %v. %v is not of type 'string'", name, value, value)
			return nil, &r
		}
		texts[name] = s
	}
	return texts, nil
}

// numberOf returns a raw value as a whole number, even if it is written as a string.
func numberOf(raw json.RawMessage) (int, error) {
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil {
		return 0, fmt.Errorf("%s is no number", raw)
	}
	return n, nil
}
