package nova

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"

	"lockstep/core"
)

// refusal is why there is no session, and when to retry.
type refusal struct {
	refused *core.APIError // why the last login failed; nil when it did not
	again   time.Time      // no login is tried before this, but for who must know now
	tried   time.Time      // when it was
	losses  int            // failed ones in a row

	denials int       // how often in a row Keystone has refused the current credentials
	denied  time.Time // when it last did
}

// session is the current session, or a new one. After a failed login it returns that failure until it is time to try again, so that
// five pollers do not make five failed logins. Who must know now is not told it for a minute after Keystone is back.
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
			return nil, c.fail(action{call: "log in to " + c.Config().cloud}, ctx.Err())
		}
	}
	defer func() { <-c.gate }()
	if s := c.current.Load(); s != nil {
		if waited {
			_ = sleep(ctx, inTurn) // waiting callers go on in their order
		}
		return s, nil
	}
	early := c.refused != nil && wallClock().Before(c.again)
	if early {
		if !mustKnow(ctx) || !c.mayPass() {
			return nil, c.refused
		}
		if err := sleep(ctx, c.tried.Add(c.times.loginPause).Sub(wallClock())); err != nil {
			return nil, c.refused
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.times.login)
	defer cancel()
	s, err := c.enter(ctx)
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			c.putOff(err, early)
		}
		return nil, err
	}
	c.refusal = refusal{}
	c.current.Store(s)
	return s, nil
}

// enter logs in. After a refusal it reads the credentials again first. It does not send refused credentials to Keystone again and
// again: that would lock the user out, also for others (docs/mosk.md#lock-out). The gate is held.
func (c *Client) enter(ctx context.Context) (*session, *core.APIError) {
	if c.Config().unread || c.refused != nil && (c.denials > 0 || c.refused.Kind == core.ErrConfiguration) {
		if err := c.readAgain(ctx); err != nil && c.Config().unread {
			return nil, err
		}
	}
	if c.denials > 0 && (c.exhausted() || wallClock().Sub(c.denied) < c.times.repeat) {
		return nil, c.refused
	}
	s, err, denied := c.login(ctx)
	if !denied {
		return s, err
	}
	c.deny()
	if c.readAgain(ctx) == nil && c.denials == 0 {
		if s, err, denied = c.login(ctx); denied {
			c.deny()
		}
	}
	return s, c.final(err)
}

// deny notes that Keystone has refused the credentials. The gate is held.
func (c *Client) deny() { c.denials, c.denied = c.denials+1, wallClock() }

// exhausted tells whether the credentials were refused so often that they are no longer tried. The gate is held.
func (c *Client) exhausted() bool { return c.times.tries > 0 && c.denials >= c.times.tries }

// final adds to a refusal that the credentials are no longer tried, if that is so. The gate is held.
func (c *Client) final(err *core.APIError) *core.APIError {
	if err == nil || !c.exhausted() {
		return err
	}
	with := *err
	with.Remedy += ". They are not sent to Keystone again, which may lock the user out"
	if cfg := c.Config(); cfg.read != nil && cfg.cloud != environmentCloud {
		with.Remedy += fmt.Sprintf(": Lockstep reads %s again every %s, and logs in when it has changed", cfg.origin, c.times.refusedPause)
	} else {
		with.Remedy += ": start Lockstep anew with others"
	}
	return &with
}

// readAgain reads the credentials again, and uses them when they have changed: earlier refusals do not count against new ones. The
// gate is held.
func (c *Client) readAgain(ctx context.Context) *core.APIError {
	old := c.Config()
	if old.read == nil {
		return nil
	}
	fresh, err := old.read(ctx)
	if err != nil {
		own := &core.APIError{Kind: core.ErrOther, Call: callLoad, Message: err.Error(), Err: err}
		if api := (*core.APIError)(nil); errors.As(err, &api) {
			with := *api
			own = &with
		}
		own.Server = core.ServerOpenStack
		return own
	}
	same := !old.unread && reflect.DeepEqual(old.auth, fresh.auth) && reflect.DeepEqual(old.endpoint, fresh.endpoint)
	if same && c.denials > 0 {
		return nil
	}
	c.use(fresh) // with the certificates as they are now
	if !same {
		c.denials = 0
	}
	return nil
}

// now marks the requests of who must know now: a write that a person has confirmed, and the looks before and after it.
type now struct{}

func withNow(ctx context.Context) context.Context { return context.WithValue(ctx, now{}, true) }

func mustKnow(ctx context.Context) bool { return ctx.Value(now{}) != nil }

// mayPass tells whether a login may be tried before its time: not with credentials that were refused or cannot be used, and not when
// Keystone has said itself when to come again. The gate is held.
func (c *Client) mayPass() bool {
	return c.denials == 0 && c.refused.Kind != core.ErrConfiguration && c.refused.After == 0
}

// putOff remembers a failed login. One that was tried before its time puts the others off no longer, unless it was refused. The gate is
// held.
func (c *Client) putOff(err *core.APIError, early bool) {
	c.tried = wallClock()
	if early && c.denials == 0 && err.After == 0 {
		c.refused = err
		return
	}
	pause := min(c.times.loginPause<<min(c.losses, 10), c.times.loginPauseMax)
	if c.denials > 0 || err.Kind == core.ErrConfiguration {
		pause = c.times.refusedPause
	}
	c.refused, c.again = err, wallClock().Add(max(pause, err.After))
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

// drop ends a session whose token could not be renewed. Another call may be logging in already: this one waits for that as long as
// it may take, and else only remembers it.
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
	if c.current.Load() != nil {
		return
	}
	if err.Kind == core.ErrUnauthorized && s.with == c.Config() {
		c.deny()
		c.refused, c.again = err, time.Time{} // the credentials are read again at once: they may have been changed
		return
	}
	c.putOff(err, false)
}

// renewal requests another token, and no more once Keystone has refused one: several calls find out at the same time that their
// token is worthless, and each would send the refused password again.
func (c *Client) renewal(s *session, renew func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error { // one at a time, as gophercloud sees to
		if s.denied != nil {
			return s.denied
		}
		ctx, cancel := context.WithTimeout(ctx, c.times.login)
		defer cancel()
		err := renew(ctx)
		if statusOf(err) == http.StatusUnauthorized {
			s.denied = err
		}
		return err
	}
}

// login authenticates, and finds the endpoints and the microversions of Nova; denied means that Keystone has refused the
// credentials.
func (c *Client) login(ctx context.Context) (s *session, failure *core.APIError, denied bool) {
	with := c.with.Load()
	a := action{call: fmt.Sprintf("log in to %s at %s", with.cloud, with.AuthURL())}
	provider, err := openstack.NewClient(with.auth.IdentityEndpoint)
	if err != nil {
		return nil, c.misconfigured(a, err), false
	}
	provider.HTTPClient = with.http
	if with.userAgent != "" {
		provider.UserAgent.Prepend(with.userAgent)
	}
	auth := with.auth
	if auth.Scope != nil {
		scope := *auth.Scope
		auth.Scope = &scope
	}
	// AuthenticateV3 and not Authenticate: the latter follows the addresses in Keystone's version document, which behind a proxy
	// often lead nowhere, and every Keystone has v3.
	if err := openstack.AuthenticateV3(ctx, provider, &auth, gophercloud.EndpointOpts{}); err != nil {
		status := statusOf(err)
		if status == 0 {
			if kind, _ := kindOfFailure(err); kind == core.ErrOther && !isNotJSON(err) {
				return nil, c.misconfigured(a, err), false // gophercloud refuses incomplete credentials before it sends them
			}
		}
		return nil, c.fail(a, err), status == http.StatusUnauthorized
	}
	s = &session{with: with.Config, provider: provider, endpoint: with.endpoint}
	if provider.ReauthFunc != nil {
		provider.ReauthFunc = c.renewal(s, provider.ReauthFunc)
	}
	if failure := c.region(s); failure != nil {
		return nil, failure, false
	}
	if s.compute, err = s.find("compute"); err != nil {
		return nil, c.fail(action{call: "find Nova in the service catalog"}, err), false
	}
	if s.network, s.networkErr = s.find("network"); s.networkErr == nil {
		s.network.ResourceBase = versioned(s.network.Endpoint, "v2.0")
	}
	if s.identity, s.identityErr = s.find("identity"); s.identityErr == nil {
		s.identity.ResourceBase = versioned(s.identity.Endpoint, "v3")
	}
	s.volume, s.volumeErr = s.findVolumes()
	if s.versions, err = c.discoverCompute(ctx, s.compute); err != nil {
		return nil, c.fail(action{call: "ask Nova for its API versions"}, err), false
	}
	return s, nil, false
}

// region completes the session's endpoints with a region when none was named: Nova's. When Nova is in several regions it does not
// guess: the catalog's first may well be another cloud, whose hosts have the same names.
func (c *Client) region(s *session) *core.APIError {
	if s.endpoint.Region != "" {
		return nil
	}
	result, ok := s.provider.GetAuthResult().(interface {
		ExtractServiceCatalog() (*tokens.ServiceCatalog, error)
	})
	if !ok {
		return nil
	}
	catalog, err := result.ExtractServiceCatalog()
	if err != nil {
		return c.fail(action{call: "read the service catalog"}, err)
	}
	switch regions := regionsOf(catalog, s.endpoint, "compute"); len(regions) {
	case 0:
	case 1:
		s.endpoint.Region = regions[0]
	default:
		return &core.APIError{
			Kind: core.ErrConfiguration, Server: core.ServerOpenStack, Call: "find Nova in the service catalog",
			Message: fmt.Sprintf("it is in the regions %s, and none was named", strings.Join(regions, ", ")),
			Remedy:  fmt.Sprintf("name the one of this cluster: region_name of cloud %s in %s, or OS_REGION_NAME", s.with.cloud, s.with.origin),
		}
	}
	return nil
}

// regionsOf are the regions in which a service has an endpoint of the wanted kind, sorted.
func regionsOf(catalog *tokens.ServiceCatalog, eo gophercloud.EndpointOpts, kind string) []string {
	eo.Type, eo.Version = kind, 0
	eo.ApplyDefaults(kind)
	var regions []string
	for _, entry := range catalog.Entries {
		if !slices.Contains(eo.Types(), entry.Type) {
			continue
		}
		for _, e := range entry.Endpoints {
			if e.Interface != string(eo.Availability) {
				continue
			}
			if e.RegionID != "" {
				regions = append(regions, e.RegionID)
			} else {
				regions = append(regions, e.Region)
			}
		}
	}
	slices.Sort(regions)
	return slices.Compact(regions)
}

// find looks a service up in the catalog. gophercloud's own constructors would also ask the service for its versions,
// without a deadline.
func (s *session) find(kind string) (*gophercloud.ServiceClient, error) {
	eo := s.endpoint
	eo.Type, eo.Version = kind, 0
	eo.ApplyDefaults(kind)
	url, err := s.provider.EndpointLocator(eo)
	if err != nil {
		return nil, err
	}
	return &gophercloud.ServiceClient{ProviderClient: s.provider, Endpoint: url, Type: kind}, nil
}
