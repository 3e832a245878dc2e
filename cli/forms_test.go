package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/sim"
)

// forms are the documents for scripts: the command that prints one, and the type that it is made from.
var forms = []struct{ command, of, about string }{
	{"status", "cli.Status", "Where the update stands, as the dashboard would show it; with `--details` its fields are there, too."},
	{"check", "checklist.Compared", "What must be so before an update, while it runs and after it."},
	{"plan", "evacuation.document", "What moves, and what does not, node by node."},
	{"plan --window", "forecast.jsonDocument", "How long the update takes, and its nights."},
	{"clusters", "cli.Clusters", "All clusters of a management cluster."},
	{"owners", "cli.ownersDocument", "What each project is to be told."},
	{"note", "cli.notesDocument", "The note that was written, or that is done."},
	{"notes", "cli.notesDocument", "Notes and promises."},
	{"handover", "handover.Handover", "What the next shift has to know."},
	{"report", "record.Account", "An update from start to end, out of the journal."},
	{"watch", "news.Line", "One thing that changed; each is a line of its own."},
	{"journal", "cli.journalsDocument", "The journals and their files."},
	{"journal verify", "cli.verifiedDocument", "Whether each journal is as it was written."},
	{"version", "cli.versionDocument", "Which Lockstep this is."},
	{"demo --list", "cli.scenariosDocument", "The scenarios of the simulated cloud."},
}

// docs/forms.md has each field of each document, in its order, and what the code says of it.
func TestTheDocumentOfTheForms(t *testing.T) {
	types := readTypes(t)
	var page bytes.Buffer
	page.WriteString("# The documents for scripts\n\n" +
		"What `-o json` prints, field by field. `a.b` is the field b of the object a, `a[]` each of a list, `a{}` each value of an object\n" +
		"whose keys are names. A field with ? is left out when it is empty. Times are RFC 3339 in UTC. `format` is the number of the\n" +
		"form: fields are added to a form, and none is renamed or taken away without a new number. `journal show -o json` prints the\n" +
		"journal's own lines ([journal.md](journal.md)), each with its file and its line. This page is written by a test\n" +
		"(`go test ./cli -run Forms -update`).\n")
	for _, f := range forms {
		fields := types.fields(t, f.of, "", nil)
		if len(fields) == 0 || fields[0].path != "format" {
			t.Errorf("%s: its first field is not its format: %v", f.command, fields)
		}
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n| field | is | |\n|---|---|---|\n", f.command, f.about)
		for _, one := range fields {
			fmt.Fprintf(&page, "| `%s`%s | %s | %s |\n", one.path, map[bool]string{true: " ?"}[one.empty], one.is,
				strings.ReplaceAll(one.says, "|", "\\|"))
		}
	}
	const path = "../docs/forms.md"
	if *updateGoldens {
		if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, page.Bytes()) {
		t.Errorf("docs/forms.md is not what the code says (%v): go test ./cli -run Forms -update", err)
	}
}

// What the commands print has no field that docs/forms.md does not have.
func commandsPrintTheirForms(t *testing.T, c *sim.Cloud) {
	t.Helper()
	types := readTypes(t)
	for _, f := range forms {
		args := strings.Fields(f.command)
		switch f.command {
		case "watch", "clusters", "report", "demo --list", "version", "journal", "journal verify":
			continue // they end by a signal, or need another cloud, or none: in their own tests, and below
		case "note":
			args = append(args, "the window ends at six", "--until", "+45m")
		case "plan --window":
			args = append(args, "22:00-06:00")
		}
		_, out, errs := runOn(t, c, append(args, "-o", "json")...)
		types.holds(t, f.command, f.of, out, errs)
	}
}

func TestTheCommandsWithoutACloudPrintTheirForms(t *testing.T) {
	types := readTypes(t)
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	j := filepath.Join(state, "lockstep", "journal.jsonl")
	if err := os.MkdirAll(filepath.Dir(j), 0o700); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../core/engine/testdata/journal-v2-whole.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(j, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for command, args := range map[string][]string{"report": {"report", j}, "version": {"version"}, "demo --list": {"demo", "--list"},
		"journal": {"journal"}, "journal verify": {"journal", "verify", j}} {
		i := slices.IndexFunc(forms, func(f struct{ command, of, about string }) bool { return f.command == command })
		_, out, errs := run(t, append(args, "-o", "json")...)
		types.holds(t, command, forms[i].of, out, errs)
	}
}

// formField is a field of a document.
type formField struct {
	path, is, says string
	empty          bool // left out when empty
}

// typesRead are the types of the program's packages, by "package.Name".
type typesRead map[string]*ast.TypeSpec

func readTypes(t *testing.T) typesRead {
	t.Helper()
	out := typesRead{}
	dirs, err := filepath.Glob("../core/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(dirs, ".", "../core", "../sim/scenario") {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if s, ok := n.(*ast.TypeSpec); ok {
					out[parsed.Name.Name+"."+s.Name.Name] = s
				}
				_, body := n.(*ast.FuncDecl)
				return !body
			})
		}
	}
	return out
}

// written are types that JSON writes in a way of their own.
var written = map[string]string{"time.Time": "time", "time.Duration": "nanoseconds", "evacuation.Span": "seconds",
	"record.Time": "time"}

// fields are the fields of a document, and of all objects in it.
func (r typesRead) fields(t *testing.T, name, under string, within []string) []formField {
	t.Helper()
	spec := r[name]
	if spec == nil {
		t.Fatalf("there is no type %s", name)
	}
	s, ok := spec.Type.(*ast.StructType)
	if !ok || slices.Contains(within, name) {
		return nil
	}
	pkg, _, _ := strings.Cut(name, ".")
	within = append(slices.Clone(within), name)
	var out []formField
	for _, f := range s.Fields.List {
		tag := ""
		if f.Tag != nil {
			raw, err := strconv.Unquote(f.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			tag = reflect.StructTag(raw).Get("json")
		}
		if len(f.Names) == 0 && tag == "" {
			inner, _, _ := r.kind(pkg, f.Type)
			if r[inner] == nil {
				t.Fatalf("%s has a %s in it, which is none of the program's types", name, inner)
			}
			out = append(out, r.fields(t, inner, under, within)...)
			continue
		}
		for _, n := range f.Names {
			key, options, _ := strings.Cut(tag, ",")
			if !n.IsExported() || key == "-" {
				continue
			}
			if key == "" {
				key = n.Name
			}
			inner, shape, is := r.kind(pkg, f.Type)
			says := strings.Join(strings.Fields(f.Comment.Text()), " ")
			if says == "" {
				says = strings.Join(strings.Fields(f.Doc.Text()), " ")
			}
			out = append(out, formField{under + key + shape, is, says, strings.Contains(options, "omit")})
			if inner != "" && r[inner] != nil && written[inner] == "" {
				out = append(out, r.fields(t, inner, under+key+shape+".", within)...)
			}
		}
	}
	return out
}

// kind says of a type which named type is in it, whether it is a list ("[]") or has names as keys ("{}"), and what JSON makes of it.
func (r typesRead) kind(pkg string, e ast.Expr) (name, shape, is string) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return r.kind(pkg, e.X)
	case *ast.ArrayType:
		name, shape, is = r.kind(pkg, e.Elt)
		return name, "[]" + shape, is
	case *ast.MapType:
		name, shape, is = r.kind(pkg, e.Value)
		return name, "{}" + shape, is
	case *ast.SelectorExpr:
		name = e.X.(*ast.Ident).Name + "." + e.Sel.Name
	case *ast.Ident:
		switch e.Name {
		case "string", "any", "error":
			return "", "", "text"
		case "bool":
			return "", "", "true or false"
		case "int", "int64", "uint64", "float64", "int32":
			return "", "", "number"
		}
		name = pkg + "." + e.Name
	default:
		return "", "", "object"
	}
	if w := written[name]; w != "" {
		return name, "", w
	}
	spec := r[name]
	if spec == nil {
		return name, "", "text"
	}
	if _, ok := spec.Type.(*ast.StructType); ok {
		return name, "", "object"
	}
	inner, _, _ := strings.Cut(name, ".")
	return r.kind(inner, spec.Type)
}

// holds fails the test unless the output is one JSON document with no other fields than the type's.
func (r typesRead) holds(t *testing.T, command, of, out, errs string) {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal([]byte(out), &document); err != nil {
		t.Errorf("%s: %v: %q, %s", command, err, out[:min(len(out), 200)], errs)
		return
	}
	known := map[string]bool{}
	for _, f := range r.fields(t, of, "", nil) {
		known[f.path] = true
	}
	if document["format"] == nil {
		t.Errorf("%s: the document has no format", command)
	}
	var walk func(under string, v any)
	walk = func(under string, v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(under+"[]", one)
			}
		case map[string]any:
			if known[under+"{}"] {
				for _, one := range v {
					walk(under+"{}", one)
				}
				return
			}
			for key, one := range v {
				path := key
				if under != "" {
					path = under + "." + key
				}
				walk(path, one)
			}
		default:
			if !known[under] {
				t.Errorf("%s: the field %s is not in docs/forms.md", command, under)
			}
		}
	}
	walk("", document)
}
