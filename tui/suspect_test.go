package tui

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	scenes "lockstep/scene"
)

// quorumShort is a cluster in which a node waits for the database, of which one pod does not run.
func quorumShort(t *testing.T) *core.Snapshot {
	t.Helper()
	sc := scenes.Healthy()
	sc.Update(3 * time.Hour)
	sc.Maintained("cmp-01", "Some services blocks nmr handling {'database': False}. Deferring processing for node cmp-01")
	set := sc.Stateful(core.NamespaceOpenStack, "mariadb-server", "ctl-01", "ctl-02", "!ctl-03")
	sc.DaemonPods[set.UID][2].Waits = "CrashLoopBackOff"
	return sc.Again().Snapshot
}

// The page of an entry reads the log that alone can tell the cause, and then shows the line and the row, also in the page with all of it.
func TestThePageOfAnEntryReadsTheLogThatTellsTheCause(t *testing.T) {
	s := quorumShort(t)
	looker := &fakeLooker{parts: []core.LogPart{{Lines: []core.LogLine{{Pod: "mariadb-server-2", At: fixtureWall,
		Text: "0 [ERROR] WSREP: Corrupt buffer header: addr\x1b[31m"}}}}}
	d := drive(s, 120, 40, func(o *Options) { o.Looker = looker }).entry(t, "node-deferred")
	for _, want := range []string{"its log", "mariadb-server-2: 0 [ERROR] WSREP: Corrupt buffer header", "known issue", "31186, 34132",
		"kubectl -n openstack logs mariadb-server-2 --tail=500"} {
		if text := d.reads(); !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if len(looker.asked) != 1 || looker.asked[0].Tail == 0 || looker.asked[0].Follow {
		t.Errorf("asked for %+v", looker.asked)
	}
	d.send(snapshotMsg{s}) // a Snapshot asks for nothing again
	if d.keys("i"); !strings.Contains(d.reads(), "Corrupt buffer header") {
		t.Errorf("all of it lacks the line:\n%s", d.reads())
	}
}
