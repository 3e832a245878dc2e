package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"lockstep/core"
)

// line is a line of a recording as it is read. A line is one frame, one event, or the mark of the end.
type line struct {
	Now        time.Time         `json:"now"`
	Wall       time.Time         `json:"wall"` // empty: as Now
	Deltas     []deltaLine       `json:"deltas"`
	History    map[string]change `json:"history"`
	Operations *operationsLine   `json:"operations"`
	Write      *core.WriteMode   `json:"write"`
	Notes      *[]core.Note      `json:"notes"`
	Identity   *core.Identity    `json:"identity"`
	Records    []json.RawMessage `json:"records"`
	Begins     bool              `json:"begins"`
	Key        *keyLine          `json:"key"`

	Event *Event `json:"event"`
	End   bool   `json:"end"`
}

// deltaLine is a Delta.
type deltaLine struct {
	Source  core.SourceID    `json:"source"`
	At      time.Time        `json:"at"`
	State   core.SourceState `json:"state,omitzero"`
	Err     *core.APIError   `json:"err,omitzero"`
	Next    time.Time        `json:"next,omitzero"`
	Upserts objectList       `json:"upserts,omitzero"`
	Deletes []string         `json:"deletes,omitzero"`
	Touch   bool             `json:"touch,omitzero"`
}

// keyLine is a Key.
type keyLine struct {
	Sources []core.Source                `json:"sources"`
	Objects map[core.SourceID]objectList `json:"objects"`
}

// change is how a field of the History has changed: a table by its entries, anything else as a whole.
type change struct {
	Anew  bool            `json:"anew,omitzero"` // what the table had before does not count
	Set   json.RawMessage `json:"set,omitzero"`
	Gone  []string        `json:"gone,omitzero"`
	Whole json.RawMessage `json:"whole,omitzero"`
}

// operationsLine is how the list of operations has changed.
type operationsLine struct {
	IDs []string         `json:"ids"` // all, in their order
	Set []core.Operation `json:"set"` // those that are new or have changed
}

// The beginnings of lines, by which a reader tells them apart without decoding them.
var (
	frameBegins = []byte(`{"now":"`)
	eventBegins = []byte(`{"event":`)
	keyMark     = []byte(`,"key":{`)
	beginsMark  = []byte(`,"begins":true`)
	endLine     = []byte(`{"end":true}` + "\n")
)

// whereMarks is how far into a line its marks are at most.
const whereMarks = 160

// isKey tells whether a frame's line has a Key, and whether something may be missing before it.
func isKey(raw []byte) (key, begins bool) {
	begin := raw[:min(len(raw), whereMarks)]
	return bytes.Contains(begin, keyMark), bytes.Contains(begin, beginsMark)
}

// told is what the lines before have told, of what is written by its changes. Writer and reader keep the same.
type told struct {
	history    core.History
	operations []core.Operation
	write      core.WriteMode
	notes      []core.Note
	identity   core.Identity

	own map[string]bool // of a reader: the tables of the History that no frame has that was given out
}

// appendFrame writes a frame as a line, and takes it in. With a Key, all is written as a whole.
func (t *told) appendFrame(b []byte, e encoder, f Frame) ([]byte, error) {
	if f.Key != nil {
		*t = told{}
	}
	w := lineWriter{b: b, e: e}
	w.begin(f)
	w.history(&t.history, &f.History)
	w.operations(t.operations, f.Operations)
	if f.Write != t.write || f.Key != nil {
		w.add(`,"write":`, f.Write)
	}
	if f.Key != nil && len(f.Notes) > 0 || f.Key == nil && !slices.Equal(f.Notes, t.notes) {
		w.add(`,"notes":`, append([]core.Note{}, f.Notes...))
	}
	if f.Key != nil && !f.Identity.IsZero() || f.Key == nil && !reflect.DeepEqual(f.Identity, t.identity) {
		w.add(`,"identity":`, f.Identity)
	}
	w.end(f)
	t.history, t.operations, t.write, t.notes, t.identity = f.History, f.Operations, f.Write, f.Notes, f.Identity
	return w.b, w.err
}

// appendPart writes a frame that has only what changed.
func appendPart(b []byte, e encoder, f Frame) ([]byte, error) {
	w := lineWriter{b: b, e: e}
	w.begin(f)
	begin := `,"history":{`
	history := reflect.ValueOf(&f.History).Elem()
	for i := range history.NumField() {
		name, field := history.Type().Field(i).Name, history.Field(i)
		table, told := f.Part.Tables[name]
		switch {
		case !told:
			continue
		case field.Kind() == reflect.Map:
			w.change(begin+`"`+name+`":`, table, field)
		default:
			w.add(begin+`"`+name+`":{"whole":`, field.Interface())
			w.b = append(w.b, '}')
		}
		begin = ","
	}
	if begin == "," {
		w.b = append(w.b, '}')
	}
	if f.Part.Operations {
		w.add(`,"operations":`, operationsLine{append([]string{}, f.Part.IDs...), append([]core.Operation{}, f.Operations...)})
	}
	if f.Part.Write {
		w.add(`,"write":`, f.Write)
	}
	if f.Part.Notes {
		w.add(`,"notes":`, append([]core.Note{}, f.Notes...))
	}
	if f.Part.Identity {
		w.add(`,"identity":`, f.Identity)
	}
	w.end(f)
	return w.b, w.err
}

// lineWriter writes the parts of a line, and keeps the first error.
type lineWriter struct {
	b   []byte
	e   encoder
	err error
}

// begin writes what a frame has of the world.
func (w *lineWriter) begin(f Frame) {
	w.add(`{"now":`, f.Now)
	if !f.Wall.Equal(f.Now) {
		w.add(`,"wall":`, f.Wall)
	}
	if f.Begins {
		w.b = append(w.b, beginsMark...)
	}
	if f.Key != nil { // near the line's begin, where a reader looks for it
		w.key(f.Key)
	}
	if f.Key == nil {
		w.deltas(f.Deltas)
	}
}

func (w *lineWriter) end(f Frame) {
	if len(f.Records) > 0 {
		w.add(`,"records":`, f.Records)
	}
	w.b = append(w.b, "}\n"...)
}

func (w *lineWriter) add(name string, v any) {
	if w.err == nil {
		w.b, w.err = w.e.append(append(w.b, name...), v)
	}
}

func (w *lineWriter) list(name string, list []core.Object) {
	if w.err == nil {
		w.b, w.err = w.e.appendObjects(append(w.b, name...), list)
	}
}

func (w *lineWriter) key(k *Key) {
	w.add(`,"key":{"sources":`, k.Sources)
	w.b = append(w.b, `,"objects":{`...)
	for i, id := range slices.Sorted(maps.Keys(k.Objects)) {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.b = appendString(w.b, string(id))
		w.list(":", k.Objects[id])
	}
	w.b = append(w.b, "}}"...)
}

func (w *lineWriter) deltas(deltas []core.Delta) {
	if len(deltas) == 0 {
		return
	}
	w.b = append(w.b, `,"deltas":[`...)
	for i, d := range deltas {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.add("", struct {
			Source core.SourceID    `json:"source"`
			At     time.Time        `json:"at"`
			State  core.SourceState `json:"state"`
			Err    *core.APIError   `json:"err"`
			Next   time.Time        `json:"next"`
			Touch  bool             `json:"touch"`
			Gone   []string         `json:"deletes"`
		}{d.Source, d.At, d.State, d.Err, d.Next, d.Touch, d.Deletes})
		if len(d.Upserts) > 0 && w.err == nil {
			w.b = w.b[:len(w.b)-1] // the brace
			w.list(`,"upserts":`, d.Upserts)
			w.b = append(w.b, '}')
		}
	}
	w.b = append(w.b, ']')
}

// history writes the fields that have changed. Maps of a History are never changed in place, so the same map has the same content.
func (w *lineWriter) history(before, now *core.History) {
	x, y := reflect.ValueOf(before).Elem(), reflect.ValueOf(now).Elem()
	begin := `,"history":{`
	for i := range x.NumField() {
		old, new := x.Field(i), y.Field(i)
		name := x.Type().Field(i).Name
		if new.Kind() != reflect.Map {
			if !reflect.DeepEqual(old.Interface(), new.Interface()) {
				w.add(begin+`"`+name+`":{"whole":`, new.Interface())
				w.b, begin = append(w.b, '}'), ","
			}
			continue
		}
		if old.Pointer() == new.Pointer() {
			continue
		}
		if w.table(begin+`"`+name+`":`, old, new) {
			begin = ","
		}
	}
	if begin == "," {
		w.b = append(w.b, '}')
	}
}

// table writes how a map has changed, and tells whether it has.
func (w *lineWriter) table(begin string, old, new reflect.Value) bool {
	set := reflect.MakeMap(new.Type())
	var gone []string
	for it := new.MapRange(); it.Next(); {
		before := old.MapIndex(it.Key())
		if !before.IsValid() || !reflect.DeepEqual(before.Interface(), it.Value().Interface()) {
			set.SetMapIndex(it.Key(), it.Value())
		}
	}
	anew := old.IsNil() != new.IsNil()
	for it := old.MapRange(); it.Next() && !anew; {
		if !new.MapIndex(it.Key()).IsValid() {
			gone = append(gone, fmt.Sprint(it.Key().Interface()))
		}
	}
	if !anew && set.Len() == 0 && len(gone) == 0 {
		return false
	}
	if new.IsNil() {
		set = reflect.Zero(new.Type())
	}
	slices.Sort(gone)
	w.change(begin, Table{anew, gone}, set)
	return true
}

// change writes how a table has changed: the entries are those that are set.
func (w *lineWriter) change(begin string, t Table, set reflect.Value) {
	w.add(begin, struct {
		Anew bool     `json:"anew"`
		Gone []string `json:"gone"`
	}{t.Anew, t.Gone})
	if !set.IsNil() {
		w.b = w.b[:len(w.b)-1]
		if w.b[len(w.b)-1] != '{' {
			w.b = append(w.b, ',')
		}
		w.add(`"set":`, set.Interface())
		w.b = append(w.b, '}')
	}
}

func (w *lineWriter) operations(before, now []core.Operation) {
	known := make(map[string]*core.Operation, len(before))
	for i := range before {
		known[before[i].ID] = &before[i]
	}
	same := len(before) == len(now) && (before == nil) == (now == nil)
	ids, set := make([]string, 0, len(now)), []core.Operation{}
	for i, op := range now {
		ids = append(ids, op.ID)
		same = same && before[i].ID == op.ID
		if old := known[op.ID]; old == nil || !reflect.DeepEqual(old, &op) {
			set = append(set, op)
		}
	}
	if same && len(set) == 0 {
		return
	}
	w.add(`,"operations":`, struct {
		IDs []string         `json:"ids"`
		Set []core.Operation `json:"set"`
	}{ids, set})
}

// frame makes a frame of a line, and takes it in.
func (t *told) frame(raw []byte) (Frame, error) {
	f, err := t.pass(raw)
	if err != nil {
		return Frame{}, err
	}
	t.give(&f)
	return f, nil
}

// give gives a frame what was told up to it. It keeps it.
func (t *told) give(f *Frame) {
	clear(t.own)
	f.History, f.Operations, f.Write, f.Notes, f.Identity = t.history, t.operations, t.write, t.notes, t.identity
}

// pass takes a line in. The frame is without what t has of it.
func (t *told) pass(raw []byte) (Frame, error) {
	var l line
	if err := decode(raw, &l); err != nil {
		return Frame{}, err
	}
	if l.Key != nil {
		*t = told{}
	}
	return l.frame(), t.apply(l)
}

// frame is what a line tells without those before it.
func (l line) frame() Frame {
	f := Frame{Now: l.Now, Wall: l.Wall, Begins: l.Begins}
	if l.Wall.IsZero() {
		f.Wall = l.Now
	}
	if l.Key != nil {
		f.Key = &Key{Sources: l.Key.Sources, Objects: map[core.SourceID][]core.Object{}}
		for id, list := range l.Key.Objects {
			f.Key.Objects[id] = list
		}
	}
	for _, d := range l.Deltas {
		f.Deltas = append(f.Deltas, core.Delta{Source: d.Source, At: d.At, State: d.State, Err: d.Err, Next: d.Next, Touch: d.Touch,
			Upserts: d.Upserts, Deletes: d.Deletes})
	}
	for _, r := range l.Records {
		f.Records = append(f.Records, r)
	}
	return f
}

// partOf makes a frame of a line alone.
func partOf(raw []byte) (Frame, error) {
	var l line
	if err := decode(raw, &l); err != nil {
		return Frame{}, err
	}
	f := l.frame()
	f.Part = &Part{Tables: map[string]Table{}}
	for name, c := range l.History {
		field := reflect.ValueOf(&f.History).Elem().FieldByName(name)
		if !field.IsValid() {
			continue // of a later version
		}
		f.Part.Tables[name] = Table{Anew: c.Anew, Gone: c.Gone}
		set := c.Set
		if field.Kind() != reflect.Map {
			set = c.Whole
		}
		if set == nil {
			continue
		}
		if err := decode(set, field.Addr().Interface()); err != nil {
			return Frame{}, fmt.Errorf("history, %s: %w", name, err)
		}
	}
	if l.Operations != nil {
		f.Part.Operations, f.Part.IDs, f.Operations = true, l.Operations.IDs, l.Operations.Set
	}
	if l.Write != nil {
		f.Part.Write, f.Write = true, *l.Write
	}
	if l.Notes != nil {
		f.Part.Notes, f.Notes = true, *l.Notes
	}
	if l.Identity != nil {
		f.Part.Identity, f.Identity = true, *l.Identity
	}
	return f, nil
}

func (t *told) apply(l line) error {
	for name, c := range l.History {
		field := reflect.ValueOf(&t.history).Elem().FieldByName(name)
		if !field.IsValid() {
			continue // of a later version
		}
		if err := c.apply(field, t.own[name]); err != nil {
			return fmt.Errorf("history, %s: %w", name, err)
		}
		if t.own == nil {
			t.own = map[string]bool{}
		}
		t.own[name] = true
	}
	if l.Write != nil {
		t.write = *l.Write
	}
	if l.Notes != nil {
		t.notes = nil
		if len(*l.Notes) > 0 {
			t.notes = *l.Notes
		}
	}
	if l.Identity != nil {
		t.identity = *l.Identity
	}
	if l.Operations == nil {
		return nil
	}
	known := map[string]core.Operation{}
	for _, op := range slices.Concat(t.operations, l.Operations.Set) {
		known[op.ID] = op
	}
	t.operations = make([]core.Operation, 0, len(l.Operations.IDs))
	for _, id := range l.Operations.IDs {
		t.operations = append(t.operations, known[id])
	}
	return nil
}

// apply makes the new value of a field. A table that earlier frames have is not changed in place.
func (c change) apply(field reflect.Value, own bool) error {
	if field.Kind() != reflect.Map {
		whole := reflect.New(field.Type())
		if err := decode(c.Whole, whole.Interface()); err != nil {
			return err
		}
		field.Set(whole.Elem())
		return nil
	}
	switch {
	case c.Anew && c.Set == nil:
		field.SetZero()
	case c.Anew || field.IsNil():
		field.Set(reflect.MakeMap(field.Type()))
	case !own:
		made := reflect.MakeMapWithSize(field.Type(), field.Len())
		for it := field.MapRange(); it.Next(); {
			made.SetMapIndex(it.Key(), it.Value())
		}
		field.Set(made)
	}
	if len(c.Gone) > 0 {
		gone := make(map[string]bool, len(c.Gone))
		for _, key := range c.Gone {
			gone[key] = true
		}
		for _, key := range field.MapKeys() {
			if gone[fmt.Sprint(key.Interface())] {
				field.SetMapIndex(key, reflect.Value{})
			}
		}
	}
	if c.Set == nil {
		return nil
	}
	return decode(c.Set, field.Addr().Interface())
}
