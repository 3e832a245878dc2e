package kube

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// The server tells as whom it knows the login. One that does not know the question says so.
func TestTheServerSaysWhoWeAre(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		client := c.client(kubeapi.Operator)
		user, groups, err := client.WhoAmI(t.Context())
		if err != nil || user != kubeapi.Operator || !slices.Contains(groups, "system:authenticated") {
			t.Errorf("we are %q of %v: %v", user, groups, err)
		}
		c.AddFault(kubeapi.Fault{Match: func(r *http.Request) bool { return r.Method == http.MethodPost }, Code: http.StatusNotFound})
		var api *core.APIError
		if _, _, err := client.WhoAmI(t.Context()); !errors.As(err, &api) || api.MayPass() {
			t.Errorf("an older server: %v", err)
		}
	})
}
