package kube

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"lockstep/core"
)

// playedBy translates nodes, and notes on each the controllers whose selectors name it.
func playedBy(selectors map[string]labels.Selector) translate {
	if len(selectors) == 0 {
		return nodeFrom
	}
	return func(u *unstructured.Unstructured) core.Object {
		n := nodeFrom(u).(*core.Node)
		for name, s := range selectors {
			if s.Matches(labels.Set(u.GetLabels())) {
				n.Played = append(n.Played, name)
			}
		}
		slices.Sort(n.Played)
		return n
	}
}
