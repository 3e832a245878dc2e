package openstack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"lockstep/sim/clock"
	"lockstep/sim/lan"
)

// Options says how a Cloud behaves. The zero value of each field means its default.
type Options struct {
	// Clock gives the time in the cloud; by default real time.
	Clock *clock.Clock
	// Address is the TCP address to listen on; by default a free port of 127.0.0.1.
	Address string
	// Network is the network to listen on; by default the machine's.
	Network *lan.Network
	// Seed determines every identifier, duration and choice; clouds with the same seed and the same calls are
	// identical.
	Seed uint64
	// Random is an endless source of tokens; by default crypto/rand's.
	Random io.Reader
	// ComputeLog takes each line that the nova-compute of a host logs; it must not call the cloud. By default they are
	// dropped.
	ComputeLog func(host, text string)
	// MaxMicroversion is the newest compute microversion offered, "2.1" to "2.93"; by default "2.93".
	MaxMicroversion string
	// PageLimit is the most items Nova returns in one page (its option max_limit); by default 1000.
	PageLimit int
	// TokenLifetime is how long a token is valid, in real time; by default one hour.
	TokenLifetime time.Duration
	// Bandwidth is the speed of a migration, in MiB per virtual second; by default 100, with which an instance of 4 GiB
	// takes some 40 to 60 s.
	Bandwidth int
	// ServiceDownTime is the time after its last report when a compute service counts as down, in virtual time; by
	// default 60 s, as in Nova. Network agents have Neutron's 75 s.
	ServiceDownTime time.Duration
	// CPURatio, RAMRatio and DiskRatio are the allocation ratios of the scheduler; by default 4, 1 and 1.
	CPURatio, RAMRatio, DiskRatio float64
	// Region is the region of every endpoint; by default "RegionOne".
	Region string
	// NoCinder leaves Cinder out of the catalog, as in a cloud without block storage.
	NoCinder bool
}

func (o *Options) setDefaults() {
	if o.Clock == nil {
		o.Clock = clock.New(time.Now(), 1)
	}
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.PageLimit <= 0 {
		o.PageLimit = 1000
	}
	if o.TokenLifetime <= 0 {
		o.TokenLifetime = time.Hour
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Bandwidth <= 0 {
		o.Bandwidth = 100
	}
	if o.ServiceDownTime <= 0 {
		o.ServiceDownTime = time.Minute
	}
	if o.CPURatio <= 0 {
		o.CPURatio = 4
	}
	if o.RAMRatio <= 0 {
		o.RAMRatio = 1
	}
	if o.DiskRatio <= 0 {
		o.DiskRatio = 1
	}
	if o.Region == "" {
		o.Region = "RegionOne"
	}
}

// Cloud is one simulated OpenStack cloud. Its methods may be called by several goroutines, before and after Start.
type Cloud struct {
	opts    Options
	maxMV   microversion
	actions map[string]serverActionSpec

	events timeline // guarded by mu

	mu sync.Mutex // guards everything below

	projects map[string]*project // by ID
	users    map[string]*user    // by ID
	appCreds map[string]*appCredential
	tokens   map[string]*token
	revoked  map[string]bool // revoked tokens, by ID

	flavors        map[string]*flavor // by flavor ID
	flavorOrder    []*flavor
	hosts          map[string]*host // by name
	hostOrder      []*host          // in the order of their creation
	services       []*service
	agents         []*agent
	routers        []*router
	dhcp           map[string][]*agent // the DHCP agents of moved networks, by network name
	volumes        []*volume           // on hosts' own disks
	volumeServices []*volumeService
	groups         []*group

	images        []*image
	keypairs      []*keypair
	aggregates    []*aggregate
	lastAggregate int // number of the last aggregate

	servers   map[string]*server // by ID, deleted ones included
	order     []*server          // in Nova's order: newest first
	unsorted  bool               // order must be sorted before it is used
	lastSrv   int                // number of the last server
	migs      []*migration       // by ID, ascending
	migByUUID map[string]*migration
	lastReq   int
	owners    map[*project]string // that ownerOf has found; nil when users have changed since
	idCounts  map[string]int      // how often an identifier was requested, by name

	log   requestLog
	fault faultList

	server    *http.Server // nil before Start
	listener  net.Listener
	refusing  bool            // the listener is closed for a while
	listening context.Context // of all requests
	stop      context.CancelFunc
	served    chan struct{}
}

// New returns a Cloud with the project admin and its user admin, the project demo and its plain member demo, and an
// application credential of admin. An Options.MaxMicroversion other than "2.N" is an error.
func New(opts Options) (*Cloud, error) {
	opts.setDefaults()
	c := &Cloud{
		opts:      opts,
		maxMV:     newestMicroversion,
		actions:   serverActions(),
		projects:  make(map[string]*project),
		users:     make(map[string]*user),
		appCreds:  make(map[string]*appCredential),
		tokens:    make(map[string]*token),
		revoked:   make(map[string]bool),
		flavors:   make(map[string]*flavor),
		hosts:     make(map[string]*host),
		dhcp:      make(map[string][]*agent),
		servers:   make(map[string]*server),
		migByUUID: make(map[string]*migration),
		idCounts:  make(map[string]int),
	}
	if opts.MaxMicroversion != "" {
		mv, err := parseMicroversion(opts.MaxMicroversion)
		if err != nil || mv.major != 2 || mv.minor < 1 || mv.minor > newestMicroversion.minor {
			return nil, fmt.Errorf("openstack: max microversion %q: want 2.1 to %s", opts.MaxMicroversion, newestMicroversion)
		}
		c.maxMV = mv
	}
	c.seedIdentity()
	return c, nil
}

// Start listens and serves until ctx is done or Close is called. It returns once requests are accepted, or with the
// listener's error.
func (c *Cloud) Start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server != nil {
		return errors.New("openstack: already started")
	}
	ln, err := c.listen(ctx, c.opts.Address)
	if err != nil {
		return fmt.Errorf("openstack: listen on %s: %w", c.opts.Address, err)
	}
	ctx, c.stop = context.WithCancel(ctx)
	c.listening = ctx
	c.accept(ln)
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = c.server.Close()
	})
	return nil
}

// Close ends all connections and waits until all requests have ended. A Cloud that was not started closes at once.
func (c *Cloud) Close() error {
	c.mu.Lock()
	srv, stop, served := c.server, c.stop, c.served
	c.mu.Unlock()
	if srv == nil {
		return nil
	}
	stop()
	err := srv.Close()
	<-served
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("openstack: close: %w", err)
	}
	return nil
}

// URL is the root of all services, such as "http://127.0.0.1:40001"; empty before Start.
func (c *Cloud) URL() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener == nil {
		return ""
	}
	return "http://" + c.listener.Addr().String()
}

// AuthURL is Keystone's v3 endpoint, for auth_url; empty before Start.
func (c *Cloud) AuthURL() string {
	root := c.URL()
	if root == "" {
		return ""
	}
	return root + "/identity/v3"
}

// lock takes the cloud's lock, updates its state to the current virtual time, and returns that time.
func (c *Cloud) lock() time.Time {
	c.mu.Lock()
	now := c.opts.Clock.Now()
	c.events.run(now)
	return now
}
