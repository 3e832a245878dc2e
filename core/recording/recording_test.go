package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/scene"
	"lockstep/sim/bubble/lane"
)

var asRead = cmp.Options{cmpopts.IgnoreFields(core.APIError{}, "Err"), cmpopts.IgnoreFields(Frame{}, "Sources", "Begins", "Key")}

// The objects and sources of any situation are read as they were written, bit by bit.
func TestAnySituationIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sc := scene.AnyScene(t)
		f := Frame{Now: sc.Now, Wall: sc.Wall, History: sc.History, Operations: sc.Operations, Write: sc.Write}
		facts := sc.Objects()
		for id, src := range sc.Sources {
			f.Deltas = append(f.Deltas, core.Delta{Source: id, At: src.AsOf, State: src.State, Err: src.Err, Next: src.Next,
				Upserts: facts[id], Touch: true, Deletes: []string{"gone"}})
		}
		var out, in told
		raw, err := out.appendFrame(nil, redacting, f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := in.frame(raw)
		if err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		if diff := cmp.Diff(f, got, asRead); diff != "" {
			t.Fatalf("-written +read:\n%s\n%s", diff, raw)
		}
	})
}

// A changed History and changed operations are written as their changes, and read whole.
func TestWhatChangesIsWrittenAsItsChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out, in told
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			f := Frame{Now: scene.Noon, Wall: scene.Noon}
			if rapid.Bool().Draw(t, "is a key") {
				f.Key = &Key{Sources: []core.Source{{ID: core.SourceNodes}}, Objects: map[core.SourceID][]core.Object{}}
			}
			if rapid.Bool().Draw(t, "has notes") {
				f.Notes, f.Identity = []core.Note{{ID: "n"}}, core.Identity{OpenStackUser: "anna"}
			}
			if rapid.Bool().Draw(t, "has phases") {
				f.History.Phases = map[core.PhaseID]core.PhaseRecord{}
			}
			for range rapid.IntRange(0, 4).Draw(t, "entries") {
				uid := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "uid")
				if f.History.Stages == nil {
					f.History.Stages = map[string]core.StageRecord{}
				}
				f.History.Stages[uid] = core.StageRecord{Stage: rapid.SampledFrom([]core.Stage{core.StageWaiting, core.StageFailed}).Draw(t, "stage")}
				if f.History.Phases != nil {
					f.History.Phases[core.PhaseID(rapid.IntRange(1, 5).Draw(t, "phase"))] = core.PhaseRecord{Started: core.Since{At: scene.Noon}}
				}
				if id := "op-" + uid; !slices.ContainsFunc(f.Operations, func(op core.Operation) bool { return op.ID == id }) {
					f.Operations = append(f.Operations, core.Operation{ID: id, Text: rapid.StringN(0, 5, -1).Draw(t, "text")})
				}
			}
			raw, err := out.appendFrame(nil, encoder{}, f)
			if err != nil {
				t.Fatal(err)
			}
			got, err := in.frame(raw)
			if err != nil {
				t.Fatalf("%v\n%s", err, raw)
			}
			if diff := cmp.Diff(f, got, asRead, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("-written +read:\n%s\n%s", diff, raw)
			}
			part, err := partOf(raw)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := appendPart(nil, encoder{}, part); err != nil || !bytes.Equal(again, raw) {
				t.Fatalf("what the line tells is written otherwise (%v):\n%s%s", err, raw, again)
			}
			if (got.History.Phases == nil) != (f.History.Phases == nil) {
				t.Fatalf("whether there are phases is another thing: %s", raw)
			}
		}
	})
}

// Every type of core that is an Object has its name in the form, and can be written and read whole: all its fields are exported, and
// none holds any type.
func TestEveryObjectHasItsPlaceInTheForm(t *testing.T) {
	entries, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	keyed, found := map[string]bool{}, 0
	for _, name := range entries {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				st, ok := n.Type.(*ast.StructType)
				if ok && slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool {
					id, is := f.Type.(*ast.Ident)
					return is && len(f.Names) == 0 && id.Name == "Meta"
				}) {
					keyed[n.Name.Name] = true
				}
			case *ast.FuncDecl:
				if n.Name.Name == "Key" && n.Recv != nil {
					if star, ok := n.Recv.List[0].Type.(*ast.StarExpr); ok {
						keyed[star.X.(*ast.Ident).Name] = true
					}
				}
			}
			return true
		})
	}
	delete(keyed, "Meta")
	for name := range keyed {
		found++
		if objects[name] == nil {
			t.Errorf("core.%s is an Object, and a recording does not know it: see objects", name)
		}
	}
	if found != len(objects) {
		t.Errorf("%d types of core are Objects, and %d are in the form", found, len(objects))
	}
	for _, o := range objects {
		whole(t, o, o.Name(), nil)
	}
	for _, v := range []any{core.History{}, core.Operation{}, core.WriteMode{}, core.Source{}, Head{}, Event{}} {
		whole(t, reflect.TypeOf(v), reflect.TypeOf(v).Name(), nil)
	}
}

// whole finds what JSON would lose of a type.
func whole(t *testing.T, typ reflect.Type, path string, above []reflect.Type) {
	if typ == timeType || slices.Contains(above, typ) {
		return
	}
	above = append(above, typ)
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice:
		whole(t, typ.Elem(), path, above)
	case reflect.Map:
		whole(t, typ.Elem(), path+"[]", above)
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.Array:
		if path != "Source.Err.Err" {
			t.Errorf("%s is a %s, which cannot be read back", path, typ)
		}
	case reflect.Struct:
		names := map[string]bool{}
		for _, f := range fieldsOf(typ) {
			if names[f.quoted] {
				t.Errorf("%s has two fields %s", path, f.quoted)
			}
			names[f.quoted] = true
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			if !f.IsExported() || f.Tag.Get("json") == "-" {
				t.Errorf("%s.%s is lost in a recording", path, f.Name)
			}
			whole(t, f.Type, path+"."+f.Name, above)
		}
	}
}

// disk is a folder in memory that can be full, or silent.
type disk struct {
	t      *testing.T
	folder string
	mu     sync.Mutex
	full   bool
	stays  bool // nothing can be removed
	said   []string
}

type onDisk struct {
	*os.File
	d *disk
}

func (f onDisk) Write(p []byte) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.d.full {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, errors.New("no space left on device")
	}
	return f.File.Write(p)
}

func (d *disk) create(n int) (io.WriteCloser, error) {
	f, err := os.OpenFile(FileName(d.path(), n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // a full disk has room for a name
	return onDisk{f, d}, err
}

func (d *disk) remove(n int) error {
	if d.stays {
		return errors.New("read-only file system")
	}
	return os.Remove(FileName(d.path(), n))
}

func (d *disk) path() string { return filepath.Join(d.folder, "mos.lockrec") }

func (d *disk) set(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *disk) start(limit int64) *Recorder {
	d.t.Helper()
	r, err := Start(Options{Head: Head{Version: "1.0", Recording: "r", Cluster: "mos"}, Create: d.create, Remove: d.remove, Limit: limit,
		Told: func(text string) { d.said = append(d.said, text) }})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// nth is the frame with a number: one node's fact changes.
func nth(n int) Frame {
	at := scene.Noon.Add(time.Duration(n) * time.Second)
	node := &core.Node{Meta: core.Meta{Name: "cmp-1", UID: "u1", ResourceVersion: strings.Repeat(time.Duration(n*7919).String(), 40)}}
	return Frame{Now: at, Wall: at, Write: core.WriteMode{Lease: at.String()},
		Deltas:  []core.Delta{{Source: core.SourceNodes, At: at, State: core.SourceLive, Upserts: []core.Object{node}}},
		Sources: map[core.SourceID]core.Source{core.SourceNodes: {ID: core.SourceNodes, State: core.SourceLive, AsOf: at}},
		Records: []any{map[string]int{"n": n}}}
}

// read reads all frames from a moment on, as the seconds of their times.
func read(t *testing.T, path string, from time.Time) (r *Recording, seconds []int) {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.At(from)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for {
		f, err := c.Next()
		if err == io.EOF {
			return r, seconds
		}
		if err != nil {
			t.Fatal(err)
		}
		n := int(f.Now.Sub(scene.Noon).Seconds())
		want := nth(n)
		if f.Write != want.Write {
			t.Errorf("frame %d has %+v", n, f.Write)
		}
		objects := append([]core.Object{}, deltasOf(f)...)
		if f.Begins {
			objects = f.Key.Objects[core.SourceNodes]
		}
		if diff := cmp.Diff(want.Deltas[0].Upserts, objects); diff != "" {
			t.Errorf("frame %d: %s", n, diff)
		}
		seconds = append(seconds, n)
	}
}

func deltasOf(f Frame) (all []core.Object) {
	for _, d := range f.Deltas {
		all = append(all, d.Upserts...)
	}
	return all
}

func upTo(from, to int) (all []int) {
	for n := from; n < to; n++ {
		all = append(all, n)
	}
	return all
}

// A recording goes on from file to file, each of them bounded. A jump reads from the last key before its aim.
func TestARecordingGoesOnInFurtherFilesAndIsReadFromAnyMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{t: t, folder: t.TempDir()}
		r := d.start(4 << 10)
		const all = 2000
		for n := range all {
			r.Frame(nth(n))
			if n%100 == 50 {
				r.Event(Event{At: nth(n).Now, Kind: "node", Text: "cmp-1"})
			}
			time.Sleep(time.Second)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		files, _ := filepath.Glob(filepath.Join(d.folder, "*"))
		rec, seconds := read(t, d.path(), time.Time{})
		if !slices.Equal(seconds, upTo(0, all)) || rec.Frames != all || rec.Cut || len(rec.Events) != all/100 {
			t.Errorf("read %d frames from %d on; %d and %d events are told (cut: %t)", len(seconds), seconds[0], rec.Frames, len(rec.Events),
				rec.Cut)
		}
		if len(files) < 3 {
			t.Fatalf("only %v", files)
		}
		for _, name := range files {
			if info, err := os.Stat(name); err != nil || info.Size() > 6<<10 {
				t.Errorf("%s: %v, %v", name, info.Size(), err)
			}
		}
		_, seconds = read(t, d.path(), nth(1500).Now)
		if first := seconds[0]; first > 1500 || first < 1500-int(keyEvery.Seconds())-5 || !slices.Equal(seconds, upTo(first, all)) {
			t.Errorf("from second 1500 on, %d frames were read from %d on", len(seconds), first)
		}
		if len(d.said) > 0 {
			t.Errorf("said %q", d.said)
		}
	})
}

// A recording of several files is written again as one, with the same frames and events, and can be read from any moment as before.
func TestARecordingIsWrittenAgainAsOneFile(t *testing.T) {
	lane.OnlyAStory(t)
	synctest.Test(t, func(t *testing.T) {
		d := &disk{t: t, folder: t.TempDir()}
		r := d.start(4 << 10)
		const all = 2000
		for n := range all {
			r.Frame(nth(n))
			if n%100 == 50 {
				r.Event(Event{At: nth(n).Now, Kind: "node", Text: "cmp-1"})
			}
			time.Sleep(time.Second)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		was, err := Open(d.path())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "one.lockrec")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		head := was.Head
		head.Recording = "another"
		events := 0
		changes := Changes{Event: func(e Event) Event { events++; e.Text = "made up"; return e }}
		if err := errors.Join(was.Rewrite(head, out, changes), out.Close()); err != nil {
			t.Fatal(err)
		}
		is, seconds := read(t, path, time.Time{})
		if !slices.Equal(seconds, upTo(0, all)) || is.Frames != was.Frames || is.Cut || len(is.files) != 1 || len(is.parts) != len(was.parts) {
			t.Errorf("%d frames and %d parts became %d and %d, in %v (cut: %t)", was.Frames, len(was.parts), is.Frames, len(is.parts), is.files,
				is.Cut)
		}
		if len(is.Events) != len(was.Events) || events != len(is.Events) || is.Events[0].Text != "made up" || is.Head.Recording != "another" {
			t.Errorf("%d events became %d, the first of which says %q, of %+v", len(was.Events), len(is.Events), is.Events[0].Text, is.Head)
		}
		_, seconds = read(t, path, nth(1500).Now)
		if first := seconds[0]; first > 1500 || first < 1500-int(keyEvery.Seconds())-5 || !slices.Equal(seconds, upTo(first, all)) {
			t.Errorf("from second 1500 on, %d frames were read from %d on", len(seconds), first)
		}
		// What was lost of the second file is lost, and told.
		second := FileName(d.path(), 2)
		raw, err := os.ReadFile(second)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(second, raw[:len(raw)/2], 0o600); err != nil {
			t.Fatal(err)
		}
		cut, before := read(t, d.path(), time.Time{})
		var again bytes.Buffer
		if err := cut.Rewrite(cut.Head, &again, Changes{}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, again.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		is, seconds = read(t, path, time.Time{})
		if !cut.Cut || !is.Cut || !slices.Equal(before, seconds) || len(seconds) >= all {
			t.Errorf("of %d frames with a gap %d are there (cut: %t)", len(before), len(seconds), is.Cut)
		}
	})
}

// A kill costs the last seconds, and a file that is cut anywhere is read up to there.
func TestAKillCostsSeconds(t *testing.T) {
	lane.OnlyAStory(t)
	synctest.Test(t, func(t *testing.T) {
		d := &disk{t: t, folder: t.TempDir()}
		r := d.start(0)
		defer r.Close()
		for n := range 700 { // with a second part
			r.Frame(nth(n))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		whole, err := os.ReadFile(d.path())
		if err != nil {
			t.Fatal(err)
		}
		rec, seconds := read(t, d.path(), time.Time{})
		if last := seconds[len(seconds)-1]; last < 695 || !rec.Cut {
			t.Errorf("a kill in second 700 leaves %d seconds (cut: %t)", last, rec.Cut)
		}
		before := -1
		for cut := len(whole); cut > 600; cut -= len(whole) / 40 {
			path := filepath.Join(t.TempDir(), "cut.lockrec")
			if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			rec, seconds := read(t, path, time.Time{})
			if !slices.Equal(seconds, upTo(0, len(seconds))) || !rec.Cut || before >= 0 && len(seconds) > before {
				t.Errorf("cut at byte %d, it has the seconds %v (cut: %t)", cut, seconds, rec.Cut)
			}
			before = len(seconds)
		}
	})
}

// A full disk is told once and costs the frames of that time. The recording goes on in another file when there is room.
func TestAFullDiskIsToldOnceAndCostsNothingElse(t *testing.T) {
	for _, stays := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) { fullFor(t, stays) })
	}
}

// fullFor records ten minutes, for five of which the disk is full. Where nothing can be removed, an empty file is left behind each
// minute, and the recording is read through all of them.
func fullFor(t *testing.T, stays bool) {
	d := &disk{t: t, folder: t.TempDir(), stays: stays}
	r := d.start(0)
	for n := range 600 {
		d.set(n >= 100 && n < 400)
		r.Frame(nth(n))
		time.Sleep(time.Second)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	rec, seconds := read(t, d.path(), time.Time{})
	gap := slices.IndexFunc(seconds, func(n int) bool { return n > 100 })
	if gap < 0 || seconds[0] != 0 || seconds[gap] > 470 || !slices.Equal(seconds[gap:], upTo(seconds[gap], 600)) || !rec.Cut {
		t.Errorf("read %v (cut: %t)", seconds, rec.Cut)
	}
	if len(d.said) != 2 || !strings.Contains(d.said[0], "no space left on device") || !strings.Contains(d.said[1], "goes on") {
		t.Errorf("said %q", d.said)
	}
	files, err := filepath.Glob(filepath.Join(d.folder, "*"))
	if err != nil || (len(files) > 2) != stays {
		t.Errorf("there are %q, %v", files, err)
	}
}

// stuck is a file whose disk does not answer.
type stuck struct{ answer chan struct{} }

func (s stuck) Write(p []byte) (int, error) { <-s.answer; return len(p), nil }
func (s stuck) Close() error                { return nil }

// A disk that does not answer stops neither whoever gives frames nor the end, and what waits for it is bounded.
func TestADiskThatDoesNotAnswerStopsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stuck{make(chan struct{}, 1)}
		s.answer <- struct{}{} // for the head
		r, err := Start(Options{Create: func(int) (io.WriteCloser, error) { return s, nil }})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for n := range 3 * mostWaiting {
			r.Frame(nth(n))
			synctest.Wait()
		}
		r.mu.Lock()
		waiting := len(r.waiting)
		r.mu.Unlock()
		if waited := time.Since(began); waited > 0 || waiting > mostWaiting {
			t.Errorf("frames waited %s, and %d wait", waited, waiting)
		}
		err = r.Close()
		if waited := time.Since(began); waited > closeWithin {
			t.Errorf("the end took %s", waited)
		}
		if err == nil || !strings.Contains(err.Error(), "its disk has not answered for 5s") {
			t.Errorf("the end says %v", err)
		}
		close(s.answer)
		<-r.ended
	})
}

// slow is a file whose disk takes its time for each answer.
type slow struct{ io.WriteCloser }

func (s slow) Write(p []byte) (int, error) {
	time.Sleep(closeWithin - time.Second)
	return s.WriteCloser.Write(p)
}

// A slow disk is waited for at the end, however much there is to write: nothing of the recording is lost.
func TestASlowDiskIsWaitedForAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{t: t, folder: t.TempDir()}
		r, err := Start(Options{Create: func(n int) (io.WriteCloser, error) {
			file, err := os.Create(FileName(d.path(), n))
			return slow{file}, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		for n := range 100 {
			r.Frame(nth(n))
		}
		began := time.Now()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took <= closeWithin {
			t.Errorf("the end took %s only: the disk was not slow", took)
		}
		if rec, seconds := read(t, d.path(), time.Time{}); !slices.Equal(seconds, upTo(0, 100)) || rec.Cut {
			t.Errorf("read %v (cut: %t)", seconds, rec.Cut)
		}
	})
}

// A recording that cannot be made says so at once.
func TestARecordingThatCannotBeMadeIsNotBegun(t *testing.T) {
	if _, err := Start(Options{Create: func(int) (io.WriteCloser, error) { return nil, fs.ErrExist }}); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
}

// What is no recording, and one of a later form, are refused with the reason.
func TestWhatIsNoRecordingIsRefused(t *testing.T) {
	for content, want := range map[string]string{
		"":                        "no recording",
		"nodes:\n- name: cmp-1\n": "no recording",
		`{"lockstepRecording":99,"version":"9.9"}` + "\n": "it is of Lockstep 9.9",
		`{"lockstepRecording":1,"version":"1.0"}` + "\n":  "nothing is in it",
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// No secret gets into a recording, whatever fact it stands in.
func TestNoSecretIsRecorded(t *testing.T) {
	f := Frame{Now: scene.Noon, Wall: scene.Noon, Records: []any{map[string]any{"text": "https://anna:hunter2@keystone/v3"}},
		Operations: []core.Operation{{ID: "1", Text: "os_password=hunter2"}},
		Deltas: []core.Delta{{Source: core.SourceNodes, State: core.SourceFailed,
			Err:     &core.APIError{Message: `{"password": "hunter2"}`},
			Upserts: []core.Object{&core.Node{Meta: core.Meta{Name: "cmp-1"}, Annotations: map[string]string{"os_password": "hunter2"}}}}}}
	var out told
	raw, err := out.appendFrame(nil, redacting, f)
	if err != nil || !json.Valid(raw) || strings.Contains(string(raw), "hunter2") || strings.Count(string(raw), core.Hidden) < 4 {
		t.Errorf("%v: %s", err, raw)
	}
}

// Where much happens in little time, as with a fast clock, a jump reads as little as ever: keys follow on what was written since the last
// one. In a cloud at rest nothing is written for their sake.
func TestAJumpReadsLittleHoweverFastTheClockRuns(t *testing.T) {
	lane.Single(t)
	synctest.Test(t, func(t *testing.T) {
		d := &disk{t: t, folder: t.TempDir()}
		r := d.start(0)
		noise := rand.New(rand.NewPCG(1, 2))
		const frames = 200
		for n := range frames {
			f := nth(n)
			text := make([]byte, 64<<10)
			for i := range text {
				text[i] = 'a' + byte(noise.IntN(26))
			}
			f.Records = []any{string(text)} // some 40 kB when it is compressed
			r.Frame(f)
			time.Sleep(time.Second)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		rec, seconds := read(t, d.path(), scene.Noon)
		info, err := os.Stat(d.path())
		if err != nil {
			t.Fatal(err)
		}
		if len(seconds) != frames || info.Size() < 4*keyLeast {
			t.Fatalf("%d frames in %d bytes", len(seconds), info.Size())
		}
		if most := int(info.Size()/keyLeast) + 1; len(rec.parts) < most/2 || len(rec.parts) > most {
			t.Errorf("%d keys in %d bytes", len(rec.parts), info.Size())
		}
		for i, p := range rec.parts {
			end := info.Size()
			if i+1 < len(rec.parts) {
				end = rec.parts[i+1].offset
			}
			if end-p.offset > 3*keyLeast/2 {
				t.Errorf("a jump to %s reads %d bytes", p.at, end-p.offset)
			}
		}
		if _, late := read(t, d.path(), scene.Noon.Add((frames-1)*time.Second)); len(late) == 0 || late[0] < frames/2 {
			t.Errorf("a jump to the end begins at %v", late)
		}
	})
}

// A file may have a head and nothing else, where the disk was full again or a kill came. The recording is read past it.
func TestAFileThatOnlyBeganIsPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{t: t, folder: t.TempDir()}
		r := d.start(2 << 10)
		for n := range 600 {
			r.Frame(nth(n))
			time.Sleep(time.Second)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		all, err := filepath.Glob(filepath.Join(d.folder, "*"))
		if err != nil || len(all) < 4 {
			t.Fatalf("there are %q, %v: want four files at least", all, err)
		}
		for _, i := range []int{2, 3} {
			name := FileName(d.path(), i)
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, b[:bytes.IndexByte(b, '\n')+20], 0o600); err != nil { // the head, and the beginning of a part
				t.Fatal(err)
			}
		}
		_, seconds := read(t, d.path(), time.Time{})
		gap := slices.IndexFunc(upTo(0, len(seconds)), func(i int) bool { return seconds[i] != i })
		if gap <= 0 || !slices.Equal(seconds[gap:], upTo(seconds[gap], 600)) {
			t.Errorf("read %v", seconds)
		}
	})
}
