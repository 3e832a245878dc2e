package tui

import (
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// mark is how a state is drawn: always beside its word.
type mark struct {
	glyph string
	tone  themes.Token
}

func (m mark) spans(word string) draw.Line { return draw.Line{draw.Text(m.tone, m.glyph+" "+word)} }

func stageMark(g themes.Glyphs, s core.Stage) mark {
	switch s {
	case core.StageWaiting:
		return mark{g.Needs, themes.Needs}
	case core.StageFailed:
		return mark{g.Failed, themes.Bad}
	case core.StagePreparing, core.StageEvacuating, core.StageReleased, core.StageDraining, core.StageUpdating,
		core.StageRebooting, core.StageReturning:
		return mark{g.Moves, themes.Moves}
	case core.StageQueued:
		return mark{g.Queued, themes.Dim}
	case core.StageDone:
		return mark{g.Done, themes.Dim}
	case core.StageIdle:
		return mark{" ", themes.Dim}
	}
	return mark{g.Unknown, themes.Warn}
}

// nodeMark is the mark of a node's stage. A node that needs a person at once has the mark for that in every stage; a node that
// waits for something that Lockstep is doing is marked as moving.
func nodeMark(g themes.Glyphs, s *core.Snapshot, v *core.NodeView) mark {
	switch needs := attention.NodeNeeds(s, v.Name); {
	case needs == core.SeverityUrgent && v.Stage != core.StageFailed:
		return mark{g.Needs, themes.Needs}
	case needs == core.SeverityNotice && v.Stage == core.StageWaiting:
		return mark{g.Moves, themes.Moves}
	}
	return stageMark(g, v.Stage)
}

func phaseMark(g themes.Glyphs, s core.PhaseState) mark {
	switch s {
	case core.PhaseDone:
		return mark{g.Done, themes.Good}
	case core.PhaseRunning:
		return mark{g.Moves, themes.Moves}
	case core.PhaseWaiting:
		return mark{g.Needs, themes.Needs}
	case core.PhaseStuck:
		return mark{g.Failed, themes.Bad}
	}
	return mark{g.Off, themes.Dim}
}

func stepMark(g themes.Glyphs, s core.StepState) mark {
	switch s {
	case core.StepDone:
		return mark{g.Done, themes.Good}
	case core.StepReady:
		return mark{g.Needs, themes.Needs}
	case core.StepBlocked:
		return mark{g.Off, themes.Warn}
	case core.StepWaiting:
		return mark{g.Queued, themes.Dim}
	case core.StepRunning:
		return mark{g.Moves, themes.Moves}
	case core.StepFailed:
		return mark{g.Failed, themes.Bad}
	}
	return mark{" ", themes.Dim}
}

func lockMark(g themes.Glyphs, s core.LockState) mark {
	switch s {
	case core.LockActive:
		return mark{g.On, themes.Text}
	case core.LockInactive:
		return mark{g.Off, themes.Dim}
	case core.LockFailed:
		return mark{g.Failed, themes.Bad}
	}
	return mark{g.Unknown, themes.Warn}
}

func severityMark(g themes.Glyphs, s core.Severity) mark {
	switch s {
	case core.SeverityUrgent:
		return mark{g.Needs, themes.Needs}
	case core.SeverityWarning:
		return mark{g.Dot, themes.Warn}
	}
	return mark{" ", themes.Text}
}

func operationMark(g themes.Glyphs, s core.OperationState) mark {
	switch s {
	case core.OperationDone:
		return mark{g.Done, themes.Good}
	case core.OperationRunning, core.OperationVerifying:
		return mark{g.Moves, themes.Moves}
	case core.OperationFailed:
		return mark{g.Failed, themes.Bad}
	case core.OperationUnknown:
		return mark{g.Unknown, themes.Bad}
	case core.OperationPaused:
		return mark{g.Paused, themes.Warn}
	case core.OperationStopped:
		return mark{g.Failed, themes.Warn}
	}
	return mark{g.Queued, themes.Dim}
}

func riskTone(r core.Risk) themes.Token {
	switch r {
	case core.RiskLow:
		return themes.Good
	case core.RiskMedium:
		return themes.Warn
	}
	return themes.Bad
}

func sourceMark(g themes.Glyphs, s core.SourceState) mark {
	switch s {
	case core.SourceLive:
		return mark{g.On, themes.Good}
	case core.SourceConnecting:
		return mark{g.Moves, themes.Moves}
	case core.SourceStale:
		return mark{g.Off, themes.Warn}
	case core.SourceOff:
		return mark{g.Off, themes.Dim}
	}
	return mark{g.Off, themes.Bad}
}

// roleWords are the usual three-letter names of roles, in the order in which a node's are shown.
var roleWords = []struct {
	role  core.Role
	short string
}{
	{core.RoleMaster, "mst"}, {core.RoleController, "ctl"}, {core.RoleCompute, "cmp"}, {core.RoleGateway, "gtw"},
	{core.RoleStorage, "osd"},
}

func rolesText(n *core.Node) string {
	if n == nil {
		return ""
	}
	text := ""
	for _, r := range roleWords {
		if n.Is(r.role) {
			if text != "" {
				text += " "
			}
			text += r.short
		}
	}
	return text
}
