package core

import "strings"

// attentionRow is what belongs to a rule of attention beside what it finds: what an entry of it rests on, what an operator can do and look
// at by hand, and from which other entries it can follow. The first command is what is tried first.
type attentionRow struct {
	evidence []func(*attentionFacts, Attention) []Evidence
	commands []func(*attentionFacts, Attention) []Command
	causes   []func(*attentionFacts, Attention) string // the first that names one counts
}

// attentionRows is the table of all rules, by the name with which the IDs of their entries begin.
var attentionRows = map[string]attentionRow{
	// What moves nothing any more.
	"controller-away": {evidence: seeing(seenController, seenWaiters, seenImage), commands: byHand(scaleUp, atController, playController), causes: from(badRoleLabels)},
	"role-labels":     {evidence: seeing(seenController, seenRoleLabels), commands: byHand(atRoleLabels, atController)},
	"outage":          {evidence: seeing(seenOutage, seenOpenStack), commands: byHand(atOpenStack, atControllerLog), causes: from(openStackUnseen)},
	"source":          {evidence: seeing(seenSources), commands: byHand(atSources)},
	"sources":         {evidence: seeing(seenSources), commands: byHand(atSources)},

	// Locks.
	"cluster-lock":         {evidence: seeing(seenLock), commands: byHand(atLock)},
	"cluster-lock-waits":   {evidence: seeing(seenLock), commands: byHand(atLock), causes: from(controllerIsAway, clusterOutage)},
	"cluster-lock-says":    {evidence: seeing(seenLock), commands: byHand(atLock)},
	"cluster-lock-missing": {evidence: seeing(seenController, seenDeployment), commands: byHand(atClusterLocks, atControllerLog), causes: from(controllerIsAway)},
	"lock-failed":          {evidence: seeing(seenLock), commands: byHand(atLock)},
	"lock-state":           {evidence: seeing(seenLock), commands: byHand(atLock)},
	"override":             {evidence: seeing(seenLock), commands: byHand(atLock)},
	"openstackdeployments": {evidence: seeing(seenDeployments), commands: byHand(atDeployments, atControllerLog)},
	"osdplst":              {evidence: seeing(seenDeployment), commands: byHand(atDeployment)},

	// Nodes in maintenance.
	"node-waits":         {evidence: seeing(seenNode, seenNodeLock, seenInstances), commands: byHand(giveScope, atWhatItSays, atInstances, atRequest, atNodeLock), causes: from(instancesUnseen)},
	"node-returns":       {evidence: seeing(seenNode, seenNodeLock, seenService), commands: byHand(atWhatItSays, atPods, atControllerLog), causes: from(ownTrouble)},
	"node-slow":          {evidence: seeing(seenNode, seenNodeLock, seenPods, seenMachine), commands: byHand(atNode, atWhatItSays, atPods, atMachine, atControllerLog), causes: from(ownTrouble, controllerHolds, waitsForPlace)},
	"node-says":          {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atControllerLog, atNodeLock)},
	"node-deferred":      {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atWhatItSays, atNodeLock)},
	"controller-fails":   {evidence: seeing(seenNode, seenAccount), commands: byHand(atControllerLog, atRequest)},
	"request-unseen":     {evidence: seeing(seenNode, seenNodeLock, seenController), commands: byHand(holdAgain, atController, atRequest)},
	"ended-pods":         {evidence: seeing(seenNode, seenPods), commands: byHand(atEndedPods)},
	"no-compute-service": {evidence: seeing(seenNode, seenAccount), commands: byHand(atCompute, newComputePod)},
	"migration-long":     {evidence: seeing(seenInstance, seenMigration), commands: byHand(atMigration, atInstance)},
	"migration-failed":   {evidence: seeing(seenInstance, seenMigration), commands: byHand(atMigration, atInstance, atRoom)},
	"own-migration":      {evidence: seeing(seenInstance, seenMigration), commands: byHand(decideMigration, atMigration, atInstance)},
	"instance-notify":    {evidence: seeing(seenInstance), commands: byHand(atInstance)},
	"instance-stranded":  {evidence: seeing(seenInstance, seenMigration), commands: byHand(atInstance)},
	"instance-tags":      {evidence: seeing(seenInstance), commands: byHand(atTags, atInstance)},

	// Nodes before and after it.
	"lock-left":       {evidence: seeing(seenNode, seenNodeLock, seenService), commands: byHand(holdAgain, atNodeLock)},
	"lock-stuck":      {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atNodeLock, giveLabels)},
	"roleless":        {evidence: seeing(seenNode, seenService), commands: byHand(giveLabels, atLabels)},
	"mode-elsewhere":  {evidence: seeing(seenNode, seenMode), commands: byHand(holdByOwnLock, atAnnotations)},
	"stale-inner":     {evidence: seeing(seenNode, seenNodeLock, seenHeldUp), commands: byHand(clearInner, atOthers, atControllerLog)},
	"mode":            {evidence: seeing(seenNode, seenMode), commands: byHand(dropMode, atAnnotations)},
	"attempts":        {evidence: seeing(seenNode, seenMode), commands: byHand(dropAttempts, atAnnotations)},
	"no-lock":         {evidence: seeing(seenNode, seenController), commands: byHand(atLabels, atNodeLog), causes: from(controllerIsAway)},
	"no-node":         {evidence: seeing(seenLocks, seenNodeLock), commands: byHand(atLocksOfNode, atNodes)},
	"node-removal":    {evidence: seeing(seenNode, seenNodeLock), commands: byHand(atWhatItSays, atRemoval, atInstances)},
	"requests":        {evidence: seeing(seenNode), commands: byHand(atRequests)},
	"annotation-left": {evidence: seeing(seenNode, seenMode), commands: byHand(putModeBack, atAnnotations)},
	"compute-left":    {evidence: seeing(seenService), commands: byHand(enableCompute, atCompute)},
	"volumes-left":    {evidence: seeing(seenVolumeServices), commands: byHand(enableVolumes, atVolumeServices)},
	"tags-left":       {evidence: seeing(seenInstance), commands: byHand(atTags, putTagsBack)},
	"will-hold":       {evidence: seeing(seenNode, seenInstances), commands: byHand(atInstances)},

	// LCM and the update.
	"drain-blocked":       {evidence: seeing(seenMachine, seenDrains), commands: byHand(atBlockingPod, atDrains)},
	"drain-waits":         {evidence: seeing(seenMachine, seenDrains), commands: byHand(atDrains, atLocksOfNode, atLCM), causes: from(ownLockHolds)},
	"state-item":          {evidence: seeing(seenMachine, seenItem), commands: byHand(atMachine, atNode)},
	"drain-error":         {evidence: seeing(seenMachine, seenDrains), commands: byHand(atDrains, atMachine)},
	"swarm-error":         {evidence: seeing(seenMachine, seenDrains), commands: byHand(atDrains, atMachine)},
	"agent-error":         {evidence: seeing(seenMachine), commands: byHand(atMachine, atNode)},
	"reboot-error":        {evidence: seeing(seenMachine), commands: byHand(atMachine, atNode)},
	"plan-stuck":          {evidence: seeing(seenPlan), commands: byHand(atPlan, atDrainsAll, atLCM), causes: from(holdsPlanStep)},
	"plan-waits":          {evidence: seeing(seenPlan), commands: byHand(commenceNext, atPlan)},
	"auto-pause":          {evidence: seeing(seenPause, seenPlan), commands: byHand(atPause, commencePaused, atPlan)},
	"auto-pause-error":    {evidence: seeing(seenPause), commands: byHand(atPause, atPlan)},
	"lcm-stuck":           {evidence: seeing(seenLCM), commands: byHand(atLCMCluster, atDrainsAll, atLCM), causes: from(holdsLCM)},
	"phase":               {evidence: seeing(seenPhase), commands: byHand(atRequests, atOthers, atClusterLocks), causes: from(holdsPhase)},
	"between-releases":    {evidence: seeing(seenUpdate), commands: byHand(atRequests, atPlan), causes: from(holdsBetween)},
	"reboots-left":        {commands: byHand(atMachines)},
	"maintenance-mode":    {evidence: seeing(seenCluster), commands: byHand(atMachines)},
	"management-outdated": {evidence: seeing(seenPlan), commands: byHand(atManagementReleases)},
	"after-update":        {evidence: seeing(seenAfter), commands: byHand(atDaemonSets)},

	// Lockstep itself.
	"act":       {evidence: seeing(seenNode, seenAnyLock), commands: byHand(atRequest, atAnyLock)},
	"operation": {evidence: seeing(seenOperation), commands: byHand(atOperation)},
	"disarmed":  {evidence: seeing(seenWriting), commands: byHand(atLease)},
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
		row := attentionRows[a.Rule()]
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
