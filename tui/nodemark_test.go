package tui

import (
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/themes"
)

// The mark of a node's row agrees with what "Needs you" says about the node, in every stage.
func TestANodesMarkAgreesWithWhatItNeeds(t *testing.T) {
	g := themes.Glyphs{Needs: "!", Moves: ">", Failed: "x", Done: "v", Queued: "q", Unknown: "?"}
	urgent := 0
	for _, s := range []*core.Snapshot{world(), managedWorld()} {
		for _, v := range progress.NodeViews(s) {
			k, needs := nodeMark(g, s, v), attention.NodeNeeds(s, v.Name)
			marked := k.glyph == "!" || k.glyph == "x"
			if needs == core.SeverityUrgent {
				urgent++
			}
			if needs == core.SeverityUrgent && !marked || needs == 0 && marked && v.Stage != core.StageWaiting {
				t.Errorf("%s, %s, needs %q, and is marked %q", v.Label, v.Stage, needs, k.glyph)
			}
		}
	}
	if urgent == 0 {
		t.Error("no node needs anybody at once: nothing was tested")
	}
}
