package tui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/tui/sanitise"
)

// Whoever names an instance, a plan's step or an alert must not write the confirmation's sentence: not with an escape sequence, a line
// break or a quote, and not with so long a name that the rest falls off the screen.
func TestAHostileNameDoesNotWriteTheConfirmation(t *testing.T) {
	for what, evil := range map[string]string{
		"an escape sequence": "x\x1b[2J\u202ey",
		"a line break":       "x\r\ny",
		"a quote":            `web-1" on node y, uid z. Stop "`,
		"a sentence":         "web-1 (cmp-01), uid z. Delete node y",
		"10 kB":              strings.Repeat("long ü", 1500),
	} {
		for name, change := range everyChange(t) {
			filled := reflect.New(reflect.TypeOf(change)).Elem()
			for _, flag := range []bool{false, true} {
				fillHostile(filled, evil, flag)
				step := core.Step{Target: core.Ref{Kind: core.KindInstance, Name: evil, UID: evil}, Label: evil,
					Change: filled.Interface().(core.Change)}
				for _, line := range describe(world(), step) {
					if drawn := sanitise.Row(line); drawn != line || len(line) > 3000 {
						t.Errorf("%s in %s: %d bytes, drawn as\n%.300q, want\n%.300q", what, name, len(line), drawn, line)
					}
					if name == "Batch" { // it has a line for each item
						continue
					}
					said := strings.Contains(line, "Delete node y") && !strings.Contains(line, "\"web-1 (cmp-01), uid z. Delete node y\"")
					if strings.Contains(line, "1\" on") || said {
						t.Errorf("%s in %s writes the sentence:\n%.300s", what, name, line)
					}
				}
			}
		}
	}
}

// fillHostile sets every text within v to evil, every flag to flag, every list to one entry, and every pointer to something where flag is
// set.
func fillHostile(v reflect.Value, evil string, flag bool) {
	switch v.Kind() {
	case reflect.String:
		if v.Type() != reflect.TypeFor[core.Kind]() && v.Type() != reflect.TypeFor[core.IntentKind]() { // Lockstep's own
			v.SetString(evil)
		}
	case reflect.Bool:
		v.SetBool(flag)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fillHostile(v.Field(i), evil, flag)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillHostile(v.Index(0), evil, flag)
	case reflect.Pointer:
		v.SetZero()
		if flag {
			v.Set(reflect.New(v.Type().Elem()))
			fillHostile(v.Elem(), evil, flag)
		}
	}
}

// The first sentence of a confirmation says what is changed, from what to what, on which object. That is the change's own object,
// even though a step of a played controller is granted for its lock. Every kind of change has such a sentence.
func TestEveryChangeSaysWhatItChanges(t *testing.T) {
	lock := core.Ref{Kind: core.KindNodeWorkloadLock, Name: "openstack-kaas-node-cmp07", UID: "lock-uid"}
	node := core.Ref{Kind: core.KindNode, Name: "kaas-node-cmp07", UID: "node-uid"}
	instance := core.Ref{Kind: core.KindInstance, Name: "web-1", UID: "instance-uid"}
	service := core.Ref{Kind: core.KindComputeService, Name: "kaas-node-cmp07", UID: "service-uid"}
	machine := core.Ref{Kind: core.KindMachine, Namespace: "mos", Name: "cmp-07", UID: "machine-uid"}
	skip, no := "skip", false
	told := map[string]bool{}
	for _, tt := range []struct {
		target core.Ref
		change core.Change
		want   string
	}{
		{node, core.SetNodeAnnotation{Node: node, Key: "mode", New: &skip},
			`Set mode from (not set) to "skip" on node kaas-node-cmp07 (cmp-07), uid node-uid.`},
		{instance, core.InstanceAction{Do: core.IntentStop, Instance: instance, Status: "ACTIVE"},
			"Stop instance web-1 (cmp-07), uid instance-uid, ACTIVE."},
		{instance, core.SetMaintenanceTags{Instance: instance, New: []core.MaintenanceAction{core.ActionPowerOff}},
			"Set the maintenance tags of instance web-1 (cmp-07), uid instance-uid from none to poweroff; its other tags stay."},
		{lock, core.SetComputeService{Service: service, Reason: core.DisabledReasonMaintenance, WasEnabled: true},
			`Disable nova-compute of kaas-node-cmp07 (cmp-07), uid service-uid with the reason "OSDPL: Node is under maintenance".`},
		{lock, core.SetComputeService{Service: service, Enabled: true, WasReason: core.DisabledReasonMaintenance},
			`Enable nova-compute of kaas-node-cmp07 (cmp-07), uid service-uid (disabled with "OSDPL: Node is under maintenance").`},
		{lock, core.SetVolumeService{Service: core.Ref{Kind: core.KindVolumeService, Name: "cmp-07@lvm"}, Reason: "disks"},
			`Disable cinder-volume cmp-07@lvm with the reason "disks".`},
		{lock, core.SetLock{Lock: lock, Was: core.LockActive, To: core.LockStatus{State: core.LockInactive, Release: "21.0.0"}},
			"Set the state of NodeWorkloadLock openstack-kaas-node-cmp07 (cmp-07), uid lock-uid from active to inactive, without a text, at " +
				"release 21.0.0."},
		{lock, core.SetLock{Lock: lock, To: core.LockStatus{State: core.LockFailed, Message: "a disk is broken"}},
			`Set the state of NodeWorkloadLock openstack-kaas-node-cmp07 (cmp-07), uid lock-uid from (not set) to failed, ` +
				`with the text "a disk is broken".`},
		{lock, core.SetInnerState{Lock: lock, To: core.InnerActive},
			"Set inner_state from (not set) to active on NodeWorkloadLock openstack-kaas-node-cmp07 (cmp-07), uid lock-uid."},
		{lock, core.CreateLock{Lock: core.NewLock{Kind: core.KindNodeWorkloadLock, Name: "openstack-x", Controller: "openstack",
			Node: "kaas-node-cmp07", Release: "21.0.0"}},
			"Create NodeWorkloadLock openstack-x of the controller openstack for cmp-07, release 21.0.0."},
		{node, core.CreateRequest{Request: core.NewRequest{Kind: core.KindNodeMaintenanceRequest, Name: "nmr-x", Node: "kaas-node-cmp07",
			Scope: core.ScopeDrain}},
			"Create NodeMaintenanceRequest nmr-x for cmp-07, scope drain."},
		{lock, core.DeleteObject{Object: lock}, "Delete NodeWorkloadLock openstack-kaas-node-cmp07 (cmp-07), uid lock-uid."},
		{lock, core.AddFinalizer{Object: lock, Finalizer: "rockoon"},
			"Add the finalizer rockoon to NodeWorkloadLock openstack-kaas-node-cmp07 (cmp-07), uid lock-uid."},
		{lock, core.RemoveFinalizer{Object: lock, Finalizer: "rockoon"},
			"Remove the finalizer rockoon from NodeWorkloadLock openstack-kaas-node-cmp07 (cmp-07), uid lock-uid."},
		{lock, core.DeleteClaim{Claim: core.Ref{Kind: core.KindVolumeClaim, Namespace: "openstack", Name: "data-db-0", UID: "claim-uid"},
			Pod: "db-0"},
			"Delete PersistentVolumeClaim data-db-0, uid claim-uid, in the namespace openstack: the claim of db-0."},
		{machine, core.SetMaintenance{Object: machine, Old: &no, On: true},
			"Set spec.providerSpec.value.maintenance from false to true on Machine cmp-07, uid machine-uid."},
		{machine, core.RequestReboot{Cluster: core.Ref{Kind: core.KindCluster, Name: "mos", UID: "mos-uid"},
			Machines: []string{"cmp-07", "cmp-08"}},
			"Create the GracefulRebootRequest of Cluster mos, uid mos-uid, for cmp-07, cmp-08."},
		{core.Ref{}, core.SetAutoPause{Pause: core.Ref{Kind: core.KindAutoPause, Name: "mos", UID: "p"}, Old: []string{"A"}, New: []string{"B"}},
			"Set the alerts of UpdateAutoPause mos, uid p from A to B."},
		{core.Ref{}, core.SetAutoPause{Pause: core.Ref{Kind: core.KindAutoPause, Name: "mos"}, New: []string{"A", "B"}},
			"Create UpdateAutoPause mos with the alerts A, B."},
		{core.Ref{}, core.SetGroup{Group: core.Ref{Kind: core.KindUpdateGroup, Name: "canary", UID: "g"}, Cluster: "mos",
			Old: &core.GroupSettings{Index: 2, Concurrent: 1}, New: &core.GroupSettings{Index: 1, Concurrent: 3, Reboot: true}},
			"Set spec.index from 2 to 1, spec.concurrentUpdates from 1 to 3, spec.rebootIfUpdateRequires from false to true on " +
				"UpdateGroup canary, uid g."},
		{core.Ref{}, core.SetGroup{Group: core.Ref{Kind: core.KindUpdateGroup, Name: "canary"}, Cluster: "mos",
			New: &core.GroupSettings{Index: 2, Concurrent: 1}},
			"Create UpdateGroup canary of the cluster mos: index 2, concurrentUpdates 1, rebootIfUpdateRequires false."},
		{core.Ref{}, core.SetGroup{Group: core.Ref{Kind: core.KindUpdateGroup, Name: "canary", UID: "g"}, Cluster: "mos",
			Old: &core.GroupSettings{Index: 2, Concurrent: 1}},
			"Delete UpdateGroup canary, uid g: index 2, concurrentUpdates 1, rebootIfUpdateRequires false."},
		{core.Ref{}, core.SetMachineGroup{Machine: core.Ref{Kind: core.KindMachine, Name: "cmp-01", UID: "m"}, New: "canary"},
			"Set the label kaas.mirantis.com/update-group from (not set) to canary on Machine cmp-01 (cmp-07), uid m."},
		{core.Ref{}, core.SetUpgradeIndex{Machine: core.Ref{Kind: core.KindMachine, Name: "cmp-01", UID: "m"}, Old: new(3), New: new(1)},
			"Set spec.providerSpec.value.upgradeIndex from 3 to 1 on Machine cmp-01 (cmp-07), uid m."},
		{core.Ref{}, core.SetUpgradeIndex{Machine: core.Ref{Kind: core.KindMachine, Name: "cmp-01", UID: "m"}, Old: new(3)},
			"Remove spec.providerSpec.value.upgradeIndex, which is 3, on Machine cmp-01 (cmp-07), uid m."},
		{core.Ref{}, core.SetAutoPause{Pause: core.Ref{Kind: core.KindAutoPause, Name: "mos", UID: "p"}, Old: []string{"A"}},
			"Delete UpdateAutoPause mos, uid p, which has the alerts A."},
		{core.Ref{Kind: core.KindCluster, Name: "mos", UID: "mos-uid"},
			core.SetRelease{Cluster: core.Ref{Kind: core.KindCluster, Name: "mos", UID: "mos-uid"}, Old: "mosk-17", New: "mosk-21"},
			"Set spec.providerSpec.value.release from mosk-17 to mosk-21 on Cluster mos, uid mos-uid."},
		{core.Ref{Kind: core.KindUpdatePlan, Name: "mos-21.0.0", UID: "plan-uid"},
			core.SetCommence{Plan: core.Ref{Kind: core.KindUpdatePlan, Name: "mos-21.0.0", UID: "plan-uid"}, ID: "ceph",
				Name: "Update Ceph", On: true},
			"Set commence of the step ceph of ClusterUpdatePlan mos-21.0.0, uid plan-uid."},
		{core.Ref{Kind: core.KindUpdatePlan, Name: "mos-21.0.0", UID: "plan-uid"},
			core.SetCommence{Plan: core.Ref{Kind: core.KindUpdatePlan, Name: "mos-21.0.0", UID: "plan-uid"}, Name: "Update Ceph"},
			"Take commence away from the step \"Update Ceph\" of ClusterUpdatePlan mos-21.0.0, uid plan-uid."},
		{core.Ref{Kind: core.KindPod, Name: "vrouter-1", UID: "pod-uid"},
			core.RestartPod{Node: "kaas-node-cmp07", Set: core.Ref{Namespace: "tf", Name: "vrouter"}},
			"Delete pod vrouter-1 (cmp-07), uid pod-uid, on cmp-07; tf/vrouter makes a new one."},
		{core.Ref{Kind: core.KindPod, Name: "api-1", UID: "pod-uid"},
			core.DeletePod{Pod: core.Ref{Kind: core.KindPod, Namespace: "openstack", Name: "api-1", UID: "pod-uid"}, Node: "kaas-node-cmp07"},
			"Delete pod api-1 (cmp-07), uid pod-uid, in namespace openstack, which has ended."},
		{core.Ref{Kind: core.KindOpenStackDeployment, Name: "osh-dev"}, core.SetTempest{Add: true},
			`Add "tempest" to spec.features.services of OpenStackDeployment osh-dev (cmp-07).`},
		{core.Ref{Kind: core.KindAlertmanager}, core.MakeSilence{Matchers: []core.Matcher{{Name: "node", Value: "a", Equal: true}},
			Until: world().Now.Add(time.Hour), By: "ann", Comment: "why"}, "Make a silence in Alertmanager until " +
			progress.MomentText(world(), world().Now.Add(time.Hour)) + `: node="a".`},
		{core.Ref{Kind: core.KindSilence}, core.ExpireSilence{Silence: core.Silence{ID: "1234", State: core.SilenceActive,
			Ends: world().Now.Add(time.Hour)}}, "Expire the silence 1234 in Alertmanager, which is active until " +
			progress.MomentText(world(), world().Now.Add(time.Hour)) + ": ."},
		{node, core.Batch{Items: []core.BatchItem{{Label: "web-1"}}}, "1 change for node kaas-node-cmp07 (cmp-07), uid node-uid, 1 at a time:"},
	} {
		told[reflect.TypeOf(tt.change).Name()] = true
		got := describe(world(), core.Step{Target: tt.target, Label: "cmp-07", Change: tt.change})
		if len(got) == 0 || got[0] != tt.want {
			t.Errorf("%T is described as\n%q, want\n%q", tt.change, got, tt.want)
		}
	}
	for _, name := range changesOfCore(t) {
		if !told[name] {
			t.Errorf("nothing says what a %s changes", name)
		}
	}
}

// changesOfCore returns the names of core's types that are a Change.
func changesOfCore(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../core/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != "isChange" {
				continue
			}
			if id, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
		}
	}
	if len(names) < 15 {
		t.Fatalf("core has only %v", names)
	}
	return names
}

// everyChange is an empty change of each kind, by name.
func everyChange(t *testing.T) map[string]core.Change {
	t.Helper()
	out := map[string]core.Change{}
	for _, c := range []core.Change{core.SetNodeAnnotation{}, core.InstanceAction{}, core.SetMaintenanceTags{}, core.SetComputeService{},
		core.SetVolumeService{}, core.SetLock{}, core.SetInnerState{}, core.CreateLock{}, core.CreateRequest{}, core.DeleteObject{},
		core.AddFinalizer{}, core.RemoveFinalizer{}, core.RestartPod{}, core.DeletePod{}, core.DeleteClaim{}, core.SetTempest{},
		core.SetMaintenance{}, core.RequestReboot{}, core.SetCommence{}, core.SetRelease{}, core.SetAutoPause{}, core.SetGroup{},
		core.SetMachineGroup{}, core.SetUpgradeIndex{}, core.MakeSilence{}, core.ExpireSilence{}, core.Batch{}} {
		out[reflect.TypeOf(c).Name()] = c
	}
	for _, name := range changesOfCore(t) {
		if out[name] == nil {
			t.Fatalf("%s is missing here", name)
		}
	}
	return out
}
