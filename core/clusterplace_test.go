package core_test

import (
	"testing"

	"lockstep/core"
)

// What the operator's shell does not have by itself is in the command, once, where a program begins.
func TestACommandNamesItsPlace(t *testing.T) {
	both := core.ClusterPlace{Kubeconfig: "my file", Context: "mos", Cloud: "cloud"}
	for _, tt := range []struct {
		place      core.ClusterPlace
		line, want string
	}{
		{core.ClusterPlace{}, "kubectl get nodes", "kubectl get nodes"},
		{both, "kubectl get nodes", "kubectl --kubeconfig 'my file' --context mos get nodes"},
		{both, "openstack server show x", "openstack --os-cloud cloud server show x"},
		{core.ClusterPlace{Cloud: "c"}, "kubectl get nodes", "kubectl get nodes"},
		{core.ClusterPlace{Context: "c"}, "openstack server show x", "openstack server show x"},
		{core.ClusterPlace{Context: "c"}, "kubectl get pods | grep x && kubectl delete pod x; kubectl get pods",
			"kubectl --context c get pods | grep x && kubectl --context c delete pod x; kubectl --context c get pods"},
		{core.ClusterPlace{Context: "c"}, "until it begins: kubectl patch x", "until it begins: kubectl --context c patch x"},
		{core.ClusterPlace{Context: "c"}, "kubectl --context mgmt get x", "kubectl --context mgmt get x"},
		{core.ClusterPlace{Context: "c"}, "kubectl --kubeconfig f get x", "kubectl --kubeconfig f get x"},
		{core.ClusterPlace{Context: "c"}, "kubectl --context c get x", "kubectl --context c get x"},
		{core.ClusterPlace{Context: "c"}, "kubectl -n a delete pod 'my kubectl x'", "kubectl --context c -n a delete pod 'my kubectl x'"},
		{both, "use kubectl or openstack as you like", "use kubectl or openstack as you like"},
		{both, "", ""},
	} {
		if got := tt.place.Command(tt.line); got != tt.want {
			t.Errorf("%+v, %q:\n%s, want\n%s", tt.place, tt.line, got, tt.want)
		}
		if bare := tt.place.Bare(tt.want); bare != tt.line && tt.line == tt.place.Bare(tt.line) {
			t.Errorf("%+v, %q: bare it is %q", tt.place, tt.want, bare)
		}
		if once := tt.place.Command(tt.line); tt.place.Command(once) != once {
			t.Errorf("%q is not the same twice", tt.line)
		}
	}
}
