package cli

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// An operator who plays the OpenStack controller has to clean up the claims of a node that is gone: without the right to do so,
// writing is not armed. An operator who only watches the controller needs no such right.
func TestArmingAsksForTheRightsOnClaims(t *testing.T) {
	withoutClaims := slices.DeleteFunc(slices.Clone(kubeapi.OperatorRules()), func(r kubeapi.Rule) bool {
		return slices.Contains(r.Resources, "persistentvolumeclaims")
	})
	readsClaims := append(slices.Clone(withoutClaims), kubeapi.Rule{Namespaces: []string{"openstack"}})
	read := &readsClaims[len(readsClaims)-1]
	read.APIGroups, read.Resources, read.Verbs = []string{""}, []string{"persistentvolumeclaims"}, []string{"list", "watch"}
	allButRedis := append(slices.Clone(readsClaims), *read)
	allButRedis[len(allButRedis)-1].Verbs = []string{"list", "watch", "delete"}
	for _, tt := range []struct {
		name, played string
		rules        []kubeapi.Rule
		missing      string
	}{
		{"the controller is played", core.ControllerOpenStack, readsClaims, "delete persistentvolumeclaims in namespace openstack"},
		{"it is not", "", withoutClaims, ""},
		{"the cloud has Redis", core.ControllerOpenStack, allButRedis, "you may not list persistentvolumeclaims in namespace openstack-redis"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble.Story(t, func(t *testing.T) {
				var acts []string
				if tt.played != "" {
					acts = []string{tt.played}
				}
				st := newStory(t, sim.Options{Paused: true}, acts...)
				if err := st.Kube.SetRules(kubeapi.Operator, tt.rules); err != nil {
					t.Fatal(err)
				}
				st.begin()
				st.until("the sets are known", func(s *core.Snapshot) bool {
					return s.Sources[core.SourceStatefulSets].State == core.SourceLive && s.Sources[core.SourceRedisSets].State != core.SourceConnecting
				})
				err := st.s.Engine.Arm(t.Context(), "")
				if tt.missing == "" {
					if err != nil {
						t.Errorf("it is not armed: %v", err)
					}
					return
				}
				var e *core.APIError
				if !errors.As(err, &e) || e.Kind != core.ErrForbidden || !strings.Contains(e.Message, tt.missing) ||
					e.Remedy != "Ask an administrator to apply deploy/rbac-maintenance.yaml." {
					t.Errorf("got %+v", err)
				}
			})
		})
	}
}
