package openstack

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Nova checks the arguments of actions against JSON schemas before anything else, and quotes what it refuses as Python
// writes it. The schemas needed here are flat: named properties, some required, none besides.

// property is one property of a schema; accepts says whether a value will do, complaint what is wrong with one that won't.
type property struct {
	accepts   func(raw json.RawMessage) bool
	complaint string
}

type schema struct {
	properties map[string]property
	order      []string // of the properties, as they are checked
	required   []string
}

const booleans = "True, 'True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes', False, 'False', 'FALSE', 'false', '0', 'OFF', 'Off', 'off', 'NO', 'No', 'no'"

var (
	booleanProperty = property{isBoolean, "is not one of [" + booleans + "]"}
	autoProperty    = property{func(raw json.RawMessage) bool { return isBoolean(raw) || string(raw) == `"auto"` }, "is not one of [" + booleans + ", 'auto']"}
	hostProperty    = property{func(raw json.RawMessage) bool { return isString(raw) || string(raw) == "null" }, "is not of type 'string', 'null'"}
	textProperty    = property{isString, "is not of type 'string'"}
)

// check reads an object of the schema, or refuses it in Nova's words. A field is the name that it has in the request.
func (s schema) check(field string, raw json.RawMessage) (map[string]json.RawMessage, *reply) {
	refuse := func(field string, value json.RawMessage, complaint string) (map[string]json.RawMessage, *reply) {
		r := badRequest("Invalid input for field/attribute %s. Value: %s. %s", field, unquoted(value), complaint)
		return nil, &r
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return refuse(field, raw, python(raw)+" is not of type 'object'")
	}
	for _, name := range s.order {
		if value, given := fields[name]; given && !s.properties[name].accepts(value) {
			return refuse(name, value, python(value)+" "+s.properties[name].complaint)
		}
	}
	for _, name := range s.required {
		if _, given := fields[name]; !given {
			return refuse(field, raw, "'"+name+"' is a required property")
		}
	}
	for name := range fields {
		if !slices.Contains(s.order, name) {
			return refuse(field, raw, "Additional properties are not allowed ('"+name+"' was unexpected)")
		}
	}
	return fields, nil
}

// liveMigrationSchema is that of os-migrateLive, which changed at 2.25, 2.30 and 2.68.
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

// evacuationSchema is that of evacuate, which changed at 2.14, 2.29 and 2.68.
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

// coldMigrationSchema is that of migrate from 2.56 on, when it has arguments.
var coldMigrationSchema = schema{properties: map[string]property{"host": hostProperty}, order: []string{"host"}}

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

// text is the string that a raw value is, or "".
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// unquoted is a value as Python's str writes it, python as its repr does.
func unquoted(raw json.RawMessage) string {
	if isString(raw) {
		return text(raw)
	}
	return python(raw)
}

func python(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var b strings.Builder
	writePython(&b, dec)
	return b.String()
}

// writePython writes the next value of dec. What is no JSON ends it.
func writePython(b *strings.Builder, dec *json.Decoder) {
	tok, err := dec.Token()
	if err != nil {
		return
	}
	switch v := tok.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case json.Number:
		b.WriteString(v.String())
	case string:
		b.WriteString("'" + strings.ReplaceAll(v, "'", `\'`) + "'")
	case json.Delim:
		closing := map[json.Delim]string{'{': "}", '[': "]"}[v]
		b.WriteString(v.String())
		for n := 0; dec.More(); n++ {
			if n > 0 {
				b.WriteString(", ")
			}
			writePython(b, dec)
			if v == '{' {
				b.WriteString(": ")
				writePython(b, dec)
			}
		}
		_, _ = dec.Token() // the closing one
		b.WriteString(closing)
	}
}
