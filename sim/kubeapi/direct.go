package kubeapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// directTravel is how long a direct request takes on a simulated network. Its sender goes on when everybody has seen what it changed,
// so that a replay is the same.
const directTravel = 500 * time.Microsecond

// DirectConfig is RESTConfig for who fills the server: requests reach the handler without a connection. It is not for Faults, which
// break connections.
func (s *Server) DirectConfig(user string) *rest.Config {
	config := s.RESTConfig(user)
	config.TLSClientConfig = rest.TLSClientConfig{} // nothing is encrypted
	config.Transport = direct{s}
	return config
}

// direct calls a server's handler.
type direct struct{ server *Server }

// RoundTrip answers a request. A watch goes on until its body is closed or its context is done. A list is read while it is written: that
// of a large cluster is much memory (writeItems).
func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	w := &directAnswer{header: http.Header{}, started: make(chan struct{})}
	if verb := readRequest(r, r.URL.Query()).verb; verb == "watch" || verb == "list" {
		w.body, w.pipe = io.Pipe()
		go func() {
			d.server.ServeHTTP(w, r.WithContext(ctx))
			w.WriteHeader(http.StatusOK)
			w.pipe.Close()
		}()
		<-w.started
	} else {
		d.server.ServeHTTP(w, r.WithContext(ctx))
		w.WriteHeader(http.StatusOK)
	}
	if r.Body != nil {
		r.Body.Close()
	}
	if d.server.options.Network != nil {
		time.Sleep(directTravel)
	}
	response := &http.Response{Status: http.StatusText(w.code), StatusCode: w.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: -1, Request: r}
	if w.pipe != nil {
		response.Body = directStream{w.body, cancel}
		return response, nil
	}
	cancel()
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(w.whole)), int64(len(w.whole))
	return response, nil
}

// directAnswer collects an answer; a watch or a list it passes on as it comes.
type directAnswer struct {
	header, sent http.Header
	code         int
	started      chan struct{} // closed when sent and code are there
	whole        []byte

	body *io.PipeReader // of a watch or a list
	pipe *io.PipeWriter
}

func (w *directAnswer) Header() http.Header { return w.header }

func (w *directAnswer) WriteHeader(code int) {
	if w.code == 0 {
		w.code, w.sent = code, w.header.Clone()
		close(w.started)
	}
}

func (w *directAnswer) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.pipe != nil {
		return w.pipe.Write(p)
	}
	w.whole = append(w.whole, p...)
	return len(p), nil
}

// Flush does nothing: what is written has arrived.
func (w *directAnswer) Flush() {}

// directStream is the body of a watch or a list.
type directStream struct {
	*io.PipeReader
	end context.CancelFunc
}

// Close ends a watch.
func (b directStream) Close() error {
	b.end()
	return b.PipeReader.Close()
}
