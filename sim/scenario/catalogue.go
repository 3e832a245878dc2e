package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Entry describes a scenario that comes with the program.
type Entry struct {
	Name    string `json:"name"`
	Group   string `json:"group"` // name of one of Groups
	Title   string `json:"title"` // one line
	Teaches string `json:"teaches"`
}

// Catalogue lists the scenarios that come with the program, by group and name; it reads only their descriptions.
func Catalogue() ([]Entry, error) {
	order := map[string]int{}
	for i, g := range Groups() {
		order[g.Name] = i
	}
	var all []Entry
	for _, name := range List() {
		raw, err := files.ReadFile(name + ".yaml")
		if err != nil {
			return nil, fmt.Errorf("read the scenario %s: %w", name, err)
		}
		root, err := parseNode(raw)
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", name, err)
		}
		all = append(all, Entry{Name: name, Group: textOf(root, "group"), Title: textOf(root, "title"), Teaches: textOf(root, "teaches")})
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(order[a.Group], order[b.Group]) })
	return all, nil
}

// textOf is a field's text on one line; empty if the field is missing.
func textOf(root *yaml.Node, field string) string {
	_, value := entry(root, field)
	if value == nil {
		return ""
	}
	return strings.Join(strings.Fields(value.Value), " ")
}
