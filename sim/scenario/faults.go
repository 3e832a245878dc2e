package scenario

import (
	"lockstep/sim/fault"
)

// Fault is trouble of a server of the cloud during the scenario.
type Fault struct {
	What  string   `json:"what"`  // in the form of fault.Parse: compute:503,everyone
	From  Duration `json:"from"`  // after the start, on the cloud's clock
	Until Duration `json:"until"` // after the start; empty: until it is switched off by hand
}

// PlannedFaults returns the faults of the scenario, without invalid ones.
func (s *Scenario) PlannedFaults() []fault.Planned {
	var plan []fault.Planned
	for _, f := range s.Faults {
		if setting, err := fault.Parse(f.What); err == nil {
			plan = append(plan, fault.Planned{Setting: setting, From: f.From.Of(), Until: f.Until.Of()})
		}
	}
	return plan
}

func (s *Scenario) checkFaults(check func(bool, string, ...any)) {
	for _, f := range s.Faults {
		setting, err := fault.Parse(f.What)
		check(err == nil, "faults: %v", err)
		check(setting.For == 0 && setting.ForReal == 0, "faults: %s: from and until say how long it lasts", f.What)
		check(f.From >= 0 && (f.Until == 0 || f.Until > f.From), "faults: %s: until lies before from", f.What)
	}
}
