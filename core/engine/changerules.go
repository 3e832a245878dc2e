package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"lockstep/core"
)

// changeRules has one row for each kind of Change that is written. A Batch has none; its items have.
var changeRules = []changeRule{
	changeRow[core.SetNodeAnnotation]{server: core.ServerKubernetes, checker: checkAnnotation, memory: rememberAnnotation,
		text: annotationText, done: annotationIsSet}.rule(),
	changeRow[core.SetLock]{server: core.ServerKubernetes, checker: checkSetLock, memory: rememberOverride}.rule(),
	changeRow[core.SetInnerState]{server: core.ServerKubernetes, checker: checkInnerState}.rule(),
	changeRow[core.CreateLock]{server: core.ServerKubernetes, checker: checkCreateLock}.rule(),
	changeRow[core.CreateRequest]{server: core.ServerKubernetes, checker: checkCreateRequest}.rule(),
	changeRow[core.DeleteObject]{server: core.ServerKubernetes, checker: checkDeleteObject}.rule(),
	changeRow[core.AddFinalizer]{server: core.ServerKubernetes, checker: checkAddFinalizer}.rule(),
	changeRow[core.RemoveFinalizer]{server: core.ServerKubernetes, checker: checkRemoveFinalizer}.rule(),
	changeRow[core.RestartPod]{server: core.ServerKubernetes, checker: checkRestartPod, text: restartText, done: podIsNew}.rule(),
	changeRow[core.DeletePod]{server: core.ServerKubernetes, checker: checkDeletePod, text: deletionText, done: podIsGone}.rule(),
	changeRow[core.DeleteClaim]{server: core.ServerKubernetes, checker: checkDeleteClaim}.rule(),
	changeRow[core.SetTempest]{server: core.ServerKubernetes, checker: checkTempest, text: core.SetTempest.Text}.rule(),

	changeRow[core.InstanceAction]{server: core.ServerOpenStack, checker: checkInstance, memory: rememberInstance, slow: true,
		kinds: instanceActions, text: actionText, done: instanceIsGone}.rule(),
	changeRow[core.SetMaintenanceTags]{server: core.ServerOpenStack, checker: checkTags, memory: rememberTags, complete: withAllTags}.rule(),
	changeRow[core.SetComputeService]{server: core.ServerOpenStack, checker: checkComputeService, text: computeServiceText}.rule(),
	changeRow[core.SetVolumeService]{server: core.ServerOpenStack, checker: checkVolumeService}.rule(),

	changeRow[core.SetMaintenance]{server: core.ServerManagement, checker: checkMaintenance}.rule(),
	changeRow[core.RequestReboot]{server: core.ServerManagement, checker: checkReboot}.rule(),
	changeRow[core.SetCommence]{server: core.ServerManagement, checker: checkCommence}.rule(),
	changeRow[core.SetAutoPause]{server: core.ServerManagement, checker: checkAutoPause}.rule(),
	changeRow[core.SetRelease]{server: core.ServerManagement, checker: checkRelease}.rule(),
	changeRow[core.SetGroup]{server: core.ServerManagement, checker: checkGroup}.rule(),
	changeRow[core.SetMachineGroup]{server: core.ServerManagement, checker: checkMachineGroup, text: machineGroupText,
		done: machineIsInGroup}.rule(),
	changeRow[core.SetUpgradeIndex]{server: core.ServerManagement, checker: checkUpgradeIndex}.rule(),

	changeRow[core.MakeSilence]{server: core.ServerAlertmanager, checker: checkMakeSilence, memory: rememberSilence}.rule(),
	changeRow[core.ExpireSilence]{server: core.ServerAlertmanager, checker: checkExpireSilence, memory: rememberExpiry}.rule(),
}

// changeRow says how one kind of Change is made.
type changeRow[C core.Change] struct {
	// server is where it is written. If the server has a dry-run, it is tried there first.
	server core.Server
	// checker makes what asks the servers: before the write whether it may be made, and after it what came of it.
	checker func(e *Engine, step core.Step, c C) checker
	// memory makes what is remembered of it beside its records; nil: nothing.
	memory func(e *Engine, step core.Step, c C, by checker) memory
	// complete adds what the check has read; nil: the change is sent as it was confirmed.
	complete func(c C, by checker) C
	// slow: the answer can take so long that Lockstep looks for the result before it comes.
	slow bool
	// kinds returns one change for each action of this kind; nil: there is only one.
	kinds func() []core.Change
	// text says in a refusal what it does; nil: the name of its type.
	text func(c C) string
	// done says, in a batch, why nothing is left to do; empty: it is still to be done. nil: it always is.
	done func(s *core.Snapshot, c C) (why string)
}

// changeRule is a changeRow of any kind.
type changeRule struct {
	zero     core.Change
	server   core.Server
	checker  func(e *Engine, step core.Step, c core.Change) checker
	memory   func(e *Engine, step core.Step, c core.Change, by checker) memory
	complete func(c core.Change, by checker) core.Change
	slow     bool
	kinds    func() []core.Change
	text     func(c core.Change) string
	done     func(s *core.Snapshot, c core.Change) (why string)
}

func (r changeRow[C]) rule() changeRule {
	var zero C
	rule := changeRule{zero: zero, server: r.server, slow: r.slow,
		checker:  func(e *Engine, step core.Step, c core.Change) checker { return r.checker(e, step, c.(C)) },
		memory:   func(*Engine, core.Step, core.Change, checker) memory { return noMemory{} },
		complete: func(c core.Change, _ checker) core.Change { return c },
		kinds:    func() []core.Change { return []core.Change{zero} },
		text:     func(c core.Change) string { return fmt.Sprintf("%T", c) },
		done:     func(*core.Snapshot, core.Change) string { return "" },
	}
	if r.kinds != nil {
		rule.kinds = r.kinds
	}
	if r.text != nil {
		rule.text = func(c core.Change) string { return r.text(c.(C)) }
	}
	if r.done != nil {
		rule.done = func(s *core.Snapshot, c core.Change) string { return r.done(s, c.(C)) }
	}
	if r.memory != nil {
		rule.memory = func(e *Engine, step core.Step, c core.Change, by checker) memory { return r.memory(e, step, c.(C), by) }
	}
	if r.complete != nil {
		rule.complete = func(c core.Change, by checker) core.Change { return r.complete(c.(C), by) }
	}
	return rule
}

// ruleOf returns the rule for a change; false for a Batch, and for nil.
func ruleOf(c core.Change) (changeRule, bool) {
	i := slices.IndexFunc(changeRules, func(r changeRule) bool { return reflect.TypeOf(r.zero) == reflect.TypeOf(c) })
	if i < 0 {
		return changeRule{}, false
	}
	return changeRules[i], true
}

// changeText says in a refusal what a change does.
func changeText(c core.Change) string {
	if rule, ok := ruleOf(c); ok {
		return rule.text(c)
	}
	return fmt.Sprintf("%T", c)
}

// nothingLeft says why nothing is left to do of a change; empty when it is still to be done.
func nothingLeft(s *core.Snapshot, c core.Change) string {
	if rule, ok := ruleOf(c); ok {
		return rule.done(s, c)
	}
	return ""
}

// ChangesAt returns an empty change of each kind that is written to a server, and one InstanceAction for each action: what the server's
// ChangeWriter has to know.
func ChangesAt(server core.Server) []core.Change {
	var all []core.Change
	for _, r := range changeRules {
		if r.server == server {
			all = append(all, r.kinds()...)
		}
	}
	return all
}

// target is one of the servers that are written to.
type target struct {
	writer ChangeWriter
	dryRun DryRunner // nil: it has no dry-run
}

// target returns where changes for a server go. The error is a refusal when Lockstep cannot write there.
func (e *Engine) target(server core.Server) (target, error) {
	var t target
	switch server {
	case core.ServerKubernetes:
		if e.cfg.Kubernetes == nil || e.cfg.Writers.Kubernetes == nil {
			return t, refuse("there is no Kubernetes API to write to")
		}
		return target{e.cfg.Writers.Kubernetes, e.cfg.Kubernetes}, nil
	case core.ServerOpenStack:
		if e.cfg.OpenStack == nil || e.cfg.Writers.OpenStack == nil {
			return t, refuse("there is no OpenStack API to write to")
		}
		return target{e.cfg.Writers.OpenStack, nil}, nil
	case core.ServerManagement:
		if e.cfg.Management == nil || e.cfg.Writers.Management == nil {
			return t, refuse("there is no management cluster to write to")
		}
		return target{e.cfg.Writers.Management, e.cfg.Management}, nil
	case core.ServerAlertmanager:
		if e.cfg.Alerts == nil || e.cfg.Writers.Alerts == nil {
			return t, refuse("there is no Alertmanager to write to")
		}
		return target{e.cfg.Writers.Alerts, nil}, nil
	}
	return t, refuse("there is no server %q to write to", server)
}

// try has the server try a change, and tells whether it has a dry-run for it.
func (e *Engine) try(ctx context.Context, c core.Change) (tried bool, err error) {
	rule, ok := ruleOf(c)
	if !ok {
		return false, nil
	}
	to, err := e.target(rule.server)
	if err != nil || to.dryRun == nil {
		return false, nil
	}
	return true, to.dryRun.DryRun(ctx, c)
}
