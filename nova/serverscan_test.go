package nova

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawServers draws a page with what Nova sends, what others might, and what is no JSON.
func drawServers(t *rapid.T) []byte {
	names := append([]string{"hostId", "ID", "Tags", "x", "addresses", "k\\u0065y", "\u212Aey", "servers"}, scannedNames...)
	var value func(depth int) string
	value = func(depth int) string {
		kind := rapid.IntRange(0, 11).Draw(t, "kind")
		if depth > 4 {
			kind %= 8
		}
		switch kind {
		case 0, 1, 2, 3:
			return rapid.SampledFrom([]string{`""`, `"ACTIVE"`, `"ü"`, `"a\n\""`, `"\ud83d"`, "\"\xff\"", `"next"`}).Draw(t, "text")
		case 4, 5:
			return rapid.SampledFrom([]string{"0", "-3", "1.5", "1e3", "99999999999999999999", "true", "false"}).Draw(t, "word")
		case 6, 7:
			return "null"
		case 8:
			var items []string
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				items = append(items, value(depth+1))
			}
			return "[" + strings.Join(items, ", ") + "]"
		}
		var fields []string
		for range rapid.IntRange(0, 5).Draw(t, "fields") {
			fields = append(fields, `"`+rapid.SampledFrom(names).Draw(t, "name")+`": `+value(depth+1))
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	field := func(name string) string {
		switch name {
		case "tags":
			return rapid.SampledFrom([]string{"[]", `["a", "ü"]`, "null", "[7]"}).Draw(t, "tags")
		case "flavor":
			return rapid.SampledFrom([]string{`{"original_name": "m1", "vcpus": 2, "swap": "", "extra_specs": {}}`,
				`{"vcpus": 2, "ram": 4, "disk": 8, "ephemeral": 1, "swap": 512, "extra_specs": {"hw:a": "b", "c": null}}`,
				`{"id": "7"}`, "null"}).Draw(t, "flavor")
		case "OS-EXT-STS:power_state":
			return rapid.SampledFrom([]string{"1", "4", "1.0", "null", `"1"`}).Draw(t, "power")
		}
		return value(2)
	}
	var servers []string
	for range rapid.IntRange(0, 3).Draw(t, "servers") {
		var fields []string
		for range rapid.IntRange(0, 12).Draw(t, "fields") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			fields = append(fields, `"`+name+`":`+field(name))
		}
		servers = append(servers, "{"+strings.Join(fields, ", ")+"}")
	}
	page := []byte(rapid.SampledFrom([]string{`{"servers": [`, `{"a": {}, "servers": [`,
		` {"servers_links": [{"rel": "next"}], "servers": [`}).Draw(t, "begin") +
		strings.Join(servers, ",") +
		rapid.SampledFrom([]string{"]}", "]}\n", `], "servers_links": [{"rel": "prev", "href": "x"}]}`, "]} x"}).Draw(t, "end"))
	if rapid.IntRange(0, 3).Draw(t, "broken") == 0 {
		at := rapid.IntRange(0, len(page)-1).Draw(t, "at")
		return append(page[:at:at], page[at+rapid.IntRange(0, 1).Draw(t, "cut"):][:rapid.IntRange(0, len(page)-at-1).Draw(t, "left")]...)
	}
	return page
}

// A page of servers is what encoding/json makes of it, and what that refuses is not read.
func TestServersAreWhatJSONReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := drawServers(t)
		var got, want serverPage
		if !scanServers(body, &got) {
			return // json reads it
		}
		err := json.Unmarshal(body, &want)
		var wrongType *json.UnmarshalTypeError
		if errors.As(err, &wrongType) {
			t.Fatalf("%s is read, with a wrong type: %v", body, err)
		}
		if err != nil {
			t.Fatalf("%s is read, and json says: %v", body, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s is\n%+v\nand not\n%+v", body, got, want)
		}
		var listed []*listedServer
		if want.Servers != nil {
			listed = []*listedServer{}
		}
		for i := range want.Servers {
			listed = append(listed, want.Servers[i].listed())
		}
		for _, seen := range []*seenServers{nil, newSeenServers()} {
			for range 2 { // what the first page has is taken from there
				poll := serverPage{polled: true, seen: seen}
				if !scanServers(body, &poll) || !reflect.DeepEqual(poll.listed, listed) || !reflect.DeepEqual(poll.Links, want.Links) {
					t.Fatalf("%s, as polls read it, is\n%+v\nand not\n%+v", body, poll, want)
				}
			}
		}
	})
}

// A server of which Nova sends the same again is not read again, and one of which it sends anything else is.
func TestAServerThatWasSeenIsNotReadAgain(t *testing.T) {
	page := func(seen *seenServers, body []byte) []*listedServer {
		t.Helper()
		p := serverPage{polled: true, seen: seen}
		if err := decode(body, &p); err != nil {
			t.Fatal(err)
		}
		return p.listed
	}
	seen := newSeenServers()
	body := manyServers(0, 3)
	first := page(seen, body)
	if again := page(seen, body); !slices.Equal(first, again) {
		t.Error("the same page is read again")
	}
	other := page(seen, bytes.Replace(body, []byte(`"version": 4`), []byte(`"version": 6`), 1))
	if other[0] == first[0] || other[1] != first[1] || !reflect.DeepEqual(other[0], first[0]) {
		t.Errorf("a server with another address is %+v, before %+v", other[0], first[0])
	}
	moved := page(seen, bytes.Replace(body, []byte("kaas-node-0000"), []byte("kaas-node-0007"), 1))
	if moved[0].Host != "kaas-node-0007" || first[0].Host != "kaas-node-0000" {
		t.Errorf("a server that moved from %q is on %q", first[0].Host, moved[0].Host)
	}
	for from := 0; from < 3*seenMost; from += pageSize {
		page(seen, manyServers(from, pageSize))
	}
	if kept := len(seen.newer) + len(seen.older); kept > 2*seenMost {
		t.Errorf("%d servers are kept", kept)
	}
	if late := page(seen, body); late[0] == first[0] || !reflect.DeepEqual(late[0], first[0]) {
		t.Errorf("a server that was given up is %+v, before %+v", late[0], first[0])
	}
	// 13 measured, most of them of the growing list, and a fifth more.
	const servers, budget = 1000, 16
	seen, body = newSeenServers(), manyServers(0, servers)
	if got := testing.AllocsPerRun(5, func() { page(seen, body) }); got > budget {
		t.Errorf("a page of servers that were seen takes %.1f allocations, and %d are allowed", got, budget)
	}
}

// A page that encoding/json has to read is polled, too.
func TestAnUnusualPageOfServersIsPolled(t *testing.T) {
	p := serverPage{polled: true, seen: newSeenServers()}
	err := decode([]byte(`{"Servers": [{"id": "a", `+somewhere+`, "OS-EXT-STS:power_state": 1.0}]}`), &p)
	if err != nil || p.len() != 1 || p.id(0) != "a" {
		t.Errorf("it is %+v, %v", p, err)
	}
	for _, body := range []string{`{"Servers": [null]}`, `{"servers": [{}]}`, `{"servers": [{"id": "a"}]}`, `{"Servers": [{"id": "a"}]}`,
		`{"Servers": [{"id": "a", "OS-EXT-SRV-ATTR:host": 7}]}`, `{}`, `{"servers": null}`} {
		if err := decode([]byte(body), &serverPage{polled: true, seen: newSeenServers()}); err == nil {
			t.Errorf("%s is a page", body)
		}
	}
}

// What Nova sends is read in one pass.
func TestServersOfNovaAreReadInOnePass(t *testing.T) {
	for _, body := range []string{string(manyServers(0, 3)),
		`{"servers": [` + serverBody + `], "servers_links": [{"rel": "next", "href": "x"}]}`,
		`{"servers": []}`} {
		var got, want serverPage
		if err := json.Unmarshal([]byte(body), &want); err != nil {
			t.Fatal(err)
		}
		if !scanServers([]byte(body), &got) || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v", body, got, want)
		}
	}
}

// A list of the whole cloud has 100,000 servers, and every one is read again and again.
func TestAServerIsReadWithLittle(t *testing.T) {
	const servers, budget = 1000, 18 // 15 allocations measured, most of them what is kept, and a fifth more
	body := manyServers(0, servers)
	got := testing.AllocsPerRun(5, func() {
		var page serverPage
		if err := decode(body, &page); err != nil || len(page.Servers) != servers {
			t.Fatal(err)
		}
	}) / servers
	t.Logf("%.1f allocations a server", got)
	if got > budget {
		t.Errorf("a server takes %.1f allocations, and %d are allowed", got, budget)
	}
}
