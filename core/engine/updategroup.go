package engine

import (
	"context"
	"fmt"

	"lockstep/core"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// restingGroups asks the server whether what LCM does lets update groups be changed.
type restingGroups struct {
	management ManagementChecker
	now        *core.Management // as it was last seen; nil when nothing was
}

func newRestingGroups(e *Engine) restingGroups {
	return restingGroups{e.cfg.Management, e.Snapshot().Management}
}

// plan reads the cluster's update plan; nil when it has none.
func (w restingGroups) plan(ctx context.Context) (*core.UpdatePlan, error) {
	if w.now.Plan() == nil {
		return nil, nil
	}
	return readManaged[*core.UpdatePlan](ctx, w.management, w.now.Plan().Ref())
}

// check refuses when LCM works on one of the groups, or is about to. It returns the plan that it read.
func (w restingGroups) check(ctx context.Context, whileHeld bool, groups ...string) (*core.UpdatePlan, error) {
	if w.now == nil || w.now.Cluster == nil {
		return nil, refuse("the cluster is not known any more")
	}
	cluster, err := readManaged[*core.ManagedCluster](ctx, w.management, w.now.Cluster.Ref())
	if err != nil {
		return nil, err
	}
	plan, err := w.plan(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range groups {
		if why, _ := step.GroupTaken(cluster, plan, name, whileHeld); why != "" {
			return nil, refuse("%s", why)
		}
	}
	return plan, nil
}

// groupChecker checks what an UpdateGroup says, and whether there is one.
type groupChecker struct {
	restingGroups
	change core.SetGroup
}

func checkGroup(e *Engine, _ core.Step, c core.SetGroup) checker {
	return &groupChecker{newRestingGroups(e), c}
}

// group is the group of the name on the server, whatever its UID; nil when there is none.
func (w *groupChecker) group(ctx context.Context) (*core.MachineGroup, error) {
	ref := w.change.Group
	ref.UID = ""
	g, err := readManaged[*core.MachineGroup](ctx, w.management, ref)
	if notThere(err) {
		return nil, nil
	}
	return g, err
}

// check asks the server whether the group is as it was, whether LCM lets it be changed, and whether a group to be removed is still empty.
func (w *groupChecker) check(ctx context.Context) error {
	g, err := w.group(ctx)
	c := w.change
	switch {
	case err != nil:
		return err
	case (g == nil) != (c.Old == nil) || g != nil && g.UID != c.Group.UID:
		return refuse("the update group was made or removed meanwhile")
	case g != nil && g.Settings() != *c.Old:
		return refuse("the update group says %s now", settingsText(g.Settings()))
	}
	moves := c.Old == nil || c.New == nil || c.Old.Index != c.New.Index
	plan, err := w.restingGroups.check(ctx, !moves, c.Group.Name)
	if err != nil {
		return err
	}
	if c.New != nil && moves {
		if why := step.IndexTaken(plan, w.now.Groups, c.Group.Name, c.New.Index); why != "" {
			return refuse("%s", why)
		}
	}
	if c.New != nil {
		return nil
	}
	in, err := w.management.MachinesInGroup(ctx, w.now.Cluster.Ref(), c.Group.Name)
	switch {
	case err != nil:
		return err
	case len(in) > 0:
		return refuse("machines belong to it: %s", wording.OneLine(wording.Some(in, 6), 200))
	}
	return nil
}

func (w *groupChecker) outcome(ctx context.Context, _ sent) outcome {
	g, err := w.group(ctx)
	switch c := w.change; {
	case err != nil:
		return outcome{err: err}
	case c.New == nil && g == nil:
		return outcome{state: core.OperationDone, text: "it is removed"}
	case c.New != nil && g != nil && g.Settings() == *c.New:
		return outcome{state: core.OperationDone, text: "the group says " + settingsText(*c.New)}
	case g == nil:
		return outcome{state: core.OperationVerifying, text: "there is no such group yet"}
	}
	return outcome{state: core.OperationVerifying, text: "the group says " + settingsText(g.Settings())}
}

func (w *groupChecker) values() (string, string) {
	return groupValue(w.change.Group.Name, w.change.Old), groupValue(w.change.Group.Name, w.change.New)
}

func groupValue(name string, s *core.GroupSettings) string {
	if s == nil {
		return wording.OneLine(name, 64) + ": none"
	}
	return wording.OneLine(name, 64) + ": " + settingsText(*s)
}

func settingsText(s core.GroupSettings) string {
	return fmt.Sprintf("index=%d concurrentUpdates=%d rebootIfUpdateRequires=%t", s.Index, s.Concurrent, s.Reboot)
}

// machineGroupChecker checks to which update group a machine belongs.
type machineGroupChecker struct {
	restingGroups
	change core.SetMachineGroup
}

func checkMachineGroup(e *Engine, _ core.Step, c core.SetMachineGroup) checker {
	return &machineGroupChecker{newRestingGroups(e), c}
}

// check asks the server whether the machine belongs where it did and is not being worked on, and whether there is still a group to move it
// into.
func (w *machineGroupChecker) check(ctx context.Context) error {
	o, err := restingMachine(ctx, w.management, w.change.Machine)
	switch {
	case err != nil:
		return err
	case o.Control:
		return refuse("the machine is of the control plane now")
	case o.Group != w.change.Old:
		return refuse("the machine's group is %s now", wording.TextOf(wording.OneLine(o.Group, 60), "not set"))
	}
	if w.now == nil {
		return refuse("the cluster is not known any more")
	}
	if _, err := w.restingGroups.check(ctx, false, w.now.GroupNameOf(o), w.change.New); err != nil {
		return err
	}
	_, err = readManaged[*core.MachineGroup](ctx, w.management, core.Ref{Kind: core.KindUpdateGroup, Namespace: w.change.Machine.Namespace,
		Name: w.change.New})
	if notThere(err) {
		return refuse("there is no update group %s any more", wording.OneLine(w.change.New, 60))
	}
	return err
}

// restingMachine reads a machine, and refuses when it is in maintenance mode, on its way there, or being deleted.
func restingMachine(ctx context.Context, m ManagementChecker, ref core.Ref) (*core.ManagedMachine, error) {
	o, err := readManaged[*core.ManagedMachine](ctx, m, ref)
	switch {
	case err != nil:
		return nil, err
	case o.Wanted() || o.InMaintenance:
		return nil, refuse("the machine is in maintenance mode, or on its way")
	case !o.Deleting.IsZero():
		return nil, refuse("the machine is being deleted")
	}
	return o, nil
}

func (w *machineGroupChecker) outcome(ctx context.Context, _ sent) outcome {
	o, err := readManaged[*core.ManagedMachine](ctx, w.management, w.change.Machine)
	switch {
	case err != nil:
		return outcome{err: err}
	case o.Group != w.change.New:
		return outcome{state: core.OperationVerifying, text: "its group is " + wording.TextOf(wording.OneLine(o.Group, 60), "not set")}
	}
	return outcome{state: core.OperationDone, text: "it is in group " + wording.OneLine(o.Group, 60)}
}

func (w *machineGroupChecker) values() (string, string) {
	return "group " + wording.TextOf(w.change.Old, "not set"), "group " + w.change.New
}

func machineGroupText(c core.SetMachineGroup) string {
	return "group " + c.New + " instead of " + wording.TextOf(c.Old, "none")
}

// machineIsInGroup says that the machine is in the group already, or does not exist any more.
func machineIsInGroup(s *core.Snapshot, c core.SetMachineGroup) string {
	v := s.Management.MachineCalled(c.Machine.Name)
	switch {
	case v == nil || v.Machine == nil || v.Machine.UID != c.Machine.UID:
		return "the machine does not exist any more"
	case v.Machine.Group == c.New:
		return "it is in the group already"
	}
	return ""
}

// upgradeIndexChecker checks the upgrade index of a machine.
type upgradeIndexChecker struct {
	restingGroups
	change core.SetUpgradeIndex
}

func checkUpgradeIndex(e *Engine, _ core.Step, c core.SetUpgradeIndex) checker {
	return &upgradeIndexChecker{newRestingGroups(e), c}
}

func (w *upgradeIndexChecker) check(ctx context.Context) error {
	o, err := restingMachine(ctx, w.management, w.change.Machine)
	switch {
	case err != nil:
		return err
	case !sameIndex(o.IndexAsked, w.change.Old):
		return refuse("the machine's upgrade index is %s now", indexValue(o.IndexAsked))
	case w.now == nil:
		return refuse("the cluster is not known any more")
	}
	_, err = w.restingGroups.check(ctx, false, w.now.GroupNameOf(o))
	return err
}

func (w *upgradeIndexChecker) outcome(ctx context.Context, _ sent) outcome {
	o, err := readManaged[*core.ManagedMachine](ctx, w.management, w.change.Machine)
	switch {
	case err != nil:
		return outcome{err: err}
	case w.change.New == nil && o.IndexAsked != nil && w.change.Old != nil && *o.IndexAsked != *w.change.Old:
		return outcome{state: core.OperationDone, text: "it was removed; LCM has given the machine the index " + indexValue(o.IndexAsked)}
	case !sameIndex(o.IndexAsked, w.change.New):
		return outcome{state: core.OperationVerifying, text: "its upgrade index is " + indexValue(o.IndexAsked)}
	}
	return outcome{state: core.OperationDone, text: "its upgrade index is " + indexValue(o.IndexAsked)}
}

func (w *upgradeIndexChecker) values() (string, string) {
	return "upgradeIndex " + indexValue(w.change.Old), "upgradeIndex " + indexValue(w.change.New)
}

func sameIndex(a, b *int) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func indexValue(n *int) string {
	if n == nil {
		return "not set"
	}
	return wording.Itoa(*n)
}
