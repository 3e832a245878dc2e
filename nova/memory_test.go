package nova

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
)

// manyServers is a page of a cloud's servers in JSON, with what Nova sends of each.
func manyServers(from, n int) []byte {
	var page strings.Builder
	page.WriteString(`{"servers": [`)
	for i := from; i < from+n; i++ {
		if i > from {
			page.WriteByte(',')
		}
		fmt.Fprintf(&page, `{"id": "9168b536-cd40-4630-b43f-%012d", "name": "web-%06d", "tenant_id": "6f70656e737461636b20342065766%03d",
			"user_id": "fd2cc9e1f3bb4a5d8d0cd0ba2c0a2%03d", "OS-EXT-SRV-ATTR:host": "kaas-node-%04d", "status": "ACTIVE",
			"OS-EXT-STS:vm_state": "active", "OS-EXT-STS:task_state": null, "OS-EXT-STS:power_state": 1,
			"OS-EXT-AZ:availability_zone": "zone-%d", "locked": false, "tags": ["openstack.lcm.mirantis.com:instance_migration_mode=live"],
			"flavor": {"original_name": "m1.large", "vcpus": 4, "ram": 8192, "disk": 80, "extra_specs": {"hw:mem_page_size": "large",
			"hw:cpu_policy": "shared"}}, "addresses": {"private": [{"addr": "10.0.0.1", "version": 4}]}, "hostId": "%032d",
			"created": "2017-10-10T15:49:08Z", "updated": "2017-10-10T15:49:09Z"}`, i, i, i%200, i%200, i/50, i%3, i)
	}
	page.WriteString(`]}`)
	return []byte(page.String())
}

// kept is how many bytes of the heap what build returns keeps.
func kept(build func() any) int {
	var before, after runtime.MemStats
	settle := func(m *runtime.MemStats) {
		for range 3 { // what a sync.Pool holds outlives two collections
			runtime.GC()
		}
		runtime.ReadMemStats(m)
	}
	settle(&before)
	what := build()
	settle(&after)
	runtime.KeepAlive(what)
	return int(after.HeapAlloc) - int(before.HeapAlloc)
}

// The measure of what the whole dashboard keeps: with 100,000 instances, each hundred bytes are ten megabytes.
func TestAnInstanceKeepsFewBytes(t *testing.T) {
	lane.Single(t)
	const count, budget = 10_000, 415 // 346 measured, and a fifth more
	var l *instancePoll
	learn := func() {
		for from := 0; from < count; from += pageSize {
			page := serverPage{polled: true}
			if err := decode(manyServers(from, pageSize), &page); err != nil {
				t.Fatal(err)
			}
			l.step++
			l.learnAll(l.listing, answer{look: l.listing, step: l.step, servers: page.listed})
		}
	}
	got := kept(func() any {
		l = newInstancePoll(&Poller{pace: 1, sink: func(core.Delta) {}})
		l.restart(l.listing)
		learn()
		return l
	}) / count
	t.Logf("%d bytes an instance", got)
	if l.known.Len() != count {
		t.Fatalf("%d instances are known", l.known.Len())
	}
	if got > budget {
		t.Errorf("an instance keeps %d bytes, and %d are allowed", got, budget)
	}
	// Looks without end must not add to it.
	if more := kept(func() any { learn(); learn(); return l }) / count; more > 8 {
		t.Errorf("another look at the same instances keeps %d bytes more of each", more)
	}
}

func TestInstancesShareWhatRepeats(t *testing.T) {
	var s shared
	record := func(tags ...string) *core.Instance {
		flavor := &core.Flavor{Name: "m1", ExtraSpecs: map[string]string{"a": "b"}}
		return &core.Instance{Host: strings.Clone("h1"), Tags: tags, SharedFlavor: flavor}
	}
	a, b := record("x", "y"), record("x", "y")
	s.share(a)
	s.share(b)
	if !same(a, b) || &a.Tags[0] != &b.Tags[0] || a.SharedFlavor != b.SharedFlavor {
		t.Errorf("%+v and %+v do not share their tags and their flavor", a, b)
	}
	changed := record("x\x00y")
	changed.SharedFlavor.ExtraSpecs = map[string]string{"a": "c"}
	want := *changed
	s.share(changed)
	if !same(changed, &want) {
		t.Errorf("sharing has changed an instance: %+v, want %+v", changed, want)
	}
	for i := range 2 * mostShared {
		s.text(time.Duration(i).String())
	}
	if len(s.texts) > mostShared {
		t.Errorf("%d texts are remembered", len(s.texts))
	}
}

func TestOnlyEqualFlavorsAreShared(t *testing.T) {
	of := func() *core.Flavor {
		return &core.Flavor{Name: "m1", VCPUs: 1, RAMMiB: 2, DiskGiB: 3, MoreGiB: 4, ExtraSpecs: map[string]string{"a": "b"}}
	}
	if !sameFlavor(of(), of()) {
		t.Error("two equal flavors are not the same")
	}
	fields := reflect.TypeFor[core.Flavor]()
	for i := range fields.NumField() {
		other := of()
		reflect.ValueOf(other).Elem().Field(i).SetZero()
		if sameFlavor(of(), other) || sameFlavor(other, of()) {
			t.Errorf("flavors are the same although %s differs", fields.Field(i).Name)
		}
	}
	hidden, none := of(), of()
	hidden.ExtraSpecs, none.ExtraSpecs = nil, map[string]string{}
	if sameFlavor(hidden, none) {
		t.Error("a flavor without extra specs is the same as one whose extra specs are not shown")
	}
}

// A small answer is not read into the buffer of a large one, which would be kept for as long as there are small ones.
func TestALargeBufferIsNotKeptForSmallAnswers(t *testing.T) {
	for range 100 {
		large := bodyFor(-1, &serverPage{polled: true})
		large.Grow(4 << 20)
		giveBack(large)
		for _, small := range []*bytes.Buffer{bodyFor(200, &migrationPage{}), bodyFor(-1, &migrationPage{}),
			bodyFor(-1, &serverPage{polled: true, seen: newSeenServers()})} {
			if small.Cap() >= largeBody {
				t.Fatalf("a small answer got a buffer of %d bytes", small.Cap())
			}
			giveBack(small)
		}
	}
}

// The pages of a list are about as long as one another: the next one is read into a buffer that need not grow.
func TestAPageHasItsRoomBeforeItComes(t *testing.T) {
	for _, tt := range []struct {
		length int64
		out    checked
		want   int
	}{
		{300, &migrationPage{}, 300},
		{-1, &migrationPage{}, 0},
		{-1, &serverPage{}, 0},
		{-1, &serverPage{expect: 800_000}, 900_000},
		{500, &serverPage{expect: 800_000}, 500},
		{1 << 40, &serverPage{}, foretold},
		{-1, &serverPage{expect: 1 << 30}, foretold},
	} {
		if got := roomFor(tt.length, tt.out); got != tt.want {
			t.Errorf("%d bytes of %T: room for %d, want %d", tt.length, tt.out, got, tt.want)
		}
	}
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.put("a", "h1", "ACTIVE", 0)
		page := serverPage{polled: true}
		if _, err := n.client().readServers(t.Context(), serverQuery{}, "", pageSize, &page); err != nil || page.length < 100 {
			t.Errorf("a page of %d bytes, %v", page.length, err)
		}
	})
}
