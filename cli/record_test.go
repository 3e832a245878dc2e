package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lockstep/cli/recorded"
	"lockstep/cli/session"
	"lockstep/cli/sessiontest"
	"lockstep/core"
	"lockstep/core/derivedtest"
	"lockstep/core/engine"
	"lockstep/core/recording"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// sameAsLived compares what a recording shows with what was shown: all facts, but for what each program counts itself, when those
// reported that report, and of writing that it is barred.
var sameAsLived = cmp.Options{
	cmpopts.IgnoreFields(core.Facts{}, "Revision", "Stamps", "MoreStops", "Write", "Heard", "Unheard"),
	cmpopts.IgnoreFields(core.APIError{}, "Err"),
	cmp.AllowUnexported(core.Instances{}, core.Management{}),
}

// An update in which Lockstep writes is recorded. From any of its moments, forwards and backwards, the dashboard that plays it gets the
// very facts that were there, and nothing can be written.
func TestAnUpdateIsPlayedAsItWas(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "manual-nodes"), Timing: brief, Speed: 20, Paused: true})
		st.place.RecordPath = t.TempDir()
		st.begin()
		var lived []*core.Snapshot
		snapshots, stop := st.s.Engine.Subscribe()
		defer stop()
		take := func() {
			synctest.Wait()
			for {
				select {
				case s := <-snapshots:
					lived = append(lived, s)
				default:
					return
				}
			}
		}
		st.until("all is live", sessiontest.AllKnown)
		st.arm()
		st.Clock.Resume()
		node := ""
		for name, n := range st.last.Nodes {
			if n.Is(core.RoleCompute) && (node == "" || name < node) {
				node = name
			}
		}
		st.confirm(core.Intent{Kind: core.IntentSetMode, Node: node, Nodes: []string{node}, Mode: core.ModeSkip})
		for range 90 {
			time.Sleep(time.Second)
			take()
		}
		st.stop()
		st.Clock.Pause() // nobody looks at the cloud any more
		files, _ := filepath.Glob(filepath.Join(st.place.RecordPath, "mos-*.lockrec"))
		if len(files) != 1 {
			t.Fatalf("the recording is in %v", files)
		}
		info, err := os.Stat(files[0])
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("others may read the recording: %v, %v", info.Mode(), err)
		}
		rec, err := recording.Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[string]bool{}
		for _, e := range rec.Events {
			kinds[e.Kind] = true
		}
		if rec.Cut || !kinds["operation"] {
			t.Errorf("cut: %t, events of the kinds %v", rec.Cut, kinds)
		}
		p, err := recorded.New(rec, recorded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Run(ctx) })
		defer running.Wait()
		defer end()
		played, unsubscribe := p.Subscribe()
		defer unsubscribe()
		<-played
		for _, i := range []int{len(lived) - 1, len(lived) / 2, len(lived)/2 + 1, 3, len(lived) - 3, len(lived) / 4} {
			want := lived[i]
			if err := p.Go(want.Now.Format(time.RFC3339Nano)); err != nil {
				t.Fatal(err)
			}
			got := <-played
			facts := want.Facts
			facts.History = facts.History.WithLocksInOneTable() // as a recording has it
			if diff := cmp.Diff(facts, got.Facts, sameAsLived); diff != "" {
				t.Errorf("at %s it is another situation (-lived +played):\n%s", want.Now, diff)
			}
			if got.Write.Armed || got.Write.Barred != recorded.Barred {
				t.Errorf("of writing it says %+v", got.Write)
			}
			for _, d := range derivedtest.Differ(got) {
				t.Error(d)
			}
		}
		last := p.State()
		if err := p.End(true); err != nil {
			t.Fatal(err)
		}
		for p.State().At.After(rec.From) {
			before := p.State().At
			if err := p.Event(false); err != nil {
				break
			}
			if s := p.State(); !s.At.Before(before) || s.Playing || s.Event == "" {
				t.Fatalf("the event before %s is at %s: %+v", before, s.At, s)
			}
		}
		if s := p.State(); !s.At.Before(last.At) {
			t.Errorf("no event leads back: %+v", s)
		}
		// It plays by itself, at its speed, and stops at its end.
		if err := p.End(false); err != nil {
			t.Fatal(err)
		}
		if err := p.SetSpeed(60); err != nil {
			t.Fatal(err)
		}
		if err := p.Toggle(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s := p.State(); s.At.Sub(rec.From) < 9*time.Minute || s.At.Sub(rec.From) > 11*time.Minute || !s.Playing {
			t.Errorf("after 10 s at 60 times the speed it is %s further: %+v", s.At.Sub(rec.From), s)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := p.State(); !s.At.Equal(rec.To) || s.Playing {
			t.Errorf("at its end it is %+v", s)
		}
		if err := p.Toggle(); err == nil || !strings.Contains(err.Error(), "end") {
			t.Errorf("played beyond the end: %v", err)
		}
	})
}

// A recording that only the configuration wants is no reason not to start: the operator is told. One that the operator asks for is.
func TestARecordingThatCannotBegin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []bool{false, true} {
		p := options{log: ownLog(t), Place: session.Place{Journal: t.TempDir(), NoCloud: "not in this test"}}
		p.Kubeconfig = filepath.Join(t.TempDir(), "none")
		if p.config.Record = filepath.Join(file, "recordings"); flag {
			p.record = filepath.Join(file, "mos.lockrec")
		}
		p.recordWhereAsked()
		s, err := p.open(t.Context(), p.log)
		if (err != nil) != flag {
			t.Errorf("asked for: %v; %v", flag, err)
		}
		if err == nil && !slices.ContainsFunc(s.Notices, func(n string) bool { return strings.HasPrefix(n, "nothing is recorded: ") }) {
			t.Errorf("nobody is told: %q", s.Notices)
		}
	}
}

// While a recording is played, whatever writes is refused.
func TestNothingIsWrittenWhileARecordingIsPlayed(t *testing.T) {
	p := &recorded.Player{}
	if _, err := p.Grant(core.Step{}, ""); err == nil {
		t.Error("granted")
	}
	if _, err := p.Execute(t.Context(), core.Grant{}); err == nil {
		t.Error("executed")
	}
	if p.Arm(t.Context(), "") == nil || p.Control("1", core.ControlStop) == nil || p.Preview(t.Context(), core.Intent{}).Err == nil {
		t.Error("armed, controlled or tried")
	}
}

// A recording in the first version of the form is read, and shows what was recorded.
func TestAnOldRecordingIsStillRead(t *testing.T) {
	rec, err := recording.Open("testdata/recording-1.lockrec")
	if err != nil {
		t.Fatal(err)
	}
	if rec.Head.Format != 1 || rec.Cut || rec.Frames < 50 || len(rec.Events) == 0 {
		t.Errorf("%+v: %d frames, %d events, cut: %t", rec.Head, rec.Frames, len(rec.Events), rec.Cut)
	}
	c, err := rec.At(rec.To)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	play := engine.NewPlayback(rec.Head, nil, "")
	for {
		f, err := c.Next()
		if err != nil {
			break
		}
		play.Take(f)
	}
	s := play.Snapshot()
	if s.Cluster != "mos" || len(s.Nodes) != 4 || s.Instances.Len() == 0 || s.NodeLocks.Len() == 0 || s.Management == nil ||
		len(s.History.Stages) == 0 || !s.Now.Equal(rec.To) {
		t.Errorf("at its end it shows %d nodes, %d instances, locks of %d nodes, %d stages", len(s.Nodes), s.Instances.Len(),
			s.NodeLocks.Len(), len(s.History.Stages))
	}
}
