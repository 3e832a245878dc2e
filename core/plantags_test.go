package core

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lockstep/sim/bubble"
)

func tagged(actions ...string) (tags []string) {
	for _, a := range actions {
		tags = append(tags, TagMaintenanceAction+a)
	}
	return tags
}

// Two recognised tags cancel each other (docs/mosk.md#tags): the tag that is there goes, what is no maintenance action stays, and
// the commands do the same.
func TestTagPowerOffReplacesWhatIsThere(t *testing.T) {
	const set = "openstack --os-compute-api-version 2.26 server set --tag openstack.lcm.mirantis.com:maintenance_action=poweroff " + web1
	unset := func(a string) string {
		return "openstack --os-compute-api-version 2.26 server unset --tag openstack.lcm.mirantis.com:maintenance_action=" + a + " " + web1
	}
	cases := []struct {
		tags     []string
		commands []string
		written  []string
		override bool
	}{
		{nil, []string{set}, tagged("poweroff"), false},
		{[]string{"backup=daily"}, []string{set}, append([]string{"backup=daily"}, tagged("poweroff")...), false},
		{tagged("notify"), []string{unset("notify"), set}, tagged("poweroff"), true},
		{append(tagged("live_migrate", "odd"), "x"), []string{unset("live_migrate"), set}, append(append(tagged("odd"), "x"), tagged("poweroff")...), true},
		{tagged("poweroff", "notify"), []string{unset("notify")}, tagged("poweroff"), true},
		{tagged("POWEROFF"), []string{set}, tagged("poweroff"), false}, // Nova's database takes the two for one
	}
	for _, tc := range cases {
		sc := healthy()
		sc.named("web-1").Tags = tc.tags
		st := Plan(sc.Snapshot, sc.asked("web-1", IntentTagPowerOff))
		if !st.Doable() || st.Risk != RiskHigh || st.Type != "web-1" || !slices.Equal(st.Commands, tc.commands) {
			t.Errorf("%q: %s (%s), %q\nwant %q", tc.tags, st.State, st.Blocker(), st.Commands, tc.commands)
			continue
		}
		if strings.Contains(st.Why, "overrides its owner's own wish") != tc.override {
			t.Errorf("%q: why %q", tc.tags, st.Why)
		}
		c := st.Change.(SetMaintenanceTags)
		if got := withActions(tc.tags, c.New); !slices.Equal(got, tc.written) {
			t.Errorf("%q: written %q, want %q", tc.tags, got, tc.written)
		}
	}
	sc := healthy()
	sc.named("web-1").Tags = tagged("poweroff")
	if st := Plan(sc.Snapshot, sc.asked("web-1", IntentTagPowerOff)); st.State != StepDone || st.Change != nil {
		t.Errorf("tagged already: %s, %+v", st.State, st.Change)
	}
	for name, change := range map[GuardID]func(*Instance){
		"tags-known": func(in *Instance) { in.TagsKnown = false },
		"status":     func(in *Instance) { in.Status = "ERROR" },
	} {
		sc := healthy()
		change(sc.named("web-1"))
		if st := Plan(sc.Snapshot, sc.asked("web-1", IntentTagPowerOff)); !slices.Equal(failing(st), []GuardID{name}) {
			t.Errorf("%s: failing %q", name, failing(st))
		}
	}
}

// Whatever tags there are: after the step exactly one is recognised, and none that is no maintenance action is lost.
func TestTagsAreKept(t *testing.T) {
	tag := rapid.OneOf(rapid.SampledFrom(append(tagged("live_migrate", "poweroff", "notify", "odd"), "backup=daily", "x")), rapid.StringN(1, 20, 60))
	rapid.Check(t, func(t *rapid.T) {
		tags := rapid.SliceOfNDistinct(tag, 0, 8, rapid.ID).Draw(t, "tags")
		got := withActions(tags, []MaintenanceAction{ActionPowerOff})
		if a, origin := EffectiveAction(got, ModeManual); a != ActionPowerOff || origin != OriginTag {
			t.Fatalf("%q becomes %q: %s by %s", tags, got, a, origin)
		}
		for _, own := range tags {
			if len(recognisedTags([]string{own})) == 0 && !strings.EqualFold(own, TagMaintenanceAction+"poweroff") && !slices.Contains(got, own) {
				t.Fatalf("%q becomes %q: %q is lost", tags, got, own)
			}
		}
	})
}

// What was there before is remembered over a restart, offered back when the maintenance is over, and set back.
func TestFormerTagsAreOfferedBack(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		dir, cloud := t.TempDir(), newTestCloud()
		cloud.instances["id-web-1"].Tags = append(tagged("notify"), "backup=daily")
		cloud.instances["id-web-1"].TagsKnown = true
		b := newBench(t, dir, cloud)
		b.arm()
		id, err := b.confirm(Intent{Kind: IntentTagPowerOff, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationDone {
			t.Fatalf("ended as %s: %s", op.State, op.Text)
		}
		if want := append([]string{"backup=daily"}, tagged("poweroff")...); !slices.Equal(cloud.instances["id-web-1"].Tags, want) {
			t.Errorf("the cloud has %q, want %q", cloud.instances["id-web-1"].Tags, want)
		}
		b.end()

		b = newBench(t, dir, cloud)
		defer b.end()
		c, ok := b.engine.Snapshot().History.Tags["id-web-1"]
		if !ok || !slices.Equal(c.Old, []MaintenanceAction{ActionNotify}) || !slices.Equal(c.New, []MaintenanceAction{ActionPowerOff}) || c.By != "anna@jump01" {
			t.Fatalf("after a restart the change is %+v", c)
		}
		b.arm()
		id, err = b.confirm(Intent{Kind: IntentRestoreTags, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		b.awaitEnd(id)
		if got, want := cloud.instances["id-web-1"].Tags, append([]string{"backup=daily"}, tagged("notify")...); !slices.Equal(got, want) {
			t.Errorf("the tags are %q, want %q", got, want)
		}
		if changes := b.engine.Snapshot().History.Tags; len(changes) != 0 {
			t.Errorf("set back, and still offered: %v", changes)
		}
	})
}

// Tags that somebody changed meanwhile are that person's word: nothing is written, neither over them nor back.
func TestTagsThatChangedMeanwhileStay(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := newTestCloud()
		cloud.instances["id-web-1"].TagsKnown = true
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		step := Plan(b.engine.Snapshot(), Intent{Kind: IntentTagPowerOff, Instance: "id-web-1"})
		w := &tagChecker{nova: cloud, change: step.Change.(SetMaintenanceTags)}
		cloud.instances["id-web-1"].Tags = tagged("notify")
		refused(t, w.check(t.Context()), "have changed: it is tagged notify now")
		sc := healthy()
		sc.History.Tags[web1] = TagChange{Instance: "web-1", Old: []MaintenanceAction{ActionNotify}, New: []MaintenanceAction{ActionPowerOff}, At: ago(time.Hour)}
		sc.named("web-1").Tags = tagged("live_migrate")
		if st := Plan(sc.Snapshot, sc.asked("web-1", IntentRestoreTags)); st.Change != nil || !slices.Equal(failing(st), []GuardID{"unchanged"}) {
			t.Errorf("restore over another's tag: %q, %+v", failing(st), st.Change)
		}
	})
}

// When its node is through, an instance that Lockstep tagged needs a look; not before, and not when somebody else decided.
func TestTagsLeft(t *testing.T) {
	left := func(change func(sc scene)) bool {
		sc := healthy()
		sc.update(2 * time.Hour)
		sc.named("web-1").Tags = tagged("poweroff")
		sc.History.Tags[web1] = TagChange{Instance: "web-1", Old: []MaintenanceAction{ActionNotify}, New: []MaintenanceAction{ActionPowerOff}, At: ago(time.Hour)}
		sc.History.Rounds["uid-cmp-01"] = Round{Request: "r", Update: "cmr", Started: ago(50 * time.Minute), Ended: ago(10 * time.Minute)}
		change(sc)
		return slices.ContainsFunc(sc.Attention(), func(a Attention) bool { return a.ID == "tags-left/"+web1 })
	}
	for name, tc := range map[string]struct {
		change func(sc scene)
		want   bool
	}{
		"its node is through":         {func(scene) {}, true},
		"its node is in maintenance":  {func(sc scene) { sc.request("cmp-01", time.Minute) }, false},
		"its node's turn comes":       {func(sc scene) { sc.History.Rounds = map[string]Round{} }, false},
		"its owner decided otherwise": {func(sc scene) { sc.named("web-1").Tags = tagged("live_migrate") }, false},
		"it is gone":                  {func(sc scene) { delete(sc.Instances, web1) }, false},
	} {
		if got := left(tc.change); got != tc.want {
			t.Errorf("%s: told %v", name, got)
		}
	}
}
