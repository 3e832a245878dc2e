package nova

import (
	"testing"

	"lockstep/sim/bubble"
	"lockstep/sim/openstack"
)

// Keystone's token says whose it is, and for which project; asking for that takes no request of its own.
func TestTheTokenSaysWhoWeAre(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		client := simClient(t, simCloud(t, openstack.Options{}), "sim")
		user, project, err := client.WhoAmI(t.Context())
		if err != nil || user != "admin" || project != "admin" {
			t.Errorf("we are %q in %q: %v", user, project, err)
		}
	})
}
