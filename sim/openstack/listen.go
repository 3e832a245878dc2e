package openstack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// listen takes the address on the cloud's network.
func (c *Cloud) listen(ctx context.Context, address string) (net.Listener, error) {
	if c.opts.Network != nil {
		return c.opts.Network.Listen(address)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", address)
}

// accept serves the listener's connections; the caller holds mu.
func (c *Cloud) accept(listener net.Listener) {
	server, served, ctx := &http.Server{Handler: c.newHandler(), ReadHeaderTimeout: 10 * time.Second}, make(chan struct{}), c.listening
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	c.listener, c.server, c.served = listener, server, served
	if c.opts.Network != nil {
		c.opts.Network.Handle(listener, server.Handler)
	}
	go func() {
		defer close(served)
		_ = server.Serve(listener) // always an error; only the error of the caller's Close matters
	}()
}

// Refuse takes the cloud off the network: connections break and new ones are refused, until Refuse(false). The state is
// kept. It fails if the cloud cannot listen on the address again.
func (c *Cloud) Refuse(away bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.server == nil || c.listening.Err() != nil:
		return errors.New("openstack: refuse connections: the cloud is not running")
	case away && !c.refusing:
		c.refusing = true
		_ = c.server.Close() // nothing can be done about connections that fail to close
	case !away && c.refusing:
		listener, err := c.listen(c.listening, c.listener.Addr().String())
		if err != nil {
			return fmt.Errorf("openstack: listen again: %w", err)
		}
		c.refusing = false
		c.accept(listener)
	}
	return nil
}
