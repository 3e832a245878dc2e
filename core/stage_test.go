package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// No stage is left out of Stages: what counts nodes by them would lose some.
func TestStagesAreAllThatThereAre(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "stage.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []Stage
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != "Stage" {
			t.Errorf("%s is no Stage", spec.Names[0])
			return false
		}
		for _, v := range spec.Values {
			text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, Stage(text))
		}
		return false
	})
	if got := Stages(); len(want) < 12 || !slices.Equal(got, want) {
		t.Errorf("%q, and there are %q", got, want)
	}
}
