package pseudonym

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/recording"
)

// toTheDay is how old a time is that is told to the day only.
const toTheDay = 7 * 24 * time.Hour

// Recording writes a recording again, with pseudonyms for the customer's names and IDs. What Lockstep needs to play it stays: kinds,
// states, releases, sizes, times, and MOSK's own names. Texts lose what Lockstep does not know; what people wrote is left out. It ends with
// ctx.
func Recording(ctx context.Context, from *recording.Recording, to io.Writer) error {
	p := begin()
	p.old = from.From.Add(-toTheDay)
	if _, err := p.head(from.Head); err != nil {
		return err
	}
	err := from.Each(func(f recording.Frame) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := p.frame(f)
		return err
	}, func(recording.Event) error { return nil })
	if err != nil {
		return err
	}
	p.end()
	head, err := p.head(from.Head)
	if err != nil {
		return err
	}
	return from.Rewrite(head, to, recording.Changes{Event: p.event, Frame: func(f recording.Frame) (recording.Frame, error) {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		return p.frame(f)
	}})
}

func (p *pseudonyms) head(h recording.Head) (recording.Head, error) {
	made, err := p.anew(reflect.ValueOf(h), rule{})
	if err != nil {
		return h, err
	}
	version := h.Version
	h = made.Interface().(recording.Head)
	h.Version, h.Pseudonymous = version, true
	return h, nil
}

func (p *pseudonyms) event(e recording.Event) recording.Event {
	e.Kind, e.Text = p.text(rule{class: own}, e.Kind), p.text(rule{class: prose}, e.Text)
	return e
}

// as makes a value of any type anew.
func as[T any](p *pseudonyms, v T) (T, error) {
	made, err := p.anew(reflect.ValueOf(&v).Elem(), rule{})
	if err != nil {
		return v, fmt.Errorf("%T: %w", v, err)
	}
	return made.Interface().(T), nil
}

// frame makes a frame anew.
func (p *pseudonyms) frame(f recording.Frame) (made recording.Frame, err error) {
	made = recording.Frame{Now: f.Now, Wall: f.Wall, Begins: f.Begins}
	first := func(e error) {
		if err == nil {
			err = e
		}
	}
	var e error
	if f.Key != nil {
		made.Key = &recording.Key{Objects: map[core.SourceID][]core.Object{}}
		made.Key.Sources, e = as(p, f.Key.Sources)
		first(e)
		for id, list := range f.Key.Objects {
			made.Key.Objects[id], e = p.list(id, list)
			first(e)
		}
	}
	for _, d := range f.Deltas {
		anew := core.Delta{Source: d.Source, At: d.At, State: d.State, Next: d.Next, Touch: d.Touch, Replace: d.Replace}
		anew.Err, e = as(p, d.Err)
		first(e)
		anew.Upserts, e = p.list(d.Source, d.Upserts)
		first(e)
		for _, key := range d.Deletes {
			anew.Deletes = append(anew.Deletes, p.deleted(d.Source, key))
		}
		made.Deltas = append(made.Deltas, anew)
	}
	made.History, e = as(p, f.History)
	first(e)
	made.Operations, e = as(p, f.Operations)
	first(e)
	made.Write, e = as(p, f.Write)
	first(e)
	made.Notes, e = as(p, f.Notes)
	first(e)
	made.Identity, e = as(p, f.Identity)
	first(e)
	if f.Part != nil {
		made.Part = p.part(f.Part)
	}
	for _, raw := range f.Records {
		r, known, e := p.record(raw)
		first(e)
		if known {
			made.Records = append(made.Records, r)
		}
	}
	return made, err
}

// part makes anew what a frame tells beside what it has: the keys of what went.
func (p *pseudonyms) part(from *recording.Part) *recording.Part {
	made := *from
	made.Tables, made.IDs = make(map[string]recording.Table, len(from.Tables)), nil
	for name, table := range from.Tables {
		field, _ := reflect.TypeFor[core.History]().FieldByName(name)
		anew := recording.Table{Anew: table.Anew}
		for _, gone := range table.Gone {
			key := gone
			if field.Type.Kind() == reflect.Map && field.Type.Key().Kind() == reflect.String {
				key = p.text(ruleOf("History."+name, "", field.Type.Key()).or(rules["History."+name+" key"]), gone)
			}
			anew.Gone = append(anew.Gone, key)
		}
		made.Tables[name] = anew
	}
	for _, id := range from.IDs {
		made.IDs = append(made.IDs, p.text(rules["Operation.ID"], id))
	}
	return &made
}

// list makes objects anew, and notes how their keys are called.
func (p *pseudonyms) list(id core.SourceID, list []core.Object) ([]core.Object, error) {
	var out []core.Object
	for _, o := range list {
		v, err := p.anew(reflect.ValueOf(o), rule{})
		if err != nil {
			return nil, fmt.Errorf("%T: %w", o, err)
		}
		made := v.Interface().(core.Object)
		if !p.collecting {
			p.keys[sourceKey{id, o.Key()}] = made.Key()
		}
		out = append(out, made)
	}
	return out, nil
}

// deleted is the key of an object that went.
func (p *pseudonyms) deleted(id core.SourceID, key string) string {
	if made, ok := p.keys[sourceKey{id, key}]; ok {
		return made
	}
	return p.text(rule{class: mixed}, key)
}

type sourceKey struct {
	source core.SourceID
	key    string
}

// record makes a record of the journal anew. Fields of a later version are left out, and so is what is no record.
func (p *pseudonyms) record(raw any) (engine.Record, bool, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		return engine.Record{}, false, nil
	}
	var r engine.Record
	if json.Unmarshal(text, &r) != nil {
		return r, false, nil
	}
	if r.Note != nil && r.Text != "" {
		r.Text = LeftOut // what a person wrote
	}
	r, err = as(p, r)
	return r, true, err
}
