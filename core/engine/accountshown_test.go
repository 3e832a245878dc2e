package engine

import (
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/scene"
)

// An outage that no lock mentions is as old as its first sight; the start of the next try does not end it.
func TestOutageThatNoLockSaysHasAnAge(t *testing.T) {
	sc := scene.Bookkept()
	l := sc.NodeLock("cmp-01", core.ControllerOpenStack)
	outages := map[string]core.OutageRecord{}
	for minute := range 8 {
		sc = sc.Again()
		sc.Now = scene.Noon.Add(time.Duration(minute) * time.Minute)
		l.Message = sc.Now.Format("2006-01-02 15:04:05.000000") + " Starting migration for " + scene.IDA
		tries := scene.Failed(minute+1, "Unable to establish connection to http://nova/v2.1/servers/detail")
		tries.Next = sc.Now.Add(40 * time.Second)
		sc.Tried(tries)
		clone := core.CloneOnWrite[string, core.OutageRecord]{M: outages}
		observeOutage(sc.Snapshot, l, &clone)
		outages = clone.M
		sc.History.Outages = outages
		want := core.SeverityWarning
		if minute > 5 {
			want = core.SeverityUrgent
		}
		i := slices.IndexFunc(attention.Of(sc.Snapshot), func(a core.Attention) bool { return a.ID == "outage" })
		if i < 0 {
			t.Fatalf("minute %d: nothing is said", minute)
		}
		if a := attention.Of(sc.Snapshot)[i]; a.Severity != want || !a.Since.At.Equal(scene.Noon) {
			t.Errorf("minute %d: %s since %s", minute, a.Severity, a.Since.At)
		}
	}
}
