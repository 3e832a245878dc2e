package main

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAPercentileIsOneOfTheSamples(t *testing.T) {
	var hundred []time.Duration
	for i := 100; i > 0; i-- {
		hundred = append(hundred, time.Duration(i))
	}
	for _, test := range []struct {
		all     []time.Duration
		percent float64
		want    time.Duration
	}{
		{nil, 50, 0},
		{[]time.Duration{7}, 50, 7},
		{[]time.Duration{7}, 99, 7},
		{[]time.Duration{9, 1}, 50, 1},
		{[]time.Duration{9, 1, 5}, 50, 5},
		{[]time.Duration{9, 1, 5}, 99, 9},
		{hundred, 50, 50},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred[:50], 99, 100},
	} {
		if got := percentile(test.all, test.percent); got != test.want {
			t.Errorf("percentile %g of %d samples is %d, want %d", test.percent, len(test.all), got, test.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("the samples were sorted in place")
	}
}

// report is one of a fleet of 500: Lockstep without and with OpenStack, and no k9s.
func report(commit string, factor float64) Report {
	return Report{
		Commit: commit, Version: "lockstep " + commit, Date: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC),
		Machine:  Machine{CPU: "a processor", Cores: 2, MemoryGiB: 24, Kernel: "6.1", Go: "go1.26", KubeAPIServer: "v1.36.3"},
		FillTook: map[string]float64{"500": 4.25},
		Runs: []Run{
			{Fleet: "500", Program: programLockstep, Figures: Figures{firstRows: 0.5 * factor, keyMedian: 20 * factor, keyCount: 300, lost: 0}},
			{Fleet: "500", Program: programLockstep, OpenStack: true, Figures: Figures{firstRows: 0.75 * factor, changeRate: 20}},
			{Fleet: "500", Program: programK9s, Missing: "not on the PATH"},
		},
	}
}

func TestFiguresAreReadAsTheyWereKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.json")
	want := report("abc", 1)
	if err := writeReport(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := readReport(path)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, kept %+v", got, want)
	}
	if _, err := readReport(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestTheTableHasAColumnForEachRun(t *testing.T) {
	var out bytes.Buffer
	if err := printReport(&out, report("abc", 1)); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"lockstep abc, measured from abc, 2026-03-14 12:00 UTC",
		"a processor, 2 cores, 24 GiB; Linux 6.1, go1.26, kube-apiserver v1.36.3",
		"500 nodes, 15000 instances, 1500 locks; filled in 4.2 s",
		"| 20 changes a second | lockstep | lockstep + OpenStack | k9s |",
		"| first rows, s | 0.50 | 0.75 | not on the PATH |",
		"| key to frame, median, ms | 20.0 | – | – |",
		"| keys looked at | 300 | – | – |",
		"| not shown in the end | 0 | – | – |",
	} {
		if !containsLine(out.String(), line) {
			t.Errorf("no line %q in\n%s", line, out.String())
		}
	}
}

func TestAComparisonHasBothAndTheRatio(t *testing.T) {
	var out bytes.Buffer
	after := report("def", 0.5)
	after.Runs = append(after.Runs, Run{Fleet: "2000", Program: programLockstep, Figures: Figures{firstRows: 1}})
	if err := compareReports(&out, report("abc", 1), after); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"old: lockstep abc, measured from abc, 2026-03-14 12:00 UTC",
		"new: lockstep def, measured from def, 2026-03-14 12:00 UTC",
		"500 nodes, lockstep + OpenStack",
		"| | old | new | new / old |",
		"| first rows, s | 0.50 | 0.25 | 0.50 |",
		"| key to frame, median, ms | 20.0 | 10.0 | 0.50 |",
		"| keys looked at | 300 | 300 | |",
		"2000 nodes, lockstep: only in the new figures",
	} {
		if !containsLine(out.String(), line) {
			t.Errorf("no line %q in\n%s", line, out.String())
		}
	}
	if strings.Contains(out.String(), "different machines") || strings.Contains(out.String(), "k9s") {
		t.Errorf("it says too much:\n%s", out.String())
	}
	out.Reset()
	after.Machine.Cores = 64
	if err := compareReports(&out, report("abc", 1), after); err != nil {
		t.Fatal(err)
	}
	if !containsLine(out.String(), "They were measured on different machines.") {
		t.Errorf("two machines go unnoticed:\n%s", out.String())
	}
}

// containsLine finds a line, whatever blanks line up its columns.
func containsLine(text, want string) bool {
	for line := range strings.Lines(text) {
		if strings.Join(strings.Fields(line), " ") == want {
			return true
		}
	}
	return false
}
