package attention

import (
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
)

// ruleRow is what belongs to a rule of attention beside what it finds: what an entry of it rests on, what an operator can do and look
// at by hand, and from which other entries it can follow. The first command is what is tried first.
type ruleRow struct {
	evidence []func(*facts, core.Attention) []core.Evidence
	commands []func(*facts, core.Attention) []core.Command
	causes   []func(*facts, core.Attention) string // the first that names one counts
}

// rows is the table of all rules.
var rows = map[core.AttentionRule]ruleRow{
	// What stops everything.
	core.RuleControllerAway: {evidence: seeing(seenController, seenWaiters, seenImage),
		commands: byHand(scaleUp, atController, playController), causes: from(badRoleLabels)},
	core.RuleRoleLabels: {evidence: seeing(seenController, seenRoleLabels), commands: byHand(atRoleLabels, atController)},
	core.RuleOutage: {evidence: seeing(seenOutage, seenOpenStack), commands: byHand(atOpenStack, atControllerLog),
		causes: from(openStackUnseen)},
	core.RuleSource:  {evidence: seeing(seenSources), commands: byHand(atSources)},
	core.RuleSources: {evidence: seeing(seenSources), commands: byHand(atSources)},

	// Locks.
	core.RuleClusterLock:      {evidence: seeing(seenLock), commands: byHand(atLock)},
	core.RuleClusterLockWaits: {evidence: seeing(seenLock), commands: byHand(atLock), causes: from(controllerIsAway, clusterOutage)},
	core.RuleClusterLockSays:  {evidence: seeing(seenLock), commands: byHand(atLock)},
	core.RuleClusterLockMissing: {evidence: seeing(seenController, seenDeployment), commands: byHand(atClusterLocks, atControllerLog),
		causes: from(controllerIsAway)},
	core.RuleClusterLockLeft: {evidence: seeing(seenLock, seenController), commands: byHand(holdCluster, atLock, atControllerLog)},
	core.RuleLockFailed:      {evidence: seeing(seenLock), commands: byHand(atLock)},
	core.RuleLockState:       {evidence: seeing(seenLock), commands: byHand(atLock)},
	core.RuleOverride:        {evidence: seeing(seenLock), commands: byHand(atLock)},
	core.RuleDeployments:     {evidence: seeing(seenDeployments), commands: byHand(atDeployments, atControllerLog)},
	core.RuleOpenStackStatus: {evidence: seeing(seenDeployment), commands: byHand(atDeployment)},

	// Nodes in maintenance.
	core.RuleNodeWaits: {evidence: seeing(seenNode, seenNodeLock, seenInstances),
		commands: byHand(giveScope, prepareUnlooked, atWhatItSays, atInstances, atRequest, atNodeLock), causes: from(instancesUnseen)},
	core.RuleNodeReturns: {evidence: seeing(seenNode, seenNodeLock, seenService), commands: byHand(atWhatItSays, atPods, atControllerLog),
		causes: from(ownTrouble)},
	core.RuleNodeSlow: {evidence: seeing(seenNode, seenNodeLock, seenPods, seenMachine),
		commands: byHand(atNode, atWhatItSays, atPods, atMachine, atControllerLog), causes: from(ownTrouble, controllerHolds, waitsForPlace)},
	core.RuleNodeSays:        {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atControllerLog, atNodeLock)},
	core.RuleNodeDeferred:    {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atWhatItSays, atNodeLock)},
	core.RuleCephHolds:       {evidence: seeing(seenCeph, seenCephLock), commands: byHand(atCeph)},
	core.RuleQuorumGoes:      {evidence: seeing(seenNode, seenNodeLock), commands: byHand(holdUnreleased, atQuorum)},
	core.RuleControllerFails: {evidence: seeing(seenNode, seenAccount), commands: byHand(atControllerLog, atRequest)},
	core.RuleRequestUnseen: {evidence: seeing(seenNode, seenNodeLock, seenController),
		commands: byHand(holdAgain, atController, atRequest)},
	core.RuleReleasedFull: {evidence: seeing(seenNode, seenNodeLock, seenInstances),
		commands: byHand(holdFull, atInstances, atRequest)},
	core.RuleEndedPods:        {evidence: seeing(seenNode, seenPods), commands: byHand(atEndedPods)},
	core.RuleNoComputeService: {evidence: seeing(seenNode, seenAccount), commands: byHand(atCompute, newComputePod)},
	core.RuleMigrationLong:    {evidence: seeing(seenInstance, seenMigration), commands: byHand(atMigration, atInstance)},
	core.RuleMigrationFailed:  {evidence: seeing(seenInstance, seenMigration), commands: byHand(atMigration, atInstance, atRoom)},
	core.RuleOwnMigration:     {evidence: seeing(seenInstance, seenMigration), commands: byHand(decideMigration, atMigration, atInstance)},
	core.RuleInstanceNotify:   {evidence: seeing(seenInstance), commands: byHand(atInstance)},
	core.RuleInstanceStranded: {evidence: seeing(seenInstance, seenMigration), commands: byHand(atInstance)},
	core.RuleInstanceTags:     {evidence: seeing(seenInstance), commands: byHand(atTags, atInstance)},

	// Nodes before and after it.
	core.RuleLockLeft:      {evidence: seeing(seenNode, seenNodeLock, seenService), commands: byHand(holdAgain, atNodeLock)},
	core.RuleLockStuck:     {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atNodeLock, giveLabels)},
	core.RuleRoleless:      {evidence: seeing(seenNode, seenService), commands: byHand(giveLabels, atLabels)},
	core.RuleModeElsewhere: {evidence: seeing(seenNode, seenMode), commands: byHand(holdByOwnLock, atAnnotations)},
	core.RuleStaleInner:    {evidence: seeing(seenNode, seenNodeLock, seenHeldUp), commands: byHand(clearInner, atOthers, atControllerLog)},
	core.RuleMode:          {evidence: seeing(seenNode, seenMode), commands: byHand(dropMode, atAnnotations)},
	core.RuleAttempts:      {evidence: seeing(seenNode, seenMode), commands: byHand(dropAttempts, atAnnotations)},
	core.RuleNoLock: {evidence: seeing(seenNode, seenController), commands: byHand(atLabels, atNodeLog),
		causes: from(controllerIsAway)},
	core.RuleNoNode:         {evidence: seeing(seenLocks, seenNodeLock), commands: byHand(atLocksOfNode, atNodes)},
	core.RuleNodeRemoval:    {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atWhatItSays, atRemoval, atInstances)},
	core.RuleRequests:       {evidence: seeing(seenNode), commands: byHand(atRequests)},
	core.RuleAnnotationLeft: {evidence: seeing(seenNode, seenMode), commands: byHand(putModeBack, atAnnotations)},
	core.RuleReturnedDown: {evidence: seeing(seenNode, seenService, seenNodeLock),
		commands: byHand(atComputeIfDown, atAgentsIfDown, atPods)},
	core.RuleNodeDown:    {evidence: seeing(seenNode, seenService, seenMachine), commands: byHand(atNode, atInstances, atMachine)},
	core.RuleComputeLeft: {evidence: seeing(seenService), commands: byHand(enableCompute, atCompute)},
	core.RuleVolumesElsewhere: {evidence: seeing(seenNode, seenRemoteUsers, seenVolumeServices),
		commands: byHand(stopRemoteUsers, atVolumeServices)},
	core.RuleVolumesLeft: {evidence: seeing(seenVolumeServices), commands: byHand(enableVolumes, atVolumeServices)},
	core.RuleTagsLeft:    {evidence: seeing(seenInstance), commands: byHand(atTags, putTagsBack)},
	core.RuleWillHold:    {evidence: seeing(seenNode, seenInstances), commands: byHand(atInstances)},

	// LCM and the update.
	core.RuleDrainBlocked: {evidence: seeing(seenMachine, seenDrains), commands: byHand(atBlockingPod, atDrains)},
	core.RuleDrainWaits: {evidence: seeing(seenMachine, seenDrains), commands: byHand(atDrains, atLocksOfNode, atLCM),
		causes: from(ownLockHolds)},
	core.RuleStateItem:      {evidence: seeing(seenMachine, seenItem), commands: byHand(atMachine, atNode)},
	core.RuleDrainError:     {evidence: seeing(seenMachine, seenDrains), commands: byHand(atDrains, atMachine)},
	core.RuleSwarmError:     {evidence: seeing(seenMachine, seenDrains), commands: byHand(atDrains, atMachine)},
	core.RuleAgentError:     {evidence: seeing(seenMachine), commands: byHand(atMachine, atNode)},
	core.RuleRebootError:    {evidence: seeing(seenMachine), commands: byHand(atMachine, atNode)},
	core.RulePlanStuck:      {evidence: seeing(seenPlan), commands: byHand(atPlan, atDrainsAll, atLCM), causes: from(holdsPlanStep)},
	core.RulePlanStatus:     {evidence: seeing(seenPlan), commands: byHand(atPlan, atDrainsAll, atLCM)},
	core.RulePlanWaits:      {evidence: seeing(seenPlan), commands: byHand(commenceNext, atPlan)},
	core.RuleAutoPause:      {evidence: seeing(seenPause, seenPlan), commands: byHand(atPause, commencePaused, atPlan)},
	core.RuleAutoPauseError: {evidence: seeing(seenPause), commands: byHand(atPause, atPlan)},
	core.RuleLCMStuck:       {evidence: seeing(seenLCM), commands: byHand(atLCMCluster, atDrainsAll, atLCM), causes: from(holdsLCM)},
	core.RulePhase: {evidence: seeing(seenPhase), commands: byHand(atRequests, atOthers, atClusterLocks),
		causes: from(holdsPhase)},
	core.RuleBetweenReleases:    {evidence: seeing(seenUpdate), commands: byHand(atRequests, atPlan), causes: from(holdsBetween)},
	core.RuleRebootsLeft:        {commands: byHand(atMachines)},
	core.RuleMaintenanceMode:    {evidence: seeing(seenCluster), commands: byHand(atMachines)},
	core.RuleManagementOutdated: {evidence: seeing(seenPlan), commands: byHand(atManagementReleases)},
	core.RuleAfterUpdate:        {evidence: seeing(seenAfter), commands: byHand(atDaemonSets)},
	core.RuleSilenceGone:        {evidence: seeing(seenSilences), commands: byHand(atSilences)},

	// Lockstep itself.
	core.RuleAct:       {evidence: seeing(seenNode, seenAnyLock), commands: byHand(atRequest, atAnyLock)},
	core.RuleOperation: {evidence: seeing(seenOperation), commands: byHand(atOperation)},
	core.RuleDisarmed:  {evidence: seeing(seenWriting), commands: byHand(atLease)},
	core.RulePromise:   {evidence: seeing(seenNote), commands: byHand(doneNote)},
}

func seeing(of ...func(*facts, core.Attention) []core.Evidence) []func(*facts, core.Attention) []core.Evidence {
	return of
}

func byHand(of ...func(*facts, core.Attention) []core.Command) []func(*facts, core.Attention) []core.Command {
	return of
}

func from(of ...func(*facts, core.Attention) string) []func(*facts, core.Attention) string {
	return of
}

// complete gives the entries their causes by the table, and removes procedures of objects that are gone.
func (f *facts) complete() {
	for i := range f.found {
		a := &f.found[i]
		if !f.hasSteps(a.Resolve) {
			a.Resolve = nil
		}
		a.Diagnosis = f.diagnose(*a)
	}
}

// explain gives the entries their evidence and commands, and the rows of the table that only a log can tell.
func (f *facts) explain() {
	for i := range f.found {
		a := &f.found[i]
		a.Suspects = f.suspects(*a)
		row := rows[a.Rule]
		for _, see := range row.evidence {
			for _, e := range see(f, *a) {
				if e.Says != "" && !strings.Contains(a.Reason, e.Says) && !strings.Contains(a.Detail, e.Says) {
					a.Evidence = append(a.Evidence, e)
				}
			}
		}
		for _, of := range row.commands {
			for _, c := range of(f, *a) {
				c.Line = f.s.Own.Command(c.Line)
				if c.Line != "" && !hasLine(a.Commands, c.Line) {
					a.Commands = append(a.Commands, c)
				}
			}
		}
	}
}

// hasSteps tells whether the node or instance of a procedure exists. All other procedures always exist.
func (f *facts) hasSteps(key *core.ProcedureKey) bool {
	switch {
	case key == nil:
		return false
	case key.Kind == core.ProcedureInstance:
		return f.s.Instances.At(key.Subject) != nil
	case key.Kind == core.ProcedureNode:
		_, there := progress.NodeView(f.s, key.Subject)
		return there
	}
	return true
}

func hasLine(commands []core.Command, line string) bool {
	for _, c := range commands {
		if c.Line == line {
			return true
		}
	}
	return false
}

// Rules are the names of all rules, in order.
func Rules() []core.AttentionRule {
	out := make([]core.AttentionRule, 0, len(rows))
	for rule := range rows {
		out = append(out, rule)
	}
	slices.Sort(out)
	return out
}
