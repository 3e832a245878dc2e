package nova

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"lockstep/core"
)

// mostPeople limits how many users one call asks Keystone for.
const mostPeople = 500

type assignmentPage struct {
	Assignments []struct {
		User *struct {
			ID   string `json:"id"`
			Name string `json:"name"` // with include_names
		} `json:"user"`
	} `json:"role_assignments"`
}

func (p *assignmentPage) check() error {
	if p.Assignments == nil {
		return errShape("a list of role assignments")
	}
	return nil
}

type userDocument struct {
	User *struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"` // where the identity back end has one
	} `json:"user"`
}

func (d *userDocument) check() error {
	if d.User == nil || d.User.ID == "" {
		return errShape("a user")
	}
	return nil
}

// Contacts asks Keystone for the members of projects, and for the names and e-mail addresses of these and of more users. What
// Keystone does not show is noted in Missing, and the rest stays. After a refusal it asks for no more of the kind.
func (c *Client) Contacts(ctx context.Context, projects, users []string) core.Contacts {
	out := core.Contacts{People: map[string]core.Person{}, Members: map[string][]string{}}
	miss := func(what string, err error) {
		var api *core.APIError
		if !errors.As(err, &api) {
			api = c.fail(action{call: "list " + what}, err)
		}
		out.Missing = append(out.Missing, core.MissingFacts{What: what, Err: api})
	}
	ask := slices.Clone(users)
	for i, project := range projects {
		people, err := c.membersOf(ctx, project)
		if err != nil {
			miss("the members of "+left(len(projects)-i, "project"), err)
			break
		}
		for _, p := range people {
			out.People[p.ID] = p
			out.Members[project] = append(out.Members[project], p.ID)
			ask = append(ask, p.ID)
		}
	}
	asked := map[string]bool{}
	ask = slices.DeleteFunc(ask, func(id string) bool {
		again := asked[id] || id == ""
		asked[id] = true
		return again
	})
	for i, id := range ask {
		if i == mostPeople {
			miss("names and e-mail of "+left(len(ask)-i, "user"),
				&core.APIError{Kind: core.ErrOther, Server: core.ServerOpenStack, Call: "read users",
					Message: fmt.Sprintf("no more than %d are asked for at once", mostPeople), Remedy: "name fewer nodes"})
			break
		}
		p, err := c.user(ctx, id)
		var api *core.APIError
		if errors.As(err, &api) && api.Kind == core.ErrNotFound {
			continue // deleted, or of a back end that does not tell: the ID is all there is
		}
		if err != nil {
			miss("names and e-mail of "+left(len(ask)-i, "user"), err)
			break
		}
		out.People[id] = p
	}
	return out
}

func left(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// membersOf are the users with a role in the project, by themselves, by a group or by inheritance; sorted by ID.
func (c *Client) membersOf(ctx context.Context, project string) ([]core.Person, error) {
	a := action{call: "list the role assignments of project " + project, policy: "identity:list_role_assignments"}
	var people []core.Person
	err := c.call(ctx, a, func(s *session) error {
		if s.identity == nil {
			return s.identityErr
		}
		people = nil
		// effective has groups and inherited roles resolved to users.
		query := url.Values{"scope.project.id": {project}, "effective": {"True"}, "include_names": {"True"}}
		var page assignmentPage
		if err := c.get(ctx, s.identity, s.identity.ServiceURL("role_assignments")+"?"+query.Encode(), &page); err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, r := range page.Assignments {
			if r.User != nil && r.User.ID != "" && !seen[r.User.ID] { // one line for each role
				seen[r.User.ID] = true
				people = append(people, core.Person{ID: r.User.ID, Name: r.User.Name})
			}
		}
		return nil
	})
	slices.SortFunc(people, func(a, b core.Person) int { return cmp.Compare(a.ID, b.ID) })
	return people, err
}

// user reads one user.
func (c *Client) user(ctx context.Context, id string) (core.Person, error) {
	a := action{call: "read the user " + id, policy: "identity:get_user"}
	var doc userDocument
	err := c.call(ctx, a, func(s *session) error {
		if s.identity == nil {
			return s.identityErr
		}
		return c.get(ctx, s.identity, s.identity.ServiceURL("users", url.PathEscape(id)), &doc)
	})
	if err != nil {
		return core.Person{}, err
	}
	return core.Person{ID: id, Name: doc.User.Name, Email: doc.User.Email}, nil
}
