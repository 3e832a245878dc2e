package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Problem is one thing that is wrong with a file.
type Problem struct {
	Line int    // counted from 1
	Text string // begins with the field, for example nodes[3].roles[0]: …
}

// Error returns the problem with its line.
func (p Problem) Error() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

// shownProblems is how many problems of a file are reported: people have to read them.
const shownProblems = 12

// problems collects the problems of a file.
type problems struct {
	root  *yaml.Node
	list  []error
	count int
}

// at notes a problem in a line.
func (p *problems) at(line int, format string, args ...any) {
	if p.count++; p.count <= shownProblems {
		p.list = append(p.list, Problem{Line: max(line, 1), Text: fmt.Sprintf(format, args...)})
	}
}

// check notes a problem unless ok. Its text begins with a field's path, which gives the line.
func (p *problems) check(ok bool, format string, args ...any) {
	if ok {
		return
	}
	text := fmt.Sprintf(format, args...)
	p.at(lineOf(p.root, pathForm.FindString(text)), "%s", text)
}

// err returns all problems, one line each; nil if there are none.
func (p *problems) err() error {
	if more := p.count - len(p.list); more > 0 {
		return errors.Join(append(p.list, fmt.Errorf("and %d more", more))...)
	}
	return errors.Join(p.list...)
}

// pathForm matches a field's path at the beginning of a text, for example management.groups[2].name.
var pathForm = regexp.MustCompile(`^[a-z]\w*(\[\d+\])?(\.[\w-]+(\[\d+\])?)*`)

// lineOf is the line of a field; for a missing field, the line of its parent.
func lineOf(n *yaml.Node, path string) int {
	line := n.Line
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch n.Kind {
		case yaml.MappingNode:
			key, value := entry(n, step)
			if value == nil {
				return line
			}
			n, line = value, key.Line
		case yaml.SequenceNode:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(n.Content) {
				return line
			}
			n = n.Content[i]
			line = n.Line
		default:
			return line
		}
	}
	return line
}

// entry returns a field of a mapping and its value; nil if it is missing.
func entry(n *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// parseNode reads the only YAML document of a file.
func parseNode(raw []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		return nil, syntaxError(err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, Problem{Line: second.Line, Text: "a second document begins: want one"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(err)
	}
	return document.Content[0], nil
}

// syntaxError is the parser's error, always with a line: the parser leaves out line 1.
func syntaxError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if !strings.HasPrefix(text, "line ") {
		text = "line 1: " + text
	}
	return errors.New(text)
}

// decode fills v from n, and notes everything that does not fit. It is strict: each field must be known and unique,
// each value must have the field's type; null counts as missing.
func (p *problems) decode(v reflect.Value, n *yaml.Node, path string) {
	wrong := func(want string) { p.at(n.Line, "%s: %s: want %s", path, whatIs(n), want) }
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		p.at(n.Line, "%s: anchors and aliases (& and *) are not read here: write it out", path)
		return
	case n.ShortTag() == "!!null":
		return
	}
	if unmarshaler, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		p.decodeText(unmarshaler, n, path)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		p.decode(v.Elem(), n, path)
	case reflect.Struct:
		if n.Kind != yaml.MappingNode {
			wrong("fields, each with a name")
			return
		}
		p.decodeStruct(v, n, path)
	case reflect.Map:
		if n.Kind != yaml.MappingNode {
			wrong("fields, each with a name")
			return
		}
		p.decodeMap(v, n, path)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			wrong("a list")
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, element := range n.Content {
			p.decode(v.Index(i), element, path+"["+strconv.Itoa(i)+"]")
		}
	case reflect.String:
		switch tag := n.ShortTag(); {
		case n.Kind != yaml.ScalarNode:
			wrong("a text")
		case tag != "!!str" && tag != "!!timestamp":
			wrong(fmt.Sprintf("a text: put it in quotes, %q", n.Value))
		default:
			v.SetString(n.Value)
		}
	case reflect.Bool:
		var b bool
		if n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
			wrong("true or false")
			return
		}
		v.SetBool(b)
	case reflect.Int:
		var i int
		if n.ShortTag() != "!!int" || n.Decode(&i) != nil {
			wrong("a whole number")
			return
		}
		v.SetInt(int64(i))
	case reflect.Uint64:
		var u uint64
		if n.ShortTag() != "!!int" || n.Decode(&u) != nil {
			wrong("a whole number that is not negative")
			return
		}
		v.SetUint(u)
	case reflect.Float64:
		var f float64
		if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" || n.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			wrong("a number")
			return
		}
		v.SetFloat(f)
	default:
		p.at(n.Line, "%s: this program cannot read a %s", path, v.Type()) // no field of Scenario has such a type
	}
}

// decodeText lets a type parse its own text, for example a Duration.
func (p *problems) decodeText(into json.Unmarshaler, n *yaml.Node, path string) {
	if n.Kind != yaml.ScalarNode {
		p.at(n.Line, "%s: %s: want a text", path, whatIs(n))
		return
	}
	raw := []byte(n.Value)
	if tag := n.ShortTag(); tag == "!!str" || tag == "!!timestamp" {
		raw, _ = json.Marshal(n.Value) // a string never fails
	}
	if err := into.UnmarshalJSON(raw); err != nil {
		p.at(n.Line, "%s: %v", path, err)
	}
}

func (p *problems) decodeStruct(v reflect.Value, n *yaml.Node, path string) {
	fields := fieldIndex(v.Type())
	p.eachEntry(n, path, func(key, value *yaml.Node, path string) {
		index, known := fields[key.Value]
		if !known {
			names := make([]string, 0, len(fields))
			for name := range fields {
				names = append(names, name)
			}
			p.at(key.Line, "%s: there is no such field%s", path, didYouMean(key.Value, names))
			return
		}
		p.decode(v.FieldByIndex(index), value, path)
	})
}

func (p *problems) decodeMap(v reflect.Value, n *yaml.Node, path string) {
	v.Set(reflect.MakeMap(v.Type()))
	p.eachEntry(n, path, func(key, value *yaml.Node, path string) {
		element := reflect.New(v.Type().Elem()).Elem()
		p.decode(element, value, path)
		v.SetMapIndex(reflect.ValueOf(key.Value), element)
	})
}

// eachEntry calls do for each field of a mapping, and notes duplicate fields.
func (p *problems) eachEntry(n *yaml.Node, path string, do func(key, value *yaml.Node, path string)) {
	first := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		full := key.Value
		if path != "" {
			full = path + "." + key.Value
		}
		if line, twice := first[key.Value]; twice {
			p.at(key.Line, "%s: is there twice, first in line %d", full, line)
			continue
		}
		first[key.Value] = key.Line
		do(key, value, full)
	}
}

// fieldIndex returns the fields of a struct by their names in the file, including those of embedded structs.
func fieldIndex(kind reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(kind) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && !f.Anonymous {
			fields[name] = f.Index
		}
	}
	return fields
}

// whatIs describes a value of the file in a word or two.
func whatIs(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "is a mapping"
	case yaml.SequenceNode:
		return "is a list"
	}
	const shown = 40
	if value := []rune(n.Value); len(value) > shown {
		return fmt.Sprintf("is %q…", string(value[:shown]))
	}
	return fmt.Sprintf("is %q", n.Value)
}
