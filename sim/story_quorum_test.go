//go:build !race

package sim_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"lockstep/sim/bubble"
)

// The OpenStack controller holds a node while fewer than two pods of three are ready. It does not ask where they are: with one of the
// others still down it lets the node go, and the database has one pod left.
func TestStoryOfADatabaseThatIsShortOfPods(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		s := tell(t, "database-short")
		s.until("ctl-02 is deferred", func() bool {
			lock := s.nodeLock("openstack", "ctl-02")
			return says(lock, "Some services blocks nmr handling") && says(lock, "'database': False") && says(lock, "'coordination': True")
		})
		time.Sleep(10 * time.Minute)
		if got := s.state("openstack", "ctl-02"); got != "active/active" {
			t.Errorf("the deferred lock is %s", got)
		}
		s.restart(s.pods("openstack", "mariadb-server", "ctl-01"))
		s.until("ctl-02 is released", func() bool { return s.state("openstack", "ctl-02") == "inactive/active" || s.updated("ctl-02") })
		for _, pod := range s.pods("openstack", "mariadb-server", "ctl-03") {
			t.Log(pod.Name)
			if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			}) {
				t.Error("the pod on ctl-03 is ready")
			}
		}
	})
}
