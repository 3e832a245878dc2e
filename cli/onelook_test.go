package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"lockstep/core/engine"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// Commands in real time on an update that stands still.
func TestCommandsInRealTime(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "manual-nodes"), Paused: true})
		cloudHasNoClockOfItsOwn(t, c)
		lookLeavesTheJournalAsItIs(t, c)
		watchRemindsOfANoteThatIsWrittenMeanwhile(t, c)
	})
}

// A single look reads the journal and writes nothing: neither to an existing one nor to a new one.
func lookLeavesTheJournalAsItIs(t *testing.T, cloud *sim.Cloud) {
	t.Helper()
	p := placeOn(t, cloud)
	see := func() {
		for _, command := range []string{"status", "plan", "owners"} {
			code, _, errs := runIn(t, p, command, "--kubeconfig", cloud.KubeconfigPath, "--os-cloud", cloud.CloudName)
			if code == exitError {
				t.Errorf("%s: %s", command, errs)
			}
		}
	}
	see()
	if left, _ := os.ReadDir(p.Journal); len(left) > 0 {
		t.Errorf("a single look leaves %v", left)
	}
	configured(t, &p, cloud)
	s, err := p.open(t.Context(), p.log)
	if err != nil {
		t.Fatal(err)
	}
	path := s.Journal.Path()
	if err := s.Journal.Write(engine.Record{Kind: engine.RecordStart}, true); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, filepath.Dir(path))
	see()
	if after := filesOf(t, filepath.Dir(path)); after != before {
		t.Errorf("a single look has made of\n%s\n\n%s", before, after)
	}
	if err := s.Journal.Close(); err != nil {
		t.Fatal(err)
	}
}

// filesOf returns the contents of a folder.
func filesOf(t *testing.T, folder string) string {
	t.Helper()
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, e := range all {
		raw, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Name() + "\n" + string(raw))
	}
	return b.String()
}
