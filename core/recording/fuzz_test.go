package recording

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lockstep/core"
)

// packed is a file of a recording, of its lines as text.
func packed(t testing.TB, text []byte) []byte {
	head, lines, _ := bytes.Cut(text, []byte("\n"))
	var b bytes.Buffer
	b.Write(append(bytes.Clone(head), '\n'))
	zip := gzip.NewWriter(&b)
	if _, err := zip.Write(lines); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpacked are the lines of a file as text.
func unpacked(t testing.TB, file []byte) []byte {
	head, rest, _ := bytes.Cut(file, []byte("\n"))
	zip, err := gzip.NewReader(bytes.NewReader(rest))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(bytes.Clone(head), '\n'), lines...)
}

// sample is a small recording with all that a line can have.
func sample(t testing.TB) []byte {
	path := filepath.Join(t.TempDir(), "a.lockrec")
	r, err := Start(Options{Head: Head{Version: "1", Recording: "r", Cluster: "mos"},
		Create: func(int) (io.WriteCloser, error) { return os.Create(path) }})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		f := nth(n)
		f.History.Tries = map[string]core.AnnotationChange{"u1": {Node: "cmp-1", Key: "k"}}
		f.Operations = []core.Operation{{ID: "1", State: core.OperationRunning, Started: time.Unix(int64(n), 0)}}
		f.Notes = []core.Note{{ID: "n", Text: "told"}}
		r.Frame(f)
		r.Event(Event{At: f.Now, Kind: "node", Text: "cmp-1"})
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Whatever is in a file, reading it ends, with an error or with frames in their order; what can be read can be written again, and is the
// same then.
func FuzzReading(f *testing.F) {
	whole := sample(f)
	text := unpacked(f, whole)
	f.Add(whole, false)
	f.Add(whole[:len(whole)/2], false)
	f.Add(append(bytes.Clone(whole), whole...), false)
	f.Add(text, true)
	for _, change := range []struct{ old, new string }{
		{`"key":{`, `"kez":{`}, {`"begins":true`, `"begins":7`}, {`"Node":`, `"Nothing":`}, {`"Node":{`, `"Node":null,"X":{`},
		{`"end":true`, `"end":[]`},
		{`"now":"`, `"now":"x`}, {`"upserts":[`, `"upserts":[null,`}, {`"history":{`, `"history":{"Tries":{"whole":5},`},
		{`"ids":["1"]`, `"ids":["1","2"]`}, {`"lockstepRecording":1`, `"lockstepRecording":9`}, {`"sources":[`, `"sources":[{},`},
	} {
		f.Add(bytes.Replace(text, []byte(change.old), []byte(change.new), 1), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, asText bool) {
		if asText {
			raw = packed(t, raw)
		}
		folder := t.TempDir()
		path := filepath.Join(folder, "a.lockrec")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		rec, err := Open(path)
		if err != nil {
			return
		}
		was, err := framesOf(rec)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := rec.Rewrite(rec.Head, &again, Changes{}); err != nil {
			return // a line in the middle that a reader at a later key does not see
		}
		other := filepath.Join(folder, "b.lockrec")
		if err := os.WriteFile(other, again.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		rec, err = Open(other)
		if err != nil {
			t.Fatalf("what was written again cannot be read: %v", err)
		}
		is, err := framesOf(rec)
		if err != nil || len(is) != len(was) {
			t.Fatalf("%d frames became %d: %v", len(was), len(is), err)
		}
		for i := range is {
			if !is[i].Equal(was[i]) {
				t.Fatalf("frame %d was at %s, and is at %s", i, was[i], is[i])
			}
		}
	})
}

// framesOf are the times of all frames.
func framesOf(r *Recording) (at []time.Time, err error) {
	c, err := r.At(r.From)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for {
		f, err := c.Next()
		if errors.Is(err, io.EOF) {
			return at, nil
		}
		if err != nil {
			return at, err
		}
		at = append(at, f.Now)
	}
}
