package engine

import (
	"maps"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
)

// annotationMemory is what a change of a node's annotation replaced, so that Lockstep can offer to set it back.
type annotationMemory struct {
	noMemory
	uid    string // of the node
	change core.AnnotationChange
}

func rememberAnnotation(e *Engine, step core.Step, c core.SetNodeAnnotation, _ checker) memory {
	return annotationMemory{uid: step.Target.UID,
		change: core.AnnotationChange{Node: c.Node.Name, Key: c.Key, Old: c.Old, New: c.New, At: e.cfg.Clock(), By: e.cfg.Operator}}
}

func (m annotationMemory) before(r *Record) { r.Change = &m.change }

func (m annotationMemory) ends(r *Record, state core.OperationState) func(*core.History) {
	if !state.MayHaveBeenDone() {
		return nil
	}
	r.Change = &m.change
	return func(h *core.History) {
		all := h.ChangesOf(m.change.Key)
		if all == nil {
			return
		}
		changes := maps.Clone(*all) // Snapshots hold the old one
		if changes == nil {
			changes = map[string]core.AnnotationChange{}
		}
		noteChange(changes, m.uid, m.change)
		*all = changes
	}
}

// tagMemory is the same for an instance's tags.
type tagMemory struct {
	noMemory
	uid    string // of the instance
	change core.TagChange
}

func rememberTags(e *Engine, step core.Step, c core.SetMaintenanceTags, _ checker) memory {
	return tagMemory{uid: step.Target.UID,
		change: core.TagChange{Instance: c.Instance.Name, Old: c.Old, New: c.New, At: e.cfg.Clock(), By: e.cfg.Operator}}
}

func (m tagMemory) before(r *Record) { r.Tags = &m.change }

func (m tagMemory) ends(r *Record, state core.OperationState) func(*core.History) {
	if !state.MayHaveBeenDone() {
		return nil
	}
	r.Tags = &m.change
	return func(h *core.History) {
		changes := maps.Clone(h.Tags)
		step.NoteTags(changes, m.uid, m.change)
		h.Tags = changes
	}
}

// overrideMemory is how a lock was set that a live controller owns.
type overrideMemory struct {
	noMemory
	override core.Override
}

func rememberOverride(e *Engine, st core.Step, c core.SetLock, _ checker) memory {
	if st.Intent.Kind != core.IntentOverrideLock {
		return noMemory{}
	}
	o := core.Override{Lock: c.Lock, Was: c.Was, To: c.To.State, Text: c.To.Message, At: e.cfg.Clock(), By: e.cfg.Operator}
	s := e.Snapshot()
	if l := step.LockByUID(s, c.Lock.UID); l != nil {
		if r := progress.RequestFor(s, l); r != nil {
			o.Request = r.UID
		}
	}
	return overrideMemory{override: o}
}

func (m overrideMemory) before(r *Record) { r.Override = &m.override }

func (m overrideMemory) ends(r *Record, state core.OperationState) func(*core.History) {
	kept := m.override.Remembered(state)
	if kept == nil {
		return nil
	}
	r.Override = kept
	return func(h *core.History) { h.Overrides = progress.WithOverride(h.Overrides, *kept) }
}

// instanceMemory is the state from which an action on an instance began, and which instances Lockstep stopped or cold-migrated.
type instanceMemory struct {
	noMemory
	e    *Engine
	step core.Step
	by   *instanceChecker
}

func rememberInstance(e *Engine, step core.Step, _ core.InstanceAction, by checker) memory {
	return instanceMemory{e: e, step: step, by: by.(*instanceChecker)}
}

func (m instanceMemory) begins(r *Record) {
	r.By = m.e.cfg.Operator
	r.Begun = m.by.beginsFrom(m.e.cfg.Clock())
}

func (m instanceMemory) ends(r *Record, state core.OperationState) func(*core.History) {
	began := r.cold()
	return func(h *core.History) {
		stopped := maps.Clone(h.Stopped) // Snapshots hold the old one
		noteStop(stopped, m.step.Intent, state, core.StopRecord{Name: m.step.Target.Name, At: m.e.cfg.Clock(), By: m.e.cfg.Operator})
		h.Stopped = stopped
		cold := maps.Clone(h.Cold)
		core.NoteCold(cold, m.step.Intent, state, began)
		h.Cold = cold
	}
}

// silenceMemory is a silence that Lockstep makes, so that it can say when somebody else has ended it.
type silenceMemory struct {
	noMemory
	e  *Engine
	by *makeSilenceChecker
}

func rememberSilence(e *Engine, _ core.Step, _ core.MakeSilence, by checker) memory {
	return silenceMemory{e: e, by: by.(*makeSilenceChecker)}
}

func (m silenceMemory) ends(r *Record, state core.OperationState) func(*core.History) {
	if state != core.OperationDone || m.by.made.ID == "" {
		return nil // which one it would be is not known
	}
	r.Silence = new(m.by.made)
	made := core.SilenceRecord{Silence: m.by.made, At: m.e.cfg.Clock(), By: m.e.cfg.Operator}
	return func(h *core.History) {
		h.Silences = maps.Clone(h.Silences) // Snapshots hold the old one
		noteSilence(&h.Silences, core.IntentMakeSilence, made)
	}
}

// expiryMemory is that Lockstep itself has expired a silence.
type expiryMemory struct {
	noMemory
	silence core.Silence
}

func rememberExpiry(_ *Engine, _ core.Step, c core.ExpireSilence, _ checker) memory {
	return expiryMemory{silence: c.Silence}
}

func (m expiryMemory) before(r *Record) { r.Silence = &m.silence }

func (m expiryMemory) ends(r *Record, state core.OperationState) func(*core.History) {
	if !state.MayHaveBeenDone() {
		return nil
	}
	r.Silence = &m.silence
	return func(h *core.History) {
		h.Silences = maps.Clone(h.Silences)
		noteSilence(&h.Silences, core.IntentExpireSilence, core.SilenceRecord{Silence: m.silence})
	}
}

// noteSilence remembers a silence that was made, and forgets one that was expired here. With it go those of the same matchers that do not
// last longer.
func noteSilence(all *map[string]core.SilenceRecord, kind core.IntentKind, r core.SilenceRecord) {
	maps.DeleteFunc(*all, func(_ string, old core.SilenceRecord) bool {
		return !old.Silence.Ends.After(r.Silence.Ends) && core.SameMatchers(old.Silence.Matchers, r.Silence.Matchers)
	})
	if kind == core.IntentExpireSilence {
		return
	}
	if *all == nil {
		*all = map[string]core.SilenceRecord{}
	}
	(*all)[r.Silence.ID] = r
}

// memory is what is remembered of a write beside its records.
type memory interface {
	// begins completes what all records of the write share, once the servers were asked.
	begins(r *Record)
	// before completes only the record before the write: that one has to do when nobody sees the end.
	before(r *Record)
	// ends completes the record of the end, and returns what to note in the history then; nil: nothing.
	ends(r *Record, state core.OperationState) (note func(h *core.History))
}

// noMemory is for a write whose records tell enough.
type noMemory struct{}

func (noMemory) begins(*Record) {}

func (noMemory) before(*Record) {}

func (noMemory) ends(*Record, core.OperationState) func(*core.History) { return nil }
