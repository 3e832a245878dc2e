package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"lockstep/sim/clock"
)

// hosts are the machines under the nodes, as LCM (which updates and reboots them) and the kubelet (which runs on them)
// know them. This is the only state in memory: after a restart every machine is on, with the boot ID and the kubelet
// that its Node object names, and LCM repeats the interrupted update of a node.
type hosts struct {
	clock    *clock.Clock
	machines Machines
	switched func() // signals a changed machine to all that watch the nodes

	mu  sync.Mutex
	all map[string]host
}

// host is one machine.
type host struct {
	off     bool
	since   time.Time // when it was last switched; zero: never
	boots   int
	bootID  string // empty: the Node's
	version string // of the kubelet; empty: the Node's
	next    string // version of the kubelet after its next start

	ails time.Time // until when its kubelet is not ready
	with string    // what its kubelet says about it
}

func newHosts(c *clock.Clock, machines Machines, switched func()) *hosts {
	return &hosts{clock: c, machines: machines, switched: switched, all: map[string]host{}}
}

func (h *hosts) get(name string) host {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[name]
}

func (h *hosts) edit(name string, edit func(*host)) {
	h.mu.Lock()
	host := h.all[name]
	edit(&host)
	h.all[name] = host
	h.mu.Unlock()
	h.switched()
}

// install puts a kubelet on the machine; it runs after the next start of the kubelet or of the machine.
func (h *hosts) install(name, version string) {
	h.edit(name, func(host *host) { host.next = version })
}

// restartKubelet starts the installed kubelet without a reboot.
func (h *hosts) restartKubelet(name string) {
	h.edit(name, func(host *host) { host.version = host.next })
}

// powerOff switches the machine off.
func (h *hosts) powerOff(name string) {
	h.edit(name, func(host *host) { host.off, host.since = true, h.clock.Now() })
	if h.machines != nil {
		h.machines.PowerOff(name)
	}
}

// powerOn switches the machine on with the installed kubelet and returns its new boot ID.
func (h *hosts) powerOn(name string) (bootID string) {
	h.edit(name, func(host *host) {
		host.off, host.since = false, h.clock.Now()
		host.boots++
		host.bootID = hashID(name, "boot", fmt.Sprint(host.boots), h.clock.Now().String())
		if host.next != "" {
			host.version = host.next
		}
		bootID = host.bootID
	})
	if h.machines != nil {
		h.machines.PowerOn(name)
	}
	return bootID
}

// ail keeps the machine's kubelet not ready until a moment, with the reason that it gives.
func (h *hosts) ail(name string, until time.Time, with string) {
	h.edit(name, func(host *host) { host.ails, host.with = until, with })
}

// runs tells whether a node says that it runs the kubelet that was installed last.
func (h *hosts) runs(node *corev1.Node) bool {
	next := h.get(node.Name).next
	return next == "" || node.Status.NodeInfo.KubeletVersion == next
}

// hashID derives an identifier in the form of a UUID from its parts.
func hashID(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	hexed := hex.EncodeToString(sum.Sum(nil))
	return hexed[:8] + "-" + hexed[8:12] + "-4" + hexed[13:16] + "-8" + hexed[17:20] + "-" + hexed[20:32]
}
