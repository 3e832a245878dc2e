// Command programs compiles what the end-to-end tests run: all of it, or what its arguments name. The tests compile what is
// missing themselves.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"lockstep/e2e/build"
)

func main() {
	ctx := context.Background()
	for _, program := range []struct {
		name    string
		compile func(context.Context) (string, error)
	}{
		{"lockstep", func(ctx context.Context) (string, error) { return build.Lockstep(ctx) }},
		{"kube-apiserver", build.APIServer},
		{"kubectl", build.Kubectl},
		{"k9s", build.K9s},
		{"alertmanager", build.Alertmanager},
	} {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], program.name) {
			continue
		}
		begun := time.Now()
		path, err := program.compile(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Printf("%4.0f s  %s\n", time.Since(begun).Seconds(), path)
	}
}
