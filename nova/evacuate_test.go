package nova

import (
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

// Nova evacuates an instance from a host whose nova-compute is down, and refuses to when it is up.
func TestSimAnInstanceIsEvacuatedOffADeadHost(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		const id = "11111111-1111-4111-8111-111111111111"
		cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "web-1", ID: id})
		w := writes(t, simClient(t, cloud, "sim"), nil)
		if e := apiError(t, w.write(doing(core.IntentEvacuate, id))); !strings.Contains(e.Message, "still in use") {
			t.Errorf("off a host that is up: %v", e)
		}
		if err := cloud.CrashHost("kaas-node-001"); err != nil {
			t.Fatal(err)
		}
		until(t, "nova-compute is down", func() bool {
			svc, err := w.ComputeService(t.Context(), "kaas-node-001")
			if err != nil {
				t.Fatal(err)
			}
			return !svc.Up
		})
		if err := w.write(doing(core.IntentEvacuate, id)); err != nil {
			t.Fatal(err)
		}
		until(t, "it is on another host", func() bool {
			in, err := w.Instance(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			there := in.TaskState == "" && in.Host != "kaas-node-001"
			if there && in.Status != "ACTIVE" {
				t.Errorf("it is %s on %s: %s", in.Status, in.Host, in.Fault)
			}
			return there
		})
		records, err := w.MigrationsOf(t.Context(), id)
		if err != nil || len(records) != 1 || records[0].Type != "evacuation" || records[0].Failed() {
			t.Errorf("the records are %v, %v", records, err)
		}
	})
}
