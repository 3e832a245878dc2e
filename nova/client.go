package nova

import (
	"cmp"
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

	"lockstep/core"
)

const (
	defaultRate  = 10 // reads per second
	defaultBurst = 5

	// hurriedRate is the most for a cloud whose clock is faster than the wall's: enough for all instances of a fleet of 2,000 nodes and its
	// migrations before hurriedTimes runs out. A real cloud is never polled this often.
	hurriedRate = 200
)

// inTurn is the delay between callers that have waited for one login.
const inTurn = time.Millisecond

// times are the deadlines of calls, and the pauses before they are tried again.
type times struct {
	try   time.Duration // one try of a GET
	poll  time.Duration // one poll, retries included
	login time.Duration

	loginPause, loginPauseMax time.Duration // after a login that failed
	refusedPause              time.Duration // after one that was refused: then the credentials are read again

	repeat time.Duration // after this, credentials that were refused are tried again
	tries  int           // how often they are tried in all; 0 means forever
}

// usualTimes are those of a real cloud, where Keystone locks a user out after some failures (docs/mosk.md#lock-out).
var usualTimes = times{
	try: 30 * time.Second, poll: 45 * time.Second, login: 30 * time.Second,
	loginPause: 2 * time.Second, loginPauseMax: 60 * time.Second, refusedPause: 30 * time.Second, repeat: 5 * time.Minute, tries: 2,
}

// hurriedTimes are those of a cloud whose clock is faster than the wall's: what takes half a minute on a real cloud must not take
// half an hour on a simulated one.
var hurriedTimes = times{
	try: 3 * time.Second, poll: 4 * time.Second, login: 3 * time.Second,
	loginPause: 500 * time.Millisecond, loginPauseMax: 2 * time.Second, refusedPause: time.Second, repeat: time.Second,
}

// Client is a connection to a cloud. It logs in at its first call and renews its token by itself. It is safe for concurrent use.
type Client struct {
	with  atomic.Pointer[credentials]
	limit *limiter
	times times
	// secrets are those of the configuration, and the tokens.
	secrets core.Secrets
	pause   func(url string, try int) time.Duration // between the tries of a GET

	// gate is held while logging in, so that one login serves all waiting callers; it guards the fields of refusal.
	gate chan struct{}
	refusal

	current atomic.Pointer[session]

	retagged retagged
}

// credentials are what a Client logs in with, and the connections made by their settings.
type credentials struct {
	*Config
	http http.Client
}

// session is the result of a login.
type session struct {
	with     *Config
	provider *gophercloud.ProviderClient
	endpoint gophercloud.EndpointOpts // which of a service are wanted
	compute  *gophercloud.ServiceClient
	versions supported // of compute
	network  *gophercloud.ServiceClient
	identity *gophercloud.ServiceClient
	volume   *gophercloud.ServiceClient
	// Why there is no network, identity or volume client: the catalog has no such endpoint.
	networkErr, identityErr, volumeErr error

	// denied is why Keystone has refused a new token: no other is requested. One renewal at a time reads and writes it.
	denied error
}

// Connect makes a client for the cloud. It does no I/O: the first call logs in, and asks Nova for its microversions.
func Connect(cfg *Config) *Client {
	rate, times := cmp.Or(max(cfg.rate, 0), min(defaultRate*max(cfg.speed, 1), hurriedRate)), usualTimes
	if cfg.speed > 1 {
		times = hurriedTimes
	}
	c := &Client{limit: newLimiter(rate, defaultBurst), times: times, pause: backoff(cfg.jitter), gate: make(chan struct{}, 1)}
	c.use(cfg)
	return c
}

// use makes the Client log in with these credentials from now on.
func (c *Client) use(cfg *Config) {
	base := cfg.transport
	if base == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.TLSClientConfig = cfg.tls
		t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
		t.ResponseHeaderTimeout = headerLimit
		t.MaxIdleConnsPerHost = 8
		base = t
	}
	next := &credentials{Config: cfg}
	next.http = http.Client{Transport: &transport{base: base, limit: c.limit, log: cfg.log, secrets: &c.secrets}, Timeout: 2 * headerLimit,
		CheckRedirect: core.OnlyReadsThere}
	if old := c.with.Load(); old != nil {
		defer old.http.CloseIdleConnections()
	}
	c.secrets.Give(cfg.secrets()...)
	c.with.Store(next)
}

// Config is what the Client logs in with.
func (c *Client) Config() *Config { return c.with.Load().Config }

// Close drops idle connections.
func (c *Client) Close() { c.with.Load().http.CloseIdleConnections() }

// String names the cloud.
func (c *Client) String() string { return c.Config().String() }

// GoString keeps %#v from printing secrets.
func (c *Client) GoString() string { return "nova.Client{" + c.Config().String() + "}" }

// LogValue keeps slog from printing secrets.
func (c *Client) LogValue() slog.Value { return c.Config().LogValue() }

// Microversions is the range that Nova offers, "2.1" and "2.93"; empty before the first login.
func (c *Client) Microversions() (low, high string) {
	s := c.current.Load()
	if s == nil {
		return "", ""
	}
	return s.versions.min.String(), s.versions.max.String()
}

func (c *Client) misconfigured(a action, err error) *core.APIError {
	return &core.APIError{
		Kind: core.ErrConfiguration, Server: core.ServerOpenStack, Call: a.call,
		Message: truncate(c.secrets.Redact(err.Error())),
		Remedy:  fmt.Sprintf("complete cloud %s in %s", c.Config().cloud, c.Config().origin),
	}
}

// versioned adds the version to an endpoint that does not end in it.
func versioned(endpoint, version string) string {
	base := strings.TrimSuffix(endpoint, "/")
	if strings.HasSuffix(base, "/"+version) {
		return base + "/"
	}
	return base + "/" + version + "/"
}

// call runs one request of a session, translates its error, and ends the session when its token could not be renewed: Keystone has
// refused to, or nothing renews it, as it was given ready-made or needed a passcode.
func (c *Client) call(ctx context.Context, a action, do func(*session) error) error {
	s, err := c.session(ctx)
	if err != nil {
		return err
	}
	if err = do(s); err == nil {
		return nil
	}
	failure := c.fail(a, err)
	if notOfAPI(err) {
		failure = c.proxied(failure)
	}
	var relogin *gophercloud.ErrUnableToReauthenticate
	over := errors.As(err, &relogin) || s.provider.ReauthFunc == nil && statusOf(err) == http.StatusUnauthorized
	if over && ctx.Err() == nil {
		c.drop(ctx, s, failure)
	}
	return failure
}
