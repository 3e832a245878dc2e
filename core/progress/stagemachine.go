package progress

import (
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/wording"
)

// These stage rules use what LCM says of the node's machine (docs/mosk.md#lcmmachine, #lcmclusterstate). They count for a node
// that LCM has. Where they find nothing the node's own signs count, as without a management cluster. What LCM does before it
// reaches a node, such as downloading packages on many machines at once, is not a stage of the node.

// held finds a node whose machine is in maintenance mode: it is drained, and stays so until somebody takes it out.
func held(f *stageFacts) (verdict, bool) {
	if f.lcm == nil || f.lcm.Machine == nil || !f.lcm.Machine.InMaintenance || !handed(f) ||
		f.s.Sources[core.SourceMachines].State != core.SourceLive {
		return verdict{}, false
	}
	v := verdict{reason: "its machine is in maintenance mode: it is drained, and stays so until you take it out", what: "in maintenance mode",
		since: f.notBeforeHanded()}
	if !f.ready {
		v.what += ", not Ready"
	}
	return v, true
}

// lcmDrains finds a machine that LCM drains.
func lcmDrains(f *stageFacts) (verdict, bool) {
	if f.lcm == nil || !handed(f) || f.lcm.LCM.Drain != core.CordonDraining {
		return verdict{}, false
	}
	v := verdict{reason: "LCM drains the machine", since: f.notBeforeHanded()}
	d := f.lcm.Drain
	switch {
	case d != nil && DrainBlocked(d):
		m := ReadDrainMessage(d.Message)
		v.reason = fmt.Sprintf("LCM drains the machine, and %s; attempt %d", m.Reason(), d.Attempt)
		v.what = drainWhat(m)
	case f.pods != nil && f.pods.Evictable > 0:
		v.what = wording.Count(f.pods.Evictable, "pod") + " left"
	}
	if d != nil && DrainWaits(d) {
		v.reason += ", and has not begun to move its pods: " + ReadDrainMessage(d.Message).Reason()
	}
	return v, true
}

// drainWhat says in short what blocks a drain.
func drainWhat(m DrainMessage) string {
	switch {
	case m.Budget != "":
		return "blocked: budget " + m.Budget
	case m.Pod != "":
		return "blocked: pod " + m.Pod
	}
	return "blocked"
}

// lcmReboots finds a machine that LCM reboots, until its agent reports that it is up again.
func lcmReboots(f *stageFacts) (verdict, bool) {
	if f.lcm == nil || !handed(f) || f.lcm.LCM.State != core.LCMReboot || f.lcm.LCM.RebootDone {
		return verdict{}, false
	}
	v := verdict{reason: "LCM reboots the machine", what: "reboots", since: exactly(f.lcm.LCM.RebootAsked)}
	if !f.ready && f.node != nil {
		v.what = "not Ready" + wording.InBrackets(f.node.ReadyReason)
	}
	return v, true
}

// lcmWorks finds a drained machine on which the LCM agent works. A node that is not Ready while no item runs goes down or comes
// up; the node's own signs show that.
func lcmWorks(f *stageFacts) (verdict, bool) {
	if f.lcm == nil || !handed(f) || f.lcm.LCM.Drain != core.CordonDrained {
		return verdict{}, false
	}
	switch f.lcm.LCM.State {
	case core.LCMPrepare, core.LCMDeploy, core.LCMUpgrade, core.LCMReconfigure:
	default:
		return verdict{}, false
	}
	if !f.ready && f.lcm.Running == nil && f.lcm.Failing == nil {
		return verdict{}, false
	}
	state := strings.ToLower(f.lcm.LCM.State)
	v := verdict{reason: "LCM works on the machine: " + state, what: state, since: f.notBeforeHanded()}
	switch {
	case f.lcm.Failing != nil:
		v.reason, v.what = "LCM works on the machine: "+ItemText(*f.lcm.Failing), "fails: "+wording.OneLine(f.lcm.Failing.Name, 40)
	case f.lcm.Running != nil:
		v.reason += ", " + wording.OneLine(f.lcm.Running.Name, 60)
		v.what = wording.OneLine(f.lcm.Running.Name, 40)
	}
	return v, true
}
