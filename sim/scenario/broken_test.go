package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/sim/scenario"
)

// whole is a small file in the form of `lockstep snapshot`.
const whole = `# A live cloud
format: 1
name: mos
title: "Rehearsal of the update of mos"
teaches: "Your own fleet"
cluster: mos
release: {from: "17.4.0+25.1", to: "21.0.0+25.2"}
kubelet: {from: v1.30.14, to: v1.31.9}
rockoon: {from: "1.1.5", to: "1.1.5"}
update:
  order: [cmp-1]
nodes:
  - {machine: ctl-1, name: kaas-node-1, roles: [controller, master]}
  - {machine: cmp-1, name: kaas-node-2, roles: [compute]}
flavors:
  - {name: m1.tiny, vcpus: 1, diskGiB: 1, id: "1", memoryMiB: 512}
projects: [shop]
instances:
  - {name: web, project: shop, flavor: m1.tiny, host: cmp-1, id: 00000000-0000-4000-8000-000000000001}
  - {name: web, project: shop, flavor: m1.tiny, host: cmp-1, id: 00000000-0000-4000-8000-000000000002}
found:
  at: "2026-11-21T19:30:00Z"
  nodeLocks:
    - {name: openstack-kaas-node-2, controller: openstack, node: cmp-1, state: active}
  projects:
    - {name: shop, id: "0123456789abcdef0123456789abcdef"}
...
`

func TestAWholeFileIsRead(t *testing.T) {
	s, err := scenario.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Rehearsal(), "mos as of 2026-11-21 19:30 UTC"; got != want {
		t.Errorf("the rehearsal is of %q, want %q", got, want)
	}
	var again strings.Builder
	if err := s.Write(&again); err != nil {
		t.Fatal(err)
	}
	twice, err := scenario.Parse([]byte(again.String()))
	if err != nil {
		t.Fatalf("what was written is not read again: %v\n%s", err, again.String())
	}
	var thrice strings.Builder
	if err := twice.Write(&thrice); err != nil || thrice.String() != again.String() {
		t.Errorf("the second writing differs (%v):\n%s\n%s", err, again.String(), thrice.String())
	}
}

// Opening a broken file, or one of another program, gives an error that says what is wrong, and where.
func TestBrokenAndForeignFiles(t *testing.T) {
	change := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("the file has no %q", old)
		}
		return strings.Replace(whole, old, new, 1)
	}
	upTo := func(mark string) string {
		head, _, _ := strings.Cut(whole, mark)
		return head
	}
	tests := []struct {
		name, file string
		want       []string
	}{
		{"nothing", "  \n", []string{"is empty"}},
		{"binary", "\x7fELF\x00\x01", []string{"is not text"}},
		{"another encoding", "name: caf\xe9\n", []string{"is not text"}},
		{"a kubeconfig", "apiVersion: v1\nkind: Config\nclusters: []\n", []string{"is a kubeconfig", "lockstep snapshot"}},
		{"a manifest", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", []string{"Kubernetes manifest", "ConfigMap"}},
		{"a clouds.yaml", "clouds:\n  prod:\n    auth: {}\n", []string{"is a clouds.yaml"}},
		{"a JSON document", `{"sources": [], "nodes": []}`, []string{"sources"}},
		{"JSON that is no object", `[1, 2]`, []string{"line 1", "not a field of a scenario"}},
		{"a text", "Dear colleague,\nplease find attached\n", []string{"line 1", "Dear colleague", "not a field of a scenario"}},
		{"a newer format", change("format: 1", "format: 2"), []string{"line 2: format", "of format 2", "up to 1"}},
		{"a format that is none", change("format: 1", "format: new"), []string{"line 2: format", "new"}},
		{"cut off in a line", upTo("controller: openstack, node"), []string{"line"}},
		{"cut off between lines", upTo("  projects:\n    - "), []string{"cut off"}},
		{"cut off before its end", upTo("..."), []string{"cut off"}},
		{"no time", change(`at: "2026-11-21T19:30:00Z"`, `by: somebody`), []string{"found.at"}},
		{"a time that is none", change("2026-11-21T19:30:00Z", "yesterday"), []string{"yesterday", "2026-11-21T19:30:00Z"}},
		{"an ID twice", change("000000000002}", "000000000001}"), []string{"web", "twice"}},
		{"an unknown host", change("host: cmp-1", "host: cmp-9"), []string{"web", "cmp-9"}},
		{"an unknown flavor", change("flavor: m1.tiny", "flavor: m1.huge"), []string{"web", "m1.huge"}},
		{"an unknown project", change("project: shop", "project: shed"), []string{"web", "shed"}},
		{"a lock of no controller", change("controller: openstack, ", ""), []string{"openstack-kaas-node-2", "controller"}},
		{"a lock in no state", change("state: active", "state: asleep"),
			[]string{"line 24: found.nodeLocks[0].state", "openstack-kaas-node-2", "asleep"}},
		{"a field that is none", change("diskGiB: 1", "diskGB: 1"), []string{"line 16: flavors[0].diskGB"}},
		{"a text for a number", change("vcpus: 1", "vcpus: one"), []string{"vcpus"}},
		{"no nodes", upTo("nodes:\n") + "found: {at: \"2026-11-21T19:30:00Z\"}\n...\n", []string{"no nodes"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "mos.yaml")
			if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := scenario.LoadFile(path)
			if err == nil {
				t.Fatal("it was read")
			}
			if !strings.Contains(err.Error(), path) {
				t.Errorf("the file is not named: %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, err)
				}
			}
		})
	}
}
