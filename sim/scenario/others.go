package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Other is a further cluster of the management cluster. Only its records are there, in a project of its own; LCM's part in them is
// played in small. It has no API server of its own.
type Other struct {
	Name    string   `json:"name"`
	Project string   `json:"project"` // default: the name
	Release Change   `json:"release"` // default: the scenario's
	Masters int      `json:"masters"` // default 3
	Workers int      `json:"workers"` // default 9
	State   string   `json:"state"`   // one of OtherStates; default rests
	Done    int      `json:"done"`    // workers at the target
	Begun   Duration `json:"begun"`   // before the start; default 5h
	Every   Duration `json:"every"`   // how long a worker takes; default 20m
	Hidden  bool     `json:"hidden"`  // users may not look into its project
}

// OtherStates are what the update of an Other does: rests (it is up to date), offered, updates (its workers, one by one), waits (the
// workers' step is not commenced), paused (by an alert), stuck (at a drain).
var OtherStates = []string{"rests", "offered", "updates", "waits", "paused", "stuck"}

func (s *Scenario) setOthersDefaults() {
	for i := range s.Management.Others {
		o := &s.Management.Others[i]
		o.Project = cmp.Or(o.Project, o.Name)
		o.Release.From, o.Release.To = cmp.Or(o.Release.From, s.Release.From), cmp.Or(o.Release.To, s.Release.To)
		o.Masters, o.Workers, o.State = cmp.Or(o.Masters, 3), cmp.Or(o.Workers, 9), cmp.Or(o.State, "rests")
		o.Begun, o.Every = cmp.Or(o.Begun, Duration(5*time.Hour)), cmp.Or(o.Every, Duration(20*time.Minute))
	}
}

func (s *Scenario) checkOthers(check func(bool, string, ...any)) {
	projects := map[string]bool{s.Management.Project: true}
	for i, o := range s.Management.Others {
		field := fmt.Sprintf("management.others[%d]", i)
		check(o.Name != "", "%s.name is missing", field)
		check(!projects[o.Project], "%s.project is %q, which is there already", field, o.Project)
		projects[o.Project] = true
		check(slices.Contains(OtherStates, o.State), "%s.state is %q: want one of %v%s", field, o.State, OtherStates,
			suggestion{o.State, OtherStates})
		check(o.Masters > 0 && o.Workers > 0 && o.Done >= 0 && o.Done <= o.Workers, "%s: want masters, workers, and done of them", field)
		check(o.Begun > 0 && o.Every > 0, "%s: begun and every are to be longer than 0", field)
	}
}

// ClusterRelease is the name of the ClusterRelease of a release: mosk-21-0-0-25-2 of 21.0.0+25.2.
func ClusterRelease(release string) string { return clusterRelease(release) }
