package procedure

import (
	"slices"

	"lockstep/core"
	"lockstep/core/step"
)

// Of computes the procedure from what is known now; false when its subject is not known.
func Of(s *core.Snapshot, key core.ProcedureKey) (core.Procedure, bool) {
	var (
		p  core.Procedure
		ok bool
	)
	switch key.Kind {
	case core.ProcedureNode:
		p, ok = nodeProcedure(s, key.Subject)
	case core.ProcedureInstance:
		p, ok = instanceProcedure(s, key.Subject)
	case core.ProcedureSource:
		p, ok = sourceProcedure(s, key.Subject)
	case core.ProcedureCluster:
		p, ok = clusterProcedure(s)
	case core.ProcedureAfter:
		p, ok = afterProcedure(s)
	case core.ProcedureUpdate:
		p, ok = updateProcedure(s)
	case core.ProcedureMaintenance:
		p, ok = maintenanceProcedure(s)
	case core.ProcedureAlerts:
		p, ok = alertsProcedure(s)
	}
	if !ok {
		return core.Procedure{}, false
	}
	p.Key, p.Steps = key, s.Own.Steps(p.Steps)
	return p, true
}

// OperationOf is the newest operation that does the step, or did it; false when none is known.
func OperationOf(s *core.Snapshot, st core.Step) (core.Operation, bool) {
	planned := step.ID(st.Intent.Kind, st.Target) // a step that stands for several ways keeps the ID of the first
	for _, op := range s.Operations {
		if op.Step == st.ID || st.Intent.Kind != "" && op.Step == planned {
			return op, true
		}
		if op.MayDo(st) && slices.ContainsFunc(op.Items, func(item core.OperationItem) bool { return item.Does(st) }) {
			return op, true
		}
	}
	return core.Operation{}, false
}
