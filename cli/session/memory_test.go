package session

import "testing"

// The more nodes, the more garbage may wait; but at least as much as a part of what is kept, and of a small cluster no more than that.
func TestGarbageWaitsByTheSizeOfTheCluster(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name  string
		nodes int
		kept  uint64
		want  int
	}{
		{"nothing yet", 0, 0, 50},
		{"a small cluster", 20, 6 * mib, 50},
		{"500 nodes", 500, 8 * mib, 192},
		{"500 nodes, 15,000 instances", 500, 16 * mib, 50},
		{"2,000 nodes", 2000, 22 * mib, 142},
		{"2,000 nodes, 100,000 instances", 2000, 75 * mib, 50},
		{"few nodes, much kept", 100, 75 * mib, 50},
		{"a demo of 2,000 nodes", 2000, 400 * mib, 30},
	} {
		if got := collectFor(tt.nodes, tt.kept); got != tt.want {
			t.Errorf("%s: %d %%, want %d", tt.name, got, tt.want)
		}
	}
}

// A small cluster is worked for on one processor, a large one on two, and never on more than there are.
func TestProcessorsByTheSizeOfTheCluster(t *testing.T) {
	for _, tt := range []struct{ nodes, machine, want int }{
		{0, 64, 1}, {500, 64, 1}, {1000, 64, 1}, {1001, 64, 2}, {2000, 64, 2}, {2000, 1, 1}, {500, 1, 1},
	} {
		if got := processorsFor(tt.nodes, tt.machine); got != tt.want {
			t.Errorf("%d nodes on a machine of %d: %d processors, want %d", tt.nodes, tt.machine, got, tt.want)
		}
	}
}

// A demo starts with the memory that one of 2,000 nodes needs, and a larger one with more.
func TestMemoryOfAStartByTheSizeOfTheCluster(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		nodes int
		want  int64
	}{{500, 510 * mib}, {2000, 510 * mib}, {4096, 1020 * mib}} {
		if got := startLimit(tt.nodes); got != tt.want {
			t.Errorf("%d nodes: %d bytes, want %d", tt.nodes, got, tt.want)
		}
	}
}

// The larger the cluster, the more memory; and always enough for what is kept and some garbage.
func TestMemoryByTheSizeOfTheCluster(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		name  string
		nodes int
		kept  uint64
		want  int64 // MiB
	}{
		{"a small cluster", 20, 6 * mib, 20},
		{"500 nodes, 15,000 instances", 500, 16 * mib, 42},
		{"2,000 nodes, 100,000 instances", 2000, 65 * mib, 109},
		{"the same while much is under way", 2000, 75 * mib, 117},
		{"few nodes, much kept", 100, 75 * mib, 117},
	} {
		if got := limitFor(tt.nodes, tt.kept) / mib; got != tt.want {
			t.Errorf("%s: %d MiB, want %d", tt.name, got, tt.want)
		}
	}
}
