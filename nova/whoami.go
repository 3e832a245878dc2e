package nova

import (
	"context"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
)

// WhoAmI is as whom Keystone knows the login: the user of its token, and the project that the token is for. It logs in where nobody has
// yet, and asks nothing else. Both are empty where the token does not say it.
func (c *Client) WhoAmI(ctx context.Context) (user, project string, err error) {
	err = c.call(ctx, action{call: "log in to " + c.Config().cloud}, func(s *session) error {
		result, ok := s.provider.GetAuthResult().(interface {
			ExtractUser() (*tokens.User, error)
			ExtractProject() (*tokens.Project, error)
		})
		if !ok {
			return nil
		}
		if u, err := result.ExtractUser(); err != nil {
			return err
		} else if u != nil {
			user = u.Name
		}
		p, err := result.ExtractProject()
		if p != nil {
			project = p.Name
		}
		return err
	})
	return user, project, err
}
