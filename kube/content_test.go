package kube

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
)

// drawValue draws a JSON value with what is usual and what is not.
func drawValue(t *rapid.T, depth int) string {
	text := func(what string) string {
		return rapid.SampledFrom([]string{`""`, `"a"`, `"managedFields"`, `"metadata"`, `"images"`, `"status"`, `"kind"`, `"Grüße"`, `"a\"b\\"`,
			`"\u00e9"`, `"\ud800"`, `"\n\/"`,
			"\"\xff\"", `"{"`, `"]}"`, `"items"`}).Draw(t, what)
	}
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t"})
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	if depth == 0 {
		kind = 8
	} else if depth > 4 {
		kind = min(kind, 6)
	}
	switch {
	case kind < 4:
		return text("text")
	case kind < 7:
		return rapid.SampledFrom([]string{"0", "-0", "7", "-12", "1.5", "1e3", "2E-2", "-0.0", "9223372036854775807",
			"9223372036854775808", "1e400",
			"true", "false", "null"}).Draw(t, "word")
	case kind == 7:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, space.Draw(t, "space")+drawValue(t, depth+1))
		}
		return "[" + strings.Join(items, ",") + space.Draw(t, "space") + "]"
	}
	var fields []string
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		fields = append(fields, space.Draw(t, "space")+text("name")+space.Draw(t, "space")+":"+drawValue(t, depth+1))
	}
	return "{" + strings.Join(fields, ",") + space.Draw(t, "space") + "}"
}

// withoutUnread takes out what contentOf does not read.
func withoutUnread(content map[string]any, many bool) map[string]any {
	takeOut := func(object map[string]any) {
		if m, ok := object["metadata"].(map[string]any); ok {
			delete(m, unread)
		}
		if m, ok := object["status"].(map[string]any); ok && many {
			delete(m, unreadStatus)
		}
	}
	takeOut(content)
	for _, list := range content {
		items, _ := list.([]any)
		for _, item := range items {
			if o, ok := item.(map[string]any); ok {
				takeOut(o)
			}
		}
	}
	return content
}

// Content is read as apimachinery reads it, without what nobody reads; whatever is refused there is not read here either.
func TestContentIsWhatApimachineryReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := []byte(drawValue(t, 0))
		if rapid.IntRange(0, 2).Draw(t, "broken") == 0 {
			switch at := rapid.IntRange(0, len(data)).Draw(t, "at"); rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				data = data[:at]
			case 1:
				data = append(data[:at:at], append([]byte(
					rapid.SampledFrom([]string{"{", "}", ",", `"`, `\`, "0", "x", " "}).Draw(t, "more")), data[at:]...)...)
			default:
				data = append(data[:at:at], data[min(at+1, len(data)):]...)
			}
		}
		many := rapid.Bool().Draw(t, "many")
		got := contentOf(data, many)
		if got == nil {
			return // json answers
		}
		var want map[string]any
		if err := utiljson.Unmarshal(data, &want); err != nil {
			t.Fatalf("%s is read, and json says: %v", data, err)
		}
		if !reflect.DeepEqual(got, withoutUnread(want, many)) {
			t.Fatalf("%s is\n%#v\nand not\n%#v", data, got, want)
		}
	})
}

// Only objects of the API have metadata and a status that are not read whole: a field of another object may have any name.
func TestOnlyObjectsAreReadInPart(t *testing.T) {
	for text, want := range map[string]string{
		`{"metadata":{"managedFields":1}}`:                       `map[metadata:map[]]`,
		`{"items":[{"metadata":{"managedFields":1}}]}`:           `map[items:[map[metadata:map[]]]]`,
		`{"spec":{"template":{"metadata":{"managedFields":1}}}}`: `map[spec:map[template:map[metadata:map[managedFields:1]]]]`,
		`{"spec":{"metadata":{"managedFields":1}}}`:              `map[spec:map[metadata:map[managedFields:1]]]`,
		`{"metadata":{"metadata":{"managedFields":1}}}`:          `map[metadata:map[metadata:map[managedFields:1]]]`,
		`{"items":[[{"metadata":{"managedFields":1}}]]}`:         `map[items:[[map[metadata:map[managedFields:1]]]]]`,
		`{"spec":{"items":[{"metadata":{"managedFields":1}}]}}`:  `map[spec:map[items:[map[metadata:map[managedFields:1]]]]]`,
		`{"items":[{"spec":{"metadata":{"managedFields":1}}}]}`:  `map[items:[map[spec:map[metadata:map[managedFields:1]]]]]`,
		`{"status":{"images":[1],"phase":2}}`:                    `map[status:map[phase:2]]`,
		`{"items":[{"status":{"images":[1],"phase":2}}]}`:        `map[items:[map[status:map[phase:2]]]]`,
		`{"status":{"status":{"images":1},"of":{"images":2}}}`:   `map[status:map[of:map[images:2] status:map[images:1]]]`,
		`{"spec":{"status":{"images":1},"images":2}}`:            `map[spec:map[images:2 status:map[images:1]]]`,
		`{"metadata":{"images":1},"images":2}`:                   `map[images:2 metadata:map[images:1]]`,
	} {
		if got := fmt.Sprint(contentOf([]byte(text), true)); got != want {
			t.Errorf("%s is read as %s, want %s", text, got, want)
		}
	}
	const alone = `{"status":{"images":[1]}}`
	if got := fmt.Sprint(contentOf([]byte(alone), false)); got != "map[status:map[images:[1]]]" {
		t.Errorf("%s, asked for alone, is read as %s", alone, got)
	}
}

// What API servers send is read without json, and without who wrote which field and which images a node has.
func TestObjectsOfTheAPIAreReadWithoutWhatNobodyReads(t *testing.T) {
	for _, page := range []string{nodesPage(3), locksPage(3)} {
		read := contentOf([]byte(page), true)
		if read == nil {
			t.Fatal("the list is left to json")
		}
		text := fmt.Sprint(read)
		if strings.Contains(text, unread) || strings.Contains(text, unreadStatus) || !strings.Contains(text, "kaas-node-0002") {
			t.Errorf("read: %s", text)
		}
		var whole map[string]any
		if err := utiljson.Unmarshal([]byte(page), &whole); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(read, withoutUnread(whole, true)) {
			t.Error("more than that is missing")
		}
	}
	spec := `{"apiVersion":"v1","kind":"K","metadata":{},"spec":{"managedFields":[1],"metadata":{"managedFields":2}}}`
	if text := fmt.Sprint(contentOf([]byte(spec), true)); strings.Count(text, unread) != 2 {
		t.Errorf("fields of that name elsewhere are not kept: %s", text)
	}
}

// frames reads a stream to its end.
func frames(r io.ReadCloser, room int) (all []string, err error) {
	var whole []byte
	piece := make([]byte, room)
	for {
		n, err := r.Read(piece)
		whole = append(whole, piece[:n]...)
		switch {
		case errors.Is(err, io.ErrShortBuffer):
		case err != nil:
			return all, err
		default:
			all, whole = append(all, string(whole)), nil
		}
	}
}

// A watch is divided into its events as client-go divides it, however it arrives and however large they are.
func TestAWatchIsDividedAsClientGoDividesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream bytes.Buffer
		for range rapid.IntRange(0, 4).Draw(t, "events") {
			var compact bytes.Buffer
			value := drawValue(t, 0)
			if json.Compact(&compact, []byte(value)) != nil {
				continue
			}
			stream.WriteString(value + rapid.SampledFrom([]string{"", "\n", " \r\n"}).Draw(t, "end"))
		}
		stream.WriteString(rapid.SampledFrom([]string{"", "", `{"a":`, `x`, `[1] {"a":1}`, `7 {}`, `{"a":"}`}).Draw(t, "rest"))
		reader := func() io.ReadCloser {
			var r io.Reader = bytes.NewReader(stream.Bytes())
			if rapid.Bool().Draw(t, "slow") {
				r = iotest.OneByteReader(r)
			}
			return io.NopCloser(r)
		}
		room := rapid.IntRange(1, 64).Draw(t, "room")
		var want []string
		decoder := json.NewDecoder(bytes.NewReader(stream.Bytes()))
		var wantErr error
		for {
			var one json.RawMessage
			if wantErr = decoder.Decode(&one); wantErr != nil {
				break
			}
			want = append(want, string(one))
		}
		got, err := frames(onceFramer{}.NewFrameReader(reader()), room)
		if errors.Is(err, errHalf) { // the one difference: client-go takes half an object for an end
			err = io.ErrUnexpectedEOF
		}
		if !reflect.DeepEqual(got, want) || err.Error() != wantErr.Error() {
			t.Fatalf("%q is\n%q, %v\nand not\n%q, %v", stream.String(), got, err, want, wantErr)
		}
	})
}

// An event as API servers write it is read as json reads it.
func TestAnEventIsReadAsJSONReadsIt(t *testing.T) {
	for _, tt := range []struct {
		text  string
		plain bool
	}{
		{`{"type":"MODIFIED","object":{"a":"}\"","b":[{}]}}`, true},
		{`{"type":"ADDED","object":{}}` + "\n", true},
		{`{"type":"ADDED","object":{},"more":1}`, false},
		{`{"type":"ADDED","object":{}`, false},
		{`{"type":"ADDED","object":{}}}`, false},
		{`{"type":"A\"D","object":{}}`, false},
		{`{"type":"ADDED","object":null}`, false},
		{`{ "type":"ADDED","object":{}}`, false},
		{`{"object":{},"type":"ADDED"}`, false},
		{`{"type":"ADDED","object":{"a":1`, false},
	} {
		got, plain := watchEventOf([]byte(tt.text))
		if plain != tt.plain {
			t.Errorf("%s: plain is %v", tt.text, plain)
		}
		var want metav1.WatchEvent
		if plain && (utiljson.Unmarshal([]byte(tt.text), &want) != nil || !reflect.DeepEqual(got, want)) {
			t.Errorf("%s is %+v and not %+v", tt.text, got, want)
		}
	}
}
