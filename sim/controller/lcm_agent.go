package controller

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Values of LCMMachine.status.state during an update (docs/mosk.md#lcmmachine).
const (
	machinePrepare = "Prepare"
	machineDeploy  = "Deploy"
	machineUpgrade = "Upgrade"
	machineReboot  = "Reboot"
	machineReady   = "Ready"
)

// stateItem is one item that a machine's LCM agent runs in an update.
type stateItem struct {
	name, runner, phase string
	state               string  // of the LCMMachine while the item runs
	share               float64 // of Timing.Update
}

// stateItems are the items of an agent, in order. The public code shows their form, not their names.
var stateItems = []stateItem{
	{"download-images", "downloader", "prepare", machinePrepare, 0.15},
	{"host-packages", "ansible", "prepare", machinePrepare, 0.15},
	{"host-os", "ansible", "deploy", machineDeploy, 0.35},
	{"container-runtime", "ansible", "deploy", machineDeploy, 0.15},
	{"kubernetes", "bash", "deploy", machineUpgrade, 0.2},
}

// StateItems returns the names of the items that an LCM agent runs in an update, in order.
func StateItems() []string {
	var names []string
	for _, item := range stateItems {
		names = append(names, item.name)
	}
	return names
}

// failingAttempts is how often a state item or a drain fails before LCM reports that it is stuck.
const failingAttempts = 3

// takes is how long an item runs on a machine. The seed varies it by up to a fifth; the same seed gives the same time.
func (item stateItem) takes(seed uint64, machine string, update time.Duration) time.Duration {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%s", seed, machine, item.name)
	variation := 0.8 + 0.4*float64(h.Sum64()%1000)/999
	return time.Duration(float64(update) * item.share * variation)
}

// itemSpecs returns the items in the form of an LCMMachine.
func itemSpecs(version string) []any {
	var specs []any
	for _, item := range stateItems {
		specs = append(specs, map[string]any{"name": item.name, "version": version, "runner": item.runner, "phase": item.phase})
	}
	return specs
}

// hash tells the items of different releases apart.
func (item stateItem) hash(release string) string { return hashID(item.name, release) }

// runAgent brings a machine's LCM agent to the target and runs the state items that it has not yet run for the target.
// An item that fails is retried without limit.
func (l *lcm) runAgent(ctx context.Context, node string) error {
	m := l.management
	machine := m.machineOf(node)
	if err := m.upgradeAgent(ctx, machine); err != nil {
		return err
	}
	for i, item := range stateItems {
		if err := m.setMachine(ctx, node, map[string]any{"state": item.state}); err != nil {
			return err
		}
		if err := l.runItem(ctx, machine, item); err != nil {
			return err
		}
		if last := i+1 == len(stateItems) || stateItems[i+1].phase != item.phase; last {
			stage := stagePrepare
			if item.phase == "deploy" {
				stage = stageDeploy
			}
			if err := m.stage(ctx, providerMachineUps, machine, stage); err != nil {
				return err
			}
		}
	}
	return nil
}

// upgradeAgent replaces the LCM agent of a machine.
func (m *management) upgradeAgent(ctx context.Context, machine string) error {
	version := agentVersion(m.Version)
	object := m.last(lcmMachines, machine)
	if object == nil || text(object, "status", "agentVersion") == version {
		return nil
	}
	begun := m.now()
	if err := m.clock.Sleep(ctx, m.timing.AgentUpgrade); err != nil {
		return err
	}
	if err := m.stage(ctx, machineAgents, machine, stageAgent); err != nil {
		return err
	}
	// Last, because it marks the upgrade as done.
	return m.patchStatus(ctx, lcmMachines, machine, map[string]any{
		"agentVersion":          version,
		"lcmAgentUpgradeStatus": map[string]any{"error": "", "attempt": 1, "startedAt": begun, "finishedAt": m.now()},
	})
}

// agentVersion is the version of the LCM agent that comes with a release.
func agentVersion(release string) string { return "1.43.0-" + release }

// runItem runs one item until it succeeds. A restarted LCM continues from the item's state in the LCMMachine.
func (l *lcm) runItem(ctx context.Context, machine string, item stateItem) error {
	m := l.management
	blocked := "item/" + machine
	defer m.block(blocked, "")
	for {
		object, err := m.objects(lcmMachines).Get(ctx, machine, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("read LCMMachine %s: %w", machine, err)
		}
		status, _, _ := unstructured.NestedMap(object.Object, "status", "stateItemStatuses", item.name)
		code, _ := status["exitCode"].(int64)
		attempt, _ := status["attempt"].(int64)
		started := timeOf(status["startedAt"])
		finished := timeOf(status["finishedAt"])
		same := status["hash"] == item.hash(m.Target)
		over := !finished.IsZero() && !finished.Before(started)
		switch {
		case same && over && code == 0:
			return nil
		case same && over: // it failed: try again
			if err := m.clock.SleepUntil(ctx, finished.Add(m.timing.ItemRetry)); err != nil {
				return err
			}
			attempt++
		case !same:
			attempt = 1
		}
		if !same || over {
			started = m.clock.Now()
			fields := map[string]any{"hash": item.hash(m.Target), "attempt": attempt, "startedAt": started.Format(time.RFC3339), "finishedAt": nil}
			if !same {
				fields["exitCode"], fields["message"] = nil, nil
			}
			if err := m.setItem(ctx, machine, item, fields); err != nil {
				return err
			}
			m.log.Info(fmt.Sprintf("LCMMachine %s/%s: state item %s of phase %s begins, attempt %d", m.Project, machine, item.name, item.phase,
				attempt))
		}
		failure, fails := m.fails(machine, item.name, attempt)
		takes := item.takes(l.seed, machine, l.timing.Update)
		if fails {
			takes /= 4
		}
		if err := m.clock.SleepUntil(ctx, started.Add(takes)); err != nil {
			return err
		}
		fields := map[string]any{"exitCode": 0, "message": "", "finishedAt": m.now()}
		if !fails {
			m.log.Info(fmt.Sprintf("LCMMachine %s/%s: state item %s of phase %s is done", m.Project, machine, item.name, item.phase))
		} else {
			m.log.Error(fmt.Sprintf("LCMMachine %s/%s: state item %s of phase %s failed, attempt %d, exit code %d: %s", m.Project, machine,
				item.name, item.phase, attempt, failure.ExitCode, failure.Message))
			fields["exitCode"], fields["message"] = failure.ExitCode, failure.Message
			if attempt >= failingAttempts {
				m.block(blocked, fmt.Sprintf("machine %s: state item %s of phase %s failed %d times, exit code %d: %s",
					machine, item.name, item.phase, attempt, failure.ExitCode, failure.Message))
			}
		}
		if err := m.setItem(ctx, machine, item, fields); err != nil {
			return err
		}
	}
}

func (m *management) setItem(ctx context.Context, machine string, item stateItem, fields map[string]any) error {
	return m.patchStatus(ctx, lcmMachines, machine, map[string]any{"stateItemStatuses": map[string]any{item.name: fields}})
}

// fails tells whether an attempt of an item fails, and how.
func (m *management) fails(machine, item string, attempt int64) (ItemFailure, bool) {
	for _, f := range m.Failures {
		if f.Machine == machine && f.Item == item && (f.Times < 0 || attempt <= int64(f.Times)) {
			return f, true
		}
	}
	return ItemFailure{}, false
}

// timeOf reads a time from an object; zero if it has none.
func timeOf(value any) time.Time {
	written, _ := value.(string)
	t, err := time.Parse(time.RFC3339, written)
	if err != nil {
		return time.Time{}
	}
	return t
}
