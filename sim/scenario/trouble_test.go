package scenario_test

import (
	"strings"
	"testing"

	"lockstep/sim/scenario"
)

func TestBrokenTroublesAndControllersAreNamed(t *testing.T) {
	const rest = `
name: x
title: x
release: {from: a, to: b}
kubelet: {from: a, to: b}
rockoon: {from: a, to: b}
nodes:
  - {machine: ctl-01, roles: [master, controller]}
  - {machine: cmp-01, roles: [compute]}
`
	for name, c := range map[string]struct{ text, want string }{
		"a kind with a slip":          {"troubles: [{kind: controlerDown}]", "troubles[0].kind: is \"controlerDown\""},
		"a node that is not there":    {"troubles: [{kind: agentsDead, node: cmp-09}]", "troubles[0].node: there is no node \"cmp-09\""},
		"a node that is missing":      {"troubles: [{kind: staleInnerState}]", "troubles[0].node: there is no node \"\""},
		"no service":                  {"troubles: [{kind: osdplApplying, node: ctl-01}]", "troubles[0].service"},
		"a service for nothing":       {"troubles: [{kind: cephDegraded, node: ctl-01, service: dns}]", "troubles[0].service"},
		"no workload":                 {"troubles: [{kind: podsNotReady, node: cmp-01}]", "troubles[0].workload"},
		"a return of the controller":  {"troubles: [{kind: controllerDown, onReturn: true}]", "troubles[0].node"},
		"a return of Ceph":            {"troubles: [{kind: cephDegraded, node: cmp-01, onReturn: true}]", "troubles[0].onReturn"},
		"a time before the start":     {"troubles: [{kind: controllerDown, at: -1m}]", "troubles[0]: at and for"},
		"a field that is none":        {"troubles: [{kind: controllerDown, after: 1m}]", "after"},
		"a controller without a name": {"controllers: [{roles: [compute]}]", "controllers[0].name: is missing"},
		"one of MOSK's own":           {"controllers: [{name: ceph, roles: [compute]}]", "controllers[0].name: ceph is there already"},
		"a role that is none":         {"controllers: [{name: x, roles: [computes]}]", "controllers[0].roles[0]: role \"computes\""},
		"locks on nothing":            {"controllers: [{name: x}]", "controllers[0]: it has a lock on nothing"},
		"a failure elsewhere": {"controllers: [{name: x, roles: [compute], failing: [ctl-01], error: e, times: 1}]",
			"controllers[0].failing[0]"},
		"a failure without words": {"controllers: [{name: x, roles: [compute], failing: [cmp-01]}]",
			"controllers[0]: failing needs error and times"},
	} {
		_, err := scenario.Parse([]byte(rest + c.text + "\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}
