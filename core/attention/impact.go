package attention

import "lockstep/core"

// consequence is what suffers from what a rule finds, and where the documents speak of it.
type consequence struct {
	impact core.Impact
	page   core.Page
}

// consequences is the table of all rules.
var consequences = map[core.AttentionRule]consequence{
	// What stops everything.
	core.RuleControllerAway: {core.ImpactTime, core.PageController},
	core.RuleRoleLabels:     {core.ImpactTime, core.PageNone},
	core.RuleOutage:         {core.ImpactAPI, core.PageWatch},
	core.RuleSource:         {core.ImpactNone, core.PageNone},
	core.RuleSources:        {core.ImpactNone, core.PageNone},

	// Locks.
	core.RuleClusterLock:        {core.ImpactTime, core.PageObjects},
	core.RuleClusterLockWaits:   {core.ImpactTime, core.PageController},
	core.RuleClusterLockSays:    {core.ImpactTime, core.PageController},
	core.RuleClusterLockMissing: {core.ImpactAPI, core.PageObjects}, // LCM does not wait for who has no lock
	core.RuleClusterLockLeft:    {core.ImpactAPI, core.PageObjects},
	core.RuleLockFailed:         {core.ImpactTime, core.PageObjects},
	core.RuleLockState:          {core.ImpactTime, core.PageObjects},
	core.RuleOverride:           {core.ImpactInstances, core.PageNone},
	core.RuleDeployments:        {core.ImpactTime, core.PageNone},
	core.RuleOpenStackStatus:    {core.ImpactAPI, core.PageController},

	// Nodes in maintenance.
	core.RuleNodeWaits:        {core.ImpactTime, core.PageManual},
	core.RuleNodeReturns:      {core.ImpactTime, core.PageController},
	core.RuleNodeSlow:         {core.ImpactTime, core.PageHangs},
	core.RuleNodeSays:         {core.ImpactTime, core.PageManual},
	core.RuleNodeDeferred:     {core.ImpactTime, core.PageParallel},
	core.RuleCephHolds:        {core.ImpactTime, core.PageFlow},
	core.RuleQuorumGoes:       {core.ImpactAPI, core.PageNone}, // OpenStack loses its database, or its locks
	core.RuleControllerFails:  {core.ImpactTime, core.PageController},
	core.RuleRequestUnseen:    {core.ImpactTime, core.PageController},
	core.RuleReleasedFull:     {core.ImpactInstances, core.PageObjects}, // LCM reboots the host under them
	core.RuleEndedPods:        {core.ImpactTime, core.PageNone},
	core.RuleNoComputeService: {core.ImpactTime, core.PageNone},
	core.RuleMigrationLong:    {core.ImpactInstances, core.PagePolicy},
	core.RuleMigrationFailed:  {core.ImpactTime, core.PagePolicy},
	core.RuleOwnMigration:     {core.ImpactInstances, core.PageManual},
	core.RuleInstanceNotify:   {core.ImpactTime, core.PageTags},
	core.RuleInstanceStranded: {core.ImpactInstances, core.PageManual},
	core.RuleInstanceTags:     {core.ImpactTime, core.PageTags},

	// Nodes before and after it.
	core.RuleLockLeft:         {core.ImpactInstances, core.PageObjects}, // the next maintenance reboots the host under them
	core.RuleLockStuck:        {core.ImpactInstances, core.PageObjects},
	core.RuleRoleless:         {core.ImpactInstances, core.PageNone},
	core.RuleModeElsewhere:    {core.ImpactInstances, core.PagePolicy}, // the node is not held, as who set the mode expects
	core.RuleStaleInner:       {core.ImpactTime, core.PageNone},
	core.RuleMode:             {core.ImpactTime, core.PagePolicy},
	core.RuleAttempts:         {core.ImpactTime, core.PagePolicy},
	core.RuleNoLock:           {core.ImpactInstances, core.PageObjects},
	core.RuleNoNode:           {core.ImpactTime, core.PageObjects},
	core.RuleNodeRemoval:      {core.ImpactInstances, core.PageRemoval},
	core.RuleRequests:         {core.ImpactTime, core.PageObjects},
	core.RuleAnnotationLeft:   {core.ImpactNone, core.PagePolicy},
	core.RuleReturnedDown:     {core.ImpactInstances, core.PageController}, // what runs there cannot be reached or managed
	core.RuleNodeDown:         {core.ImpactInstances, core.PageNone},
	core.RuleComputeLeft:      {core.ImpactAPI, core.PageAfter}, // the cloud lacks the host's room
	core.RuleVolumesElsewhere: {core.ImpactInstances, core.PageInitiate},
	core.RuleVolumesLeft:      {core.ImpactAPI, core.PageAfter},
	core.RuleTagsLeft:         {core.ImpactNone, core.PageTags},
	core.RuleWillHold:         {core.ImpactTime, core.PagePolicy},

	// LCM and the update.
	core.RuleDrainBlocked:       {core.ImpactTime, core.PageHangs},
	core.RuleDrainWaits:         {core.ImpactTime, core.PageWatch},
	core.RuleStateItem:          {core.ImpactTime, core.PageHangs},
	core.RuleDrainError:         {core.ImpactTime, core.PageHangs},
	core.RuleSwarmError:         {core.ImpactTime, core.PageHangs},
	core.RuleAgentError:         {core.ImpactTime, core.PageHangs},
	core.RuleRebootError:        {core.ImpactTime, core.PageReboot},
	core.RulePlanStuck:          {core.ImpactTime, core.PageHangs},
	core.RulePlanStatus:         {core.ImpactTime, core.PagePlan},
	core.RulePlanWaits:          {core.ImpactTime, core.PagePlan},
	core.RuleAutoPause:          {core.ImpactTime, core.PageAutoPause},
	core.RuleAutoPauseError:     {core.ImpactNone, core.PageAutoPause}, // what was to stop the update does not watch it
	core.RuleLCMStuck:           {core.ImpactTime, core.PageHangs},
	core.RulePhase:              {core.ImpactTime, core.PageHangs},
	core.RuleBetweenReleases:    {core.ImpactData, core.PagePlanning}, // "may introduce a risk of the cloud workload corruption"
	core.RuleRebootsLeft:        {core.ImpactNone, core.PageReboot},
	core.RuleMaintenanceMode:    {core.ImpactTime, core.PageNone},
	core.RuleManagementOutdated: {core.ImpactTime, core.PageManagement},
	core.RuleAfterUpdate:        {core.ImpactNone, core.PageAfter},
	core.RuleSilenceGone:        {core.ImpactNone, core.PageInitiate},

	// Lockstep itself.
	core.RuleAct:       {core.ImpactTime, core.PageController},
	core.RuleOperation: {core.ImpactTime, core.PageNone},
	core.RuleDisarmed:  {core.ImpactTime, core.PageNone},
	core.RulePromise:   {core.ImpactTime, core.PageNone},
}
