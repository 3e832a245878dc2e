package openstack

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// authRequest is the body of POST /v3/auth/tokens.
type authRequest struct {
	Auth struct {
		Identity struct {
			Methods  []string `json:"methods"`
			Password struct {
				User userRef `json:"user"`
			} `json:"password"`
			Token struct {
				ID string `json:"id"`
			} `json:"token"`
			AppCredential struct {
				ID     string   `json:"id"`
				Name   string   `json:"name"`
				Secret string   `json:"secret"`
				User   *userRef `json:"user"`
			} `json:"application_credential"`
		} `json:"identity"`
		Scope json.RawMessage `json:"scope"`
	} `json:"auth"`
}

type domainRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type userRef struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"`
	Domain   *domainRef `json:"domain"`
	Password string     `json:"password"`
}

type scopeRef struct {
	Project *struct {
		ID     string     `json:"id"`
		Name   string     `json:"name"`
		Domain *domainRef `json:"domain"`
	} `json:"project"`
	System json.RawMessage `json:"system"`
	Domain *domainRef      `json:"domain"`
}

// isDefault tells whether the domain is the only existing one.
func (d *domainRef) isDefault() bool {
	return d != nil && (d.ID == "default" || d.ID == "" && d.Name == "Default")
}

func (c *Cloud) findUser(ref *userRef) *user {
	if ref == nil {
		return nil
	}
	if ref.ID != "" {
		return c.users[ref.ID]
	}
	if !ref.Domain.isDefault() {
		return nil
	}
	return c.userByName(ref.Name)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

const malformedRequest = " The server could not comply with the request since it is either malformed or otherwise incorrect. The client " +
	"is assumed to be in error."

// lacking is the last name of the path if the body has nothing there, or "".
func lacking(body []byte, path ...string) string {
	raw := json.RawMessage(body)
	for _, name := range path {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil || fields[name] == nil {
			return name
		}
		raw = fields[name]
	}
	return ""
}

// issueToken is POST /v3/auth/tokens.
func issueToken(k *call) reply {
	var req authRequest
	if err := json.Unmarshal(k.body, &req); err != nil {
		return errorOf(keystone, http.StatusBadRequest, "Expecting to find valid JSON in request body."+malformedRequest)
	}
	if lacks := lacking(k.body, "auth"); lacks != "" {
		return errorOf(keystone, http.StatusBadRequest, "Expecting to find "+lacks+" in request body."+malformedRequest)
	}
	id := &req.Auth.Identity
	if len(id.Methods) == 0 {
		return errorOf(keystone, http.StatusBadRequest, "Invalid input for field 'identity': 'methods' is a required property")
	}
	no := unauthorized(keystone, k.base)
	t := &token{methods: slices.Clone(id.Methods)}
	for _, method := range id.Methods {
		if lacks := lacking(k.body, "auth", "identity", method); lacks != "" {
			return errorOf(keystone, http.StatusBadRequest, "Expecting to find "+lacks+" in identity."+malformedRequest)
		}
		switch method {
		case "password":
			u := k.c.findUser(&id.Password.User)
			if u == nil || !same(u.password, id.Password.User.Password) {
				return no
			}
			t.user = u
		case "token":
			old := k.c.validToken(id.Token.ID)
			if old == nil || old.appCred != nil {
				return no
			}
			t.user, t.expires = old.user, old.expires
			t.methods = append(t.methods, old.methods...)
		case "application_credential":
			a := k.c.findAppCredential(id.AppCredential.ID, id.AppCredential.Name, id.AppCredential.User)
			if a == nil || !same(a.secret, id.AppCredential.Secret) {
				return no
			}
			if len(req.Auth.Scope) > 0 && string(req.Auth.Scope) != "null" {
				return errorOf(keystone, http.StatusUnauthorized, "Application credentials cannot request a scope.")
			}
			t.user, t.project, t.roles, t.appCred = a.user, a.project, slices.Clone(a.roles), a
		default:
			return errorOf(keystone, http.StatusBadRequest, "Attempted to authenticate with an unsupported method.")
		}
	}
	if t.appCred == nil {
		if refused := k.scope(t, req.Auth.Scope); refused != nil {
			return *refused
		}
	}
	k.c.issue(t)
	created := reply{status: http.StatusCreated, body: object{"token": k.tokenView(t)}}
	return created.with("X-Subject-Token", t.id).with("Vary", "X-Auth-Token")
}

func (c *Cloud) findAppCredential(id, name string, ref *userRef) *appCredential {
	if id != "" {
		return c.appCreds[id]
	}
	u := c.findUser(ref)
	for _, a := range c.appCreds {
		if a.name == name && a.user == u && u != nil {
			return a
		}
	}
	return nil
}

// scope gives a token the requested scope, the user's default project, or none.
func (k *call) scope(t *token, raw json.RawMessage) *reply {
	no := unauthorized(keystone, k.base)
	to := func(p *project) *reply {
		if p == nil || len(t.user.roles[p.id]) == 0 {
			return &no
		}
		t.project, t.roles = p, slices.Clone(t.user.roles[p.id])
		return nil
	}
	if len(raw) == 0 || string(raw) == "null" {
		if t.user.defaultProject != nil {
			return to(t.user.defaultProject)
		}
		return nil
	}
	var word string
	if json.Unmarshal(raw, &word) == nil && word == "unscoped" {
		return nil
	}
	var s scopeRef
	if err := json.Unmarshal(raw, &s); err != nil {
		r := errorOf(keystone, http.StatusBadRequest, "Invalid input for field 'scope'")
		return &r
	}
	switch {
	case s.Project != nil && s.Project.ID != "":
		return to(k.c.projects[s.Project.ID])
	case s.Project != nil && s.Project.Domain.isDefault():
		for _, p := range k.c.projects {
			if p.name == s.Project.Name {
				return to(p)
			}
		}
		return &no
	case len(s.System) > 0 && t.user.systemAdmin:
		t.system, t.roles = true, []string{"admin", "member", "reader"}
		return nil
	case s.Project == nil && s.Domain == nil && len(s.System) == 0:
		return nil // an empty scope is none
	}
	return &no
}

// random fills b from the cloud's random source. The caller holds mu.
func (c *Cloud) random(b []byte) {
	if _, err := io.ReadFull(c.opts.Random, b); err != nil {
		panic(fmt.Sprintf("openstack: Options.Random: %v", err)) // the source must be endless
	}
}

// issue stores a token.
func (c *Cloud) issue(t *token) {
	var b [96]byte
	c.random(b[:])
	t.id = "gAAAAA" + base64.RawURLEncoding.EncodeToString(b[:])
	t.auditID = base64.RawURLEncoding.EncodeToString(b[:16])
	t.issued = time.Now()
	if t.expires.IsZero() {
		t.expires = t.issued.Add(c.tokenLifetime())
	}
	if len(c.tokens) > 4096 {
		for id, old := range c.tokens {
			if old.expires.Before(t.issued) {
				delete(c.tokens, id)
			}
		}
	}
	c.tokens[t.id] = t
}

// validToken returns the token with that ID, or nil if there is none or it has expired.
func (c *Cloud) validToken(id string) *token {
	t := c.tokens[id]
	if t == nil || time.Now().After(t.expires) {
		return nil
	}
	return t
}

// ExpireTokens makes all tokens issued so far invalid: the next request with one gets a 401.
func (c *Cloud) ExpireTokens() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tokens)
}

func (k *call) tokenView(t *token) object {
	domain := object{"id": "default", "name": "Default"}
	v := object{
		"methods": t.methods, "audit_ids": []string{t.auditID}, "is_domain": false,
		"user":       object{"id": t.user.id, "name": t.user.name, "domain": domain, "password_expires_at": nil},
		"issued_at":  k.c.fault.skewed(keystone, t.issued).UTC().Format("2006-01-02T15:04:05.000000Z"),
		"expires_at": k.c.fault.skewed(keystone, t.expires).UTC().Format("2006-01-02T15:04:05.000000Z"),
	}
	if t.project != nil {
		v["project"] = object{"id": t.project.id, "name": t.project.name, "domain": domain}
	}
	if t.system {
		v["system"] = object{"all": true}
	}
	if t.appCred != nil {
		v["application_credential"] = object{"id": t.appCred.id, "name": t.appCred.name, "restricted": true}
	}
	if t.project != nil || t.system {
		v["roles"] = k.c.roleViews(t.roles)
		if !k.query.Has("nocatalog") {
			v["catalog"] = k.catalog()
		}
	}
	return v
}

// subject returns the token that a request is about.
func (k *call) subject() (*token, *reply) {
	id := k.r.Header.Get("X-Subject-Token")
	t := k.c.validToken(id)
	if t == nil {
		text := "No token in the request"
		switch {
		case k.c.revoked[id]:
			text = "Failed to validate token"
		case id != "":
			text = "Could not recognize Fernet token"
		}
		r := errorOf(keystone, http.StatusNotFound, text)
		return nil, &r
	}
	if t.user != k.token.user && !k.token.admin() {
		r := forbidden(keystone, "identity:validate_token")
		return nil, &r
	}
	return t, nil
}

func showToken(k *call) reply {
	t, no := k.subject()
	if no != nil {
		return *no
	}
	return ok(object{"token": k.tokenView(t)}).with("X-Subject-Token", t.id).with("Vary", "X-Auth-Token")
}

func revokeToken(k *call) reply {
	t, no := k.subject()
	if no != nil {
		return *no
	}
	delete(k.c.tokens, t.id)
	k.c.revoked[t.id] = true
	return reply{status: http.StatusNoContent}
}
