package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"

	"lockstep/e2e/build"
)

// Manifest reads a file of the program's folder deploy/.
func Manifest(name string) ([]byte, error) {
	root, err := build.Root()
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(root), "deploy", name))
	if err != nil {
		return nil, fmt.Errorf("read a manifest: %w", err)
	}
	return raw, nil
}

// GrantRights applies the manifests of deploy/ for the MOSK cluster, those for changing and the read-only one on which they rest,
// with the bindings that they give as an example in their comments.
func (c *Cluster) GrantRights(ctx context.Context) error { return GrantRights(ctx, c.Config(Admin)) }

// GrantRights does so on any API server.
func GrantRights(ctx context.Context, config *rest.Config) error {
	for _, name := range []string{"rbac-readonly.yaml", "rbac-operator.yaml", "rbac-maintenance.yaml"} {
		manifest, err := Manifest(name)
		if err != nil {
			return err
		}
		_, example, found := strings.Cut(string(manifest), "# ---\n")
		if !found {
			return fmt.Errorf("%s has no example bindings", name)
		}
		var bindings strings.Builder
		for line := range strings.Lines(example) {
			bindings.WriteString(strings.TrimPrefix(line, "# "))
		}
		for _, objects := range []string{string(manifest), bindings.String()} {
			if err := Apply(ctx, config, []byte(objects)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}
