package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"lockstep/e2e/build"
)

// Machine is what the figures were measured on, and with which servers and tools.
type Machine struct {
	CPU           string  `json:"cpu"`
	Cores         int     `json:"cores"`
	MemoryGiB     float64 `json:"memoryGiB"`
	Kernel        string  `json:"kernel"`
	Go            string  `json:"go"` // of the harness
	KubeAPIServer string  `json:"kubeAPIServer"`
	K9s           string  `json:"k9s,omitempty"` // empty: not on the PATH
}

// String is the machine in one line.
func (m Machine) String() string {
	text := fmt.Sprintf("%s, %d cores, %.0f GiB; Linux %s, %s, kube-apiserver %s", m.CPU, m.Cores, m.MemoryGiB, m.Kernel, m.Go,
		m.KubeAPIServer)
	if m.K9s != "" {
		text += ", k9s " + m.K9s
	}
	return text
}

// thisMachine describes the machine; k9s is the program's path or empty. k9s writes into the folder home.
func thisMachine(ctx context.Context, k9s, home string) Machine {
	m := Machine{CPU: "unknown", Cores: runtime.NumCPU(), Go: runtime.Version(), KubeAPIServer: build.ServerVersion}
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		m.CPU = orUnknown(field(string(info), "model name"))
	}
	if info, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kib float64
		if _, err := fmt.Sscan(field(string(info), "MemTotal"), &kib); err == nil {
			m.MemoryGiB = kib / (1 << 20)
		}
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(release))
	}
	if k9s != "" {
		m.K9s = orUnknown(field(printed(ctx, []string{"HOME=" + home, "K9S_CONFIG_DIR=" + home}, "", k9s, "version", "-s"), "Version"))
	}
	return m
}

// field is the value behind a name and a colon or blanks, in the first line that begins with the name.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), name); found {
			return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), ":"))
		}
	}
	return ""
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// printed is what a command prints; empty if it fails. Without an environment it has the harness's own.
func printed(ctx context.Context, env []string, dir, program string, args ...string) string {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, env
	raw, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// commitOf is the commit of the checkout that contains this module, with "-dirty" when it has changes; "unknown" outside of git.
func commitOf(ctx context.Context) string {
	root, err := build.Root()
	if err != nil {
		return "unknown"
	}
	return orUnknown(printed(ctx, nil, filepath.Dir(root), "git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"))
}
