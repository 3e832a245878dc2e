package pseudonym

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write words.txt anew")

// aWord is what may be a word of Lockstep's: no number, and nothing made up for an example.
var aWord = regexp.MustCompile(`^(?:[a-z]{1,40}|[a-z]{1,4}\d{1,2}[a-z]{0,3})$`)

func add(words map[string]bool, text string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWord(r) }) {
		if aWord.MatchString(w) {
			words[w] = true
		}
	}
}

// wordsOf are the words of the texts in the code of some folders.
func wordsOf(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	words := map[string]bool{}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			file.Decls = slices.DeleteFunc(file.Decls, func(d ast.Decl) bool {
				g, ok := d.(*ast.GenDecl)
				return ok && g.Tok == token.IMPORT
			})
			for _, decl := range file.Decls {
				ast.Inspect(decl, func(n ast.Node) bool {
					if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
						text, _ := strconv.Unquote(l.Value)
						add(words, text)
					}
					return true
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return words
}

// The words that may stay are those of Lockstep's own texts and of what it knows of MOSK: nearly all of them, and no others. A few that
// are new do not matter: they are left out of an exported recording until the list is written again
// (go test ./cli/pseudonym -run Words -update).
func TestTheWordsThatMayStayAreLocksteps(t *testing.T) {
	folders := []string{"core", "kube", "nova"}
	own := wordsOf(t, folders...)
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "mosk.md"))
	if err != nil {
		t.Fatal(err)
	}
	add(own, string(document))
	if *update {
		list := strings.Join(slices.Sorted(maps.Keys(own)), "\n") + "\n"
		if err := os.WriteFile("words.txt", []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		vocabulary = own
	}
	missing, strange := 0, 0
	for w := range own {
		if !vocabulary[w] {
			missing++
		}
	}
	for w := range vocabulary {
		if !own[w] {
			strange++
		}
	}
	if len(own) < 1500 || missing > len(own)/20 || strange > len(own)/20 {
		t.Errorf("of %d words %d are not in the list, and %d of the list are no words of Lockstep or MOSK: write it again with -update", len(own),
			missing, strange)
	}
	for w := range wordsOf(t, "core/progress") { // locks are read by what they say
		if !vocabulary[w] {
			t.Errorf("%q is not in the list: a lock's text may have it", w)
		}
	}
}
