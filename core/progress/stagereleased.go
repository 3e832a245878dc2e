package progress

import (
	"fmt"
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
)

// handed tells whether LCM has the node: every lock is inactive, or none holds it.
func handed(f *stageFacts) bool {
	if f.handled() {
		return true
	}
	return f.leaving() && f.released && (f.locksKnown || len(f.locks) > 0)
}

func releasedNotReady(f *stageFacts) (verdict, bool) {
	if !handed(f) || f.node == nil || f.ready || !f.Reboot {
		return verdict{}, false
	}
	return verdict{reason: fmt.Sprintf("handed to LCM, and not Ready since %s%s", wording.ClockText(f.node.ReadySince),
		wording.InBrackets(f.node.ReadyReason)),
		what: "not Ready" + wording.InBrackets(f.node.ReadyReason), since: f.readyChanged()}, true
}

// releasedBackUp finds a node that has rebooted and that LCM has not given back yet.
func releasedBackUp(f *stageFacts) (verdict, bool) {
	switch {
	case !handed(f) || f.node == nil:
		return verdict{}, false
	case !f.ready: // scope drain: the kubelet restarts
		return verdict{reason: "handed to LCM, and not Ready since " + wording.ClockText(f.node.ReadySince) + "; the request's scope is drain",
			what:  "kubelet restarts",
			since: f.readyChanged()}, true
	case f.cordoned && f.rebooted():
		return verdict{reason: "Ready again since " + wording.ClockText(f.node.ReadySince) + ", still cordoned", what: "Ready again",
			since: f.readyChanged()}, true
	case !f.cordoned && (f.rebooted() || f.wasIn(core.StageDraining, core.StageUpdating, core.StageRebooting)) && f.request != nil:
		return verdict{reason: "not cordoned any more; LCM is about to remove the request", what: "uncordoned"}, true
	}
	return verdict{}, false
}

func (f *stageFacts) wasIn(stages ...core.Stage) bool {
	return f.hadStage && slices.Contains(stages, f.before.Stage)
}

func releasedWithPods(f *stageFacts) (verdict, bool) {
	if !handed(f) || !f.cordoned || f.pods == nil || f.pods.Evictable == 0 {
		return verdict{}, false
	}
	return verdict{reason: fmt.Sprintf("handed to LCM and cordoned; %s to move", wording.Count(f.pods.Evictable, "pod")),
		what:  wording.Count(f.pods.Evictable, "pod") + " left",
		since: f.notBeforeHanded()}, true
}

func releasedCordoned(f *stageFacts) (verdict, bool) {
	if !handed(f) || !f.cordoned {
		return verdict{}, false
	}
	if f.pods == nil {
		return verdict{reason: "handed to LCM and cordoned; its pods are not known (" + f.s.WhyUnknown(core.SourceNodePods) +
			"), so it may still be draining", since: f.notBeforeHanded(), open: f.podsComing()}, true
	}
	return verdict{reason: "handed to LCM, cordoned, and drained", what: "drained", since: f.notBeforeHanded()}, true
}

// podsComing tells whether the node's pods have been asked for: the next answer has them.
func (f *stageFacts) podsComing() bool {
	state := f.s.Sources[core.SourceNodePods].State
	return state == core.SourceConnecting || state == core.SourceLive
}

func releasedOnly(f *stageFacts) (verdict, bool) {
	if !handed(f) {
		return verdict{}, false
	}
	if len(f.locks) == 0 {
		return verdict{reason: "its request is there since " + wording.ClockText(f.request.Created) + ", and no lock holds it",
			since: core.NotBefore(f.request.Created)}, true
	}
	return verdict{reason: "all its locks are inactive; LCM has not begun", what: "LCM is next", since: f.handedAt()}, true
}

// handedAt is when the last lock became inactive after the request was made, as far as that was seen.
func (f *stageFacts) handedAt() core.Since {
	at := core.Since{At: f.requestAt(), Exact: true}
	for _, l := range f.locks {
		switch since := f.s.History.StateSince(l); {
		case since.Exact:
			at.At = core.Later(at.At, since.At)
		case since.At.IsZero() || since.At.After(f.requestAt()): // nobody knows when
			at.Exact = false
		}
	}
	at.Exact = at.Exact && !at.At.IsZero()
	at.Later = !at.Exact && !at.At.IsZero()
	return at
}

// readyChanged is when a node that LCM has became Ready, or not Ready; when LCM got it where that is later.
func (f *stageFacts) readyChanged() core.Since {
	if handed := f.handedAt(); handed.At.After(f.node.ReadySince) {
		return handed
	}
	return exactly(f.node.ReadySince)
}

// notBeforeHanded is the beginning of what LCM does with a node only once it has it.
func (f *stageFacts) notBeforeHanded() core.Since { return core.NotBefore(f.handedAt().At) }
