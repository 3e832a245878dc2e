package cli

import (
	"context"
	"os"
	"runtime/debug"

	"lockstep/core"
)

// collectAt is Go's GOGC in the programs that run for hours, once they are started: the collector runs when the heap has grown by this
// many percent.
//
// The jump host is shared, so memory counts more than the collector's work there: at Go's own 100, up to half of what is resident is
// garbage that waits. Lockstep allocates when the cloud changes and when it lists; at rest the collector does not run at all, whatever
// this says.
const collectAt = 30

// settle waits until all first lists are in or cannot be had. Then the start is over: what waited for it begins, the program becomes
// small, and what the lists have left goes back to the system. The decoded pages of a large cloud are several times what is kept of
// them, and Go would hold that for minutes, until its next collections. The program's own pages, most of which only the start needed, go,
// too.
func (s *session) settle(ctx context.Context) {
	snapshots, stop := s.engine.Subscribe()
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
				if os.Getenv("GOGC") == "" { // who sets it knows why
					debug.SetGCPercent(collectAt)
				}
				debug.FreeOSMemory()
				unmapProgram()
				return
			}
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
