package pseudonym

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/core"
)

// pseudonyms are those of one recording. Its names are collected first, in all of it: then what is told of a name before the thing itself
// was seen has the pseudonym, too.
type pseudonyms struct {
	Names
	collecting bool
	found      map[string]string // kinds by name
	objects    map[string]bool   // names of objects, which are made of others
	others     map[string]bool   // names of anything
	values     map[string]bool   // of labels
	remarks    map[string]bool

	all    *dictionary // every name
	things *dictionary // names that others are made of: nodes, machines, clusters, deployments, groups

	old   time.Time // earlier times are told to the day: an exact age identifies a thing as its name does
	texts map[ruled]string
	keys  map[sourceKey]string // of objects
}

func begin() *pseudonyms {
	return &pseudonyms{Names: New(), collecting: true, found: map[string]string{}, objects: map[string]bool{}, others: map[string]bool{},
		values: map[string]bool{}, remarks: map[string]bool{}, all: newDictionary(), things: newDictionary(),
		texts: map[ruled]string{}, keys: map[sourceKey]string{}}
}

// kindsOfThings are the kinds of names of which other names are made; the first ones count where a name is of several.
var kindsOfThings = []string{"master", "controller", "compute", "gateway", "storage", "node", "domain", "cluster", "deployment"}

// learn notes a name.
func (p *pseudonyms) learn(kind, name string) {
	known, ok := p.found[name]
	rank := func(kind string) int {
		if i := slices.Index(kindsOfThings, kind); i >= 0 {
			return i
		}
		return len(kindsOfThings)
	}
	if name != "" && (!ok || rank(kind) < rank(known) || rank(kind) == rank(known) && kind < known) {
		p.found[name] = kind
	}
}

// end makes the pseudonyms of all that was found.
func (p *pseudonyms) end() {
	p.collecting = false
	clear(p.texts) // as they were before
	for _, name := range slices.Sorted(maps.Keys(p.found)) {
		kind := p.found[name]
		made := p.Name(kind, name)
		if rest, ok := strings.CutPrefix(name, "kaas-node-"); ok && ids.FindString(rest) == rest {
			made = "kaas-node-" + p.ID(rest)
		}
		if kind == "id" {
			made = p.ID(name)
		}
		p.all.add(name, made)
		if slices.Contains(kindsOfThings, kind) {
			p.things.add(name, made)
		}
	}
	p.things.sort()
	p.all.sort()
	also := func(names map[string]bool, made func(string) string) {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if p.all.exact[name] == "" {
				if m := made(name); m != name {
					p.all.add(name, m)
				}
			}
		}
	}
	also(p.remarks, p.remark)
	also(p.objects, p.object)
	p.all.sort()
	also(p.values, p.value)
	also(p.others, p.mixed)
	p.all.sort()
}

// made is the pseudonym of a name. One that was not found gets one of its own.
func (p *pseudonyms) made(kind, name string) string {
	if made, ok := p.all.exact[name]; ok || name == "" {
		return made
	}
	return p.Name(kind, name)
}

var errKind = errors.New("a recording has a value that cannot be made pseudonymous")

// anew makes a value anew, with pseudonyms. Nothing of the old one is changed.
func (p *pseudonyms) anew(v reflect.Value, r rule) (reflect.Value, error) {
	switch v.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		return v, nil
	case reflect.String:
		made := reflect.New(v.Type()).Elem()
		made.SetString(p.text(r, v.String()))
		return made, nil
	case reflect.Pointer:
		if v.IsNil() {
			return v, nil
		}
		inner, err := p.anew(v.Elem(), r)
		if err != nil {
			return v, err
		}
		made := reflect.New(v.Type().Elem())
		made.Elem().Set(inner)
		return made, nil
	case reflect.Slice:
		if v.IsNil() {
			return v, nil
		}
		made := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			inner, err := p.anew(v.Index(i), r)
			if err != nil {
				return v, err
			}
			made.Index(i).Set(inner)
		}
		return made, nil
	case reflect.Struct:
		return p.structure(v)
	}
	return v, errKind
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	metaType  = reflect.TypeFor[core.Meta]()
	errorType = reflect.TypeFor[error]()
)

// structure makes a struct anew, by the rules of its fields.
func (p *pseudonyms) structure(v reflect.Value) (reflect.Value, error) {
	if v.Type() == timeType {
		if at := v.Interface().(time.Time); !at.IsZero() && at.Before(p.old) {
			return reflect.ValueOf(at.Truncate(24 * time.Hour)), nil
		}
		return v, nil
	}
	if p.collecting {
		p.thing(v)
	}
	made := reflect.New(v.Type()).Elem()
	if err := p.fields(v, made, v.Type().Name()); err != nil {
		return v, err
	}
	return made, nil
}

// thing notes what an object is called that others are named after.
func (p *pseudonyms) thing(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[core.Node]():
		n := v.Interface().(core.Node)
		kind := "node"
		for _, role := range []core.Role{core.RoleMaster, core.RoleController, core.RoleCompute, core.RoleGateway, core.RoleStorage} {
			if n.Is(role) {
				kind = string(role)
				break
			}
		}
		p.learnHost(kind, n.Name)
		p.learnHost(kind, n.ShortName)
	case reflect.TypeFor[core.MaintenanceRequest]():
		if r := v.Interface().(core.MaintenanceRequest); r.Kind == core.KindClusterMaintenanceRequest {
			p.learn("cluster", r.Name)
		}
	}
}

func (p *pseudonyms) fields(v, made reflect.Value, of string) error {
	for _, f := range plan(v.Type(), of) {
		old := v.Field(f.index)
		if old.IsZero() {
			continue
		}
		switch {
		case f.meta:
			if err := p.fields(old, made.Field(f.index), of); err != nil {
				return err
			}
		case f.table != "":
			table, err := p.table(old, f.table)
			if err != nil {
				return err
			}
			made.Field(f.index).Set(table)
		default:
			inner, err := p.anew(old, f.rule)
			if err != nil {
				return err
			}
			made.Field(f.index).Set(inner)
		}
	}
	return nil
}

// planned is what is done with a field of a struct.
type planned struct {
	index int
	meta  bool   // the metadata of an object
	table string // the name of a map
	rule  rule
}

type planKey struct {
	t  reflect.Type
	of string
}

var plans sync.Map // planKey → []planned

// plan is what is done with the fields of a struct: of an object's metadata it is the object's type that counts.
func plan(t reflect.Type, of string) []planned {
	if known, ok := plans.Load(planKey{t, of}); ok {
		return known.([]planned)
	}
	var out []planned
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case !f.IsExported() || f.Type == errorType:
		case f.Type == metaType:
			out = append(out, planned{index: i, meta: true})
		case f.Type.Kind() == reflect.Map:
			out = append(out, planned{index: i, table: of + "." + f.Name})
		case t == metaType:
			out = append(out, planned{index: i, rule: metaRule(of, f.Name)})
		default:
			out = append(out, planned{index: i, rule: ruleOf(of, f.Name, f.Type)})
		}
	}
	plans.Store(planKey{t, of}, out)
	return out
}

func metaRule(of, field string) rule {
	if r, ok := rules[of+"."+field]; ok {
		return r
	}
	return rules["Meta."+field]
}

// ruleOf is the rule of a field. A type with a name of its own has words of Lockstep or of MOSK.
func ruleOf(of, field string, t reflect.Type) rule {
	r, ok := rules[of+"."+field]
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if !ok && t.Kind() == reflect.String && t.PkgPath() != "" {
		r.class = own
	}
	return r
}

// table makes a map anew. Two keys that become the same cannot happen to names; of labels that are left out one remains.
func (p *pseudonyms) table(v reflect.Value, field string) (reflect.Value, error) {
	if v.IsNil() {
		return v, nil
	}
	made := reflect.MakeMap(v.Type())
	keys := v.MapKeys()
	if v.Type().Key().Kind() == reflect.String {
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	}
	for _, k := range keys {
		value := v.MapIndex(k)
		if field == "Flavor.ExtraSpecs" && !HarmlessSpec(k.String(), value.String()) {
			continue
		}
		key, inner, err := p.entry(k, value, field)
		if err != nil {
			return v, err
		}
		made.SetMapIndex(key, inner)
	}
	return made, nil
}

// entry makes a key of a map and its value anew.
func (p *pseudonyms) entry(k, value reflect.Value, field string) (key, made reflect.Value, err error) {
	if value.Kind() == reflect.Map {
		return k, value, errKind
	}
	if key, err = p.anew(k, ruleOf(field, "", k.Type()).or(rules[field+" key"])); err != nil {
		return key, value, err
	}
	made, err = p.anew(value, ruleOf(field, "", value.Type()).or(rules[field]))
	return key, made, err
}

func (r rule) or(other rule) rule {
	if other.class != nothing {
		return other
	}
	return r
}
