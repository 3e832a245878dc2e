package cli

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"lockstep/cli/inventory"
	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/kube"
	"lockstep/nova"
	"lockstep/sim"
	"lockstep/sim/kubeapi"
)

// Every source of the engine is either read by a snapshot or listed as the rehearsal's own: a source that is neither would be
// missing in the file, unnoticed.
func TestASnapshotKnowsEverySource(t *testing.T) {
	read := slices.Concat(kube.InventorySources(), kube.ManagementInventorySources(), nova.InventorySources())
	var own []core.SourceID
	for _, o := range inventory.Owns {
		own = append(own, o.Sources...)
	}
	sources := session.Sources()
	for _, id := range sources {
		switch isRead, isOwn := slices.Contains(read, id), slices.Contains(own, id); {
		case !isRead && !isOwn:
			t.Errorf("%s is neither read nor said to be the rehearsal's own", id)
		case isRead && isOwn:
			t.Errorf("%s is read, and said to be the rehearsal's own", id)
		}
	}
	for _, id := range slices.Concat(read, own) {
		if !slices.Contains(sources, id) {
			t.Errorf("%s is no source of the engine", id)
		}
	}
}

// A snapshot asks the cluster for every source that it is said to read: where the server refuses, the file says what is missing.
func everySourceIsMissed(t *testing.T, c *sim.Cloud) {
	t.Helper()
	defer c.Kube.AddFault(kubeapi.Fault{Verb: "list", Code: http.StatusForbidden})()
	_, code, out := takeSnapshot(t, c)
	if code != exitAttention {
		t.Fatalf("exit %d: %s", code, out)
	}
	for _, id := range kube.InventorySources() {
		if !strings.Contains(out, "COULD NOT BE READ: "+string(id)+": ") {
			t.Errorf("nobody says that %s could not be read:\n%s", id, out)
		}
	}
}
