package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/sim/bubble/lane"
)

// fakeLooker gives what it was given.
type fakeLooker struct {
	mu       sync.Mutex
	parts    []core.LogPart
	err      error
	events   []core.Event
	most     []int // events of an object that were asked for
	many     bool  // there are more events
	object   core.ObjectText
	asked    []core.LogRequest
	about    [][]core.EventTarget
	pods     core.PodList
	podsErr  error
	podsOf   []core.PodsTarget
	pod      core.LogPod
	podErr   error
	contexts []context.Context
}

func (f *fakeLooker) Log(ctx context.Context, r core.LogRequest, sink func(core.LogPart)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.contexts = append(f.asked, r), append(f.contexts, ctx)
	for _, p := range f.parts {
		sink(p)
	}
	return f.err
}

func (f *fakeLooker) Events(_ context.Context, about []core.EventTarget, most int) (core.EventList, error) {
	f.about, f.most = append(f.about, about), append(f.most, most)
	out := core.EventList{Events: f.events}
	if f.many {
		out.Cut = about[:1]
	}
	return out, f.err
}

func (f *fakeLooker) Object(context.Context, core.ObjectTarget) (core.ObjectText, error) {
	return f.object, f.err
}

func (f *fakeLooker) Pods(_ context.Context, t core.PodsTarget) (core.PodList, error) {
	f.podsOf = append(f.podsOf, t)
	return f.pods, f.podsErr
}

func (f *fakeLooker) Pod(context.Context, core.PodRow) (core.LogPod, error) { return f.pod, f.podErr }

func withLooker(f *fakeLooker) func(*Options) { return func(o *Options) { o.Looker = f } }

// rockoonParts are a log as the OpenStack controller writes it, with a pod of eight containers.
func rockoonParts() []core.LogPart {
	at := before(3 * time.Minute)
	var lines []core.LogLine
	for i, text := range []string{
		"2026-03-14 16:40:10,102 [INFO] rockoon.controllers.maintenance: Got moving node cmp-11 into maintenance for compute",
		"2026-03-14 16:40:11,871 [INFO] rockoon.services.base: Starting migration for 0cb6df91-ffff-4fff-8fff-ffffffffffff",
		"2026-03-14 16:40:41,915 [INFO] rockoon.services.base: Waiting servers migration is completed: ['0cb6df91-ffff-4fff-8fff-ffffffffffff']",
		"2026-03-14 16:41:12,004 [WARNING] rockoon.controllers.maintenance: Instance 0db7e092 has multiple openstack.lcm.mirantis.com:" +
			"maintenance_action tags: ['live_migrate', 'notify']. Fallback to the default action.",
		"2026-03-14 16:41:40,120 [ERROR] kopf.objects: [kaas-node-cmp07] Handler 'node_maintenance_request_change_handler' failed temporarily:" +
			" Some servers are still present on the host. Notify owners of the following server: ['0db7e092-ffff-4fff-8fff-ffffffffffff']",
	} {
		lines = append(lines, core.LogLine{Pod: "rockoon-5b7d9f6c4-x2k8p", At: at.Add(time.Duration(i*21) * time.Second), Text: text})
	}
	lines = append(lines, core.LogLine{Pod: "rockoon-5b7d9f6c4-x2k8p", Notice: true,
		Text: "the container nodemaintenancerequest of rockoon-5b7d9f6c4-x2k8p has started again: restart 1"})
	return []core.LogPart{{Well: true, Lines: lines, Pods: []core.LogPod{{Name: "rockoon-5b7d9f6c4-x2k8p", Node: "ctl-01", Read: true,
		Containers: []core.LogContainer{{Name: "osdpl"}, {Name: "node"}, {Name: "nodemaintenancerequest", Restarts: 1}}}}}}
}

// following is the page of a log that goes on: what reads it has not returned.
func (d *driver) following() *driver {
	if p, ok := d.top().(*logPage); ok {
		p.state.ended = false
	}
	return d
}

// savedText is what the page of a log would save.
func savedText(d *driver) string {
	p := d.top().(*logPage)
	return p.text(p.ring.rows)
}

func TestScreensOfLogs(t *testing.T) {
	forbidden := &core.APIError{Kind: core.ErrForbidden, Server: core.ServerKubernetes, Status: 403,
		Call:    "read the log of osh-system/rockoon-1",
		Message: `pods "rockoon-1" is forbidden: User "anna" cannot get resource "pods/log" in API group "" in the namespace "osh-system"`,
		Remedy:  "You may not get pods/log in namespace osh-system: ask an administrator to apply deploy/rbac-readonly.yaml."}
	lost := &core.APIError{Kind: core.ErrUnreachable, Server: core.ServerKubernetes, Call: "read the log of osh-system/rockoon-1",
		Message: "connection refused", Remedy: "Nothing listens there: check the VPN."}
	warned := []core.Event{
		{At: before(9 * time.Minute), Count: 1, Reason: "NodeNotSchedulable", Kind: "Node", About: "kaas-node-cmp11", From: "kubelet",
			Message: "Node kaas-node-cmp11 status is now: NodeNotSchedulable"},
		{At: before(time.Minute), Count: 41, Warning: true, Reason: "FailedEviction", Kind: "Pod", About: "stacklight/exporter-0", From: "lcm",
			Message: "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget exporter needs 2 healthy" +
				" pods and has 2 currently"},
	}
	node := core.ObjectText{YAML: "apiVersion: v1\nkind: Node\nmetadata:\n  labels:\n    openstack-compute-node: enabled\n  " +
		"name: kaas-node-cmp07\nspec:\n  taints:\n  - effect: NoSchedule\n",
		Describe: "Kind:                Node (v1)\nName:                kaas-node-cmp07\n\nLabels\n  openstack-compute-node=enabled\n\n" +
			"Conditions\n  Ready                  True     KubeletReady  kubelet is posting ready status  since 2026-08-27T22:50:10Z\n\n" +
			"Status\n  addresses:\n    - address: 10.20.0.12\n      type: InternalIP\n"}
	for _, size := range sizes {
		for _, screen := range []struct {
			name   string
			looker *fakeLooker
			keys   []string
		}{
			{"podlog", &fakeLooker{parts: rockoonParts()}, []string{"5", "P"}},
			{"podlog-search", &fakeLooker{parts: rockoonParts()}, []string{"5", "P", "/", "migra", "enter", "m"}},
			{"podlog-forbidden", &fakeLooker{err: forbidden}, []string{"5", "P"}},
			{"podlog-trouble", &fakeLooker{parts: append(rockoonParts(), core.LogPart{Trouble: lost})}, []string{"5", "P"}},
			{"podlog-times", &fakeLooker{parts: rockoonParts()}, []string{"5", "P", "T", "16:30 to 16:41:30"}},
			{"podlog-range", &fakeLooker{parts: rockoonParts()}, []string{"5", "P", "T", "16:30 to 16:41:30", "enter"}},
			{"looks", &fakeLooker{}, []string{"3", "I"}},
			{"events-many", &fakeLooker{events: warned, many: true}, []string{"3", "K"}},
			{"events", &fakeLooker{events: warned}, []string{"3", "K"}},
			{"yaml", &fakeLooker{object: node}, []string{"3", "Y"}},
			{"described", &fakeLooker{object: node}, []string{"3", "D"}},
		} {
			name := fmt.Sprintf("%s-%dx%d", screen.name, size.w, size.h)
			d := drive(world(), size.w, size.h, withLooker(screen.looker)).keys(screen.keys...)
			if screen.looker.err == nil && screen.name != "podlog-range" {
				d.following()
			}
			d.dirty = true
			golden(t, name, stripped(d.shows()))
		}
	}
}

// A log drives no terminal, however its lines are: nothing but the page's own sequences, each row in its width, no secret.
func TestALogCannotDriveTheTerminal(t *testing.T) {
	huge := strings.Repeat("\x1b[2J\u202eé", 2<<17)
	lines := []core.LogLine{{Pod: "a", At: fixtureNow, Text: "\x1b]0;owned\x07title\x1b[31m\rback\b"},
		{Pod: "a", At: fixtureNow, Text: huge[:core.MaxLogLine], Length: len(huge)}, {Pod: "a", At: fixtureNow, Text: "tab\tand\x00null\xff"},
		{Pod: "a", At: fixtureNow, Text: "connect https://admin:hunter2@nova/"},
		{Pod: "a", At: fixtureNow, Text: "\x1b[36mpassword\x1b[0m=\x1b[35mhunter2\x1b[0m token\u200b=hunter2"}}
	for _, keys := range [][]string{{"5", "P"}, {"5", "P", "z"}, {"5", "P", "/", "e", "enter"}} {
		d := drive(world(), 80, 24, withLooker(&fakeLooker{parts: []core.LogPart{{Lines: lines}}})).keys(keys...)
		for _, row := range strings.Split(ansi.Strip(d.shows()), "\n") {
			if ansi.StringWidth(row) > 80 || strings.ContainsFunc(row, unicode.IsControl) {
				t.Errorf("%v: the row %q", keys, row)
			}
		}
		for _, text := range []string{d.shows(), savedText(d)} {
			if strings.Contains(text, "hunter2") || strings.Contains(text, "\x1b]0;owned") {
				t.Errorf("%v: it shows a secret or a window title", keys)
			}
		}
		if saved := savedText(d); strings.ContainsFunc(strings.ReplaceAll(saved, "\n", ""), unicode.IsControl) {
			t.Errorf("%v: control characters would be saved", keys)
		}
	}
}

// Nothing is read any more once the page is gone, whichever way it was closed.
func TestAClosedLogIsNotRead(t *testing.T) {
	for _, closing := range []struct {
		how   string
		leave func(d *driver)
	}{
		{"esc", func(d *driver) { d.keys("esc") }},
		{"the dashboard comes back", func(d *driver) { d.layers = nil; d.keys("j") }},
		{"another reading", func(d *driver) { d.keys("r") }},
		{"another container", func(d *driver) { d.keys("c") }},
	} {
		f := &fakeLooker{parts: rockoonParts()}
		d := drive(world(), 80, 24, withLooker(f)).keys("5", "P")
		if f.contexts[0].Err() != nil {
			t.Fatalf("%s: it ended before", closing.how)
		}
		closing.leave(d)
		if f.contexts[0].Err() == nil {
			t.Errorf("%s: the log is still read", closing.how)
		}
	}
}

// What the page asks for follows its keys.
func TestALogIsAskedForAsTheKeysSay(t *testing.T) {
	f := &fakeLooker{parts: rockoonParts()}
	saved := map[string]string{}
	d := drive(world(), 120, 40, withLooker(f), func(o *Options) {
		o.SaveFile = func(name string, content []byte) (string, error) {
			saved[name] = string(content)
			return "/here/" + name, nil
		}
	}).keys("5", "P", "c", "p", "a", "s")
	want := []core.LogRequest{
		{Tail: 2000, Follow: true}, {Tail: 2000, Follow: true}, {Tail: 2000, Previous: true},
		{Tail: ringLines, Since: 15 * time.Minute, Previous: true},
	}
	containers := []string{"nodemaintenancerequest", "osdpl", "osdpl", "osdpl"}
	for i, got := range f.asked {
		w := want[i]
		if w.LogTarget = got.LogTarget; w != got || got.Container != containers[i] || got.Namespace != "osh-system" || got.Part != "rockoon-" {
			t.Errorf("request %d is %+v", i, got)
		}
	}
	const name = "log-rockoon--nodemaintenancerequest-20260314T164310Z.log"
	const begins = "2026-03-14T16:40:10.000Z rockoon-5b7d9f6c4-x2k8p 2026-03-14"
	if text := saved[name]; strings.Count(text, "\n") != 7 || !strings.Contains(text, "\n"+begins) {
		t.Errorf("saved are %v", saved)
	}
	if d.keys("m"); !strings.Contains(ansi.Strip(d.shows()), "there is no search yet") {
		t.Error("without a search there is nothing to match")
	}
}

// The log of the host of an instance is searched for the instance from the start: its own lines are few among those of the host. The
// search is cleared by esc, as one that was typed. The log of the node itself is searched for nothing.
func TestTheLogForAnInstanceIsSearchedForIt(t *testing.T) {
	s := world()
	web := s.ByHost["kaas-node-cmp07"][0]
	parts := []core.LogPart{{Well: true, Lines: []core.LogLine{
		{Pod: "nova-1", At: before(2 * time.Minute), Text: "INFO nova.compute.manager [instance: another] Took 0.70 seconds"},
		{Pod: "nova-1", At: before(time.Minute), Text: "INFO nova.compute.manager [instance: " + web.ID + "] Took 0.71 seconds"}},
		Pods: []core.LogPod{{Name: "nova-1", Node: "cmp-07", Read: true, Containers: []core.LogContainer{{Name: "nova-compute"}}}}}}
	d := drive(s, 120, 40, withLooker(&fakeLooker{parts: parts}))
	d.keys("3")
	d.nodes.Choose("kaas-node-cmp07")
	d.keys("4")
	d.pane(ScopeInstances).(*instancesPane).Choose(web.ID)
	d.keys("P")
	found := "/" + web.ID[:mostCounted-2] + "… 1 of 1"
	if screen := stripped(d.shows()); !strings.Contains(screen, found) || !strings.Contains(screen, "another") {
		t.Errorf("it is not searched for:\n%s", screen)
	}
	if d.keys("m"); strings.Contains(stripped(d.shows()), "another") {
		t.Error("other lines are among the matches")
	}
	if d.keys("esc"); d.top() == nil || !strings.Contains(stripped(d.shows()), "another") {
		t.Error("esc does not clear the search alone")
	}
	d = drive(s, 120, 40, withLooker(&fakeLooker{parts: parts}))
	d.keys("3")
	d.nodes.Choose("kaas-node-cmp07")
	if d.keys("P"); strings.Contains(stripped(d.shows()), " of 1 ") {
		t.Errorf("the log of a node is searched:\n%s", stripped(d.shows()))
	}
}

// A page that was scrolled up stays at its line while new ones come and old ones go; at the end it follows.
func TestALogStaysWhereItIsRead(t *testing.T) {
	f := &fakeLooker{}
	d := drive(world(), 80, 24, withLooker(f)).keys("5", "P").following()
	p := d.top().(*logPage)
	n := 0
	come := func(lines int) {
		var part core.LogPart
		for range lines {
			part.Lines = append(part.Lines, core.LogLine{Pod: "a", At: fixtureNow, Text: fmt.Sprintf("line %06d", n)})
			n++
		}
		p.feed.put(part)
		d.send(logTick{p, p.try})
		d.dirty = true
	}
	first := func() string {
		rows := strings.Split(stripped(d.shows()), "\n")
		i := slices.IndexFunc(rows, func(r string) bool { return strings.Contains(r, " line ") })
		return strings.Fields(rows[i])[2]
	}
	come(ringLines)
	if last := stripped(d.shows()); !strings.Contains(last, fmt.Sprintf("line %06d", n-1)) {
		t.Fatalf("the newest line is not shown:\n%s", last)
	}
	d.keys("pgdown", "k", "k", "k")
	at := first()
	come(3000)
	if got := first(); got != at {
		t.Errorf("the page stood at %s and is at %s", at, got)
	}
	d.keys("f")
	if !strings.Contains(stripped(d.shows()), fmt.Sprintf("line %06d", n-1)) {
		t.Error("f does not go to the newest line")
	}
	if len(p.ring.rows) > ringLines || p.ring.dropped != 3000 {
		t.Errorf("%d lines are kept, %d dropped", len(p.ring.rows), p.ring.dropped)
	}
}

// Events of another day say which, those that were not read are told of, and the rest can be read.
func TestEventsSayTheirDayAndWhatIsMissing(t *testing.T) {
	f := &fakeLooker{many: true, events: []core.Event{
		{At: before(30 * time.Hour), Count: 1, Reason: "Old", Kind: "Node", About: "kaas-node-cmp11", Message: "yesterday"},
		{At: before(time.Minute), Count: 1, Reason: "New", Kind: "Node", About: "kaas-node-cmp11", Message: "now"}}}
	d := drive(world(), 80, 24, withLooker(f)).keys("3", "K")
	for _, want := range []string{secondsClock(before(30*time.Hour), fixtureNow) + " ", secondsClock(before(time.Minute), fixtureNow) + " ",
		"there are more than 2000 events of", "a reads up to 20000."} {
		if shown := strings.Join(strings.Fields(stripped(d.shows())), " "); !strings.Contains(shown, want) {
			t.Errorf("%q is not on the page:\n%s", want, stripped(d.shows()))
		}
	}
	if text := d.top().(*lookText).plain(d.Model); !strings.HasPrefix(text, "--- not all are here: ") {
		t.Errorf("saved would be %s", text)
	}
	if d.keys("a", "a"); !slices.Equal(f.most, []int{2000, 20_000}) {
		t.Errorf("asked for were %v", f.most)
	}
	d.dirty = true
	if shown := stripped(d.shows()); strings.Contains(shown, "a reads up to") || !strings.Contains(shown, "Read more events, where") {
		t.Errorf("a second a offers more:\n%s", shown)
	}
}

// A line of today that is on the page at midnight is one of yesterday afterwards, and says so.
func TestALineSaysItsDayOnceThatIsOver(t *testing.T) {
	s := world()
	night := time.Date(2026, 3, 14, 23, 59, 58, 0, time.Local)
	s.Now = night
	d := drive(s, 80, 24, withLooker(&fakeLooker{parts: []core.LogPart{{Lines: []core.LogLine{{Pod: "a", At: night, Text: "last words"}}}}}))
	d.keys("5", "P")
	if shown := stripped(d.shows()); !strings.Contains(shown, " 23:59:58 last words") || strings.Contains(shown, "Mar 14 23:59:58") {
		t.Errorf("before midnight:\n%s", shown)
	}
	next := world()
	next.Now, next.Revision = night.Add(10*time.Second), s.Revision+1
	d.send(snapshotMsg{next})
	d.dirty = true
	if shown := stripped(d.shows()); !strings.Contains(shown, "Mar 14 23:59:58 last words") {
		t.Errorf("after midnight:\n%s", shown)
	}
}

// Lines of several pods come late and in any order. The page that is held stays at its line, and what is copied is what is seen.
func TestLateLinesOfOtherPodsDoNotMoveThePage(t *testing.T) {
	f := &fakeLooker{}
	d := drive(world(), 80, 24, withLooker(f)).keys("5", "P").following()
	p := d.top().(*logPage)
	come := func(pod string, each, shift time.Duration, count int) {
		part := core.LogPart{Pods: []core.LogPod{{Name: "a", Read: true}, {Name: "b", Read: true}}}
		for i := range count {
			at := fixtureNow.Add(-time.Hour).Add(time.Duration(i)*each + shift)
			part.Lines = append(part.Lines, core.LogLine{Pod: pod, At: at, Text: fmt.Sprintf("line of %s-%06d", pod, i)})
		}
		p.feed.put(part)
		d.send(logTick{p, p.try})
		d.dirty = true
	}
	seen := func() []string {
		var out []string
		for _, row := range strings.Split(stripped(d.shows()), "\n") {
			if _, text, ok := strings.Cut(row, "line of "); ok {
				out = append(out, strings.Fields(text)[0])
			}
		}
		return out
	}
	come("a", time.Second, 0, 200)
	seen()
	for range 100 {
		d.keys("k")
	}
	before := seen()
	come("b", time.Second, 500*time.Millisecond, 150) // from before the page, in it, and behind it
	after := seen()
	if after[0] != before[0] {
		t.Errorf("the page stood at %s and is at %s", before[0], after[0])
	}
	var copied []string
	for _, l := range strings.Split(strings.TrimSpace(p.text(p.seen())), "\n") {
		copied = append(copied, strings.TrimPrefix(l[strings.Index(l, "line of "):], "line of "))
	}
	if !slices.Equal(copied, after) {
		t.Errorf("seen are %v,\ncopied %v", after, copied)
	}
	if !slices.IsSortedFunc(p.ring.rows, (*podLine).compare) {
		t.Error("the rows are not in order")
	}
}

// Whatever comes, the ring is bounded, keeps the newest lines, in the order of their times, and counts the others.
func TestTheRingIsBounded(t *testing.T) {
	lane.Single(t)
	rapid.Check(t, func(rt *rapid.T) {
		var r logRing
		came, next := 0, 0
		for range rapid.IntRange(1, 6).Draw(rt, "parts") {
			var lines []core.LogLine
			size := rapid.SampledFrom([]int{10, 200, core.MaxLogLine}).Draw(rt, "size")
			for range rapid.IntRange(0, 3000).Draw(rt, "lines") {
				l := core.LogLine{Pod: "p", Text: strings.Repeat("x", size), At: fixtureNow.Add(time.Duration(next) * time.Millisecond)}
				if next++; rapid.IntRange(0, 99).Draw(rt, "late") == 0 {
					l.At = l.At.Add(-time.Second)
				}
				if rapid.IntRange(0, 99).Draw(rt, "notice") == 0 {
					l.At, l.Notice = time.Time{}, true
				}
				lines = append(lines, l)
			}
			came += len(lines)
			r.add(lines)
			bytes := 0
			for i, row := range r.rows {
				bytes += row.size()
				if i > 0 && row.At.Before(r.rows[i-1].At) {
					rt.Fatalf("row %d is older than the one before it", i)
				}
			}
			if len(r.rows) > ringLines || bytes != r.bytes || bytes > ringBytes || len(r.rows)+r.dropped != came {
				rt.Fatalf("%d rows of %d, %d dropped, %d bytes counted as %d", len(r.rows), came, r.dropped, bytes, r.bytes)
			}
		}
	})
}
