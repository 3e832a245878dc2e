// Package build compiles the programs that the end-to-end tests run. The first call of a process for a program is one `go build`, which
// is quick when nothing has changed, thanks to Go's cache.
package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// ServerVersion is the version that the kube-apiserver reports: that of k8s.io/kubernetes in kubeapiserver/go.mod. The linker's
// -X sets it.
const ServerVersion = "v1.36.3"

// compiled are the paths of what this process has compiled.
var compiled = struct {
	sync.Mutex
	paths map[string]string
}{paths: map[string]string{}}

// APIServer compiles the kube-apiserver with its etcd (kubeapiserver/) and returns its path. The first build on a machine takes
// minutes.
func APIServer(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return compile(ctx, root, filepath.Join(root, "kubeapiserver"), "kube-apiserver", serverFlags()...)
}

// serverFlags are go build's flags for the programs of Kubernetes.
func serverFlags() []string {
	major, rest, _ := strings.Cut(strings.TrimPrefix(ServerVersion, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	flags := []string{
		"-s", "-w",
		"-X k8s.io/component-base/version.gitVersion=" + ServerVersion,
		"-X k8s.io/component-base/version.gitMajor=" + major,
		"-X k8s.io/component-base/version.gitMinor=" + minor,
		"-X k8s.io/client-go/pkg/version.gitVersion=" + ServerVersion,
	}
	// Two compilers at a time keep a shared machine usable.
	return []string{"-p", "2", "-ldflags", strings.Join(flags, " ")}
}

// Kubectl compiles kubectl of the same release (the module kubeapiserver/ pins it as a tool) and returns its path. With a cold
// cache this takes 40 seconds on top of the server's own build, with which it shares most of its packages.
func Kubectl(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return compilePackage(ctx, root, filepath.Join(root, "kubeapiserver"), "k8s.io/kubernetes/cmd/kubectl", "kubectl", serverFlags()...)
}

// Lockstep compiles the program under test from the checkout that contains this module and returns its path.
func Lockstep(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return compile(ctx, root, filepath.Dir(root), "lockstep", "-ldflags", "-s -w")
}

// RacingLockstep compiles it with the race detector, which needs a C compiler. It has a path of its own, as other packages that run at the
// same time build the plain one.
func RacingLockstep(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return compile(ctx, root, filepath.Dir(root), "lockstep-race", "-race")
}

// compile builds the main package in dir to <root>/bin/<name>, without cgo unless the flags ask for the race detector, which
// needs it.
func compile(ctx context.Context, root, dir, name string, flags ...string) (string, error) {
	return compilePackage(ctx, root, dir, ".", name, flags...)
}

// compilePackage builds another package, at the version that the module in dir pins. A process compiles each program once: go
// build takes seconds even when nothing has changed.
func compilePackage(ctx context.Context, root, dir, path, name string, flags ...string) (string, error) {
	compiled.Lock()
	defer compiled.Unlock()
	key := strings.Join(append([]string{dir, path, name}, flags...), " ")
	if out, done := compiled.paths[key]; done {
		return out, nil
	}
	// Several test packages may build at the same time.
	unlock, err := lock(root, name)
	if err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	defer unlock()

	out := filepath.Join(root, "bin", name)
	cgo := "CGO_ENABLED=0"
	for _, flag := range flags {
		if flag == "-race" {
			cgo = "CGO_ENABLED=1"
		}
	}
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build"}, flags...), "-o", out, path)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), cgo)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build %s in %s: %w\n%s", name, dir, err, output.String())
	}
	compiled.paths[key] = out
	return out, nil
}

// lock takes the exclusive lock of a name in <root>/bin, creates the folder if it is missing, and returns the function that
// releases the lock.
func lock(root, name string) (func(), error) {
	bin := filepath.Join(root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(bin, "."+name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { file.Close() }, nil
}

// Root returns the folder of the module lockstep/e2e: the nearest one above the working directory whose go.mod names it.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module lockstep/e2e\n")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod of lockstep/e2e above the working directory: run this from inside e2e")
		}
		dir = parent
	}
}

// Alertmanager compiles the real Alertmanager, at the version that the module alertmanager/ pins, and returns its path.
func Alertmanager(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	const path = "github.com/prometheus/alertmanager/cmd/alertmanager"
	return compilePackage(ctx, root, filepath.Join(root, "alertmanager"), path, "alertmanager", "-p", "2", "-ldflags", "-s -w")
}
