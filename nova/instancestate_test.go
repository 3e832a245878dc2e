package nova

import (
	"context"
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

// The simulated Nova does what the writer asks for; the contract tests compare it with the real one.
func TestSimStatesAndTags(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		const id = "11111111-1111-4111-8111-111111111111"
		running := 1
		cloud := simCloud(t, openstack.Options{Clock: apart()},
			openstack.ServerSpec{Name: "web-1", ID: id, Status: "ERROR", PowerState: &running, Tags: []string{"backup=daily"}})
		ctx := context.Background()
		w := writes(t, simClient(t, cloud, "sim"), nil)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		becomes := func(status, host string) {
			t.Helper()
			until(t, "it is "+status, func() bool {
				in, err := w.Instance(ctx, id)
				must(err)
				there := in.TaskState == "" && in.Status == status
				if there && (in.Host != "") != (host != "") {
					t.Fatalf("it is %s on %q", in.Status, in.Host)
				}
				return there
			})
		}
		must(w.write(doing(core.IntentResetState, id)))
		becomes("ACTIVE", "some")
		const tag = "openstack.lcm.mirantis.com:maintenance_action=poweroff"
		must(w.write(tagging(id, "backup=daily", tag)))
		in, err := w.Instance(ctx, id)
		must(err)
		if !slices.Equal(in.Tags, []string{"backup=daily", tag}) {
			t.Errorf("tags %q", in.Tags)
		}
		must(w.write(tagging(id)))
		if in, err = w.Instance(ctx, id); err != nil || len(in.Tags) != 0 || !in.TagsKnown {
			t.Errorf("tags %q, %v", in.Tags, err)
		}
		must(w.write(doing(core.IntentShelve, id)))
		becomes("SHELVED_OFFLOADED", "")
		must(w.write(doing(core.IntentUnshelve, id)))
		becomes("ACTIVE", "some")
		if e := apiError(t, w.write(doing(core.IntentUnshelve, id))); e.Uncertain() ||
			e.Message != "Cannot 'unshelve' instance "+id+" while it is in vm_state active" {
			t.Errorf("refused with %s", e)
		}
	})
}
