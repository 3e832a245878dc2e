package kube

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/crds"
	"lockstep/sim/kubeapi"
)

// Stages are read where older and where newer versions keep them; one that is not over, and one without a time, do not count.
func TestStagesOfMachinesAreRead(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{CRDs: []crds.CRD{
			ownDefinition("lcm.mirantis.com", "LCMMachineUpgradeDrainStatus", "lcmmachineupgradedrainstatuses")}})
		for _, manifest := range []string{
			`{apiVersion: v1, kind: Namespace, metadata: {name: prod}}`,
			`{apiVersion: v1, kind: Namespace, metadata: {name: test}}`,
			`{apiVersion: lcm.mirantis.com/v1alpha1, kind: LCMMachineUpgradeDrainStatus, metadata: {name: cmp-1, namespace: prod}, stages: [` +
				`{name: Node maintenance requested, timestamp: "2026-11-21T19:00:00Z", success: true}, ` +
				`{name: Kubernetes drained, timestamp: "2026-11-21T19:05:00Z", success: false, message: a pod stays}, ` +
				`{name: Swarm drained, timestamp: "0001-01-01T00:00:00Z", success: true}]}`,
			`{apiVersion: lcm.mirantis.com/v1alpha1, kind: LCMMachineUpgradeDrainStatus, metadata: {name: cmp-2, namespace: prod}, status: ` +
				`{stages: [{name: Kubernetes drained, timestamp: "2026-11-21T19:06:00Z", status: Success}, ` +
				`{name: Kubernetes uncordoned, timestamp: "2026-11-21T19:07:00Z", success: true, status: InProgress}]}}`,
			`{apiVersion: lcm.mirantis.com/v1alpha1, kind: LCMMachineUpgradeDrainStatus, metadata: {name: cmp-1, namespace: test}, stages: [` +
				`{name: Kubernetes drained, timestamp: "2026-11-21T20:00:00Z", success: true}]}`,
			`{apiVersion: lcm.mirantis.com/v1alpha1, kind: LCMMachineUpgradeDrainStatus, metadata: {name: cmp-3, namespace: prod}}`,
		} {
			c.create(manifest)
		}
		got, err := c.client(kubeapi.Admin).MachineStages(t.Context(), "prod")
		if err != nil {
			t.Fatal(err)
		}
		at := func(minute int) time.Time { return time.Date(2026, 11, 21, 19, minute, 0, 0, time.UTC) }
		want := []core.MachineStage{{Machine: "cmp-1", Name: core.LCMStageRequested, At: at(0)},
			{Machine: "cmp-2", Name: core.LCMStageDrained, At: at(6)}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		c.AddFault(kubeapi.Fault{Verb: "list", Resource: "lcmmachineupgradedrainstatuses", Code: http.StatusForbidden})
		var failed *core.APIError
		if _, err := c.client(kubeapi.Admin).MachineStages(t.Context(), "prod"); !errors.As(err, &failed) || failed.Kind != core.ErrForbidden {
			t.Errorf("without the right: %v", err)
		}
	})
}
