package engine

import (
	"fmt"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/scene"
)

// The controller writes its text anew at every try, with a new timestamp. An outage is still as old as its first such text,
// whatever the tries say in between; a text long after is another outage.
func TestOutageIsAsOldAsItsFirstText(t *testing.T) {
	const away = "Retrying migrate instances from host. Cannot execute openstack commands, error: 503"
	type minute struct {
		text     string
		severity core.Severity // of the entry; 0: there is none
		age      time.Duration
	}
	said := func(text string, n int, last minute) []minute {
		all := make([]minute, n)
		for i := range all {
			all[i] = minute{text: text, severity: core.SeverityWarning, age: time.Duration(i) * time.Minute}
		}
		return append(all, last)
	}
	tests := map[string][]minute{
		"urgent after five minutes": said(away, 6, minute{away, core.SeverityUrgent, 6 * time.Minute}),
		"a try's own words do not end it": {
			{away, core.SeverityWarning, 0}, {away, core.SeverityWarning, time.Minute}, {text: "Starting migration for 0000"},
			{away, core.SeverityWarning, 3 * time.Minute},
		},
		"the next outage is another": {
			{away, core.SeverityWarning, 0}, {text: "Starting migration for 0000"}, {text: "Starting migration for 0000"},
			{text: "Starting migration for 0000"}, {away, core.SeverityWarning, 0},
		},
	}
	for name, minutes := range tests {
		t.Run(name, func(t *testing.T) {
			sc := scene.NewScene()
			sc.Node("cmp-01", core.RoleCompute)
			lock := sc.Maintained("cmp-01", "")
			outages := map[string]core.OutageRecord{}
			for i, m := range minutes {
				sc = sc.Again()
				sc.Now = scene.Noon.Add(time.Duration(i) * time.Minute)
				lock.Message = fmt.Sprintf("%s %s", sc.Now.Format("2006-01-02 15:04:05.000000"), m.text)
				clone := core.CloneOnWrite[string, core.OutageRecord]{M: outages}
				observeOutage(sc.Snapshot, lock, &clone)
				outages = clone.M
				sc.History.Outages = outages
				var got core.Severity
				var age time.Duration
				for _, a := range attention.Of(sc.Snapshot) {
					if a.ID == "outage" {
						got, age = a.Severity, sc.Now.Sub(a.Since.At)
					}
				}
				if got != m.severity || age != m.age {
					t.Errorf("minute %d: severity %v since %s, want %v since %s", i, got, age, m.severity, m.age)
				}
			}
		})
	}
}
