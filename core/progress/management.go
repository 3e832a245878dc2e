package progress

import (
	"fmt"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// StuckAttempts is from which attempt on a drain or a state item that fails is taken for one that does not come right by
// itself: a budget often refuses while its pods start elsewhere.
const StuckAttempts = 3

// WaitOver is how long LCM may take to see that what it waits for has come; it looks within a minute or two.
const WaitOver = 10 * time.Minute

// WaitsTooLong is by what a drain that waits for its turn does so past its time: "the node's locks are inactive since 16:10",
// "attempt 4". Empty when it is in time.
func WaitsTooLong(s *core.Snapshot, v *core.MachineView, d *core.DrainState) string {
	if at, all := LocksInactive(s, v.Node, ReadDrainMessage(d.Message)); all && !at.IsZero() && s.Now.Sub(at) > WaitOver {
		return "the node's locks are inactive since " + wording.ClockText(at)
	}
	if d.Attempt >= StuckAttempts {
		return fmt.Sprintf("attempt %d", d.Attempt)
	}
	return ""
}

// LocksInactive tells whether all locks of a node are inactive while LCM waits for locks, and since when, as far as that was seen.
func LocksInactive(s *core.Snapshot, node string, m DrainMessage) (at time.Time, all bool) {
	if m.First != "" || !s.Known(core.SourceNodeLocks) || len(s.NodeLocks[node]) == 0 {
		return at, false
	}
	for _, l := range s.NodeLocks[node] {
		if l.State() != core.LockInactive {
			return at, false
		}
		if r := s.History.Locks[l.UID]; r.State == core.LockInactive {
			at = core.Later(at, r.Since.At)
		}
	}
	return at, true
}

// ItemText is "state item host-packages (deploy) failed, attempt 3, exit code 100: …".
func ItemText(item core.StateItem) string {
	text := "state item " + wording.OneLine(item.Name, 60)
	if item.Phase != "" {
		text += " (" + wording.OneLine(item.Phase, 20) + ")"
	}
	text += fmt.Sprintf(" failed, attempt %d, exit code %d", item.Attempt, item.ExitCode)
	if item.Running() {
		text += ", runs again"
	}
	return text + wording.Because(wording.OneLine(item.Message, wording.MostRead))
}

// MachineOf is the machine of a node; nil when it is not known.
func MachineOf(s *core.Snapshot, node string) *core.MachineView {
	if s.Management == nil {
		return nil
	}
	return s.Management.ByNode[node]
}
