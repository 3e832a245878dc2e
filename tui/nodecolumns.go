package tui

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/tui/draw"
	"lockstep/tui/sanitise"
)

// nodeColumns is what the nodes have in common that decides about columns.
type nodeColumns struct {
	zones, racks bool     // there are several
	controllers  []string // those that have locks on nodes, in their order

	of core.Digest[nodeColumn] // what it was made of
}

// nodeColumn is what one node has to say about the columns.
type nodeColumn struct {
	zone, rack  string
	controllers string // one a line
}

var columnsOfNodes core.Derivation[nodeColumns]

// nodeColumnsOf is made from the nodes of which something has changed: there are thousands of others.
func nodeColumnsOf(s *core.Snapshot) nodeColumns {
	return columnsOfNodes.After(s, func(s *core.Snapshot, earlier nodeColumns) nodeColumns {
		each := core.DeriveByNode(s, earlier.of.ByNode, nil, progress.NodeNames(s), progress.ByNode(s),
			func(s *core.Snapshot, name string) (nodeColumn, bool) {
				v := progress.ViewOf(s, name)
				var controllers []string
				for _, l := range s.NodeLocks.At(name) {
					controllers = append(controllers, l.Controller)
				}
				return nodeColumn{zoneOf(v), rackOf(v), strings.Join(controllers, "\n")}, false
			})
		c := nodeColumns{of: core.DigestOf(s, earlier.of, each, func(c nodeColumn) nodeColumn { return c })}
		if c.of.SameAs(earlier.of) {
			earlier.of = c.of
			return earlier
		}
		var zone, rack, last string
		seen := map[string]bool{}
		for n := range each.All() {
			c.zones, c.racks = c.zones || another(&zone, n.zone), c.racks || another(&rack, n.rack)
			if n.controllers == last || n.controllers == "" {
				continue
			}
			last = n.controllers
			for name := range strings.SplitSeq(n.controllers, "\n") {
				if !seen[name] {
					seen[name] = true
					c.controllers = append(c.controllers, name)
				}
			}
		}
		sortControllers(c.controllers)
		return c
	})
}

// another tells whether a value is another one than the first; it notes the first.
func another(first *string, value string) bool {
	if *first == "" {
		*first = value
	}
	return value != "" && value != *first
}

// sortControllers puts those that every MOSK has first.
func sortControllers(names []string) {
	rank := []string{core.ControllerOpenStack, core.ControllerCeph, core.ControllerTungstenFabric}
	slices.SortFunc(names, func(a, b string) int {
		ra, rb := slices.Index(rank, a), slices.Index(rank, b)
		if ra < 0 {
			ra = len(rank)
		}
		if rb < 0 {
			rb = len(rank)
		}
		return cmp.Or(cmp.Compare(ra, rb), strings.Compare(a, b))
	})
}

// setControllers fits the locks column to the controllers: one mark each, their first two letters as its title.
func (p *nodesPane) setControllers(names []string) {
	const most = 6
	names = names[:min(len(names), most)]
	if slices.Equal(names, p.controllers) {
		return
	}
	p.controllers = slices.Clone(names)
	title := make([]string, len(names))
	for i, n := range names {
		title[i] = shortController(n)
	}
	for i := range p.Columns {
		if c := &p.Columns[i]; c.Rank == 4 {
			c.Title = strings.Join(title, " ")
			c.Width = max(3*len(names)-1, 0)
		}
	}
}

func shortController(name string) string {
	switch name {
	case core.ControllerTungstenFabric:
		return "tf"
	case core.ControllerOpenStack:
		return "os"
	case core.ControllerCeph:
		return "ce"
	case core.ControllerStackLight:
		return "sl"
	}
	first := ansi.Truncate(sanitise.Text(name, 64), 2, "") // any text may be its name
	return first + strings.Repeat(" ", 2-draw.Width(first))
}
