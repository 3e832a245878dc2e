package openstack

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawServer draws a server in any state, and a call that asks for it.
func drawServer(t *rapid.T, c *Cloud) (*call, *server) {
	text := rapid.SampledFrom([]string{"", "a", "ü", `"<&>\`, "\n"})
	moment := rapid.SampledFrom([]time.Time{{}, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)})
	r := httptest.NewRequest("GET", "http://cloud/compute/v2.1/servers/detail", nil)
	if rapid.Bool().Draw(t, "single") {
		r.SetPathValue("id", "x")
	}
	k := &call{c: c, r: r, base: "http://cloud/compute", mv: microversion{minor: rapid.IntRange(1, 96).Draw(t, "microversion")},
		token: &token{roles: rapid.SampledFrom([][]string{{"admin"}, {"member"}}).Draw(t, "roles")}}
	s := &server{id: "11111111-1111-4111-8111-111111111111", name: text.Draw(t, "name"), number: 7, project: &project{id: "p"}, userID: "u",
		flavor: &flavor{}, vm: rapid.SampledFrom([]string{vmActive, vmBuilding, vmError, vmStopped, "deleted"}).Draw(t, "vm"),
		task: rapid.SampledFrom([]string{"", "migrating"}).Draw(t, "task"), power: rapid.IntRange(0, 7).Draw(t, "power"),
		tags: rapid.SampledFrom([][]string{nil, {}, {"a", "b=ü"}}).Draw(t, "tags"), locked: rapid.Bool().Draw(t, "locked"),
		metadata: rapid.SampledFrom([]map[string]string{nil, {}, {"k": "v", "a": "ü"}}).Draw(t, "metadata"), lockedReason: text.Draw(t, "why"),
		description: text.Draw(t, "description"), imageID: text.Draw(t, "image"), keyName: text.Draw(t, "key"), network: text.Draw(t, "network"),
		fromVolume: rapid.Bool().Draw(t, "volume"), created: moment.Draw(t, "created"), launched: moment.Draw(t, "launched"),
		deleted: rapid.Bool().Draw(t, "deleted")}
	s.flavor.Name, s.flavor.ID, s.flavor.VCPUs = text.Draw(t, "flavor"), "f", 2
	s.flavor.ExtraSpecs = rapid.SampledFrom([]map[string]string{nil, {"hw:mem_page_size": "large"}}).Draw(t, "specs")
	if rapid.Bool().Draw(t, "failed") {
		s.fault = &fault{code: 500, message: text.Draw(t, "fault")}
	}
	if rapid.Bool().Draw(t, "grouped") {
		s.group = &group{id: "g"}
	}
	if rapid.Bool().Draw(t, "on a host") {
		s.host = &host{}
		s.host.Name, s.host.Zone = "h1", "nova"
	}
	return k, s
}

// A server is written as any other answer is: as JSON, each field once, in the order of their names.
func TestAServerIsWrittenAsOtherAnswersAre(t *testing.T) {
	c, err := New(Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		k, s := drawServer(t, c)
		got := k.serverView(s)
		var read object
		if err := json.Unmarshal(got, &read); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		again, err := appendJSON(nil, read)
		if err != nil || len(again) != len(got) { // numbers are floats there, and written alike
			t.Fatalf("%s is not as\n%s (%v)", got, again, err)
		}
		if string(again) != string(got) {
			t.Fatalf("%s\nis not in the order of\n%s", got, again)
		}
	})
}

// A fleet's list has 100,000 servers, and the demo's dashboard asks for all of them.
func TestAServerIsWrittenWithLittle(t *testing.T) {
	const budget = 31 // 26 allocations measured, and a fifth more
	c, err := New(Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	k := &call{c: c, r: httptest.NewRequest("GET", "http://cloud/compute/v2.1/servers/detail", nil), base: "http://cloud/compute",
		mv: newestMicroversion, token: &token{roles: []string{"admin"}}}
	s := &server{id: "11111111-1111-4111-8111-111111111111", name: "web", project: &project{id: "p"}, userID: "u", flavor: &flavor{},
		vm:   vmActive,
		tags: []string{"a"}, network: "private", address: "10.0.0.1", imageID: "i", host: &host{}, behaviour: &Behaviour{}}
	var d document
	got := testing.AllocsPerRun(100, func() {
		d = d[:0]
		k.appendServer(&d, s)
	})
	t.Logf("%.0f allocations, %d bytes", got, len(d))
	if got > budget {
		t.Errorf("a server takes %.0f allocations, and %d are allowed", got, budget)
	}
}
