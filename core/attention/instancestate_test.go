package attention

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/scene"
)

// Without room, a further try does not come first. The entry names the hosts that could have taken the instance, and offers to
// enable those that an operator disabled.
func TestWithoutRoomMakingItComesFirst(t *testing.T) {
	sc := scene.Healthy()
	sc.Maintained("cmp-01", "Some servers are still present on the host.")
	in := sc.Named("web-1")
	in.SharedFlavor = &core.Flavor{Name: "huge", VCPUs: 16, RAMMiB: 96 << 10}
	sc.Services["cmp-02"].Enabled, sc.Services["cmp-02"].DisabledReason = false, "a dead fan"
	old := sc.Instance("cmp-03", "old-ci")
	old.Status, old.VMState, old.SharedFlavor = "SHUTOFF", "stopped", &core.Flavor{VCPUs: 2, RAMMiB: 4096}
	first := sc.Migration(in, "error", "", 9*time.Minute)
	second := sc.Migration(in, "error", "", 6*time.Minute)
	third := sc.Migration(in, "error", "", time.Minute)
	for _, m := range []*core.Migration{first, second, third} {
		m.Failure = "No valid host was found. There are not enough hosts available."
	}
	third.Failure = "" // its reason has not been found yet
	p, _ := procedure.Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	got := scene.Outline(p)[1:4]
	want := []string{"waiting: make room for web-1 | other hosts of its zone: 1 full or unfit, 1 disabled",
		"ready: enable nova-compute of cmp-02",
		"ready: stop web-1 | live migration failed 3 times: No valid host was found. There are not enough hosts available / tag-poweroff / " +
			"shelve / live-migrate / cold-migrate"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	for _, text := range []string{"no host for web-1 (16 vCPU, 96 GiB) in zone nova",
		"cmp-03 (2 instances take 2 vCPU, 4 GiB; 1 of them stopped)", "Disabled: cmp-02 (a dead fan)",
		"a stopped one keeps its place"} {
		if !strings.Contains(p.Steps[1].Why, text) {
			t.Errorf("%q does not say %q", p.Steps[1].Why, text)
		}
	}
	own, _ := procedure.Of(sc.Snapshot, core.ProcedureKey{Kind: core.ProcedureInstance, Subject: scene.Web1})
	if got := scene.Outline(own); !strings.HasPrefix(got[0], "waiting: make room") || !strings.HasPrefix(got[2], "ready: stop web-1") ||
		!strings.HasPrefix(got[5], "ready: live-migrate") {
		t.Errorf("on the instance's page: %q", got)
	}
	sc.Maintained("cmp-02", "Some servers are still present on the host.")
	p, _ = procedure.Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-01"})
	if got := scene.Outline(p)[1:3]; got[0] != "waiting: make room for web-1 | other hosts of its zone: 1 full or unfit, 1 in maintenance" ||
		!strings.HasPrefix(got[1], "ready: stop web-1") {
		t.Errorf("while the disabled host is being emptied itself: %q", got)
	}
	sc.Maintained("cmp-02", "")
	delete(sc.NodeRequests, "cmp-02")
	for _, a := range Of(sc.Again().Snapshot) {
		if a.Instance == scene.Web1 && !a.Since.At.Equal(core.Later(second.Created, second.Updated)) {
			t.Errorf("%s is told since %s: a further try that fails makes it no younger", a.ID, a.Since.At)
		}
	}
}

// The controller's next try, which fails like the earlier ones, does not make the node's entry younger.
func TestAnEntryDoesNotGrowYounger(t *testing.T) {
	since := func(tries ...time.Duration) time.Time {
		sc := scene.Healthy()
		sc.Maintained("cmp-01", "Some servers are still present on the host.")
		sc.Instance("cmp-01", "broken").Status = "ERROR"
		for _, d := range tries {
			sc.Migration(sc.Named("web-1"), "error", "", d).Failure = "No valid host was found."
		}
		// the last try has just begun
		sc.History.Stages["uid-cmp-01"] = core.StageRecord{Stage: core.StageEvacuating,
			Since: core.Since{At: scene.Ago(10 * time.Second), Exact: true}}
		for _, a := range Of(sc.Snapshot) {
			if strings.HasPrefix(a.ID, "node-waits/") {
				return a.Since.At
			}
		}
		t.Fatal("the node does not wait")
		return time.Time{}
	}
	three := since(14*time.Minute, 12*time.Minute, 10*time.Minute)
	more := since(14*time.Minute, 12*time.Minute, 10*time.Minute, 8*time.Minute, 2*time.Minute)
	if want := scene.Ago(6 * time.Minute); !three.Equal(want) || !more.Equal(want) { // when the record of the second try was last changed
		t.Errorf("it waits since %s, and after two more tries since %s; want %s", three, more, want)
	}
}
