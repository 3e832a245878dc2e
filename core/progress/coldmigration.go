package progress

import (
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
)

// ColdState is where a cold migration that Lockstep began stands.
type ColdState int

const (
	ColdUnseen    ColdState = iota // nothing is known of it now
	ColdMoves                      // it is being copied, confirmed or reverted
	ColdUndecided                  // it waits in VERIFY_RESIZE for a decision
	ColdOver                       // it has ended, or the instance has
)

// ColdOf is the state of a cold migration that Lockstep began. A later record of another migration means that this one is over.
func ColdOf(s *core.Snapshot, id string, c core.ColdMigration) ColdState {
	if !s.Known(core.SourceInstances) || s.Sources[core.SourceInstances].State != core.SourceLive {
		if in := s.Instances.At(id); in != nil && in.Status == "VERIFY_RESIZE" {
			return ColdUndecided
		}
		return ColdUnseen
	}
	in, m := s.Instances.At(id), s.LatestMigration(id)
	if m != nil && m.ID <= c.Known {
		m = nil // its own record does not show yet
	}
	switch {
	case in == nil:
		return ColdOver
	case m != nil && (m.Type != core.MigrationCold || m.SourceHost != c.From):
		return ColdOver
	case in.Status == "VERIFY_RESIZE" && in.TaskState == "":
		return ColdUndecided
	case in.TaskState != "" || in.Status == "RESIZE" || in.Status == "REVERT_RESIZE" || m != nil && m.Running():
		return ColdMoves
	case in.Host != c.From, m != nil && slices.Contains(coldEnds, m.Status):
		return ColdOver
	}
	return ColdUnseen // it may not show yet
}

// coldEnds are the final statuses of a cold migration's record.
var coldEnds = []string{"confirmed", "reverted", "error", "failed", "cancelled"}

// OwnCold are the instances whose cold migration by Lockstep is in one of the states, by name, then ID.
func OwnCold(s *core.Snapshot, states ...ColdState) []*core.Instance {
	var out []*core.Instance
	for id, c := range s.History.Cold {
		if in := s.Instances.At(id); in != nil && slices.Contains(states, ColdOf(s, id, c)) {
			out = append(out, in)
		}
	}
	return SortInstances(out)
}

// OpenCold names the instances whose cold migration by Lockstep has not ended, with status and host.
func OpenCold(s *core.Snapshot) []core.Left {
	var out []core.Left
	for _, in := range OwnCold(s, ColdUndecided, ColdMoves) {
		out = append(out, core.Left{Of: InstanceLabel(in), How: wording.OneLine(in.Status, 30) + dashedOn(HostLabel(s, in.Host)), ID: in.ID})
	}
	return out
}

func dashedOn(host string) string {
	if host == "" {
		return ""
	}
	return " on " + wording.OneLine(host, 64)
}

// UndecidedFrom are the IDs of the instances that were cold-migrated away from the host and wait for a decision, sorted: a
// revert brings them back to it, and a confirmation is carried out there.
func UndecidedFrom(s *core.Snapshot, host string) []string {
	var ids []string
	for id := range s.Migrations {
		in, m := s.Instances.At(id), s.LatestMigration(id)
		if in == nil || m == nil || in.Host == host || in.Status != "VERIFY_RESIZE" || m.SourceHost != host || m.Type == core.MigrationLive ||
			m.Running() {
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
