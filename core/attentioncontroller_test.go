package core

import (
	"testing"
	"time"
)

// How long the OpenStack controller has been away is what its Deployment says, in this run of Lockstep as in the next. Of
// several replicas it says when the first was missing, which is not since when none is left.
func TestControllerIsAwaySinceItsDeploymentSaysSo(t *testing.T) {
	tests := map[string]struct {
		replicas, ready int
		since           time.Time
		told            bool
		want            Since
	}{
		"one replica":                  {1, 0, ago(40 * time.Minute), true, Since{At: ago(40 * time.Minute), Exact: true}},
		"it says nothing":              {1, 0, time.Time{}, true, Since{}},
		"three replicas":               {3, 0, ago(40 * time.Minute), true, Since{}},
		"one of three is left":         {3, 1, ago(40 * time.Minute), false, Since{}},
		"scaled to nothing on purpose": {0, 0, time.Time{}, false, Since{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			sc.Controller = &Deployment{Meta: Meta{Name: "rockoon"}, Replicas: tt.replicas, Ready: tt.ready, AwaySince: tt.since}
			told := false
			for _, a := range sc.Attention() {
				if a.ID == "controller-away" {
					told = true
					if a.Since != tt.want {
						t.Errorf("away since %+v, want %+v", a.Since, tt.want)
					}
				}
			}
			if told != tt.told {
				t.Errorf("told of it: %t, want %t", told, tt.told)
			}
		})
	}
}
