package progress

import (
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// The rules of the OpenStack controller's is_node_locked (docs/mosk.md#quorum): True if ready pods < replicas-1, or pods on other
// nodes < replicas-1, or other pods are not ready.
func TestWhetherAStatefulSetHoldsANode(t *testing.T) {
	for name, tt := range map[string]struct {
		replicas int
		pods     []string // the nodes of the pods; see members
		node     string
		want     QuorumHold
	}{
		"all are ready":                           {3, []string{"a", "b", "c"}, "a", QuorumFree},
		"a node that none is on":                  {3, []string{"a", "b", "c"}, "d", QuorumFree},
		"the one there is not ready":              {3, []string{"!a", "b", "c"}, "a", QuorumFree},
		"the one there is gone":                   {3, []string{"b", "c"}, "a", QuorumFree},
		"one elsewhere is not ready":              {3, []string{"a", "!b", "c"}, "a", QuorumOthersDown},
		"one elsewhere is being removed":          {3, []string{"a", "-b", "c"}, "a", QuorumOthersDown},
		"seen from where none is":                 {3, []string{"a", "!b", "c"}, "d", QuorumOthersDown},
		"one elsewhere is gone":                   {3, []string{"a", "c"}, "a", QuorumTooFewElsewhere},
		"one elsewhere is on no node":             {3, []string{"a", "", "c"}, "a", QuorumTooFewElsewhere},
		"two are on the node":                     {3, []string{"a", "a", "c"}, "a", QuorumTooFewElsewhere},
		"two are on another node":                 {3, []string{"a", "c", "c"}, "a", QuorumFree},
		"two are not ready":                       {3, []string{"!a", "!b", "c"}, "a", QuorumTooFew},
		"two are not ready, seen from the others": {3, []string{"!a", "!b", "c"}, "c", QuorumTooFew},
		"none is there":                           {3, nil, "a", QuorumTooFew},
		"five, and one elsewhere is not ready":    {5, []string{"a", "!b", "c", "d", "e"}, "a", QuorumOthersDown},
		"five, and two are not ready":             {5, []string{"a", "!b", "!c", "d", "e"}, "a", QuorumTooFew},
		"two replicas":                            {2, []string{"a", "b"}, "a", QuorumFree},
		"two replicas, the other not ready":       {2, []string{"a", "!b"}, "a", QuorumOthersDown},
		"one replica never holds its node":        {1, []string{"!a"}, "a", QuorumFree},
		"none is wanted":                          {0, nil, "a", QuorumFree},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isNodeLocked(tt.replicas, scene.Members(&core.StatefulSet{Meta: core.Meta{Name: "db"}}, tt.pods...), tt.node); got != tt.want {
				t.Errorf("it holds %s by rule %d, want %d", tt.node, got, tt.want)
			}
		})
	}
}
