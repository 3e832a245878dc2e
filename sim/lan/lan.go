// Package lan is a network in memory, for a simulated cloud and its clients that live in one process and by one clock. Made
// inside a testing/synctest bubble it lets the bubble's time pass: whoever reads from it waits as the bubble's own goroutines
// do, where a loopback socket would hold the clock.
//
// Everything takes its time on the way, as on a real network: some hundred microseconds, by the sender and by what is said.
// So no two messages arrive at the same moment, the order in which they do is that of the seed and not of the machine's
// scheduler, and what follows from them can be played again.
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
	"syscall"
	"time"
)

// How long a message is on its way.
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

// New makes a network. Its seed determines how long each message is on its way.
func New(seed uint64) *Network {
	return &Network{seed: seed, listeners: map[string]*listener{}, port: 30000}
}

// Listen listens on an address "host:port"; with port 0 on one that is free.
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
	n.listeners[string(at)] = l
	return l, nil
}

// Dialer is how a client of that name reaches the listeners, in the form that net/http and client-go take. Nobody listening is a
// refused connection.
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
			case <-l.closed: // after Close has emptied its queue it would be lost
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

// Transport is how a client of that name reaches the HTTP servers of the network. An https URL is one, too: what goes over a
// network in memory is not encrypted, but clients send their credentials to such a URL only.
//
// Each request has a connection of its own. Which of those that are idle a request would get is up to the machine's scheduler, and
// so would be whether it is sent once more when the connection turns out to be dead.
func (n *Network) Transport(name string) *http.Transport {
	dial := n.Dialer(name)
	return &http.Transport{DialContext: dial, DialTLSContext: dial, DisableKeepAlives: true}
}

// backlog is how many connections wait for Accept before a dialer does.
const backlog = 128

type listener struct {
	network *Network
	at      addr
	arrived chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.arrived:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "lan", Addr: l.at, Err: net.ErrClosed}
	}
}

// Close refuses connections from now on. Those not yet accepted break.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, string(l.at))
		l.network.mu.Unlock()
		close(l.closed)
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
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.told("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.told("write", err)
}

// told is an error as a socket tells it. The end of a stream and a deadline are known by themselves.
func (c *conn) told(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
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
	c.in.reading.set(c.in, t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.writing.set(c.out, t)
	return nil
}

// String names both ends.
func (c *conn) String() string { return fmt.Sprintf("%s to %s", c.local, c.remote) }
