package nova

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

func noServers(w http.ResponseWriter, _ *http.Request) { reply(w, 200, `{"servers": []}`) }

func list(c *Client) error {
	_, err := c.listServers(context.Background(), serverQuery{})
	return err
}

func TestOneLoginServesAll(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", noServers)
		c := f.client()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := list(c); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if f.logins != 1 {
			t.Errorf("%d logins, want 1", f.logins)
		}
		if low, high := c.Microversions(); low != "2.1" || high != "2.93" {
			t.Errorf("microversions %s to %s", low, high)
		}
	})
}

func TestAnExpiredTokenIsRenewed(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", noServers)
		f.answer("POST /compute/v2.1/servers/a/action", 202, "")
		c := f.client()
		for range 3 {
			if err := list(c); err != nil {
				t.Fatal(err)
			}
			f.expireToken()
			if err := writes(t, c, nil).write(doing(core.IntentStop, "a")); err != nil {
				t.Fatalf("stop with an expired token: %v", err)
			}
			f.expireToken()
		}
		if f.logins != 6 {
			t.Errorf("%d logins, want one for each expired token", f.logins)
		}
	})
}

func TestARefusedLoginIsNotRepeatedAtOnce(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.refuse = true
		c := f.client()
		for range 5 {
			e := apiError(t, list(c))
			if e.Kind != core.ErrUnauthorized || e.Status != 401 || !strings.Contains(e.Remedy, "/etc/openstack/clouds.yaml") ||
				!strings.HasPrefix(e.Call, "log in to test") {
				t.Errorf("%s, remedy %q", e, e.Remedy)
			}
		}
		if f.logins != 1 {
			t.Errorf("%d logins with a password that was refused: Keystone may lock the user out", f.logins)
		}
		if again := time.Until(c.retryAt()); again < usualTimes.refusedPause/2 || again > usualTimes.refusedPause {
			t.Errorf("tried again in %v", again)
		}
	})
}

// After failed logins the pollers wait, up to a minute. What a person has confirmed, and the look before it, do not fail meanwhile with
// what Keystone said before it was back. They do not ask more often than every two seconds, and put the pollers off no longer.
func TestWhatIsConfirmedDoesNotWaitUntilThePollersLogIn(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", noServers)
		f.answer("POST /compute/v2.1/servers/a/action", 202, "")
		f.set(func() { f.away = true })
		c := f.client()
		for range 8 {
			if e := apiError(t, list(c)); e.Status != 503 {
				t.Fatal(e)
			}
			time.Sleep(time.Until(c.retryAt()))
		}
		_ = list(c)
		asked := func() int { return len(f.seen("POST /identity/v3/auth/tokens")) }
		again, before, began := c.retryAt(), asked(), time.Now()
		if wait := time.Until(again); wait < usualTimes.loginPauseMax/2 {
			t.Fatalf("the pollers wait %s", wait)
		}
		w := writes(t, c, nil)
		for range 3 {
			if e := apiError(t, w.write(doing(core.IntentStop, "a"))); e.Status != 503 {
				t.Error(e)
			}
		}
		if got, took := asked()-before, time.Since(began); got != 3 || took < 3*usualTimes.loginPause || took > 4*usualTimes.loginPause {
			t.Errorf("Keystone was asked %d times in %s", got, took)
		}
		if got := c.retryAt(); !got.Equal(again) {
			t.Errorf("the pollers log in at %s, before it was %s", got, again)
		}
		if err := list(c); err == nil || asked() != before+3 {
			t.Errorf("a poller does not wait: %v", err)
		}
		f.set(func() { f.away = false })
		if err := w.write(doing(core.IntentStop, "a")); err != nil {
			t.Errorf("Keystone is back: %v", err)
		}
		if err := list(c); err != nil {
			t.Error(err)
		}

		f.set(func() { f.refuse, f.token = true, "expired" })
		_ = list(c)
		before = asked()
		for range 3 {
			if e := apiError(t, w.write(doing(core.IntentStop, "a"))); e.Kind != core.ErrUnauthorized {
				t.Error(e)
			}
			_, _ = w.MigrationsOf(t.Context(), "a")
		}
		if got := asked() - before; got != 0 {
			t.Errorf("refused credentials were sent %d times more", got)
		}
	})
}

func TestALoginRefusedLaterEndsTheSession(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", noServers)
		c := f.client()
		if err := list(c); err != nil {
			t.Fatal(err)
		}
		f.set(func() { f.refuse, f.token = true, "expired" })
		for range 3 {
			if e := apiError(t, list(c)); e.Kind != core.ErrUnauthorized {
				t.Errorf("kind %s", e.Kind)
			}
		}
		if f.logins != 2 {
			t.Errorf("%d logins, want the first and one that was refused", f.logins)
		}
	})
}

// A call does not outlive its deadline because another call is logging in slowly.
func TestAFailedRenewalDoesNotWaitForAnothersLogin(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", noServers)
		c := f.client()
		if err := list(c); err != nil {
			t.Fatal(err)
		}
		f.set(func() { f.refuse, f.token = true, "expired" })
		c.gate <- struct{}{} // as a caller that logs in
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := c.listServers(ctx, serverQuery{}); apiError(t, err).Kind != core.ErrUnauthorized {
			t.Error(err)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
		<-c.gate
	})
}

func TestSecretsAreInNoErrorAndNoLog(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		var log strings.Builder
		f.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, r *http.Request) {
			// A Nova that repeats the token that it was sent.
			reply(w, 403, fmt.Sprintf(`{"forbidden": {"code": 403, "message": "token %s has no rights; password %s"}}`, r.Header.Get("X-Auth-Token"),
				testPassword))
		})
		c := f.client()
		c.with.Load().http.Transport.(*transport).log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		refused := newFakeCloud(t)
		refused.refuse = true
		for _, err := range []error{list(c), list(refused.client())} {
			e := apiError(t, err)
			text := fmt.Sprintf("%v %+v %#v %v %+v %#v %s %s", e, e, *e, e.Err, e.Err, e.Err, e.Message, e.Remedy) + log.String()
			if strings.Contains(text, testPassword) || strings.Contains(text, tokenPrefix) {
				t.Errorf("a secret is printed: %s", text)
			}
			if !strings.Contains(e.Message, core.Hidden) {
				t.Errorf("message %q does not show that something was hidden", e.Message)
			}
		}
		if !strings.Contains(log.String(), "path=/compute/v2.1/servers/detail status=403") {
			t.Errorf("log: %s", log.String())
		}
	})
}

func TestReadsAreTriedAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first []int // the first answers; 0 breaks the connection, and what is negative is a proxy's
		tries int
		kind  core.ErrorKind // of the result
	}{
		{"a server that comes back", []int{503, 502, 500}, 4, ""},
		{"a server that does not", []int{503, 503, 503, 503, 503}, 4, core.ErrServer},
		{"a connection that breaks", []int{0, 0}, 3, ""},
		{"a rate limit", []int{429}, 2, ""},
		{"a refusal is an answer", []int{403}, 1, core.ErrForbidden},
		{"not found is an answer", []int{404}, 1, core.ErrNotFound},
		{"not found by a proxy", []int{-404, -404}, 3, ""},
		{"not found by a proxy that stays", []int{-404, -404, -404, -410}, 4, core.ErrServer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				f := newFakeCloud(t)
				var tries atomic.Int32
				f.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, r *http.Request) {
					n := int(tries.Add(1))
					switch {
					case n > len(tt.first):
						noServers(w, r)
					case tt.first[n-1] == 0:
						panic(http.ErrAbortHandler)
					case tt.first[n-1] == 404:
						reply(w, 404, `{"itemNotFound": {"code": 404, "message": "The resource could not be found."}}`)
					default:
						reply(w, max(tt.first[n-1], -tt.first[n-1]), "<html></html>")
					}
				})
				err := list(f.client())
				if got := int(tries.Load()); got != tt.tries {
					t.Errorf("%d tries, want %d", got, tt.tries)
				}
				if tt.kind == "" && err != nil {
					t.Error(err)
				}
				if tt.kind != "" {
					if e := apiError(t, err); e.Kind != tt.kind {
						t.Errorf("kind %s, want %s", e.Kind, tt.kind)
					}
				}
			})
		})
	}
}

func TestARetryDoesNotOutliveItsDeadline(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3600")
			reply(w, 429, `{"overLimit": {"code": 429, "message": "This request was rate-limited."}}`)
		})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := f.client().listServers(ctx, serverQuery{})
		if e := apiError(t, err); e.Kind != core.ErrTooManyRequests || e.Message != "This request was rate-limited." {
			t.Error(e)
		}
		if n := len(f.seen("servers/detail")); n != 1 {
			t.Errorf("%d tries, want 1: the cloud asked for an hour", n)
		}
	})
}

func TestTheCauseCanBeAskedFor(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		ctx, cancel := context.WithCancel(context.Background())
		f.on("GET /compute/v2.1/servers/detail", func(w http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		})
		_, err := f.client().listServers(ctx, serverQuery{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v is not context.Canceled", err)
		}
		if e := apiError(t, err); e.Kind != core.ErrTimeout || !e.Uncertain() {
			t.Error(e)
		}
	})
}

func TestNobodyListens(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		c := f.client()
		f.Close()
		e := apiError(t, list(c))
		if e.Kind != core.ErrUnreachable || !strings.Contains(e.Remedy, f.URL) {
			t.Errorf("%s, remedy %q", e, e.Remedy)
		}
	})
}

func TestTheCatalogHasNoNova(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		c := f.client()
		c.Config().endpoint.Region = "elsewhere"
		e := apiError(t, list(c))
		if e.Kind != core.ErrConfiguration || e.Call != "find Nova in the service catalog" || !strings.Contains(e.Remedy, "region_name") {
			t.Errorf("%s, remedy %q", e, e.Remedy)
		}
	})
}

func TestTheLimiterSpacesRequestsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, start := newLimiter(10, 5), time.Now()
		for range 25 {
			if err := l.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		// Five at once, then ten a second.
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("25 requests took %v, want 2s", took)
		}
	})
}

// The pages of a list follow one another as fast as the server answers, and take no other request's turn.
func TestAFollowingPageTakesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		tr := &transport{limit: newLimiter(10, 1), secrets: &core.Secrets{}, base: answers(func(*http.Request) { sent++ })}
		get := func(url string) {
			t.Helper()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tr.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
		start := time.Now()
		get("https://nova/servers/detail?limit=1000")
		for i := range 99 {
			get(fmt.Sprintf("https://nova/servers/detail?limit=1000&marker=%d", i))
		}
		if took := time.Since(start); took != 0 || sent != 100 {
			t.Errorf("%d pages took %v, want 100 at once", sent, took)
		}
		get("https://nova/os-services")
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("the next request was sent after %v, want 100ms", took)
		}
	})
}

// answers is a server that answers each request with nothing, and says that it came.
type answers func(*http.Request)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	a(r)
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

func TestBackoffGrowsWithinItsBounds(t *testing.T) {
	for try := 1; try <= 8; try++ {
		top := min(500*time.Millisecond<<(try-1), 8*time.Second)
		for range 50 {
			if d := backoff(nil)("", try); d < top/2 || d > top {
				t.Fatalf("try %d pauses %v, want %v to %v", try, d, top/2, top)
			}
		}
	}
}
