package core

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/bubble"
)

// An instance is evacuated off a host that is dead, and off no other: Nova says which is which right before. Its name is typed,
// and the danger is said.
func TestAnInstanceIsEvacuatedOffADeadHostOnly(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		evacuate := Intent{Kind: IntentEvacuate, Instance: "id-web-1"}
		cloud := newTestCloud()
		b := newBench(t, t.TempDir(), cloud)
		defer b.end()
		b.arm()
		if st := Plan(b.engine.Snapshot(), evacuate); !strings.Contains(st.Blocker(), "nova-compute of its host is down") {
			t.Errorf("off a host that is up: %s, %q", st.State, st.Blocker())
		}
		set := func(up bool) {
			cloud.mu.Lock()
			cloud.services["cmp-1"].Up, cloud.dead = up, map[string]bool{"cmp-1": !up}
			cloud.mu.Unlock()
		}
		set(false)
		b.sync()
		p, _ := b.engine.Snapshot().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-1"})
		i := slices.IndexFunc(p.Steps, func(st Step) bool { return st.Intent.Instance == "id-web-1" })
		if i < 0 || p.Steps[i].Intent.Kind != IntentEvacuate {
			t.Fatalf("the procedure of the node of a dead host offers %+v", p.Steps)
		}
		st := p.Steps[i]
		if st.Type != "web-1" || st.Risk != RiskHighest || !strings.Contains(st.Why, "Be sure that the host is off") {
			t.Errorf("risk %s, to be typed %q: %s", st.Risk, st.Type, st.Why)
		}
		// The operator may as well have it wait for its host.
		stays := slices.IndexFunc(st.Alternatives, func(o Step) bool { return o.Intent.Kind == IntentTagPowerOff })
		if stays < 0 || !st.Alternatives[stays].Doable() || !strings.Contains(st.Alternatives[stays].Why, "it stays where it is until the host is back") {
			t.Errorf("beside it there is %+v", st.Alternatives)
		}

		// It came back since: nothing is sent.
		set(true)
		id, err := b.confirm(evacuate)
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationFailed || !strings.Contains(op.Text, "is up now") {
			t.Errorf("on a host that came back it ended as %s: %s", op.State, op.Text)
		}
		if got := cloud.written(); len(got) > 0 {
			t.Errorf("the cloud received %q", got)
		}

		set(false)
		b.sync()
		if id, err = b.confirm(evacuate); err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != OperationDone || !strings.Contains(op.Text, "cmp-2") {
			t.Errorf("it ended as %s: %s", op.State, op.Text)
		}
	})
}

// On a host whose kubelet reports, the way out of a silent nova-compute is to start it anew: its guests live. On a dead one it is
// to evacuate them.
func TestASilentNovaComputeOnALivingHost(t *testing.T) {
	for name, scene := range map[string]func() scene{"a maintenance": inMaintenance, "a removal": func() scene { sc := healthy(); sc.removes("cmp-01"); return sc }} {
		for _, dead := range []bool{false, true} {
			sc := scene()
			sc.daemonSet("openstack/nova-compute-default", "compute", false, "cmp-01").Application = "nova"
			sc.dies("cmp-01")
			if !dead {
				sc.Nodes["cmp-01"].Ready = "True"
			}
			p, _ := sc.again().Procedure(ProcedureKey{Kind: ProcedureNode, Subject: "cmp-01"})
			doable := func(kind IntentKind) bool {
				return slices.ContainsFunc(p.Steps, func(st Step) bool { return st.Intent.Kind == kind && st.Doable() })
			}
			if got := doable(IntentRestartAgent); got == dead {
				t.Errorf("%s, dead %t: nova-compute can be started anew: %t; %q", name, dead, got, outline(p))
			}
			if got := doable(IntentEvacuate); got != dead {
				t.Errorf("%s, dead %t: evacuated: %t; %q", name, dead, got, outline(p))
			}
		}
	}
}
