package step

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
	"pgregory.net/rapid"
)

// Two recognised tags cancel each other (docs/mosk.md#tags): the existing tag is removed, values that are not maintenance actions
// stay, and the commands do the same.
func TestTagPowerOffReplacesWhatIsThere(t *testing.T) {
	const set = "openstack --os-compute-api-version 2.26 server set --tag openstack.lcm.mirantis.com:maintenance_action=poweroff " + scene.Web1
	unset := func(a string) string {
		return "openstack --os-compute-api-version 2.26 server unset --tag openstack.lcm.mirantis.com:maintenance_action=" + a + " " + scene.Web1
	}
	cases := []struct {
		tags     []string
		commands []string
		written  []string
		override bool
	}{
		{nil, []string{set}, scene.Tagged("poweroff"), false},
		{[]string{"backup=daily"}, []string{set}, append([]string{"backup=daily"}, scene.Tagged("poweroff")...), false},
		{scene.Tagged("notify"), []string{unset("notify"), set}, scene.Tagged("poweroff"), true},
		{append(scene.Tagged("live_migrate", "odd"), "x"), []string{unset("live_migrate"), set},
			append(append(scene.Tagged("odd"), "x"), scene.Tagged("poweroff")...), true},
		{scene.Tagged("poweroff", "notify"), []string{unset("notify")}, scene.Tagged("poweroff"), true},
		{scene.Tagged("POWEROFF"), []string{set}, scene.Tagged("poweroff"), false}, // Nova's database takes the two for one
	}
	for _, tc := range cases {
		sc := scene.Healthy()
		sc.Named("web-1").Tags = tc.tags
		st := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentTagPowerOff))
		if !st.Doable() || st.Risk != core.RiskHigh || st.Type != "web-1" || !slices.Equal(st.Commands, tc.commands) {
			t.Errorf("%q: %s (%s), %q\nwant %q", tc.tags, st.State, st.Blocker(), st.Commands, tc.commands)
			continue
		}
		if strings.Contains(st.Why, "overrides its owner's own wish") != tc.override {
			t.Errorf("%q: why %q", tc.tags, st.Why)
		}
		c := st.Change.(core.SetMaintenanceTags)
		if got := WithActions(tc.tags, c.New); !slices.Equal(got, tc.written) {
			t.Errorf("%q: written %q, want %q", tc.tags, got, tc.written)
		}
	}
	sc := scene.Healthy()
	sc.Named("web-1").Tags = scene.Tagged("poweroff")
	if st := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentTagPowerOff)); st.State != core.StepDone || st.Change != nil {
		t.Errorf("tagged already: %s, %+v", st.State, st.Change)
	}
	for name, change := range map[core.GuardID]func(*core.Instance){
		"tags-known": func(in *core.Instance) { in.TagsKnown = false },
		"status":     func(in *core.Instance) { in.Status = "ERROR" },
	} {
		sc := scene.Healthy()
		change(sc.Named("web-1"))
		if st := Plan(sc.Snapshot, sc.Asked("web-1", core.IntentTagPowerOff)); !slices.Equal(scene.Failing(st), []core.GuardID{name}) {
			t.Errorf("%s: failing %q", name, scene.Failing(st))
		}
	}
}

// For any tags: after the step exactly one is recognised, and no value that is not a maintenance action is lost.
func TestTagsAreKept(t *testing.T) {
	tag := rapid.OneOf(rapid.SampledFrom(append(scene.Tagged("live_migrate", "poweroff", "notify", "odd"), "backup=daily", "x")),
		rapid.StringN(1, 20, 60))
	rapid.Check(t, func(t *rapid.T) {
		tags := rapid.SliceOfNDistinct(tag, 0, 8, rapid.ID).Draw(t, "tags")
		got := WithActions(tags, []core.MaintenanceAction{core.ActionPowerOff})
		if a, origin := core.EffectiveAction(got, core.ModeManual); a != core.ActionPowerOff || origin != core.OriginTag {
			t.Fatalf("%q becomes %q: %s by %s", tags, got, a, origin)
		}
		for _, own := range tags {
			if len(core.RecognisedTags([]string{own})) == 0 && !strings.EqualFold(own, core.TagMaintenanceAction+"poweroff") &&
				!slices.Contains(got, own) {
				t.Fatalf("%q becomes %q: %q is lost", tags, got, own)
			}
		}
	})
}
