package engine

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/step"
	"lockstep/sim/bubble"
)

// An instance is evacuated only off a host that is dead: Nova says right before whether it is. The operator types the instance's
// name, and the danger is shown.
func TestAnInstanceIsEvacuatedOffADeadHostOnly(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		evacuate := core.Intent{Kind: core.IntentEvacuate, Instance: "id-web-1"}
		cloud := newTestCloud()
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		if st := step.Plan(b.engine.Snapshot(), evacuate); !strings.Contains(st.Blocker(), "nova-compute of its host is down") {
			t.Errorf("off a host that is up: %s, %q", st.State, st.Blocker())
		}
		set := func(service, kubelet bool) {
			cloud.mu.Lock()
			cloud.services["cmp-1"].Up, cloud.dead = service, map[string]bool{"cmp-1": !kubelet}
			cloud.mu.Unlock()
		}
		set(false, false)
		b.sync()
		p, _ := procedure.Of(b.engine.Snapshot(), core.ProcedureKey{Kind: core.ProcedureNode, Subject: "cmp-1"})
		i := slices.IndexFunc(p.Steps, func(st core.Step) bool { return st.Intent.Instance == "id-web-1" })
		if i < 0 || p.Steps[i].Intent.Kind != core.IntentEvacuate {
			t.Fatalf("the procedure of the node of a dead host offers %+v", p.Steps)
		}
		st := p.Steps[i]
		if st.Type != "web-1" || st.Risk != core.RiskHighest || !strings.Contains(st.Why, "Be sure that the host is off") {
			t.Errorf("risk %s, to be typed %q: %s", st.Risk, st.Type, st.Why)
		}
		// The operator can also let it wait for its host.
		stays := slices.IndexFunc(st.Alternatives, func(o core.Step) bool { return o.Intent.Kind == core.IntentTagPowerOff })
		if stays < 0 || !st.Alternatives[stays].Doable() ||
			!strings.Contains(st.Alternatives[stays].Why, "it stays where it is until the host is back") {
			t.Errorf("beside it there is %+v", st.Alternatives)
		}

		// The host is back, or a part of it: nothing is sent.
		for _, tt := range []struct {
			service, kubelet bool
			want             string
		}{{true, true, "nova-compute of cmp-1 is up now"}, {false, true, "the kubelet of cmp-1 reports now: Ready is True"}} {
			set(tt.service, tt.kubelet)
			id, err := b.confirm(evacuate)
			if err != nil {
				t.Fatal(err)
			}
			if op := b.awaitEnd(id); op.State != core.OperationFailed || !strings.Contains(op.Text, tt.want) {
				t.Errorf("on a host that came back it ended as %s: %s, want %q", op.State, op.Text, tt.want)
			}
			if got := cloud.written(); len(got) > 0 {
				t.Errorf("the cloud received %q", got)
			}
			set(false, false)
			b.sync()
		}

		id, err := b.confirm(evacuate)
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationDone || !strings.Contains(op.Text, "cmp-2") {
			t.Errorf("it ended as %s: %s", op.State, op.Text)
		}
	})
}
