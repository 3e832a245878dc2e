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

// hosts are the machines under the nodes as LCM (which updates and reboots them) and the kubelet (which runs on them) know them.
// This is the only state in memory: after a restart every machine is on, with the boot and the kubelet that its Node object names,
// and LCM does the interrupted update of a node again.
type hosts struct {
	clock    *clock.Clock
	machines Machines
	switched func() // signals a changed machine to those that watch the nodes

	mu  sync.Mutex
	all map[string]host
}

// host is one machine.
type host struct {
	off     bool
	since   time.Time // when it was last switched; zero: never
	boots   int
	bootID  string // empty: as the Node says
	version string // of the kubelet; empty: as the Node says
	next    string // version of the kubelet after its next start

	ails time.Time // until when its kubelet is not ready
	with string    // what its kubelet says of that
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

// install puts a kubelet on the machine that runs after the next start of the kubelet or of the machine.
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

// powerOn switches the machine on; it comes up with a new boot ID, which is returned, and the installed kubelet.
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

// ail keeps the machine's kubelet from being ready until a moment, with what it says of that.
func (h *hosts) ail(name string, until time.Time, with string) {
	h.edit(name, func(host *host) { host.ails, host.with = until, with })
}

// runs tells whether a node says that it runs the kubelet that was installed last.
func (h *hosts) runs(node *corev1.Node) bool {
	next := h.get(node.Name).next
	return next == "" || node.Status.NodeInfo.KubeletVersion == next
}

// hashID is an identifier in the form of a UUID that follows from its parts.
func hashID(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	hexed := hex.EncodeToString(sum.Sum(nil))
	return hexed[:8] + "-" + hexed[8:12] + "-4" + hexed[13:16] + "-8" + hexed[17:20] + "-" + hexed[20:32]
}
