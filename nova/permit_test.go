package nova

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
)

// writer reads and writes with the Permits of tests.
type writer struct {
	*Checker
	t      testing.TB
	writer *Writer
}

func writes(t testing.TB, c *Client, wrote func()) writer {
	return writer{NewChecker(c), t, NewWriter(c, wrote)}
}

// write makes a change.
func (w writer) write(change core.Change) error {
	w.t.Helper()
	return w.writer.Write(context.Background(), permittest.For(w.t, change), change)
}

// doing is an action on an instance.
func doing(what core.IntentKind, instance string) core.InstanceAction {
	return onMigration(what, instance, 0)
}

// onMigration is an action on a migration of an instance.
func onMigration(what core.IntentKind, instance string, migration int) core.InstanceAction {
	return core.InstanceAction{Do: what, Instance: core.Ref{Kind: core.KindInstance, UID: instance}, MigrationID: migration}
}

// tagging replaces all tags of an instance.
func tagging(instance string, all ...string) core.SetMaintenanceTags {
	return core.SetMaintenanceTags{Instance: core.Ref{Kind: core.KindInstance, UID: instance}, All: append([]string{}, all...)}
}

// No change is sent without a Permit for it. A change that is not OpenStack's is not sent even with one.
func TestNothingIsWrittenWithoutAPermit(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.cinder = "volumev3"
		w := NewWriter(f.client(), func() { t.Error("the poller was nudged") })
		for _, tt := range novaWrites {
			used := permittest.For(t, tt.change)
			if err := used.Use(tt.change); err != nil {
				t.Fatal(err)
			}
			for name, p := range map[string]engine.Permit{"none": {}, "another's": permittest.For(t, core.Batch{}), "used": used} {
				notSent(t, fmt.Sprintf("%+v, permit %s", tt.change, name), w.Write(t.Context(), p, tt.change))
			}
		}
		unknown := slices.Concat(engine.ChangesAt(core.ServerKubernetes), engine.ChangesAt(core.ServerManagement),
			[]core.Change{nil, core.Batch{},
				doing(core.IntentDeclareSafe, "a"), core.SetMaintenanceTags{Instance: core.Ref{UID: "a"}}})
		for _, change := range unknown {
			notSent(t, fmt.Sprintf("%T", change), w.Write(t.Context(), permittest.For(t, change), change))
		}
		for _, verb := range []string{"POST /compute", "PUT ", "DELETE "} {
			if sent := f.seen(verb); len(sent) > 0 {
				t.Errorf("sent was %+v", sent)
			}
		}
	})
}

// A writer can do nothing but Write.
func TestAWriterOnlyWrites(t *testing.T) {
	if w := reflect.TypeFor[*Writer](); w.NumMethod() != 1 || w.Method(0).Name != "Write" {
		t.Errorf("%s has %d methods, the first %s", w, w.NumMethod(), w.Method(0).Name)
	}
}

// notSent is the error of what the adapter does not send.
func notSent(t *testing.T, name string, err error) {
	t.Helper()
	var e *core.APIError
	if !errors.As(err, &e) || e.Kind != core.ErrInvalid || e.Server != core.ServerOpenStack || e.Uncertain() ||
		!strings.Contains(e.Message, "nothing was sent") {
		t.Errorf("%s: %v", name, err)
	}
}
