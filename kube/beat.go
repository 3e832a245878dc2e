package kube

import (
	"context"
	"crypto/tls"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"lockstep/core"
)

// beat has the connections of watches read at the beats (core.Beat) while nobody waits for an answer: under change hundreds of events come
// in a second, and the kernel keeps them meanwhile. An event that comes alone is read at once. While an answer is awaited, nothing waits
// for a beat.
type beat struct {
	mu       sync.Mutex
	awaited  int           // answers that somebody waits for
	answered chan struct{} // closed while awaited is above zero

	// apart is how much later than the others a connection is read, by what it has brought; nil: not at all. On a network in memory no two
	// messages arrive at the same moment, so that a run can be replayed; and so no two connections are read at the same moment either.
	apart func(brought uint64) time.Duration
}

// readApart is by how much connections are read apart from each other, at most.
const readApart = time.Millisecond

func newBeat() *beat { return &beat{answered: make(chan struct{})} }

// await says that an answer is awaited, until the returned function is called for the first time.
func (b *beat) await() (done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.awaited++; b.awaited == 1 {
		close(b.answered)
	}
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.awaited--; b.awaited == 0 {
			b.answered = make(chan struct{})
		}
	})
}

// busy tells whether an answer is awaited.
func (b *beat) busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.awaited > 0
}

// rest waits for the next beat, or until an answer is awaited or closed is.
func (b *beat) rest(brought uint64, closed <-chan struct{}) {
	b.mu.Lock()
	answered := b.answered
	b.mu.Unlock()
	var later time.Duration
	if b.apart != nil {
		later = b.apart(brought)
	}
	timer := time.NewTimer(core.UntilBeat(time.Now()) + later)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-answered:
		if later > 0 {
			time.Sleep(later)
		}
	case <-closed:
	}
}

// dial is a dialer whose connections are read at the beats.
func (b *beat) dial(next dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := next(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &beatConn{Conn: c, beat: b, closed: make(chan struct{}), wake: wakerOf(c)}, nil
	}
}

// direct dials as client-go does by itself.
var direct = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// transport is a given transport whose connections are read at the beats, if they can be.
func (b *beat) transport(given http.RoundTripper) http.RoundTripper {
	t, ok := given.(*http.Transport)
	if !ok || t.DialContext == nil {
		return given
	}
	t = t.Clone()
	t.DialContext = b.dial(t.DialContext)
	if t.DialTLSContext != nil {
		t.DialTLSContext = b.dial(t.DialTLSContext)
	}
	return t
}

// beatConn is a connection that is read at the beats while it carries a watch. One of HTTP/2 also carries all else.
type beatConn struct {
	net.Conn
	beat    *beat
	wake    func(bytes int) // the kernel wakes the program when so many bytes are there; nil where it cannot be told
	watches atomic.Int64    // that it carries
	begun   atomic.Bool     // one has, since the last reading
	read    bool            // all that was there
	brought uint64          // a hash of it, where connections are read apart
	once    sync.Once
	closed  chan struct{}
}

// Read implements net.Conn. It is called by one goroutine at a time.
func (c *beatConn) Read(to []byte) (int, error) {
	if c.begun.Swap(false) {
		c.read, c.brought = false, 0
	}
	if c.read && c.watches.Load() > 0 {
		c.rest()
	}
	n, err := c.Conn.Read(to)
	if c.read = n < len(to); c.beat.apart != nil {
		h := fnv.New64a()
		h.Write(to[:n])
		c.brought = h.Sum64()
	}
	return n, err
}

// wakeAt is how many bytes wake the program before the beat. Fewer come between two beats, but on the largest clusters; there it is woken
// once or twice. More would have the kernel keep more for each connection.
const wakeAt = 64 << 10

// rest waits for the next beat. The kernel does not wake the program meanwhile for what comes.
func (c *beatConn) rest() {
	if c.wake != nil && !c.beat.busy() {
		c.wake(wakeAt)
		defer c.wake(1)
	}
	c.beat.rest(c.brought, c.closed)
}

// Close implements net.Conn.
func (c *beatConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// carry says that the connection carries a watch, until the returned function is called.
func (c *beatConn) carry() (done func()) {
	c.begun.Store(true)
	c.watches.Add(1)
	return sync.OnceFunc(func() { c.watches.Add(-1) })
}

// beatConnOf is the connection below, which a request has got; nil when it is another's.
func beatConnOf(c net.Conn) *beatConn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, _ := c.(*beatConn)
	return own
}

// listening tells the beat which answers are awaited: all but what a watch brings once it has begun.
func (b *beat) listening(base http.RoundTripper) http.RoundTripper {
	return &listeningTransport{base, b}
}

type listeningTransport struct {
	base http.RoundTripper
	beat *beat
}

// RoundTrip implements http.RoundTripper.
func (t *listeningTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	done := t.beat.await()
	if r.URL.Query().Get("watch") == "" {
		resp, err := t.base.RoundTrip(r)
		if err != nil {
			done()
			return resp, err
		}
		if r.URL.Query().Get("follow") != "" { // a log that is followed ends when nobody reads it any more
			done()
			return resp, nil
		}
		resp.Body = &awaitedBody{resp.Body, done}
		return resp, nil
	}
	defer done()
	var own atomic.Pointer[beatConn] // of the last try
	got := httptrace.ClientTrace{GotConn: func(with httptrace.GotConnInfo) { own.Store(beatConnOf(with.Conn)) }}
	resp, err := t.base.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), &got)))
	if c := own.Load(); err == nil && c != nil {
		resp.Body = &awaitedBody{resp.Body, c.carry()}
	}
	return resp, err
}

// WrappedRoundTripper lets client-go reach the transport below, to close its idle connections.
func (t *listeningTransport) WrappedRoundTripper() http.RoundTripper { return t.base }

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (t *listeningTransport) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.base) }

// awaitedBody is an answer that is awaited, or a watch that lasts, until it is read or closed.
type awaitedBody struct {
	io.ReadCloser
	done func()
}

// Read implements io.Reader.
func (b *awaitedBody) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	if err != nil {
		b.done()
	}
	return n, err
}

// Close implements io.Closer.
func (b *awaitedBody) Close() error {
	b.done()
	return b.ReadCloser.Close()
}
