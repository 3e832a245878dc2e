package inventory

import (
	"strings"

	"lockstep/core"
)

// Own is what a rehearsal makes itself instead of taking it from the cloud.
type Own struct {
	What    string          // in words for people
	Sources []core.SourceID // the sources whose facts a snapshot leaves out for that reason
}

// Owns lists all of it: what the simulation's controllers and hosts make by themselves, and what was under way when the snapshot
// was taken. Together with what a snapshot reads, these are all the sources of the engine.
var Owns = []Own{
	{"pods for a drain to move", []core.SourceID{core.SourceNodePods}},
	// it is for operators only, and its spec can hold what is secret
	{"an OpenStackDeployment", []core.SourceID{core.SourceOpenStackDeployment}},
	{"runs of Tempest", []core.SourceID{core.SourceTempestJob}},
	{"volumes", []core.SourceID{core.SourceVolumes}},
	{"what LCM does, on the management cluster", []core.SourceID{core.SourceLCMClusters, core.SourceLCMMachines, core.SourceDrains}},
	{"the version of the management cluster itself", []core.SourceID{core.SourceReleases, core.SourceManagementUpgrades}},
	{"alerts and silences", []core.SourceID{core.SourceAlertmanager}},
	{"requested pauses and reboots", []core.SourceID{core.SourceAutoPauses, core.SourceReboots}},
}

// ownText is the comment that says so.
func ownText() []string {
	return []string{"Not recorded, as a rehearsal has its own: " + OwnText() + "."}
}

// OwnText lists what a rehearsal has of its own.
func OwnText() string {
	var names []string
	for _, o := range Owns {
		names = append(names, o.What)
	}
	return strings.Join(names, "; ")
}
