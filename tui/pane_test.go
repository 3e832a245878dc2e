package tui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/tui/draw"
	"lockstep/tui/table"
)

// Every row of the tables of panes and pages is complete: no name is used twice, and every place of the dashboard has its pane.
func TestTheTablesOfPanesAndPagesAreWhole(t *testing.T) {
	scopes, places := make(map[Scope]bool), make(map[place]bool)
	for _, k := range paneKinds() {
		if k.scope == "" || k.title == "" || k.short == "" || k.make == nil || k.actions == nil || scopes[k.scope] {
			t.Errorf("pane %q: %+v", k.scope, k)
		}
		scopes[k.scope], places[k.place] = true, true
		if chain := k.scope.chain(); !slices.Equal(chain, []Scope{k.scope, ScopeDashboard, ScopeGlobal}) {
			t.Errorf("pane %q: its keys are looked for in %v", k.scope, chain)
		}
		for _, a := range k.actions() {
			if a.Scope != k.scope {
				t.Errorf("pane %q has the action %s of %q", k.scope, a.ID, a.Scope)
			}
		}
	}
	for p := placeTop; p <= placeFarRight; p++ {
		if !places[p] {
			t.Errorf("no pane stands at place %d", p)
		}
	}
	if n := len(paneKinds()); n > 9 {
		t.Errorf("%d panes: each has a key of one digit", n)
	}
	for _, k := range layerKinds() {
		if k.scope == "" || k.actions == nil || scopes[k.scope] {
			t.Errorf("page %q: %+v", k.scope, k)
		}
		scopes[k.scope] = true
		for _, a := range k.actions() {
			if a.Scope != k.scope {
				t.Errorf("page %q has the action %s of %q", k.scope, a.ID, a.Scope)
			}
		}
	}
}

// A pane is given what it shows and sends requests: none of its methods names the Model.
func TestPanesDoNotKnowTheModel(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	methods := 0
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || !ofPane(f) {
				continue
			}
			methods++
			ast.Inspect(f, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == "Model" {
					t.Errorf("%s: %s names the Model", name, f.Name.Name)
				}
				return true
			})
		}
	}
	if methods < 50 {
		t.Errorf("only %d methods of panes were found", methods)
	}
}

// ofPane tells whether a function belongs to a pane: it is a method of one, makes one, or draws from a scene.
func ofPane(f *ast.FuncDecl) bool {
	if strings.HasPrefix(f.Name.Name, "new") && strings.HasSuffix(f.Name.Name, "Pane") {
		return true
	}
	fields := f.Type.Params.List
	if f.Recv != nil {
		fields = append(f.Recv.List[:1:1], fields...)
	}
	return slices.ContainsFunc(fields, func(p *ast.Field) bool {
		star, ok := p.Type.(*ast.StarExpr)
		if !ok {
			return false
		}
		of := star.X
		if generic, ok := of.(*ast.IndexExpr); ok {
			of = generic.X
		}
		id, ok := of.(*ast.Ident)
		return ok && (id.Name == "scene" || strings.HasSuffix(id.Name, "Pane"))
	})
}

// tenantsPane is one more pane, as a developer would add it: its own rows, and its requests to the screen.
type tenantsPane struct{ tablePane[string] }

const scopeTenants Scope = "tenants"

func newTenantsPane() pane {
	p := &tenantsPane{}
	p.Table = &table.Table[string]{
		ID: func(s string) string { return s }, Name: func(s string) string { return s },
		Columns: []table.Column[string]{{Title: "tenant", Width: 8, Grow: true, Cell: draw.Plain}},
	}
	return p
}

func (p *tenantsPane) refresh() string {
	return p.Set([]string{"shop", "science"}, p.snap.Revision)
}
func (p *tenantsPane) name() string     { return "Tenants" }
func (p *tenantsPane) empty() string    { return "There are none." }
func (p *tenantsPane) note() draw.Line  { return nil }
func (p *tenantsPane) explain() string  { return "" }
func (p *tenantsPane) subject() subject { return subject{} }
func (p *tenantsPane) moved() request   { return leadTo{"kaas-node-cmp07"} }

// A pane with a row has its key, its tab, and its place, which it shares in turns; its requests are answered.
func TestAFurtherPaneIsARow(t *testing.T) {
	further := func(w, h int) *driver {
		d := drive(nil, w, h)
		d.kinds = append(d.kinds, paneKind{scope: scopeTenants, title: "the tenants", short: "Tenants", place: placeLowerRight,
			make: newTenantsPane, actions: func() []Action { return nil }})
		d.panes[scopeTenants] = newTenantsPane()
		d.send(snapshotMsg{world()})
		return d
	}
	d := further(200, 60)
	if frame := stripped(d.shows()); !strings.Contains(frame, "6 Log") || strings.Contains(frame, "8 Tenants") {
		t.Errorf("before it was gone to, its place is not the log's:\n%s", frame)
	}
	d.keys("7", "tab") // from the last to the one after it
	if frame := stripped(d.shows()); d.focus != scopeTenants || !strings.Contains(frame, "8 Tenants") {
		t.Errorf("the focus is on %s:\n%s", d.focus, frame)
	}
	if d.keys("down"); d.selectedNode() != "kaas-node-cmp07" || d.pane(scopeTenants).Index() != 1 {
		t.Errorf("its rows lead to %s, the cursor is on row %d", d.selectedNode(), d.pane(scopeTenants).Index())
	}
	if frame := stripped(d.keys("3").shows()); !strings.Contains(frame, "8 Tenants") || strings.Contains(frame, "6 Log") {
		t.Errorf("once it is left, it does not stay at its place:\n%s", frame)
	}
	if frame := stripped(d.keys("6").shows()); strings.Contains(frame, "8 Tenants") || !strings.Contains(frame, "6 Log") {
		t.Errorf("the log does not come back to its place:\n%s", frame)
	}
	for _, size := range sizes {
		d := further(size.w, size.h).keys("7", "tab")
		checkFrame(t, d.shows(), size.w, size.h)
		if frame := stripped(d.shows()); !strings.Contains(frame, "8 Tenants") || !strings.Contains(frame, "science") {
			t.Errorf("%dx%d:\n%s", size.w, size.h, frame)
		}
	}
}
