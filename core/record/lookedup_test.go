package record

import (
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
)

// What a later run found out about a step counts, whatever the run that began it wrote as it left; also where that was at a later
// time than the step ended. That somebody acknowledged a step that is told elsewhere is no step.
func TestAnEndThatWasLookedUpIsTheEnd(t *testing.T) {
	step := func(kind engine.RecordKind, id, service string, do core.IntentKind, when Time, state core.OperationState,
		lookedUp bool) engine.Record {
		return engine.Record{Kind: kind, At: when.Time, Operation: id, State: string(state), LookedUp: lookedUp, By: "anna",
			Intent: &core.Intent{Kind: do, Instance: service}, Object: &core.Ref{Kind: core.KindComputeService, Name: service, UID: service}}
	}
	const before, verified, ended = engine.RecordBefore, engine.RecordVerified, engine.RecordEnded
	disable, enable := core.IntentDisableCompute, core.IntentEnableCompute
	a := written(t, engine.Record{Kind: engine.RecordUpdate, At: at(0).Time,
		Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}},
		engine.Record{Kind: engine.RecordControl, Operation: "elsewhere", At: at(1).Time, State: "acknowledged"},
		step(before, "killed", "a", disable, at(2), "", false), step(ended, "killed", "a", disable, at(3), core.OperationDone, true),
		step(before, "not done", "b", disable, at(2), "", false), step(ended, "not done", "b", disable, at(3), core.OperationFailed, true),
		step(verified, "not done", "b", disable, at(4), core.OperationUnknown, false),
		step(before, "no word", "c", disable, at(2), "", false),
		step(before, "away", "d", disable, at(2), "", false), step(verified, "away", "d", disable, at(3), core.OperationDone, false),
		step(before, "and back", "d", enable, at(4), "", false), step(ended, "and back", "d", enable, at(5), core.OperationDone, true),
		step(before, "kept", "e", disable, at(2), "", false), step(verified, "kept", "e", disable, at(3), core.OperationDone, false),
		step(before, "not back", "e", enable, at(4), "", false), step(ended, "not back", "e", enable, at(5), core.OperationFailed, true),
		step(before, "stop", "i", core.IntentStop, at(2), "", false), step(ended, "stop", "i", core.IntentStop, at(5), core.OperationDone, true),
		step(verified, "stop", "i", core.IntentStop, at(20), core.OperationUnknown, false),
		step(ended, "stop", "i", core.IntentStop, at(20), core.OperationUnknown, false))
	got := ""
	for _, d := range a.Disabled() {
		got += d.Service.Name
	}
	if got != "ace" {
		t.Errorf("out of scheduling are %q, want a, c and e", got)
	}
	if c := a.Counts(); c.Stopped != 1 {
		t.Errorf("counted %+v", c)
	}
	for _, done := range a.Actions {
		if done.ID == "elsewhere" || done.ID == "stop" && (done.State != string(core.OperationDone) || done.Ended.Sub(at(5).Time) > time.Second) {
			t.Errorf("%+v", done)
		}
	}
}

// A step that ended has ended, also where the clock was set back, or another clock has the end before the beginning.
func TestAStepThatEndedBeforeItBeganHasEnded(t *testing.T) {
	done := string(core.OperationDone)
	step := func(kind engine.RecordKind, id string, when Time, state string, lookedUp bool) engine.Record {
		return engine.Record{Kind: kind, At: when.Time, Operation: id, State: state, LookedUp: lookedUp, By: "anna"}
	}
	a := written(t, engine.Record{Kind: engine.RecordUpdate, At: at(0).Time,
		Update: &core.UpdateRecord{UID: "u", Release: "21.0.1", Started: at(0).Time}},
		step(engine.RecordGrant, "set back", at(10), "", false), step(engine.RecordBefore, "set back", at(10), "", false),
		step(engine.RecordVerified, "set back", at(9), done, false), step(engine.RecordEnded, "set back", at(9), done, false),
		step(engine.RecordGrant, "looked up", at(11), "", false), step(engine.RecordBefore, "looked up/0", at(11), "", false),
		step(engine.RecordEnded, "looked up", at(8), done, true), step(engine.RecordBefore, "runs", at(12), "", false))
	got := map[string]string{}
	for _, x := range a.Actions {
		got[x.ID] = x.State
	}
	if got["set back"] != done || got["looked up"] != done || got["runs"] != Begun {
		t.Errorf("%q", got)
	}
}
