package kube

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc" // kubeconfigs of MOSK's IAM may name the auth-provider oidc
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"lockstep/core"
)

// Lockstep's own rate limit for an API server: requests a second, and how many at once. All watches are opened again at once: some twenty,
// and one for each node in maintenance. What is asked for meanwhile does not wait behind them, up to some seventy nodes.
const (
	queriesPerSecond = 20
	queriesBurst     = 100
)

// Options say which cluster to talk to. The zero value means the cluster that kubectl would use without flags.
type Options struct {
	Kubeconfig string // the file of --kubeconfig; empty for $KUBECONFIG, then ~/.kube/config, then the cluster we run in
	Context    string // the context of --context; empty for the file's current context
	// Flags is what the flags that name these two begin with: "management-" for --management-context; empty for --context.
	Flags     string
	Given     *Given // a kubeconfig that is in no file, to use instead of both; nil: there is none
	UserAgent string // "lockstep/1.2.3"; empty for "lockstep"
	// Transport carries the requests to a server on a network of its own; nil for one with the kubeconfig's TLS settings. A
	// kubeconfig with such settings cannot be combined with a Transport.
	Transport http.RoundTripper
	Jitter    Jitter // nil for chance
}

// Jitter draws a duration from 0 to most for the named caller, so that many callers do not retry in step.
type Jitter func(who string, most time.Duration) time.Duration

// apart is how far apart connections on a network of its own are read.
func (o *Options) apart() func(brought uint64) time.Duration {
	if o.Transport == nil {
		return nil
	}
	return func(brought uint64) time.Duration {
		return o.Jitter("read "+strconv.FormatUint(brought, 36), readApart)
	}
}

// Load finds the cluster by kubectl's own rules and makes a Client for it. It contacts no server. Every error is a *core.APIError
// of kind core.ErrConfiguration that names the file, the context and what to do.
func Load(opts Options) (*Client, error) {
	if opts.Jitter == nil {
		opts.Jitter = func(_ string, most time.Duration) time.Duration { return rand.N(most + 1) }
	}
	c := &Client{opts: opts, secrets: new(core.Secrets)}
	config, err := c.locate()
	if err != nil {
		return nil, err
	}
	config.UserAgent, config.Transport = opts.UserAgent, opts.Transport
	s, err := newSession(config, c.secrets, opts.apart())
	if err != nil {
		return nil, c.configurationError("use "+c.origin(), err, "Mend the user or the cluster of this context.")
	}
	c.session.Store(s)
	return c, nil
}

// flag is the flag by which the operator names the file or the context.
func (c *Client) flag(name string) string { return "--" + c.opts.Flags + name }

// locate reads the kubeconfig and fills in the Client's names.
func (c *Client) locate() (*rest.Config, error) {
	if c.opts.Given != nil {
		return c.locateGiven(c.opts.Given)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.opts.Kubeconfig
	rules.WarnIfAllMissing = false
	files := strings.Join(rules.GetLoadingPrecedence(), string(os.PathListSeparator))
	if c.opts.Kubeconfig != "" {
		files = c.opts.Kubeconfig
	}
	raw, err := rules.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, c.configurationError("read kubeconfig "+files, errors.New("the file does not exist"),
			"Check "+c.flag("kubeconfig")+".")
	case err != nil:
		return nil, c.configurationError("read kubeconfig "+files, core.RedactedError(withoutQuotes(err.Error(), files), err),
			"Mend the file; `kubectl config view` reads it in the same way.")
	}
	if len(raw.Contexts) == 0 && len(raw.Clusters) == 0 {
		return c.locateInCluster(files)
	}
	c.secrets.Give(secretsOf(raw)...)
	return c.locateContext(raw, files, rules)
}

// locateInCluster uses the service account of the pod that we run in, when there is no kubeconfig.
func (c *Client) locateInCluster(files string) (*rest.Config, error) {
	if c.opts.Context == "" && c.opts.Kubeconfig == "" {
		config, err := rest.InClusterConfig()
		if err == nil {
			c.ContextName, c.ClusterName, c.Server, c.Namespace = "in-cluster", "in-cluster", config.Host, "default"
			return config, nil
		}
		if !errors.Is(err, rest.ErrNotInCluster) {
			return nil, c.configurationError("use the pod's service account", err,
				"Mount a service account token, or pass "+c.flag("kubeconfig")+" FILE.")
		}
	}
	return nil, c.configurationError("find a kubeconfig",
		fmt.Errorf("%s names no cluster (no such file, or an empty one)", files),
		"Pass "+c.flag("kubeconfig")+" FILE, or set KUBECONFIG.")
}

// locateContext takes the requested context, or the current one.
func (c *Client) locateContext(raw *clientcmdapi.Config, files string, rules *clientcmd.ClientConfigLoadingRules) (*rest.Config, error) {
	name := c.opts.Context
	if name == "" {
		name = raw.CurrentContext
	}
	known := slices.Sorted(maps.Keys(raw.Contexts))
	exist := "it has no contexts"
	if len(known) > 0 {
		exist = "its contexts are: " + strings.Join(known, ", ")
	}
	call := "read kubeconfig " + files
	if name == "" {
		return nil, c.configurationError(call, fmt.Errorf("no current context is set; %s", exist),
			"Pass "+c.flag("context")+" NAME, or set one with `kubectl config use-context NAME`.")
	}
	context, ok := raw.Contexts[name]
	if !ok {
		return nil, c.configurationError(call, fmt.Errorf("there is no context %q; %s", name, exist),
			"Pass "+c.flag("context")+" with one of these.")
	}
	if context.LocationOfOrigin != "" {
		c.File = context.LocationOfOrigin
		call = "read kubeconfig " + c.File
	}
	cluster, ok := raw.Clusters[context.Cluster]
	if !ok {
		return nil, c.configurationError(call, fmt.Errorf("context %q names the cluster %q, which is not there", name, context.Cluster),
			"Add the cluster, or pass another "+c.flag("context")+".")
	}
	if cluster.Server == "" {
		return nil, c.configurationError(call, fmt.Errorf("the cluster %q of context %q has no server", context.Cluster, name),
			"Set its server with `kubectl config set-cluster`.")
	}
	if _, ok := raw.AuthInfos[context.AuthInfo]; context.AuthInfo != "" && !ok {
		return nil, c.configurationError(call, fmt.Errorf("context %q names the user %q, which is not there", name, context.AuthInfo),
			"Add the user, or pass another "+c.flag("context")+".")
	}
	loader := clientcmd.NewNonInteractiveClientConfig(*raw, name, &clientcmd.ConfigOverrides{}, rules)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, c.configurationError(call, fmt.Errorf("context %q: %w", name, err),
			"Mend the user or the cluster of this context, or pass another "+c.flag("context")+".")
	}
	c.ContextName, c.ClusterName, c.User, c.Server = name, context.Cluster, context.AuthInfo, core.PublicURL(config.Host)
	c.Simulated, c.OwnClock = simulated(cluster)
	c.Scattered = cluster.LocationOfOrigin != context.LocationOfOrigin ||
		raw.AuthInfos[context.AuthInfo] != nil && raw.AuthInfos[context.AuthInfo].LocationOfOrigin != context.LocationOfOrigin
	c.Namespace = context.Namespace
	if c.Namespace == "" {
		c.Namespace = "default"
	}
	return config, nil
}

// origin names what a Client was made from, for messages.
func (c *Client) origin() string {
	if g := c.opts.Given; g != nil {
		return g.Origin
	}
	if c.File == "" {
		return "context " + c.ContextName
	}
	return fmt.Sprintf("context %s of %s", c.ContextName, c.File)
}

func (c *Client) configurationError(call string, err error, remedy string) *core.APIError {
	text := c.secrets.Redact(err.Error())
	return &core.APIError{
		Kind: core.ErrConfiguration, Server: core.ServerKubernetes,
		Call: call, Message: cut(text), Remedy: remedy, Err: core.RedactedError(text, err),
	}
}

// session is one login: a connection pool and what is built on it. A new login makes a new session.
type session struct {
	config  *rest.Config
	http    *http.Client
	rest    rest.Interface // the connection below dynamic: one rate limit for both
	dynamic dynamic.Interface
}

func newSession(config *rest.Config, secrets *core.Secrets, apart func(brought uint64) time.Duration) (*session, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst = queriesPerSecond, queriesBurst
	// A timeout here would end watches too: each call has its own deadline instead.
	config.Timeout = 0
	if config.UserAgent == "" {
		config.UserAgent = "lockstep"
	}
	b := newBeat()
	b.apart = apart
	if config.Transport != nil {
		config.Transport = b.transport(config.Transport)
	} else {
		config.Dial = b.dial(direct)
	}
	config.Wrap(b.listening)
	config.Wrap(impatient)
	config.Wrap(learning(secrets))
	client, err := rest.HTTPClientFor(ownProvider(config))
	if err != nil {
		return nil, fmt.Errorf("make an HTTP client: %w", err)
	}
	if plugin := pluginOf(config); plugin != "" {
		client.Transport = newYielding(client.Transport, plugin)
	}
	client.Transport = &discreet{client.Transport, secrets}
	client.CheckRedirect = core.OnlyReadsThere
	speaking := dynamic.ConfigFor(config)
	speaking.NegotiatedSerializer = once{speaking.NegotiatedSerializer}
	speaking.GroupVersion = &schema.GroupVersion{} // each request says which one
	r, err := rest.RESTClientForConfigAndClient(speaking, client)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return &session{config: config, http: client, rest: r, dynamic: dynamic.New(r)}, nil
}

// ownProvider is a configuration from which an HTTP client is made whose auth-provider has the configuration's own tokens. client-go makes
// one provider for each address, and returns it with the tokens of the first session for ever. Here it makes one for each address and
// tokens: those who have the same tokens share it, as only one may renew them. Nothing else looks at the address.
func ownProvider(config *rest.Config) *rest.Config {
	if config.AuthProvider == nil {
		return config
	}
	own := rest.CopyConfig(config)
	tokens := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(config.AuthProvider.Config)) {
		fmt.Fprintf(tokens, "%q %q ", key, config.AuthProvider.Config[key])
	}
	own.Host += fmt.Sprintf("#%x", tokens.Sum(nil))
	return own
}

// Contexts are the names of the contexts of a kubeconfig file, or of the usual files where none is named; nil where they cannot be read.
func Contexts(file string) []string {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	rules.WarnIfAllMissing = false
	raw, err := rules.Load()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}
