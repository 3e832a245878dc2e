package nova

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"gopkg.in/yaml.v2" // gophercloud's own version, so that both read a scalar in the same way

	"lockstep/core"
)

// Options says which cloud to load and how to talk to it. The zero value loads what the openstack client would use.
type Options struct {
	Cloud      string            // --os-cloud; empty: OS_CLOUD, the OS_* environment, or the only cloud in clouds.yaml
	CloudsYAML []byte            // content of a clouds.yaml; no file is looked for then
	Secret     Secret            // reads the clouds.yaml of the cluster's secret; no file is looked for then
	UserAgent  string            // the program's user agent
	Transport  http.RoundTripper // nil: one with the cloud's TLS settings
	Jitter     Jitter            // nil: by chance
	Rate       float64           // reads per second at most; 0 means 10, times Speed, up to 200
	Speed      float64           // of the cloud's clock: over 1 for a simulated cloud, which must answer sooner; 0 means 1
	Log        *slog.Logger      // one debug line per request: method, path, status, duration; nil means none
}

// Jitter draws a duration from 0 to most for somebody, so that many do not try again in step.
type Jitter func(who string, most time.Duration) time.Duration

// ErrNotConfigured is the cause of Load's error when no cloud was named: OpenStack is off rather than broken.
var ErrNotConfigured = errors.New("no cloud is configured")

const (
	callLoad = "load the OpenStack credentials"

	remedyName = "name a cloud of clouds.yaml with --os-cloud or OS_CLOUD, source an openrc file, or let Lockstep read the cluster's own " +
		"secret openstack-external/openstack-identity-credentials (--os-from-cluster)"

	// environmentCloud is openstacksdk's name for the cloud that the OS_* variables describe.
	environmentCloud = "envvars"
	// secretCloud is the cloud in Rockoon's clouds.yaml that has the admin's rights.
	secretCloud = "admin"

	originSecret = "the cluster's secret"
)

// Config is a cloud's address and credentials. It prints without its secrets.
type Config struct {
	cloud     string
	origin    string
	auth      gophercloud.AuthOptions
	endpoint  gophercloud.EndpointOpts
	tls       *tls.Config
	userAgent string
	transport http.RoundTripper
	jitter    Jitter
	rate      float64
	speed     float64
	log       *slog.Logger

	unread bool // only the cloud's name is known before it is read
	// read reads the credentials as they are now; nil when they cannot change.
	read func(context.Context) (*Config, error)
}

// Secret reads the clouds.yaml of the cluster's secret. The answer is secret.
type Secret func(context.Context) ([]byte, error)

// Cloud is the cloud's name in clouds.yaml, "envvars" for the environment's.
func (c Config) Cloud() string { return c.cloud }

// Origin says where the credentials were found: a file's path, "the environment", "the cluster's secret".
func (c Config) Origin() string { return c.origin }

// AuthURL is Keystone's address, without the user and password that may be in it.
func (c Config) AuthURL() string { return core.PublicURL(c.auth.IdentityEndpoint) }

// String names the cloud, its address and the origin of its credentials.
func (c Config) String() string {
	return fmt.Sprintf("cloud %s at %s (from %s)", c.cloud, c.AuthURL(), c.origin)
}

// GoString keeps %#v from printing secrets.
func (c Config) GoString() string { return "nova.Config{" + c.String() + "}" }

// LogValue keeps slog from printing secrets.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// secrets are the values that must never leave the process except towards Keystone.
func (c Config) secrets() []string {
	return append(core.URLSecrets(c.auth.IdentityEndpoint), c.auth.Password, c.auth.ApplicationCredentialSecret, c.auth.TokenID,
		c.auth.Passcode)
}

// Load finds a cloud's credentials by the openstack client's rules: the file OS_CLIENT_CONFIG_FILE, else clouds.yaml in
// the working directory, the user's configuration folder or /etc/openstack, each with the secure.yaml beside it; the
// cloud by Options.Cloud or OS_CLOUD; without a name the plain OS_* environment, else the only cloud of the file.
//
// The cluster's secret is not read before the first login. After a refused login the credentials are read again, whatever their
// origin.
//
// Every error is a *core.APIError of kind core.ErrConfiguration; its cause is ErrNotConfigured when no cloud was named.
func Load(o Options) (*Config, error) {
	if o.Secret != nil {
		return unread(o), nil
	}
	c, err := load(o)
	if err == nil && len(o.CloudsYAML) == 0 {
		c.reads(o)
	}
	return c, err
}

// Later is the cloud of credentials that Load could not load. They are read before the first login, and again before each until that works:
// a file that is corrected meanwhile is taken up.
func Later(o Options) *Config {
	c := &Config{cloud: cmp.Or(o.Cloud, os.Getenv("OS_CLOUD"), "the cloud"), origin: "clouds.yaml", unread: true}
	c.reads(o)
	c.take(o)
	return c
}

// reads has the credentials read again from where they were found.
func (c *Config) reads(o Options) {
	c.read = func(context.Context) (*Config, error) {
		again, err := load(o)
		if err == nil {
			again.read = c.read
		}
		return again, err
	}
}

// unread is the cloud of the cluster's secret before it is read.
func unread(o Options) *Config {
	read := func(ctx context.Context) (*Config, error) {
		content, err := o.Secret(ctx)
		if err != nil {
			return nil, err
		}
		now := o
		now.CloudsYAML = content
		return load(now)
	}
	c := &Config{cloud: cmp.Or(o.Cloud, secretCloud), origin: originSecret, unread: true}
	c.read = func(ctx context.Context) (*Config, error) {
		again, err := read(ctx)
		if err == nil {
			again.read = c.read
		}
		return again, err
	}
	c.take(o)
	return c
}

// take takes over the options that do not depend on credentials.
func (c *Config) take(o Options) {
	c.userAgent, c.transport, c.jitter, c.rate, c.speed, c.log = o.UserAgent, o.Transport, o.Jitter, o.Rate, o.Speed, o.Log
}

func load(o Options) (*Config, error) {
	var c *Config
	var err error
	name := cmp.Or(o.Cloud, os.Getenv("OS_CLOUD"))
	switch {
	case len(o.CloudsYAML) > 0:
		c, err = fromSecret(o)
	case name == "" && os.Getenv("OS_AUTH_URL") != "":
		c, err = fromEnvironment()
	default:
		c, err = fromFiles(name)
	}
	if err != nil {
		return nil, err
	}
	if c.auth.IdentityEndpoint == "" {
		return nil, misconfigured(fmt.Sprintf("cloud %q in %s has no auth_url", c.cloud, c.origin), "add auth.auth_url to it")
	}
	completeAuth(&c.auth)
	c.take(o)
	return c, nil
}

// Unavailable is what the engine is told when Load failed: every OpenStack source is off when nothing is configured, and failed
// when the configuration is broken.
func Unavailable(err error, deltas func(core.Delta)) {
	var api *core.APIError
	if !errors.As(err, &api) {
		api = misconfigured(err.Error(), remedyName)
	}
	state := core.SourceFailed
	if errors.Is(err, ErrNotConfigured) {
		state = core.SourceOff
	}
	now := wallClock()
	for _, id := range sources {
		deltas(core.Delta{Source: id, At: now, State: state, Err: api})
	}
}

// sources are the streams of facts that a Poller feeds.
var sources = []core.SourceID{
	core.SourceComputeServices, core.SourceInstances, core.SourceMigrations, core.SourceNetworkAgents, core.SourceProjects,
	core.SourceVolumeServices, core.SourceVolumes,
}

func misconfigured(message, remedy string) *core.APIError {
	return &core.APIError{Kind: core.ErrConfiguration, Server: core.ServerOpenStack, Call: callLoad, Message: message, Remedy: remedy}
}

func notConfigured(message string) *core.APIError {
	e := misconfigured(message, remedyName)
	e.Err = ErrNotConfigured
	return e
}

// fromSecret parses the clouds.yaml of the cluster's secret. OS_CLOUD and its like may well be meant for another cloud, so only an
// explicit Options.Cloud has to exist in it.
func fromSecret(o Options) (*Config, error) {
	const origin = originSecret
	all, err := parseClouds(o.CloudsYAML, origin)
	if err != nil {
		return nil, err
	}
	name := o.Cloud
	if name == "" {
		if env := os.Getenv("OS_CLOUD"); hasCloud(all, env) {
			name = env
		} else if hasCloud(all, secretCloud) {
			name = secretCloud
		} else if only := onlyCloud(all); only != "" {
			name = only
		} else {
			return nil, notConfigured(fmt.Sprintf("%s has the clouds %s, and none was named", origin, cloudNames(all)))
		}
	}
	c, err := parseCloud(all, nil, name, origin, clouds.WithRegion(""), clouds.WithEndpointType(""))
	if err != nil {
		return nil, err
	}
	c.secretsAsWritten(o.CloudsYAML)
	return c, nil
}

func fromFiles(name string) (*Config, error) {
	path, content, err := findClouds()
	if err != nil {
		return nil, err
	}
	if path == "" {
		if name == "" && os.Getenv("OS_CLIENT_CONFIG_FILE") == "" {
			return nil, notConfigured("there is no clouds.yaml, and neither OS_CLOUD nor OS_AUTH_URL is set")
		}
		return nil, misconfigured(fmt.Sprintf("there is no clouds.yaml; looked for %s", strings.Join(locations(), ", ")),
			"put clouds.yaml into one of these places, or set OS_CLIENT_CONFIG_FILE to its path")
	}
	all, err := parseClouds(content, path)
	if err != nil {
		return nil, err
	}
	if name == "" {
		if name = onlyCloud(all); name == "" {
			return nil, notConfigured(fmt.Sprintf("%s has the clouds %s, and none was named", path, cloudNames(all)))
		}
	}
	var secure *clouds.Clouds
	securePath := filepath.Join(filepath.Dir(path), "secure.yaml")
	secureContent, err := os.ReadFile(securePath)
	if err == nil {
		if secure, err = parseClouds(secureContent, securePath); err != nil {
			return nil, err
		}
	}
	c, err := parseCloud(all, secure, name, path)
	if err != nil {
		return nil, err
	}
	c.secretsAsWritten(secureContent, content)
	return c, nil
}

// locations are the files that the openstack client would read, first to last.
func locations() []string {
	if path := os.Getenv("OS_CLIENT_CONFIG_FILE"); path != "" {
		return []string{path}
	}
	var dirs []string
	if cwd, err := os.Getwd(); err == nil {
		dirs = append(dirs, cwd)
	}
	if xdg := os.Getenv("XDG_CONFIG_HOME"); xdg != "" {
		dirs = append(dirs, filepath.Join(xdg, "openstack"))
	} else if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, filepath.Join(home, ".config", "openstack"))
	}
	dirs = append(dirs, "/etc/openstack")
	var files []string
	for _, dir := range dirs {
		for _, base := range []string{"clouds.yaml", "clouds.yml"} {
			files = append(files, filepath.Join(dir, base))
		}
	}
	return files
}

func findClouds() (path string, content []byte, err error) {
	for _, path := range locations() {
		content, err := os.ReadFile(path)
		switch {
		case err == nil:
			return path, content, nil
		case !errors.Is(err, os.ErrNotExist):
			return "", nil, misconfigured(fmt.Sprintf("read %s: %v", path, err), "make the file readable for you")
		}
	}
	return "", nil, nil
}

func parseClouds(content []byte, origin string) (*clouds.Clouds, error) {
	var all clouds.Clouds
	if err := yaml.Unmarshal(content, &all); err != nil {
		return nil, misconfigured(fmt.Sprintf("%s is not a valid clouds.yaml%s", origin, wrongIn(err)), "correct the file")
	}
	for name, cloud := range all.Clouds {
		if cloud.AuthInfo == nil {
			cloud.AuthInfo = &clouds.AuthInfo{} // gophercloud's parser expects it
			all.Clouds[name] = cloud
		}
	}
	return &all, nil
}

// lineOf is " (line 12)" when a YAML parser's error names a line.
func lineOf(err error) string {
	_, rest, ok := strings.Cut(err.Error(), "line ")
	if !ok {
		return ""
	}
	digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(rest)
	}
	if digits == 0 {
		return ""
	}
	return " (line " + rest[:digits] + ")"
}

func hasCloud(all *clouds.Clouds, name string) bool {
	_, ok := all.Clouds[name]
	return name != "" && ok
}

func onlyCloud(all *clouds.Clouds) string {
	if len(all.Clouds) == 1 {
		for name := range all.Clouds {
			return name
		}
	}
	return ""
}

func cloudNames(all *clouds.Clouds) string {
	names := slices.Sorted(maps.Keys(all.Clouds))
	if len(names) == 0 {
		return "(none)"
	}
	return strings.Join(names, ", ")
}

// parseCloud lets gophercloud merge and interpret one cloud.
func parseCloud(all, secure *clouds.Clouds, name, origin string, more ...clouds.ParseOption) (*Config, error) {
	if !hasCloud(all, name) {
		return nil, misconfigured(fmt.Sprintf("%s has no cloud %q; it has %s", origin, name, cloudNames(all)),
			"name one of these with --os-cloud or OS_CLOUD")
	}
	content, err := yaml.Marshal(all)
	if err != nil {
		return nil, misconfigured(fmt.Sprintf("cloud %q in %s cannot be read", name, origin), "correct the file")
	}
	opts := []clouds.ParseOption{clouds.WithCloudName(name), clouds.WithCloudsYAML(bytes.NewReader(content))}
	if secure != nil {
		content, err := yaml.Marshal(secure)
		if err != nil {
			return nil, misconfigured("secure.yaml beside "+origin+" cannot be read", "correct the file")
		}
		opts = append(opts, clouds.WithSecureYAML(bytes.NewReader(content)))
	}
	auth, endpoint, tlsConfig, err := clouds.Parse(append(opts, more...)...)
	if err != nil {
		return nil, misconfigured(core.Redact(fmt.Sprintf("cloud %q in %s: %v", name, origin, err), secretsOf(name, all, secure)...),
			"correct the file")
	}
	return &Config{cloud: name, origin: origin, auth: auth, endpoint: endpoint, tls: tlsConfig}, nil
}

// secretsOf are the secrets of a cloud in files, also when these do not make a valid Config.
func secretsOf(name string, files ...*clouds.Clouds) []string {
	var secrets []string
	for _, f := range files {
		if f == nil || f.Clouds[name].AuthInfo == nil {
			continue
		}
		a := f.Clouds[name].AuthInfo
		secrets = append(secrets, a.Password, a.ApplicationCredentialSecret, a.Token)
		secrets = append(secrets, core.URLSecrets(a.AuthURL)...)
		if key := f.Clouds[name].ClientKeyFile; strings.Contains(key, "\n") {
			secrets = append(secrets, key) // the key itself instead of its path
		}
	}
	return secrets
}

// fromEnvironment reads the OS_* variables of an openrc file as a clouds.yaml of one cloud, so that both have the same meaning:
// separate user and project domains, certificates, scopes.
func fromEnvironment() (*Config, error) {
	env := os.Getenv
	auth := &clouds.AuthInfo{
		AuthURL:                     env("OS_AUTH_URL"),
		Token:                       env("OS_TOKEN"),
		Username:                    env("OS_USERNAME"),
		UserID:                      cmp.Or(env("OS_USER_ID"), env("OS_USERID")),
		Password:                    env("OS_PASSWORD"),
		ApplicationCredentialID:     env("OS_APPLICATION_CREDENTIAL_ID"),
		ApplicationCredentialName:   env("OS_APPLICATION_CREDENTIAL_NAME"),
		ApplicationCredentialSecret: env("OS_APPLICATION_CREDENTIAL_SECRET"),
		SystemScope:                 env("OS_SYSTEM_SCOPE"),
		ProjectName:                 cmp.Or(env("OS_PROJECT_NAME"), env("OS_TENANT_NAME")),
		ProjectID:                   cmp.Or(env("OS_PROJECT_ID"), env("OS_TENANT_ID")),
		UserDomainName:              env("OS_USER_DOMAIN_NAME"),
		UserDomainID:                env("OS_USER_DOMAIN_ID"),
		ProjectDomainName:           env("OS_PROJECT_DOMAIN_NAME"),
		ProjectDomainID:             env("OS_PROJECT_DOMAIN_ID"),
		DomainName:                  env("OS_DOMAIN_NAME"),
		DomainID:                    env("OS_DOMAIN_ID"),
		TrustID:                     env("OS_TRUST_ID"),
	}
	all := &clouds.Clouds{Clouds: map[string]clouds.Cloud{environmentCloud: {
		AuthInfo: auth, RegionName: env("OS_REGION_NAME"), Interface: cmp.Or(env("OS_INTERFACE"), env("OS_ENDPOINT_TYPE")),
		CACertFile: env("OS_CACERT"), ClientCertFile: env("OS_CERT"), ClientKeyFile: env("OS_KEY"),
	}}}
	return parseCloud(all, nil, environmentCloud, "the environment")
}

// completeAuth fills in what the openstack client assumes and gophercloud does not.
func completeAuth(auth *gophercloud.AuthOptions) {
	const defaultDomain = "default"
	if auth.Username != "" && auth.UserID == "" && auth.DomainID == "" && auth.DomainName == "" {
		auth.DomainID = defaultDomain
	}
	if s := auth.Scope; s != nil && s.ProjectName != "" && s.DomainID == "" && s.DomainName == "" {
		s.DomainID, s.DomainName = auth.DomainID, auth.DomainName
	}
	// clouds.Parse does not copy allow_reauth; without it the session would end with its first token. A ready-made token
	// cannot be renewed.
	auth.AllowReauth = auth.TokenID == ""
}

// CloudNames are the names of the clouds in clouds.yaml; nil where it cannot be read.
func CloudNames() []string {
	path, content, err := findClouds()
	if err != nil || path == "" {
		return nil
	}
	all, err := parseClouds(content, path)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all.Clouds))
}
