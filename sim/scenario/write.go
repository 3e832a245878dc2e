package scenario

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Write writes a scenario in the form that Parse reads, after a comment of the given lines. It leaves out zero values;
// each element of a list is on its own line, so that two files can be compared line by line. Everything keeps the
// scenario's order.
func (s *Scenario) Write(w io.Writer, comment ...string) error {
	out := &yamlWriter{Writer: bufio.NewWriter(w)}
	for _, line := range comment {
		out.text(strings.TrimRight("# "+oneLine(line), " ") + "\n")
	}
	out.fields("", reflect.ValueOf(s).Elem())
	out.text(ending + "\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the scenario: %w", err)
	}
	return nil
}

// oneLine keeps a comment from ending early.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// yamlWriter writes the few forms of YAML that a scenario needs: structs in block style, their lists with one element to a
// line, everything deeper in flow style. bufio.Writer keeps its first error.
type yamlWriter struct{ *bufio.Writer }

func (w *yamlWriter) text(s string) { w.WriteString(s) }

// fields writes a struct's fields, one below the other.
func (w *yamlWriter) fields(indent string, v reflect.Value) {
	first := strings.Replace(indent, "- ", "  ", 1) // only the first line of a list element has the dash
	for name, field := range fieldsOf(v) {
		w.text(indent + name + ":")
		indent = first
		switch kind := field.Type(); {
		case kind.Kind() == reflect.Struct && (isDeep(kind) || indent == "" && kind != reflect.TypeFor[Change]()):
			w.text("\n")
			w.fields(indent+"  ", field)
		case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct:
			w.text("\n")
			w.list(indent+"  - ", field)
		default:
			w.text(" " + flow(field) + "\n")
		}
	}
}

// list writes one element per line or, if elements contain lists, over several lines.
func (w *yamlWriter) list(indent string, v reflect.Value) {
	for i := range v.Len() {
		if isDeep(v.Type().Elem()) {
			w.fields(indent, v.Index(i))
			continue
		}
		w.text(indent + flow(v.Index(i)) + "\n")
	}
}

// isDeep tells whether a struct has a list of structs, which would not fit on a line.
func isDeep(kind reflect.Type) bool {
	for i := range kind.NumField() {
		f := kind.Field(i)
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct {
			return true
		}
	}
	return false
}

// fieldsOf returns the fields of a struct that are not zero, with their names in YAML, including those of embedded
// structs.
func fieldsOf(v reflect.Value) func(yield func(string, reflect.Value) bool) {
	return func(yield func(string, reflect.Value) bool) {
		for i := range v.NumField() {
			kind, field := v.Type().Field(i), v.Field(i)
			if kind.Anonymous {
				for name, inner := range fieldsOf(field) {
					if !yield(name, inner) {
						return
					}
				}
				continue
			}
			name, _, _ := strings.Cut(kind.Tag.Get("json"), ",")
			if name == "" || name == "-" || field.IsZero() || field.Kind() == reflect.Slice && field.Len() == 0 {
				continue
			}
			if field.Kind() == reflect.Pointer {
				field = field.Elem()
			}
			if !yield(name, field) {
				return
			}
		}
	}
}

// flow writes a value on one line.
func flow(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Moment]() {
			return scalar(v)
		}
		for name, field := range fieldsOf(v) {
			parts = append(parts, name+": "+flow(field))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()),
			func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) }) {
			parts = append(parts, quote(key.String())+": "+flow(v.MapIndex(key)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, flow(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Pointer:
		if v.IsNil() {
			return "null"
		}
		return flow(v.Elem())
	}
	return scalar(v)
}

func scalar(v reflect.Value) string {
	switch v := v.Interface().(type) {
	case Duration:
		return short(v)
	case Moment:
		return quote(v.String())
	}
	switch v.Kind() {
	case reflect.String:
		return quote(v.String())
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	return jsonOf(v)
}

// jsonOf writes numbers and rare types: every JSON document is YAML.
func jsonOf(v reflect.Value) string {
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return "null" // cannot happen for the types of a scenario
	}
	return string(raw)
}

// short is a duration without the zeros at its end: 3h24m0s becomes 3h24m.
func short(d Duration) string {
	text := d.Of().String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// uuidForm matches texts that begin with a digit but are not numbers.
var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// plain matches texts that YAML reads unchanged anywhere without quotes.
func plain(s string) bool {
	if uuidForm.MatchString(s) {
		return true
	}
	if s == "" || !unicode.IsLetter(rune(s[0])) || s[len(s)-1] == ':' {
		return false
	}
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("-_./:+@=", r) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf":
		return false
	}
	return true
}

// quote writes a text, in double quotes if necessary.
func quote(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r >= 0x7f && r <= 0x9f:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
