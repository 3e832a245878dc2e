package scenario

import (
	"strings"
	"testing"
)

func TestManagementHasDefaults(t *testing.T) {
	s, err := Parse([]byte(strings.Replace(small, `from: "1", to: "2"}`, `from: 17.4.0+25.1, to: 21.0.0+25.2}`, 1) +
		"update: {concurrency: 3, scope: drain}\nmanagement: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := s.Management
	if m.Project != "mosk" || m.Releases.From != "mosk-17-4-0-25-1" || m.Releases.To != "mosk-21-0-0-25-2" {
		t.Errorf("project %q, releases %+v", m.Project, m.Releases)
	}
	if len(m.Groups) != 1 || m.Groups[0].Name != "mos-default" || m.Groups[0].Index != 1 || m.Groups[0].Concurrent != 3 ||
		*m.Groups[0].Reboot || strings.Join(m.Groups[0].Machines, " ") != "cmp-01" {
		t.Errorf("groups %+v", m.Groups)
	}
	if got := strings.Join(s.Steps(), " "); got != "openstack k8s-controllers k8s-workers-mos-default mcc-components" {
		t.Errorf("steps: %s", got)
	}
}

func TestManagementSaysWhatIsWrongWithWhichField(t *testing.T) {
	for text, want := range map[string]string{
		"plan: {commence: [openstak]}":                                     "management.plan.commence[0]",
		"plan: {estimated: {ceph: 1h}}":                                    "management.plan.estimated",
		"plan: {estimated: {openstack: 0s}}":                               "management.plan.estimated.openstack",
		"upgradeIndex: {cmp-9: 1}":                                         "management.upgradeIndex",
		"groups: [{name: a, machines: []}]":                                "leave out the worker cmp-01",
		"groups: [{name: a, machines: [cmp-01, ctl-01]}]":                  "management.groups[0].machines: ctl-01 is a master",
		"groups: [{name: a, machines: [cmp-01]}, {name: a, machines: []}]": "management.groups[1].name",
		"groups: [{name: mos-control, machines: [cmp-01]}]":                "management.groups[0].name",
		"alerts: [{after: 1m}]":                                            "management.alerts[0].name",
		"items: [{machine: cmp-01, item: nothing, times: 1}]":              "management.items[0].item",
		"items: [{machine: cmp-01, item: host-os}]":                        "management.items[0].times",
		"notReady: [{machine: cmp-01}]":                                    "management.notReady[0].for",
		"budgets: [{name: a}]":                                             "management.budgets[0]",
		"deletions: [{machine: cmp-9}]":                                    "management.deletions[0].machine",
	} {
		_, err := Parse([]byte(small + "management: {" + text + "}\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that says %q", text, err, want)
		}
	}
}

func TestGroupsOfOneIndexStandSideBySide(t *testing.T) {
	s, err := Load("update-groups")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Steps(),
		" "); got != "openstack k8s-controllers k8s-workers-canary k8s-workers-rack-a k8s-workers-rack-b mcc-components" {
		t.Errorf("steps: %s", got)
	}
	if s.Management.UpgradeIndex["cmp-06"] != 1 || s.Management.UpgradeIndex["cmp-02"] != 2 {
		t.Errorf("upgrade indexes: %v", s.Management.UpgradeIndex)
	}
	if s.Management.Plan.Colleague != 0 {
		t.Error("a colleague starts the steps that the scenario leaves to the operator")
	}
}
