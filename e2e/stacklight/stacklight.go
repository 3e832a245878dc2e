// Package stacklight runs the real Alertmanager, as StackLight has it in a MOSK cluster: behind a Service that the API server's proxy
// reaches.
package stacklight

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"lockstep/e2e/build"
	"lockstep/e2e/child"
	"lockstep/e2e/cluster"
)

// Alertmanager is a running Alertmanager, which tells nobody of its alerts.
type Alertmanager struct {
	dir     string
	address string // host:port
	process *child.Child
}

const (
	// startTimeout is generous: it is ready in a second, but a shared machine may be busy.
	startTimeout  = 5 * time.Minute
	probeInterval = 20 * time.Millisecond
	stopPatience  = 5 * time.Second
)

// Start compiles Alertmanager when needed, and runs it on a port of the host. The caller calls Close. After an error nothing is left.
func Start(ctx context.Context, host string) (*Alertmanager, error) {
	binary, err := build.Alertmanager(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lockstep-alertmanager-")
	if err != nil {
		return nil, fmt.Errorf("make Alertmanager's folder: %w", err)
	}
	a := &Alertmanager{dir: dir}
	if err := a.run(ctx, binary, host); err != nil {
		return nil, errors.Join(fmt.Errorf("start Alertmanager: %w", err), a.Close())
	}
	return a, nil
}

func (a *Alertmanager) run(ctx context.Context, binary, host string) error {
	config := filepath.Join(a.dir, "alertmanager.yml")
	if err := os.WriteFile(config, []byte("{route: {receiver: nobody}, receivers: [{name: nobody}]}\n"), 0o600); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(a.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	// Alertmanager cannot say which port it was given: it gets one that was free just now.
	free, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return err
	}
	a.address = free.Addr().String()
	if err := free.Close(); err != nil {
		return err
	}
	cmd := exec.Command(binary, "--config.file="+config, "--storage.path="+a.dir, "--cluster.listen-address=",
		"--web.listen-address="+a.address)
	cmd.Stdout, cmd.Stderr = log, log
	if a.process, err = child.Start(cmd); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if err = call(ctx, http.MethodGet, a.URL()+"/-/ready", nil); err == nil {
			return nil
		}
		select {
		case <-time.After(probeInterval):
		case <-a.process.Done():
			raw, _ := os.ReadFile(log.Name()) // without it the message says less
			return fmt.Errorf("it has ended: %s\n%s", a.process.State(), raw)
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: %w", err)
		}
	}
}

func call(ctx context.Context, method, url string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, url, resp.Status)
	}
	return nil
}

// URL is where it serves, without a slash at the end.
func (a *Alertmanager) URL() string { return "http://" + a.address }

// Fire makes an alert fire that is told for an hour, as Prometheus would.
func (a *Alertmanager) Fire(ctx context.Context, labels map[string]string, summary string) error {
	now := time.Now().UTC()
	raw, err := json.Marshal([]any{map[string]any{"labels": labels, "annotations": map[string]string{"summary": summary},
		"startsAt": now, "endsAt": now.Add(time.Hour)}})
	if err != nil {
		return err
	}
	return call(ctx, http.MethodPost, a.URL()+"/api/v2/alerts", raw)
}

// Publish makes it StackLight's Alertmanager in a cluster that has the namespace: a Service, and the pod behind it.
func (a *Alertmanager) Publish(ctx context.Context, c *cluster.Cluster) error {
	host, port, err := net.SplitHostPort(a.address)
	if err != nil {
		return err
	}
	// The API server's proxy only reaches addresses of pods: the Endpoints name the pod, and the pod has the address.
	if err := c.Apply(ctx, fmt.Appendf(nil, `apiVersion: v1
kind: Service
metadata: {name: prometheus-alertmanager, namespace: stacklight}
spec: {ports: [{name: mesh, port: 6783}, {name: http, port: 9093}]}
---
apiVersion: v1
kind: Pod
metadata: {name: prometheus-alertmanager-0, namespace: stacklight}
spec: {containers: [{name: alertmanager, image: alertmanager}]}
---
apiVersion: v1
kind: Endpoints
metadata: {name: prometheus-alertmanager, namespace: stacklight}
subsets:
  - addresses: [{ip: %[1]s, targetRef: {kind: Pod, name: prometheus-alertmanager-0, namespace: stacklight}}]
    ports: [{name: http, port: %[2]s}]
`, host, port)); err != nil {
		return err
	}
	admin, err := kubernetes.NewForConfig(c.Config(cluster.Admin))
	if err != nil {
		return err
	}
	_, err = admin.CoreV1().Pods("stacklight").Patch(ctx, "prometheus-alertmanager-0", types.MergePatchType,
		fmt.Appendf(nil, `{"status":{"podIP":%[1]q,"podIPs":[{"ip":%[1]q}]}}`, host), metav1.PatchOptions{}, "status")
	return err
}

// Address is an address of this machine that the API server's proxy accepts: it refuses loopback.
func Address() (string, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return "", fmt.Errorf("list the addresses of this machine: %w", err)
	}
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsGlobalUnicast() {
			return n.IP.String(), nil
		}
	}
	return "", errors.New("this machine has no IPv4 address besides loopback, and the API server's proxy needs one " +
		"(ip link add dummy0 type dummy; ip addr add 192.0.2.1/24 dev dummy0; ip link set dummy0 up)")
}

// Close ends the program and removes its folder.
func (a *Alertmanager) Close() error {
	var err error
	if a.process != nil {
		err = a.process.Stop(stopPatience)
	}
	return errors.Join(err, os.RemoveAll(a.dir))
}
