package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"
)

// The names of what is measured, as they are kept.
const (
	firstRows       = "first-rows"
	allLive         = "live"
	residentNow     = "resident"
	residentMost    = "resident-most"
	idleProcessor   = "idle-cpu"
	idleBytes       = "idle-bytes"
	changeRate      = "change-rate"
	changeProcessor = "change-cpu"
	changeBytes     = "change-bytes"
	keyMedian       = "key-median"
	keyP99          = "key-p99"
	keyCount        = "key-count"
	keyRate         = "key-rate"
	keyProcessor    = "key-cpu"
	echoMedian      = "echo-median"
	echoP99         = "echo-p99"
	changeMedian    = "change-median"
	changeP99       = "change-p99"
	watchMedian     = "watch-median"
	watchP99        = "watch-p99"
	changeCount     = "change-count"
	changeUnseen    = "change-unseen"
	lost            = "lost"
)

// metric is one thing that is measured.
type metric struct {
	name, title, unit string
	decimals          int
	ratio             bool // less is better, and the ratio of two commits says how much
}

// metrics are what is measured, in the order of the tables.
var metrics = []metric{
	{firstRows, "first rows", "s", 2, true},
	{allLive, "everything live", "s", 2, true},
	{residentNow, "resident, settled", "MiB", 1, true},
	{residentMost, "resident, at most", "MiB", 1, true},
	{idleProcessor, "idle: CPU", "%", 2, true},
	{idleBytes, "idle: to the terminal", "B/s", 1, true},
	{changeRate, "under change: changes made", "/s", 1, false},
	{changeProcessor, "under change, no keys: CPU", "%", 1, true},
	{changeBytes, "under change: to the terminal", "B/s", 0, true},
	{keyMedian, "key to frame, median", "ms", 1, true},
	{keyP99, "key to frame, p99", "ms", 1, true},
	{keyCount, "keys looked at", "", 0, false},
	{keyRate, "keys", "/s", 1, false},
	{echoMedian, "a key to cat and back, beside it: median", "ms", 1, false},
	{echoP99, "a key to cat and back, beside it: p99", "ms", 1, false},
	{keyProcessor, "under change, with these keys: CPU", "%", 1, true},
	{changeMedian, "change to screen, median", "ms", 0, true},
	{changeP99, "change to screen, p99", "ms", 0, true},
	{watchMedian, "a lock's change to a bare watch, beside it: median", "ms", 1, false},
	{watchP99, "a lock's change to a bare watch, beside it: p99", "ms", 1, false},
	{changeCount, "changes looked for", "", 0, false},
	{changeUnseen, "of them not shown in 30 s", "", 0, false},
	{lost, "not shown in the end", "", 0, false},
}

// Figures are measured values by their names.
type Figures map[string]float64

// The programs that are measured.
const (
	programLockstep = "lockstep"
	programK9s      = "k9s"
)

// Run is one program measured on one fleet.
type Run struct {
	Fleet     string  `json:"fleet"` // its number of nodes
	Program   string  `json:"program"`
	OpenStack bool    `json:"openstack"` // it was connected
	Figures   Figures `json:"figures,omitempty"`
	Missing   string  `json:"missing,omitempty"` // why there are no figures
}

// Report is what one call has measured.
type Report struct {
	Commit   string             `json:"commit"`  // of the checkout, with "-dirty" when it has changes
	Version  string             `json:"version"` // of the binary, as it prints it: it need not be of this checkout
	Date     time.Time          `json:"date"`
	Quick    bool               `json:"quick"` // by a short look, which no README shows
	Machine  Machine            `json:"machine"`
	FillTook map[string]float64 `json:"fillSeconds"` // by fleet: its nodes and locks into the API server
	Runs     []Run              `json:"runs"`
}

// percentile returns the smallest of the durations that so many percent of them do not exceed; 0 of none.
func percentile(all []time.Duration, percent float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(int(math.Ceil(float64(len(sorted))*percent/100))-1, 0)]
}

// took keeps the median and the 99th percentile of durations in milliseconds; nothing of none.
func (f Figures) took(all []time.Duration, median, p99 string) {
	if len(all) > 0 {
		f[median], f[p99] = milliseconds(percentile(all, 50)), milliseconds(percentile(all, 99))
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// writeReport keeps a report in a file.
func writeReport(path string, r Report) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the figures: %w", err)
	}
	if err := os.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("keep the figures: %w", err)
	}
	return nil
}

// readReport reads a report that was kept.
func readReport(path string) (Report, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return Report{}, fmt.Errorf("read the figures: %w", err)
	}
	var r Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return Report{}, fmt.Errorf("read the figures in %s: %w", path, err)
	}
	if len(r.Runs) == 0 {
		return Report{}, fmt.Errorf("read the figures in %s: %w", path, errors.New("there are none"))
	}
	return r, nil
}
