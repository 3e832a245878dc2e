package lan_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/sim/bubble"
	"lockstep/sim/lan"
)

// pair is a connection from both its ends.
func pair(t *testing.T, n *lan.Network) (client, server net.Conn) {
	t.Helper()
	l, err := n.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if client, err = n.Dialer("anna")(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// Messages arrive whole, in order, and after a delay.
func TestWhatIsSaidArrivesInOrderAndLater(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		client, server := pair(t, lan.New(1))
		began := time.Now()
		for i := range 100 {
			fmt.Fprintf(client, "message %d\n", i)
		}
		client.Close()
		got, err := io.ReadAll(server)
		if lines := strings.Split(strings.TrimSpace(string(got)), "\n"); err != nil || len(lines) != 100 || lines[99] != "message 99" {
			t.Errorf("it arrived %q, %v", got, err)
		}
		if took := time.Since(began); took < 100*time.Microsecond || took > 2*time.Millisecond { // the last word, and then the end
			t.Errorf("it took %s", took)
		}
	})
}

// An address without a listener, or with a closed one, refuses the connection as a host does; an address in use cannot
// be listened on.
func TestWhoDoesNotListenRefuses(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := lan.New(1)
		l, err := n.Listen("10.0.0.1:80")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Listen("10.0.0.1:80"); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a second listener got %v", err)
		}
		dial := n.Dialer("anna")
		waiting, err := dial(t.Context(), "tcp", "10.0.0.1:80") // nobody accepts it
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if _, err := waiting.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a connection that was not accepted reads %v", err)
		}
		if _, err := dial(t.Context(), "tcp", "10.0.0.1:80"); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accept: %v", err)
		}
		if l, err = n.Listen("10.0.0.1:80"); err != nil {
			t.Errorf("listen again: %v", err)
		} else {
			l.Close()
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := dial(gone, "tcp", "10.0.0.1:80"); !errors.Is(err, context.Canceled) {
			t.Errorf("dial without a context: %v", err)
		}
	})
}

// Deadlines, closing and a reader that does not read end waiting calls, as on a socket.
func TestWhatWaitsEndsAsOnASocket(t *testing.T) {
	for name, tt := range map[string]struct {
		wait func(client, server net.Conn) error
		want error
	}{
		"a read past its deadline": {func(client, _ net.Conn) error {
			client.SetReadDeadline(time.Now().Add(time.Minute))
			_, err := client.Read(make([]byte, 1))
			return err
		}, os.ErrDeadlineExceeded},
		"a read whose deadline is set meanwhile": {func(client, _ net.Conn) error {
			time.AfterFunc(time.Minute, func() { client.SetReadDeadline(time.Now()) })
			_, err := client.Read(make([]byte, 1))
			return err
		}, os.ErrDeadlineExceeded},
		"a read of what the other has closed": {func(client, server net.Conn) error {
			time.AfterFunc(time.Minute, func() { server.Close() })
			_, err := client.Read(make([]byte, 1))
			return err
		}, io.EOF},
		"a read of what is closed here": {func(client, _ net.Conn) error {
			time.AfterFunc(time.Minute, func() { client.Close() })
			_, err := client.Read(make([]byte, 1))
			return err
		}, net.ErrClosed},
		"a write to who has closed": {func(client, server net.Conn) error {
			server.Close()
			_, err := client.Write([]byte("hello"))
			return err
		}, syscall.EPIPE},
		"a write after closing": {func(client, _ net.Conn) error {
			client.Close()
			_, err := client.Write([]byte("hello"))
			return err
		}, net.ErrClosed},
		"a write to who does not read": {func(client, _ net.Conn) error {
			client.SetWriteDeadline(time.Now().Add(time.Minute))
			_, err := client.Write(make([]byte, 16<<20))
			return err
		}, os.ErrDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				if err := tt.wait(pair(t, lan.New(1))); !errors.Is(err, tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
			})
		})
	}
}

// Forty clients send requests at one moment. The seed determines the order: the same each time, different with another
// seed, and never two at once.
func TestTheOrderIsTheSeeds(t *testing.T) {
	served := func(seed uint64) (order []string) {
		bubble.Alone(t, func(t *testing.T) {
			n := lan.New(seed)
			l, err := n.Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			last := time.Time{}
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if now := time.Now(); now.Equal(last) {
					t.Errorf("%s comes at the same moment as another", r.URL.Path)
				} else {
					last = now
				}
				order = append(order, r.URL.Path)
			})}
			go server.Serve(l)
			t.Cleanup(func() { server.Close() })
			client := http.Client{Transport: n.Transport("anna")}
			t.Cleanup(client.CloseIdleConnections)
			var asking sync.WaitGroup
			for i := range 40 {
				asking.Go(func() {
					resp, err := client.Get(fmt.Sprintf("https://%s/%d", l.Addr(), i)) // https, too, is plain here
					if err != nil {
						t.Error(err)
						return
					}
					resp.Body.Close()
				})
			}
			asking.Wait()
			synctest.Wait()
		})
		return order
	}
	one, again, other := served(1), served(1), served(2)
	if len(one) != 40 || !slices.Equal(one, again) {
		t.Errorf("with the same seed they are served\n%v\nand\n%v", one, again)
	}
	if slices.Equal(one, other) {
		t.Errorf("with another seed they are served in the same order: %v", other)
	}
}

// A connection that comes as its listener closes is refused, or breaks: it never hangs.
func TestNoConnectionIsLostAsItsListenerCloses(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := lan.New(1)
		for range 2000 {
			l, err := n.Listen("server:80")
			if err != nil {
				t.Fatal(err)
			}
			go l.Close()
			conn, err := n.Dialer("anna")(t.Context(), "tcp", "server:80")
			if err != nil {
				continue
			}
			if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("nobody has accepted it, and nobody has closed it")
			}
			conn.Close()
			synctest.Wait()
		}
	})
}
