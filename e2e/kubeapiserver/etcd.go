package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

const (
	// maxSocketPath is the longest path to which Linux binds a unix socket (sun_path holds 108 bytes with the final NUL).
	maxSocketPath = 107

	// etcdStartTimeout is generous: etcd alone is ready in a fraction of a second, but a shared machine may be busy compiling.
	etcdStartTimeout = 5 * time.Minute

	// walSegmentBytes replaces etcd's preallocated 64 MB per log segment: tests write little, and a small file is created faster.
	walSegmentBytes = 4 << 20
)

// startEtcd runs a single etcd member with its data in dir/data, listening on dir/etcd.sock, and returns it with the endpoint for
// --etcd-servers. It waits until etcd serves.
func startEtcd(dir string) (*embed.Etcd, string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	client, peer := filepath.Join(dir, "etcd.sock"), filepath.Join(dir, "peer.sock")
	for _, socket := range []string{client, peer} {
		if len(socket) > maxSocketPath {
			return nil, "", fmt.Errorf("the socket path %s has %d bytes, at most %d can be bound: choose a shorter folder", socket, len(socket),
				maxSocketPath)
		}
		// A process that was killed leaves its socket behind.
		if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
			return nil, "", err
		}
	}

	wal.SegmentSizeBytes = walSegmentBytes

	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "data")
	cfg.Name = "e2e"
	cfg.LogLevel = "warn"
	cfg.ListenClientUrls = []url.URL{{Scheme: "unix", Path: client}}
	cfg.ListenPeerUrls = []url.URL{{Scheme: "unix", Path: peer}}
	// Advertised URLs are validated as host:port even if nobody dials them.
	cfg.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "localhost:2379"}}
	cfg.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2380"}}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	// A single member elects itself after its election timeout, at the start. A shorter tick than this one takes a third of what a server
	// that nobody asks needs. It leaves fsync to the kernel: the page cache survives a killed process, and the tests do nothing worse to it.
	cfg.TickMs = 50
	cfg.ElectionMs = 250
	cfg.UnsafeNoFsync = true
	// NewConfig leaves this at zero, and every request would be logged as slow.
	cfg.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration

	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, "", err
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, "unix://" + client, nil
	case err := <-server.Err():
		server.Close()
		return nil, "", err
	case <-time.After(etcdStartTimeout):
		server.Close()
		return nil, "", fmt.Errorf("not ready after %s", etcdStartTimeout)
	}
}

// compact makes etcd forget every revision but the present one.
func compact(server *embed.Etcd) error {
	ctx, cancel := context.WithTimeout(context.Background(), etcdStartTimeout)
	defer cancel()
	_, err := server.Server.Compact(ctx, &etcdserverpb.CompactionRequest{Revision: server.Server.KV().Rev(), Physical: true})
	return err
}
