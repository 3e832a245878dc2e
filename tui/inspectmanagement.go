package tui

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/themes"
)

// turnFact is the update group of a machine, and its turn there: "rack-a (index 2), 1 of 3".
func turnFact(m *core.Management, v *core.MachineView) string {
	name := m.GroupNameOf(v.Machine)
	in := m.InGroup(name)
	text := name
	if g := m.GroupOf(name); g != nil {
		text += fmt.Sprintf(" (index %d)", g.Index)
	}
	return text + fmt.Sprintf(", %d of %d", slices.Index(in, v)+1, len(in))
}

// machineFacts is the node's machine on the management cluster, and what LCM does there.
func machineFacts(m *Model, f *facts, node string) {
	v := progress.MachineOf(m.snap, node)
	if v == nil {
		return
	}
	if o := v.Machine; o != nil {
		f.section("Machine " + o.Name)
		f.add("status", o.Status)
		if o.ReadyKnown && !o.Ready {
			f.tone(themes.Warn, "ready", "no")
		}
		f.add("update group", turnFact(m.snap.Management, v))
		if o.UpgradeIndex != 0 {
			f.add("upgrade index", fmt.Sprint(o.UpgradeIndex))
		}
		f.tone(themes.Warn, "maintenance mode", maintenanceWord(o.Wanted(), o.InMaintenance))
		if o.Reboot {
			f.tone(themes.Needs, "reboot", strings.TrimSuffix("has to be rebooted: "+o.RebootReason, ": "))
		}
		conditionFacts(f, o.Conditions)
	}
	if o := v.LCM; o != nil {
		f.section("LCM")
		f.add("state", o.State)
		f.add("release", o.Release)
		f.add("agent", o.AgentVersion)
		f.tone(themes.Bad, "agent error", o.AgentError)
		f.add("drain", o.Drain)
		f.tone(drainTone(o.DrainError), "drain error", o.DrainError)
		f.add("drain of swarm", o.SwarmDrain)
		f.tone(drainTone(o.SwarmError), "swarm error", o.SwarmError)
		if o.Graceful {
			f.tone(themes.Moves, "graceful reboot", "asked for")
		}
		if !o.RebootAsked.IsZero() {
			state := "under way since "
			if o.RebootDone {
				state = "done; asked for "
			}
			f.add("reboot", state+stamp(o.RebootAsked, m.snap.Now))
		}
		f.tone(themes.Bad, "reboot error", o.RebootError)
		for _, item := range o.Items {
			itemFacts(m, f, item)
		}
	}
	for _, d := range []*core.DrainState{v.Drain, v.Swarm} {
		switch {
		case d == nil:
		case progress.DrainBlocked(d):
			drainFacts(f, d)
		case progress.DrainWaits(d):
			f.section("Waits: " + d.Type)
			f.add("", progress.ReadDrainMessage(d.Message).Reason())
			f.add("it says", d.Message)
		}
	}
}

// maintenanceWord compares the wanted with the actual maintenance mode; empty when it is neither wanted nor on.
func maintenanceWord(wanted, is bool) string {
	switch {
	case wanted && is:
		return "on"
	case wanted:
		return "wanted, not there yet"
	case is:
		return "on, to be left"
	}
	return ""
}

// conditionFacts are the conditions that are not ready.
func conditionFacts(f *facts, all []core.Condition) {
	for _, c := range all {
		if !c.Ready {
			f.tone(themes.Warn, "not ready", strings.TrimSuffix(c.Type+": "+c.Message, ": "))
		}
	}
}

// itemFacts is one state item of an LCM agent, in detail if it runs or failed.
func itemFacts(m *Model, f *facts, item core.StateItem) {
	name, phase := item.Name, ""
	if item.Phase != "" {
		phase = item.Phase + ": "
	}
	switch {
	case item.Failing():
		text := phase + fmt.Sprintf("failed, attempt %d, exit code %d", item.Attempt, item.ExitCode)
		if item.Running() {
			text += "; runs again since " + stamp(item.Started, m.snap.Now)
		}
		f.tone(themes.Bad, name, text)
		f.tone(themes.Bad, "", item.Message)
	case item.Running():
		text := phase + "runs since " + stamp(item.Started, m.snap.Now)
		if item.Attempt > 1 {
			text += fmt.Sprintf(", attempt %d", item.Attempt)
		}
		f.tone(themes.Moves, name, text)
	case !item.Finished.IsZero():
		f.tone(themes.Dim, name, phase+"done "+stamp(item.Finished, m.snap.Now))
	default:
		f.tone(themes.Dim, name, phase+"not run")
	}
}

// drainTone is how bad a drain's error is: LCM also writes there that a drain waits for its turn.
func drainTone(text string) themes.Token {
	if progress.ReadDrainMessage(text).Waits {
		return themes.Text
	}
	return themes.Bad
}

// drainFacts is a drain that is blocked.
func drainFacts(f *facts, d *core.DrainState) {
	msg := progress.ReadDrainMessage(d.Message)
	f.section("Blocked: " + d.Type)
	f.tone(themes.Bad, "attempt", fmt.Sprint(d.Attempt))
	if msg.Pod != "" {
		f.tone(themes.Bad, "pod", strings.TrimPrefix(msg.Namespace+"/"+msg.Pod, "/"))
	}
	f.tone(themes.Bad, "disruption budget", strings.TrimSpace(msg.Budget+" "+msg.Healthy))
	f.add("it says", d.Message)
}

// managementFacts is what the management cluster knows of the cluster as a whole: its plan, groups and conditions.
func managementFacts(m *Model, f *facts) {
	g := m.snap.Management
	if g == nil || !g.Found {
		return
	}
	if p := g.Plan(); p != nil {
		f.section("Update plan " + p.Name)
		f.add("from, to", p.Source+" "+m.look.Glyph.Arrow+" "+p.Target)
		f.tone(planTone(p.Status), "status", p.Status)
		if !p.Started.IsZero() {
			f.add("began", stamp(p.Started, m.snap.Now))
		}
		if !p.Completed.IsZero() {
			f.add("ended", stamp(p.Completed, m.snap.Now))
		}
		for _, st := range p.Steps {
			text := progress.PlanStepText(m.snap, st)
			f.tone(planTone(st.Status), st.ID, st.Name)
			f.tone(planTone(st.Status), "", text)
		}
	}
	if len(g.Groups) > 0 {
		f.section("Update groups")
		in := g.ByGroup()
		for _, one := range g.Groups {
			f.add(one.Name, progress.GroupLine(one, in[one.Name]))
			if len(in[one.Name]) > 0 {
				f.add("", "in this order: "+progress.MachineNames(in[one.Name]))
			}
		}
	}
	if p := g.Pause; p != nil {
		f.section("Automatic pause")
		f.add("alerts", strings.Join(p.Alerts, ", "))
		f.tone(themes.Bad, "firing", strings.Join(p.Firing, ", "))
		f.tone(themes.Bad, "error", p.Error)
	}
	if c := g.LCM; c != nil {
		f.section("LCM")
		f.add("nodes ready", fmt.Sprintf("%d of %d", c.ReadyNodes, c.Requested))
		if c.Stuck {
			f.tone(themes.Bad, "stuck", c.StuckMessage)
		}
	}
	if c := g.Cluster; c != nil {
		f.section("Cluster " + c.Namespace + "/" + c.Name)
		f.add("release", c.Release)
		if c.Target != c.Release {
			f.add("to be", c.Target)
		}
		f.tone(themes.Warn, "maintenance mode", maintenanceWord(c.Wanted(), c.InMaintenance))
		conditionFacts(f, c.Conditions)
	}
	if r := g.Reboot; r != nil {
		f.section("Graceful reboot " + r.Name)
		what := "all machines"
		if len(r.Machines) > 0 {
			what = strings.Join(r.Machines, ", ")
		}
		f.tone(themes.Moves, "machines", what)
		f.add("asked for", stamp(r.Created, m.snap.Now))
	}
}

func planTone(status string) themes.Token {
	switch status {
	case core.PlanStuck:
		return themes.Bad
	case core.PlanAutoPaused:
		return themes.Needs
	case core.PlanInProgress, core.PlanScheduled:
		return themes.Moves
	case core.PlanCompleted:
		return themes.Dim
	}
	return themes.Text
}
