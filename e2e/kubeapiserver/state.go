package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
)

// stateSocket is where the state of the cluster is kept and put back, in etcd's folder. Only its owner may connect.
const stateSocket = "state.sock"

// own are the keys that the API server writes by itself at any time: its lease, and what it knows of its place.
var own = []string{"/registry/leases/kube-system/", "/registry/masterleases/", "/registry/health"}

// state is everything that etcd held at a moment.
type state struct {
	etcd *embed.Etcd

	mu   sync.Mutex
	kept map[string]*entry // by key
}

type entry struct {
	value    []byte
	revision int64 // of its last change
}

// serveState answers POST /keep, after which etcd's present content is remembered, and POST /putback, which makes it that content
// again, whatever the API server's rules are for deleting an object, and returns the keys that it has changed or removed.
func serveState(etcd *embed.Etcd, dir string) error {
	path := filepath.Join(dir, stateSocket)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, listener.Close())
	}
	s := &state{etcd: etcd}
	mux := http.NewServeMux()
	answer := func(do func(context.Context) ([]string, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			keys, err := do(r.Context())
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			json.NewEncoder(w).Encode(keys) // who asked may have gone
		}
	}
	mux.HandleFunc("POST /keep", answer(s.keep))
	mux.HandleFunc("POST /putback", answer(s.putBack))
	go http.Serve(listener, mux)
	return nil
}

// read returns everything that etcd holds, without what is the API server's own.
func (s *state) read(ctx context.Context) (map[string]*entry, error) {
	// From "/" to the key after all that begin with it.
	all, err := s.etcd.Server.Range(ctx, &etcdserverpb.RangeRequest{Key: []byte("/"), RangeEnd: []byte("0")})
	if err != nil {
		return nil, err
	}
	found := make(map[string]*entry, len(all.Kvs))
next:
	for _, kv := range all.Kvs {
		for _, prefix := range own {
			if strings.HasPrefix(string(kv.Key), prefix) {
				continue next
			}
		}
		found[string(kv.Key)] = &entry{value: kv.Value, revision: kv.ModRevision}
	}
	return found, nil
}

func (s *state) keep(ctx context.Context) ([]string, error) {
	all, err := s.read(ctx)
	s.kept = all
	return nil, err
}

func (s *state) putBack(ctx context.Context) ([]string, error) {
	if s.kept == nil {
		return nil, errors.New("nothing was kept")
	}
	now, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	var keys []string
	for key := range now {
		if s.kept[key] != nil {
			continue
		}
		keys = append(keys, key)
		if _, err := s.etcd.Server.DeleteRange(ctx, &etcdserverpb.DeleteRangeRequest{Key: []byte(key)}); err != nil {
			return nil, fmt.Errorf("remove %s: %w", key, err)
		}
	}
	for key, was := range s.kept {
		is := now[key]
		if is != nil && is.revision == was.revision {
			continue
		}
		if is == nil || !bytes.Equal(is.value, was.value) {
			keys = append(keys, key)
			if _, err := s.etcd.Server.Put(ctx, &etcdserverpb.PutRequest{Key: []byte(key), Value: was.value}); err != nil {
				return nil, fmt.Errorf("put %s back: %w", key, err)
			}
		}
	}
	return keys, nil
}
