package engine

import (
	"time"

	"lockstep/core"
)

// RecordKind says what a Record is about.
type RecordKind string

// The kinds of records.
const (
	RecordStart            RecordKind = "start"      // a run of Lockstep began
	RecordStop             RecordKind = "stop"       // a run ended in good order
	RecordUpdate           RecordKind = "update"     // a cluster update was seen to begin or to end
	RecordPhase            RecordKind = "phase"      // a phase was seen to begin or to end
	RecordStage            RecordKind = "stage"      // a node came into a stage
	RecordStandstill       RecordKind = "standstill" // the update was seen to stand still in a phase, or to go on there
	RecordLock             RecordKind = "lock"       // a lock came into a state
	RecordRound            RecordKind = "round"      // a node's maintenance was seen to begin or to end
	RecordArm              RecordKind = "arm"        // writing was armed
	RecordDisarm           RecordKind = "disarm"     // writing was disarmed
	RecordGrant            RecordKind = "grant"      // the operator confirmed a step
	RecordBefore           RecordKind = "before"     // a write is about to be sent
	RecordAfter            RecordKind = "after"      // the server answered, or did not
	RecordVerified         RecordKind = "verified"   // the cluster showed how it ended
	RecordMigrated         RecordKind = "migrated"   // a cold migration that Lockstep began was seen to end
	RecordUp               RecordKind = "up"         // an instance that Lockstep stopped or shelved was seen up again, whoever brought it back
	RecordMigrationRefused RecordKind = "refusal"    // Nova was seen to refuse the OpenStack controller a migration
	RecordRefused          RecordKind = "refused"    // the gate did not let a write through
	RecordEnded            RecordKind = "ended"      // an operation came to its end, with all items of a batch
	RecordControl          RecordKind = "control"    // the operator paused, resumed, skipped, stopped or acknowledged
	RecordLost             RecordKind = "lost"       // there was no room for records that could not be written
	RecordIdentity         RecordKind = "identity"   // as whom the servers know who runs Lockstep
	RecordEntry            RecordKind = "entry"      // an entry of "Needs you" came, became more or less severe, or is settled
	RecordMove             RecordKind = "move"       // a migration of an instance ended, whoever began it
	RecordNote             RecordKind = "note"       // the operator wrote a note, changed one, or is done with one
	RecordPlan             RecordKind = "plan"       // what the update was planned to take, when it began or when that changed
	RecordPlanStep         RecordKind = "planstep"   // a step of the update plan came into a state
	RecordForecast         RecordKind = "forecast"   // until when the update was forecast to take, at one of a few moments
	RecordForetold         RecordKind = "foretold"   // what was forecast came: a step, a phase, all nodes or the whole ended
	RecordCarried          RecordKind = "carried"    // a file of the journal begins; what still counts of the one before follows
)

// RecordKinds are all of them.
func RecordKinds() []RecordKind {
	return []RecordKind{
		RecordStart, RecordStop, RecordUpdate, RecordPhase, RecordStage, RecordStandstill, RecordLock, RecordRound, RecordArm,
		RecordDisarm, RecordGrant, RecordBefore, RecordAfter, RecordVerified, RecordMigrated, RecordUp, RecordMigrationRefused,
		RecordRefused, RecordEnded, RecordControl, RecordLost, RecordIdentity, RecordEntry, RecordMove, RecordNote, RecordPlan,
		RecordPlanStep, RecordForecast, RecordForetold, RecordCarried,
	}
}

// Record is one line of the journal. Which fields are set depends on its kind; every string is cut to 4 KiB.
type Record struct {
	Kind  RecordKind `json:"kind"`
	Wall  time.Time  `json:"wall"`           // when it was written
	At    time.Time  `json:"at,omitzero"`    // the cluster's time
	Began time.Time  `json:"began,omitzero"` // in a record of an end: when the work began (the cluster's time)
	By    string     `json:"by,omitempty"`   // who runs Lockstep
	Run   string     `json:"run,omitempty"`  // the run that wrote it; empty in journals of older versions

	Cluster   string       `json:"cluster,omitempty"`
	Simulated bool         `json:"simulated,omitempty"`  // in start: it is a rehearsal of that cluster
	UID       string       `json:"clusterUID,omitempty"` // in a record of an identity: what tells the cluster from every other
	Version   string       `json:"version,omitempty"`
	Operation string       `json:"operation,omitempty"` // joins grant, before, after, verified
	Step      string       `json:"step,omitempty"`
	Intent    *core.Intent `json:"intent,omitempty"`
	Object    *core.Ref    `json:"object,omitempty"`
	Node      string       `json:"node,omitempty"`
	Label     string       `json:"label,omitempty"` // what people call the node, where that is another name
	Title     string       `json:"title,omitempty"`
	Commands  []string     `json:"commands,omitempty"`
	Basis     []core.Fact  `json:"basis,omitempty"`
	Typed     string       `json:"typed,omitempty"`

	From  string `json:"from,omitempty"` // the value or state before
	To    string `json:"to,omitempty"`   // the value or state after
	State string `json:"state,omitempty"`
	Exact bool   `json:"exact,omitempty"` // the transition was seen, not inferred
	Error string `json:"error,omitempty"`
	Text  string `json:"text,omitempty"`

	Stage  *core.StageRecord      `json:"stage,omitempty"`
	Course core.Course            `json:"course,omitempty"` // in a carried record of a stage: all stages up to this one
	Round  *core.Round            `json:"round,omitempty"`
	Phase  *core.PhaseRecord      `json:"phase,omitempty"`
	Stands *core.Standstill       `json:"stands,omitempty"`
	Number core.PhaseID           `json:"number,omitempty"`
	Update *core.UpdateRecord     `json:"update,omitempty"`
	Change *core.AnnotationChange `json:"change,omitempty"`
	Tags   *core.TagChange        `json:"tags,omitempty"`

	Took float64 `json:"tookSeconds,omitempty"` // in a record of an answer or an end: how long it was since it was sent, or began

	As    *core.Identity `json:"as,omitempty"`    // in a record of an identity, and of what an operator confirmed
	Entry *EntryRecord   `json:"entry,omitempty"` // that came, changed or is settled; Began is when it came
	Note  *core.Note     `json:"note,omitempty"`
	Move  *MoveRecord    `json:"move,omitempty"`

	Plan     *PlanRecord     `json:"plan,omitempty"`
	PlanStep *PlanStepRecord `json:"planStep,omitempty"`
	Forecast *ForecastRecord `json:"forecast,omitempty"`
	Foretold *ForetoldRecord `json:"foretold,omitempty"`

	// Reconstructed is the field of the API that has the time of what the record tells: nobody watched when it happened. Empty for what was
	// seen.
	Reconstructed string `json:"reconstructed,omitempty"`

	Project string `json:"project,omitempty"` // the name of the project of the instance that was acted on

	LookedUp bool `json:"lookedUp,omitempty"` // in a record of an end: the run that began it did not see it; it was looked up later

	Begun *core.ActionBegun `json:"begun,omitempty"` // of an action on an instance

	Override *core.Override      `json:"override,omitempty"`
	Silence  *core.Silence       `json:"silence,omitempty"` // that was made, or is expired
	Refusal  *core.RefusalRecord `json:"refusal,omitempty"` // of the instance that is the object

	Items []ItemRecord `json:"items,omitempty"` // of a batch that ended

	File    int  `json:"file,omitempty"`    // the number of the file that begins
	Carried bool `json:"carried,omitempty"` // the whole record is in an earlier file
	Settled bool `json:"settled,omitempty"` // the operation is closed; what it did may still have to be set back
}

// ItemRecord is how one item of a batch ended.
type ItemRecord struct {
	Label    string              `json:"label"`
	Instance string              `json:"instance,omitempty"` // ID
	Node     string              `json:"node,omitempty"`     // its name; empty in journals of older versions
	State    core.OperationState `json:"state"`
	Text     string              `json:"text,omitempty"`
	Began    time.Time           `json:"began,omitzero"` // the cluster's time; zero where it is not known
	Ended    time.Time           `json:"ended,omitzero"` // the same
}

// EntryRecord is an entry of "Needs you" as it came, changed or ended.
type EntryRecord struct {
	ID       string             `json:"id"`   // stable as long as the entry lasts
	Rule     core.AttentionRule `json:"rule"` // that found it
	What     EntryEvent         `json:"what"`
	Severity string             `json:"severity"`         // urgent, warning or notice
	Impact   core.Impact        `json:"impact,omitempty"` // what suffers by it
	Label    string             `json:"label,omitempty"`  // what to call its subject: "cmp-07"
	Reason   string             `json:"reason,omitempty"` // one line
	Cause    string             `json:"cause,omitempty"`  // the ID of the entry that it only follows from
	Instance string             `json:"instance,omitempty"`
	Since    time.Time          `json:"since,omitzero"`   // since when it is so, where that is known (the cluster's time)
	Seen     []SeenTo           `json:"seenTo,omitempty"` // the operations so far; a record of another run may have more
}

// MoveRecord is a migration of an instance that ended, by Nova's record of it. Names are those that people see.
type MoveRecord struct {
	Migration int       `json:"migration"` // the number of Nova's record
	Instance  string    `json:"instance"`  // ID
	Name      string    `json:"name,omitempty"`
	Project   string    `json:"project,omitempty"`
	Type      string    `json:"type"`   // live-migration, migration, resize, evacuation
	Status    string    `json:"status"` // completed, error, failed, cancelled, finished, confirmed, reverted
	From      string    `json:"fromHost,omitempty"`
	To        string    `json:"toHost,omitempty"`
	Began     time.Time `json:"beganAt,omitzero"` // when Nova made the record, and when it changed it last (the cluster's time)
	Ended     time.Time `json:"endedAt,omitzero"`
	Text      string    `json:"text,omitempty"` // Nova's, about a failure
}

// PlanRecord is what an update is planned to take, part by part, in their order.
type PlanRecord struct {
	Update string        `json:"update"`           // the ClusterMaintenanceRequest's UID
	Name   string        `json:"name,omitempty"`   // of the ClusterUpdatePlan; empty: no plan drives the update, and its parts are the phases
	UID    string        `json:"uid,omitempty"`    // the same
	Source string        `json:"source,omitempty"` // releases, as the plan names them
	Target string        `json:"target,omitempty"`
	Parts  []PlannedPart `json:"parts"`
}

// PlannedPart is a step of the update plan or, where no plan drives the update, one of the documents' phases.
type PlannedPart struct {
	ID          string       `json:"id"` // the step's, or "phase 2"
	Title       string       `json:"title"`
	Phase       core.PhaseID `json:"phase,omitempty"`
	Granularity string       `json:"granularity,omitempty"`      // of a step: cluster or machine
	Estimate    string       `json:"estimate,omitempty"`         // of a step: the plan's own, as it stands
	Documents   float64      `json:"documentsSeconds,omitempty"` // what the documents allow for it, by their formula
	Nodes       int          `json:"nodes,omitempty"`            // that it goes through
	Beside      bool         `json:"beside,omitempty"`           // it goes beside the part before it
}

// Planned is how long the part was planned to take: by the plan's estimate, else by the documents; 0 when neither tells.
func (p PlannedPart) Planned() time.Duration {
	if d := (core.PlanStep{Estimate: p.Estimate}).Allows(); d > 0 {
		return d
	}
	return time.Duration(p.Documents * float64(time.Second))
}

// PlanStepRecord is a step of the update plan as it came into a state. The record's From and To are the states.
type PlanStepRecord struct {
	Plan    string    `json:"plan"` // its UID
	ID      string    `json:"id"`   // as in the PlannedPart
	Message string    `json:"message,omitempty"`
	Started time.Time `json:"startedAt,omitzero"` // by the plan
	Ended   time.Time `json:"endedAt,omitzero"`   // by the plan: when it started, and its duration
}

// ForecastRecord is until when the update was forecast to take.
type ForecastRecord struct {
	Update string         `json:"update"` // the ClusterMaintenanceRequest's UID
	Moment string         `json:"moment"` // when it was given: ForecastFirst, ForecastPace, or the ID of the part that began then
	Whole  ForecastEnd    `json:"whole,omitzero"`
	Nodes  ForecastEnd    `json:"nodes,omitzero"` // when all nodes are through
	Parts  []ForecastPart `json:"parts,omitempty"`
}

// The moments of a forecast that are not the beginning of a part.
const (
	ForecastFirst = "first" // as soon as the update and the cluster were known
	ForecastPace  = "pace"  // as soon as the nodes' pace was known
)

// ForecastPart is until when a part of the update was forecast to take.
type ForecastPart struct {
	ID string `json:"id"`
	ForecastEnd
}

// ForecastEnd is a moment that was forecast.
type ForecastEnd struct {
	End       time.Time `json:"end"`
	Spread    float64   `json:"spreadSeconds,omitempty"`    // ±, by how much nodes and steps differed
	Unlearned float64   `json:"unlearnedSeconds,omitempty"` // how much of it rests on the documents' or the plan's numbers
}

// ForetoldRecord is an end that was forecast, and when it came.
type ForetoldRecord struct {
	Update string            `json:"update"` // the ClusterMaintenanceRequest's UID
	Kind   core.ForetoldKind `json:"kind"`
	ID     string            `json:"id,omitempty"` // of the part
	Title  string            `json:"title,omitempty"`
	Given  time.Time         `json:"given"`
	ForecastEnd
	Came  time.Time `json:"came"`
	Began time.Time `json:"began,omitzero"` // the part; zero where nobody knows, and for what is none
}

// key tells what it is of.
func (r *ForetoldRecord) key() string { return string(r.Kind) + " " + r.ID + " of " + r.Update }

// kept is what the History keeps of it.
func (r *ForetoldRecord) kept() core.Foretold {
	of := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	return core.Foretold{Update: r.Update, Kind: r.Kind, ID: r.ID, Title: r.Title, Began: r.Began, Given: r.Given, End: r.End,
		Spread: of(r.Spread), Unlearned: of(r.Unlearned), Came: r.Came}
}

// EntryEvent is what becomes of an entry.
type EntryEvent string

// The events of an entry.
const (
	EntryCame    EntryEvent = "came"
	EntryWorse   EntryEvent = "worse"   // it is more severe than before
	EntryBetter  EntryEvent = "better"  // it is less severe than before
	EntrySeenTo  EntryEvent = "seen to" // an operation about it began
	EntrySettled EntryEvent = "settled" // it is there no more
)

// SeenTo is an operation that was begun about an entry while it was there.
type SeenTo struct {
	Operation string `json:"operation"`
	By        string `json:"by"` // who confirmed it
	Title     string `json:"title,omitempty"`
}
