package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/checklist"
	"lockstep/core/engine"
	"lockstep/core/progress"
	"lockstep/core/recording"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// recordUpdate records a whole update in which Lockstep writes, and a person notes something. It tells the file and the names that were
// in it.
func recordUpdate(t *testing.T) (file string, names map[string]bool) {
	t.Helper()
	st := newStory(t, sim.Options{Scenario: told(t, "smooth"), Timing: brief, Speed: 120, Paused: true})
	st.place.RecordPath = t.TempDir()
	st.place.Operator, st.place.Management = "Anna Meier", simManagement(st.Cloud)
	st.begin()
	names = map[string]bool{"Anna": true, "Meier": true, "quokka": true}
	st.arm()
	st.Clock.Resume()
	var node string
	for name, n := range st.last.Nodes {
		if n.Is(core.RoleCompute) && (node == "" || name < node) {
			node = name
		}
	}
	st.confirm(core.Intent{Kind: core.IntentSetMode, Node: node, Nodes: []string{node}, Mode: core.ModeManual})
	note := core.Note{On: core.NoteOn{Node: node, Label: st.last.Nodes[node].Label()}, Text: "the owner of quokka is told",
		Until: st.last.Now.Add(time.Hour)}
	if _, err := st.s.Engine.Note(t.Context(), note); err != nil {
		t.Fatal(err)
	}
	st.until("the node that is manual waits", func(s *core.Snapshot) bool {
		noteNames(names, s)
		l := s.NodeLock(node, core.ControllerOpenStack)
		return l != nil && progress.ReadLockMessage(l.Message).ID == progress.SaysLeftToOperator
	})
	for _, in := range slices.Clone(st.last.InstancesOn(node)) {
		if in.Status == "ACTIVE" {
			st.confirm(core.Intent{Kind: core.IntentLiveMigrate, Instance: in.ID})
			break
		}
	}
	st.confirm(core.Intent{Kind: core.IntentSetMode, Node: node, Nodes: []string{node}, Mode: core.ModeLive})
	st.until("the update is over", func(s *core.Snapshot) bool {
		noteNames(names, s)
		return !s.History.Update.Ended.IsZero()
	})
	time.Sleep(10 * time.Second)
	synctest.Wait()
	st.stop()
	files, err := filepath.Glob(filepath.Join(st.place.RecordPath, "*.lockrec"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the recording is in %v", files)
	}
	return files[0], names
}

// noteNames notes what is a customer's name in a Snapshot.
func noteNames(names map[string]bool, s *core.Snapshot) {
	for name, n := range s.Nodes {
		names[name], names[n.ShortName], names[n.UID] = true, true, true
	}
	for id, in := range s.Instances.All() {
		for _, name := range []string{id, in.Name, in.Host, in.ProjectID, in.UserID, in.Flavor().Name} {
			names[name] = true
		}
	}
	for id, name := range s.Projects {
		names[id], names[name] = true, true
	}
	for host := range s.Services {
		names[host] = true
	}
	for _, r := range s.ClusterRequests {
		names[r.Name] = true
	}
	for _, o := range s.OpenStack {
		names[o.Name] = true
	}
}

// contentOf is what a recording has, as text.
func contentOf(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := bytes.Cut(raw, []byte("\n"))
	zip, err := gzip.NewReader(bytes.NewReader(rest))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(head) + "\n" + string(all)
}

// shapes are what each of some Snapshots of a recording tells, without names.
func shapes(t *testing.T, file string, each int) (out []map[string]int, at []time.Time) {
	t.Helper()
	rec, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := rec.At(rec.From)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	play := engine.NewPlayback(rec.Head, &core.StopFinder{Find: checklist.Stops}, "")
	for n := 0; ; n++ {
		f, err := c.Next()
		if errors.Is(err, io.EOF) {
			return out, at
		}
		if err != nil {
			t.Fatal(err)
		}
		play.Take(f)
		if s := play.Snapshot(); n%each == 0 {
			out, at = append(out, shapeOf(s)), append(at, s.Now)
		}
	}
}

func shapeOf(s *core.Snapshot) map[string]int {
	m := map[string]int{"nodes": len(s.Nodes), "instances": s.Instances.Len(), "projects": len(s.Projects), "notes": len(s.Notes),
		"changed by Lockstep": len(s.History.Changes), "StatefulSets": len(s.StatefulSets), "DaemonSets": len(s.DaemonSets),
		"requests": len(s.ClusterRequests) + len(s.NodeRequests)}
	for _, p := range progress.Phases(s) {
		m[fmt.Sprintf("phase %d %v", p.ID, p.State)]++
	}
	for _, v := range progress.NodeViews(s) {
		m[fmt.Sprintf("node %v %v %s, %d instances", v.Node.Roles, v.Stage, v.Node.KubeletVersion, v.Instances)]++
	}
	for _, a := range attention.Of(s) {
		m[fmt.Sprintf("entry %s %s %t", a.Rule, a.Severity, a.Diagnosis != nil)]++
	}
	for _, locks := range append(slices.Collect(maps.Values(maps.Collect(s.NodeLocks.All()))), s.ClusterLocks) {
		for _, l := range locks {
			m[fmt.Sprintf("lock %s %s %s says %s", l.Controller, l.State(), l.Release, progress.ReadLockMessage(l.Message).ID)]++
		}
	}
	for _, in := range s.Instances.All() {
		m[fmt.Sprintf("instance %s %s, flavor with %d MiB", in.Status, in.VMState, in.Flavor().RAMMiB)]++
	}
	for _, list := range s.Migrations {
		for _, mig := range list {
			m["migration "+mig.Type+" "+mig.Status]++
		}
	}
	for _, op := range s.Operations {
		m[fmt.Sprintf("operation %s %s", op.Intent.Kind, op.State)]++
	}
	for id, src := range s.Sources {
		m[fmt.Sprintf("source %s %s", id, src.State)]++
	}
	if s.Management != nil && s.Management.Plan() != nil {
		for _, st := range s.Management.Plan().Steps {
			m["step "+st.Status]++
		}
	}
	return m
}

// A whole update is exported with made-up names: no name is in the file, and whoever plays it sees the same phases, stages, entries and
// numbers at each moment.
func TestAnExportedUpdateNamesNothingAndPlaysTheSame(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		file, names := recordUpdate(t)
		out := filepath.Join(t.TempDir(), "bug.lockrec")
		p := options{}
		code, says, errs := runIn(t, p, "export", "--redact", file, "-o", out)
		if code != exitFine || !strings.Contains(says, "made up") {
			t.Fatalf("exit %d: %s%s", code, says, errs)
		}
		text := contentOf(t, out)
		if len(names) < 25 {
			t.Errorf("only %d names were there", len(names))
		}
		was := contentOf(t, file)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if name == "" {
				continue
			}
			word := regexp.MustCompile(`(^|[^\pL\pN])` + regexp.QuoteMeta(name) + `($|[^\pL\pN])`)
			if !word.MatchString(was) {
				t.Errorf("%q is not even in the recording", name)
			}
			if at := word.FindStringIndex(text); at != nil {
				t.Errorf("%q is still there: …%s…", name, text[max(at[0]-200, 0):min(at[1]+100, len(text))])
			}
		}
		before, at := shapes(t, file, 2)
		after, _ := shapes(t, out, 2)
		if len(before) < 40 || len(before) != len(after) {
			t.Fatalf("%d and %d moments are compared", len(before), len(after))
		}
		for i := range before {
			if diff := cmp.Diff(before[i], after[i]); diff != "" {
				t.Fatalf("at %s it is another situation (-recorded +exported):\n%s", at[i], diff)
			}
		}
	})
}

// Who interrupts an export gets no file, and none is left half written.
func TestAnExportThatIsInterruptedLeavesNoFile(t *testing.T) {
	folder := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, redact := range []bool{false, true} {
		var says bytes.Buffer
		f := exportFlags{output: filepath.Join(folder, "a.lockrec"), redact: redact}
		if err := exportRecording(ctx, "testdata/recording-1.lockrec", f, &says, &says); !errors.Is(err, context.Canceled) {
			t.Errorf("redacted: %v: %v, %s", redact, err, &says)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("redacted: %v: %v, %v", redact, left, err)
		}
	}
}

// Without --redact a recording is written again as it is. A file that exists is kept, unless it is to be replaced; one that was cut off is
// exported as far as it goes, and says so.
func TestExportWritesARecordingAgain(t *testing.T) {
	const recorded = "testdata/recording-1.lockrec"
	folder := t.TempDir()
	out, cut := filepath.Join(folder, "a.lockrec"), filepath.Join(folder, "cut.lockrec")
	if code, says, errs := runIn(t, options{}, "export", recorded, "-o", out); code != exitFine || strings.Contains(says, "made up") {
		t.Fatalf("exit %d: %s%s", code, says, errs)
	}
	before, _ := shapes(t, recorded, 1)
	after, _ := shapes(t, out, 1)
	if diff := cmp.Diff(before, after); diff != "" || len(before) < 50 {
		t.Errorf("of %d moments some are other ones:\n%s", len(before), diff)
	}
	info, err := os.Stat(out)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v", err)
	}
	if code, _, errs := runIn(t, options{}, "export", recorded, "-o", out); code != exitError || !strings.Contains(errs, "exists") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs := runIn(t, options{}, "export", recorded, "--redact", "--force", "-o", out); code != exitFine {
		t.Errorf("exit %d: %s", code, errs)
	}
	rec, err := recording.Open(out)
	if err != nil || !rec.Head.Pseudonymous || !strings.Contains(replayNotice(rec), "its names are made up") {
		t.Errorf("whoever plays it is not told: %v", err)
	}
	code, raw, errs := runIn(t, options{}, "export", recorded, "-o", "-")
	if code != exitFine || !recording.Is([]byte(raw)) || !strings.Contains(errs, "Wrote the recording") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if err := os.WriteFile(cut, []byte(raw[:len(raw)/2]), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, says, errs := runIn(t, options{}, "export", cut, "--force", "-o", out); code != exitAttention ||
		!strings.Contains(errs, "cut off") || strings.Contains(says, "cut off") {
		t.Errorf("exit %d: %s%s", code, says, errs)
	}
	if rec, err = recording.Open(out); err != nil || !rec.Cut {
		t.Errorf("it does not say that it was cut off: %v", err)
	}
	if code, _, errs := runIn(t, options{}, "export", "testdata/found.yaml", "-o", out+"2"); code != exitError ||
		!strings.Contains(errs, "no recording") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat(out + "2"); err == nil {
		t.Error("a file was left behind")
	}
}
