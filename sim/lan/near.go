package lan

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Handle tells what answers the HTTP requests at a listener of the network. Clients that are Near reach it there until the listener is
// closed; all others reach whoever accepts its connections.
func (n *Network) Handle(l net.Listener, handler http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l, ok := l.(*listener); ok {
		l.handler = handler
	}
}

// Near is how a part of the simulation itself reaches the HTTP servers of the network that Handle tells of. Its requests and answers
// travel as long as those of Transport, are refused like them, and break off when the listener is closed. They are not written and read
// as bytes, which is most of the work of a small request.
func (n *Network) Near(name string) http.RoundTripper { return near{network: n, name: name} }

// near is a client.
type near struct {
	network *Network
	name    string
}

// longAnswer is how long an answer may get before it is read while it is written, in bytes.
const longAnswer = 64 << 10

// RoundTrip sends a request. It returns when the answer is there, or its beginning, if the handler flushes it or it is long.
func (c near) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := bodyOf(r)
	if err != nil {
		return nil, err
	}
	address := r.URL.Host
	c.network.mu.Lock()
	l := c.network.listeners[address]
	var handler http.Handler
	if l != nil {
		handler = l.handler
	}
	c.network.mu.Unlock()
	if handler == nil {
		return nil, &net.OpError{Op: "dial", Net: "lan", Addr: addr(address), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	ctx := r.Context()
	subject := sum(body)
	for _, text := range []string{r.Method, r.URL.Path, r.URL.RawQuery} {
		subject = subject*31 + sum([]byte(text))
	}
	if err := pass(ctx, travel(c.network.seed, c.name+">"+address, subject, time.Now())); err != nil {
		return nil, err
	}
	if l.broken.Err() != nil { // the request is lost on its way
		return nil, io.EOF
	}
	back := address + ">" + c.name
	a := newNearAnswer(c.network.seed, back, subject)
	served, end := context.WithCancel(context.WithoutCancel(ctx))
	go a.serve(handler, request(served, r, body, c.name), end)
	select {
	case <-a.begun:
	case <-ctx.Done():
		end()
		a.leave()
		return nil, ctx.Err()
	case <-l.broken.Done():
		end()
		a.leave()
		return nil, io.EOF
	}
	if err := pass(ctx, travel(c.network.seed, back, subject, time.Now())); err != nil {
		end()
		a.leave()
		return nil, err
	}
	if a.cut {
		return nil, io.EOF
	}
	response := &http.Response{Status: strconv.Itoa(a.code) + " " + http.StatusText(a.code), StatusCode: a.code, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Header: a.sent, ContentLength: -1, Request: r}
	if a.line == nil {
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(a.whole)), int64(len(a.whole))
		return response, nil
	}
	stream := &nearStream{answer: a, ctx: ctx, end: end}
	stream.gone = context.AfterFunc(ctx, func() { end(); a.leave() })
	stream.broken = context.AfterFunc(l.broken, func() { a.line.breakOff(); end() })
	response.Body = stream
	return response, nil
}

// bodyOf reads and closes the body of a request.
func bodyOf(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

// request is a request as its server gets it.
func request(ctx context.Context, r *http.Request, body []byte, from string) *http.Request {
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	got := &http.Request{Method: r.Method, URL: &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery},
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: r.Header, Body: http.NoBody, ContentLength: int64(len(body)), Host: host,
		RemoteAddr: from, RequestURI: r.URL.RequestURI()}
	if len(body) > 0 {
		got.Body = io.NopCloser(bytes.NewReader(body))
	}
	return got.WithContext(ctx)
}

// pass lets the time of a message's travel pass.
func pass(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// nearAnswer is what a handler writes to. Its fields up to begun are set before that is closed.
type nearAnswer struct {
	seed    uint64
	way     string
	subject uint64

	header, sent http.Header
	code         int
	whole        []byte // the body of an answer that has no line
	line         *line  // the body of an answer that is read while it is written
	cut          bool   // the connection broke before the answer began
	begun        chan struct{}

	mu   sync.Mutex
	left bool // nobody reads the answer
}

func newNearAnswer(seed uint64, way string, subject uint64) *nearAnswer {
	return &nearAnswer{seed: seed, way: way, subject: subject, header: http.Header{}, begun: make(chan struct{})}
}

// leave tells the handler's writes that nobody reads.
func (a *nearAnswer) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = true
	if a.line != nil {
		a.line.leave()
	}
}

// serve calls the handler, and ends the request's context when it returns. http.ErrAbortHandler breaks the connection, as in net/http; any
// other panic ends the program.
func (a *nearAnswer) serve(handler http.Handler, r *http.Request, end func()) {
	defer end()
	defer func() {
		broke := recover()
		if broke != nil && broke != http.ErrAbortHandler {
			panic(broke)
		}
		a.WriteHeader(http.StatusOK)
		switch {
		case a.line == nil:
			a.cut = broke != nil
			close(a.begun)
		case broke != nil:
			a.line.breakOff()
		default:
			a.line.end()
		}
	}()
	handler.ServeHTTP(a, r)
}

// Header is what the handler answers with until the first byte.
func (a *nearAnswer) Header() http.Header { return a.header }

// WriteHeader decides on the status and the header. The first call counts.
func (a *nearAnswer) WriteHeader(code int) {
	if a.code == 0 {
		a.code, a.sent = code, a.header.Clone()
	}
}

// Write adds to the body.
func (a *nearAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.line != nil {
		return a.line.write(p)
	}
	a.whole = append(a.whole, p...)
	if len(a.whole) > longAnswer {
		return len(p), a.FlushError()
	}
	return len(p), nil
}

// FlushError sends what was written so far: from now on the answer is read while it is written.
func (a *nearAnswer) FlushError() error {
	a.WriteHeader(http.StatusOK)
	if a.line != nil {
		return nil
	}
	l := newLine(a.seed, a.way)
	l.answers = &line{}
	l.answers.said.Store(a.subject)
	written := a.whole
	a.mu.Lock()
	a.line, a.whole = l, nil
	if a.left {
		l.leave()
	}
	a.mu.Unlock()
	close(a.begun)
	_, err := l.write(written)
	return err
}

// SetWriteDeadline limits how long the reader may let the handler wait.
func (a *nearAnswer) SetWriteDeadline(t time.Time) error {
	if a.line != nil {
		a.line.writing.set(a.line, t, a.line.room)
	}
	return nil
}

// nearStream is a body that is read while it is written.
type nearStream struct {
	answer       *nearAnswer
	ctx          context.Context // of the request
	end          func()
	gone, broken func() bool // no longer wait for the context, and for the end of the listener
}

func (s *nearStream) Read(p []byte) (int, error) {
	n, err := s.answer.line.read(p)
	if err != nil && s.ctx.Err() != nil {
		err = s.ctx.Err()
	}
	return n, err
}

// Close tells the handler that nobody reads any more.
func (s *nearStream) Close() error {
	s.gone()
	s.broken()
	s.end()
	s.answer.leave()
	return nil
}
