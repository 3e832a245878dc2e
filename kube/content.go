package kube

import (
	"strconv"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/json"
)

// unread is the part of an object's metadata that nobody reads here: who wrote which field, often more than half of the object. The page
// with an object's YAML leaves it out, too.
const unread = "managedFields"

// unreadStatus is the part of an object's status that nobody reads in lists and watches: the images that a node has, up to 50, which are
// most of a Node. The page with a Node's YAML has them: that object is read whole.
const unreadStatus = "images"

// deepest is how deep an object of the API may be nested to be read here.
const deepest = 100

// contentOf reads a JSON object as apimachinery's json.Unmarshal does, in one pass and without the managed fields of metadata; nil where
// json should answer, which also says what is wrong with a text. Objects of which there are many are read without unreadStatus, too.
func contentOf(data []byte, many bool) map[string]any {
	r := contentReader{data: data, many: many}
	r.space()
	if r.at == len(data) || data[r.at] != '{' {
		return nil
	}
	value, ok := r.object(0, true, whole)
	r.space()
	if !ok || r.at != len(data) {
		return nil
	}
	return value
}

// part says which part of the text a value is.
type part int

const (
	other    part = iota
	whole         // an object of the API: the text itself, or an item of it where it is a list
	metadata      // of an object of the API
	status        // of an object of the API
)

// contentReader reads JSON. Its methods return false, and it is of no use any more, where something is wrong or unusual.
type contentReader struct {
	data []byte
	at   int
	many bool // without unreadStatus
}

func (r *contentReader) space() {
	for r.at < len(r.data) && isSpace(r.data[r.at]) {
		r.at++
	}
}

// next is the byte after the spaces; 0 at the end.
func (r *contentReader) next() byte {
	r.space()
	if r.at == len(r.data) {
		return 0
	}
	return r.data[r.at]
}

// value reads any value. Where it is not to be kept, it is read all the same, as an error in it counts, and is nil.
func (r *contentReader) value(depth int, keep bool, is part) (any, bool) {
	if depth > deepest {
		return nil, false
	}
	switch c := r.next(); {
	case c == '{':
		value, ok := r.object(depth, keep, is)
		if !keep {
			return nil, ok
		}
		return value, ok
	case c == '[':
		value, ok := r.list(depth, keep)
		if !keep {
			return nil, ok
		}
		return value, ok
	case c == '"':
		text, ok := r.text()
		if !ok || !keep {
			return nil, ok
		}
		return decodedText(text)
	case c == '-' || c >= '0' && c <= '9':
		return r.number()
	case c == 't':
		return true, r.word("true")
	case c == 'f':
		return false, r.word("false")
	case c == 'n':
		return nil, r.word("null")
	}
	return nil, false
}

// object reads an object.
func (r *contentReader) object(depth int, keep bool, is part) (map[string]any, bool) {
	r.at++ // the bracket
	var out map[string]any
	if keep {
		out = map[string]any{}
	}
	if r.next() == '}' {
		r.at++
		return out, true
	}
	for {
		if r.next() != '"' {
			return nil, false
		}
		name, ok := r.text()
		if !ok || r.next() != ':' {
			return nil, false
		}
		r.at++
		read := keep && !r.skips(is, name)
		inner := other
		switch {
		case is != whole:
		case string(name) == `"metadata"`:
			inner = metadata
		case string(name) == `"status"`:
			inner = status
		}
		value, ok := r.value(depth+1, read, inner)
		if !ok {
			return nil, false
		}
		if read {
			key, ok := keyOf(name)
			if !ok {
				return nil, false
			}
			out[key] = value
		}
		switch r.next() {
		case ',':
			r.at++
		case '}':
			r.at++
			return out, true
		default:
			return nil, false
		}
	}
}

// skips tells whether the field of this name, with its quotation marks, is not kept in this part of the text.
func (r *contentReader) skips(is part, name []byte) bool {
	return is == metadata && string(name) == `"`+unread+`"` || is == status && r.many && string(name) == `"`+unreadStatus+`"`
}

func (r *contentReader) list(depth int, keep bool) ([]any, bool) {
	r.at++ // the bracket
	items := other
	if depth == 1 {
		items = whole
	}
	out := []any{}
	if r.next() == ']' {
		r.at++
		return out, true
	}
	for {
		value, ok := r.value(depth+1, keep, items)
		if !ok {
			return nil, false
		}
		if keep {
			out = append(out, value)
		}
		switch r.next() {
		case ',':
			r.at++
		case ']':
			r.at++
			return out, true
		default:
			return nil, false
		}
	}
}

// text is a text with its quotation marks.
func (r *contentReader) text() ([]byte, bool) {
	begin := r.at
	for i := begin + 1; i < len(r.data); i++ {
		switch c := r.data[i]; {
		case c == '"':
			r.at = i + 1
			return r.data[begin:r.at], true
		case c == '\\':
			i++
			if i == len(r.data) || r.data[i] == 'u' || !isShielded(r.data[i]) {
				return nil, false // rare enough for json
			}
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

func isShielded(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// decodedText is what a text between quotation marks says.
func decodedText(quoted []byte) (any, bool) {
	inner := quoted[1 : len(quoted)-1]
	for _, c := range inner {
		if c == '\\' || c >= utf8.RuneSelf {
			var text string
			err := json.Unmarshal(quoted, &text)
			return text, err == nil
		}
	}
	return string(inner), true
}

// keyOf is the name of a field. Those that nearly each object has are not made anew for each.
func keyOf(quoted []byte) (string, bool) {
	if known, ok := names[string(quoted[1:len(quoted)-1])]; ok {
		return known, true
	}
	text, ok := decodedText(quoted)
	if !ok {
		return "", false
	}
	return text.(string), true
}

// names are the fields that most objects have.
var names = func() map[string]string {
	known := map[string]string{}
	for _, name := range []string{"apiVersion", "kind", "metadata", "spec", "status", "name", "namespace", "uid", "resourceVersion",
		"generation", "creationTimestamp", "deletionTimestamp", "labels", "annotations", "finalizers", "ownerReferences", "controllerName",
		"nodeName", "state", "release", "errorMessage", "inner_state", "conditions", "type", "reason", "message", "lastHeartbeatTime",
		"lastTransitionTime", "nodeInfo", "kubeletVersion", "addresses", "address", "capacity", "allocatable", "images", "names", "sizeBytes"} {
		known[name] = name
	}
	return known
}()

func (r *contentReader) word(word string) bool {
	end := r.at + len(word)
	if end > len(r.data) || string(r.data[r.at:end]) != word {
		return false
	}
	r.at = end
	return true
}

// number reads a number: a whole one that fits is an int64, any other a float64.
func (r *contentReader) number() (any, bool) {
	begin, whole := r.at, true
	digits := func() bool {
		from := r.at
		for r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
			r.at++
		}
		return r.at > from
	}
	is := func(these ...byte) bool {
		for _, c := range these {
			if r.at < len(r.data) && r.data[r.at] == c {
				r.at++
				return true
			}
		}
		return false
	}
	is('-')
	if !is('0') && !digits() {
		return nil, false
	}
	if is('.') {
		if whole = false; !digits() {
			return nil, false
		}
	}
	if is('e', 'E') {
		whole = false
		if is('+', '-'); !digits() {
			return nil, false
		}
	}
	text := string(r.data[begin:r.at])
	if whole {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}
