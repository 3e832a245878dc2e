package core

import (
	"fmt"
	"slices"
	"strings"
)

// actVolumes are the steps of a played OpenStack controller on the node's volume services.
func (b *nodeSteps) actVolumes(a ActAs, kind IntentKind) {
	if a.Controller != ControllerOpenStack {
		return
	}
	for _, v := range b.s.VolumeServicesOn(b.v.Name) {
		if v.Behind && !(kind == IntentActVolumeIn && v.forMaintenance()) {
			continue // the controller would not bring it back, when it takes over
		}
		b.add(Plan(b.s, Intent{Kind: kind, Controller: a.Controller, Node: b.v.Name, Object: v.Ref()}))
	}
}

// volumesSummary are the node's volume services that are not as they usually are.
func (b *nodeSteps) volumesSummary() []string {
	var out []string
	for _, v := range b.s.VolumeServicesOn(b.v.Name) {
		if !v.Enabled || !v.Up {
			out = append(out, v.label()+" is "+oneLine(v.text(), mostRead))
		}
	}
	return out
}

// volumeScheduling offers to take the node's volume services out of scheduling, or to put them back.
func (b *nodeSteps) volumeScheduling() {
	for _, v := range b.s.VolumeServicesOn(b.v.Name) {
		left := b.v.Stage == StageDone && !v.Enabled && v.forMaintenance()
		b.add(optionalIf(!left, b.volumeSwitch(v, !v.Enabled)))
	}
}

func (b *nodeSteps) volumeSwitch(v *VolumeService, enable bool) Step {
	if enable {
		return Plan(b.s, Intent{Kind: IntentEnableVolume, Node: b.v.Name, Object: v.Ref()})
	}
	return Plan(b.s, Intent{Kind: IntentDisableVolume, Node: b.v.Name, Object: v.Ref(), Reason: b.s.outOfScheduling()})
}

// seesVolumes is what Cinder shows of the node's volume services where the OpenStack controller says that it cannot disable or
// enable them (R): it says so when Cinder did not answer it.
func seesVolumes(s *Snapshot, l *WorkloadLock, _ LockMessage) string {
	services := s.VolumeServicesOn(l.Node)
	switch fresh, text := s.fresh(SourceVolumeServices); {
	case s.noCinder():
		return "the cloud's catalog has no Cinder"
	case !s.known(SourceVolumeServices):
		return "cinder-volume is not known: " + s.whyUnknown(SourceVolumeServices)
	case !fresh:
		return "neither does Cinder answer Lockstep: " + text
	case len(services) == 0:
		return "Cinder answers Lockstep, and knows no cinder-volume on the node"
	default:
		return "Cinder answers Lockstep: " + oneLine(volumesText(services), mostRead)
	}
}

func lookAtVolumes(s *Snapshot, l *WorkloadLock, _ LockMessage) []Command {
	return []Command{look("what Cinder says of it", shellCommand("openstack", "volume", "service", "list", "--service", "cinder-volume", "--host", s.volumeHostOf(l.Node), "--long")),
		look("Cinder's pods", kubectlOpenStack("get", "pods", "-l", "application=cinder"))}
}

// refusedVolumes is the operator's own way where the controller cannot disable or enable the node's volume services.
func (b *nodeSteps) refusedVolumes() []Step {
	var out []Step
	enable := b.s.cannotEnableVolumes(b.v.Name)
	for _, v := range b.s.VolumeServicesOn(b.v.Name) {
		if v.Enabled == enable || enable && !v.forMaintenance() {
			continue
		}
		st := b.volumeSwitch(v, enable)
		if st.State == StepReady {
			st.Status = "it is " + oneLine(v.text(), mostRead)
		}
		out = append(out, st)
	}
	return out
}

// removalVolumes are the volumes on the disks of a node that is to be removed: each of them holds it (docs/mosk.md#removal). Nothing
// here moves or deletes one: that takes its owner, and room on another host.
func (b *nodeSteps) removalVolumes() {
	s := b.s
	if s.noCinder() {
		return
	}
	title := "no volume is left on the disks of " + b.v.Label
	volumes, known := s.VolumesOn(b.v.Name)
	switch {
	case !known:
		why := s.whyUnknown(SourceVolumes)
		if s.known(SourceVolumes) {
			why = "they are being listed"
		}
		b.add(b.other("volumes", title, "", StepWaiting, "not known: "+why))
		return
	case len(volumes) == 0:
		b.add(b.other("volumes", title, "", StepDone, ""))
		return
	}
	for _, v := range volumes {
		b.add(b.removalVolume(v))
	}
	st := b.other("volumes-lost", "or let the node go with what is left on its disks",
		"With ndr_skip_volume_check the OpenStack controller lets the node go whatever lies on it: the data on its disks is lost. It counts for every node that is removed from then on, until it is taken back.",
		StepLater, fmt.Sprintf("%s, %d GiB", count(len(volumes), "volume"), volumesSize(volumes)))
	st.Commands = []string{
		shellCommand("kubectl", "-n", "osh-system", "edit", "configmap", "rockoon-config") + "  # extra_conf.ini: [maintenance] ndr_skip_volume_check = True",
	}
	b.add(st)
}

func volumesSize(volumes []Volume) int {
	sum := 0
	for _, v := range volumes {
		sum += v.SizeGiB
	}
	return sum
}

// removalVolume is what takes one volume off a node that is to be removed.
func (b *nodeSteps) removalVolume(v Volume) Step {
	s := b.s
	st := b.other("volume", "move volume "+volumeName(&v)+" off "+b.v.Label, "", StepWaiting, s.volumeText(v))
	st.ID = "volume/" + v.ID
	st.Target, st.Label = Ref{Kind: KindCinderVolume, Name: textOf(v.Name, v.ID), UID: v.ID}, volumeName(&v)
	to := s.volumeTarget(b.v.Name, v.Host)
	st.Commands = []string{
		shellCommand("openstack", "volume", "migrate", "--host", textOf(to, "HOST@BACKEND#POOL"), v.ID),
		shellCommand("openstack", "volume", "show", v.ID) + "  # migration_status, os-vol-host-attr:host",
	}
	st.Why = "Its data is on the node's own disks, and the node goes only without it. An administrator moves it to another back end; one with snapshots is refused until its owner has deleted those."
	if to == "" {
		st.Commands = slices.Insert(st.Commands, 0, shellCommand("openstack", "volume", "backend", "pool", "list"))
		st.Why = join(st.Why, "No other host has a back end of that name that is up and enabled: choose one of the pools.")
	}
	owner := "Or its owner deletes it when nobody needs it (openstack volume delete " + shellQuote(oneLine(v.ID, 64)) + "): Lockstep deletes no data."
	if project := oneLine(s.Project(v.ProjectID), 64); project != "" {
		owner = "Or its owner, project " + project + ", deletes it when nobody needs it (openstack volume delete " + shellQuote(oneLine(v.ID, 64)) + "): Lockstep deletes no data."
	}
	st.Why = join(st.Why, owner)
	return st
}

// volumeText is "100 GiB, in-use by db-1 (ACTIVE), f81d4fae".
func (s *Snapshot) volumeText(v Volume) string {
	text := fmt.Sprintf("%d GiB, %s", v.SizeGiB, textOf(oneLine(v.Status, 40), "in no state"))
	var by []string
	for _, id := range v.Instances {
		if in := s.Instances[id]; in != nil {
			by = append(by, instanceLabel(in)+" ("+oneLine(in.Status, 40)+")")
		} else {
			by = append(by, shortID(oneLine(id, 64)))
		}
	}
	if len(by) > 0 {
		text += " by " + some(by, 3)
	}
	return text + ", " + shortID(oneLine(v.ID, 64))
}

// volumeTarget is a pool of the same name on another host whose service is enabled and up, the first by name; empty when there
// is none. Which has room, only Cinder knows.
func (s *Snapshot) volumeTarget(node, from string) string {
	_, pool, hasPool := strings.Cut(from, "#")
	var found []string
	for _, all := range s.VolumeServices {
		for _, v := range all {
			if v.Enabled && v.Up && v.Machine() != volumeMachine(from) && volumeBackend(v.Host) == volumeBackend(from) && s.Deletions[v.Machine()] == nil {
				found = append(found, v.Host)
			}
		}
	}
	if len(found) == 0 || !hasPool {
		return ""
	}
	return slices.Min(found) + "#" + pool
}
