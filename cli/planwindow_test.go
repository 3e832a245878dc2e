package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/core/forecast"
	"lockstep/scene"
	"lockstep/sim"
)

// What is printed of an update that has yet to begin, with a plan, over two nights.
func TestTheNightsAsTheyArePrinted(t *testing.T) {
	before := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = before })
	m := scene.Resting()
	m.Planned(0).Started = time.Time{}
	m.Plan.Status = "NotStarted"
	w, err := forecast.ParseWindow("22:00-03:00")
	if err != nil {
		t.Fatal(err)
	}
	d := forecast.NewDocument(m.Join().Snapshot, forecast.Ask{Request: forecast.Request{Window: w}})
	if d.Clear() {
		t.Error("more than a day between two releases is clear")
	}
	for _, format := range []string{"table", "markdown", "json"} {
		var out bytes.Buffer
		if err := windowPrinters[format](&out, &d); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "window."+format+".golden")
		if *updateGoldens {
			if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v (run the test with -update)", err)
		}
		if out.String() != string(want) {
			t.Errorf("%s is not as it was; look at it and run with -update.\n--- was\n%s\n--- is\n%s", file, want, out.String())
		}
	}
}

// An update is planned in nights, with a warning of what blocks in them; a window that is none is refused.
func planOfNights(t *testing.T, c *sim.Cloud) {
	t.Helper()
	code, out, errs := runOn(t, c, "plan", "--window", "22:00-06:00", "-o", "json")
	var d struct {
		Window   string
		Nights   []struct{ Items []struct{ Title string } }
		Warnings []string
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.Window != "22:00-06:00" || len(d.Nights) == 0 {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	if code != exitAttention || !strings.Contains(strings.Join(d.Warnings, "\n"), "instances that block") {
		t.Errorf("exit code %d, and the instances that block are not warned of: %q", code, d.Warnings)
	}
	for _, args := range [][]string{{"--window", ""}, {"--window", "22:00"}, {"--window", "22-6", "-o", "yaml"},
		{"--window", "22-6", "--at-once", "0"}, {"--window", "22-6", "cmp-99"}} {
		if code, out, errs := runOn(t, c, append([]string{"plan"}, args...)...); code != exitError || out != "" || errs == "" {
			t.Errorf("%q: exit code %d, %q, %q", args, code, out, errs)
		}
	}
}
