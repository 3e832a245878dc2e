package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"lockstep/core"
)

// Asks is the name of the credential plugin that may ask a person on the terminal when it is run; empty when there is none, or when
// standard input is no terminal.
func (c *Client) Asks() string {
	p := c.session.Load().config.ExecProvider
	if p == nil || p.InteractiveMode == clientcmdapi.NeverExecInteractiveMode || p.StdinUnavailable || !term.IsTerminal(int(os.Stdin.Fd())) {
		return ""
	}
	return filepath.Base(p.Command)
}

// GetCredentials runs the kubeconfig's credential plugin, so that it can ask on the terminal before the screen opens. It contacts
// no server. Then plugins may no longer use the terminal. A plugin that has not finished when ctx ends still has the terminal, if
// it may ask there: the caller has to leave the terminal alone.
func (c *Client) GetCredentials(ctx context.Context) error {
	if pluginOf(c.session.Load().config) == "" {
		return nil
	}
	_, _, err := c.get(context.WithValue(ctx, credentialsOnly{}, true), "/version")
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil:
		return c.withOrigin(Describe(err, "log in"))
	}
	c.KeepTerminal()
	if err != nil && !errors.Is(err, errLoggedIn) {
		return c.withOrigin(Describe(err, "log in"))
	}
	return nil
}

// KeepTerminal tells credential plugins from now on that standard input is taken.
func (c *Client) KeepTerminal() {
	if p := c.session.Load().config.ExecProvider; p != nil {
		p.StdinUnavailable = true
		p.StdinUnavailableMessage = "Lockstep is using the terminal; log in from another one"
	}
}

// Login gets the credentials, makes one harmless call, and returns the server's version ("v1.31.9"; empty when the login may not
// read it). Only the caller's context limits the credentials, since a person may be typing a password. The server has the deadline
// of any call.
func (c *Client) Login(ctx context.Context) (version string, err error) {
	if err := c.GetCredentials(ctx); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body, _, err := c.get(ctx, "/version")
	described := c.describe(err, "get /version")
	if described != nil && described.Kind != core.ErrForbidden {
		return "", c.withOrigin(described)
	}
	var answer struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal(body, &answer); err != nil && described == nil {
		return "", &core.APIError{
			Kind: core.ErrOther, Server: core.ServerKubernetes, Call: "get /version", Err: err,
			Message: "the answer is not a Kubernetes API server's: " + cut(c.secrets.Redact(string(body))),
			Remedy:  "Check the server's address, " + c.Server + ", in the kubeconfig (" + c.origin() + ").",
		}
	}
	return answer.GitVersion, nil
}

// pluginOf is the plugin that gets the credentials of a kubeconfig that has none itself; empty when it has some.
func pluginOf(config *rest.Config) string {
	switch {
	case config.ExecProvider != nil:
		return filepath.Base(config.ExecProvider.Command)
	case config.AuthProvider != nil:
		return config.AuthProvider.Name
	}
	return ""
}

type (
	credentialsOnly struct{} // key of the context of a request that is not sent
	reachedServer   struct{} // key of the context of a request whose credentials are waited for: a func() that is told when they are there
)

// errLoggedIn is the result of a request that is not sent: its credentials are there.
var errLoggedIn = errors.New("the credentials are there")

// loggedIn notes that a request has its credentials, and returns an error when only they were wanted.
func loggedIn(ctx context.Context) error {
	if tell, ok := ctx.Value(reachedServer{}).(func()); ok {
		tell()
	}
	if ctx.Value(credentialsOnly{}) != nil {
		return errLoggedIn
	}
	return nil
}

// How long a credential plugin that has failed is left alone; it doubles. Each run may send a password that is wrong by now, and an
// identity provider locks a user out after a few.
const (
	pluginPause    = 5 * time.Second
	pluginPauseMax = time.Minute
)

// yielding lets a call end with its context while a credential plugin is still at work: client-go waits for that without a limit. A
// call that was given up is not sent when the plugin finishes after all, since its context is over. A plugin that fails is run once
// for all calls that wait for it, and then left alone for a while. So is one whose credentials the server refuses: client-go runs it anew
// after each refusal.
type yielding struct {
	base   http.RoundTripper
	plugin string

	refusals refusals

	turn   turn // for callers that wait for credentials; it guards the three below
	failed error
	again  time.Time // before this the plugin is not run
	losses int       // failures in a row
}

func newYielding(base http.RoundTripper, plugin string) *yielding {
	return &yielding{base: base, plugin: plugin, turn: newTurn()}
}

// RoundTrip implements http.RoundTripper.
func (t *yielding) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.refusals.last() {
		return nil, apierrors.NewUnauthorized("the server refuses what " + t.plugin + " brings; it is left alone for a moment")
	}
	ctx, began := r.Context(), time.Now()
	if t.turn.take(ctx) != nil {
		return nil, t.late(ctx)
	}
	if t.failed != nil && time.Now().Before(t.again) {
		defer t.turn.give()
		return nil, t.failed
	}
	type answer struct {
		resp *http.Response
		err  error
	}
	var reached atomic.Bool
	there := sync.OnceFunc(func() {
		reached.Store(true)
		t.failed, t.losses = nil, 0
		t.turn.give()
	})
	own := r.Clone(context.WithValue(ctx, reachedServer{}, there))
	answered := make(chan answer, 1)
	go func() {
		resp, err := t.base.RoundTrip(own)
		if !reached.Load() { // the plugin has failed
			t.failed, t.again = err, time.Now().Add(min(pluginPause<<min(t.losses, 10), pluginPauseMax))
			t.losses++
			t.turn.give()
		}
		if resp != nil {
			t.refusals.note(began, resp.StatusCode == http.StatusUnauthorized)
		}
		answered <- answer{resp, err}
	}()
	select {
	case a := <-answered:
		return a.resp, a.err
	case <-ctx.Done():
	}
	go func() {
		if a := <-answered; a.resp != nil {
			a.resp.Body.Close()
		}
	}()
	if reached.Load() {
		return nil, ctx.Err()
	}
	return nil, t.late(ctx)
}

// refusals are the refusals in a row of what a credential plugin brought. After the first one the plugin has run anew: from the second on,
// nothing is asked for a while.
type refusals struct {
	mu    sync.Mutex
	inRow int
	at    time.Time // when the last one was noted
	until time.Time // before this nothing is asked
}

// last tells whether the pause after the last refusal lasts.
func (f *refusals) last() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Before(f.until)
}

// note notes an answer to a call that began then. Those that were under way together are refused together, and count once.
func (f *refusals) note(began time.Time, refused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !refused:
		f.inRow = 0
	case f.inRow == 0 || began.After(f.at):
		f.at = time.Now()
		if f.inRow++; f.inRow > 1 {
			f.until = f.at.Add(min(pluginPause<<min(f.inRow-2, 10), pluginPauseMax))
		}
	}
}

// late is the error of a call whose credentials did not come within its deadline.
func (t *yielding) late(ctx context.Context) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return fmt.Errorf("getting credentials: %s has not finished in time", t.plugin)
}

// WrappedRoundTripper lets client-go reach the transport below, to close its idle connections.
func (t *yielding) WrappedRoundTripper() http.RoundTripper { return t.base }

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (t *yielding) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.base) }
