package cli

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/step"
	"lockstep/sim/bubble"
)

// The next run knows what the last one began: it follows a live migration that was under way to its end, and reports a cold one
// until it is confirmed or reverted, on whichever node the instance is.
func TestTheNextRunFollowsWhatTheLastOneBegan(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		st := playStory(t, told(t, "manual-nodes"))
		st.arm()
		var ids []string
		st.until("two instances can be migrated", func(s *core.Snapshot) bool {
			ids = nil
			for id := range s.Instances.All() {
				live, cold := core.Intent{Kind: core.IntentLiveMigrate, Instance: id}, core.Intent{Kind: core.IntentColdMigrate, Instance: id}
				if step.Plan(s, live).Doable() && step.Plan(s, cold).Doable() {
					ids = append(ids, id)
				}
			}
			slices.Sort(ids)
			return len(ids) > 1
		})
		st.confirm(core.Intent{Kind: core.IntentColdMigrate, Instance: ids[0]})
		live := step.Plan(st.last, core.Intent{Kind: core.IntentLiveMigrate, Instance: ids[1]})
		from := st.last.Instances.At(ids[1]).Host
		g, err := st.s.Engine.Grant(live, live.Type)
		if err != nil {
			t.Fatal(err)
		}
		id, err := st.s.Engine.Execute(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		of := func(s *core.Snapshot) core.Operation {
			if i := slices.IndexFunc(s.Operations, func(o core.Operation) bool { return o.ID == id }); i >= 0 {
				return s.Operations[i]
			}
			return core.Operation{}
		}
		st.until("the live migration is under way", func(s *core.Snapshot) bool { return strings.Contains(of(s).Text, "running") })
		st.stop()
		st.begin()
		st.until("the live migration has been followed to its end", func(s *core.Snapshot) bool {
			op := of(s)
			if op.State == core.OperationFailed {
				t.Fatalf("it is told as %s: %s", op.State, op.Text)
			}
			return op.State == core.OperationDone && op.Past && s.Instances.At(ids[1]).Host != from
		})
		told := func(s *core.Snapshot) bool {
			return slices.ContainsFunc(attention.Of(s), func(a core.Attention) bool { return a.ID == "own-migration/"+ids[0] && a.Resolve != nil })
		}
		st.until("the cold migration is told", told)
		st.arm()
		st.confirm(core.Intent{Kind: core.IntentConfirmResize, Instance: ids[0]})
		st.until("it is told no more", func(s *core.Snapshot) bool { return !told(s) && len(s.History.Cold) == 0 })
	})
}
