package tui

import (
	"cmp"
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// instancesPane is the instances of the selected node, those that hold its lock first.
type instancesPane struct{ tablePane[core.InstanceView] }

func newInstancesPane(m *Model) *instancesPane {
	t := &table.Table[core.InstanceView]{
		Header: true,
		ID:     func(v core.InstanceView) string { return v.Instance.ID },
		Name:   func(v core.InstanceView) string { return instanceName(v.Instance) },
	}
	t.Columns = []table.Column[core.InstanceView]{
		{Title: "name", Width: 8, Most: 28, Measure: func(v core.InstanceView) int {
			return draw.Width(instanceName(v.Instance))
		},
			Cell: func(v core.InstanceView) draw.Line {
				return draw.One(aside(v, themes.Strong), instanceName(v.Instance))
			},
			Compare: func(a, b core.InstanceView) int { return strings.Compare(a.Instance.Name, b.Instance.Name) }},
		{Title: "id", Width: 8, Rank: 6, Cell: func(v core.InstanceView) draw.Line { return draw.One(aside(v, themes.Text), shortID(v.Instance.ID)) }},
		{Title: "project", Width: 7, Most: 16, Rank: 4,
			Measure: func(v core.InstanceView) int {
				return draw.Width(m.snap.Project(v.Instance.ProjectID))
			},
			Cell: func(v core.InstanceView) draw.Line {
				return draw.One(aside(v, themes.Text), m.snap.Project(v.Instance.ProjectID))
			},
			Compare: func(a, b core.InstanceView) int {
				return strings.Compare(m.snap.Project(a.Instance.ProjectID), m.snap.Project(b.Instance.ProjectID))
			}},
		{Title: "status", Width: 9, Most: 17, Measure: func(v core.InstanceView) int { return draw.Width(v.Instance.Status) },
			Cell: func(v core.InstanceView) draw.Line {
				return draw.One(aside(v, statusTone(v.Instance)), v.Instance.Status)
			},
			Compare: func(a, b core.InstanceView) int { return strings.Compare(a.Instance.Status, b.Instance.Status) }},
		{Title: "task", Width: 9, Most: 20, Rank: 8, Measure: func(v core.InstanceView) int {
			return draw.Width(v.Instance.TaskState)
		},
			Cell: func(v core.InstanceView) draw.Line { return draw.One(themes.Moves, v.Instance.TaskState) }},
		{Title: "power", Width: 7, Most: 9, Rank: 5, Measure: func(v core.InstanceView) int { return draw.Width(powerText(v.Instance.Power)) }, Cell: func(v core.InstanceView) draw.Line {
			return draw.One(aside(v, themes.Text), powerText(v.Instance.Power))
		}},
		{Title: "flavor", Width: 8, Most: 24, Right: true, Rank: 7, Measure: func(v core.InstanceView) int {
			return draw.Width(flavorText(v.Instance.Flavor))
		}, Cell: func(v core.InstanceView) draw.Line {
			return draw.One(aside(v, themes.Text), flavorText(v.Instance.Flavor))
		},
			Compare: func(a, b core.InstanceView) int {
				return cmp.Compare(a.Instance.Flavor.RAMMiB, b.Instance.Flavor.RAMMiB)
			}},
		{Title: "action", Width: 19, Most: 24, Rank: 2, Measure: func(v core.InstanceView) int { return len(actionText(v)) }, Cell: actionCell,
			Compare: func(a, b core.InstanceView) int { return strings.Compare(string(a.Action), string(b.Action)) }},
		{Title: "blocks", Width: 6, Rank: 1, Cell: func(v core.InstanceView) draw.Line {
			if v.Blocks {
				return draw.One(themes.Needs, "yes")
			}
			return draw.One(themes.Dim, "no")
		}},
		{Title: "migration", Width: 16, Grow: true, Cell: func(v core.InstanceView) draw.Line { return migrationCell(m, v) },
			Fill: func(v core.InstanceView, w int) draw.Line { return migrationIn(m, v, w) }},
	}
	t.Keys = []table.Key[core.InstanceView]{
		{Name: "zone", Values: func(v core.InstanceView) []string { return []string{v.Instance.Zone} }},
		{Name: "tag", Values: func(v core.InstanceView) []string { return v.Instance.Tags }},
		{Name: "user", Values: func(v core.InstanceView) []string { return []string{v.Instance.UserID} }},
		{Name: "flavor", Values: func(v core.InstanceView) []string {
			return []string{v.Instance.Flavor.Name, strings.Join(strings.Fields(flavorText(v.Instance.Flavor)), " ")}
		}},
	}
	return &instancesPane{tablePane[core.InstanceView]{t}}
}

// aside is the tone of a cell: dim in the rows of instances that are in nobody's way and that nothing happens to.
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

func migrationCell(m *Model, v core.InstanceView) draw.Line {
	mig := v.Migration
	switch {
	case mig != nil && mig.Running():
		out := draw.One(themes.Moves, strings.TrimSpace(mig.Status+destination(m, mig)))
		if n := mig.Percent(); n >= 0 {
			bar := append(draw.Line{draw.Text(themes.Moves, strings.TrimSpace(destination(m, mig))), draw.Blank(1)},
				draw.Gauge(m.look.Glyph, n, 100, 6)...)
			return append(bar, draw.Text(themes.Text, fmt.Sprintf(" %2d %%", n)))
		}
		return out
	case v.Failures > 0:
		when := ""
		if mig != nil && mig.Failed() && !mig.Updated.IsZero() {
			when = ", " + ago(m.snap.Now.Sub(mig.Updated))
		}
		return draw.One(themes.Bad, "failed "+times(v.Failures)+when).And(themes.Dim, reasonAfter(v.Failure))
	case v.Instance.Fault != "":
		return draw.One(themes.Bad, v.Instance.Fault)
	}
	return draw.One(themes.Dim, v.Why)
}

// migrationIn is migrationCell in w columns: where there is no room for all of it, the bar goes before the figure is cut.
func migrationIn(m *Model, v core.InstanceView, w int) draw.Line {
	out := migrationCell(m, v)
	if mig := v.Migration; out.Width() > w && mig != nil && mig.Running() && mig.Percent() >= 0 {
		return draw.One(themes.Text, fmt.Sprintf("%d %%", mig.Percent())).And(themes.Moves, destination(m, mig))
	}
	return out
}

func reasonAfter(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

func destination(m *Model, mig *core.Migration) string {
	if mig.DestHost == "" {
		return ""
	}
	if n := m.snap.NodeOfHost(mig.DestHost); n != nil {
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

func (p *instancesPane) refresh(m *Model) string {
	node := m.shown
	before := p.Cursor()
	var rows []core.InstanceView
	if node != "" {
		rows = m.snap.InstanceViews(node)
	}
	gone := p.Set(rows, m.snap.Revision)
	if _, still := m.snap.Instances[before]; still {
		return "" // it moved to another host: that is what was wanted
	}
	return gone
}

func (p *instancesPane) name(m *Model) string {
	if node := m.shown; node != "" && m.snap != nil {
		return "Instances of " + m.snap.Label(node)
	}
	return "Instances"
}
func (p *instancesPane) short() string { return "Inst" }
func (p *instancesPane) sources() []core.SourceID {
	return []core.SourceID{core.SourceInstances, core.SourceMigrations}
}

func (p *instancesPane) empty(m *Model) string {
	node := m.shown
	n := m.snap.Nodes[node]
	switch {
	case node == "":
		return "No node is selected."
	case n != nil && !n.Is(core.RoleCompute):
		return m.snap.Label(node) + " is no compute node: it has no instances."
	}
	return "No instance is left on " + m.snap.Label(node) + "."
}

func (p *instancesPane) note(m *Model) draw.Line {
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
	out = out.And(themes.Dim, " "+m.look.Glyph.Dot+" ")
	switch {
	case m.snap.NodeRequest(m.shown) == nil: // nothing is asked of the node: nobody has to do anything now
		return out.And(themes.Dim, fmt.Sprintf("%d would block the lock", blocking))
	case blocking == 1:
		return out.And(themes.Needs, "1 blocks the lock")
	}
	return out.And(themes.Needs, fmt.Sprintf("%d block the lock", blocking))
}

// explain is why the selected instance is in the way, or why not.
func (p *instancesPane) explain(m *Model) string {
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

func (p *instancesPane) subject(m *Model) subject {
	v, ok := p.Current()
	if !ok {
		return subject{}
	}
	return subject{procedure: &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: v.Instance.ID},
		node: m.shown, instance: v.Instance.ID, name: v.Instance.ID,
		command: "openstack server show " + v.Instance.ID}
}
