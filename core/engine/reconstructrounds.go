package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
)

// askStages begins to read LCM's stages of the machines, and the times of locks where it is not known of some since when they are in
// their state; false where there is nothing to read.
func (e *Engine) askStages(s *core.Snapshot) bool {
	b := &e.past
	stages, states := e.cfg.Stages, e.cfg.LockTimes
	if s.Management == nil || !s.Management.Found {
		stages = nil
	}
	if len(b.locks) == 0 {
		states = nil
	}
	if stages == nil && states == nil || e.ctx == nil {
		b.read = true
		return false
	}
	b.asking = true
	project, ctx := "", e.ctx
	if stages != nil {
		project = s.Management.Namespace
	}
	within := func(ask func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, stagesWithin)
		defer cancel()
		return ask(ctx)
	}
	go func() {
		var all []core.MachineStage
		var times map[string]time.Time
		if stages != nil {
			if err := within(func(ctx context.Context) (err error) { all, err = stages(ctx, project); return err }); err != nil {
				e.cfg.Log.Info("LCM's stages of the machines cannot be read: what happened before is told without them", "error", err)
			}
		}
		if states != nil {
			if err := within(func(ctx context.Context) (err error) { times, err = states(ctx); return err }); err != nil {
				e.cfg.Log.Info("the times of the locks cannot be read: what happened before is told without them", "error", err)
			}
		}
		e.call(func() {
			if b.asking = false; b.anew {
				b.anew = false
				return
			}
			b.read = true
			b.states, b.stages = times, map[string][]core.MachineStage{}
			for _, st := range all {
				b.stages[st.Machine] = append(b.stages[st.Machine], st)
			}
		})
	}()
	return true
}

// marksOf are the marks of a node in the update, the oldest first.
func (e *Engine) marksOf(s *core.Snapshot, h core.History, node *core.Node, moved map[string][]time.Time) []mark {
	var out []mark
	add := func(stage core.Stage, at time.Time, field string) {
		if !at.IsZero() && !at.Before(h.Update.Started) && !at.After(s.Now) {
			out = append(out, mark{stage: stage, at: at, field: field})
		}
	}
	requested := time.Time{}
	if r := h.Rounds[node.UID]; r.Update == h.Update.UID {
		requested = r.Started
	}
	if req := s.NodeRequest(node.Name); req != nil {
		requested = req.Created
		add(core.StageQueued, req.Created, fieldRequest)
	}
	v := progress.MachineOf(s, node.Name)
	if v != nil {
		for _, st := range e.past.stages[v.Name] {
			switch st.Name {
			case core.LCMStageRequested:
				add(core.StageQueued, st.At, fieldStages)
				if requested.IsZero() && !st.At.Before(h.Update.Started) {
					requested = st.At
				}
			case core.LCMStageReleased:
				add(core.StageReleased, st.At, fieldStages)
			case core.LCMStageDrained:
				add(core.StageUpdating, st.At, fieldStages)
			case core.LCMStageRemoved:
				add(core.StageDone, st.At, fieldStages)
			}
		}
	}
	if requested.IsZero() {
		return nil // nothing shows that it was in maintenance, so its times may be of anything
	}
	after := func(stage core.Stage, at time.Time, field string) {
		if !at.Before(requested) {
			add(stage, at, field)
		}
	}
	var reboot time.Time
	if v != nil && v.LCM != nil {
		for _, item := range v.LCM.Items {
			if item.Phase == "deploy" || item.Phase == "reconfigure" {
				after(core.StageUpdating, item.Started, fieldItem)
			}
		}
		reboot = v.LCM.RebootAsked
		after(core.StageRebooting, reboot, fieldReboot)
	}
	if node.Ready == "True" && !node.ReadySince.Before(reboot) {
		after(core.StageUpdating, node.ReadySince, fieldReady) // it is Ready again, and still cordoned
	}
	for _, began := range moved[progress.MaintenanceOf(s, node.Name).Host] {
		after(core.StageEvacuating, began, fieldMigrated)
	}
	// LCM cordons a node once all locks are let go. Who cordoned it before that was somebody else.
	if !slices.ContainsFunc(out, func(m mark) bool {
		return stageRank[m.stage] < stageRank[core.StageDraining] && m.at.After(node.CordonedSince)
	}) {
		after(core.StageDraining, node.CordonedSince, fieldCordon)
	}
	slices.SortStableFunc(out, func(a, b mark) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(stageRank[a.stage], stageRank[b.stage]), cmp.Compare(a.field, b.field))
	})
	return out
}

// movedBySource are the times at which migrations from each host began.
func movedBySource(s *core.Snapshot) map[string][]time.Time {
	out := map[string][]time.Time{}
	for _, all := range s.Migrations {
		for _, m := range all {
			if m.SourceHost != "" {
				out[m.SourceHost] = append(out[m.SourceHost], m.Created)
			}
		}
	}
	return out
}

// roundOf is a maintenance of which nobody saw the end, with LCM's time of it; false where LCM tells none, or somebody saw it. A
// maintenance that nobody saw at all counts for a node that is through.
func roundOf(marks []mark, old core.Round, u core.UpdateRecord, now core.Stage) (core.Round, bool) {
	var requested, removed time.Time
	for _, m := range marks {
		switch {
		case m.stage == core.StageQueued && m.field == fieldStages:
			requested = m.at
		case m.stage == core.StageDone:
			removed = m.at
		}
	}
	switch {
	case removed.IsZero() || requested.IsZero() || !removed.After(requested):
		return old, false
	case old.Update == u.UID && old.EndUnseen && removed.After(old.Started) && !removed.After(old.Ended):
		old.Ended, old.EndUnseen, old.Reconstructed = removed, false, true
		return old, true
	case old.Update != u.UID && (now == core.StageDone || now == core.StageIdle && !u.Ended.IsZero()):
		return core.Round{Update: u.UID, Started: requested, Ended: removed, Instances: -1, Reconstructed: true}, true
	}
	return old, false
}

// gaps are the times in a node's course of which nobody told yet. A stage that was missed was found after a time in which nobody looked,
// even where it has the exact time of its own beginning. A node that is idle after the update may have gone through all of it.
func gaps(course core.Course, u core.UpdateRecord, stages []missed, looked time.Time) []gap {
	var out []gap
	over := !u.Ended.IsZero()
	for i, c := range course {
		before := core.CourseStage{Stage: core.StageIdle, Since: core.Since{At: u.Started}}
		if i > 0 {
			before = course[i-1]
		}
		n := slices.IndexFunc(stages, func(m missed) bool { return c.Since.At.Equal(m.since) })
		if c.Since.Exact && n < 0 || c.Reconstructed || before.Reconstructed || stageRank[c.Stage] == 0 && !over {
			continue
		}
		g := gap{from: before.Stage, to: c.Stage, since: before.Since.At, until: c.Since.At}
		if n >= 0 && !c.Since.Exact {
			g.found = stages[n].found
		}
		out = append(out, g)
	}
	if n := len(course); over && n > 0 && course[n-1].Stage == core.StageIdle && len(stages) == 0 && !looked.Before(u.Ended) {
		out = append(out, gap{from: core.StageIdle, to: core.StageIdle, since: course[n-1].Since.At, until: looked})
	}
	return out
}

// fill are the marks that lie in the gap and go on from the one stage to the other. A mark of the stage after the gap comes first: what
// was found later gives way to it.
func (g gap) fill(marks []mark) []mark {
	var out []mark
	at, rank, end := g.from, stageRank[g.from], stageRank[g.to]
	if g.from == core.StageDone {
		rank = 0 // of an earlier maintenance
	}
	if g.to == core.StageIdle {
		end = stageRank[core.StageDone] // it went through, and the update is over
	}
	if end < rank {
		return nil // another maintenance came between
	}
	until := g.until
	if g.found.After(until) && slices.ContainsFunc(marks, func(m mark) bool { return m.stage == g.to && m.at.Before(g.found) }) {
		until = g.found // its evidence was older than the stage
	}
	const turns = 6 // the rank of updating and rebooting
	for _, m := range marks {
		is := stageRank[m.stage]
		switch {
		case !m.at.After(g.since) || !m.at.Before(until) || is > end:
		case is > rank, is == rank && is == turns && m.stage != at:
			m.from, at, rank = at, m.stage, is
			out = append(out, m)
		}
	}
	if n := len(out); n > 0 && out[n-1].stage == g.to {
		return append(out[n-1:n:n], out[:n-1]...)
	}
	if n := len(out); n > 0 && stageRank[out[n-1].stage] == end && end != turns && g.to != core.StageIdle {
		return out[:n-1] // of the same rank as the stage after the gap: nothing tells which came first
	}
	return out
}
