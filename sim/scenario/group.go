package scenario

import "slices"

// Group is a kind of scenarios.
type Group struct {
	Name  string // as in a file
	Title string
}

// Groups lists all groups, in the order of display.
func Groups() []Group {
	return []Group{
		{"basics", "The basics"},
		{"instances", "Instances"},
		{"controllers", "Application controllers"},
		{"lcm", "LCM and its plan"},
		{"outages", "Servers that go away"},
		{"fleets", "Fleets"},
	}
}

// checkGroup makes sure that a scenario's group, if it has one, is listed.
func (s *Scenario) checkGroup(check func(bool, string, ...any)) {
	var names []string
	for _, g := range Groups() {
		names = append(names, g.Name)
	}
	check(s.Group == "" || slices.Contains(names, s.Group), "group: is %q: want one of %v%s", s.Group, names, suggestion{s.Group, names})
}
