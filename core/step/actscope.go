package step

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// guardScope holds when a node's request says whether the host may reboot. Without a scope the OpenStack controller fails on each try,
// after nova-compute has left scheduling (docs/mosk.md#requests-without-a-scope). Who plays it must not guess: the cluster request's
// scope counts for no node.
func (p *planner) guardScope(r *core.MaintenanceRequest) {
	if r == nil {
		return
	}
	p.fact("scope", string(r.Scope))
	p.guard(core.Guard{ID: core.GuardScope, Text: "the request says whether the host may reboot", Holds: r.Scope != "",
		Answer: wording.TextOf(wording.TextIf(r.Scope != "", "scope "+wording.OneLine(string(r.Scope), 20), ""),
			"it has no scope: the OpenStack controller itself fails on it without a word"),
		Remedy: ScopeCommand(r)})
}

// ScopeCommand gives a request the scope in which the host may reboot.
func ScopeCommand(r *core.MaintenanceRequest) string {
	return wording.ShellCommand("kubectl", "patch", "nodemaintenancerequest", r.Name, "--type=merge", "-p", `{"spec":{"scope":"os"}}`)
}
