package kube

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
)

var gvrCephClusters = schema.GroupVersionResource{Group: "ceph.rook.io", Version: "v1", Resource: "cephclusters"}

// cephClusterFrom translates Rook's CephCluster. When it looked last, and how full Ceph is, changes every minute and is left out.
func cephClusterFrom(u *unstructured.Unstructured) core.Object {
	status := fields(u.Object).at("status", "ceph")
	c := &core.CephCluster{Meta: metaFrom(u), Health: status.text("health")}
	details := status.at("details")
	for name := range details {
		check := details.at(name)
		c.Checks = append(c.Checks, core.CephHealth{Name: name, Severity: check.text("severity"), Message: check.text("message")})
	}
	slices.SortFunc(c.Checks, func(a, b core.CephHealth) int { return strings.Compare(a.Name, b.Name) })
	return c
}
