package kubeapi

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/sim/clock"
	"lockstep/sim/crds"
	"lockstep/sim/lan"
)

// Options configure a server. The zero value is usable.
type Options struct {
	Clock       *clock.Clock // for creation and deletion timestamps, and ages; nil: real time
	TellClock   bool         // kubeconfigs say that the cluster has a clock of its own, and ClockPath tells it; needs Clock
	CRDs        []crds.CRD   // CustomResourceDefinitions from the start; crds.All for a MOSK cluster
	Users       []User       // in addition to Admin, Operator and Readonly; a user with one of these names replaces it
	Address     string       // to listen on; empty: 127.0.0.1 and a free port
	Network     *lan.Network // to listen on, without TLS; nil: the machine's own
	ClusterName string       // of the context and cluster in kubeconfigs; empty: "sim"
	Version     string       // the server's reported version; empty: "v1.36.3"
	History     int          // the least number of events kept for watches, per resource; not positive: 4096

	// Random is an endless source of UIDs, tokens and generated names; nil means crypto/rand.
	Random io.Reader

	BookmarkInterval time.Duration // real time between bookmarks of a watch; not positive: a minute, as in kube-apiserver
	WriteTimeout     time.Duration // real time after which a watcher that does not read is cut off; not positive: 10 s

	// InstantPodDeletion removes a deleted pod at once, as if its kubelet had already stopped it. Otherwise a pod on a
	// node stays, with its deletionTimestamp, until it is deleted with a grace period of 0, as on a real server.
	InstantPodDeletion bool
	// NoManagers leaves metadata.managedFields out, and refuses server-side apply. This saves a third of the work of a
	// write and of the size of small objects, if no client needs the owners of fields.
	NoManagers bool
	// LogReads makes Requests include gets, lists and watches.
	LogReads bool
}

// Server is an API server. Its methods are safe for use by several goroutines.
type Server struct {
	options   Options
	ca        []byte
	tls       *tls.Config
	accounts  *accounts
	chance    *chance
	store     *store
	catalogue *catalogue
	faults    faults
	journal   journal
	grants    grants
	logs      logs
	expiry    expiry
	watches   watches
	proxied   proxied

	mu       sync.Mutex
	address  string // where it listens, once started
	http     *http.Server
	listener net.Listener
	closed   bool
	rest     context.CancelFunc // ends what the server does by itself, once started
	works    sync.WaitGroup
}

// New returns a server with the namespaces of an empty cluster. It does not listen yet.
func New(options Options) (*Server, error) {
	if options.Address == "" {
		options.Address = "127.0.0.1:0"
	}
	if options.ClusterName == "" {
		options.ClusterName = "sim"
	}
	if options.Version == "" {
		options.Version = "v1.36.3"
	}
	if options.History <= 0 {
		options.History = 4096
	}
	if options.BookmarkInterval <= 0 {
		options.BookmarkInterval = time.Minute
	}
	if options.WriteTimeout <= 0 {
		options.WriteTimeout = 10 * time.Second
	}
	var ca []byte
	var certificate tls.Certificate
	var err error
	if options.Network == nil {
		if ca, certificate, err = newCertificate(); err != nil {
			return nil, fmt.Errorf("kubeapi: %w", err)
		}
	}
	random := &chance{source: options.Random}
	if random.source == nil {
		random.source = rand.Reader
	}
	users, err := newAccounts(options.Users, random)
	if err != nil {
		return nil, fmt.Errorf("kubeapi: %w", err)
	}
	s := &Server{
		options: options,
		ca:      ca,
		tls: &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"},
			MinVersion: tls.VersionTLS12},
		accounts:  users,
		chance:    random,
		store:     newStore(options.History),
		catalogue: &catalogue{resources: map[schema.GroupVersionResource]*resource{}},
	}
	for _, r := range builtins() {
		r.table = s.store.addTable()
		if r.managers, err = newManagers(r); err != nil {
			return nil, fmt.Errorf("kubeapi: the managers of %s: %w", r.Resource, err)
		}
		s.catalogue.add(r)
	}
	s.catalogue.add(eventsResource(s.catalogue.find(schema.GroupVersionResource{Version: "v1", Resource: "events"})))
	s.keepEvents()
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, "kube-node-lease"} {
		if err := s.Load(namespaceObject(name)); err != nil {
			return nil, fmt.Errorf("kubeapi: %w", err)
		}
	}
	for _, crd := range options.CRDs {
		if err := s.loadDefinition(crd.YAML); err != nil {
			return nil, fmt.Errorf("kubeapi: load the definition %s: %w", crd.Name, err)
		}
	}
	return s, nil
}

// Start listens and serves until ctx is done or Close is called.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.address != "" {
		return errors.New("kubeapi: start: the server was started before")
	}
	if err := s.listen(s.options.Address); err != nil {
		return err
	}
	s.address = s.listener.Addr().String()
	context.AfterFunc(ctx, s.Close)
	works, rest := context.WithCancel(context.WithoutCancel(ctx))
	s.rest = rest
	s.works.Go(func() { s.expire(works) })
	return nil
}

// listen serves on address; the caller holds mu.
func (s *Server) listen(address string) error {
	listen := func(address string) (net.Listener, error) { return net.Listen("tcp", address) }
	if s.options.Network != nil {
		listen = s.options.Network.Listen
	}
	listener, err := listen(address)
	if err != nil {
		return fmt.Errorf("kubeapi: listen: %w", err)
	}
	server := &http.Server{
		Handler:           s,
		TLSConfig:         s.tls.Clone(),
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       90 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0), // only clients that went away, and cut connections
	}
	s.http, s.listener = server, listener
	if s.options.Network != nil {
		s.options.Network.Handle(listener, s)
	}
	go func() {
		// It always ends with an error: the listener was closed, by Close or by Outage.
		if s.options.Network != nil {
			_ = server.Serve(listener)
		} else {
			_ = server.ServeTLS(listener, "", "")
		}
	}()
	return nil
}

// URL is the server's address, once started.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return "https://" + s.address
}

// Outage takes the server off the network: connections break and new ones are refused, until Outage(false). The state
// is kept. It fails if the server cannot listen on the address again.
func (s *Server) Outage(down bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || s.address == "":
		return errors.New("kubeapi: outage: the server is not running")
	case down && s.http != nil:
		s.stop()
	case !down && s.http == nil:
		return s.listen(s.address)
	}
	return nil
}

// stop closes the listener and every connection; the caller holds mu.
func (s *Server) stop() {
	if s.http == nil {
		return
	}
	_ = s.http.Close()     // nothing can be done about connections that fail to close
	_ = s.listener.Close() // in case Serve had not started
	s.http, s.listener = nil, nil
}

// Close ends every connection and the server. It may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.stop()
	s.faults.clear()
	if s.rest != nil {
		s.rest()
	}
	s.works.Wait()
}

// Compact drops the history: watches and chunks from an older resourceVersion get 410 Gone.
func (s *Server) Compact() { s.store.compact() }

// CutWatches ends the running watches of a resource (its plural name); "" means of all resources. Clients may watch
// again at once.
func (s *Server) CutWatches(resource string) { s.watches.cut(resource) }

// Watches counts the running watches of a resource (its plural name); "" means of all resources.
func (s *Server) Watches(resource string) int { return s.watches.count(resource) }

// SetUser adds a user, or replaces the one with that name, including its token.
func (s *Server) SetUser(user User) error {
	if err := s.accounts.set(user); err != nil {
		return fmt.Errorf("kubeapi: set a user: %w", err)
	}
	return nil
}

// SetRules replaces a user's rules, from the next request on.
func (s *Server) SetRules(user string, rules []Rule) error {
	if err := s.accounts.change(user, func(u *User) { u.Rules = rules }); err != nil {
		return fmt.Errorf("kubeapi: set rules: %w", err)
	}
	return nil
}

// ExpireToken makes the server answer 401 to the token of a user. Running watches continue, as on a real server.
func (s *Server) ExpireToken(user string) error {
	if err := s.accounts.expire(user); err != nil {
		return fmt.Errorf("kubeapi: expire a token: %w", err)
	}
	return nil
}

// RenewToken gives a user a new token; the old one is no longer valid.
func (s *Server) RenewToken(user string) (string, error) {
	token, err := s.accounts.renew(user)
	if err != nil {
		return "", fmt.Errorf("kubeapi: renew a token: %w", err)
	}
	return token, nil
}

// now is the time of the simulated cluster.
func (s *Server) now() time.Time {
	if s.options.Clock == nil {
		return s.faults.skewed(time.Now().UTC())
	}
	return s.faults.skewed(s.options.Clock.Now())
}

// timestamp is now in the precision that the API stores.
func (s *Server) timestamp() metav1.Time { return metav1.NewTime(s.now().Truncate(time.Second)) }
