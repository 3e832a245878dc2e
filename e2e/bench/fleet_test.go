package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/e2e/build"
)

// The harness runs itself as the process of the cloud; in tests that is the test's own binary.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == cloudCommand {
		if err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestAFleetHasWhatItSays(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, f := range fleets {
		names, maintained, live := map[string]bool{}, 0, 0
		for _, m := range f.machines() {
			names[m.Node], names[m.Short] = true, true
			if m.Maintained {
				maintained++
			}
			if m.Mode == modeLive {
				live++
			}
		}
		if len(names) != 2*f.Nodes || maintained != f.Maintained || live == f.Nodes {
			t.Errorf("%s: %d names, %d in maintenance, %d in mode live", f, len(names), maintained, live)
		}
		guests := map[string]bool{}
		for _, g := range f.guests() {
			guests[g.ID] = true
			if !uuid.MatchString(g.ID) || !names[g.Host] {
				t.Fatalf("%s: instance %s on %s", f, g.ID, g.Host)
			}
		}
		if len(guests) != f.Instances {
			t.Errorf("%s: %d instances", f, len(guests))
		}
		if f.probeEvery() < time.Second/time.Duration(f.Rate) {
			t.Errorf("%s: the probes alone make more changes than there are to be", f)
		}
	}
	if _, err := fleetNamed("51"); err == nil {
		t.Error("there is a fleet of 51 nodes")
	}
}

func TestProcFilesAreRead(t *testing.T) {
	m, err := memoryIn("Name:\tx\nVmHWM:\t    4096 kB\nVmRSS:\t    2048 kB\n")
	if err != nil || m != (memory{now: 2, most: 4}) {
		t.Errorf("the memory is %+v, %v", m, err)
	}
	if _, err := memoryIn("nothing"); err == nil {
		t.Error("there is a memory in nothing")
	}
	if used, err := processorTime(os.Getpid()); err != nil || used <= 0 {
		t.Error(used, err)
	}
	if used, err := processorTime(1 << 22); err == nil {
		t.Errorf("a process that is not there has used %s", used)
	}
}

// The smallest fleet, looked at for a moment: everything is measured, and no change is lost. How long it takes is nobody's business
// here.
func TestTheSmallestFleetIsMeasured(t *testing.T) {
	t.Parallel()
	lockstep, err := build.Lockstep(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var progress strings.Builder
	short := pace{starts: 2, settle: time.Second, idle: time.Second, change: 2 * time.Second, keys: 15}
	h := harness{lockstep: lockstep, pace: short, progress: &progress}
	runs, filled, err := h.measure(t.Context(), fleets[0])
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	if len(runs) != 3 || filled <= 0 {
		t.Fatalf("%d runs, filled in %s", len(runs), filled)
	}
	for _, r := range runs[:2] {
		for _, m := range metrics {
			if _, measured := r.Figures[m.name]; !measured {
				t.Errorf("%s: no %s", r.title(), m.title)
			}
		}
		for _, none := range []string{lost, changeUnseen} {
			if r.Figures[none] != 0 {
				t.Errorf("%s: %s is %g\n%s", r.title(), none, r.Figures[none], progress.String())
			}
		}
		for _, some := range []string{firstRows, residentNow, changeRate, changeProcessor, keyMedian, keyCount, keyRate, keyProcessor,
			changeCount} {
			if r.Figures[some] <= 0 {
				t.Errorf("%s: %s is %g", r.title(), some, r.Figures[some])
			}
		}
	}
	if runs[2].Missing == "" {
		t.Errorf("k9s was measured, by %q: %v", h.k9s, slices.Sorted(maps.Keys(runs[2].Figures)))
	}
}
