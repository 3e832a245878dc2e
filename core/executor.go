package core

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrRefused is what the gate answers when it does not let a step through; the error that wraps it says why.
var ErrRefused = errors.New("refused")

// callTimeout is how long one write may take before its answer counts as lost.
const callTimeout = 30 * time.Second

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Arm lets steps be done from now on. It takes the operator lease; with takeOver from whoever holds it. The error says
// who holds it, or what is missing.
func (e *Engine) Arm(ctx context.Context, takeOver bool) error {
	if e.cfg.Barred != "" {
		return refuse("writing cannot be armed: %s", e.cfg.Barred)
	}
	if err := e.journal(Record{Kind: RecordArm, State: "asked", Exact: takeOver}, true); err != nil {
		return refuse("writing cannot be armed: %v", err)
	}
	if e.cfg.Lease != nil {
		if err := e.cfg.Lease.Acquire(ctx, takeOver); err != nil {
			e.record(Record{Kind: RecordArm, State: "refused", Error: err.Error()}, false)
			return err
		}
	}
	armed := e.call(func() {
		e.armed.Store(true)
		e.write.Armed, e.write.Lost, e.write.Since = true, "", e.cfg.Wall()
		e.leaseSeen()
		e.record(Record{Kind: RecordArm, State: "armed", Exact: takeOver}, true)
	})
	if !armed {
		return refuse("Lockstep is leaving")
	}
	return nil
}

// Disarm ends writing; what runs is watched to its end, nothing new begins.
func (e *Engine) Disarm() {
	e.call(func() { e.disarm("") })
}

// disarm runs in the Engine's goroutine. A reason means that it was not the operator who asked.
func (e *Engine) disarm(reason string) {
	if !e.write.Armed {
		return
	}
	e.armed.Store(false)
	e.write.Armed, e.write.Lost, e.write.Since = false, reason, e.cfg.Wall()
	e.record(Record{Kind: RecordDisarm, Text: reason}, true)
	if e.cfg.Lease != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if err := e.cfg.Lease.Release(ctx); err != nil {
			e.cfg.Log.Warn("give the operator lease back", "error", err)
		}
	}
	e.leaseSeen()
}

func (e *Engine) leaseSeen() {
	if e.cfg.Lease == nil {
		return
	}
	e.write.Mine = e.cfg.Lease.Held()
	e.write.Lease = e.cfg.Lease.Holder()
}

// watchLease disarms when the lease is gone: a lost lease means read-only, never the end of the program.
func (e *Engine) watchLease() {
	e.leaseSeen()
	if e.write.Armed && e.cfg.Lease != nil && !e.write.Mine {
		holder := e.write.Lease
		if holder == "" {
			holder = "nobody"
		}
		e.disarm(fmt.Sprintf("the operator lease was lost; %s holds it now", holder))
	}
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
		a, ok := c.(SetNodeAnnotation)
		if !ok || e.cfg.Kubernetes == nil {
			continue
		}
		p.DryRun = "dry-run on the server: accepted"
		if err := e.cfg.Kubernetes.SetNodeAnnotation(ctx, a.Node, a.Key, a.Old, a.New, true); err != nil {
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
	if err := stillAs(now, step.Target, step.Basis); err != nil {
		return Grant{}, err
	}
	if b := now.Blocker(); b != "" {
		return Grant{}, refuse("%s", b)
	}
	g := Grant{
		ID: newID(), StepID: step.ID, Intent: step.Intent, Target: step.Target, Basis: slices.Clone(step.Basis), Typed: typed,
		By: e.cfg.Operator, At: e.cfg.Wall(), Expires: e.cfg.Wall().Add(GrantLifetime),
	}
	if err := e.journal(Record{Kind: RecordGrant, Operation: g.ID, Step: step.ID, Intent: &g.Intent, Object: &g.Target, Node: step.Node,
		Title: step.Title, Commands: step.Commands, Basis: g.Basis, Typed: typed}, true); err != nil {
		return Grant{}, refuse("%v", err)
	}
	return g, nil
}

// stillAs tells whether a step that was planned again is the one that was confirmed.
func stillAs(now Step, target Ref, basis []Fact) error {
	if now.Change == nil {
		return refuse("%s: there is nothing to do any more", now.Title)
	}
	if now.Target != target {
		return refuse("it was confirmed for %s (%s), and is about %s (%s) now", target, target.UID, now.Target, now.Target.UID)
	}
	if changed := ChangedFacts(basis, now.Basis); len(changed) > 0 {
		return refuse("it has changed since it was confirmed: %s", strings.Join(changed, "; "))
	}
	return nil
}

// ChangedFacts are the differences between the facts that a step was shown with and those of now, in words; none when
// they are the same.
func ChangedFacts(shown, now []Fact) []string {
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
		if !seen[f.Name] {
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

// Execute does what was granted. It returns as soon as the gate has let the step through; how it goes is an Operation in
// the Snapshots. A refusal is journalled and wraps ErrRefused.
func (e *Engine) Execute(ctx context.Context, g Grant) (string, error) {
	var (
		id  string
		err error
	)
	ran := e.call(func() { id, err = e.begin(g) })
	if !ran {
		return "", refuse("Lockstep is leaving")
	}
	return id, err
}

// begin runs in the Engine's goroutine: the gate, and then the operation's own goroutine.
func (e *Engine) begin(g Grant) (string, error) {
	// The newest facts, not those of the last Snapshot: what is in the inbox counts too.
	e.drain()
	e.publish()
	s := e.Snapshot()
	step := Plan(s, g.Intent)
	if err := e.gate(g, step); err != nil {
		e.record(Record{Kind: RecordRefused, Operation: g.ID, Step: g.StepID, Intent: &g.Intent, Object: &g.Target, Title: step.Title, Error: err.Error()}, true)
		return "", err
	}
	op := &operation{
		control: make(chan struct{}, 1),
		state: Operation{ID: g.ID, Step: step.ID, Title: step.Title, Label: step.Label, Node: step.Node, Instance: step.Intent.Instance,
			State: OperationRunning, Started: s.Now},
	}
	batch, isBatch := step.Change.(Batch)
	if isBatch {
		for _, item := range batch.Items {
			op.state.Items = append(op.state.Items, OperationItem{Label: item.Label, Instance: item.Intent.Instance, State: OperationQueued})
		}
	}
	e.ops.add(op)
	e.tasks.Add(1)
	go func() {
		defer e.tasks.Done()
		if isBatch {
			e.runBatch(op, batch)
		} else {
			state, text := e.perform(op, -1, step, step.Change)
			op.set(state, text, e.cfg.Clock())
		}
		e.changed()
	}()
	return g.ID, nil
}

// gate is the only way to a write. It asks, in this order: is writing armed and the lease ours; is the grant good, unused
// and in time; is the step still what was confirmed; do all its guards hold.
func (e *Engine) gate(g Grant, step Step) error {
	if err := e.mayWrite(); err != nil {
		return err
	}
	if g.ID == "" {
		return refuse("there is no grant")
	}
	if e.cfg.Wall().After(g.Expires) {
		return refuse("the confirmation is older than %s; confirm again", GrantLifetime)
	}
	if err := stillAs(step, g.Target, g.Basis); err != nil {
		return err
	}
	if step.Type != "" && g.Typed != step.Type {
		return refuse("the step now asks to type %s", step.Type)
	}
	if b := step.Blocker(); b != "" {
		return refuse("%s", b)
	}
	if _, used := e.grants.LoadOrStore(g.ID, struct{}{}); used {
		return refuse("the confirmation was used already")
	}
	return nil
}

// mayWrite tells whether anything may be written at this very moment.
func (e *Engine) mayWrite() error {
	if e.cfg.Barred != "" {
		return refuse("read-only: %s", e.cfg.Barred)
	}
	if e.ctx.Err() != nil {
		return refuse("Lockstep is leaving")
	}
	if !e.armed.Load() {
		return refuse("read-only: writing is not armed")
	}
	if e.cfg.Lease != nil && !e.cfg.Lease.Held() {
		return refuse("the operator lease is not ours any more")
	}
	return nil
}

// changed asks for a Snapshot that shows how an operation goes.
func (e *Engine) changed() {
	e.call(func() {})
}

// perform does one change and watches until the cluster shows its result. Item is the batch item's index, or -1.
func (e *Engine) perform(op *operation, item int, step Step, c Change) (OperationState, string) {
	report := func(state OperationState, text string) {
		if item >= 0 {
			op.setItem(item, state, text, e.cfg.Clock())
		} else {
			op.set(state, text, e.cfg.Clock())
		}
		e.changed()
	}
	id := op.state.ID // never changed
	if item >= 0 {
		id += "/" + itoa(item)
	}
	base := Record{Operation: id, Step: step.ID, Intent: &step.Intent, Object: ptr(step.Target), Node: step.Node, Title: step.Title}
	end := func(state OperationState, text string, change *AnnotationChange) (OperationState, string) {
		r := base
		r.Kind, r.State, r.Change = RecordVerified, string(state), change
		if state == OperationDone {
			r.Text = text
		} else {
			r.Error = text
		}
		e.record(r, true)
		if change != nil && state == OperationDone {
			e.call(func() {
				changes := map[string]AnnotationChange{}
				for k, v := range e.history.Changes {
					changes[k] = v
				}
				noteChange(changes, step.Target.UID, *change)
				e.history.Changes = changes
			})
		}
		return state, text
	}

	ctx, cancel := context.WithTimeout(e.ctx, callTimeout)
	defer cancel()
	w, err := e.writerFor(step, c)
	if err == nil {
		err = w.check(ctx)
	}
	if err == nil {
		// The last look before the write: the lease can have gone while the servers were asked.
		err = e.mayWrite()
	}
	if err != nil {
		r := base
		r.Kind, r.Error = RecordRefused, err.Error()
		e.record(r, true)
		return OperationFailed, errorText(err)
	}

	before := base
	before.Kind, before.Commands = RecordBefore, step.Commands
	before.From, before.To = w.values()
	if err := e.journal(before, true); err != nil {
		return OperationFailed, "not done: " + err.Error()
	}
	began := e.cfg.Clock()
	err = w.write(ctx)
	after := base
	after.Kind, after.State = RecordAfter, "accepted"
	if err != nil {
		after.State, after.Error = "refused", err.Error()
		if uncertain(err) {
			after.State = "answer lost"
		}
	}
	e.record(after, true)
	if e.cfg.OnWrite != nil {
		e.cfg.OnWrite()
	}
	if err != nil && !uncertain(err) {
		return end(OperationFailed, errorText(err), nil)
	}
	lost := err
	if lost != nil {
		report(OperationVerifying, "the answer was lost ("+errorText(lost)+"); looking whether it was done all the same")
	} else {
		report(OperationVerifying, "accepted")
	}
	state, text := e.verify(w, began, lost, func(text string) { report(OperationVerifying, text) })
	var change *AnnotationChange
	if a, ok := c.(SetNodeAnnotation); ok {
		change = &AnnotationChange{Node: a.Node.Name, Key: a.Key, Old: a.Old, New: a.New, At: e.cfg.Clock(), By: e.cfg.Operator}
	}
	if e.cfg.OnWrite != nil {
		e.cfg.OnWrite()
	}
	return end(state, text, change)
}

// verify looks until the cluster shows how it ended, or it is clear that nothing will come.
func (e *Engine) verify(w writer, began time.Time, lost error, report func(string)) (OperationState, string) {
	var (
		last  string
		quiet = e.cfg.Wall() // since when nothing has happened
	)
	for {
		ctx, cancel := context.WithTimeout(e.ctx, callTimeout)
		o := w.outcome(ctx, began)
		cancel()
		if e.ctx.Err() != nil {
			return OperationUnknown, "Lockstep left before the result was seen"
		}
		switch {
		case o.err != nil:
			o.text = "cannot see the result: " + errorText(o.err)
			quiet = e.cfg.Wall() // an outage is not a sign that nothing happens
		case o.state.Ended():
			return o.state, o.text
		case o.moving:
			quiet = e.cfg.Wall()
		case e.cfg.Wall().Sub(quiet) > e.cfg.Settle:
			if lost != nil {
				return OperationFailed, "it was not done: " + errorText(lost)
			}
			if o.text == "" {
				o.text = "accepted, but nothing came of it"
			}
			return OperationFailed, o.text
		}
		if o.text != "" && o.text != last {
			last = o.text
			report(o.text)
		}
		select {
		case <-e.ctx.Done():
			return OperationUnknown, "Lockstep left before the result was seen"
		case <-time.After(e.cfg.PollEvery):
		}
	}
}

// Control pauses, resumes, skips in or stops a running operation.
func (e *Engine) Control(id string, c Control) error {
	op := e.ops.find(id)
	if op == nil {
		return refuse("there is no operation %s", id)
	}
	op.mu.Lock()
	if op.state.State.Ended() {
		op.mu.Unlock()
		return refuse("%s has ended", op.state.Title)
	}
	if len(op.state.Items) == 0 {
		op.mu.Unlock()
		return refuse("%s is a single step: what was sent cannot be called back here", op.state.Title)
	}
	switch c {
	case ControlPause:
		op.paused = true
	case ControlResume:
		op.paused = false
	case ControlSkip:
		op.skip++
	case ControlStop:
		op.stopped = true
	default:
		op.mu.Unlock()
		return refuse("unknown control %q", c)
	}
	title := op.state.Title
	op.mu.Unlock()
	e.record(Record{Kind: RecordControl, Operation: id, State: string(c), Title: title}, true)
	select {
	case op.control <- struct{}{}:
	default:
	}
	e.changed()
	return nil
}

// Acknowledge takes an ended operation out of what needs the operator.
func (e *Engine) Acknowledge(id string) {
	if e.ops.acknowledge(id) {
		e.record(Record{Kind: RecordControl, Operation: id, State: "acknowledged"}, false)
		e.changed()
	}
}

func uncertain(err error) bool {
	var api *APIError
	return errors.As(err, &api) && api.Uncertain()
}

// errorText is an error for an operation's line: the server's own words where there are some.
func errorText(err error) string {
	var api *APIError
	if errors.As(err, &api) && api.Message != "" {
		return fmt.Sprintf("%s: %s", api.Kind, api.Message)
	}
	return err.Error()
}

func newID() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
