package evacuation

import (
	"encoding/json"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// Forecast is what the maintenance of nodes will do to the instances on them. It moves nothing. JSON() writes it for scripts.
type Forecast struct {
	Cluster string    `json:"cluster"`
	Made    time.Time `json:"made"` // by the wall clock
	AsOf    time.Time `json:"asOf"` // the cluster's time of the facts
	Whole   bool      `json:"whole"`
	AtOnce  int       `json:"nodesAtOnce"`

	Nodes     []NodeForecast `json:"nodes"` // in the order of their maintenance
	Counts    Counts         `json:"counts"`
	Speed     MigrationSpeed `json:"speed"`
	Time      *Span          `json:"evacuationSeconds"` // of all waves; nil when no speed is known
	Slow      *Span          `json:"evacuationSecondsSlow"`
	Rounds    *NodePace      `json:"nodePace,omitempty"`  // of whole maintenances; nil when too few were seen
	Unknown   []Unknown      `json:"unknown"`             // what could not be checked
	Closed    []ClosedHost   `json:"closedHosts"`         // hosts that take nothing
	LeftOut   []string       `json:"nodesDone,omitempty"` // labels of nodes that the update is through with
	Otherwise []string       `json:"notes"`               // what no API tells
}

// NodeForecast is the forecast for one node and the instances on it when its turn comes.
type NodeForecast struct {
	Node  string             `json:"node"`
	Label string             `json:"label"`
	Zone  string             `json:"zone"`
	Mode  core.MigrationMode `json:"mode"`
	Wave  int                `json:"wave"` // nodes of one wave are in maintenance at the same time; from 1

	Instances  []InstanceForecast `json:"instances"` // what needs a person first
	Counts     Counts             `json:"counts"`
	AtOnce     int                `json:"instancesAtOnce"`           // how many are moved at the same time
	ByLockstep bool               `json:"movedByLockstep,omitempty"` // Lockstep plays the OpenStack controller there
	Time       *Span              `json:"evacuationSeconds"`
	Slow       *Span              `json:"evacuationSecondsSlow"`
	Spare      *SpareHost         `json:"oneMoreHostDown,omitempty"` // nil when the room is not known, or nothing finds any
	Notes      []string           `json:"notes,omitempty"`
}

// Counts counts instances by their fates.
type Counts struct {
	Instances int `json:"instances"`
	Blocks    int `json:"blocks"`
	MayFail   int `json:"mayFail"`
	Unknown   int `json:"notKnown"`
	Moves     int `json:"moves"`
	GoesDown  int `json:"goesDown"`
	Stays     int `json:"stays"`
}

// SpareHost says whether what leaves a node still finds room when one more host is lost: the one with the most free memory.
type SpareHost struct {
	Host string `json:"host"` // the label of the host that is taken for lost
	Fits bool   `json:"fits"`
	Left int    `json:"withoutRoom"` // how many instances find room with it, and none without it
}

// ClosedHost is a host to which nothing is scheduled.
type ClosedHost struct {
	Host string `json:"host"` // its label
	Why  string `json:"why"`
}

// Unknown is one thing that the forecast could not check.
type Unknown struct {
	What  string `json:"what"`
	Why   string `json:"why"`
	Means string `json:"means"` // what can be wrong with the forecast because of it
}

// Fate is what becomes of an instance when its host goes into maintenance.
type Fate string

// The fates, the worst first.
const (
	FateBlocks  Fate = "blocks"    // it holds the node's lock until somebody acts
	FateMayFail Fate = "may fail"  // it is to move, and there is a known reason why that may not work, or may hurt
	FateUnknown Fate = "not known" // it is to move, and what would stop it could not be checked
	FateMoves   Fate = "moves"     // it is live-migrated
	FateDown    Fate = "goes down" // it goes down with the host, and comes back with it
	FateStays   Fate = "stays"     // nothing runs that the host could take down
)

// fateRank sorts instances.
var fateRank = map[Fate]int{FateBlocks: 0, FateMayFail: 1, FateUnknown: 2, FateMoves: 3, FateDown: 4, FateStays: 5}

// InstanceForecast is the forecast for one instance on one node.
type InstanceForecast struct {
	ID      string                 `json:"id"`
	Name    string                 `json:"name"`
	Project string                 `json:"project"`
	Status  string                 `json:"status"`
	Flavor  string                 `json:"flavor"`
	RAMMiB  int                    `json:"memoryMiB"`
	Locked  bool                   `json:"locked,omitempty"`
	Action  core.MaintenanceAction `json:"action"`
	Origin  core.ActionOrigin      `json:"origin"`
	Fate    Fate                   `json:"fate"`
	Target  string                 `json:"target,omitempty"`      // label of the host that has room for it in this forecast
	From    string                 `json:"arrivedFrom,omitempty"` // label of the node from which it came earlier in this forecast
	Time    *Span                  `json:"seconds,omitempty"`
	Reasons []Reason               `json:"reasons"` // the worst first; of one that just moves they may be empty
}

// Reason is why an instance has its fate.
type Reason struct {
	Kind   ReasonKind `json:"kind"`
	Level  Level      `json:"level"`
	Text   string     `json:"text"`
	Remedy string     `json:"remedy,omitempty"`
}

// Level is how bad a reason is.
type Level string

// The levels, the worst first.
const (
	LevelBlocks  Level = "blocks"
	LevelRisk    Level = "risk"
	LevelUnknown Level = "unknown"
	LevelNote    Level = "note"
)

var levelRank = map[Level]int{LevelBlocks: 0, LevelRisk: 1, LevelUnknown: 2, LevelNote: 3}

// fateOfLevel is what a reason of a level makes of an instance that is to move.
var fateOfLevel = map[Level]Fate{LevelBlocks: FateBlocks, LevelRisk: FateMayFail, LevelUnknown: FateUnknown, LevelNote: FateMoves}

// Span is a duration that JSON has in whole seconds.
type Span time.Duration

// MarshalJSON writes whole seconds.
func (s Span) MarshalJSON() ([]byte, error) { return json.Marshal(int64(time.Duration(s).Seconds())) }

// String is "12 m", "2 h 41 m".
func (s Span) String() string { return wording.SpanText(time.Duration(s)) }

// Clear tells whether nothing in the forecast needs a person: everything moves, goes down or stays by the rules, and everything could
// be checked.
func (p *Forecast) Clear() bool {
	return p.Counts.Blocks+p.Counts.MayFail+p.Counts.Unknown+len(p.Unknown) == 0
}

func (c *Counts) add(f Fate) {
	c.Instances++
	switch f {
	case FateBlocks:
		c.Blocks++
	case FateMayFail:
		c.MayFail++
	case FateUnknown:
		c.Unknown++
	case FateMoves:
		c.Moves++
	case FateDown:
		c.GoesDown++
	case FateStays:
		c.Stays++
	}
}
