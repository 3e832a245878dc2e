package pseudonym

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/progress"
	"lockstep/core/recording"
	"lockstep/sim/bubble/lane"
)

// recordedTypes are the types of all that a recording has.
func recordedTypes() []reflect.Type {
	types := recording.Objects()
	for _, v := range []any{core.History{}, core.Operation{}, core.WriteMode{}, core.Note{}, core.Identity{}, core.Source{}, core.APIError{},
		recording.Head{}, engine.Record{}} {
		types = append(types, reflect.TypeOf(v))
	}
	return types
}

// Every text of a recording has a rule: a new field is a decision, made in rules. A rule without a field is none.
func TestEveryTextHasARule(t *testing.T) {
	used := map[string]bool{"Event.Kind": true, "Event.Text": true}
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	leaf := func(of string, field string, typ reflect.Type, meta bool) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.String {
			walk(typ)
			return
		}
		names := []string{of + "." + field}
		if meta {
			names = append(names, "Meta."+field)
		}
		has := typ.PkgPath() != ""
		for _, n := range names {
			_, ruled := rules[n]
			used[n], has = used[n] || ruled, has || ruled
		}
		if !has {
			t.Errorf("%s.%s has no rule", of, field)
		}
	}
	walk = func(typ reflect.Type) {
		if typ == timeType || typ.Kind() != reflect.Struct || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			switch {
			case !f.IsExported() || f.Type == errorType:
			case f.Type == metaType:
				for j := range metaType.NumField() {
					leaf(typ.Name(), metaType.Field(j).Name, metaType.Field(j).Type, true)
				}
			case f.Type.Kind() == reflect.Map:
				leaf(typ.Name(), f.Name, f.Type.Elem(), false)
				leaf(typ.Name(), f.Name+" key", f.Type.Key(), false)
			default:
				leaf(typ.Name(), f.Name, f.Type, false)
			}
		}
	}
	for _, typ := range recordedTypes() {
		walk(typ)
	}
	for name := range rules {
		if !used[name] {
			t.Errorf("%s: there is no such field", name)
		}
	}
	if len(used) < 250 {
		t.Errorf("only %d fields were found", len(used))
	}
}

// secretForms are the forms of customers' names. The word in them is in no text of Lockstep's.
var secretForms = []string{"%s", "%s-1", "web-%s", "%s.acme.example", "node-%s", "Server of %s", "%s_db", "openstack-%s", "%s/portal",
	"[%s]", "k8s-workers-%s", "10.7.%s.3", "größe-%s", "%s@jump", "/home/%s/.kube/config", "https://%s.example:8774/v2.1",
	"kaas-node-%s", "%s Cluster"}

// filler fills values with texts in which names of a customer are.
type filler struct {
	*rand.Rand
	secrets []string
}

func pick[T any](f *filler, of []T) T { return of[f.IntN(len(of))] }

// secret is a new word, in a form in which a name could have it.
func (f *filler) secret() string {
	word := []byte("zq")
	for range 8 {
		word = append(word, pick(f, []byte("bcdfgjkpqvwxz")))
	}
	f.secrets = append(f.secrets, string(word))
	return fmt.Sprintf(pick(f, secretForms), word)
}

// name is a new name, or one that was told before.
func (f *filler) name() string {
	if len(f.secrets) > 0 && f.IntN(2) == 0 {
		return pick(f, f.secrets)
	}
	return f.secret()
}

func (f *filler) text() string {
	return pick(f, []string{
		"%s", "live-migrate %s to %s", "Notify owners of the following server: ['%s']", "No valid host was found for %s: %s",
		"2026-03-14 02:15:00 Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node %s",
		"kubectl --context %s get node %s -o yaml", "%s: connection refused", "\"%s\" (%s)", "pod %s on %s is not ready",
	})
}

func (f *filler) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		text := f.text()
		for strings.Contains(text, "%s") {
			text = strings.Replace(text, "%s", f.name(), 1)
		}
		if f.IntN(2) == 0 {
			text = f.name()
		}
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), depth)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0), depth)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(k, depth)
		f.fill(e, depth)
		v.SetMapIndex(k, e)
	case reflect.Struct:
		if v.Type() == timeType {
			v.Set(reflect.ValueOf(noon))
			return
		}
		for i := range v.NumField() {
			if ft := v.Type().Field(i); ft.IsExported() && ft.Type != errorType && depth < 8 {
				f.fill(v.Field(i), depth+1)
			}
		}
	}
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// filled is a value of the type in which each text has names.
func filled[T any](f *filler) T {
	var v T
	f.fill(reflect.ValueOf(&v).Elem(), 0)
	return v
}

// inMemory is a file on a disk that always answers.
type inMemory struct{ bytes.Buffer }

// Close implements io.Closer.
func (*inMemory) Close() error { return nil }

// written is a recording of the frames, opened.
func written(t testing.TB, head recording.Head, frames []recording.Frame, events []recording.Event) *recording.Recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), "one.lockrec")
	var file inMemory
	rec, err := recording.Start(recording.Options{Head: head, Create: func(int) (io.WriteCloser, error) { return &file, nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		rec.Frame(f)
	}
	for _, e := range events {
		rec.Event(e)
	}
	if err := errors.Join(rec.Close(), os.WriteFile(path, file.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	opened, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// lines is what a recording has, as text.
func lines(t testing.TB, file []byte) string {
	head, rest, _ := bytes.Cut(file, []byte("\n"))
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

// Whatever a recording has in its texts, no name is left in it: neither where a name stands, nor in a text, nor where a name was not
// expected at all, as in a state.
func TestNoNameIsLeft(t *testing.T) {
	for seed := range lane.Part(t, 20, 10) { // one goroutine does them: the race detector sees nothing more in the later ones
		noNameIsLeft(t, uint64(seed))
	}
}

func FuzzNoNameIsLeft(f *testing.F) {
	f.Add(uint64(1000))
	f.Fuzz(noNameIsLeft)
}

func noNameIsLeft(t *testing.T, seed uint64) {
	f := &filler{Rand: rand.New(rand.NewPCG(seed, 1))}
	frame := recording.Frame{Now: noon, Wall: noon, Sources: map[core.SourceID]core.Source{}}
	for range 6 {
		o := reflect.New(pick(f, recording.Objects()))
		f.fill(o.Elem(), 0)
		frame.Deltas = append(frame.Deltas,
			core.Delta{Source: core.SourceNodes, At: noon, Upserts: []core.Object{o.Interface().(core.Object)}})
	}
	frame.History, frame.Write, frame.Identity = filled[core.History](f), filled[core.WriteMode](f), filled[core.Identity](f)
	frame.Operations, frame.Notes = filled[[]core.Operation](f), filled[[]core.Note](f)
	frame.Records = []any{filled[engine.Record](f), map[string]string{"unknown": f.secret()}, f.secret()}
	failed := filled[core.APIError](f)
	frame.Sources[core.SourceNodes] = core.Source{ID: core.SourceNodes, State: core.SourceFailed, Err: &failed}
	later := frame
	later.Now, later.Wall = noon.Add(time.Second), noon.Add(time.Second)
	gone := []string{f.secret(), frame.Deltas[0].Upserts[0].Key()}
	later.Deltas = []core.Delta{{Source: core.SourceNodes, At: noon, Err: &failed, Deletes: gone}}
	later.Records = []any{filled[engine.Record](f)}
	rec := written(t, filled[recording.Head](f), []recording.Frame{frame, later},
		[]recording.Event{{At: noon, Kind: f.secret(), Text: f.secret()}})
	rec.Head.Version = "1.0" // the program's own
	var out bytes.Buffer
	if err := Recording(t.Context(), rec, &out); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	text := lines(t, out.Bytes())
	for _, s := range append(f.secrets, "acme", "größe", "portal") {
		if i := strings.Index(strings.ToLower(text), s); i >= 0 {
			t.Fatalf("seed %d: %q is still there: …%s…", seed, s, text[max(i-200, 0):min(i+200, len(text))])
		}
	}
	if len(f.secrets) < 100 {
		t.Fatalf("seed %d: only %d names were told", seed, len(f.secrets))
	}
}

// Names that are words of a text are replaced in it as well, also short ones and ones with spaces, and everywhere by the same name.
func TestNamesInTexts(t *testing.T) {
	p := begin()
	for kind, names := range map[string][]string{
		"instance": {"a", "My VM 1", "node", "db", "db-1"}, "compute": {"cmp-1"}, "project": {"test"}} {
		for _, n := range names {
			p.learn(kind, n)
		}
	}
	p.learnHost("node", "gtw-1.acme.example")
	p.values["rack"] = true
	p.end()
	made := func(name string) string { return p.all.exact[name] }
	const uuid = "0b9f1c52-8a1c-4b0e-9b1d-3f2a5c6d7e8f"
	for text, want := range map[string]string{
		"My VM 1 and db-1, not db-12":   made("My VM 1") + " and " + made("db-1") + ", not " + made("db") + "-12",
		"move a to cmp-1":               "move " + made("a") + " to " + made("cmp-1"),
		"openstack-cmp-1":               "openstack-" + made("cmp-1"),
		"cmp-1.acme.example":            made("cmp-1") + "." + made("acme.example"),
		"the server " + uuid + " fails": "the server " + p.ID(uuid) + " fails",
		"2026-03-14 02:15:00 in 1h30m":  "2026-03-14 02:15:00 in 1h30m",
		"release 21.0.0+25.2":           "release 21.0.0+25.2",
		"10.1.2.3 answers":              p.Name("address", "10.1.2.3") + " answers",
		"node/10.0.0.5 fails":           made("node") + "/" + p.Name("address", "10.0.0.5") + " fails",
		"root@10.0.0.5":                 "root@" + p.Name("address", "10.0.0.5"),
		"the host-10-0-0-5 fails":       "the host-" + p.Name("address", "10-0-0-5") + " fails",
		"mac 52:54:00:12:34:56":         "mac " + p.Name("address", "52:54:00:12:34:56"),
		"at 00:25:90:ab:cd:ef":          "at " + p.Name("address", "00:25:90:ab:cd:ef"),
		"at 10:30:error":                "at 10:30:error",
		"release mosk-17-4-0-25-1":      "release mosk-17-4-0-25-1",
		"(test) node":                   "(" + made("test") + ") " + made("node"),
	} {
		if got := p.prose(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if p.host("gtw-1.acme.example@lvm#lvm") != made("gtw-1")+"."+made("acme.example")+"@"+p.object("lvm#lvm") {
		t.Errorf("a volume service's host is %q", p.host("gtw-1.acme.example@lvm#lvm"))
	}
	if got := p.object("openstack-cmp-1"); got != "openstack-"+made("cmp-1") {
		t.Errorf("a lock's name is %q", got)
	}
	if got := p.object("acme-portal-0"); !regexp.MustCompile(`^name-[0-9a-f]{10}-0$`).MatchString(got) {
		t.Errorf("a pod's name is %q", got)
	}
	for _, own := range []string{"libvirt-libvirt-default", "mariadb-server-2", "ceph-clusterworkloadlock", "nova-compute-default"} {
		if got := p.object(own); got != own {
			t.Errorf("%q became %q", own, got)
		}
	}
}

// Every text of the OpenStack controller says in a pseudonymous recording what it said, also where a node is called like a word of it.
func TestTheTextsOfLocksStayReadable(t *testing.T) {
	const uuid = "0b9f1c52-8a1c-4b0e-9b1d-3f2a5c6d7e8f"
	p := begin()
	p.learn("compute", "cmp-1")
	p.learn("instance", "node")
	p.end()
	texts := []string{
		"2026-03-14 02:15:00 Some servers are still present on the host. Notify owners of the following server: ['" + uuid + "']",
		"Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node cmp-1",
		"Got error while trying to migrate server " + uuid + ": No valid host was found. acme",
	}
	for _, text := range texts {
		was, is := progress.ReadLockMessage(text), progress.ReadLockMessage(p.lock(text))
		if was.ID == "" || is.ID != was.ID || !is.At.Equal(was.At) || len(is.Instances) != len(was.Instances) {
			t.Errorf("%q became %q", text, is.Raw)
		}
		for _, name := range []string{"cmp-1", uuid, "acme"} {
			if strings.Contains(is.Raw, name) {
				t.Errorf("%q has %q", is.Raw, name)
			}
		}
	}
}
