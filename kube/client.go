package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"lockstep/core"
)

// callTimeout is how long one call may take. Watches have no deadline.
const callTimeout = 10 * time.Second

// Client talks to the API server of one cluster. Load makes it; it is safe for concurrent use. Do not change its fields.
type Client struct {
	ContextName string // the kubeconfig's context; "in-cluster" inside a pod
	ClusterName string // the kubeconfig's name for the cluster
	User        string // the kubeconfig's name for the user; empty when it has none
	Server      string // the API server's URL
	Namespace   string // the context's namespace; "default" when it has none
	File        string // the kubeconfig that has the context; empty inside a pod
	Scattered   bool   // the context's cluster or its user is in another file of $KUBECONFIG: no single file is this login
	Simulated   bool   // the kubeconfig is of a cluster of `lockstep sim`, or of the demo
	OwnClock    bool   // its clock is not this machine's: Clock tells it

	opts    Options
	secrets *core.Secrets
	session atomic.Pointer[session]
	relogin sync.Mutex // one look at the kubeconfig for a new login at a time
	logins  atomic.Uint64
}

// withOrigin adds to an error's remedy where the login and the address came from, if that helps.
func (c *Client) withOrigin(e *core.APIError) *core.APIError {
	switch e.Kind {
	case core.ErrUnauthorized, core.ErrUnreachable, core.ErrTimeout, core.ErrConfiguration:
		with := *e
		with.Remedy = strings.TrimSpace(fmt.Sprintf("%s (%s, server %s)", e.Remedy, c.origin(), c.Server))
		return &with
	}
	return e
}

// describe is Describe for what the Client itself was refused. A login that is in no file is read nowhere again, whoever logs in anew:
// the remedy says what to do then.
func (c *Client) describe(err error, call string) *core.APIError {
	e := Describe(err, call)
	if e == nil || c.opts.Given == nil || e.Kind != core.ErrUnauthorized && e.Kind != core.ErrConfiguration {
		return e
	}
	with := *e
	with.Remedy = fmt.Sprintf("This login was read once, from %s, and has expired or changed since, or the server has: go back to the list "+
		"of clusters (esc) and open the cluster again, which reads it anew.", c.opts.Given.Origin)
	return &with
}

// Origin names what the Client was made from: "context mos of /home/op/config".
func (c *Client) Origin() string { return c.origin() }

// resource is the part of the API that holds one resource, in a namespace or (empty) in none.
func (c *Client) resource(gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	r := c.session.Load().dynamic.Resource(gvr)
	if namespace != "" {
		return r.Namespace(namespace)
	}
	return r
}

// get fetches a path that is not a resource, such as /readyz, past the client's own rate limit: it asks whether the server is there
// at all. A status above 399 is an error, with the body beside it.
func (c *Client) get(ctx context.Context, path string) (body []byte, status int, err error) {
	s := c.session.Load()
	base, _, err := rest.DefaultServerUrlFor(s.config)
	if err != nil {
		return nil, 0, fmt.Errorf("make the URL of %s: %w", path, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath(path).String(), nil)
	if err != nil {
		return nil, 0, fmt.Errorf("make a request for %s: %w", path, err)
	}
	req.Header.Set("User-Agent", s.config.UserAgent)
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return nil, resp.StatusCode, fmt.Errorf("read the answer to %s: %w", path, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return body, resp.StatusCode, statusError(resp.StatusCode, body)
	}
	return body, resp.StatusCode, nil
}

// statusError is the error of an answer that did not come through client-go's own decoding.
func statusError(code int, body []byte) error {
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && status.Status == metav1.StatusFailure {
		return &apierrors.StatusError{ErrStatus: status}
	}
	text := string(bytes.TrimSpace(body))
	if text == "" {
		text = http.StatusText(code)
	}
	err := apierrors.NewGenericServerResponse(code, "get", schema.GroupResource{}, "", text, 0, true)
	err.ErrStatus.Message = text
	return err
}

// renew uses the kubeconfig's login if it is no longer the one that the server refused. It returns whether a new session began. It
// does not follow a kubeconfig that now names another server: Lockstep stays with the cluster that it was started for.
func (c *Client) renew() bool {
	c.relogin.Lock()
	defer c.relogin.Unlock()
	probe := &Client{opts: c.opts, secrets: c.secrets}
	if c.ContextName != "in-cluster" {
		probe.opts.Context = c.ContextName
	}
	config, err := probe.locate()
	if err != nil || probe.Server != c.Server {
		return false
	}
	old := c.session.Load()
	if sameLogin(old.config, config) {
		return false
	}
	config.UserAgent, config.Transport = old.config.UserAgent, c.opts.Transport
	if p := config.ExecProvider; p != nil {
		p.StdinUnavailable = true
	}
	s, err := newSession(config, c.secrets, c.opts.apart())
	if err != nil {
		return false
	}
	c.session.Store(s)
	c.logins.Add(1)
	old.http.CloseIdleConnections()
	return true
}

// Logins is how many logins of the kubeconfig have taken the place of the first. Each may be somebody else's.
func (c *Client) Logins() uint64 { return c.logins.Load() }

// sameLogin tells whether two configurations log in with the same credentials, and know the server by the same. Plugins renew by
// themselves.
func sameLogin(a, b *rest.Config) bool {
	return a.BearerToken == b.BearerToken && a.BearerTokenFile == b.BearerTokenFile &&
		a.Username == b.Username && a.Password == b.Password &&
		bytes.Equal(a.CertData, b.CertData) && bytes.Equal(a.KeyData, b.KeyData) &&
		a.CertFile == b.CertFile && a.KeyFile == b.KeyFile &&
		bytes.Equal(a.CAData, b.CAData) && a.CAFile == b.CAFile && a.ServerName == b.ServerName && a.Insecure == b.Insecure &&
		samePlugin(a.ExecProvider, b.ExecProvider) &&
		sameProvider(a.AuthProvider, b.AuthProvider)
}

// samePlugin tells whether two configurations call the same plugin in the same way.
func samePlugin(a, b *clientcmdapi.ExecConfig) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Command == b.Command && slices.Equal(a.Args, b.Args) && slices.Equal(a.Env, b.Env) && a.APIVersion == b.APIVersion
}

// sameProvider tells whether two auth-providers have the same tokens. One renews them by itself, until its session ends.
func sameProvider(a, b *clientcmdapi.AuthProviderConfig) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Name == b.Name && maps.Equal(a.Config, b.Config)
}
