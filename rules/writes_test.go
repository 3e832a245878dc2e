package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What changes something on a server is in the adapters' senders, which only Write, with its Permit, and DryRun make. Besides, kube asks
// what a login may do, which is a POST that changes nothing, keeps the operator lease, which it needs before any Permit, and, where the
// configuration wants it, makes Events, which change nothing but what people read.
func TestOnlyWritersWrite(t *testing.T) {
	t.Chdir("..")
	senders := map[string][]string{"kube": {"sender", "managementSender", "alertSender"}, "nova": {"Writer"}}
	besides := []string{"kube/access.go", "kube/leaseobject.go", "kube/whoami.go", "kube/announcer.go"}
	kubeVerbs := []string{"Create", "Update", "UpdateStatus", "Patch", "Apply", "ApplyStatus", "Delete", "DeleteCollection"}
	httpVerbs := []string{"MethodPost", "MethodPut", "MethodPatch", "MethodDelete"}
	writes, made := map[string]int{}, 0
	for room, allowed := range senders {
		files, err := filepath.Glob(room + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			path = filepath.ToSlash(path)
			if strings.HasSuffix(path, "_test.go") || slices.Contains(besides, path) {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				fn, _ := d.(*ast.FuncDecl)
				of, name := receiverOf(fn), ""
				if fn != nil {
					name = fn.Name.Name
				}
				ast.Inspect(d, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.CallExpr: // of the dynamic client: its calls begin with a context
						s, ok := n.Fun.(*ast.SelectorExpr)
						if room != "kube" || !ok || len(n.Args) < 2 || !slices.Contains(kubeVerbs, s.Sel.Name) {
							return true
						}
						if arg, ok := n.Args[0].(*ast.Ident); !ok || arg.Name != "ctx" {
							return true
						}
						writes[room]++
						if !slices.Contains(allowed, of) {
							t.Errorf("%s: %s calls %s, and is no method of %v", path, name, s.Sel.Name, allowed)
						}
					case *ast.SelectorExpr:
						if x, ok := n.X.(*ast.Ident); !ok || x.Name != "http" || !slices.Contains(httpVerbs, n.Sel.Name) ||
							path == "nova/limiter.go" { // which tells a login from a call
							return true
						}
						writes[room]++
						if !slices.Contains(allowed, of) {
							t.Errorf("%s: %s uses http.%s, and is no method of %v", path, name, n.Sel.Name, allowed)
						}
					case *ast.CompositeLit:
						if x, ok := n.Type.(*ast.Ident); ok && room == "kube" && slices.Contains(allowed, x.Name) {
							made++
							if name != "Write" && name != "DryRun" {
								t.Errorf("%s: %s makes a %s", path, name, x.Name)
							}
						}
					}
					return true
				})
			}
		}
	}
	if writes["kube"] < 6 || writes["nova"] < 5 || made != 5 {
		t.Errorf("found are %v, and %d senders that are made: does this test still see them?", writes, made)
	}
}

// receiverOf is the type of which a function is a method; empty when of none.
func receiverOf(fn *ast.FuncDecl) string {
	if fn == nil || fn.Recv == nil {
		return ""
	}
	of := fn.Recv.List[0].Type
	if p, ok := of.(*ast.StarExpr); ok {
		of = p.X
	}
	name, _ := of.(*ast.Ident)
	return name.Name
}
