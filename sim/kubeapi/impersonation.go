package kubeapi

import (
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// impersonate changes the request's user to the one that the client impersonates (kubectl --as), if the client has the
// right.
func (s *Server) impersonate(c *call) error {
	name, groups := c.Header.Get("Impersonate-User"), c.Header.Values("Impersonate-Group")
	if name == "" && len(groups) == 0 {
		return nil
	}
	if name == "" {
		return apierrors.NewInternalError(errNoImpersonatedUser)
	}
	wishes := []attributes{{verb: "impersonate", resource: "users", name: name}}
	for _, group := range groups {
		wishes = append(wishes, attributes{verb: "impersonate", resource: "groups", name: group})
	}
	for _, wish := range wishes {
		if allowed, _ := s.may(c.user, wish); !allowed {
			// The real server first checks the right to impersonate, and refuses if it is missing.
			missing := c.info.attributes()
			missing.verb = "impersonate-on:user-info:" + missing.verb
			return forbidden(c.user.Name, missing)
		}
	}
	c.user = s.accounts.as(name, groups)
	return nil
}

// errNoImpersonatedUser is the real server's answer to groups without a user.
var errNoImpersonatedUser = errors.New("requested groups without impersonating a user")

// as returns a user with this name, known or not, in the groups.
func (a *accounts) as(name string, groups []string) User {
	a.mu.RLock()
	defer a.mu.RUnlock()
	known := a.users[name]
	user := User{Name: name, Groups: slices.Clone(groups), Rules: slices.Concat(known.Rules, everyone)}
	if len(groups) == 0 {
		user.Groups = slices.Clone(known.Groups)
	}
	if !slices.Contains(user.Groups, authenticated) {
		user.Groups = append(user.Groups, authenticated)
	}
	return user
}
