package engine

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
	"lockstep/scene"
	"lockstep/sim/bubble/lane"
)

// The flows of the OpenStack controller, condition by condition, beside what Lockstep asks in its place. The tables are in
// flowtables_test.go; here they are compared with the rules and written for readers to docs/flows.md.

var updateFlows = flag.Bool("update", false, "write docs/flows.md anew")

// flow is one of the controller's handlers: its conditions in its order, and what only Lockstep asks.
type flow struct {
	title, source string
	intro         string
	rows          []flowRow
	own           []flowRow
}

// flowRow is one condition of the controller, with what stands for it in Lockstep.
type flowRow struct {
	asks   string  // what is asked or done, in plain words
	text   string  // the letter of its text; empty: it says nothing
	source string  // where it is read: headings of the document of the domain
	at     []stand // what stands for it; empty: nothing does, and the note says why
	given  func(scene.Scene)
	breaks []func(scene.Scene) // each breaks this condition alone, in the scene of the step
	stays  bool                // the step can be done all the same: nothing is asked
	note   string              // where the two differ, and why

	atWrite string // the test that shows it, for a guard that the server answers right before the write, and that always holds earlier
}

// stand is a guard of one of Lockstep's steps, or the step itself.
type stand struct {
	at      scene.Moment
	guard   core.GuardID   // its ID; empty: the step does it
	follows []core.GuardID // guards that fail too, for the same reason
}

// by returns the steps that have the guard, or the steps themselves if the guard is empty.
func by(guard core.GuardID, moments ...scene.Moment) []stand {
	out := make([]stand, len(moments))
	for i, m := range moments {
		out[i] = stand{at: m, guard: guard}
	}
	return out
}

// with adds guards that fail too.
func with(stands []stand, follows ...core.GuardID) []stand {
	for i := range stands {
		stands[i].follows = follows
	}
	return stands
}

func breaking(breaks ...func(scene.Scene)) []func(scene.Scene) { return breaks }

// plan returns the step in its scene after the changes.
func plan(m scene.Moment, changes ...func(scene.Scene)) core.Step {
	sc := m.Scene()
	intent := m.Intent(sc)
	for _, change := range changes {
		if change != nil {
			change(sc)
		}
	}
	return step.Plan(sc.Again().Snapshot, intent)
}

// Each condition of the controller, broken alone, stops Lockstep's step by exactly the guard that stands for it. Where nothing
// stands for it, the step can be done all the same.
func TestTheFlowsConditionByCondition(t *testing.T) {
	lane.Single(t)
	for _, f := range flows() {
		t.Run(f.title, func(t *testing.T) {
			for _, r := range slices.Concat(f.rows, f.own) {
				r.check(t)
			}
		})
	}
	t.Run("every step", func(t *testing.T) {
		for _, f := range flows() {
			for _, m := range momentsOf(f) {
				for _, c := range everyStep {
					c.check(t, m)
				}
			}
		}
	})
}

func (r flowRow) check(t *testing.T) {
	t.Helper()
	if len(r.at) == 0 && r.note == "" {
		t.Errorf("%q: nothing stands for it, and nothing says why", r.asks)
	}
	for _, s := range r.at {
		name := s.at.Name + ": " + r.asks
		good := plan(s.at, r.given)
		if !good.Doable() {
			t.Errorf("%s: in order, the step is %s: %s", name, good.State, good.Blocker())
			continue
		}
		if s.guard == "" && !r.stays {
			if len(r.breaks) > 0 || s.at.Writes == nil {
				t.Errorf("%s: nothing stands for it", name)
			}
			if !changesTo(good.Change, s.at.Writes) {
				t.Errorf("%s: it writes %+v, want %+v", name, good.Change, s.at.Writes)
			}
			continue
		}
		if r.atWrite != "" {
			if guardOf(good, s.guard).ID == "" || actChecks[s.at.Kind] == nil || !hasTest(t, r.atWrite) {
				t.Errorf("%s: it is not asked, or %s is no test", name, r.atWrite)
			}
			continue
		}
		if len(r.breaks) == 0 {
			t.Errorf("%s: nothing breaks it", name)
		}
		for i, breaks := range r.breaks {
			broken, want := plan(s.at, r.given, breaks), slices.Concat([]core.GuardID{s.guard}, s.follows)
			if r.stays {
				want = nil
			}
			got := scene.Failing(broken)
			slices.Sort(got)
			slices.Sort(want)
			if broken.Doable() != r.stays || !slices.Equal(slices.Compact(got), want) {
				t.Errorf("%s, broken as by %d: it is %s, and %q do not hold, want %q: %s", name, i+1, broken.State, got, want, broken.Blocker())
			}
		}
	}
}

// hasTest tells whether the package has the test.
func hasTest(t *testing.T, name string) bool {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+name+"(")
	})
}

// changesTo tells whether a step's change is as wanted, in all named fields.
func changesTo(got, want core.Change) bool {
	if got == nil || want == nil || reflect.TypeOf(got) != reflect.TypeOf(want) {
		return false
	}
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range w.NumField() {
		if !w.Field(i).IsZero() && !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			return false
		}
	}
	return true
}

// common is what every step asks in every flow.
type common struct {
	guard  core.GuardID
	asks   string
	breaks func(sc scene.Scene, st core.Step)
}

var everyStep = []common{
	{"armed", "Lockstep writes only when it was armed.", func(sc scene.Scene, _ core.Step) { sc.Snapshot.Write.Armed = false }},
	{"fresh", "What the step rests on is live, and was confirmed a moment ago. The controller asks the API each time.",
		func(sc scene.Scene, _ core.Step) {
			for id := range sc.Sources {
				sc.Aged(id, sc.Settings.StaleAfterOf(id)*2)
			}
		}},
	{"alone", "Lockstep does nothing else there. kopf calls one handler of an object at a time.", func(sc scene.Scene, st core.Step) {
		sc.Doing(core.Operation{Title: "another", Step: "another/step", Node: st.Node})
	}},
	{"played", "The operator has said that Lockstep plays the controller.",
		func(sc scene.Scene, _ core.Step) { sc.Snapshot.Settings.ActAs = nil }},
	{"nobody-else", "The controller's Deployment has no replicas: two that write one lock undo each other.",
		func(sc scene.Scene, _ core.Step) {
			sc.Snapshot.Controller.Replicas, sc.Snapshot.Controller.Ready = 1, 1
		}},
}

func (c common) check(t *testing.T, m scene.Moment) {
	t.Helper()
	sc := m.Scene()
	intent := m.Intent(sc)
	c.breaks(sc, plan(m))
	broken := step.Plan(sc.Again().Snapshot, intent)
	if got := scene.Failing(broken); broken.Doable() || !slices.Contains(got, c.guard) || len(got) > 1 && c.guard != "played" {
		t.Errorf("%s: without %s it is %s, and %q do not hold", m.Name, c.guard, broken.State, got)
	}
}

// momentsOf returns the steps of a flow, each once.
func momentsOf(f flow) []scene.Moment {
	var out []scene.Moment
	for _, r := range slices.Concat(f.rows, f.own) {
		for _, s := range r.at {
			if !slices.ContainsFunc(out, func(had scene.Moment) bool { return had.Name == s.at.Name && had.Node == s.at.Node }) {
				out = append(out, s.at)
			}
		}
	}
	return out
}

// Every guard of every step is in a table. A new guard that stands for no condition of the controller has to say what it is for.
func TestEveryGuardOfTheFlowsIsInATable(t *testing.T) {
	lane.Single(t)
	for _, f := range flows() {
		told := map[string]bool{string(core.GuardExists): true, string(core.GuardHoldsNode): true}
		for _, c := range everyStep {
			told[string(c.guard)] = true
		}
		for _, r := range slices.Concat(f.rows, f.own) {
			for _, s := range r.at {
				told[string(s.at.Kind)+"/"+string(s.guard)] = true
			}
		}
		for _, m := range momentsOf(f) {
			for _, g := range plan(m).Guards {
				if !told[string(g.ID)] && !told[string(m.Kind)+"/"+string(g.ID)] {
					t.Errorf("%s: of %s, guard %s (%s) is in no row", f.title, m.Name, g.ID, g.Text)
				}
			}
		}
	}
}

const flowsFile = "../../docs/flows.md"

// The document matches the tables.
func TestTheDocumentOfTheFlows(t *testing.T) {
	lane.Single(t)
	got := flowsDocument(t)
	if *updateFlows {
		if err := os.WriteFile(flowsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(flowsFile)
	if err != nil {
		t.Fatalf("%v (run the tests with -update)", err)
	}
	if string(want) != got {
		t.Errorf("%s is not what the tables say; look at it and run with -update.\n--- is\n%s", flowsFile, got)
	}
}

const flowsHead = `# The controller's flows, and Lockstep in its place

What the OpenStack controller (Rockoon) asks in each of its flows, in its order, beside what Lockstep asks when it plays the controller
(` + "`--act-as openstack`" + `). For an operator: which condition keeps a step from being done, and what the controller would do. For a
developer: where each rule is.

**This page is written by a test** (core/engine/flowtables_test.go). It takes a cluster in which the step can be done, breaks exactly that
one condition, and looks that exactly the guard of its row does not hold any more. ` + "`go test ./core/engine -update`" + ` writes it anew.

- *else*: the text that the controller writes when the condition does not hold, by its letter in [Texts](mosk.md#texts); "–": none.
- *source*: where it is read in [mosk.md](mosk.md), which names the controller's public files.
- *Lockstep*: the step, and the guard as the screen has it. The code of the guard is linked.
- **not asked**: Lockstep's step can be done all the same; the note says why.
- Numbers in brackets are the notes under the table.
`

// flowsDocument is docs/flows.md.
func flowsDocument(t *testing.T) string {
	t.Helper()
	code, links := guardCode(t), map[string]string{}
	var b strings.Builder
	b.WriteString(flowsHead)
	for _, f := range flows() {
		b.WriteString("\n## " + f.title + "\n\n" + wrapped(f.intro+" From "+sourceText(f.source, links)+".", "") + "\n\n")
		b.WriteString("| | the controller asks, or does | else | source | Lockstep |\n|---|---|---|---|---|\n")
		notes := f.write(t, &b, f.rows, 1, code, links)
		if len(f.own) > 0 {
			b.WriteString("\n*Only Lockstep asks:*\n\n| | what | why | Lockstep |\n|---|---|---|---|\n")
			f.write(t, &b, f.own, len(f.rows)+1, code, links)
		}
		if len(notes) > 0 {
			b.WriteString("\n" + strings.Join(notes, "\n") + "\n")
		}
	}
	b.WriteString("\n## Every step\n\nOf every step above Lockstep asks this first. The controller needs none of it.\n\n| guard | what | " +
		"code |\n|---|---|---|\n")
	begin := momentsOf(flows()[0])[0]
	for _, c := range everyStep {
		sc := begin.Scene()
		c.breaks(sc, plan(begin))
		g := guardOf(step.Plan(sc.Again().Snapshot, begin.Intent(sc)), c.guard)
		fmt.Fprintf(&b, "| %s (`%s`) | %s | %s |\n", g.Text, c.guard, c.asks, code.link(t, begin, g, links))
	}
	b.WriteString("\n")
	for _, name := range slices.Sorted(maps.Keys(links)) {
		b.WriteString("[" + name + "]: " + links[name] + "\n")
	}
	return b.String()
}

// write writes the rows as lines of a table and returns their notes.
func (f flow) write(t *testing.T, b *strings.Builder, rows []flowRow, first int, code guardSources,
	links map[string]string) (notes []string) {
	t.Helper()
	own := first > 1
	for i, r := range rows {
		n := first + i
		asks := r.asks
		if r.note != "" && !own {
			asks += fmt.Sprintf(" (%d)", n)
			notes = append(notes, wrapped(fmt.Sprintf("- (%d) %s", n, r.note), "  "))
		}
		cells := []string{strconv.Itoa(n), asks}
		if own {
			why := r.note
			if r.source != "" {
				why += " " + sourceText(r.source, links)
			}
			cells = append(cells, why)
		} else {
			cells = append(cells, wording.TextOf(r.text, "–"), sourceText(r.source, links))
		}
		fmt.Fprintf(b, "| %s | %s |\n", strings.Join(cells, " | "), r.lockstep(t, code, links))
	}
	return notes
}

// lockstep is what stands for the condition: "begin, release: no more nodes are worked on than the rule allows (concurrency)".
func (r flowRow) lockstep(t *testing.T, code guardSources, links map[string]string) string {
	t.Helper()
	type entry struct{ steps, code []string }
	var texts []string
	entries := map[string]*entry{}
	for _, s := range r.at {
		text, ref := "does it", ""
		switch {
		case r.stays:
			text = "**not asked**"
		case s.guard != "":
			g := guardOf(plan(s.at, append([]func(scene.Scene){r.given}, r.breaks[:min(len(r.breaks), 1)]...)...), s.guard)
			text, ref = fmt.Sprintf("%s (`%s`)", g.Text, s.guard), code.link(t, s.at, g, links)
		}
		e := entries[text]
		if e == nil {
			e = &entry{}
			texts, entries[text] = append(texts, text), e
		}
		if name := "*" + s.at.Name + "*"; !slices.Contains(e.steps, name) {
			e.steps = append(e.steps, name)
		}
		if ref != "" && !slices.Contains(e.code, ref) {
			e.code = append(e.code, ref)
		}
	}
	parts := make([]string, len(texts))
	for i, text := range texts {
		e := entries[text]
		parts[i] = strings.Join(e.steps, ", ") + ": " + strings.Join(append([]string{text}, e.code...), ", ")
	}
	return wording.TextOf(strings.Join(parts, "; "), "nothing")
}

// wrapped breaks a text into lines of a readable length and indents all but the first.
func wrapped(text, indent string) string {
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") {
		if line != "" && len(line)+1+len(word) > 130 {
			lines, line = append(lines, line), indent+word
		} else {
			if line != "" {
				line += " "
			}
			line += word
		}
	}
	return strings.Join(append(lines, line), "\n")
}

// guardOf returns the guard with the ID that does not hold, or else the first guard with the ID.
func guardOf(st core.Step, id core.GuardID) core.Guard {
	var found core.Guard
	for _, g := range st.Guards {
		if g.ID == id && (found.ID == "" || !g.Holds) {
			found = g
		}
	}
	return found
}

// sourceText returns the source with links: "docs/mosk.md#locks, #requests" becomes "[locks], [requests]".
func sourceText(source string, links map[string]string) string {
	_, anchors, _ := strings.Cut(source, "#")
	var out []string
	for _, a := range strings.Split(anchors, ", #") {
		name := strings.ReplaceAll(a, "-", " ")
		links[name] = "mosk.md#" + a
		out = append(out, "["+name+"]")
	}
	return strings.Join(out, ", ")
}

// guardSource is a place in the code where a guard is made.
type guardSource struct{ id, text, function, file string }

// guardSources are all these places, and which functions each function names.
type guardSources struct {
	all   []guardSource
	calls map[string][]string
}

// guardCode returns the guards that the package makes, with their functions and files.
func guardCode(t *testing.T) guardSources {
	t.Helper()
	var files []string
	for _, folder := range []string{"core", "progress", "step"} {
		found, err := filepath.Glob(filepath.Join("../../core", strings.TrimPrefix(folder, "core"), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	consts, set := map[string]string{}, token.NewFileSet()
	parsed := map[string]*ast.File{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed[strings.TrimPrefix(filepath.ToSlash(name), "../../core/")] = file
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					if lit, ok := v.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
						consts[name.Name], _ = strconv.Unquote(lit.Value)
					}
				}
			}
			return true
		})
	}
	value := func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BasicLit:
			text, _ := strconv.Unquote(e.Value)
			return text
		case *ast.Ident:
			return consts[e.Name]
		case *ast.SelectorExpr:
			return consts[e.Sel.Name]
		}
		return ""
	}
	var out []guardSource
	calls := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(parsed)) {
		for _, decl := range parsed[name].Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if of, ok := n.Type.(*ast.SelectorExpr); !ok || of.Sel.Name != "Guard" {
						return true
					}
					g := guardSource{function: fn.Name.Name, file: name}
					for _, el := range n.Elts {
						if kv, ok := el.(*ast.KeyValueExpr); ok {
							switch kv.Key.(*ast.Ident).Name {
							case "ID":
								g.id = value(kv.Value)
							case "Text":
								g.text = value(kv.Value)
							}
						}
					}
					out = append(out, g)
				case *ast.CallExpr: // p.unknown("the lock exists", …)
					switch called := n.Fun.(type) {
					case *ast.SelectorExpr:
						calls[fn.Name.Name] = append(calls[fn.Name.Name], called.Sel.Name)
					case *ast.Ident:
						calls[fn.Name.Name] = append(calls[fn.Name.Name], called.Name)
					}
					if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "unknown" && len(n.Args) == 2 && value(n.Args[0]) != "" {
						out = append(out, guardSource{"exists", value(n.Args[0]), fn.Name.Name, name})
					}
				case *ast.AssignStmt: // g.Text, g.Remedy = "another text", …
					for i, left := range n.Lhs {
						sel, ok := left.(*ast.SelectorExpr)
						if !ok || sel.Sel.Name != "Text" || len(n.Rhs) != len(n.Lhs) || value(n.Rhs[i]) == "" || len(out) == 0 {
							continue
						}
						last := out[len(out)-1]
						last.text = value(n.Rhs[i])
						out = append(out, last)
					}
				}
				return true
			})
		}
	}
	return guardSources{out, calls}
}

// reach returns the functions that can be reached from one function of the package.
func (c guardSources) reach(from string) map[string]bool {
	seen, next := map[string]bool{}, []string{from}
	for len(next) > 0 {
		f := next[0]
		if next = next[1:]; !seen[f] {
			seen[f] = true
			next = append(next, c.calls[f]...)
		}
	}
	return seen
}

// link returns the function that makes the guard of a step, with a link to its file: the one that plans the step, or else one
// that it calls.
func (c guardSources) link(t *testing.T, m scene.Moment, g core.Guard, links map[string]string) string {
	t.Helper()
	near := c.reach(m.Plans)
	if len(c.calls[m.Plans]) == 0 {
		t.Errorf("%s: no function %q plans it", m.Name, m.Plans)
	}
	all := c.reach("act")
	for _, text := range []string{g.Text, ""} { // a text that is put together at run time is not in the code
		for _, may := range []func(string) bool{
			func(f string) bool { return f == m.Plans },
			func(f string) bool { return near[f] },
			func(f string) bool { return f == "act" },
			func(f string) bool { return all[f] },
		} {
			var refs []string
			for _, s := range c.all {
				if ref := "[" + s.function + "][" + s.file + "]"; s.id == string(g.ID) && s.text == text && may(s.function) &&
					!slices.Contains(refs, ref) {
					refs, links[s.file] = append(refs, ref), "../core/"+s.file
				}
			}
			if len(refs) > 0 {
				return strings.Join(refs, ", ")
			}
		}
	}
	t.Errorf("no function makes guard %s: %s", g.ID, g.Text)
	return ""
}
