package core

import "maps"

// annotationMemory is what a change of a node's annotation replaced, to be offered back.
type annotationMemory struct {
	noMemory
	uid    string // of the node
	change AnnotationChange
}

func rememberAnnotation(e *Engine, step Step, c SetNodeAnnotation, _ checker) memory {
	return annotationMemory{uid: step.Target.UID,
		change: AnnotationChange{Node: c.Node.Name, Key: c.Key, Old: c.Old, New: c.New, At: e.cfg.Clock(), By: e.cfg.Operator}}
}

func (m annotationMemory) before(r *Record) { r.Change = &m.change }

func (m annotationMemory) ends(r *Record, state OperationState) func(*History) {
	if !state.mayHaveBeenDone() {
		return nil
	}
	r.Change = &m.change
	return func(h *History) {
		all := h.changesOf(m.change.Key)
		if all == nil {
			return
		}
		changes := maps.Clone(*all) // Snapshots have the other one
		if changes == nil {
			changes = map[string]AnnotationChange{}
		}
		noteChange(changes, m.uid, m.change)
		*all = changes
	}
}

// tagMemory is the same of an instance's tags.
type tagMemory struct {
	noMemory
	uid    string // of the instance
	change TagChange
}

func rememberTags(e *Engine, step Step, c SetMaintenanceTags, _ checker) memory {
	return tagMemory{uid: step.Target.UID,
		change: TagChange{Instance: c.Instance.Name, Old: c.Old, New: c.New, At: e.cfg.Clock(), By: e.cfg.Operator}}
}

func (m tagMemory) before(r *Record) { r.Tags = &m.change }

func (m tagMemory) ends(r *Record, state OperationState) func(*History) {
	if !state.mayHaveBeenDone() {
		return nil
	}
	r.Tags = &m.change
	return func(h *History) {
		changes := maps.Clone(h.Tags)
		noteTags(changes, m.uid, m.change)
		h.Tags = changes
	}
}

// overrideMemory is what a lock was made to say over the head of its controller.
type overrideMemory struct {
	noMemory
	override Override
}

func rememberOverride(e *Engine, step Step, c SetLock, _ checker) memory {
	if step.Intent.Kind != IntentOverrideLock {
		return noMemory{}
	}
	o := Override{Lock: c.Lock, Was: c.Was, To: c.To.State, Text: c.To.Message, At: e.cfg.Clock(), By: e.cfg.Operator}
	s := e.Snapshot()
	if l := s.lockByUID(c.Lock.UID); l != nil {
		if r := s.requestFor(l); r != nil {
			o.Request = r.UID
		}
	}
	return overrideMemory{override: o}
}

func (m overrideMemory) before(r *Record) { r.Override = &m.override }

func (m overrideMemory) ends(r *Record, state OperationState) func(*History) {
	kept := m.override.remembered(state)
	if kept == nil {
		return nil
	}
	r.Override = kept
	return func(h *History) { h.Overrides = withOverride(h.Overrides, *kept) }
}

// instanceMemory is what an action on an instance began from, and which instances Lockstep stopped or moved in the cold.
type instanceMemory struct {
	noMemory
	e    *Engine
	step Step
	by   *instanceChecker
}

func rememberInstance(e *Engine, step Step, _ InstanceAction, by checker) memory {
	return instanceMemory{e: e, step: step, by: by.(*instanceChecker)}
}

func (m instanceMemory) begins(r *Record) {
	r.By = m.e.cfg.Operator
	r.Begun = m.by.beginsFrom(m.e.cfg.Clock())
}

func (m instanceMemory) ends(r *Record, state OperationState) func(*History) {
	began := r.cold()
	return func(h *History) {
		stopped := maps.Clone(h.Stopped) // Snapshots have the other one
		noteStop(stopped, m.step.Intent, state, StopRecord{Name: m.step.Target.Name, At: m.e.cfg.Clock(), By: m.e.cfg.Operator})
		h.Stopped = stopped
		cold := maps.Clone(h.Cold)
		noteCold(cold, m.step.Intent, state, began)
		h.Cold = cold
	}
}
