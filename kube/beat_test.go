package kube

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"lockstep/sim/kubeapi"
)

// While events come all the time, a watch reads them at each beat, however many there are; an event that comes alone is read at once. What
// is there is read without a rest: a thousand events that came together take no time.
func TestAWatchIsReadAtTheBeats(t *testing.T) {
	for name, tt := range map[string]struct {
		events int
		every  time.Duration
		reads  int           // at most
		within time.Duration // from an event to its reading, at most
		whole  time.Duration // from the last event until it is known that none comes, at most
	}{
		"one now and then":   {20, time.Second, 21, 0, 0},
		"twenty a second":    {100, 50 * time.Millisecond, int(5*time.Second/core.Beat) + 3, core.Beat, 2 * core.Beat},
		"hundreds a second":  {1000, 5 * time.Millisecond, 50, core.Beat, 2 * core.Beat},
		"all at one moment":  {1000, 0, 50, core.Beat, 2 * core.Beat},
		"more than a buffer": {20000, 0, 700, core.Beat, 2 * core.Beat},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.events > 1000 {
				lane.OnlyAStory(t)
			}
			synctest.Test(t, func(t *testing.T) {
				source := &heldLine{sent: make(chan []byte, tt.events)}
				go func() {
					for range tt.events {
						source.sent <- fmt.Appendf(nil, `{"type":"MODIFIED","object":{"sent":%d}}`, time.Now().UnixNano())
						time.Sleep(tt.every)
					}
					close(source.sent)
				}()
				conn := &beatConn{Conn: source, beat: newBeat(), closed: make(chan struct{})}
				defer conn.carry()()
				frames := onceFramer{}.NewFrameReader(conn)
				began, n := time.Now(), 0
				for ; ; n++ {
					data := make([]byte, 1<<10)
					length, err := frames.Read(data)
					if err != nil {
						break
					}
					var sent int64
					if _, err := fmt.Sscanf(string(data[:length]), `{"type":"MODIFIED","object":{"sent":%d}}`, &sent); err != nil {
						t.Fatal(err)
					}
					if late := time.Since(time.Unix(0, sent)); late > tt.within {
						t.Fatalf("event %d is read %s late, and %s are allowed", n, late, tt.within)
					}
				}
				if n != tt.events || source.reads > tt.reads {
					t.Errorf("%d events were read by %d reads, want %d by %d at most", n, source.reads, tt.events, tt.reads)
				}
				if more := time.Since(began) - time.Duration(tt.events)*tt.every; more > tt.whole {
					t.Errorf("the last was read after %s", more)
				}
			})
		})
	}
}

// Whoever waits for an answer waits for no beat, while a watch rests on the same connections; an answer that was not read to its end is
// awaited no more when it is closed.
func TestAnAnswerWaitsForNoBeat(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		client := c.client(kubeapi.Admin)
		nodes := client.resource(gvrNodes, "")
		for range 100 {
			time.Sleep(time.Second/2 + core.AfterBeat)
			watch, err := nodes.Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, err := nodes.List(t.Context(), metav1.ListOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := client.get(t.Context(), "/readyz"); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > core.Beat/4 {
				t.Fatalf("two answers took %s", took)
			}
			watch.Stop()
		}
		beat := newBeat()
		if _, err := (&listeningTransport{leftUnread{}, beat}).RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
			t.Fatal(err)
		}
		for follow, busy := range map[string]bool{"": true, "?follow=true": false} {
			beat := newBeat()
			_, err := (&listeningTransport{leftUnread{}, beat}).RoundTrip(httptest.NewRequest(http.MethodGet, "/log"+follow, nil))
			if err != nil || beat.busy() != busy {
				t.Errorf("%q: it is awaited: %v, %v", follow, beat.busy(), err)
			}
		}
		began := time.Now()
		if beat.rest(0, nil); time.Since(began) != 0 {
			t.Errorf("it rests %s while an answer is awaited", time.Since(began))
		}
	})
}

// A watch of the API server is read at the beats, over a connection that has carried something else before.
func TestAWatchOfTheServerIsReadAtTheBeats(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		c.create("{apiVersion: v1, kind: Node, metadata: {name: n1}}")
		nodes := c.client(kubeapi.Admin).resource(gvrNodes, "")
		list, err := nodes.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		watch, err := nodes.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		defer watch.Stop()
		const events = 100
		go func() {
			for i := range events {
				c.update(gvrNodes, "", "n1", func(o map[string]any) {
					o["metadata"].(map[string]any)["labels"] = map[string]any{"at": fmt.Sprint(i)}
				})
				time.Sleep(10 * time.Millisecond)
			}
		}()
		moments := map[time.Time]int{}
		for range events {
			<-watch.ResultChan()
			moments[time.Now()]++
		}
		if beats := int(events*11*time.Millisecond/core.Beat) + 3; len(moments) > beats {
			t.Errorf("%d events came at %d moments, want %d at most", events, len(moments), beats)
		}
	})
}

// A connection with encryption, of either version of HTTP, is known to carry a watch until the watch is closed.
func TestAnEncryptedConnectionIsKnownToCarryAWatch(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		server.EnableHTTP2 = protocol == "HTTP/2.0"
		server.StartTLS()
		beat, conns := newBeat(), make(chan *beatConn, 1)
		config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
		dial := beat.dial(direct)
		config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			if err == nil {
				conns <- c.(*beatConn)
			}
			return c, err
		}
		config.Wrap(beat.listening)
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Get(server.URL + "/api/v1/nodes?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		conn := <-conns
		if n := conn.watches.Load(); n != 1 || resp.Proto != protocol || beat.awaited != 0 {
			t.Errorf("%s, want %s: it carries %d watches, and %d answers are awaited", resp.Proto, protocol, n, beat.awaited)
		}
		resp.Body.Close()
		if n := conn.watches.Load(); n != 0 {
			t.Errorf("%s: a watch that is closed is carried still: %d", protocol, n)
		}
		server.Close()
	}
}

// A connection that is closed rests no more.
func TestAClosedConnectionIsReadNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &beatConn{Conn: &heldLine{sent: make(chan []byte, 1)}, beat: newBeat(), closed: make(chan struct{})}
		c.Conn.(*heldLine).sent <- []byte("x")
		close(c.Conn.(*heldLine).sent)
		c.carry()
		if n, err := c.Read(make([]byte, 10)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		time.AfterFunc(time.Millisecond, func() { c.Close(); c.Close() })
		began := time.Now()
		if _, err := c.Read(make([]byte, 10)); err == nil || time.Since(began) > time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// leftUnread answers with a body that nobody reads.
type leftUnread struct{}

func (leftUnread) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("much"))}, nil
}

// heldLine holds what was sent until it is read, as the kernel does.
type heldLine struct {
	net.Conn
	sent  chan []byte
	left  []byte
	reads int
}

func (l *heldLine) Read(to []byte) (n int, err error) {
	l.reads++
	for n < len(to) {
		if len(l.left) == 0 {
			var more bool
			select {
			case l.left, more = <-l.sent:
			default:
				if n > 0 {
					return n, nil
				}
				l.left, more = <-l.sent
			}
			if !more && n == 0 {
				return 0, io.EOF
			} else if !more {
				return n, nil
			}
		}
		copied := copy(to[n:], l.left)
		n, l.left = n+copied, l.left[copied:]
	}
	return n, nil
}

func (l *heldLine) Close() error { return nil }
