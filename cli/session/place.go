package session

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"k8s.io/apimachinery/pkg/labels"

	"lockstep/core"
	"lockstep/kube"
)

// Place is what a session runs on: the operator's own cluster, or a simulated one.
type Place struct {
	Name          string // the cluster's name; empty: the one in the kubeconfig
	Kubeconfig    string // file; empty: $KUBECONFIG, then ~/.kube/config
	Context       string // of the kubeconfig; empty: its current one
	OSCloud       string // name of the cloud in clouds.yaml; empty: $OS_CLOUD, then the OS_* environment
	OSFromCluster bool   // clouds.yaml is read from a Secret of the cluster
	NoCloud       string // why no cloud of OpenStack is looked for; empty: one is
	Management    Management
	Alertmanager  core.AlertmanagerPlace // without a Service it is not asked
	Given         *kube.Given            // the cluster's login where it is in no file; nil: the kubeconfig has it
	CloudsYAML    []byte                 // the content of the clouds.yaml to use; nil: it is looked for as the openstack client does
	Line          Line                   // to the servers; zero: the usual way
	Own           core.ClusterPlace      // what commands must name that are run by hand; empty: the shell reaches the cluster by itself

	Version        string                     // of the program
	Operator       string                     // what the operator calls themselves; may be empty
	ReadOnly       bool                       // writing cannot be armed
	LeaseNamespace string                     // of the operator Lease
	Settings       core.Settings              // core.DefaultSettings at least: zero limits no number of nodes
	Selectors      map[string]labels.Selector // of the nodes of the controllers that are played, by the controller's name
	Events         bool                       // Events are made of what is done

	Journal      string // folder; empty: the state folder
	OneLook      bool   // the journal is read, and not written
	AboutJournal bool   // it is about the cluster's journal: without the cluster, or the journal, there is nothing to do
	RecordPath   string // file or folder of the recording; empty: none
	MustRecord   bool   // the session does not begin without its recording

	LoginFor time.Duration // how long a credential plugin may take that may ask a person; 0 means three minutes
	Unasked  bool          // nobody is asked anything: a credential plugin that may ask a person is not run
	Stderr   io.Writer     // for messages before the screen opens; nil: none

	Clock     func() time.Time // nil: the wall clock
	Pace      float64          // how much faster than real time the cluster's clock runs; 0 means 1
	InProcess bool             // the cloud runs in this process
	Begin     func()           // called once when the first lists are in; nil: nothing waits for them
}

// WhoRuns is who runs Lockstep, for the screen, the lease and the journal. name is what they call themselves.
func WhoRuns(name string) core.Operator {
	p := core.Operator{Name: name, User: os.Getenv("USER"), From: core.SSHOrigin(os.Getenv("SSH_CONNECTION"), os.Getenv("SSH_CLIENT"))}
	if u, err := user.Current(); err == nil {
		p.User = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		p.Host, _, _ = strings.Cut(host, ".")
	}
	return p
}

// ForCommands is what commands must name that are run by hand: what the flags or the configuration name, and the shell does not.
func (p *Place) ForCommands() core.ClusterPlace {
	own := core.ClusterPlace{Kubeconfig: p.Kubeconfig, Context: p.Context}
	if p.OSCloud != os.Getenv("OS_CLOUD") && !p.OSFromCluster {
		own.Cloud = p.OSCloud
	}
	return own
}

// stateFolder is where Lockstep keeps its journals and its log.
func stateFolder() string { return filepath.Join(xdg.StateHome, "lockstep") }

// StateFolderOf is the folder of a cluster's journal and checks. What was done in a rehearsal lies apart: nothing takes it for
// what was done.
func (p *Place) StateFolderOf(simulated bool) string {
	switch {
	case p.Journal != "":
		return p.Journal
	case simulated:
		return filepath.Join(stateFolder(), "simulated")
	}
	return stateFolder()
}

// StateFolder is StateFolderOf where no cluster is open: the kubeconfig says whether its cluster is simulated. No server is asked.
func (p *Place) StateFolder() string {
	if p.Journal != "" {
		return p.Journal
	}
	client, err := kube.Load(p.KubeOptions())
	return p.StateFolderOf(err == nil && client.Simulated)
}

// JournalFolder is where the journals are in the state folder.
func JournalFolder(folder string) string { return filepath.Join(folder, "journal") }

// JournalPath is the journal of one cluster. The API server's address is part of it: two clusters may be called alike.
func JournalPath(folder, cluster, server string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(JournalFolder(folder), FileName(cluster)+"-"+hex.EncodeToString(sum[:4])+".jsonl")
}

// FileName keeps the characters that are safe in a file's name.
func FileName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, s)
	s = strings.TrimLeft(s, ".")
	if len(s) > 80 {
		s = s[:80]
	}
	if s == "" {
		s = "cluster"
	}
	return s
}

// discreet removes secrets from what is written. A log line is one write.
type discreet struct{ w io.Writer }

// Write implements io.Writer.
func (d discreet) Write(line []byte) (int, error) {
	if _, err := io.WriteString(d.w, core.Redact(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
