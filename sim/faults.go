package sim

import (
	"cmp"
	"log/slog"
	"time"

	"lockstep/sim/kubeapi"
	"lockstep/sim/switchboard"
)

// startFaults sets up the switchboard, with the faults that the options switch on at once and those that the scenario
// schedules.
func (c *Cloud) startFaults(opts Options, seed uint64, start time.Time) error {
	c.Faults = switchboard.New(switchboard.Cloud{
		Clock: c.Clock, Kubernetes: c.Kube, Management: c.Management, OpenStack: c.OpenStack, User: cmp.Or(opts.User, kubeapi.Operator),
		Seed: seed,
	})
	for _, setting := range opts.Faults {
		if err := c.Faults.On(setting); err != nil {
			return err
		}
	}
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c.Faults.Play(start, c.Scenario.PlannedFaults(), log)
	return nil
}
