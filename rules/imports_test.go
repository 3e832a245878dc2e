package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport says which rooms a room may use: "core" is that package alone, "core/..." all packages of the room. A package of a room can
// have a rule of its own. What is not listed may use none: a new room is a decision, made here.
var mayImport = map[string][]string{
	"main": {"cli"},
	"cli":  {"cli/...", "core/...", "kube/...", "nova", "sim/...", "themes", "tui"},
	"tui": {"core", "core/wording", "core/progress", "core/step", "core/procedure", "core/attention", "core/evacuation",
		"core/checklist", "core/forecast", "core/timeline", "core/fleet", "themes", "tui/..."},
	"cli/session": {"core", "core/wording", "core/progress", "core/checklist", "core/news", "core/recording", "core/engine", "kube", "nova",
		"cli/outputfile", "cli/sessiontest"}, // neither tui nor sim
	"cli/sessiontest": {"core/...", "kube", "sim"}, // for tests
	"cli/outputfile":  {},
	"cli/recorded":    {"core", "core/engine", "core/recording", "core/evacuation", "tui"}, // no server: what it plays is all there is
	"cli/pseudonym":   {"core", "core/engine", "core/progress", "core/recording"},          // of the engine the journal's records
	"themes":          {"themes"},
	"kube":            {"core", "core/engine", "kube/..."}, // of the engine its ports
	"nova":            {"core", "core/engine", "nova/..."},

	// Inside core the arrows point down. No package that reads knows the engine.
	"core":            {"core/wording"},
	"core/wording":    {},
	"core/progress":   {"core", "core/wording"},
	"core/step":       {"core", "core/wording", "core/progress"},
	"core/procedure":  {"core", "core/wording", "core/progress", "core/step"},
	"core/attention":  {"core", "core/wording", "core/progress", "core/step", "core/procedure"},
	"core/evacuation": {"core", "core/wording", "core/progress", "core/step"},
	"core/checklist": {"core", "core/wording", "core/progress", "core/step", "core/procedure", "core/attention",
		"core/evacuation", "core/forecast"},
	"core/forecast":  {"core", "core/wording", "core/progress", "core/evacuation"},
	"core/timeline":  {"core", "core/wording", "core/progress", "core/evacuation", "core/forecast"},
	"core/news":      {"core", "core/wording", "core/progress", "core/attention"},
	"core/fleet":     {"core", "core/wording", "core/progress", "core/attention"},
	"core/recording": {"core", "core/wording"},
	"core/engine": {"core", "core/wording", "core/progress", "core/step", "core/procedure", "core/attention", "core/evacuation",
		"core/forecast", "core/recording", "core/internal/permit"},
	"core/handover": {"core", "core/wording", "core/progress", "core/procedure", "core/attention", "core/forecast",
		"core/record"},
	"core/record":          {"core", "core/wording", "core/engine"}, // of the engine the journal
	"core/internal/permit": {"core"},
	"core/derivedtest":     {"core", "core/progress", "core/procedure", "core/attention", "core/forecast", "core/timeline", "core/checklist"},
	"core/permittest":      {"core", "core/engine", "core/internal/permit"},

	// What draws knows neither the screen's state nor the domain: of core only the rule for secrets, in the one package that makes
	// texts safe.
	"tui/sanitise": {"core"},
	"tui/draw":     {"themes", "tui/sanitise"},
	"tui/table":    {"themes", "tui/draw", "tui/sanitise"},

	"scene":      {"core", "core/wording"}, // for tests; outside core, as it draws with rapid
	"scene/live": {"core", "core/engine", "core/recording", "scene"},

	"sim": {"sim/..."}, // a peer across a network: it knows neither the screen nor the adapters, nor what core makes of it
	// What reads a scenario comes without the servers: a test of it links neither client-go nor net/http.
	"sim/fault":    {},
	"sim/scenario": {"sim/fault"},

	"rules": {}, // tests of the sources alone
}

// onlyForTests are packages that nothing but tests, and one another, imports.
var onlyForTests = []string{"scene", "scene/live", "core/permittest", "core/derivedtest", "cli/sessiontest"}

// Only the gate makes Permits: nothing else in core's own code calls the constructor, and permittest, which calls it for tests, is
// imported by nothing but tests. The compiler keeps all others from it: the package is internal to core.
func TestOnlyTheGateMakesPermits(t *testing.T) {
	t.Chdir("..")
	const maker, forTests = "lockstep/core/internal/permit", "lockstep/core/permittest"
	var makes []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && path == "e2e" { // a module of tests
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			switch imported, _ := strconv.Unquote(spec.Path.Value); {
			case imported == forTests:
				t.Errorf("%s imports %s, which is for tests", path, forTests)
			case imported != maker:
			case spec.Name != nil:
				t.Errorf("%s imports %s under another name", path, maker)
			case filepath.ToSlash(filepath.Dir(path)) != strings.TrimPrefix(forTests, "lockstep/"):
				ast.Inspect(file, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "New" {
						if x, ok := s.X.(*ast.Ident); ok && x.Name == "permit" {
							makes = append(makes, path)
						}
					}
					return true
				})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(makes) != 1 || filepath.Base(makes[0]) != "gate.go" {
		t.Errorf("permits are made in %v, once each; that is the gate's, in gate.go", makes)
	}
}

// Imports point one way: main → cli → {tui, kube, nova, sim} → core; tui → themes. core stands on the standard library alone, and has
// walls inside. Tests may use the simulated cloud, and of core what the compiler lets them.
func TestImportsPointOneWay(t *testing.T) {
	t.Chdir("..")
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path == "e2e" || strings.HasPrefix(path, ".") && path != "." || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		files++
		folder := filepath.ToSlash(filepath.Dir(path))
		room, _, _ := strings.Cut(folder, "/")
		if folder == "." {
			room, folder = "main", "main"
		}
		allowed, known := mayImport[folder]
		if !known && room != "core" { // each package of core has a rule of its own
			allowed, known = mayImport[room]
		}
		if !known {
			t.Errorf("%s: the folder %s is no room of the house: see mayImport", path, folder)
			return nil
		}
		test := strings.HasSuffix(path, "_test.go")
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			first, rest, _ := strings.Cut(imported, "/")
			if strings.HasSuffix(imported, "/template") && !test {
				t.Errorf("%s imports %s: it calls methods by their names, and the linker keeps every method of every package for it",
					path, imported)
			}
			if room == "core" && !test && strings.Contains(first, ".") {
				t.Errorf("%s imports %s: core stands on the standard library alone", path, imported)
			}
			if first != "lockstep" {
				continue
			}
			to, _, _ := strings.Cut(rest, "/")
			if slices.Contains(onlyForTests, rest) && !test && !slices.Contains(onlyForTests, folder) {
				t.Errorf("%s imports %s, which is for tests", path, imported)
			}
			if test && rest == "scene/live" && slices.Contains(mayImport["core/engine"], folder) {
				t.Errorf("%s imports %s, and with it the engine, which is compiled once more for this test: its place is scene/live", path, imported)
			}
			ok := test && (to == "sim" || to == "scene" || to == "core" && (room == "core" || slices.Contains(allowed, "core")))
			for _, a := range allowed {
				inside, all := strings.CutSuffix(a, "/...")
				ok = ok || a == rest || all && (rest == inside || strings.HasPrefix(rest, inside+"/"))
			}
			if !ok {
				t.Errorf("%s imports %s: %s may use %v", path, imported, folder, allowed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("only %d Go files found: is this run from the project's root?", files)
	}
}
