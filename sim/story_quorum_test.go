//go:build !race

package sim_test

import (
	"testing"
	"time"

	"lockstep/sim/bubble"
)

func TestStoryOfADatabaseThatIsShortOfAPod(t *testing.T) {
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
	})
}
