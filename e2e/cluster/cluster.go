// Package cluster runs a real Kubernetes API server, with a real etcd inside, on loopback: real validation, conflicts, RBAC and
// watches, and an audit log of what the server received. It has no nodes and no controllers: only the test or the simulator's
// controllers change anything in the cluster.
package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"lockstep/e2e/build"
	"lockstep/e2e/child"
)

const (
	// startTimeout is generous: the server is ready in 2 seconds, but a shared machine may be busy compiling.
	startTimeout = 5 * time.Minute

	// probeInterval is how often /readyz is asked while the server starts.
	probeInterval = 50 * time.Millisecond

	serverLogFile = "kube-apiserver.log"
)

// Cluster is a Kubernetes API server and its state folder.
type Cluster struct {
	dir    string
	binary string
	port   *port
	tokens map[User]string
	admin  rest.TLSClientConfig // the certificate itself: a client that has a file's name looks for it long after it is gone

	bulk  bool      // see StartBulk
	began time.Time // Requests leaves out what was received before

	mu     sync.Mutex
	server *child.Child // nil while the server does not run
	starts int
}

// Start compiles the server when needed, creates a state folder with new certificates and tokens, and runs the server until it is
// ready. The caller calls Close. After an error nothing is left.
func Start(ctx context.Context) (*Cluster, error) { return start(ctx, &Cluster{}) }

// StartBulk is Start for thousands of objects: without the audit log, without the taint that every new node gets (its removal would
// be one more request for each), and with more room for the server's garbage.
func StartBulk(ctx context.Context) (*Cluster, error) { return start(ctx, &Cluster{bulk: true}) }

func start(ctx context.Context, c *Cluster) (*Cluster, error) {
	binary, err := build.APIServer(ctx)
	if err != nil {
		return nil, err
	}
	// The test's own folder has a name too long for the path of a unix socket.
	dir, err := os.MkdirTemp("", "lockstep-e2e-")
	if err != nil {
		return nil, fmt.Errorf("make the cluster's folder: %w", err)
	}
	c.dir, c.binary = dir, binary
	if err := c.prepare(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.Restart(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// prepare writes everything that the server reads at its start.
func (c *Cluster) prepare() error {
	if err := writeCertificates(c.dir); err != nil {
		return err
	}
	tokens, err := writeTokens(c.dir)
	if err != nil {
		return fmt.Errorf("write the users' tokens: %w", err)
	}
	c.tokens = tokens
	admin := rest.Config{TLSClientConfig: rest.TLSClientConfig{CertFile: c.file(adminCertFile), KeyFile: c.file(adminKeyFile)}}
	if err := rest.LoadTLSFiles(&admin); err != nil {
		return fmt.Errorf("read the administrator's certificate: %w", err)
	}
	c.admin = admin.TLSClientConfig
	if err := os.WriteFile(c.file(auditPolicyFile), []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("write the audit policy: %w", err)
	}
	c.port, err = reservePort()
	return err
}

// Restart runs the server on the same port and the same state and waits until it is ready. A running server is killed first.
func (c *Cluster) Restart(ctx context.Context) error { return c.restart(ctx) }

// Compact restarts the server without its history: it has the present objects and no earlier versions, neither in etcd nor in its
// cache. Equip must have been called for the cluster.
func (c *Cluster) Compact(ctx context.Context) error {
	if err := c.restart(ctx, "--etcd-compact"); err != nil {
		return err
	}
	return c.awaitAllServed(ctx)
}

// restart is Restart, with flags for the etcd inside.
func (c *Cluster) restart(ctx context.Context, etcd ...string) error {
	if err := c.Kill(); err != nil {
		return err
	}
	log, err := os.OpenFile(c.file(serverLogFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close() // the child has its own copy

	flags := c.flags()
	cmd := exec.Command(c.binary, slices.Insert(flags, 1, etcd...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if c.bulk {
		cmd.Env = append(os.Environ(), "GOGC=400")
	}
	server, err := child.Start(cmd)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.server = server
	c.starts++
	c.mu.Unlock()
	if err := c.waitReady(ctx, server); err != nil {
		return fmt.Errorf("%w\nthe end of its log:\n%s", err, c.Log(4000))
	}
	return nil
}

// flags are the server's arguments.
func (c *Cluster) flags() []string {
	plugins := "ServiceAccount" // no controller creates service accounts: a pod that asks for one would be refused
	if c.bulk {
		plugins += ",TaintNodesByCondition"
	}
	flags := []string{
		"--etcd-dir=" + c.dir,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.port.number),
		"--permit-port-sharing=true", // with the socket that reserves the port
		"--cert-dir=" + c.dir,
		"--tls-cert-file=" + c.file(serverCertFile),
		"--tls-private-key-file=" + c.file(serverKeyFile),
		"--client-ca-file=" + c.file(caFile),
		"--token-auth-file=" + c.file(tokensFile),
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-signing-key-file=" + c.file(signingKeyFile),
		"--service-account-key-file=" + c.file(signingKeyFile),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",
		"--allow-privileged=true",
		"--disable-admission-plugins=" + plugins,
		"--enable-priority-and-fairness=false",
		"--shutdown-delay-duration=0s",
	}
	if c.bulk {
		return flags
	}
	return append(flags,
		"--audit-policy-file="+c.file(auditPolicyFile),
		"--audit-log-path="+c.file(auditLogFile),
		"--audit-log-format=json",
		"--audit-log-mode=blocking",
	)
}

// waitReady asks /readyz until the server reports that it is ready.
func (c *Cluster) waitReady(ctx context.Context, server *child.Child) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client, err := c.probe()
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	for {
		if ready(ctx, client, c.URL()+"/readyz") {
			return nil
		}
		select {
		case <-ticker.C:
		case <-server.Done():
			return fmt.Errorf("the kube-apiserver ended before it was ready: %s", server.State())
		case <-ctx.Done():
			return fmt.Errorf("the kube-apiserver is not ready: %w", ctx.Err())
		}
	}
}

// probe returns a client that trusts the cluster's certificate authority.
func (c *Cluster) probe() (*http.Client, error) {
	ca, err := os.ReadFile(c.file(caFile))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("no certificate in %s", c.file(caFile))
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}, nil
}

func ready(ctx context.Context, client *http.Client, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// Kill ends the server with SIGKILL, as a crash would. Its state stays. A server that does not run is not an error.
func (c *Cluster) Kill() error {
	c.mu.Lock()
	server := c.server
	c.server = nil
	c.mu.Unlock()
	if server == nil {
		return nil
	}
	return server.Kill()
}

// Close ends the server and removes its folder.
func (c *Cluster) Close() error {
	return errors.Join(c.Kill(), c.port.release(), os.RemoveAll(c.dir))
}

// URL returns the address of the server.
func (c *Cluster) URL() string {
	return "https://127.0.0.1:" + strconv.Itoa(c.port.number)
}

// Log returns at most the last n bytes of the server's own log.
func (c *Cluster) Log(n int) string {
	raw, err := os.ReadFile(c.file(serverLogFile))
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-n):])
}

// file returns the path of a file in the cluster's folder.
func (c *Cluster) file(name string) string { return filepath.Join(c.dir, name) }
