package kube

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/permittest"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// changing reads, tries and writes as one user, with the Permits of tests.
type changing[C engine.DryRunner] struct {
	t      testing.TB
	reads  C
	writer engine.ChangeWriter
}

// writer is a changing of the MOSK cluster.
type writer struct {
	*Checker
	changing[*Checker]
}

func writes(t testing.TB, client *Client) writer {
	c := NewChecker(client)
	return writer{c, changing[*Checker]{t, c, NewWriter(client)}}
}

// managementWriter is a changing of the management cluster.
type managementWriter struct {
	*ManagementChecker
	changing[*ManagementChecker]
}

func writesManagement(t testing.TB, client *Client) managementWriter {
	c := NewManagementChecker(client)
	return managementWriter{c, changing[*ManagementChecker]{t, c, NewManagementWriter(c)}}
}

// write makes a change.
func (c changing[C]) write(change core.Change) error {
	c.t.Helper()
	return c.writer.Write(context.Background(), permittest.For(c.t, change), change)
}

// do makes a change, or tries it.
func (c changing[C]) do(dryRun bool, change core.Change) error {
	c.t.Helper()
	if dryRun {
		return c.reads.DryRun(context.Background(), change)
	}
	return c.write(change)
}

// No change is sent without a Permit for it. A change of another server is not sent even with one.
func TestNothingIsWrittenWithoutAPermit(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		all := slices.Concat(engine.ChangesAt(core.ServerKubernetes), engine.ChangesAt(core.ServerManagement),
			engine.ChangesAt(core.ServerOpenStack),
			[]core.Change{nil, core.Batch{}})
		for server, make := range map[core.Server]func(*Client) (engine.ChangeWriter, engine.DryRunner){
			core.ServerKubernetes: func(c *Client) (engine.ChangeWriter, engine.DryRunner) { return NewWriter(c), NewChecker(c) },
			core.ServerManagement: func(c *Client) (engine.ChangeWriter, engine.DryRunner) {
				checker := NewManagementChecker(c)
				return NewManagementWriter(checker), checker
			},
		} {
			c := newCluster(t, kubeapi.Options{})
			w, r := make(c.client(kubeapi.Admin))
			for _, change := range all {
				used := permittest.For(t, change)
				if err := used.Use(change); err != nil {
					t.Fatal(err)
				}
				for name, p := range map[string]engine.Permit{"none": {}, "another's": permittest.For(t, core.InstanceAction{Do: core.IntentStop}),
					"used": used} {
					notSent(t, fmt.Sprintf("%s, %T, permit %s", server, change, name), w.Write(t.Context(), p, change), server)
				}
				known := slices.ContainsFunc(engine.ChangesAt(server), func(k core.Change) bool { return reflect.TypeOf(k) == reflect.TypeOf(change) })
				if known {
					continue
				}
				name := fmt.Sprintf("%s, %T", server, change)
				notSent(t, name, w.Write(t.Context(), permittest.For(t, change), change), server)
				notSent(t, name+", tried", r.DryRun(t.Context(), change), server)
			}
			if sent := c.writes(); len(sent) > 0 {
				t.Errorf("%s: %d requests were sent, the first %s %s", server, len(sent), sent[0].Verb, sent[0].Path)
			}
		}
	})
}

// A writer can do nothing but Write.
func TestAWriterOnlyWrites(t *testing.T) {
	for _, w := range []reflect.Type{reflect.TypeFor[*Writer](), reflect.TypeFor[*ManagementWriter]()} {
		if w.NumMethod() != 1 || w.Method(0).Name != "Write" {
			t.Errorf("%s has %d methods, the first %s", w, w.NumMethod(), w.Method(0).Name)
		}
	}
}

// notSent is the error of what an adapter does not send.
func notSent(t *testing.T, name string, err error, server core.Server) {
	t.Helper()
	var e *core.APIError
	if !errors.As(err, &e) || e.Kind != core.ErrInvalid || e.Server != server || e.Uncertain() ||
		!strings.Contains(e.Message, "nothing was sent") {
		t.Errorf("%s: %v", name, err)
	}
}

// Every change of these servers is known to its adapter: it reaches the server, or is refused for its content and not for its kind.
func TestTheAdaptersKnowEveryChange(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := newCluster(t, kubeapi.Options{})
		kubernetes, management := writes(t, c.client(kubeapi.Admin)), writesManagement(t, c.client(kubeapi.Admin))
		known := func(change core.Change, server core.Server, err error) {
			var e, unknown *core.APIError
			if !errors.As(engine.NoSuchChange(change, server), &unknown) {
				t.Fatal("an unknown change is no *core.APIError")
			}
			if errors.As(err, &e) && e.Message == unknown.Message {
				t.Errorf("%T: %v", change, err)
			}
		}
		for _, change := range engine.ChangesAt(core.ServerKubernetes) {
			known(change, core.ServerKubernetes, kubernetes.DryRun(t.Context(), change))
			known(change, core.ServerKubernetes, kubernetes.write(change))
		}
		for _, change := range engine.ChangesAt(core.ServerManagement) {
			known(change, core.ServerManagement, management.DryRun(t.Context(), change))
			known(change, core.ServerManagement, management.write(change))
		}
	})
}
