package session

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"

	"lockstep/core"
)

// The jump host is shared, so memory counts more than the collector's work there: at Go's own GOGC of 100, up to half of what is resident
// is garbage that waits. Lockstep allocates when the cloud changes and when it lists; at rest the collector does not run at all, whatever
// these say.
const (
	// collectAt is GOGC at least: the collector runs when the heap has grown by this many percent.
	collectAt = 30
	// collectSmall is GOGC at least while this much garbage is no more than garbageSmall, in bytes: a demo has its whole cloud in the heap.
	collectSmall = 50
	garbageSmall = 40 << 20
	// garbageOf is how much garbage may wait for each node, in bytes. A Snapshot of more nodes makes more of it, several times a second, and
	// each run of the collector looks at all that is kept.
	garbageOf = 16 << 10
	// heapOf is how much may be in the heap for each node, in bytes, kept and garbage together: of a cluster without OpenStack little is kept,
	// and the collector would run often for it. Above heapSmall, in bytes, garbageOf counts alone.
	heapOf    = 48 << 10
	heapSmall = 24 << 20
)

// What the collector works for is more than what is kept and its garbage: pages that only hold a few small objects, and those that are
// free and not given back yet. They come and go, and are as much as the garbage. So there is also a limit for all of it, near which the
// collector runs more often and free pages are given back at once. What the operating system maps of the program itself, some 26 MiB,
// comes on top.
const (
	// mapped and mappedOf are the limit: so many bytes, and so many for each node.
	mapped   = 20 << 20
	mappedOf = 46 << 10
	// mappedMore and mappedPart are the limit at least: so many bytes more than so many percent of what is kept. A limit with less room
	// would have the collector run all the time.
	mappedMore = 12 << 20
	mappedPart = 140
)

// While a large simulated cloud starts, Go's own GOGC would let as much garbage wait as the cloud is large. So the collector also runs
// before the program takes more than startAtMost, in bytes, or startOf for each node.
const (
	startAtMost = 510 << 20
	startOf     = 255 << 10
)

// The dashboard works in bursts: some milliseconds at each beat, most of them in one goroutine after another. To hand a burst from one
// processor to the next costs more than a second processor gains, and a machine with many of them would lend dozens of threads to the
// collector. Until the first lists are in, the program takes all that the machine has.
const (
	// oneProcessor is up to how many nodes it works on one processor. A Snapshot of more nodes takes so long that a key would wait for it.
	oneProcessor  = 1000
	twoProcessors = 2
)

// fitAgain is how often it is looked whether the heap or the cluster has become another size.
const fitAgain = time.Minute

// processorsFor is how many processors work for a cluster of so many nodes on a machine that has so many.
func processorsFor(nodes, machine int) int {
	if nodes <= oneProcessor {
		return 1
	}
	return min(machine, twoProcessors)
}

// collectFor is GOGC for a cluster of so many nodes of which so many bytes are kept.
func collectFor(nodes int, kept uint64) int {
	kept = max(kept, 1)
	room := int64(min(uint64(nodes)*heapOf, heapSmall)) - int64(kept)
	garbage := max(int64(nodes)*garbageOf, room)
	return max(collectAt, min(collectSmall, int(garbageSmall*100/kept)), int(garbage*100/int64(kept)))
}

// limitFor is the memory in bytes for a cluster of so many nodes of which so many bytes are kept.
func limitFor(nodes int, kept uint64) int64 {
	return max(mapped+int64(nodes)*mappedOf, mappedMore+int64(kept)*mappedPart/100)
}

// startLimit is the memory in bytes up to which a simulated cloud of so many nodes starts without more work for the collector.
func startLimit(nodes int) int64 { return max(startAtMost, int64(nodes)*startOf) }

// LimitStart gives the program the memory that the start of a simulated cloud of so many nodes takes.
func LimitStart(nodes int) { limitMemory(startLimit(nodes)) }

// limitMemory sets GOMEMLIMIT in bytes. Who sets it in the environment knows why.
func limitMemory(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}

// keptBytes are those that the last run of the collector has found in use.
func keptBytes() uint64 {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtimemetrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Settle waits until all first lists are in or cannot be had. Then the start is over: what waited for it begins, the program becomes
// small, and what the lists have left goes back to the system. The decoded pages of a large cloud are several times what is kept of
// them, and Go would hold that for minutes, until its next collections. The program's own pages, most of which only the start needed, go,
// too.
func (s *Session) Settle(ctx context.Context) {
	snapshots, stop := s.Engine.Subscribe()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case snap := <-snapshots:
			if listed(snap) {
				if s.begin != nil {
					s.begin()
				}
				debug.FreeOSMemory()
				limitMemory(math.MaxInt64) // from here on, fit says how much
				unmapProgram()
				s.fit(ctx)
				return
			}
		}
	}
}

// fit sets GOGC, the limit of memory and the number of processors by what there is, until ctx is done. Who sets them in the environment
// knows why. A demo has its whole cloud in this process: it has no limit, and all processors.
func (s *Session) fit(ctx context.Context) {
	again := time.NewTicker(fitAgain)
	defer again.Stop()
	for {
		nodes, kept := len(s.Engine.Snapshot().Nodes), keptBytes()
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(collectFor(nodes, kept))
		}
		if !s.inProcess {
			limitMemory(limitFor(nodes, kept))
			if os.Getenv("GOMAXPROCS") == "" {
				runtime.GOMAXPROCS(processorsFor(nodes, runtime.NumCPU()))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-s.listedAgain:
			debug.FreeOSMemory() // a list of thousands of locks leaves as much as the first ones did
		case <-again.C:
			unmapProgram() // what the start of the screen needed, or what is looked at no more
		}
	}
}

// listed tells whether every source has shown what it has, or why it cannot.
func listed(snap *core.Snapshot) bool {
	for _, source := range snap.Sources {
		if source.State == core.SourceConnecting {
			return false
		}
	}
	return len(snap.Sources) > 0
}
