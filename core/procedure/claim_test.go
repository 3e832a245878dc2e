package procedure

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/scene"
)

// Shows which claims go with a node, and what holds them. The lock's finalizer waits for all of them and lists those that are
// left.
func TestTheClaimsOfANodeThatIsGone(t *testing.T) {
	const claim = "data-mariadb-server-0"
	pod := func(sc scene.Scene, i int) *core.DaemonPod { return sc.DaemonPods["openstack/mariadb-server"][i] }
	for name, tt := range map[string]struct {
		at    string
		with  func(sc scene.Scene)
		claim string // what holds the claim's step; "-": there is no such step; "": nothing holds it
		lock  string // what holds the lock's last step; empty: nothing
	}{
		"bound to it":            {"ctl-09", nil, "", "still there: data-mariadb-server-0 in openstack"},
		"bound to another":       {"ctl-02", nil, "-", ""},
		"without a volume":       {"pending", nil, "-", ""},
		"on no node's own disks": {"nfs", nil, "-", ""},
		"deleted already":        {"none", nil, "-", ""},
		"its volume is not there": {"lost", nil, "its volume pv-data-mariadb-server-0 is not there",
			"still there: data-mariadb-server-0"},
		"its pod runs on another node": {"ctl-09", func(sc scene.Scene) { pod(sc, 0).Node, pod(sc, 0).Ready = "ctl-01", true }, "-", ""},
		"its pod is still said to be on it": {"ctl-09", func(sc scene.Scene) { pod(sc, 0).Node = "ctl-09" },
			"mariadb-server-0 is still said to be there", "still there"},
		"another member is not ready": {"ctl-09", func(sc scene.Scene) { pod(sc, 1).Ready = false },
			"mariadb-server does not hold the node: mariadb-server: 1 of 3 ready", "still there"},
		"another member is missing": {"ctl-09", func(sc scene.Scene) {
			sc.DaemonPods["openstack/mariadb-server"] = sc.DaemonPods["openstack/mariadb-server"][:2]
		}, "mariadb-server does not hold the node", "still there"},
		"its own pod is not made yet": {"ctl-09", func(sc scene.Scene) {
			sc.DaemonPods["openstack/mariadb-server"] = sc.DaemonPods["openstack/mariadb-server"][1:]
		}, "-", "not known: mariadb-server has 2 of 3 pods: what the other claims is not known"},
		"the set is gone": {"ctl-09", func(sc scene.Scene) { sc.Snapshot.StatefulSets = nil }, "-", ""},
		"the claims are forbidden": {"ctl-09", func(sc scene.Scene) {
			sc.Source(core.SourceClaims, core.SourceForbidden)
			src := sc.Sources[core.SourceClaims]
			src.Err = &core.APIError{Kind: core.ErrForbidden, Call: "list persistentvolumeclaims in namespace openstack"}
			sc.Sources[core.SourceClaims] = src
			sc.Snapshot.Claims = nil
		}, "-", "you may not list persistentvolumeclaims in namespace openstack (deploy/rbac-maintenance.yaml)"},
		"the volumes are forbidden": {"ctl-09", func(sc scene.Scene) { sc.Source(core.SourceLocalVolumes, core.SourceForbidden) },
			"-", "persistentvolumes: you may not"},
		"no Redis, and its claims are forbidden": {"pending", func(sc scene.Scene) { sc.Source(core.SourceRedisClaims, core.SourceForbidden) },
			"-", ""},
		"the sets are not known": {"ctl-09", func(sc scene.Scene) { sc.Source(core.SourceStatefulSets, core.SourceForbidden) }, "-",
			"not known: statefulsets: forbidden"},
		"the volumes are old": {"ctl-09", func(sc scene.Scene) {
			src := sc.Sources[core.SourceLocalVolumes]
			src.AsOf = scene.Ago(2 * time.Minute)
			sc.Sources[core.SourceLocalVolumes] = src
		}, "persistentvolumes 2 m old", "persistentvolumes 2 m old"},
		"two claims of one pod": {"ctl-09+ctl-09", nil, "", "data-mariadb-server-0 in openstack, data-mariadb-server-0-1 in openstack"},
		"the controller is back": {"ctl-09", func(sc scene.Scene) {
			sc.Snapshot.Controller = &core.Deployment{Meta: core.Meta{Name: "rockoon"}, Replicas: 1, Ready: 1}
		}, "the controller itself does not run", "the controller itself does not run"},
		"its machine is disabled": {"ctl-09", func(sc scene.Scene) {
			sc.Disablings["ctl-09"] = &core.NodeNotice{Meta: core.Meta{Name: "d"}, Node: "ctl-09"}
		}, "-", "it is the time for it"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.GoneController(tt.at)
			if tt.with != nil {
				tt.with(sc)
			}
			p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "ctl-09"})
			found := "-"
			for _, st := range p.Steps {
				if st.Intent.Kind == core.IntentActDeleteClaim && st.Intent.Object.Name == claim {
					found = st.Blocker()
				}
			}
			if tt.claim == "-" && found != "-" || tt.claim == "" && found != "" || !strings.Contains(found, tt.claim) {
				t.Errorf("the claim's step is held by %q, want %q", found, tt.claim)
			}
			l := sc.NodeLock("ctl-09", core.ControllerOpenStack)
			st := step.Plan(sc.Again().Snapshot, core.Intent{Kind: core.IntentActLetGo, Controller: core.ControllerOpenStack, Object: l.Ref()})
			if got := st.Blocker(); tt.lock == "" && got != "" || !strings.Contains(got, tt.lock) {
				t.Errorf("the lock is held by %q, want %q", got, tt.lock)
			}
			if held := st.Blocker() != ""; held && strings.Contains(st.Why, "that is done.") && tt.claim != "-" {
				t.Errorf("it says %q", st.Why)
			}
		})
	}
}

// While claims are left, nothing says that the clean-up is done. A member without a node is shown, and holds nothing.
func TestTheProcedureOfClaims(t *testing.T) {
	sc := scene.GoneController("ctl-09")
	stage := func() string {
		v, _ := progress.NodeView(sc.Again().Snapshot, "ctl-09")
		return string(v.Stage) + ": " + v.Reason
	}
	if got := stage(); got != "waiting for you: it is gone, and you play the OpenStack controller: 1 volume claim on its disks, its lock "+
		"and what OpenStack knows of it wait for you" {
		t.Errorf("its stage is %s", got)
	}
	lines := func() string {
		p, _ := Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "ctl-09"})
		return strings.Join(append(scene.Outline(p), p.Summary...), "\n")
	}
	if got := lines(); !strings.Contains(got, "1 volume claim is bound to its disks") || strings.Contains(got, "done: no volume claim") ||
		!strings.Contains(got, "ready: delete claim data-mariadb-server-0 | mariadb-server-0, volume pv-data-mariadb-server-0") {
		t.Errorf("with a claim:\n%s", got)
	}
	sc = scene.GoneController("pending")
	if got := lines(); !strings.Contains(got,
		"waiting: mariadb-server-0 finds a node | mariadb-server: 2 of 3 ready; mariadb-server-0 is not (on no node)") ||
		!strings.Contains(got, "done: no volume claim is bound to the disks of ctl-09 | none is any more") ||
		!strings.Contains(got, "ready: let the lock go") {
		t.Errorf("without:\n%s", got)
	}
	sc.Snapshot.Operations = []core.Operation{{ID: "op", Step: "act-delete-claim/gone", Intent: core.Intent{Kind: core.IntentActDeleteClaim},
		Title: "delete claim x", Node: "ctl-09", State: core.OperationVerifying, Text: "its member starts"}}
	if got := lines(); !strings.Contains(got, "running: delete claim x | its member starts") ||
		strings.Contains(got, "ready: let the lock go") {
		t.Errorf("while one is under way:\n%s", got)
	}
}
