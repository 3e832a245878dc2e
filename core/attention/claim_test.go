package attention

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/scene"
)

// The claims of all the controller's sets are in its order: its services from the last to the first, OVN's after Cinder's.
func TestTheClaimsOfEverySet(t *testing.T) {
	sc := scene.GoneController("ctl-09")
	for _, q := range []progress.QuorumSet{progress.QuorumSets[4], progress.QuorumSets[1], progress.QuorumSets[2], progress.QuorumSets[3]} {
		sc.WithClaims(sc.Stateful(q.Namespace, q.Name, "", "ctl-02", "ctl-03"), "ctl-09", "ctl-02", "ctl-03")
	}
	other := sc.Stateful(core.NamespaceOpenStack, "rabbitmq-server", "", "ctl-02", "ctl-03")
	sc.WithClaims(other, "ctl-09", "ctl-02", "ctl-03")
	names := func() (out []string) {
		p, _ := procedure.Of(sc.Again().Snapshot, core.ProcedureKey{Kind: core.ProcedureNode, Subject: "ctl-09"})
		for _, st := range p.Steps {
			if st.Intent.Kind == core.IntentActDeleteClaim {
				out = append(out, strings.TrimPrefix(st.Label, "data-"))
			}
		}
		return out
	}
	want := []string{"openstack-prometheus-server-0", "rfr-openstack-redis-0", "etcd-etcd-0", "mariadb-server-0", "openvswitch-ovn-db-0"}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("the claims are those of %q, want %q", got, want)
	}
	for backend, is := range map[string]bool{"": true, "ml2/ovn": true, "ml2": false, "tungstenfabric": false} {
		sc.Snapshot.Deployments = []*core.OpenStackDeployment{{Meta: core.Meta{Name: "osh"}, Network: backend}}
		if got := slices.Contains(names(), "openvswitch-ovn-db-0"); got != is {
			t.Errorf("with %q OVN's claim is among them: %t", backend, got)
		}
	}
	sc.Snapshot.Deployments = nil
	var said string
	for _, a := range Of(sc.Again().Snapshot) {
		if a.Node == "ctl-09" {
			said += a.Reason
		}
	}
	if !strings.Contains(said, "5 volume claims on its disks, its lock and what OpenStack knows of it wait for you") {
		t.Errorf("it is told as %q", said)
	}
}

// Claims of Redis that cannot be read have an entry only where there is a Redis: elsewhere the manifest has no namespace for the
// right.
func TestForbiddenClaimsOfARedisThatIsNotThere(t *testing.T) {
	for redis, want := range map[bool]int{true: 1, false: 0} {
		sc := scene.GoneController("pending")
		if redis {
			sc.Stateful(core.NamespaceRedis, "rfr-openstack-redis", "ctl-01", "ctl-02", "ctl-03")
		}
		sc.Source(core.SourceRedisClaims, core.SourceForbidden)
		told := 0
		for _, a := range Of(sc.Again().Snapshot) {
			if strings.Contains(a.Reason, string(core.SourceRedisClaims)) {
				told++
			}
		}
		if told != want {
			t.Errorf("with a Redis (%t) it is told %d times", redis, told)
		}
	}
}
