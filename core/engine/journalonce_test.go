package engine

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// killedAndAgain is the journal of an update in which Lockstep was killed and begun again: what the second run found, it told at once, and
// then with the API's own times.
func killedAndAgain(t *testing.T) string {
	t.Helper()
	at := func(minute int) time.Time { return worldTime.Add(time.Duration(minute) * time.Minute) }
	node := core.Ref{Kind: core.KindNode, Name: "cmp-1", UID: "n"}
	stage := func(minute int, from, to core.Stage, exact bool, field string) Record {
		return Record{Kind: RecordStage, At: at(minute), Node: node.Name, Object: &node, From: string(from), To: string(to), Exact: exact,
			Stage: &core.StageRecord{Stage: to, Since: core.Since{At: at(minute), Exact: exact}}, Reconstructed: field}
	}
	round := func(minute int, r core.Round, field string) Record {
		return Record{Kind: RecordRound, At: at(minute), Node: node.Name, Object: &node, Round: &r, Reconstructed: field}
	}
	phase := func(minute int, ended core.Since, field string) Record {
		return Record{Kind: RecordPhase, At: at(minute), Number: core.PhaseWorkers, Title: "worker nodes", State: string(core.PhaseDone),
			Phase: &core.PhaseRecord{Started: core.Since{At: at(0), Exact: true}, Ended: ended}, Reconstructed: field}
	}
	lock := func(minute int, field string) Record {
		return Record{Kind: RecordLock, At: at(minute), Node: node.Name, From: "inactive", To: "active", Reconstructed: field,
			Object: &core.Ref{Kind: core.KindNodeWorkloadLock, Name: "openstack-cmp-1", UID: "l"}}
	}
	update := core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0)}
	asked := core.Round{Request: "r", Update: "u", Started: at(1)}
	found, told := asked, asked
	found.Ended, found.EndUnseen = at(60), true
	told.Ended, told.Reconstructed = at(20), true
	path := filepath.Join(t.TempDir(), "mos.jsonl")
	written(t, path, "a", []Record{{Kind: RecordStart, At: at(0)}, {Kind: RecordUpdate, At: at(0), Update: &update},
		stage(1, core.StageIdle, core.StageQueued, true, ""), round(1, asked, ""),
		stage(5, core.StageQueued, core.StageUpdating, true, "")})
	written(t, path, "b", []Record{{Kind: RecordStart, At: at(60)}, round(60, found, ""),
		stage(60, core.StageUpdating, core.StageDone, false, ""), lock(60, ""), phase(60, core.Since{At: at(60)}, ""),
		{Kind: RecordGrant, At: at(60), Operation: "1"}, {Kind: RecordGrant, At: at(60), Operation: "1"},
		round(20, told, fieldStages), stage(20, core.StageUpdating, core.StageDone, false, fieldStages),
		stage(10, core.StageUpdating, core.StageRebooting, false, fieldReboot),
		stage(15, core.StageRebooting, core.StageUpdating, false, fieldReady),
		phase(21, core.Since{At: at(21), Exact: true}, fieldStepDuration), lock(19, fieldLock),
		stage(70, core.StageDone, core.StageQueued, true, ""), stage(75, core.StageQueued, core.StageDone, true, "")})
	return path
}

// What one run found, and what it then told with an API's own time, is one thing: whoever reads the journal reads it once, where it
// happened. Nothing is lost: a stage that came back, and what was done, stand there as often as they were. Who wants every line has them.
func TestWhatWasFoundAndReconstructedIsToldOnce(t *testing.T) {
	path := killedAndAgain(t)
	want := "0 start, 0 update, 1 stage queued, 1 round, 5 stage updating, 10 stage rebooting, 15 stage updating, 19 lock active, " +
		"20 round, 20 stage done, 21 phase done, 60 start, 60 grant, 60 grant, 70 stage queued, 75 stage done"
	text := func(all []JournalLine) string {
		var out []string
		for _, l := range all {
			out = append(out, strings.TrimSpace(strings.Join([]string{age(l.When()), string(l.Kind), l.To + l.State}, " ")))
		}
		return strings.Join(out, ", ")
	}
	var once, all, again []JournalLine
	if _, err := ReadOnce([]string{path}, func(l JournalLine) { once = append(once, l) }); err != nil {
		t.Fatal(err)
	}
	if got := text(once); got != want {
		t.Errorf("it is read as\n%s, want\n%s", got, want)
	}
	if _, err := ReadInOrder([]string{path}, func(l JournalLine) {
		if all = append(all, l); l.Again {
			again = append(again, l)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if got, want := text(again), "60 round, 60 stage done, 60 lock active, 60 phase done"; got != want || len(all) != len(once)+4 {
		t.Errorf("told again, of %d lines: %s, want %s", len(all), got, want)
	}
	lines, err := ReadLines(t.Context(), path, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(lines)
	slices.SortStableFunc(lines, func(a, b core.JournalLine) int { return a.At.Compare(b.At) })
	retold := core.Retold(core.TellingsOf(lines))
	var shown []string
	for i, l := range lines {
		if retold[0][i] {
			shown = append(shown, age(l.At)+" "+string(l.Kind))
		}
	}
	if got, want := strings.Join(shown, ", "), "60 stage, 60 stage, 60 lock, 60 update"; got != want {
		t.Errorf("of the lines of the screen are told again: %s, want %s", got, want)
	}
}

// age is how many minutes after the beginning a moment of the tests is.
func age(at time.Time) string { return strconv.Itoa(int(at.Sub(worldTime).Minutes())) }
