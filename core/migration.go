package core

import (
	"lockstep/core/wording"
	"time"
)

// The types of a Migration that matter here.
const (
	MigrationLive       = "live-migration"
	MigrationCold       = "migration"
	MigrationResize     = "resize"
	MigrationEvacuation = "evacuation"
)

// Migration is a record of os-migrations, with the progress of a running live migration where Nova shows it.
type Migration struct {
	ID         int    // the number by which a live migration is aborted or forced
	UUID       string // empty before microversion 2.59
	InstanceID string
	Type       string // MigrationLive, …
	Status     string // queued, preparing, running, post-migrating, completed, error, failed, cancelled, finished, confirmed, …
	SourceHost string
	DestHost   string // empty until the scheduler has chosen
	Created    time.Time
	Updated    time.Time
	Memory     *Progress // nil where Nova shows none
	Disk       *Progress
	Failure    string // Nova's text about the failure; empty when not known
}

// Progress is how much of something was copied, in bytes.
type Progress struct {
	Total, Processed, Remaining int64
}

// Key implements Object: the instance and the number of the record, which every microversion shows.
func (m *Migration) Key() string { return m.InstanceID + "/" + wording.Itoa(m.ID) }

// Running tells whether the migration is under way: asked for, and not yet at an end.
func (m *Migration) Running() bool {
	switch m.Status {
	case "accepted", "queued", "preparing", "running", "post-migrating", "pre-migrating", "migrating":
		return true
	}
	return false
}

// Failed tells whether the migration ended without moving the instance.
func (m *Migration) Failed() bool { return m.Status == "error" || m.Status == "failed" }

// Percent is how much of the memory and disk has been copied, 0 to 100, by what remains of the total; -1 when Nova shows
// no figures. It falls again while the guest writes to its memory.
func (m *Migration) Percent() int {
	var total, remaining int64
	for _, p := range []*Progress{m.Memory, m.Disk} {
		if p != nil && p.Total > 0 {
			total += p.Total
			remaining += min(max(p.Remaining, 0), p.Total)
		}
	}
	if total == 0 {
		return -1
	}
	return int(100 * (total - remaining) / total)
}

// Touches tells whether the migration is under way from or to the host, or is being reverted. A revert moves the instance back to
// its source host, also when that is out of scheduling.
func (m *Migration) Touches(host string) bool {
	return (m.Running() || m.Status == "reverting") && (m.SourceHost == host || m.DestHost == host)
}
