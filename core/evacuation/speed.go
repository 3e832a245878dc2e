package evacuation

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
)

// MigrationSpeed is how fast this cloud live-migrates, by the migrations seen so far; zero when none was seen.
type MigrationSpeed struct {
	Observations int     `json:"observations"`
	MiBPerSecond float64 `json:"mibPerSecond,omitempty"`     // of memory, the median
	Slow         float64 `json:"mibPerSecondSlow,omitempty"` // the slowest quarter is no faster
}

// migrationOverhead is what each migration takes besides its transfer: the OpenStack controller pauses between its looks
// (docs/mosk.md#migration-loop).
const migrationOverhead = 10 * time.Second

// speedOf measures completed live migrations: those in Nova's records, and those of Lockstep that Nova has forgotten. The rate is the
// instance's memory over the time from the request to the end.
func speedOf(s *core.Snapshot) MigrationSpeed {
	var rates []float64
	observe := func(in *core.Instance, memory *core.Progress, took time.Duration) {
		if took < time.Second {
			return
		}
		mib := 0.0
		switch {
		case memory != nil && memory.Total > 0:
			mib = float64(memory.Total) / (1 << 20)
		case in != nil:
			mib = float64(in.Flavor().RAMMiB)
		}
		if mib > 0 {
			rates = append(rates, mib/took.Seconds())
		}
	}
	for id, records := range s.Migrations {
		for _, m := range records {
			if m.Type == core.MigrationLive && m.Status == "completed" {
				observe(s.Instances.At(id), m.Memory, m.Updated.Sub(m.Created))
			}
		}
	}
	for i := range s.Operations {
		op := &s.Operations[i]
		alone := op.State == core.OperationDone && op.Is(core.IntentLiveMigrate)
		if alone && len(s.Migrations[op.Instance]) == 0 {
			observe(s.Instances.At(op.Instance), nil, op.Ended.Sub(op.Started))
		}
		if !op.Is(core.IntentLiveMigrateAll) {
			continue
		}
		for _, it := range op.Items {
			if it.State == core.OperationDone && len(s.Migrations[it.Instance]) == 0 {
				observe(s.Instances.At(it.Instance), nil, it.Ended.Sub(it.Started))
			}
		}
	}
	if len(rates) == 0 {
		return MigrationSpeed{}
	}
	slices.Sort(rates)
	return MigrationSpeed{Observations: len(rates), MiBPerSecond: rates[len(rates)/2], Slow: rates[len(rates)/4]}
}

// of is how long an instance with mib of memory takes, usually and at the slow end; false when the speed or the memory is not known.
func (m MigrationSpeed) of(mib int) (usual, slow Span, ok bool) {
	if m.Observations == 0 || mib <= 0 {
		return 0, 0, false
	}
	take := func(rate float64) Span {
		return Span((time.Duration(float64(mib)/rate*float64(time.Second)) + migrationOverhead).Round(time.Second))
	}
	return take(m.MiBPerSecond), take(m.Slow), true
}

// NodePace is how long whole maintenances of compute nodes took here, with update and reboot.
type NodePace struct {
	Rounds int  `json:"rounds"`
	Middle Span `json:"medianSeconds"`
}

// nodePaceOf is the pace of the rounds in the journal that were seen to end; nil when there are fewer than two.
func nodePaceOf(s *core.Snapshot) *NodePace {
	var ended []core.Round
	for _, n := range s.Nodes {
		r := s.History.Rounds[n.UID]
		if _, known := r.Took(); known && r.OfUpdate() && n.Is(core.RoleCompute) {
			ended = append(ended, r)
		}
	}
	p, ok := progress.PaceOf(ended)
	if !ok {
		return nil
	}
	return &NodePace{Rounds: len(ended), Middle: Span(p.Middle)}
}

// pace is how many instances are moved off a node at the same time: the OpenStack controller's instance_migrate_concurrency, which is 1
// unless it was set (docs/mosk.md#settings) and which no API shows; or Settings.MigrateAtOnce, where Lockstep plays the controller.
func pace(s *core.Snapshot, node string) int {
	if progress.PlaysOn(s, core.ControllerOpenStack, node) {
		return max(s.Settings.MigrateAtOnce, 1)
	}
	return 1
}

// makespan is how long moves with these times take, atOnce at a time: the longest first, each when a place is free.
func makespan(times []Span, atOnce int) Span {
	times = slices.Clone(times)
	slices.SortFunc(times, func(a, b Span) int { return int(min(max(b-a, -1), 1)) })
	places := make([]Span, max(atOnce, 1))
	for _, t := range times {
		places[slices.Index(places, slices.Min(places))] += t
	}
	return slices.Max(places)
}

// paceText says how many instances are moved at the same time on a node, and by which setting.
func (p *Forecast) paceText() string {
	controller, own := false, 0
	for _, n := range p.Nodes {
		if n.ByLockstep {
			own = n.AtOnce
		} else {
			controller = true
		}
	}
	text := "one at a time on a node: the OpenStack controller's instance_migrate_concurrency is 1 unless it was set"
	if own == 0 {
		return text
	}
	by := fmt.Sprintf("%d at a time on a node, as Lockstep's migrateAtOnce says", own)
	if own == 1 {
		by = "one at a time on a node, as Lockstep's migrateAtOnce says"
	}
	if controller {
		return by + " where it plays the controller; elsewhere " + text
	}
	return by
}
