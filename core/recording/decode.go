package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"lockstep/core"
)

// decoder reads what an encoder has written, as encoding/json would, in one pass: a recording has hundreds of megabytes of text, and a jump
// in it waits for all that is read. Objects are read as their own types; those of a kind that only a later version knows are left out, and
// so is a field that only a later version knows.
type decoder struct {
	raw []byte
	at  int
}

// objectList are objects as a line has them, each under the name of its type.
type objectList []core.Object

var objectListType = reflect.TypeFor[objectList]()

// decode reads a whole text into what v points to.
func decode(raw []byte, v any) error {
	d := &decoder{raw: raw}
	if err := d.value(reflect.ValueOf(v).Elem()); err != nil {
		return err
	}
	d.space()
	if d.at < len(raw) {
		return d.wrong("the end")
	}
	return nil
}

func (d *decoder) wrong(want string) error { return fmt.Errorf("%s is missing at byte %d", want, d.at) }

func (d *decoder) space() {
	for d.at < len(d.raw) && (d.raw[d.at] == ' ' || d.raw[d.at] == '\n' || d.raw[d.at] == '\t' || d.raw[d.at] == '\r') {
		d.at++
	}
}

// next is the next character, 0 at the end.
func (d *decoder) next() byte {
	d.space()
	if d.at < len(d.raw) {
		return d.raw[d.at]
	}
	return 0
}

// take takes a character if it is the next one.
func (d *decoder) take(c byte) bool {
	if d.next() != c {
		return false
	}
	d.at++
	return true
}

// value reads the next value.
func (d *decoder) value(v reflect.Value) error {
	if d.next() == 'n' {
		v.SetZero()
		return d.word("null")
	}
	t := v.Type()
	switch v.Kind() {
	case reflect.Bool:
		if d.next() == 't' {
			v.SetBool(true)
			return d.word("true")
		}
		v.SetBool(false)
		return d.word("false")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(string(d.number()), 10, t.Bits())
		v.SetInt(n)
		return err
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(string(d.number()), 10, t.Bits())
		v.SetUint(n)
		return err
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(string(d.number()), t.Bits())
		v.SetFloat(n)
		return err
	case reflect.String:
		s, err := d.text()
		v.SetString(s)
		return err
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return d.value(v.Elem())
	case reflect.Slice:
		switch t {
		case rawType:
			raw, err := d.skip()
			v.SetBytes(bytes.Clone(raw)) // whoever keeps it does not keep the whole line
			return err
		case objectListType:
			list, err := d.objects()
			v.Set(reflect.ValueOf(list))
			return err
		}
		return d.slice(v)
	case reflect.Map:
		return d.table(v)
	case reflect.Struct:
		if t == timeType {
			return d.time(v)
		}
		return d.object(v)
	}
	return fmt.Errorf("a recording cannot have a %s", t)
}

func (d *decoder) word(w string) error {
	if len(d.raw)-d.at < len(w) || string(d.raw[d.at:d.at+len(w)]) != w {
		return d.wrong(w)
	}
	d.at += len(w)
	return nil
}

func (d *decoder) number() []byte {
	d.space()
	begin := d.at
	for d.at < len(d.raw) {
		if c := d.raw[d.at]; (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		d.at++
	}
	return d.raw[begin:d.at]
}

// quoted is the next text with its quotes, and whether it stands as it is.
func (d *decoder) quoted() (raw []byte, plain bool, err error) {
	if d.next() != '"' {
		return nil, false, d.wrong("a text")
	}
	begin := d.at
	plain = true
	for i := begin + 1; i < len(d.raw); i++ {
		switch c := d.raw[i]; {
		case c == '"':
			d.at = i + 1
			return d.raw[begin:d.at], plain, nil
		case c == '\\':
			plain = false
			i++
		case c < ' ' || c >= 0x7f:
			plain = false
		}
	}
	return nil, false, d.wrong(`a text's end`)
}

func (d *decoder) text() (string, error) {
	raw, plain, err := d.quoted()
	if err != nil {
		return "", err
	}
	if plain {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	err = json.Unmarshal(raw, &s)
	return s, err
}

func (d *decoder) time(v reflect.Value) error {
	raw, _, err := d.quoted()
	if err != nil {
		return err
	}
	var at time.Time
	if err := at.UnmarshalJSON(raw); err != nil {
		return err
	}
	v.Set(reflect.ValueOf(at))
	return nil
}

func (d *decoder) slice(v reflect.Value) error {
	if !d.take('[') {
		return d.wrong("a list")
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 1))
	if d.take(']') {
		return nil
	}
	for n := 0; ; n++ {
		if n == v.Cap() {
			v.Grow(n)
		}
		v.SetLen(n + 1)
		if err := d.value(v.Index(n)); err != nil {
			return err
		}
		if d.take(']') {
			return nil
		}
		if !d.take(',') {
			return d.wrong("a list's end")
		}
	}
}

// table reads a map. What it had before is kept, as encoding/json keeps it.
func (d *decoder) table(v reflect.Value) error {
	t := v.Type()
	if v.IsNil() {
		v.Set(reflect.MakeMap(t))
	}
	return d.members(func(name []byte, plain bool) error {
		key := reflect.New(t.Key()).Elem()
		switch text, err := unquote(name, plain); {
		case err != nil:
			return err
		case key.Kind() == reflect.String:
			key.SetString(text)
		case key.CanInt():
			n, err := strconv.ParseInt(text, 10, t.Key().Bits())
			if err != nil {
				return err
			}
			key.SetInt(n)
		default:
			return fmt.Errorf("a recording cannot have a map by %s", t.Key())
		}
		value := reflect.New(t.Elem()).Elem()
		if err := d.value(value); err != nil {
			return err
		}
		v.SetMapIndex(key, value)
		return nil
	})
}

func unquote(raw []byte, plain bool) (string, error) {
	if plain {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// members calls a function after the name of each member of an object; the function reads the value.
func (d *decoder) members(value func(name []byte, plain bool) error) error {
	if !d.take('{') {
		return d.wrong("an object")
	}
	if d.take('}') {
		return nil
	}
	for {
		name, plain, err := d.quoted()
		if err != nil {
			return err
		}
		if !d.take(':') {
			return d.wrong("a colon")
		}
		if err := value(name, plain); err != nil {
			return err
		}
		if d.take('}') {
			return nil
		}
		if !d.take(',') {
			return d.wrong("an object's end")
		}
	}
}

func (d *decoder) object(v reflect.Value) error {
	fields := indexOf(v.Type())
	return d.members(func(name []byte, _ bool) error {
		index, known := fields[string(name)]
		if !known {
			_, err := d.skip()
			return err
		}
		return d.value(v.FieldByIndex(index))
	})
}

var indexByType sync.Map // reflect.Type → map[string][]int

// indexOf are the fields of a struct by their quoted names.
func indexOf(t reflect.Type) map[string][]int {
	if known, ok := indexByType.Load(t); ok {
		return known.(map[string][]int)
	}
	index := map[string][]int{}
	for _, f := range fieldsOf(t) {
		index[f.quoted] = f.index
	}
	indexByType.Store(t, index)
	return index
}

// objects reads a list of objects.
func (d *decoder) objects() (objectList, error) {
	if !d.take('[') {
		return nil, d.wrong("a list")
	}
	if d.take(']') {
		return nil, nil
	}
	var list objectList
	for {
		found := false
		err := d.members(func(name []byte, _ bool) error {
			if found {
				return errors.New("an object has two kinds")
			}
			found = true
			t, known := objects[string(name[1:len(name)-1])]
			if !known {
				_, err := d.skip()
				return err
			}
			o := reflect.New(t)
			if err := d.value(o.Elem()); err != nil {
				return fmt.Errorf("%s: %w", t.Name(), err)
			}
			list = append(list, o.Interface().(core.Object))
			return nil
		})
		if err == nil && !found {
			err = errors.New("an object without its kind")
		}
		if err != nil {
			return nil, err
		}
		if d.take(']') {
			return list, nil
		}
		if !d.take(',') {
			return nil, d.wrong("a list's end")
		}
	}
}

// skip passes over the next value, and is its text.
func (d *decoder) skip() ([]byte, error) {
	d.space()
	begin, depth := d.at, 0
	for {
		switch c := d.next(); c {
		case '{', '[':
			depth++
			d.at++
		case '}', ']':
			depth--
			d.at++
		case '"':
			if _, _, err := d.quoted(); err != nil {
				return nil, err
			}
		case ',', ':':
			d.at++
		default:
			word := d.at
			for d.at < len(d.raw) && (d.raw[d.at] >= 'a' && d.raw[d.at] <= 'z' || d.raw[d.at] >= '0' && d.raw[d.at] <= '9' ||
				d.raw[d.at] == '-' || d.raw[d.at] == '+' || d.raw[d.at] == '.' || d.raw[d.at] == 'E') {
				d.at++
			}
			if d.at == word {
				return nil, d.wrong("a value")
			}
		}
		if depth < 0 {
			return nil, d.wrong("a value")
		}
		if depth == 0 {
			raw := d.raw[begin:d.at]
			if c := raw[0]; c == ',' || c == ':' || !json.Valid(raw) {
				return nil, d.wrong("a value")
			}
			return raw, nil
		}
	}
}
