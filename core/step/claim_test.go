package step

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// Before a claim is deleted, its pod, its volume, its node and the command with the UID as its condition are shown.
func TestWhatIsShownOfAClaim(t *testing.T) {
	sc := scene.GoneController("ctl-09")
	st := Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentActDeleteClaim, Controller: core.ControllerOpenStack, Node: "ctl-09",
		Object: sc.Claims["openstack/data-mariadb-server-0"].Ref()})
	if st.State != core.StepReady || st.Risk != core.RiskHigh || st.Type != "data-mariadb-server-0" || st.Undo != "" ||
		st.Status != "mariadb-server-0, volume pv-data-mariadb-server-0" {
		t.Errorf("it is %s (%s), risk %s, types %q: %s", st.State, st.Blocker(), st.Risk, st.Type, st.Status)
	}
	want := []string{`echo '{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"uid-data-mariadb-server-0"}}' | kubectl ` +
		`delete --raw /api/v1/namespaces/openstack/persistentvolumeclaims/data-mariadb-server-0 -f -`}
	if !slices.Equal(st.Commands, want) {
		t.Errorf("the commands are %q, want %q", st.Commands, want)
	}
	sc.Claims["openstack/data-mariadb-server-0"].Deleting = scene.Ago(time.Minute)
	sc.Claims["openstack/data-mariadb-server-0"].Finalizers = []string{"kubernetes.io/pvc-protection"}
	st = Plan(sc.Again().Snapshot, st.Intent)
	if st.State != core.StepWaiting || st.Change != nil ||
		!strings.Contains(st.Status, "held by kubernetes.io/pvc-protection: mariadb-server-0 is on no node") {
		t.Errorf("in its removal it is %s: %s", st.State, st.Status)
	}
	again := *sc.Claims["openstack/data-mariadb-server-0"]
	again.UID = "another"
	sc.Claims["openstack/data-mariadb-server-0"] = &again
	if st = Plan(sc.Again().Snapshot, st.Intent); st.Doable() || !strings.Contains(st.Blocker(), "it was made anew") {
		t.Errorf("made anew it is %s: %s", st.State, st.Blocker())
	}
}
