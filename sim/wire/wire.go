// Package wire spoils HTTP answers on their way to the client, as failing networks, proxies and servers do: answers
// break off, end early, arrive slowly, are not JSON, or carry the time of another clock.
package wire

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"
)

// Body is what happens to the body of an answer.
type Body int

// What can happen to a body.
const (
	Whole   Body = iota
	Broken       // Content-Length promises the whole body, and the connection breaks in the middle
	Short        // half of it arrives, with a matching Content-Length
	Garbled      // all of it arrives, but it is not JSON
	Slow         // it arrives some bytes at a time
)

// DefaultRate is the default rate of a slow body, in bytes per second.
const DefaultRate = 256

// Damage is what happens to an answer. The zero value does nothing.
type Damage struct {
	Body Body
	Rate int           // of a slow body, in bytes per second; not positive: DefaultRate
	Skew time.Duration // how far the header Date is ahead of the time
}

// Spoil returns w with the damage applied to everything written to it. A slow body is sent at once when over is closed,
// and dropped when ctx, the request's context, is done.
func (d Damage) Spoil(ctx context.Context, w http.ResponseWriter, over <-chan struct{}) http.ResponseWriter {
	if d == (Damage{}) {
		return w
	}
	if d.Rate <= 0 {
		d.Rate = DefaultRate
	}
	return &spoiled{ResponseWriter: w, damage: d, ctx: ctx, over: over}
}

// spoiled holds the header back until the first part of the body is known: its length must match the damage.
type spoiled struct {
	http.ResponseWriter
	damage Damage
	ctx    context.Context // of the request
	over   <-chan struct{}
	status int
	begun  bool // the header is written
	ended  bool // the rest of the body is dropped
}

// Unwrap lets http.ResponseController reach the connection.
func (s *spoiled) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *spoiled) WriteHeader(status int) {
	if s.status == 0 {
		s.status = status
	}
}

func (s *spoiled) begin() {
	if s.begun {
		return
	}
	s.begun = true
	if s.damage.Skew != 0 {
		s.Header().Set("Date", time.Now().Add(s.damage.Skew).UTC().Format(http.TimeFormat))
	}
	if s.status != 0 {
		s.ResponseWriter.WriteHeader(s.status)
	}
}

// FlushError lets http.ResponseController flush.
func (s *spoiled) FlushError() error {
	s.begin()
	return http.NewResponseController(s.ResponseWriter).Flush()
}

func (s *spoiled) Write(p []byte) (int, error) {
	if s.ended {
		return len(p), nil
	}
	if len(p) == 0 {
		s.begin()
		return s.ResponseWriter.Write(p)
	}
	half := p[:(len(p)+1)/2]
	switch s.damage.Body {
	case Broken:
		if !s.begun {
			s.Header().Set("Content-Length", strconv.Itoa(len(p)))
		}
		s.begin()
		_, _ = s.ResponseWriter.Write(half)
		_ = s.FlushError()
		panic(http.ErrAbortHandler) // makes net/http break the connection
	case Short:
		if !s.begun {
			s.Header().Set("Content-Length", strconv.Itoa(len(half)))
		}
		s.begin()
		s.ended = true
		if _, err := s.ResponseWriter.Write(half); err != nil {
			return 0, err
		}
		return len(p), nil
	case Garbled:
		s.begin()
		return s.ResponseWriter.Write(bytes.ReplaceAll(p, []byte(`"`), []byte(`'`)))
	case Slow:
		s.begin()
		return s.trickle(p)
	}
	s.begin()
	return s.ResponseWriter.Write(p)
}

// trickle writes p in ten parts a second.
func (s *spoiled) trickle(p []byte) (int, error) {
	part := max(s.damage.Rate/10, 1)
	tick := time.NewTicker(time.Second / 10)
	defer tick.Stop()
	written := 0
	for written < len(p) {
		select {
		case <-s.over:
			n, err := s.ResponseWriter.Write(p[written:])
			return written + n, err
		case <-s.ctx.Done():
			return written, s.ctx.Err()
		case <-tick.C:
		}
		n, err := s.ResponseWriter.Write(p[written:min(written+part, len(p))])
		written += n
		if err == nil {
			err = s.FlushError()
		}
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Page answers with an HTML page, as a proxy does in place of its server: the login page of a proxy for 200, an error
// page for anything else.
func Page(w http.ResponseWriter, status int) {
	title, text := strconv.Itoa(status)+" "+phrase(status), "<hr><center>nginx</center>\r\n"
	if status == http.StatusOK {
		title, text = "Sign in", "<form method=\"post\" action=\"/login\"><input name=\"user\"><input type=\"submit\"></form>\r\n"
	}
	page := "<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title + "</h1></center>\r\n" + text +
		"</body>\r\n</html>\r\n"
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page)) // it does not matter if the client is gone
}

// phrase is nginx's name of a status.
func phrase(status int) string {
	switch status {
	case http.StatusServiceUnavailable:
		return "Service Temporarily Unavailable"
	case http.StatusGatewayTimeout:
		return "Gateway Time-out"
	}
	return http.StatusText(status)
}
