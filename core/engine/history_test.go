package engine

import (
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
)

// What Lockstep offers to set back is what was there before it: not what was there before somebody else's change.
func TestWhatIsSetBackIsWhatLockstepFound(t *testing.T) {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	for _, tt := range []struct {
		name    string
		changes [][2]string // from, to; empty: not set
		back    string      // to what it is set back
		left    bool        // there is something to set back
	}{
		{"one change", [][2]string{{"", "skip"}}, "", true},
		{"one after the other", [][2]string{{"", "skip"}, {"skip", "manual"}}, "", true},
		{"and back", [][2]string{{"", "skip"}, {"skip", "manual"}, {"manual", ""}}, "", false},
		{"somebody else's between", [][2]string{{"", "skip"}, {"manual", "skip"}}, "manual", true},
		{"back to somebody else's", [][2]string{{"", "skip"}, {"manual", "skip"}, {"skip", "manual"}}, "", false},
	} {
		modes, tags := map[string]core.AnnotationChange{}, map[string]core.TagChange{}
		actions := func(s string) []core.MaintenanceAction {
			if s == "" {
				return nil
			}
			return []core.MaintenanceAction{core.MaintenanceAction(s)}
		}
		for _, c := range tt.changes {
			noteChange(modes, "uid", core.AnnotationChange{Old: text(c[0]), New: text(c[1])})
			step.NoteTags(tags, "id", core.TagChange{Old: actions(c[0]), New: actions(c[1])})
		}
		mode, left := modes["uid"]
		if left != tt.left || !step.EqualText(mode.Old, text(tt.back)) {
			t.Errorf("%s: to set back: %v, %+v", tt.name, left, mode)
		}
		if tag, left := tags["id"]; left != tt.left || !slices.Equal(tag.Old, actions(tt.back)) {
			t.Errorf("%s, as tags: %v, %+v", tt.name, left, tag)
		}
	}
}
