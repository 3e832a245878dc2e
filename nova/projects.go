package nova

import (
	"context"
	"net/url"

	"lockstep/core"
)

type projectPage struct {
	Projects []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"projects"`
	Links struct {
		Next string `json:"next"`
	} `json:"links"`
}

func (p *projectPage) check() error {
	if p.Projects == nil {
		return errShape("a list of projects")
	}
	return nil
}

// listProjects reads the names of all projects.
func (c *Client) listProjects(ctx context.Context) ([]*core.Project, error) {
	a := action{call: "list projects", policy: "identity:list_projects"}
	var projects []*core.Project
	err := c.call(ctx, a, func(s *session) error {
		if s.identity == nil {
			return s.identityErr
		}
		projects = nil
		query := ""
		for range maxPages {
			var page projectPage
			if err := c.get(ctx, s.identity, s.identity.ServiceURL("projects")+query, &page); err != nil {
				return err
			}
			for _, p := range page.Projects {
				if p.ID != "" {
					projects = append(projects, &core.Project{ID: p.ID, Name: p.Name})
				}
			}
			// Take only the query of the link: its host may be Keystone's internal one.
			next, err := url.Parse(page.Links.Next)
			if page.Links.Next == "" || err != nil || "?"+next.RawQuery == query || next.RawQuery == "" {
				return nil
			}
			query = "?" + next.RawQuery
		}
		return errShape("a list of projects: it has no end")
	})
	return projects, err
}
