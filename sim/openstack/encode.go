package openstack

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
)

// appendJSON appends a value's JSON, as an encoding/json Encoder without escaped HTML writes it. Answers are made of objects, lists and
// texts; these need no reflection here, which was most of the work of a list of a thousand servers. The rest is left to the Encoder.
func appendJSON(to []byte, value any) ([]byte, error) {
	switch value := value.(type) {
	case nil:
		return append(to, "null"...), nil
	case bool:
		return strconv.AppendBool(to, value), nil
	case int:
		return strconv.AppendInt(to, int64(value), 10), nil
	case string:
		if plain(value) {
			to = append(to, '"')
			to = append(to, value...)
			return append(to, '"'), nil
		}
	case verbatim:
		return append(to, value...), nil
	case object:
		if value != nil {
			return appendObject(to, value)
		}
	case map[string]string:
		if value != nil {
			return appendObject(to, value)
		}
	case []object:
		if value != nil {
			return appendList(to, value)
		}
	case []any:
		if value != nil {
			return appendList(to, value)
		}
	case []string:
		if value != nil {
			return appendList(to, value)
		}
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return append(to, bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))...), nil
}

func appendObject[T any](to []byte, value map[string]T) ([]byte, error) {
	var room [64]string
	keys := room[:0]
	for key := range value {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	to = append(to, '{')
	var err error
	for i, key := range keys {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = appendJSON(to, key); err != nil {
			return nil, err
		}
		to = append(to, ':')
		if to, err = appendJSON(to, value[key]); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

func appendList[T any](to []byte, list []T) ([]byte, error) {
	to = append(to, '[')
	var err error
	for i, one := range list {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = appendJSON(to, one); err != nil {
			return nil, err
		}
	}
	return append(to, ']'), nil
}

// plain tells whether a text is itself between quotation marks in JSON.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
