package openstack

import (
	"bytes"
	"encoding/json"
	"strings"
)

// unquoted writes a value like Python's str, python like its repr.
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

// writePython writes the next value of dec. It stops at anything that is not JSON.
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
