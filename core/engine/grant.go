package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// grantLifetime is how long a grant can be used, unless Config says otherwise: long enough for a slow dry-run, and short enough that
// nobody forgets it.
const grantLifetime = 2 * time.Minute

// Preview plans a step and, where the API has a dry-run, has the server try it before the operator confirms. It changes nothing and
// needs no grant. Where writing can never be armed it asks no server: a dry-run takes the same rights as the write.
func (e *Engine) Preview(ctx context.Context, i core.Intent) core.Preview {
	p := core.Preview{Step: step.Plan(e.Snapshot(), i)}
	if e.cfg.Barred != "" {
		return p
	}
	changes := []core.Change{p.Step.Change}
	if b, ok := p.Step.Change.(core.Batch); ok {
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

// Grant confirms exactly this step as it was shown. It fails when the step has changed since, when a guard does not hold, when the
// operator did not type what the step asks for, or when the grant could not be recorded.
func (e *Engine) Grant(st core.Step, typed string) (core.Grant, error) {
	if st.Change == nil {
		return core.Grant{}, refuse("it is not the operator's to do: %s", st.Title)
	}
	if st.Type != "" && typed != st.Type {
		return core.Grant{}, refuse("type %s to confirm", st.Type)
	}
	now := step.Plan(e.Snapshot(), st.Intent)
	if err := stillAs(e.Snapshot(), now, st.Target, st.Basis); err != nil {
		return core.Grant{}, err
	}
	if !reflect.DeepEqual(now.Change, st.Change) {
		return core.Grant{}, otherChange(st.Change, now.Change)
	}
	if b := now.Blocker(); b != "" {
		return core.Grant{}, refuse("%s", b)
	}
	g := core.Grant{
		ID: e.cfg.NewID(), StepID: st.ID, Intent: st.Intent, Target: st.Target, Basis: slices.Clone(st.Basis), Typed: typed,
		By: e.cfg.Operator, At: wallTime(e.cfg.Wall()),
	}
	g.Expires = g.At.Add(e.cfg.GrantFor)
	r := Record{Kind: RecordGrant, Operation: g.ID, Step: st.ID, Intent: &g.Intent, Object: &g.Target, Node: st.Node,
		Title: st.Title, Commands: st.Commands, Basis: g.Basis, Typed: typed}
	if as := e.Snapshot().Identity; !as.IsZero() {
		r.As = &as
	}
	if err := e.journal(e.ctx, r); err != nil {
		return core.Grant{}, refuse("%v", err)
	}
	e.grants.Store(g.ID, granted{g, st.Change})
	return g, nil
}

// granted is a grant with the whole change that it was given for: two lists can rest on the same facts.
type granted struct {
	grant  core.Grant
	change core.Change
}

// otherChange is the refusal of a step whose change is not the one that was shown, though all facts are as they were.
func otherChange(shown, now core.Change) error {
	was, wasList := shown.(core.Batch)
	is, isList := now.(core.Batch)
	if wasList && isList {
		return refuse("the list has changed since it was shown: %s → %s; look at it as it is now", listText(was), listText(is))
	}
	return refuse("what it would do has changed since it was shown: %s → %s", changeText(shown), changeText(now))
}

// listText is "web-1, web-2" for the items of a batch.
func listText(b core.Batch) string {
	labels := make([]string, len(b.Items))
	for i, item := range b.Items {
		labels[i] = wording.OneLine(item.Label, 64)
	}
	return wording.Some(labels, 6)
}

// stillAs is nil when a step that was planned again is the one that was confirmed; else the error says what differs.
func stillAs(s *core.Snapshot, now core.Step, target core.Ref, basis []core.Fact) error {
	if now.Change == nil {
		return refuse("there is nothing to do any more: %s", now.Title)
	}
	if now.Target != target {
		return refuse("it was confirmed for %s (%s), and is about %s (%s) now", target, target.UID, now.Target, now.Target.UID)
	}
	if changed := step.ChangedFactsIn(s, basis, now.Basis); len(changed) > 0 {
		return refuse("it has changed since it was confirmed: %s", strings.Join(changed, "; "))
	}
	return nil
}

func newID() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
