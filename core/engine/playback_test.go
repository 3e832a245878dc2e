package engine

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"lockstep/core"
	"lockstep/core/derivedtest"
	"lockstep/core/recording"
)

// sameAsPlayed compares the facts of Snapshots, but for the numbers that each Engine counts itself, the causes of errors, which only the
// program that had them can tell, and when those reported that report.
var sameAsPlayed = cmp.Options{
	cmpopts.IgnoreFields(core.Facts{}, countedByEach...),
	cmpopts.IgnoreFields(core.APIError{}, toldByNone...),
	cmp.AllowUnexported(core.Instances{}, core.Management{}),
}

var (
	countedByEach = []string{"Revision", "Stamps", "MoreStops", "Heard", "Unheard"}
	toldByNone    = []string{"Err"}
)

// recordedRun is a run of an Engine that is recorded, with the Snapshots that it made.
type recordedRun struct {
	t     testing.TB
	path  string
	head  recording.Head
	rec   *recording.Recorder
	lived []*core.Snapshot
}

func recordRun(t testing.TB, folder string, cfg *Config, limit int64) *recordedRun {
	t.Helper()
	own, err := os.MkdirTemp(folder, "recording")
	if err != nil {
		t.Fatal(err)
	}
	r := &recordedRun{t: t, path: filepath.Join(own, "run.lockrec")}
	r.head = recording.Head{Version: "test", Began: time.Now(), Recording: "r1", Cluster: cfg.Cluster, Operator: cfg.Operator,
		Place: cfg.Place, Own: cfg.Own, Settings: cfg.Settings}
	r.rec, err = recording.Start(recording.Options{Head: r.head, Limit: limit, Create: createIn(r.path),
		Told: func(text string) { t.Error(text) }})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Recorder = r.rec.Frame
	return r
}

func createIn(path string) func(int) (io.WriteCloser, error) {
	return func(n int) (io.WriteCloser, error) {
		return os.OpenFile(recording.FileName(path, n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
}

// compare plays the recording from its begin, and from the moments of some Snapshots: each Snapshot is as it was.
func (r *recordedRun) compare() {
	t := r.t
	t.Helper()
	if err := r.rec.Close(); err != nil {
		t.Error(err)
	}
	rec, err := recording.Open(r.path)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Cut || rec.Frames != len(r.lived) || !rec.From.Equal(r.lived[0].Now) || !rec.To.Equal(r.lived[len(r.lived)-1].Now) {
		t.Fatalf("%d Snapshots were made, and the recording has %d frames from %s to %s (cut: %t)", len(r.lived), rec.Frames, rec.From,
			rec.To, rec.Cut)
	}
	r.play(rec, rec.From, 0)
}

// play plays from the moment on, and compares each Snapshot from the first one that the Cursor gives, which is at least the one with the
// number.
func (r *recordedRun) play(rec *recording.Recording, from time.Time, n int) {
	t := r.t
	t.Helper()
	c, err := rec.At(from)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p := NewPlayback(rec.Head, nil, "")
	known := likeness{}
	for ; ; n++ {
		f, err := c.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		p.Take(f)
		s := p.Snapshot()
		if n >= len(r.lived) {
			t.Fatalf("there are more than %d Snapshots", n)
		}
		lived := r.lived[n].Facts
		lived.History = lived.History.WithLocksInOneTable() // as a recording has it
		if diff := known.differ(&lived, &s.Facts); diff != "" {
			t.Fatalf("Snapshot %d is another one when it is played (-lived +played):\n%s", n, diff)
		}
		if n%4 != 0 {
			continue // a sample: it is a third of the work of these tests
		}
		for _, d := range derivedtest.Differ(s) {
			t.Errorf("Snapshot %d, played: %s", n, d)
		}
	}
	if n != len(r.lived) {
		t.Fatalf("%d of %d Snapshots were played", n, len(r.lived))
	}
}

// published is called for each Snapshot.
func (r *recordedRun) published(s *core.Snapshot) { r.lived = append(r.lived, s) }
