package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
)

// zoned is the world with two zones, two racks, update groups, and instances of several projects.
func zoned() *core.Snapshot {
	s := world()
	for i, name := range s.NodeNames() {
		n := s.Nodes[name]
		n.Labels = map[string]string{"example.org/tracker": "no"}
		if svc := s.Services[name]; svc != nil {
			svc.Zone = fmt.Sprintf("az-%d", 1+i%2)
			n.Labels["example.org/rack-id"] = fmt.Sprintf("r%02d", 1+i%3)
		}
	}
	return s
}

func shownNodes(d *driver) []string {
	out := make([]string, len(d.nodes.Rows()))
	for i, v := range d.nodes.Rows() {
		out[i] = v.Label
	}
	slices.Sort(out)
	return out
}

// Nodes are filtered by role, zone, rack, stage, labels and projects; by several of these; and by their negation.
func TestNodesAreFilteredByWhatTheyAre(t *testing.T) {
	d := drive(zoned(), 120, 40)
	all := len(d.nodes.All())
	in := func(names ...string) func(v *core.NodeView) bool {
		return func(v *core.NodeView) bool { return slices.Contains(names, v.Label) }
	}
	is := func(r core.Role) func(v *core.NodeView) bool {
		return func(v *core.NodeView) bool { return v.Node.Is(r) }
	}
	and := func(fs ...func(*core.NodeView) bool) func(v *core.NodeView) bool {
		return func(v *core.NodeView) bool {
			for _, f := range fs {
				if !f(v) {
					return false
				}
			}
			return true
		}
	}
	not := func(f func(*core.NodeView) bool) func(v *core.NodeView) bool {
		return func(v *core.NodeView) bool { return !f(v) }
	}
	zone := func(z string) func(v *core.NodeView) bool {
		return func(v *core.NodeView) bool { return zoneOf(v) == z }
	}
	for filter, want := range map[string]func(v *core.NodeView) bool{
		"role:gtw":                  is(core.RoleGateway),
		"role:gateway":              is(core.RoleGateway),
		"ROLE:Gateway":              is(core.RoleGateway),
		"role:gtw,ctl":              func(v *core.NodeView) bool { return !v.Node.Is(core.RoleCompute) },
		"-role:cmp":                 not(is(core.RoleCompute)),
		"zone:az-1":                 zone("az-1"),
		"az-1":                      zone("az-1"),
		"zone:az-1 stage:done":      and(zone("az-1"), in("cmp-01", "cmp-02")),
		"rack:r02 role:cmp":         and(is(core.RoleCompute), func(v *core.NodeView) bool { return rackOf(v) == "r02" }),
		"label:rack-id=r03":         func(v *core.NodeView) bool { return rackOf(v) == "r03" },
		"label:tracker=no role:ctl": is(core.RoleController),
		`stage:"waiting for you"`:   in("cmp-07"),
		"stage:waiting":             in("cmp-07"),
		"mode:manual":               in("cmp-07"),
		"project:science":           func(v *core.NodeView) bool { return slices.Contains(projectsOn(d.snap, v.Name), "science") },
		"role:":                     func(*core.NodeView) bool { return true }, // an empty value filters nothing
		"nonsense:r02":              func(*core.NodeView) bool { return false },
		"node:=CMP-03,=cmp-04":      in("cmp-03", "cmp-04"),
		"node:=cmp-0":               func(*core.NodeView) bool { return false },
		"-node:=cmp-03 zone:=az-1":  and(zone("az-1"), not(in("cmp-03"))),
		"stage:=":                   func(*core.NodeView) bool { return true },
		"node:cmp-0 -node:cmp-03,cmp-04": func(v *core.NodeView) bool {
			return strings.HasPrefix(v.Label, "cmp-0") && !in("cmp-03", "cmp-04")(v)
		},
	} {
		d.nodes.SetFilter(filter)
		var names []string
		for _, v := range d.nodes.All() {
			if want(v) {
				names = append(names, v.Label)
			}
		}
		slices.Sort(names)
		got := shownNodes(d)
		if !slices.Equal(got, names) || len(got) == all && !strings.HasSuffix(filter, ":") && !strings.HasSuffix(filter, ":=") ||
			len(got) == 0 && filter != "nonsense:r02" && filter != "node:=cmp-0" {
			t.Errorf("/%s shows %v, want %v", filter, got, names)
		}
	}
}

// The columns of zones and racks appear if there are several, and if there is room.
func TestZonesAndRacksHaveColumnsWhereTheyDiffer(t *testing.T) {
	head := func(s *core.Snapshot, w int) string {
		for _, l := range strings.Split(stripped(drive(s, w, 60).shows()), "\n") {
			if strings.Contains(l, "stage") {
				return l
			}
		}
		return ""
	}
	if got := head(zoned(), 260); !strings.Contains(got, "zone  rack  stage") {
		t.Errorf("with zones: %q", got)
	}
	if got := head(world(), 200); strings.Contains(got, "zone") || strings.Contains(got, "rack") {
		t.Errorf("with one zone: %q", got)
	}
	if got := head(zoned(), 120); strings.Contains(got, "rack") || !strings.Contains(got, "mode") {
		t.Errorf("where there is little room: %q", got)
	}
}

// While a filter is typed, the footer shows how it can continue, and tab completes it as far as there is one way.
func TestAFilterIsCompleted(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"zo", "zone:"}, {"zone:", "zone:az-"}, {"zone:az-2", "zone:az-2 "},
		{"zone:=az-2", "zone:=az-2 "}, {"ro", "role:"}, {"role:ga", "role:gateway "}, {"role:cmp,g",
			"role:cmp,g"},
		{"-st", "-stage:"}, {"zone:az-1 ra", "zone:az-1 rack:"}, {"zone:az-1 rack:", "zone:az-1 rack:r0"}, {"nope", "nope"}, {"nope:", "nope:"},
		{"r", "r"}, {"label:example.org/rack-id=r01", "label:example.org/rack-id=r01 "},
	} {
		d := drive(zoned(), 120, 40).keys("3", "/", c.typed, "tab")
		if got := d.nodes.Filter(); got != c.want {
			t.Errorf("tab after /%s makes /%s, want /%s", c.typed, got, c.want)
		}
		if !d.filtering {
			t.Errorf("tab after /%s ends the typing", c.typed)
		}
	}
	for _, size := range sizes {
		if foot := lastLine(drive(zoned(), size.w, size.h).keys("3", "/")); !strings.Contains(foot, "17 of 17") ||
			!strings.Contains(foot, "node:") || !strings.Contains(foot, "tab") || !strings.Contains(foot, "esc clears") {
			t.Errorf("at %d columns the footer says %q", size.w, foot)
		}
		if foot := lastLine(drive(zoned(), size.w, size.h).keys("3", "/", "zone:")); !strings.Contains(foot, "az-1  az-2") {
			t.Errorf("at %d columns the footer says %q", size.w, foot)
		}
	}
}

// The screen says what a filter hides: in the rule, on the tab of a pane that is not visible, for marks, and where a link leads
// to a hidden row.
func TestWhatAFilterHidesIsSaid(t *testing.T) {
	d := drive(zoned(), 80, 24).keys("3", "space", "space", "space", "/", "zone:az-2 -stage:waiting", "enter")
	frame := stripped(d.shows())
	if !strings.Contains(frame, "/zone:az-2 -stage:waiting 6 of 17") {
		t.Errorf("the rule does not say it:\n%s", frame)
	}
	d.send(sized(200, 60))
	hidden := d.nodes.HiddenMarks()
	if hidden == 0 || hidden == 3 {
		t.Fatalf("%d of 3 marked ones are hidden", hidden)
	}
	if frame := stripped(d.shows()); !strings.Contains(frame, fmt.Sprintf("3 marked, %d of them hidden", hidden)) {
		t.Errorf("hidden marks are not told:\n%s", frame)
	}
	d.send(sized(80, 24))
	if tabs := strings.Split(stripped(d.keys("5").shows()), "\n")[2]; !strings.Contains(tabs, "3 Nodes/") {
		t.Errorf("the tab does not say it: %q", tabs)
	}

	d = drive(zoned(), 120, 40).keys("3", "/", "role:gtw", "enter", "1", "down", "up")
	if !strings.Contains(d.toast.text, "the filter /role:gtw hides cmp-07") {
		t.Errorf("in the list of what needs one: %q", d.toast.text)
	}
	if d.keys("f"); d.nodes.Cursor() != "kaas-node-cmp07" || d.nodes.Filter() != "" || d.focus != ScopeNodes {
		t.Errorf("f goes to %q with the filter %q", d.nodes.Cursor(), d.nodes.Filter())
	}

	if frame := stripped(drive(zoned(), 80, 24).keys("2", "/", "no such phase", "enter").shows()); !strings.Contains(frame,
		"esc clears the filter.\n") {
		t.Errorf("the phases, which have no keys:\n%s", frame)
	}
	if frame := stripped(drive(zoned(), 80, 24).keys("3", "/", "rol:gtw", "enter").shows()); !strings.Contains(frame, "role: zone: rack:") {
		t.Errorf("a word that is no key leads nowhere:\n%s", frame)
	}
}

// The other panes have their own keys.
func TestOtherPanesAreFilteredByTheirKeys(t *testing.T) {
	d := drive(zoned(), 120, 40)
	for _, c := range []struct {
		pane         Scope
		filter       string
		least, below int
	}{
		{ScopeNeeds, "node:cmp-07", 1, 9}, {ScopeNeeds, "role:gtw", 0, 1}, {ScopeNeeds, "zone:az", 1, 9}, {ScopeInstances, "project:shop",
			1, 4}, {ScopeInstances, "status:active -project:shop", 1, 3},
		{ScopeInstances, "flavor:64", 1, 2}, {ScopeInstances, "blocks:yes", 1, 4}, {ScopeLocks, "controller:ceph state:inactive", 1,
			3}, {ScopeLocks, "-of:cluster", 1, 4},
	} {
		p := d.panes[c.pane]
		p.SetFilter(c.filter)
		if n, _ := p.Count(); n < c.least || n >= c.below {
			t.Errorf("pane %s: /%s shows %d rows: %q", c.pane, c.filter, n, p.Text())
		}
		p.SetFilter("")
	}
}
