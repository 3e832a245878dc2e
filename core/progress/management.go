package progress

import (
	"fmt"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// StuckAttempts is the attempt from which on a failing drain or state item is taken as stuck: a budget often refuses while its
// pods start elsewhere.
const StuckAttempts = 3

// WaitOver is how long LCM may take to notice that its wait is over; it looks every minute or two.
const WaitOver = 10 * time.Minute

// WaitsTooLong says why a drain that waits for its turn has waited too long: "the node's locks are inactive since 16:10", "attempt
// 4". Empty when it is in time.
func WaitsTooLong(s *core.Snapshot, v *core.MachineView, d *core.DrainState) string {
	if at, all := LocksInactive(s, v.Node, ReadDrainMessage(d.Message)); all && !at.IsZero() && s.Longer(at, WaitOver) {
		return "the node's locks are inactive since " + wording.ClockText(at)
	}
	if d.Attempt >= StuckAttempts {
		return fmt.Sprintf("attempt %d", d.Attempt)
	}
	return ""
}

// LocksInactive tells whether all locks of a node are inactive while LCM waits for them, and since when; zero where nobody knows that.
func LocksInactive(s *core.Snapshot, node string, m DrainMessage) (at time.Time, all bool) {
	if m.First != "" || !s.Known(core.SourceNodeLocks) || len(s.NodeLocks.At(node)) == 0 {
		return at, false
	}
	unknown := false
	for _, l := range s.NodeLocks.At(node) {
		if l.State() != core.LockInactive {
			return at, false
		}
		since := s.History.StateSince(l).At
		unknown = unknown || since.IsZero()
		at = core.Later(at, since)
	}
	if unknown {
		return time.Time{}, true
	}
	if r := s.NodeRequest(node); r != nil {
		at = core.Later(at, r.Created) // before that nobody waited
	}
	return at, true
}

// ItemText is a state item in one line: "state item host-packages (deploy) failed, attempt 3, exit code 100: …".
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

// MachineText is a machine in one line: "machine cmp-01: Deploy, host-packages runs, attempt 3". Empty for nil.
func MachineText(v *core.MachineView) string {
	if says := MachineSays(v); says != "" {
		return v.Called() + ": " + says
	}
	return ""
}

// MachineSays is the state of the machine; empty when nothing is known of it.
func MachineSays(v *core.MachineView) string {
	if v == nil {
		return ""
	}
	var parts []string
	if v.LCM != nil {
		parts = append(parts, "LCM "+wording.OneLine(wording.TextOf(v.LCM.State, "says no state"), 40))
		if v.LCM.Drain != "" {
			parts = append(parts, wording.OneLine(v.LCM.Drain, 40))
		}
		switch {
		case v.Failing != nil && v.LCM.State != core.LCMReady:
			parts = append(parts, ItemText(*v.Failing))
		case v.Running != nil:
			parts = append(parts, wording.OneLine(v.Running.Name, 60)+" runs")
		}
		if v.LCM.Graceful {
			parts = append(parts, "a graceful reboot is asked for")
		}
	}
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		if d != nil && DrainWaits(d) {
			parts = append(parts, wording.OneLine(d.Type, 40)+": "+ReadDrainMessage(d.Message).Reason())
		}
	}
	if o := v.Machine; o != nil {
		switch {
		case o.InMaintenance && !o.Wanted():
			parts = append(parts, "leaves maintenance mode")
		case o.InMaintenance:
			parts = append(parts, "in maintenance mode")
		case o.Wanted():
			parts = append(parts, "goes into maintenance mode")
		}
		if o.Reboot {
			parts = append(parts, "has to be rebooted"+wording.Because(wording.OneLine(o.RebootReason, 100)))
		}
	}
	return strings.Join(parts, ", ")
}

// MachineWaits is what LCM waits for before it drains the machine; empty when it reports no such wait.
func MachineWaits(v *core.MachineView) DrainMessage {
	if v == nil || v.Drain == nil || !DrainWaits(v.Drain) {
		return DrainMessage{}
	}
	return ReadDrainMessage(v.Drain.Message)
}

// ManagementSummary is what the management cluster reports of the cluster as a whole, one fact a line.
func ManagementSummary(s *core.Snapshot) []string {
	m := s.Management
	if m == nil {
		return nil
	}
	if !m.Found {
		return []string{ClusterNotFound(s)}
	}
	var out []string
	stuck := m.LCM != nil && m.LCM.Stuck
	if c := m.Cluster; c != nil {
		switch {
		case c.InMaintenance && !c.Wanted():
			out = append(out, "the cluster leaves maintenance mode")
		case c.InMaintenance:
			out = append(out, "the cluster is in maintenance mode")
		case c.Wanted():
			out = append(out, "the cluster goes into maintenance mode")
		}
		for _, cond := range c.Conditions {
			if !cond.Ready && !(stuck && cond.Message != "" && cond.Message == m.LCM.StuckMessage) { // else LCM's own line says it
				out = append(out, wording.OneLine(cond.Type, 40)+" not ready"+wording.Because(wording.OneLine(cond.Message, wording.MostRead)))
			}
		}
	}
	if stuck {
		out = append(out, "LCM is stuck"+wording.Because(wording.OneLine(m.LCM.StuckMessage, wording.MostRead)))
	}
	if r := m.Reboot; r != nil {
		what := "all machines"
		if n := len(r.Machines); n > 0 {
			names := make([]string, n)
			for i, name := range r.Machines {
				names[i] = wording.OneLine(name, 64)
			}
			what = wording.Some(names, 6)
		}
		out = append(out, "a graceful reboot is asked for since "+wording.ClockText(r.Created)+": "+what)
	}
	return out
}

// GroupSummary is how the workers are divided, one update group a line.
func GroupSummary(s *core.Snapshot) []string {
	if s.Management == nil {
		return nil
	}
	var out []string
	in := s.Management.ByGroup()
	for i, g := range s.Management.Groups {
		if i == mostPlanLines {
			out = append(out, fmt.Sprintf("and %d update groups more", len(s.Management.Groups)-i))
			break
		}
		out = append(out, "update group "+wording.OneLine(g.Name, 60)+": "+GroupLine(g, in[g.Name]))
	}
	return out
}

// ClusterNotFound says that none of the management cluster's clusters is this one.
func ClusterNotFound(s *core.Snapshot) string {
	return fmt.Sprintf("none of the management cluster's %s is a node of this cluster: check --management-context, --management-namespace "+
		"and --management-cluster", wording.Count(s.Management.Seen, "machine"))
}

// LCMStages are the stages of LCM's work on a released node: in which of them each part is under way or done.
var LCMStages = []struct {
	ID, Title, Why string
	Now, Over      []core.Stage
}{
	{"drain", "LCM drains the node", "LCM cordons the node and moves its pods.", []core.Stage{core.StageReleased, core.StageDraining},
		[]core.Stage{core.StageUpdating, core.StageRebooting, core.StageReturning, core.StageDone}},
	{"update", "LCM updates the node", "The host and its Kubernetes are updated; in scope os the host may reboot.",
		[]core.Stage{core.StageUpdating, core.StageRebooting},
		[]core.Stage{core.StageReturning, core.StageDone}},
	{"return", "the node returns to service",
		"The controllers wait for the node, its pods, its compute service and its agents; then they take their locks back.",
		[]core.Stage{core.StageReturning},
		[]core.Stage{core.StageDone}},
}
