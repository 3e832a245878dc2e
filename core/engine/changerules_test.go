package engine

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/permittest"
	"lockstep/core/step"
	"lockstep/sim/bubble"
)

// checkerOf returns the checks of a change.
func checkerOf(e *Engine, step core.Step, c core.Change) checker {
	rule, _ := ruleOf(c)
	return rule.checker(e, step, c)
}

// Every kind of Change has its row in the table, except Batch, whose items have theirs.
func TestEveryChangeHasItsRow(t *testing.T) {
	declared := changesDeclared(t)
	var inTable []string
	for _, r := range changeRules {
		inTable = append(inTable, strings.TrimPrefix(fmt.Sprintf("%T", r.zero), "core."))
	}
	want := slices.DeleteFunc(slices.Clone(declared), func(name string) bool { return name == "Batch" })
	slices.Sort(inTable)
	if len(declared) < 15 || !slices.Equal(inTable, want) {
		t.Errorf("the table has %v, declared are %v", inTable, declared)
	}
	for _, none := range []core.Change{nil, core.Batch{}} {
		if _, ok := ruleOf(none); ok {
			t.Errorf("%T has a row", none)
		}
	}
	var at []core.Change
	for _, server := range []core.Server{core.ServerKubernetes, core.ServerOpenStack, core.ServerManagement,
		core.ServerAlertmanager} {
		at = append(at, ChangesAt(server)...)
	}
	if want := len(changeRules) - 1 + len(step.InstanceRules); len(at) != want {
		t.Errorf("%d of %d kinds of Change are of a server that is written to", len(at), want)
	}
}

// changesDeclared returns the names of core's types that are Changes, sorted.
func changesDeclared(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../"+f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "isChange" && fn.Recv != nil {
				names = append(names, fn.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Where a server is missing or cannot be written to, every change of it is refused before anything is asked.
func TestWithoutAServerNothingIsBegun(t *testing.T) {
	cloud := newTestCloud()
	for _, r := range changeRules {
		for name, cfg := range map[string]Config{
			"no server": {},
			"no writer": {Kubernetes: cloud, OpenStack: cloud, Management: &fakeManagement{}, Alerts: &fakeAlerts{}},
		} {
			w := New(cfg).newWriting(t.Context(), &operation{}, -1, core.Step{Change: r.zero})
			if err := w.check(); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "to write to") {
				t.Errorf("%s, %T: %v", name, r.zero, err)
			}
		}
	}
	for _, none := range []core.Change{nil, core.Batch{}} {
		w := New(Config{}).newWriting(t.Context(), &operation{}, -1, core.Step{Title: "nothing", Change: none})
		if err := w.check(); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "cannot be done") {
			t.Errorf("%T: %v", none, err)
		}
	}
}

// The servers of the tests know every change, and make none without a Permit for it.
func TestNothingIsWrittenWithoutAPermit(t *testing.T) {
	for _, r := range changeRules {
		cloud := newTestCloud()
		w, err := New(Config{Kubernetes: cloud, OpenStack: cloud, Management: &fakeManagement{},
			Alerts:  &fakeAlerts{},
			Writers: Writers{Kubernetes: cloud, OpenStack: cloud, Management: &fakeManagement{}, Alerts: &fakeAlerts{}}}).target(r.server)
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string]Permit{"none": {}, "another's": permittest.For(t, core.Batch{})} {
			err := w.writer.Write(t.Context(), p, r.zero)
			var api *core.APIError
			if !errors.As(err, &api) || api.Uncertain() || !strings.Contains(err.Error(), "nothing was sent") {
				t.Errorf("%T with the permit %s: %v", r.zero, name, err)
			}
		}
		if len(cloud.written()) > 0 {
			t.Errorf("%T was written: %q", r.zero, cloud.written())
		}
	}
}

// The gate makes Permits only for what was confirmed: the change itself or an item of the batch, with what its check has read for
// it.
func TestAPermitIsForWhatWasConfirmed(t *testing.T) {
	stop := core.InstanceAction{Do: core.IntentStop, Instance: core.Ref{UID: "a"}}
	start := core.InstanceAction{Do: core.IntentStart, Instance: core.Ref{UID: "a"}}
	tags := core.SetMaintenanceTags{Instance: core.Ref{UID: "a"}, New: []core.MaintenanceAction{core.ActionPowerOff}}
	all := tags
	all.All = []string{"backup=daily"}
	other := all
	other.New = nil
	batch := core.Batch{Items: []core.BatchItem{{Change: stop}, {Change: tags}}}
	for name, tt := range map[string]struct {
		confirmed, change core.Change
		good              bool
	}{
		"the change":                {stop, stop, true},
		"another":                   {stop, start, false},
		"an item":                   {batch, stop, true},
		"another item":              {batch, all, true},
		"none of the items":         {batch, start, false},
		"a batch as a whole":        {batch, batch, false},
		"tags that were read":       {tags, all, true},
		"other tags that were read": {tags, other, false},
		"nothing":                   {nil, stop, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud())
				defer b.end()
				p := passageOf(core.Grant{ID: "g"}, tt.confirmed)
				if _, _, err := b.engine.permit(p, core.Step{}, tt.change); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "not armed") {
					t.Errorf("before writing is armed: %v", err)
				}
				b.arm()
				of, end, err := b.engine.permit(p, core.Step{}, tt.change)
				if (err == nil) != tt.good {
					t.Fatalf("the gate says %v", err)
				}
				if !tt.good {
					return
				}
				end()
				if err := TakePermit(of, tt.change, core.ServerOpenStack); err == nil {
					t.Error("it is good after its end")
				}
			})
		})
	}
}

// keeper is a cloud that keeps the Permits of its writes.
type keeper struct {
	*testCloud
	permits []Permit
	changes []core.Change
}

func (k *keeper) Write(ctx context.Context, p Permit, c core.Change) error {
	k.permits, k.changes = append(k.permits, p), append(k.changes, c)
	return k.testCloud.Write(ctx, p, c)
}

// A Permit that somebody kept writes nothing later, and the refusal says what it was made for.
func TestAKeptPermitWritesNothing(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		k := &keeper{testCloud: b.cloud}
		b.engine.cfg.Writers.OpenStack = k
		b.arm()
		id, err := b.confirm(core.Intent{Kind: core.IntentStop, Instance: "id-web-1"})
		if err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(id); op.State != core.OperationDone || len(k.permits) != 1 {
			t.Fatalf("%+v, with %d permits", op, len(k.permits))
		}
		written := len(b.cloud.written())
		err = b.cloud.Write(t.Context(), k.permits[0], k.changes[0])
		if err == nil || !strings.Contains(err.Error(), "the permit of grant "+id) || len(b.cloud.written()) != written {
			t.Errorf("the second write: %v", err)
		}
	})
}
