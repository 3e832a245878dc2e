package core

import (
	"fmt"
	"testing"
	"time"
)

// The controller writes its text anew at every try, with a new timestamp. An outage is as old as its first such text all the
// same, whatever the tries say in between; a text long after is another outage.
func TestOutageIsAsOldAsItsFirstText(t *testing.T) {
	const away = "Retrying migrate instances from host. Cannot execute openstack commands, error: 503"
	type minute struct {
		text     string
		severity Severity // of the entry; 0: there is none
		age      time.Duration
	}
	said := func(text string, n int, last minute) []minute {
		all := make([]minute, n)
		for i := range all {
			all[i] = minute{text: text, severity: SeverityWarning, age: time.Duration(i) * time.Minute}
		}
		return append(all, last)
	}
	tests := map[string][]minute{
		"urgent after five minutes": said(away, 6, minute{away, SeverityUrgent, 6 * time.Minute}),
		"a try's own words do not end it": {
			{away, SeverityWarning, 0}, {away, SeverityWarning, time.Minute}, {text: "Starting migration for 0000"}, {away, SeverityWarning, 3 * time.Minute},
		},
		"the next outage is another": {
			{away, SeverityWarning, 0}, {text: "Starting migration for 0000"}, {text: "Starting migration for 0000"}, {text: "Starting migration for 0000"}, {away, SeverityWarning, 0},
		},
	}
	for name, minutes := range tests {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			sc.node("cmp-01", RoleCompute)
			lock := sc.maintained("cmp-01", "")
			outages := map[string]OutageRecord{}
			for i, m := range minutes {
				sc = sc.again()
				sc.Now = noon.Add(time.Duration(i) * time.Minute)
				lock.Message = fmt.Sprintf("%s %s", sc.Now.Format("2006-01-02 15:04:05.000000"), m.text)
				clone := cloneOnWrite[string, OutageRecord]{m: outages}
				sc.observeOutage(lock, &clone)
				outages = clone.m
				sc.History.Outages = outages
				var got Severity
				var age time.Duration
				for _, a := range sc.Attention() {
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

// The API keeps nothing of when an outage began: after a restart it is as old as the text that stands there, and at least so old.
func TestOutageIsAtLeastAsOldAsItsText(t *testing.T) {
	sc := newScene()
	sc.node("cmp-01", RoleCompute)
	at := noon.Add(-40 * time.Second)
	sc.maintained("cmp-01", "").Message = at.Format("2006-01-02 15:04:05.000000") + " Retrying migrate instances from host. Cannot execute openstack commands, error: 503"
	for _, a := range sc.Attention() {
		if a.ID == "outage" {
			if a.Since != (Since{At: at}) {
				t.Errorf("since %+v, want at least since %s", a.Since, at)
			}
			return
		}
	}
	t.Error("there is no entry")
}
