package core

import (
	"cmp"
	"slices"

	"lockstep/core/wording"
)

// Person is a user as Keystone shows it. Name and e-mail are empty where Keystone does not show them.
type Person struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	Email string `json:"email,omitempty"`
}

// Contacts is what Keystone tells about the people behind instances.
type Contacts struct {
	People  map[string]Person   // by user ID
	Members map[string][]string // users with a role in a project, by the project's ID; each in the order of their IDs
	Missing []MissingFacts      // what Keystone does not show, and why
}

// Of are the users with these IDs, by name. A user who is not known has only an ID.
func (c Contacts) Of(ids []string) []Person {
	out := make([]Person, 0, len(ids))
	for _, id := range ids {
		if id == "" {
			continue
		}
		p := c.People[id]
		out = append(out, Person{ID: id, Name: Printable(p.Name, 100), Email: Printable(p.Email, 254)})
	}
	slices.SortFunc(out, func(a, b Person) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Text is "jd <jd@sci.example>", or the part of it that is known.
func (p Person) Text() string {
	name := wording.TextOf(p.Name, "user "+ShortID(p.ID))
	if p.Email == "" {
		return name
	}
	return name + " <" + p.Email + ">"
}
