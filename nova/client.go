package nova

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"

	"lockstep/core"
)

const (
	defaultRate  = 10 // reads per second
	defaultBurst = 5
)

// inTurn is how far from one another those go on that have waited for one login.
const inTurn = time.Millisecond

// times are how long things may take, and how long it is until they are tried again.
type times struct {
	try   time.Duration // one try of a GET
	poll  time.Duration // one poll, retries included
	login time.Duration

	loginPause, loginPauseMax     time.Duration // after a login that failed
	refusedPause, refusedPauseMax time.Duration // after one that was refused
}

// usualTimes are those of a real cloud. A refused login is repeated slowly: Keystone may lock a user out after some failures
// (security_compliance).
var usualTimes = times{
	try: 30 * time.Second, poll: 45 * time.Second, login: 30 * time.Second,
	loginPause: 2 * time.Second, loginPauseMax: 60 * time.Second, refusedPause: 30 * time.Second, refusedPauseMax: 5 * time.Minute,
}

// hurriedTimes are those of a cloud whose clock runs faster than the wall's: what takes half a minute on a real cloud must
// not take half an hour of a simulated one.
var hurriedTimes = times{
	try: 3 * time.Second, poll: 4 * time.Second, login: 3 * time.Second,
	loginPause: 500 * time.Millisecond, loginPauseMax: 2 * time.Second, refusedPause: time.Second, refusedPauseMax: 2 * time.Second,
}

// Client is a connection to a cloud. It logs in at its first call, renews its token by itself, and may be used from
// several goroutines.
type Client struct {
	cfg   *Config
	http  http.Client
	limit *limiter
	times times
	// secrets are those of the configuration, and the tokens.
	secrets core.Secrets
	pause   func(url string, try int) time.Duration // between the tries of a GET

	// gate is held while logging in, so that one login serves all that wait; it guards the three below.
	gate    chan struct{}
	refused *core.APIError // why the last login failed; nil when it did not
	again   time.Time      // before this no login is tried
	losses  int            // failed logins in a row

	current atomic.Pointer[session]
}

// session is what a login found out.
type session struct {
	provider *gophercloud.ProviderClient
	compute  *gophercloud.ServiceClient
	versions supported // of compute
	network  *gophercloud.ServiceClient
	identity *gophercloud.ServiceClient
	volume   *gophercloud.ServiceClient
	// Why there is no network, identity or volume client: the catalog has no such endpoint.
	networkErr, identityErr, volumeErr error
}

// Connect makes a client for the cloud. It does no I/O: the first call logs in, and asks Nova for its microversions.
func Connect(cfg *Config) *Client {
	base := cfg.transport
	if base == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.TLSClientConfig = cfg.tls
		t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
		t.ResponseHeaderTimeout = headerLimit
		t.MaxIdleConnsPerHost = 8
		base = t
	}
	rate := cfg.rate
	if rate <= 0 {
		rate = defaultRate
	}
	c := &Client{cfg: cfg, limit: newLimiter(rate, defaultBurst), times: usualTimes, pause: backoff(cfg.jitter), gate: make(chan struct{}, 1)}
	c.secrets.Give(cfg.secrets()...)
	c.http = http.Client{Transport: &transport{base: base, limit: c.limit, log: cfg.log, secrets: &c.secrets}, Timeout: 2 * headerLimit}
	return c
}

// Config is what the client was made for.
func (c *Client) Config() *Config { return c.cfg }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// String names the cloud.
func (c *Client) String() string { return c.cfg.String() }

// GoString keeps %#v from printing secrets.
func (c *Client) GoString() string { return "nova.Client{" + c.cfg.String() + "}" }

// LogValue keeps slog from printing secrets.
func (c *Client) LogValue() slog.Value { return c.cfg.LogValue() }

// Microversions is the range that Nova offers, "2.1" and "2.93"; empty before the first login.
func (c *Client) Microversions() (low, high string) {
	s := c.current.Load()
	if s == nil {
		return "", ""
	}
	return s.versions.min.String(), s.versions.max.String()
}

// session is the current session, or a new one. After a failed login it answers with that failure until it is time to
// try again, so that five pollers don't make five failed logins.
func (c *Client) session(ctx context.Context) (*session, error) {
	if s := c.current.Load(); s != nil {
		return s, nil
	}
	waited := false
	select {
	case c.gate <- struct{}{}:
	default:
		waited = true
		select {
		case c.gate <- struct{}{}:
		case <-ctx.Done():
			return nil, c.fail(action{call: "log in to " + c.cfg.cloud}, ctx.Err())
		}
	}
	defer func() { <-c.gate }()
	if s := c.current.Load(); s != nil {
		if waited {
			_ = sleep(ctx, inTurn) // those that waited go on in their order
		}
		return s, nil
	}
	if c.refused != nil && wallClock().Before(c.again) {
		return nil, c.refused
	}
	ctx, cancel := context.WithTimeout(ctx, c.times.login)
	defer cancel()
	s, err := c.login(ctx)
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			c.putOff(err)
		}
		return nil, err
	}
	c.refused, c.losses = nil, 0
	c.current.Store(s)
	return s, nil
}

// putOff remembers a failed login. The gate is held.
func (c *Client) putOff(err *core.APIError) {
	first, limit := c.times.loginPause, c.times.loginPauseMax
	if err.Kind == core.ErrUnauthorized || err.Kind == core.ErrConfiguration {
		first, limit = c.times.refusedPause, c.times.refusedPauseMax
	}
	c.refused, c.again = err, wallClock().Add(max(min(first<<min(c.losses, 10), limit), err.After))
	c.losses++
}

// retryAt is when the next login may be tried; zero when the client is logged in or busy with it.
func (c *Client) retryAt() time.Time {
	select {
	case c.gate <- struct{}{}:
		defer func() { <-c.gate }()
	default:
		return time.Time{}
	}
	if c.refused == nil || c.current.Load() != nil {
		return time.Time{}
	}
	return c.again
}

// drop ends a session whose token could not be renewed. Somebody else may be logging in already: that is waited for as long as the
// call may take, and remembered instead.
func (c *Client) drop(ctx context.Context, s *session, err *core.APIError) {
	if !c.current.CompareAndSwap(s, nil) {
		return
	}
	select {
	case c.gate <- struct{}{}:
		defer func() { <-c.gate }()
	case <-ctx.Done():
		return
	}
	if c.current.Load() == nil {
		c.putOff(err)
	}
}

// login authenticates, and finds the endpoints and the microversions of Nova.
func (c *Client) login(ctx context.Context) (*session, *core.APIError) {
	a := action{call: fmt.Sprintf("log in to %s at %s", c.cfg.cloud, c.cfg.AuthURL())}
	provider, err := openstack.NewClient(c.cfg.auth.IdentityEndpoint)
	if err != nil {
		return nil, c.misconfigured(a, err)
	}
	provider.HTTPClient = c.http
	if c.cfg.userAgent != "" {
		provider.UserAgent.Prepend(c.cfg.userAgent)
	}
	auth := c.cfg.auth
	if auth.Scope != nil {
		scope := *auth.Scope
		auth.Scope = &scope
	}
	// AuthenticateV3 and not Authenticate: the latter follows the addresses in Keystone's version document, which behind
	// a proxy often lead nowhere, and there is no Keystone without v3 any more.
	if err := openstack.AuthenticateV3(ctx, provider, &auth, gophercloud.EndpointOpts{}); err != nil {
		if statusOf(err) == 0 {
			if kind, _ := kindOfFailure(err); kind == core.ErrOther && !isNotJSON(err) {
				return nil, c.misconfigured(a, err) // gophercloud refuses incomplete credentials before it sends them
			}
		}
		return nil, c.fail(a, err)
	}
	s := &session{provider: provider}
	if s.compute, err = c.endpoint(provider, "compute"); err != nil {
		return nil, c.fail(action{call: "find Nova in the service catalog"}, err)
	}
	if s.network, s.networkErr = c.endpoint(provider, "network"); s.networkErr == nil {
		s.network.ResourceBase = versioned(s.network.Endpoint, "v2.0")
	}
	if s.identity, s.identityErr = c.endpoint(provider, "identity"); s.identityErr == nil {
		s.identity.ResourceBase = versioned(s.identity.Endpoint, "v3")
	}
	s.volume, s.volumeErr = c.volumeEndpoint(provider)
	if s.versions, err = c.discoverCompute(ctx, s.compute); err != nil {
		return nil, c.fail(action{call: "ask Nova for its API versions"}, err)
	}
	return s, nil
}

func (c *Client) misconfigured(a action, err error) *core.APIError {
	return &core.APIError{
		Kind: core.ErrConfiguration, Server: core.ServerOpenStack, Call: a.call,
		Message: truncate(c.secrets.Redact(err.Error())),
		Remedy:  fmt.Sprintf("complete cloud %s in %s", c.cfg.cloud, c.cfg.origin),
	}
}

// endpoint looks a service up in the catalog. gophercloud's own constructors would also ask the service for its versions,
// without a deadline.
func (c *Client) endpoint(provider *gophercloud.ProviderClient, kind string) (*gophercloud.ServiceClient, error) {
	eo := c.cfg.endpoint
	eo.Type, eo.Version = kind, 0
	eo.ApplyDefaults(kind)
	url, err := provider.EndpointLocator(eo)
	if err != nil {
		return nil, err
	}
	return &gophercloud.ServiceClient{ProviderClient: provider, Endpoint: url, Type: kind}, nil
}

// versioned adds the version to an endpoint that does not end in it.
func versioned(endpoint, version string) string {
	base := strings.TrimSuffix(endpoint, "/")
	if strings.HasSuffix(base, "/"+version) {
		return base + "/"
	}
	return base + "/" + version + "/"
}

// call runs one request of a session, translates its error, and ends the session when its token could not be renewed.
func (c *Client) call(ctx context.Context, a action, do func(*session) error) error {
	s, err := c.session(ctx)
	if err != nil {
		return err
	}
	if err = do(s); err == nil {
		return nil
	}
	failure := c.fail(a, err)
	var relogin *gophercloud.ErrUnableToReauthenticate
	if errors.As(err, &relogin) && ctx.Err() == nil {
		c.drop(ctx, s, failure)
	}
	return failure
}
