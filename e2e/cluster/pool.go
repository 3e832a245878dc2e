package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// stateSocket is where the server's process keeps its state and puts it back; see kubeapiserver.
const stateSocket = "state.sock"

// lasting are etcd's keys of what the server itself acts by: rights, definitions, and what it asks before it admits a change. It
// watches them at its own pace. A server of which they have changed is not lent again.
var lasting = []string{"/registry/clusterroles/", "/registry/clusterrolebindings/", "/registry/roles/", "/registry/rolebindings/",
	"/registry/apiextensions.k8s.io/", "/registry/apiregistration.k8s.io/", "/registry/validatingwebhookconfigurations/",
	"/registry/mutatingwebhookconfigurations/", "/registry/validatingadmissionpolicies/", "/registry/validatingadmissionpolicybindings/",
	"/registry/mutatingadmissionpolicies/", "/registry/mutatingadmissionpolicybindings/", "/registry/priorityclasses/",
	"/registry/resourcequotas/", "/registry/limitranges/"}

// Pool lends API servers of a MOSK cluster, each to one test at a time. To start and equip one takes as much processor time as a
// test that uses it, so a server that comes back is lent again, with exactly the objects that it had at first.
type Pool struct {
	mu   sync.Mutex
	free []*Cluster
}

// Take returns a server that nobody else uses: equipped, with the rights of deploy/, without any other object, and without any
// record of earlier requests. Who takes it gives it back.
func (p *Pool) Take(ctx context.Context) (*Cluster, error) {
	p.mu.Lock()
	if last := len(p.free) - 1; last >= 0 {
		c := p.free[last]
		p.free = p.free[:last]
		p.mu.Unlock()
		c.begin()
		return c, nil
	}
	p.mu.Unlock()
	c, err := Start(ctx)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.Equip(ctx), c.GrantRights(ctx)); err != nil {
		return nil, c.failed(err)
	}
	if _, err := c.state(ctx, "keep"); err != nil {
		return nil, c.failed(err)
	}
	c.begin()
	return c, nil
}

// failed ends the server, which could not be made ready.
func (c *Cluster) failed(err error) error {
	log := c.Log(4000)
	return fmt.Errorf("%w (closing it: %v)\nthe end of the kube-apiserver's log:\n%s", err, c.Close(), log)
}

// Give takes a server back, when nobody uses it any more. One that was killed, or in which something has changed by which the server
// itself acts, is closed.
func (p *Pool) Give(ctx context.Context, c *Cluster) error {
	c.mu.Lock()
	whole := c.server != nil && c.starts == 1
	c.mu.Unlock()
	if !whole {
		return c.Close()
	}
	again, err := c.putBack(ctx)
	if err != nil || !again {
		return errors.Join(err, c.Close())
	}
	p.mu.Lock()
	p.free = append(p.free, c)
	p.mu.Unlock()
	return nil
}

// Close ends the servers that are not lent.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, c := range p.free {
		errs = append(errs, c.Close())
	}
	p.free = nil
	return errors.Join(errs...)
}

// begin makes Requests leave out what was received until now.
func (c *Cluster) begin() { c.began = time.Now().Truncate(time.Microsecond) } // the records' times are that exact

// putBack makes the server's objects those that it had when it was lent. It tells whether the server can be lent again.
func (c *Cluster) putBack(ctx context.Context) (bool, error) {
	for {
		keys, err := c.state(ctx, "putback")
		if err != nil {
			return false, err
		}
		for _, prefix := range lasting {
			if slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, prefix) }) {
				return false, nil
			}
		}
		if err := c.catchUp(ctx); err != nil {
			return false, err
		}
		// The last request of a program that was killed may still have been under way.
		if len(keys) == 0 {
			return true, nil
		}
	}
}

// catchUp waits until the server's caches have what etcd has: a list without a version is answered once they do, one with an old
// version before.
func (c *Cluster) catchUp(ctx context.Context) error {
	config := c.Config(Admin)
	config.WarningHandler = rest.NoWarnings{} // of what is deprecated
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	all, err := disco.ServerPreferredResources()
	if err != nil {
		return fmt.Errorf("discover what the server has: %w", err)
	}
	var (
		lists sync.WaitGroup
		mu    sync.Mutex
		errs  []error
	)
	for _, group := range all {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return err
		}
		for _, resource := range group.APIResources {
			if !slices.Contains(resource.Verbs, "list") || !slices.Contains(resource.Verbs, "watch") {
				continue
			}
			lists.Go(func() {
				if _, err := client.Resource(version.WithResource(resource.Name)).List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs = append(errs, fmt.Errorf("list %s: %w", resource.Name, err))
				}
			})
		}
	}
	lists.Wait()
	return errors.Join(errs...)
}

// state asks the server's process to "keep" its state or to "putback" what it kept. It returns the keys that have changed.
func (c *Cluster) state(ctx context.Context, do string) ([]string, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", c.file(stateSocket))
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://state/"+do, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s the server's state: %w", do, err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s the server's state: %w", do, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s the server's state: %s", do, bytes.TrimSpace(raw))
	}
	var keys []string
	if err := json.Unmarshal(raw, &keys); err != nil {
		return nil, fmt.Errorf("%s the server's state: %w", do, err)
	}
	return keys, nil
}
