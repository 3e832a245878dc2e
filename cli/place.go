package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"lockstep/core"
	"lockstep/kube"
)

// whoRuns is who runs Lockstep, for the screen, the lease and the journal. name is what they call themselves.
func whoRuns(name string) core.Operator {
	p := core.Operator{Name: name, User: os.Getenv("USER"), From: core.SSHOrigin(os.Getenv("SSH_CONNECTION"), os.Getenv("SSH_CLIENT"))}
	if u, err := user.Current(); err == nil {
		p.User = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		p.Host, _, _ = strings.Cut(host, ".")
	}
	return p
}

// named is what commands must name that are run by hand: what the flags or the configuration name, and the shell does not.
func (o *options) named() core.ClusterPlace {
	own := core.ClusterPlace{Kubeconfig: o.kubeconfig, Context: o.context}
	if o.osCloud != os.Getenv("OS_CLOUD") && !o.osFromCluster {
		own.Cloud = o.osCloud
	}
	return own
}

// stateFolder is where Lockstep keeps its journals and its log.
func stateFolder() string { return filepath.Join(xdg.StateHome, "lockstep") }

// kept is the folder of a cluster's journal and checks. What was done in a rehearsal lies apart: nothing takes it for what was done.
func (p *place) kept(simulated bool) string {
	switch {
	case p.journal != "":
		return p.journal
	case simulated:
		return filepath.Join(stateFolder(), "simulated")
	}
	return stateFolder()
}

// keptHere is that folder where no cluster is open: the kubeconfig says whether its cluster is simulated. No server is asked.
func (p *place) keptHere() string {
	if p.journal != "" {
		return p.journal
	}
	client, err := kube.Load(p.kubeOptions())
	return p.kept(err == nil && client.Simulated)
}

// journalFolder is where the journals are in the state folder.
func journalFolder(folder string) string { return filepath.Join(folder, "journal") }

// journalPath is the journal of one cluster. The API server's address is part of it: two clusters may be called alike.
func journalPath(folder, cluster, server string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(journalFolder(folder), fileName(cluster)+"-"+hex.EncodeToString(sum[:4])+".jsonl")
}

// fileName keeps the characters that are safe in a file's name.
func fileName(s string) string {
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
