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
const collectAt = 50

// giveBack makes a program that runs for hours small, and returns what the first lists have left to the system, once all of them are in or cannot be had: the decoded pages of a
// large cloud are several times what is kept of them, and Go would hold that for minutes, until its next collections.
func (s *session) giveBack(ctx context.Context) {
	snapshots, stop := s.engine.Subscribe()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case snap := <-snapshots:
			if listed(snap) {
				if os.Getenv("GOGC") == "" { // who sets it knows why
					debug.SetGCPercent(collectAt)
				}
				debug.FreeOSMemory()
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
