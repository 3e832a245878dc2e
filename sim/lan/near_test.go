package lan_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/sim/bubble"
	"lockstep/sim/lan"
)

// served is a network with a server at server:80 that answers over connections and to who is near.
func served(t *testing.T, handler http.HandlerFunc) (network *lan.Network, stop func()) {
	t.Helper()
	network = lan.New(1)
	l, err := network.Listen("server:80")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	network.Handle(l, handler)
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	stop = func() { server.Close(); <-done }
	t.Cleanup(stop)
	return network, stop
}

// said is what a client got: the status, a header, the body and the error of either.
func said(response *http.Response, err error) string {
	if err != nil {
		var refused syscall.Errno
		switch {
		case errors.As(err, &refused):
			return "refused: " + refused.Error()
		case errors.Is(err, io.EOF):
			return "EOF"
		}
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return fmt.Sprintf("%s %s %d bytes ending in %.20q, %v", response.Status, response.Header.Get("X-Kind"), len(body),
		body[max(0, len(body)-20):], err)
}

// Who is near gets the same answers as over a connection, after a travel of the same length.
func TestWhoIsNearGetsTheSameAnswers(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		network, stop := served(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Kind", "a kind")
			body, _ := io.ReadAll(r.Body)
			switch r.URL.Path {
			case "/echo":
				w.WriteHeader(http.StatusAccepted)
				w.Header().Set("X-Kind", "too late")
				fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.URL.RawQuery, r.Host, r.Header.Get("X-Mine"), body)
			case "/long":
				for range 3000 {
					fmt.Fprint(w, strings.Repeat("long ", 200))
				}
			case "/nothing":
			case "/broken":
				panic(http.ErrAbortHandler)
			case "/broken-later":
				fmt.Fprint(w, "the first half")
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		})
		clients := map[string]http.RoundTripper{"over a connection": network.Transport("anna"), "near": network.Near("anna")}
		for _, path := range []string{"/echo?a=b&c=%20d", "/long", "/nothing", "/broken", "/broken-later"} {
			got := map[string]string{}
			for name, transport := range clients {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server:80"+path, strings.NewReader("what is sent"))
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("X-Mine", "mine")
				began := time.Now()
				got[name] = said((&http.Client{Transport: transport}).Do(request))
				if took := time.Since(began); took < 300*time.Microsecond || took > 10*time.Millisecond {
					t.Errorf("%s, %s: it took %s", path, name, took)
				}
			}
			if got["near"] != got["over a connection"] {
				t.Errorf("%s: near %s\nover a connection %s", path, got["near"], got["over a connection"])
			}
		}
		stop()
		for name, transport := range clients {
			response, err := (&http.Client{Transport: transport}).Get("http://server:80/echo")
			if got := said(response, err); got != "refused: connection refused" {
				t.Errorf("after the end, %s: %s", name, got)
			}
		}
	})
}

// A stream is read while it is written. It ends when the handler returns, when the server goes, and when its reader goes, which the
// handler hears of.
func TestAStreamToWhoIsNear(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(response *http.Response, leave, stop func())
		last string // what the reader gets at the end
	}{
		"the handler returns":          {func(_ *http.Response, _, _ func()) { time.Sleep(time.Hour) }, "EOF"},
		"the server goes":              {func(_ *http.Response, _, stop func()) { stop() }, "unexpected EOF"},
		"the reader goes":              {func(_ *http.Response, leave, _ func()) { leave() }, "context canceled"},
		"the reader closes the answer": {func(r *http.Response, _, _ func()) { r.Body.Close() }, "closed"},
	} {
		for _, way := range []string{"near", "over a connection"} {
			t.Run(name+", "+way, func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					heard := make(chan time.Time, 1)
					network, stop := served(t, func(w http.ResponseWriter, r *http.Request) {
						defer func() { heard <- time.Now() }()
						for i := range 3600 {
							fmt.Fprintf(w, "%d\n", i)
							if http.NewResponseController(w).Flush() != nil {
								return
							}
							select {
							case <-r.Context().Done():
								return
							case <-time.After(time.Second):
							}
						}
					})
					var transport http.RoundTripper = network.Transport("anna")
					if way == "near" {
						transport = network.Near("anna")
					}
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server:80/", nil)
					if err != nil {
						t.Fatal(err)
					}
					response, err := transport.RoundTrip(request)
					if err != nil {
						t.Fatal(err)
					}
					defer response.Body.Close()
					line := make([]byte, 10)
					for _, want := range []string{"0\n", "1\n"} {
						if n, err := response.Body.Read(line); err != nil || string(line[:n]) != want {
							t.Fatalf("read %q, %v; want %q", line[:n], err, want)
						}
					}
					ended := time.Now()
					tt.end(response, leave, stop)
					_, err = io.ReadAll(response.Body)
					if err == nil {
						err = io.EOF
					}
					if !strings.Contains(err.Error(), tt.last) || (err == io.EOF) != (tt.last == "EOF") {
						t.Errorf("at the end the reader gets %v, want %s", err, tt.last)
					}
					if late := (<-heard).Sub(ended); name != "the handler returns" && late > 2*time.Second {
						t.Errorf("the handler hears of it after %s", late)
					}
				})
			})
		}
	}
}

// Who gives up while the answer is awaited gets its own error, and the handler hears of it.
func TestWhoIsNearCanGiveUp(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		heard := make(chan struct{})
		network, stop := served(t, func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			heard <- struct{}{}
		})
		client := http.Client{Transport: network.Near("anna"), Timeout: time.Minute}
		began := time.Now()
		_, err := client.Get("http://server:80/")
		if took := time.Since(began); err == nil || !errors.Is(err, context.DeadlineExceeded) || took != time.Minute {
			t.Errorf("after %s: %v", took, err)
		}
		<-heard
		go func() { time.Sleep(time.Second); stop() }()
		client.Timeout = 0
		if got := said(client.Get("http://server:80/")); got != "EOF" {
			t.Errorf("when the server goes: %s", got)
		}
		<-heard
	})
}

// A long answer is written as fast as it is read, and no further when its reader leaves.
func TestALongAnswerToWhoIsNear(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		ended := make(chan error, 1)
		network, _ := served(t, func(w http.ResponseWriter, _ *http.Request) {
			var err error
			for i := 0; i < 5000 && err == nil; i++ {
				_, err = w.Write(make([]byte, 1000))
			}
			ended <- err
		})
		client := http.Client{Transport: network.Near("anna")}
		for _, whole := range []bool{true, false} {
			response, err := client.Get("http://server:80/")
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			select {
			case err := <-ended:
				t.Errorf("all is written before it is read: %v", err)
			default:
			}
			if whole {
				if n, err := io.Copy(io.Discard, response.Body); n != 5_000_000 || err != nil {
					t.Errorf("%d bytes, %v", n, err)
				}
			}
			response.Body.Close()
			if err := <-ended; (err == nil) != whole {
				t.Errorf("whole: %t: the handler's error is %v", whole, err)
			}
		}
	})
}

// When the server goes, a request that is on its way is lost: it is not done. An answer that is on its way arrives whole.
func TestWhatIsOnItsWayWhenTheServerGoes(t *testing.T) {
	for _, way := range []string{"near", "over a connection"} {
		for _, answered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, answered: %t", way, answered), func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					done := make(chan struct{}, 1)
					network, stop := served(t, func(w http.ResponseWriter, _ *http.Request) {
						fmt.Fprint(w, strings.Repeat("x", 100<<10))
						done <- struct{}{}
					})
					var transport http.RoundTripper = network.Transport("anna")
					if way == "near" {
						transport = network.Near("anna")
					}
					go func() {
						if answered {
							<-done
							time.Sleep(time.Microsecond)
						} else {
							time.Sleep(50 * time.Microsecond)
						}
						stop()
					}()
					got := said(transport.RoundTrip(newGet(t)))
					want := "EOF"
					if answered {
						want = `200 OK  102400 bytes ending in "xxxxxxxxxxxxxxxxxxxx", <nil>`
					}
					if got != want {
						t.Errorf("%s, want %s", got, want)
					}
					if synctest.Wait(); !answered && len(done) > 0 {
						t.Error("it was done")
					}
				})
			})
		}
	}
}

func newGet(t *testing.T) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server:80/", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
