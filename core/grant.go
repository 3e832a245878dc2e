package core

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Grant is the operator's confirmation of exactly one step on exactly one object. It is used once, and goes stale when
// anything that it was given for has changed.
type Grant struct {
	ID      string    `json:"id"`
	StepID  string    `json:"step"`
	Intent  Intent    `json:"intent"`
	Target  Ref       `json:"target"`
	Basis   []Fact    `json:"basis"`
	Typed   string    `json:"typed,omitempty"`
	By      string    `json:"by"`      // user@host
	At      time.Time `json:"at"`      // wall time
	Expires time.Time `json:"expires"` // wall time
}

// GrantLifetime is how long a grant can be used, unless Config says otherwise; long enough for a slow dry-run, short enough that nobody forgets it.
const GrantLifetime = 2 * time.Minute

// Preview is what the servers say of a step before it is confirmed.
type Preview struct {
	Step   Step
	DryRun string    // what was tried: "kubectl annotate … --dry-run=server: accepted"; empty when the API has no dry-run
	Err    *APIError // the refusal; nil when there was none
}

// Preview says what the servers make of a step before it is confirmed: a dry-run where the API has one. It changes
// nothing, and needs no grant. Where writing can never be armed, nothing is asked: a dry-run takes the rights of the write.
func (e *Engine) Preview(ctx context.Context, i Intent) Preview {
	p := Preview{Step: Plan(e.Snapshot(), i)}
	if e.cfg.Barred != "" {
		return p
	}
	changes := []Change{p.Step.Change}
	if b, ok := p.Step.Change.(Batch); ok {
		changes = nil
		for _, item := range b.Items {
			changes = append(changes, item.Change)
		}
	}
	for _, c := range changes {
		tried, err := e.try(ctx, c)
		if !tried {
			continue
		}
		p.DryRun = "dry-run on the server: accepted"
		if err != nil {
			p.Err = asAPIError(err, "dry-run of "+p.Step.Title)
			p.DryRun = "dry-run on the server: refused"
			return p
		}
	}
	return p
}

func asAPIError(err error, call string) *APIError {
	var api *APIError
	if errors.As(err, &api) {
		return api
	}
	return &APIError{Kind: ErrOther, Call: call, Message: err.Error(), Err: err}
}

// Grant confirms exactly this step as it was shown. It fails when the step has changed since, when a guard does not hold,
// or when what has to be typed was not.
func (e *Engine) Grant(step Step, typed string) (Grant, error) {
	if step.Change == nil {
		return Grant{}, refuse("%s is not the operator's to do", step.Title)
	}
	if step.Type != "" && typed != step.Type {
		return Grant{}, refuse("type %s to confirm", step.Type)
	}
	now := Plan(e.Snapshot(), step.Intent)
	if err := e.Snapshot().stillAs(now, step.Target, step.Basis); err != nil {
		return Grant{}, err
	}
	if !reflect.DeepEqual(now.Change, step.Change) {
		return Grant{}, otherChange(step.Change, now.Change)
	}
	if b := now.Blocker(); b != "" {
		return Grant{}, refuse("%s", b)
	}
	g := Grant{
		ID: e.cfg.NewID(), StepID: step.ID, Intent: step.Intent, Target: step.Target, Basis: slices.Clone(step.Basis), Typed: typed,
		By: e.cfg.Operator, At: wallTime(e.cfg.Wall()),
	}
	g.Expires = g.At.Add(e.cfg.GrantFor)
	if err := e.journal(e.ctx, Record{Kind: RecordGrant, Operation: g.ID, Step: step.ID, Intent: &g.Intent, Object: &g.Target, Node: step.Node,
		Title: step.Title, Commands: step.Commands, Basis: g.Basis, Typed: typed}); err != nil {
		return Grant{}, refuse("%v", err)
	}
	e.grants.Store(g.ID, granted{g, step.Change})
	return g, nil
}

// granted is a grant and what it was given for, whole: facts alone do not make a list.
type granted struct {
	grant  Grant
	change Change
}

// otherChange is the refusal of what is not what was shown any more, though all facts are as they were.
func otherChange(shown, now Change) error {
	was, wasList := shown.(Batch)
	is, isList := now.(Batch)
	if wasList && isList {
		return refuse("the list has changed since it was shown: %s → %s; look at it as it is now", listText(was), listText(is))
	}
	return refuse("what it would do has changed since it was shown: %s → %s", changeText(shown), changeText(now))
}

// listText is "web-1, web-2" for the items of a batch.
func listText(b Batch) string {
	labels := make([]string, len(b.Items))
	for i, item := range b.Items {
		labels[i] = oneLine(item.Label, 64)
	}
	return some(labels, 6)
}

// stillAs tells whether a step that was planned again is the one that was confirmed.
func (s *Snapshot) stillAs(now Step, target Ref, basis []Fact) error {
	if now.Change == nil {
		return refuse("%s: there is nothing to do any more", now.Title)
	}
	if now.Target != target {
		return refuse("it was confirmed for %s (%s), and is about %s (%s) now", target, target.UID, now.Target, now.Target.UID)
	}
	if changed := s.ChangedFacts(basis, now.Basis); len(changed) > 0 {
		return refuse("it has changed since it was confirmed: %s", strings.Join(changed, "; "))
	}
	return nil
}

// ChangedFacts are the differences between the facts that a step was shown with and those of now, in words; none when
// they are the same.
func ChangedFacts(shown, now []Fact) []string { return changedFacts(shown, now, nil) }

// ChangedFacts are the same, with what has become of what the step no longer rests on.
func (s *Snapshot) ChangedFacts(shown, now []Fact) []string {
	return changedFacts(shown, now, func(f Fact) string { return s.FactNow(f) })
}

// FactNow is what has become of a fact on which a step no longer rests: of an instance that was on its host, where it is. Empty
// when nothing more is known.
func (s *Snapshot) FactNow(f Fact) string {
	if f.Instance == "" || !s.known(SourceInstances) {
		return ""
	}
	in := s.Instances[f.Instance]
	switch {
	case in == nil:
		return "does not exist any more"
	case in.Host == "":
		return "on no host now"
	}
	return "on " + s.hostLabel(in.Host) + " now"
}

func changedFacts(shown, now []Fact, became func(Fact) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range now {
		seen[n.Name] = true
		i := slices.IndexFunc(shown, func(f Fact) bool { return f.Name == n.Name })
		switch {
		case i < 0:
			out = append(out, n.Name+" is now "+quoteFact(n.Value))
		case shown[i].Value != n.Value:
			out = append(out, n.Name+": "+quoteFact(shown[i].Value)+" → "+quoteFact(n.Value))
		}
	}
	for _, f := range shown {
		switch {
		case seen[f.Name]:
		case became != nil && became(f) != "":
			out = append(out, f.Name+": "+quoteFact(f.Value)+" → "+became(f))
		default:
			out = append(out, f.Name+" was "+quoteFact(f.Value)+", and is not known now")
		}
	}
	return out
}

func quoteFact(v string) string {
	if v == "" {
		return "none"
	}
	return clip(v, 200)
}

func newID() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
