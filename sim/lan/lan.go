// Package lan is a network in memory, for a simulated cloud and its clients in one process and on one clock. Inside a
// testing/synctest bubble it lets the bubble's time pass: a reader waits like the bubble's own goroutines, while a
// loopback socket would stop the clock.
//
// Every message takes some hundred microseconds, as on a real network, depending on the sender and the content. So no
// two messages arrive at the same moment, their order depends on the seed and not on the machine's scheduler, and a run
// can be replayed.
package lan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// The travel time of a message.
const (
	least  = 150 * time.Microsecond
	spread = 700 * time.Microsecond
)

// Network is one network. It is safe for use by several goroutines.
type Network struct {
	seed uint64

	mu        sync.Mutex
	listeners map[string]*listener
	port      int
}

// New returns a network. Its seed determines the travel time of each message.
func New(seed uint64) *Network {
	return &Network{seed: seed, listeners: map[string]*listener{}, port: 30000}
}

// Listen listens on an address "host:port"; port 0 means a free port.
func (n *Network) Listen(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "lan", Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if port == "0" {
		n.port++
		port = strconv.Itoa(n.port)
	}
	at := addr(net.JoinHostPort(host, port))
	if n.listeners[string(at)] != nil {
		return nil, &net.OpError{Op: "listen", Net: "lan", Addr: at, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := &listener{network: n, at: at, arrived: make(chan net.Conn, backlog), closed: make(chan struct{})}
	l.broken, l.breakOff = context.WithCancel(context.Background())
	n.listeners[string(at)] = l
	return l, nil
}

// Dialer returns the dial function of a client with this name, in the form that net/http and client-go use. Without a
// listener the connection is refused.
func (n *Network) Dialer(name string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		at := addr(address)
		fail := func(err error) error { return &net.OpError{Op: "dial", Net: "lan", Addr: at, Err: err} }
		if err := ctx.Err(); err != nil {
			return nil, fail(err)
		}
		n.mu.Lock()
		l := n.listeners[address]
		n.mu.Unlock()
		if l == nil {
			return nil, fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
		}
		out, back := newLine(n.seed, name+">"+address), newLine(n.seed, address+">"+name)
		back.answers = out
		client := &conn{in: back, out: out, local: addr(name), remote: at}
		server := &conn{in: out, out: back, local: at, remote: addr(name)}
		select {
		case l.arrived <- server:
			select {
			case <-l.closed: // after Close has emptied its queue the connection would be lost
				server.Close()
				return nil, fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
			default:
				return client, nil
			}
		case <-l.closed:
			return nil, fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
		case <-ctx.Done():
			return nil, fail(ctx.Err())
		}
	}
}

// Transport is how a client with this name reaches the HTTP servers of the network. It also serves https URLs without
// encryption: the network is in memory, but clients send their credentials only to such URLs.
//
// A connection is used again, as on a real network. Which idle one a request gets makes no difference: dialling takes no time, and the
// travel time of a message does not depend on its connection.
func (n *Network) Transport(name string) *http.Transport {
	dial := n.Dialer(name)
	return &http.Transport{DialContext: dial, DialTLSContext: dial, MaxIdleConnsPerHost: idle}
}

// idle is how many connections a client keeps to a server.
const idle = 100

// backlog is how many connections wait for Accept before a dialer has to wait.
const backlog = 128

type listener struct {
	network *Network
	at      addr
	arrived chan net.Conn
	once    sync.Once
	closed  chan struct{}

	handler  http.Handler    // for those who are Near; nil: there is none
	broken   context.Context // of their requests
	breakOff context.CancelFunc
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.arrived:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "lan", Addr: l.at, Err: net.ErrClosed}
	}
}

// Close refuses connections from now on. Connections that are not accepted yet break.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, string(l.at))
		l.network.mu.Unlock()
		close(l.closed)
		l.breakOff()
		for {
			select {
			case c := <-l.arrived:
				c.Close()
			default:
				return
			}
		}
	})
	return nil
}

func (l *listener) Addr() net.Addr { return l.at }

type addr string

func (addr) Network() string  { return "lan" }
func (a addr) String() string { return string(a) }

// conn is one end of a connection.
type conn struct {
	in, out       *line
	local, remote addr

	late atomic.Pointer[net.OpError] // of a read past its deadline
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.told("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.told("write", err)
}

// told returns an error in a socket's form. The end of a stream and a deadline stay as they are.
func (c *conn) told(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if err == os.ErrDeadlineExceeded && op == "read" { // of each request: net/http breaks off the wait for the next one
		if late := c.late.Load(); late != nil {
			return late
		}
		late := &net.OpError{Op: op, Net: "lan", Source: c.local, Addr: c.remote, Err: err}
		c.late.Store(late)
		return late
	}
	var call *os.SyscallError
	if errors.As(err, &call) || errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
		return &net.OpError{Op: op, Net: "lan", Source: c.local, Addr: c.remote, Err: err}
	}
	return err
}

func (c *conn) Close() error {
	c.in.leave()
	c.out.end()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.reading.set(c.in, t, c.in.arrives)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.writing.set(c.out, t, c.out.room)
	return nil
}

// String returns both ends.
func (c *conn) String() string { return fmt.Sprintf("%s to %s", c.local, c.remote) }
