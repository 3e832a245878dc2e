package tui

import (
	"cmp"
	"fmt"
	"strings"

	"lockstep/core"
	"lockstep/themes"
)

// instancesPane is the instances of the selected node, those that hold its lock first.
type instancesPane struct{ tablePane[core.InstanceView] }

func newInstancesPane(m *Model) *instancesPane {
	t := &table[core.InstanceView]{
		header: true,
		id:     func(v core.InstanceView) string { return v.Instance.ID },
		name:   func(v core.InstanceView) string { return instanceName(v.Instance) },
	}
	t.columns = []column[core.InstanceView]{
		{title: "name", width: 8, most: 28, measure: func(v core.InstanceView) int { return width(clean(instanceName(v.Instance), rowLimit)) },
			cell:    func(v core.InstanceView) line { return one(aside(v, themes.Strong), instanceName(v.Instance)) },
			compare: func(a, b core.InstanceView) int { return strings.Compare(a.Instance.Name, b.Instance.Name) }},
		{title: "id", width: 8, rank: 6, cell: func(v core.InstanceView) line { return one(aside(v, themes.Text), shortID(v.Instance.ID)) }},
		{title: "project", width: 7, most: 16, rank: 4,
			measure: func(v core.InstanceView) int { return width(clean(m.snap.Project(v.Instance.ProjectID), rowLimit)) },
			cell: func(v core.InstanceView) line {
				return one(aside(v, themes.Text), m.snap.Project(v.Instance.ProjectID))
			},
			compare: func(a, b core.InstanceView) int {
				return strings.Compare(m.snap.Project(a.Instance.ProjectID), m.snap.Project(b.Instance.ProjectID))
			}},
		{title: "status", width: 9, most: 17, measure: func(v core.InstanceView) int { return width(clean(v.Instance.Status, rowLimit)) },
			cell:    func(v core.InstanceView) line { return one(aside(v, statusTone(v.Instance)), v.Instance.Status) },
			compare: func(a, b core.InstanceView) int { return strings.Compare(a.Instance.Status, b.Instance.Status) }},
		{title: "task", width: 9, most: 20, rank: 8, measure: func(v core.InstanceView) int { return width(clean(v.Instance.TaskState, rowLimit)) },
			cell: func(v core.InstanceView) line { return one(themes.Moves, v.Instance.TaskState) }},
		{title: "power", width: 7, most: 9, rank: 5, measure: func(v core.InstanceView) int { return width(powerText(v.Instance.Power)) }, cell: func(v core.InstanceView) line { return one(aside(v, themes.Text), powerText(v.Instance.Power)) }},
		{title: "flavor", width: 8, most: 24, right: true, rank: 7, measure: func(v core.InstanceView) int { return width(clean(flavorText(v.Instance.Flavor), rowLimit)) }, cell: func(v core.InstanceView) line { return one(aside(v, themes.Text), flavorText(v.Instance.Flavor)) },
			compare: func(a, b core.InstanceView) int {
				return cmp.Compare(a.Instance.Flavor.RAMMiB, b.Instance.Flavor.RAMMiB)
			}},
		{title: "action", width: 19, most: 24, rank: 2, measure: func(v core.InstanceView) int { return len(actionText(v)) }, cell: actionCell,
			compare: func(a, b core.InstanceView) int { return strings.Compare(string(a.Action), string(b.Action)) }},
		{title: "blocks", width: 6, rank: 1, cell: func(v core.InstanceView) line {
			if v.Blocks {
				return one(themes.Needs, "yes")
			}
			return one(themes.Dim, "no")
		}},
		{title: "migration", width: 16, grow: true, cell: func(v core.InstanceView) line { return migrationCell(m, v) },
			fill: func(v core.InstanceView, w int) line { return migrationIn(m, v, w) }},
	}
	t.keys = []filterKey[core.InstanceView]{
		{"zone", func(v core.InstanceView) []string { return []string{v.Instance.Zone} }},
		{"tag", func(v core.InstanceView) []string { return v.Instance.Tags }},
		{"user", func(v core.InstanceView) []string { return []string{v.Instance.UserID} }},
		{"flavor", func(v core.InstanceView) []string {
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

func actionCell(v core.InstanceView) line {
	tone := themes.Text
	switch v.Action {
	case core.ActionNotify:
		tone = themes.Needs
	case core.ActionPowerOff:
		tone = themes.Warn
	case core.ActionUnknown:
		tone = themes.Bad
	}
	return line{txt(aside(v, tone), string(v.Action)), txt(themes.Dim, " ("+string(v.Origin)+")")}
}

func actionText(v core.InstanceView) string { return string(v.Action) + " (" + string(v.Origin) + ")" }

func migrationCell(m *Model, v core.InstanceView) line {
	mig := v.Migration
	switch {
	case mig != nil && mig.Running():
		out := one(themes.Moves, strings.TrimSpace(mig.Status+destination(m, mig)))
		if n := mig.Percent(); n >= 0 {
			bar := append(line{txt(themes.Moves, strings.TrimSpace(destination(m, mig))), blank(1)},
				gauge(m.look.glyph, n, 100, 6)...)
			return append(bar, txt(themes.Text, fmt.Sprintf(" %2d %%", n)))
		}
		return out
	case v.Failures > 0:
		when := ""
		if mig != nil && mig.Failed() && !mig.Updated.IsZero() {
			when = ", " + ago(m.snap.Now.Sub(mig.Updated))
		}
		return one(themes.Bad, "failed "+times(v.Failures)+when).and(themes.Dim, reasonAfter(v.Failure))
	case v.Instance.Fault != "":
		return one(themes.Bad, v.Instance.Fault)
	}
	return one(themes.Dim, v.Why)
}

// migrationIn is migrationCell in w columns: where there is no room for all of it, the bar goes before the figure is cut.
func migrationIn(m *Model, v core.InstanceView, w int) line {
	out := migrationCell(m, v)
	if mig := v.Migration; out.width() > w && mig != nil && mig.Running() && mig.Percent() >= 0 {
		return one(themes.Text, fmt.Sprintf("%d %%", mig.Percent())).and(themes.Moves, destination(m, mig))
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
	before := p.cursor
	var rows []core.InstanceView
	if node != "" {
		rows = m.snap.InstanceViews(node)
	}
	gone := p.set(rows, m.snap.Revision)
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

func (p *instancesPane) note(m *Model) line {
	if len(p.all) == 0 {
		return nil
	}
	blocking := 0
	for _, v := range p.all {
		if v.Blocks {
			blocking++
		}
	}
	out := one(themes.Dim, fmt.Sprint(len(p.all)))
	if blocking == 0 {
		return out
	}
	out = out.and(themes.Dim, " "+m.look.glyph.Dot+" ")
	switch {
	case m.snap.NodeRequest(m.shown) == nil: // nothing is asked of the node: nobody has to do anything now
		return out.and(themes.Dim, fmt.Sprintf("%d would block the lock", blocking))
	case blocking == 1:
		return out.and(themes.Needs, "1 blocks the lock")
	}
	return out.and(themes.Needs, fmt.Sprintf("%d block the lock", blocking))
}

// explain is why the selected instance is in the way, or why not.
func (p *instancesPane) explain(m *Model) string {
	v, ok := p.current()
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
	v, ok := p.current()
	if !ok {
		return subject{}
	}
	return subject{procedure: &core.ProcedureKey{Kind: core.ProcedureInstance, Subject: v.Instance.ID},
		node: m.shown, instance: v.Instance.ID, name: v.Instance.ID,
		command: "openstack server show " + v.Instance.ID}
}
