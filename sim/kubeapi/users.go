package kubeapi

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// The users of every server: an administrator, an operator of a maintenance, and a read-only user.
const (
	Admin    = "admin"
	Operator = "operator"
	Readonly = "readonly"
)

// authenticated is the group of all authenticated users.
const authenticated = "system:authenticated"

// User is someone with a token.
type User struct {
	Name   string
	Groups []string // in addition to system:authenticated
	Token  string   // empty: generated
	Rules  []Rule   // in addition to the rights of every authenticated user: discovery and access reviews
}

// accounts holds the users of a server and the valid tokens.
type accounts struct {
	chance *chance

	mu     sync.RWMutex
	users  map[string]User
	tokens map[string]string // token → name
}

func newAccounts(users []User, chance *chance) (*accounts, error) {
	a := &accounts{chance: chance, users: map[string]User{}, tokens: map[string]string{}}
	standard := []User{
		{Name: Admin, Groups: []string{"system:masters"}, Rules: AdminRules()},
		{Name: Operator, Rules: OperatorRules()},
		{Name: Readonly, Rules: ReadonlyRules()},
	}
	for _, user := range append(standard, users...) {
		if err := a.set(user); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// set adds a user, or replaces the one with that name.
func (a *accounts) set(user User) error {
	if user.Name == "" {
		return fmt.Errorf("a user has no name")
	}
	if user.Token == "" {
		user.Token = a.chance.token()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if owner, taken := a.tokens[user.Token]; taken && owner != user.Name {
		return fmt.Errorf("the token of user %s belongs to user %s", user.Name, owner)
	}
	delete(a.tokens, a.users[user.Name].Token)
	a.users[user.Name] = user
	a.tokens[user.Token] = user.Name
	return nil
}

func (a *accounts) find(name string) (User, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	user, ok := a.users[name]
	return user, ok
}

// change lets edit work on the user called name.
func (a *accounts) change(name string, edit func(user *User)) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	user, ok := a.users[name]
	if !ok {
		return fmt.Errorf("there is no user %s", name)
	}
	edit(&user)
	a.users[name] = user
	return nil
}

// expire makes the user's token invalid.
func (a *accounts) expire(name string) error {
	return a.change(name, func(user *User) { delete(a.tokens, user.Token) })
}

// renew gives the user another token and returns it.
func (a *accounts) renew(name string) (string, error) {
	token := a.chance.token()
	err := a.change(name, func(user *User) {
		delete(a.tokens, user.Token)
		user.Token = token
		a.tokens[token] = name
	})
	return token, err
}

// authenticate finds the user of a request. Without a token it is system:anonymous; for an invalid token it returns
// false.
func (a *accounts) authenticate(r *http.Request) (User, bool) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return User{Name: "system:anonymous", Groups: []string{"system:unauthenticated"}, Rules: public}, true
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return User{}, false
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	name, ok := a.tokens[strings.TrimSpace(token)]
	if !ok {
		return User{}, false
	}
	user := a.users[name]
	user.Groups = append(append([]string(nil), user.Groups...), authenticated)
	rules := make([]Rule, 0, len(user.Rules)+len(everyone))
	user.Rules = append(append(rules, user.Rules...), everyone...)
	return user, true
}
