package tui

import (
	"cmp"
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// ScopeInstances is the pane of the selected node's instances.
const ScopeInstances Scope = "instances"

// instancesPane is the instances of the selected node, those that block its lock first.
type instancesPane struct{ tablePane[core.InstanceView] }

func newInstancesPane() pane {
	p := &instancesPane{}
	s := &p.scene
	t := &table.Table[core.InstanceView]{
		Header: true,
		ID:     func(v core.InstanceView) string { return v.Instance.ID },
		Name:   func(v core.InstanceView) string { return instanceName(v.Instance) },
	}
	type view = core.InstanceView
	t.Columns = []table.Column[view]{
		{Title: "name", Width: 8, Most: 28, Measure: func(v view) int {
			return draw.Width(instanceName(v.Instance)) + noteRoom(s.snap, "", v.Instance.ID)
		},
			Cell: func(v view) draw.Line {
				return withNote(draw.One(aside(v, themes.Strong), instanceName(v.Instance)), s.look.Glyph, s.snap, "", v.Instance.ID)
			},
			Compare: func(a, b view) int { return strings.Compare(a.Instance.Name, b.Instance.Name) }},
		{Title: "id", Width: 8, Rank: 6,
			Cell: func(v view) draw.Line { return draw.One(aside(v, themes.Text), shortID(v.Instance.ID)) }},
		{Title: "project", Width: 7, Most: 16, Rank: 4, Measure: func(v view) int { return draw.Width(s.snap.Project(v.Instance.ProjectID)) },
			Cell: func(v view) draw.Line { return draw.One(aside(v, themes.Text), s.snap.Project(v.Instance.ProjectID)) },
			Compare: func(a, b view) int {
				return strings.Compare(s.snap.Project(a.Instance.ProjectID), s.snap.Project(b.Instance.ProjectID))
			}},
		{Title: "status", Width: 9, Most: 17, Measure: func(v view) int { return draw.Width(v.Instance.Status) },
			Cell:    func(v view) draw.Line { return draw.One(aside(v, statusTone(v.Instance)), v.Instance.Status) },
			Compare: func(a, b view) int { return strings.Compare(a.Instance.Status, b.Instance.Status) }},
		{Title: "task", Width: 9, Most: 20, Rank: 8, Measure: func(v view) int { return draw.Width(v.Instance.TaskState) },
			Cell: func(v view) draw.Line { return draw.One(themes.Moves, v.Instance.TaskState) }},
		{Title: "power", Width: 7, Most: 9, Rank: 5, Measure: func(v view) int { return draw.Width(powerText(v.Instance.Power)) },
			Cell: func(v view) draw.Line { return draw.One(aside(v, themes.Text), powerText(v.Instance.Power)) }},
		{Title: "flavor", Width: 8, Most: 24, Right: true, Rank: 7,
			Measure: func(v view) int { return draw.Width(flavorText(v.Instance.Flavor())) },
			Cell:    func(v view) draw.Line { return draw.One(aside(v, themes.Text), flavorText(v.Instance.Flavor())) },
			Compare: func(a, b view) int { return cmp.Compare(a.Instance.Flavor().RAMMiB, b.Instance.Flavor().RAMMiB) }},
		{Title: "action", Width: 19, Most: 24, Rank: 2, Measure: func(v view) int { return len(actionText(v)) }, Cell: actionCell,
			Compare: func(a, b view) int { return strings.Compare(string(a.Action), string(b.Action)) }},
		{Title: "blocks", Width: 6, Rank: 1, Cell: func(v view) draw.Line {
			if v.Blocks {
				return draw.One(themes.Needs, "yes")
			}
			return draw.One(themes.Dim, "no")
		}},
		{Title: "migration", Width: 16, Grow: true, Cell: func(v view) draw.Line { return migrationCell(s, v) },
			Fill: func(v view, w int) draw.Line { return migrationIn(s, v, w) }},
	}
	t.Keys = []table.Key[core.InstanceView]{
		{Name: "zone", Values: func(v core.InstanceView) []string { return []string{v.Instance.Zone} }},
		{Name: "tag", Values: func(v core.InstanceView) []string { return v.Instance.Tags }},
		{Name: "user", Values: func(v core.InstanceView) []string { return []string{v.Instance.UserID} }},
		{Name: "flavor", Values: func(v core.InstanceView) []string {
			return []string{v.Instance.Flavor().Name, strings.Join(strings.Fields(flavorText(v.Instance.Flavor())), " ")}
		}},
	}
	p.Table = t
	return p
}

// aside is the tone of a cell: dim in the rows of instances that block nothing and do not move.
func aside(v core.InstanceView, tone themes.Token) themes.Token {
	if !v.Blocks && tone != themes.Bad && tone != themes.Moves {
		return themes.Dim
	}
	return tone
}

func instanceName(i *core.Instance) string {
	if i.Name != "" {
		return i.Name
	}
	return shortID(i.ID)
}

func shortID(id string) string {
	head, _, _ := strings.Cut(id, "-")
	return head
}

func statusTone(i *core.Instance) themes.Token {
	switch i.Status {
	case "ACTIVE":
		return themes.Text
	case "ERROR":
		return themes.Bad
	case "MIGRATING", "RESIZE", "VERIFY_RESIZE", "REBOOT", "HARD_REBOOT", "PASSWORD", "REBUILD":
		return themes.Moves
	case "SHUTOFF", "SHELVED", "SHELVED_OFFLOADED", "SUSPENDED", "PAUSED":
		return themes.Dim
	}
	return themes.Warn
}

func powerText(p core.PowerState) string {
	if p == core.PowerShutdown {
		return "off"
	}
	return p.String()
}

func flavorText(f core.Flavor) string {
	if f.VCPUs == 0 && f.RAMMiB == 0 {
		return f.Name
	}
	if f.RAMMiB%1024 != 0 {
		return fmt.Sprintf("%d vCPU %4d MiB", f.VCPUs, f.RAMMiB)
	}
	return fmt.Sprintf("%d vCPU %4d GiB", f.VCPUs, f.RAMMiB/1024)
}

func actionCell(v core.InstanceView) draw.Line {
	tone := themes.Text
	switch v.Action {
	case core.ActionNotify:
		tone = themes.Needs
	case core.ActionPowerOff:
		tone = themes.Warn
	case core.ActionUnknown:
		tone = themes.Bad
	}
	return draw.Line{draw.Text(aside(v, tone), string(v.Action)), draw.Text(themes.Dim, " ("+string(v.Origin)+")")}
}

func actionText(v core.InstanceView) string { return string(v.Action) + " (" + string(v.Origin) + ")" }

func migrationCell(s *scene, v core.InstanceView) draw.Line {
	mig := v.Migration
	switch {
	case mig != nil && mig.Running():
		out := draw.One(themes.Moves, strings.TrimSpace(mig.Status+destination(s, mig)))
		if n := mig.Percent(); n >= 0 {
			bar := append(draw.Line{draw.Text(themes.Moves, strings.TrimSpace(destination(s, mig))), draw.Blank(1)},
				draw.Gauge(s.look.Glyph, n, 100, 6)...)
			return append(bar, draw.Text(themes.Text, fmt.Sprintf(" %2d %%", n)))
		}
		return out
	case v.Failures > 0:
		when := ""
		if mig != nil && mig.Failed() && !mig.Updated.IsZero() {
			when = ", " + s.now.ago(mig.Updated)
		}
		return draw.One(themes.Bad, "failed "+times(v.Failures)+when).And(themes.Dim, reasonAfter(v.Failure))
	case v.Instance.Fault != "":
		return draw.One(themes.Bad, v.Instance.Fault)
	}
	return draw.One(themes.Dim, v.Why)
}

// migrationIn is migrationCell in w columns: where room is short, the bar is dropped before the figure is cut.
func migrationIn(s *scene, v core.InstanceView, w int) draw.Line {
	out := migrationCell(s, v)
	if mig := v.Migration; out.Width() > w && mig != nil && mig.Running() && mig.Percent() >= 0 {
		return draw.One(themes.Text, fmt.Sprintf("%d %%", mig.Percent())).And(themes.Moves, destination(s, mig))
	}
	return out
}

func reasonAfter(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func destination(s *scene, mig *core.Migration) string {
	if mig.DestHost == "" {
		return ""
	}
	if n := s.snap.NodeOfHost(mig.DestHost); n != nil {
		return " to " + n.Label()
	}
	return " to " + mig.DestHost
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}

func (p *instancesPane) refresh() string {
	node := p.node
	before := p.Cursor()
	var rows []core.InstanceView
	if node != "" {
		rows = progress.InstanceViews(p.snap, node)
	}
	gone := p.Set(rows, p.snap.Revision)
	if p.snap.Instances.At(before) != nil {
		return "" // it moved to another host: that is what was wanted
	}
	return gone
}

func (p *instancesPane) name() string {
	if node := p.node; node != "" && p.snap != nil {
		return "Instances of " + p.snap.Label(node)
	}
	return "Instances"
}

func (p *instancesPane) empty() string {
	node := p.node
	n := p.snap.Nodes[node]
	switch {
	case node == "":
		return "No node is selected."
	case n != nil && !n.Is(core.RoleCompute):
		return p.snap.Label(node) + " is not a compute node: it has no instances."
	}
	return "No instance is left on " + p.snap.Label(node) + "."
}

func (p *instancesPane) note() draw.Line {
	if len(p.All()) == 0 {
		return nil
	}
	blocking := 0
	for _, v := range p.All() {
		if v.Blocks {
			blocking++
		}
	}
	out := draw.One(themes.Dim, fmt.Sprint(len(p.All())))
	if blocking == 0 {
		return out
	}
	out = out.And(themes.Dim, " "+p.look.Glyph.Dot+" ")
	switch {
	case p.snap.NodeRequest(p.node) == nil: // nothing is asked of the node: nobody has to do anything now
		return out.And(themes.Dim, fmt.Sprintf("%d would block the lock", blocking))
	case blocking == 1:
		return out.And(themes.Needs, "1 blocks the lock")
	}
	return out.And(themes.Needs, fmt.Sprintf("%d block the lock", blocking))
}

// explain is why the selected instance blocks the lock, or why not.
func (p *instancesPane) explain() string {
	v, ok := p.Current()
	if !ok {
		return ""
	}
	text := instanceName(v.Instance) + ": " + v.Why
	if v.Failures > 0 && !strings.Contains(v.Why, "failed "+times(v.Failures)) { // else it is said already
		text += ". Failed " + times(v.Failures) + reasonAfter(v.Failure)
	}
	return text
}

func (p *instancesPane) subject() subject {
	v, ok := p.Current()
	if !ok {
		return subject{}
	}
	return subject{procedure: &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: v.Instance.ID},
		node: p.node, instance: v.Instance.ID, name: v.Instance.ID,
		command: "openstack server show " + v.Instance.ID}
}

func (p *instancesPane) nodes() []string { return p.hangsOn() }

func (p *instancesPane) words() []columnWord {
	return []columnWord{
		{"name", "the instance's name in Nova"},
		{"id", "the beginning of its UUID; its page shows all of it"},
		{"project", "the Keystone project that it belongs to"},
		{"status", "Nova's status"},
		{"task", "Nova's task_state: what Nova does with it now"},
		{"power", "the guest's power as the hypervisor has it"},
		{"flavor", "its size"},
		{"action", "what maintenance does with it, and what decides that: its own tag, two tags that cancel each other, or its node's mode"},
		{"blocks", "whether it holds the lock of its node"},
		{"migration", "how its migration goes, or why it blocks the lock or not"},
	}
}

// instanceActions are what can be done with the selected instance. The step's guards say what is possible now; the actions always
// stay visible.
func instanceActions() []Action {
	var all []Action
	for _, a := range []struct {
		id, title, short string
		kind             core.IntentKind
		keys             []string
		footer           int
	}{
		{"migrate", "Live-migrate the instance", "migrate", core.IntentLiveMigrate, []string{"m"}, 10},
		{"cold", "Cold-migrate the instance: it is stopped, moved, and started", "cold-migrate", core.IntentColdMigrate, nil, 0},
		{"confirm", "Confirm the instance's cold migration", "confirm resize", core.IntentConfirmResize, nil, 0},
		{"revert", "Revert the instance's cold migration", "revert resize", core.IntentRevertResize, nil, 0},
		{"stop", "Stop the instance", "stop", core.IntentStop, nil, 0},
		{"start", "Start the instance", "start", core.IntentStart, nil, 0},
		{"resume", "Resume the suspended instance", "resume", core.IntentResume, nil, 0},
		{"evacuate", "Evacuate the instance from a host that is down: it is rebuilt on another one", "evacuate", core.IntentEvacuate, nil, 0},
		{"shelve", "Shelve the instance: it is shut down and leaves its host", "shelve", core.IntentShelve, nil, 0},
		{"unshelve", "Unshelve the instance", "unshelve", core.IntentUnshelve, nil, 0},
		{"reset", "Reset the instance's state from ERROR to ACTIVE, in Nova's record only", "reset state", core.IntentResetState, nil, 0},
		{"poweroff", "Tag the instance poweroff: it goes down with its host and comes back", "tag poweroff", core.IntentTagPowerOff, nil, 0},
		{"tags", "Restore the maintenance tags that the instance had before Lockstep tagged it", "restore tags",
			core.IntentRestoreTags, nil, 0},
		{"abort", "Abort the instance's running migration", "abort", core.IntentAbortMigration, nil, 0},
		{"force", "Force the instance's running migration to complete: it pauses the guest", "force", core.IntentForceComplete, nil, 0},
	} {
		all = append(all, inPane(Action{ID: "instance." + a.id, Title: a.title, Short: a.short, Scope: ScopeInstances, Keys: a.keys,
			Intent: []core.IntentKind{a.kind}, Footer: a.footer}, (*instancesPane).needRow, func(p *instancesPane) request {
			v, ok := p.Current()
			if !ok {
				return nil
			}
			return confirmStep{core.Intent{Kind: a.kind, Instance: v.Instance.ID}}
		}))
	}
	return all
}
