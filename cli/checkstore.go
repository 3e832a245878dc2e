package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/cli/outputfile"
	"lockstep/core/checklist"
)

// checkStore keeps the checks of one cluster, each a file that only its owner may read.
type checkStore struct{ folder string }

// mostChecks is how many checks are kept; the oldest go first. The last one before the last update is kept besides, and those that know
// what it did not: they are what all later ones are compared with.
const mostChecks = 30

// checkName is the name of a check's file: names sort by time.
const checkName = "20060102T150405.000Z.json"

// Keep writes a check, unless an update runs: what is compared with must be a cluster at rest.
func (c checkStore) Keep(r checklist.Report) error {
	if r.Update || c.folder == "" {
		return nil
	}
	raw, err := r.JSON()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return err
	}
	if err := outputfile.Write(filepath.Join(c.folder, r.AsOf.UTC().Format(checkName)), raw, true); err != nil {
		return err
	}
	names := c.names()
	compared, _ := c.before(names, r)
	for _, old := range names[:max(len(names)-mostChecks, 0)] {
		if slices.Contains(compared, old) {
			continue
		}
		if err := os.Remove(filepath.Join(c.folder, old)); err != nil {
			return err
		}
	}
	return nil
}

// names are the names of the files, the oldest first.
func (c checkStore) names() []string {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if _, err := time.Parse(checkName, e.Name()); err == nil && strings.HasSuffix(e.Name(), ".json") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}

// Before is the last check before the update that the report follows; false when there is none that can be read. A point that was not known
// in it is that of the last check before in which it was. Without a plan or a journal that tells when the update began, it is the last one
// of another release.
func (c checkStore) Before(r checklist.Report) (checklist.Report, bool) {
	names, earlier := c.before(c.names(), r)
	return earlier, len(names) > 0
}

// before are the files of the last check before the update that the report follows, and of those that its points are filled from; none when
// there is no such check. What was known before an earlier update is not asked: it says nothing about this one.
func (c checkStore) before(names []string, r checklist.Report) (of []string, earlier checklist.Report) {
	for _, name := range slices.Backward(names) {
		at, _ := time.Parse(checkName, name)
		if !at.Before(r.AsOf) {
			continue
		}
		older, err := readCheck(filepath.Join(c.folder, name))
		switch {
		case err != nil:
		case len(of) > 0:
			if earlier.Follows(older) || !earlier.Began.IsZero() && at.Before(earlier.Began) {
				return of, earlier
			}
			if earlier.FillFrom(older) {
				of = append(of, name)
			}
		case at.Before(r.Began) || r.Follows(older):
			of, earlier = []string{name}, older
		}
	}
	return of, earlier
}
