package engine

import (
	"fmt"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// observeLocks notes the states of locks. watched says that the Snapshot before was looked at, too: what is in another state now came into
// it since then.
func (e *Engine) observeLocks(s *core.Snapshot, h core.History, look looks, watched bool) core.History {
	locks := map[string]*core.LockRecord{}
	outages := core.CloneOnWrite[string, core.OutageRecord]{M: h.Outages}
	refused := core.CloneOnWrite[string, core.RefusalRecord]{M: h.Refused}
	see := func(l *core.WorkloadLock) {
		if observeOutage(s, l, &outages) {
			e.touchLock(l)
		}
		in, refusal, anew := progress.ObserveRefusal(s, l, &refused)
		if in.UID != "" {
			e.touchLock(l)
		}
		if anew {
			e.see(Record{Kind: RecordMigrationRefused, Node: l.Node, Object: &in, Refusal: &refusal})
		}
		had, old := h.HasLock(l.UID), h.Lock(l.UID)
		unseen := had && old.PassedBy(l)
		same := had && old.State == l.State() && !unseen
		again := same && !watched && e.ofEarlier(s, l, old)
		if same && old.Release == l.Release && !again {
			return
		}
		r := core.LockRecord{State: l.State(), Release: l.Release, Since: core.Since{At: s.Now, Exact: watched && !unseen}}
		is := Record{Kind: RecordLock, Node: l.Node, Object: new(l.Ref()), From: string(old.State), To: string(r.State), Exact: r.Since.Exact,
			Text: l.Message}
		switch {
		case again:
			r.Since, is.From = old.Since, "" // until its last write is known
			e.past.missLock(is, old)
		case same:
			r.Since = old.Since
		case unseen:
			why := fmt.Sprintf("it was let go and taken back while Lockstep could not see it: its release was %s and is %s",
				wording.OneLine(old.Release, 60), wording.OneLine(l.Release, 60))
			is.Text, is.To = why, string(core.LockInactive)
			e.see(is)
			is.From, is.To = is.To, string(r.State)
			e.see(is)
		case !had && r.State == core.LockActive:
			r.Since = core.Since{} // that it is held from before is nothing to tell
		default: // the first sight of a lock is not a transition: it has no state before
			e.see(is)
			if is.Began = old.Since.At; !watched {
				e.past.missLock(is, core.LockRecord{})
			}
		}
		locks[l.UID] = &r
		e.touchLock(l)
	}
	for _, l := range s.ClusterLocks {
		see(l)
	}
	for _, name := range look.byName(s) {
		for _, l := range s.NodeLocks.At(name) {
			see(l)
		}
	}
	h.Outages, h.Refused = outages.M, refused.M
	return h.WithLocks(locks)
}

// ofEarlier tells whether what is known of a lock that is not active tells of an earlier maintenance than the present one: nobody has
// looked since that was asked for, so it may have been active in between.
func (e *Engine) ofEarlier(s *core.Snapshot, l *core.WorkloadLock, known core.LockRecord) bool {
	r := progress.RequestFor(s, l)
	return known.State != core.LockActive && r != nil && r.Created.After(core.Later(known.Since.At, e.lookedAt))
}

// observeOutage notes since when a lock's text, or the controller's account, has said that an API does not answer. It tells whether this
// is new; that it goes on changes nothing that is derived.
func observeOutage(s *core.Snapshot, l *core.WorkloadLock, outages *core.CloneOnWrite[string, core.OutageRecord]) bool {
	if l.Message == "" && l.Controller != core.ControllerOpenStack {
		return false
	}
	m := progress.ReadLock(s, l)
	if m.Class != progress.MessageOutage {
		if !progress.SilentOutage(s, l) {
			return false
		}
		m.At = time.Time{} // the lock's text is about something else
	}
	r, had := outages.M[l.UID]
	anew := !had || s.Now.Sub(r.Last) > core.OutageBetween
	if anew {
		if r.First = m.At; m.At.IsZero() || m.At.After(s.Now) {
			r.First = s.Now
		}
	}
	r.Last = s.Now
	outages.Set(l.UID, r)
	return anew
}

// touchLock notes that the History of a lock is another one.
func (e *Engine) touchLock(l *core.WorkloadLock) {
	if l.Node == "" {
		e.world.touched.everything()
		return
	}
	e.world.touched.node(l.Node)
}
