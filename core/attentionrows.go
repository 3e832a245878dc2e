package core

import "strings"

// attentionRow is what belongs to a rule of attention beside what it finds: what an entry of it rests on, what an operator can do and look
// at by hand, and from which other entries it can follow. The first command is what is tried first.
type attentionRow struct {
	evidence []func(*attentionFacts, Attention) []Evidence
	commands []func(*attentionFacts, Attention) []Command
	causes   []func(*attentionFacts, Attention) string // the first that names one counts
}

// attentionRows is the table of all rules.
var attentionRows = map[AttentionRule]attentionRow{
	// What moves nothing any more.
	RuleControllerAway: {evidence: seeing(seenController, seenWaiters, seenImage), commands: byHand(scaleUp, atController, playController), causes: from(badRoleLabels)},
	RuleRoleLabels:     {evidence: seeing(seenController, seenRoleLabels), commands: byHand(atRoleLabels, atController)},
	RuleOutage:         {evidence: seeing(seenOutage, seenOpenStack), commands: byHand(atOpenStack, atControllerLog), causes: from(openStackUnseen)},
	RuleSource:         {evidence: seeing(seenSources), commands: byHand(atSources)},
	RuleSources:        {evidence: seeing(seenSources), commands: byHand(atSources)},

	// Locks.
	RuleClusterLock:        {evidence: seeing(seenLock), commands: byHand(atLock)},
	RuleClusterLockWaits:   {evidence: seeing(seenLock), commands: byHand(atLock), causes: from(controllerIsAway, clusterOutage)},
	RuleClusterLockSays:    {evidence: seeing(seenLock), commands: byHand(atLock)},
	RuleClusterLockMissing: {evidence: seeing(seenController, seenDeployment), commands: byHand(atClusterLocks, atControllerLog), causes: from(controllerIsAway)},
	RuleLockFailed:         {evidence: seeing(seenLock), commands: byHand(atLock)},
	RuleLockState:          {evidence: seeing(seenLock), commands: byHand(atLock)},
	RuleOverride:           {evidence: seeing(seenLock), commands: byHand(atLock)},
	RuleDeployments:        {evidence: seeing(seenDeployments), commands: byHand(atDeployments, atControllerLog)},
	RuleOpenStackStatus:    {evidence: seeing(seenDeployment), commands: byHand(atDeployment)},

	// Nodes in maintenance.
	RuleNodeWaits:        {evidence: seeing(seenNode, seenNodeLock, seenInstances), commands: byHand(giveScope, atWhatItSays, atInstances, atRequest, atNodeLock), causes: from(instancesUnseen)},
	RuleNodeReturns:      {evidence: seeing(seenNode, seenNodeLock, seenService), commands: byHand(atWhatItSays, atPods, atControllerLog), causes: from(ownTrouble)},
	RuleNodeSlow:         {evidence: seeing(seenNode, seenNodeLock, seenPods, seenMachine), commands: byHand(atNode, atWhatItSays, atPods, atMachine, atControllerLog), causes: from(ownTrouble, controllerHolds, waitsForPlace)},
	RuleNodeSays:         {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atControllerLog, atNodeLock)},
	RuleNodeDeferred:     {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atWhatItSays, atNodeLock)},
	RuleControllerFails:  {evidence: seeing(seenNode, seenAccount), commands: byHand(atControllerLog, atRequest)},
	RuleRequestUnseen:    {evidence: seeing(seenNode, seenNodeLock, seenController), commands: byHand(holdAgain, atController, atRequest)},
	RuleEndedPods:        {evidence: seeing(seenNode, seenPods), commands: byHand(atEndedPods)},
	RuleNoComputeService: {evidence: seeing(seenNode, seenAccount), commands: byHand(atCompute, newComputePod)},
	RuleMigrationLong:    {evidence: seeing(seenInstance, seenMigration), commands: byHand(atMigration, atInstance)},
	RuleMigrationFailed:  {evidence: seeing(seenInstance, seenMigration), commands: byHand(atMigration, atInstance, atRoom)},
	RuleOwnMigration:     {evidence: seeing(seenInstance, seenMigration), commands: byHand(decideMigration, atMigration, atInstance)},
	RuleInstanceNotify:   {evidence: seeing(seenInstance), commands: byHand(atInstance)},
	RuleInstanceStranded: {evidence: seeing(seenInstance, seenMigration), commands: byHand(atInstance)},
	RuleInstanceTags:     {evidence: seeing(seenInstance), commands: byHand(atTags, atInstance)},

	// Nodes before and after it.
	RuleLockLeft:       {evidence: seeing(seenNode, seenNodeLock, seenService), commands: byHand(holdAgain, atNodeLock)},
	RuleLockStuck:      {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atNodeLock, giveLabels)},
	RuleRoleless:       {evidence: seeing(seenNode, seenService), commands: byHand(giveLabels, atLabels)},
	RuleModeElsewhere:  {evidence: seeing(seenNode, seenMode), commands: byHand(holdByOwnLock, atAnnotations)},
	RuleStaleInner:     {evidence: seeing(seenNode, seenNodeLock, seenHeldUp), commands: byHand(clearInner, atOthers, atControllerLog)},
	RuleMode:           {evidence: seeing(seenNode, seenMode), commands: byHand(dropMode, atAnnotations)},
	RuleAttempts:       {evidence: seeing(seenNode, seenMode), commands: byHand(dropAttempts, atAnnotations)},
	RuleNoLock:         {evidence: seeing(seenNode, seenController), commands: byHand(atLabels, atNodeLog), causes: from(controllerIsAway)},
	RuleNoNode:         {evidence: seeing(seenLocks, seenNodeLock), commands: byHand(atLocksOfNode, atNodes)},
	RuleNodeRemoval:    {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atWhatItSays, atRemoval, atInstances)},
	RuleRequests:       {evidence: seeing(seenNode), commands: byHand(atRequests)},
	RuleAnnotationLeft: {evidence: seeing(seenNode, seenMode), commands: byHand(putModeBack, atAnnotations)},
	RuleComputeLeft:    {evidence: seeing(seenService), commands: byHand(enableCompute, atCompute)},
	RuleVolumesLeft:    {evidence: seeing(seenVolumeServices), commands: byHand(enableVolumes, atVolumeServices)},
	RuleTagsLeft:       {evidence: seeing(seenInstance), commands: byHand(atTags, putTagsBack)},
	RuleWillHold:       {evidence: seeing(seenNode, seenInstances), commands: byHand(atInstances)},

	// LCM and the update.
	RuleDrainBlocked:       {evidence: seeing(seenMachine, seenDrains), commands: byHand(atBlockingPod, atDrains)},
	RuleDrainWaits:         {evidence: seeing(seenMachine, seenDrains), commands: byHand(atDrains, atLocksOfNode, atLCM), causes: from(ownLockHolds)},
	RuleStateItem:          {evidence: seeing(seenMachine, seenItem), commands: byHand(atMachine, atNode)},
	RuleDrainError:         {evidence: seeing(seenMachine, seenDrains), commands: byHand(atDrains, atMachine)},
	RuleSwarmError:         {evidence: seeing(seenMachine, seenDrains), commands: byHand(atDrains, atMachine)},
	RuleAgentError:         {evidence: seeing(seenMachine), commands: byHand(atMachine, atNode)},
	RuleRebootError:        {evidence: seeing(seenMachine), commands: byHand(atMachine, atNode)},
	RulePlanStuck:          {evidence: seeing(seenPlan), commands: byHand(atPlan, atDrainsAll, atLCM), causes: from(holdsPlanStep)},
	RulePlanWaits:          {evidence: seeing(seenPlan), commands: byHand(commenceNext, atPlan)},
	RuleAutoPause:          {evidence: seeing(seenPause, seenPlan), commands: byHand(atPause, commencePaused, atPlan)},
	RuleAutoPauseError:     {evidence: seeing(seenPause), commands: byHand(atPause, atPlan)},
	RuleLCMStuck:           {evidence: seeing(seenLCM), commands: byHand(atLCMCluster, atDrainsAll, atLCM), causes: from(holdsLCM)},
	RulePhase:              {evidence: seeing(seenPhase), commands: byHand(atRequests, atOthers, atClusterLocks), causes: from(holdsPhase)},
	RuleBetweenReleases:    {evidence: seeing(seenUpdate), commands: byHand(atRequests, atPlan), causes: from(holdsBetween)},
	RuleRebootsLeft:        {commands: byHand(atMachines)},
	RuleMaintenanceMode:    {evidence: seeing(seenCluster), commands: byHand(atMachines)},
	RuleManagementOutdated: {evidence: seeing(seenPlan), commands: byHand(atManagementReleases)},
	RuleAfterUpdate:        {evidence: seeing(seenAfter), commands: byHand(atDaemonSets)},

	// Lockstep itself.
	RuleAct:       {evidence: seeing(seenNode, seenAnyLock), commands: byHand(atRequest, atAnyLock)},
	RuleOperation: {evidence: seeing(seenOperation), commands: byHand(atOperation)},
	RuleDisarmed:  {evidence: seeing(seenWriting), commands: byHand(atLease)},
}

func seeing(of ...func(*attentionFacts, Attention) []Evidence) []func(*attentionFacts, Attention) []Evidence {
	return of
}

func byHand(of ...func(*attentionFacts, Attention) []Command) []func(*attentionFacts, Attention) []Command {
	return of
}

func from(of ...func(*attentionFacts, Attention) string) []func(*attentionFacts, Attention) string {
	return of
}

// complete gives the entries their evidence and their commands, and takes the steps away of what is not there any more.
func (f *attentionFacts) complete() {
	for i := range f.found {
		a := &f.found[i]
		if !f.hasSteps(a.Resolve) {
			a.Resolve = nil
		}
		row := attentionRows[a.Rule]
		for _, see := range row.evidence {
			for _, e := range see(f, *a) {
				if e.Says != "" && !strings.Contains(a.Reason, e.Says) && !strings.Contains(a.Detail, e.Says) {
					a.Evidence = append(a.Evidence, e)
				}
			}
		}
		for _, of := range row.commands {
			for _, c := range of(f, *a) {
				if c.Line != "" && !hasLine(a.Commands, c.Line) {
					a.Commands = append(a.Commands, c)
				}
			}
		}
	}
}

// hasSteps tells whether there is the node or instance of which a procedure would be; every other procedure is always there.
func (f *attentionFacts) hasSteps(key *ProcedureKey) bool {
	switch {
	case key == nil:
		return false
	case key.Kind == ProcedureInstance:
		return f.s.Instances[key.Subject] != nil
	case key.Kind == ProcedureNode:
		_, there := f.s.NodeView(key.Subject)
		return there
	}
	return true
}

func hasLine(commands []Command, line string) bool {
	for _, c := range commands {
		if c.Line == line {
			return true
		}
	}
	return false
}

func look(what, line string) Command   { return Command{For: what, Line: line} }
func change(what, line string) Command { return Command{For: what, Line: line, Changes: true} }

// lines are the commands as they are given.
func lines(commands []Command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.Line)
	}
	return out
}
