package cli

import (
	"testing"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/sim/bubble"
)

// The record tells as whom the servers know the operator, and with each confirmation.
func TestTheRecordTellsAsWhomTheServersKnowTheOperator(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		p := play(t, told(t, "smooth"))
		is := p.until("both servers have told who we are", func(s *core.Snapshot) bool {
			return s.Identity.KubernetesUser != "" && s.Identity.OpenStackUser != ""
		}).Identity
		p.confirm(core.Intent{Kind: core.IntentSetMode, Nodes: []string{p.last.NodeNames()[0]}, Mode: core.ModeManual})
		p.stop()
		seen := map[engine.RecordKind]string{}
		if _, err := engine.ReadJournal(p.s.journal.Path(), func(r engine.Record) {
			if r.As != nil {
				seen[r.Kind] = r.As.String()
			}
		}); err != nil {
			t.Fatal(err)
		}
		if seen[engine.RecordIdentity] != is.String() || seen[engine.RecordGrant] != is.String() {
			t.Errorf("the record has %v, want %s", seen, is)
		}
	})
}
