package core

import "slices"

// NamespaceCeph is where Rook runs Ceph on a MOSK cluster (docs/mosk.md#ceph-objects).
const NamespaceCeph = "rook-ceph"

// Values of Ceph's health, as Ceph writes them.
const (
	CephOK    = "HEALTH_OK"
	CephWarn  = "HEALTH_WARN"
	CephError = "HEALTH_ERR"
)

// CephCluster is Rook's CephCluster: how healthy Ceph says it is (docs/mosk.md#ceph-objects).
type CephCluster struct {
	Meta
	Health string       // CephOK, CephWarn, CephError, or another; empty while Rook has not looked
	Checks []CephHealth // why it is not CephOK, by name
}

// CephHealth is one of Ceph's health checks that does not pass.
type CephHealth struct {
	Name     string // OSD_DOWN, PG_DEGRADED, …
	Severity string // CephWarn or CephError
	Message  string
}

// Flagged tells whether the only thing that speaks against Ceph's health are flags that a maintenance sets, such as noout.
func (c *CephCluster) Flagged() bool {
	return len(c.Checks) > 0 && !slices.ContainsFunc(c.Checks, func(h CephHealth) bool { return !h.Flag() })
}

// Flag tells whether the check is about flags that a maintenance sets.
func (h CephHealth) Flag() bool { return h.Name == "OSDMAP_FLAGS" || h.Name == "OSD_FLAGS" }
