package procedure

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// actVolumes adds the played OpenStack controller's steps on the node's volume services.
func (b *nodeSteps) actVolumes(a core.ActAs, kind core.IntentKind) {
	if a.Controller != core.ControllerOpenStack {
		return
	}
	for _, v := range b.s.VolumeServicesOn(b.v.Name) {
		if v.Behind && !(kind == core.IntentActVolumeIn && v.ForMaintenance()) {
			continue // the controller would not bring it back, when it takes over
		}
		b.add(step.Plan(b.s, core.Intent{Kind: kind, Controller: a.Controller, Node: b.v.Name, Object: v.Ref()}))
	}
}

// volumesSummary names the node's volume services that are disabled or down.
func (b *nodeSteps) volumesSummary() []string {
	var out []string
	for _, v := range b.s.VolumeServicesOn(b.v.Name) {
		if !v.Enabled || !v.Up {
			out = append(out, v.Label()+" is "+wording.OneLine(v.Text(), wording.MostRead))
		}
	}
	return out
}

// volumeScheduling adds the steps that take the node's volume services out of scheduling, or put them back.
func (b *nodeSteps) volumeScheduling() {
	for _, v := range b.s.VolumeServicesOn(b.v.Name) {
		left := b.v.Stage == core.StageDone && v.LeftDisabled()
		b.add(optionalIf(!left, b.volumeSwitch(v, !v.Enabled)))
	}
}

func (b *nodeSteps) volumeSwitch(v *core.VolumeService, enable bool) core.Step {
	if enable {
		return step.Plan(b.s, core.Intent{Kind: core.IntentEnableVolume, Node: b.v.Name, Object: v.Ref()})
	}
	return step.Plan(b.s, core.Intent{Kind: core.IntentDisableVolume, Node: b.v.Name, Object: v.Ref(),
		Reason: progress.OutOfSchedulingReason(b.s)})
}

// seesVolumes is what Cinder shows of the node's volume services when the OpenStack controller cannot disable or enable them (text R),
// as Cinder did not answer it.
func seesVolumes(s *core.Snapshot, l *core.WorkloadLock, _ progress.LockMessage) string {
	services := s.VolumeServicesOn(l.Node)
	switch fresh, text := s.Fresh(core.SourceVolumeServices); {
	case s.NoCinder():
		return "the cloud's catalog has no Cinder"
	case !s.Known(core.SourceVolumeServices):
		return "cinder-volume is not known: " + s.WhyUnknown(core.SourceVolumeServices)
	case !fresh:
		return "neither does Cinder answer Lockstep: " + text
	case len(services) == 0:
		return "Cinder answers Lockstep, and knows no cinder-volume on the node"
	default:
		return "Cinder answers Lockstep: " + wording.OneLine(step.VolumesText(services), wording.MostRead)
	}
}

func lookAtVolumes(s *core.Snapshot, l *core.WorkloadLock, _ progress.LockMessage) []core.Command {
	return []core.Command{ToLook("what Cinder says of it",
		wording.ShellCommand("openstack", "volume", "service", "list", "--service", "cinder-volume", "--host", s.VolumeHostOf(l.Node), "--long")),
		ToLook("Cinder's pods", progress.KubectlOpenStack("get", "pods", "-l", "application=cinder"))}
}

// refusedVolumes are the operator's steps where the controller cannot disable or enable the node's volume services.
func (b *nodeSteps) refusedVolumes() []core.Step {
	var out []core.Step
	enable := step.CannotEnableVolumes(b.s, b.v.Name)
	for _, v := range b.s.VolumeServicesOn(b.v.Name) {
		if v.Enabled == enable || enable && !v.ForMaintenance() {
			continue
		}
		st := b.volumeSwitch(v, enable)
		if st.State == core.StepReady {
			st.Status = "it is " + wording.OneLine(v.Text(), wording.MostRead)
		}
		out = append(out, st)
	}
	return out
}

// removalVolumes adds a step for each volume on the disks of a node that is to be removed: each holds it (docs/mosk.md#removal).
// Lockstep neither moves nor deletes volumes: that takes their owners, and room on another host.
func (b *nodeSteps) removalVolumes() {
	s := b.s
	if s.NoCinder() {
		return
	}
	title := "no volume is left on the disks of " + b.v.Label
	volumes, known := s.VolumesOn(b.v.Name)
	switch {
	case !known:
		why := s.WhyUnknown(core.SourceVolumes)
		if s.Known(core.SourceVolumes) {
			why = "they are being listed"
		}
		b.add(b.other("volumes", title, "", core.StepWaiting, "not known: "+why))
		return
	case len(volumes) == 0:
		b.add(b.other("volumes", title, "", core.StepDone, ""))
		return
	}
	for _, v := range volumes {
		b.add(b.removalVolume(v))
	}
	st := b.other("volumes-lost", "or let the node go with what is left on its disks",
		"With ndr_skip_volume_check the OpenStack controller lets the node go whatever lies on it: the data on its disks is lost. It counts "+
			"for every node that is removed from then on, until it is taken back.",
		core.StepLater, fmt.Sprintf("%s, %d GiB", wording.Count(len(volumes), "volume"), volumesSize(volumes)))
	st.Commands = []string{
		wording.ShellCommand("kubectl", "-n", "osh-system", "edit", "configmap", "rockoon-config") +
			"  # extra_conf.ini: [maintenance] ndr_skip_volume_check = True",
	}
	b.add(st)
}

func volumesSize(volumes []core.Volume) int {
	sum := 0
	for _, v := range volumes {
		sum += v.SizeGiB
	}
	return sum
}

// removalVolume is the step that takes one volume off a node that is to be removed.
func (b *nodeSteps) removalVolume(v core.Volume) core.Step {
	s := b.s
	st := b.other("volume", "move volume "+progress.VolumeName(&v)+" off "+b.v.Label, "", core.StepWaiting, volumeText(s, v))
	st.ID = "volume/" + v.ID
	st.Target, st.Label = core.Ref{Kind: core.KindCinderVolume, Name: wording.TextOf(v.Name, v.ID), UID: v.ID}, progress.VolumeName(&v)
	to := volumeTarget(s, b.v.Name, v.Host)
	st.Commands = []string{
		wording.ShellCommand("openstack", "volume", "migrate", "--host", wording.TextOf(to, "HOST@BACKEND#POOL"), v.ID),
		wording.ShellCommand("openstack", "volume", "show", v.ID) + "  # migration_status, os-vol-host-attr:host",
	}
	st.Why = "Its data is on the node's own disks, and the node goes only without it. An administrator moves it to another back end; one " +
		"with snapshots is refused until its owner has deleted those."
	if to == "" {
		st.Commands = slices.Insert(st.Commands, 0, wording.ShellCommand("openstack", "volume", "backend", "pool", "list"))
		st.Why = wording.Join(st.Why, "No other host has a back end of that name that is up and enabled: choose one of the pools.")
	}
	owner := "Or its owner deletes it when nobody needs it (openstack volume delete " + wording.ShellQuote(wording.OneLine(v.ID, 64)) +
		"): Lockstep deletes no data."
	if project := wording.OneLine(s.Project(v.ProjectID), 64); project != "" {
		owner = "Or its owner, project " + project + ", deletes it when nobody needs it (openstack volume delete " +
			wording.ShellQuote(wording.OneLine(v.ID, 64)) + "): Lockstep deletes no data."
	}
	st.Why = wording.Join(st.Why, owner)
	return st
}

// volumeText is "100 GiB, in-use by db-1 (ACTIVE), f81d4fae".
func volumeText(s *core.Snapshot, v core.Volume) string {
	text := fmt.Sprintf("%d GiB, %s", v.SizeGiB, wording.TextOf(wording.OneLine(v.Status, 40), "in no state"))
	var by []string
	for _, id := range v.Instances {
		if in := s.Instances.At(id); in != nil {
			by = append(by, progress.InstanceLabel(in)+" ("+wording.OneLine(in.Status, 40)+")")
		} else {
			by = append(by, core.ShortID(wording.OneLine(id, 64)))
		}
	}
	if len(by) > 0 {
		text += " by " + wording.Some(by, 3)
	}
	return text + ", " + core.ShortID(wording.OneLine(v.ID, 64))
}

// volumeTarget is a pool of the same name on another host whose service is enabled and up, the first by name; empty when there is none.
// Only Cinder knows which has room.
func volumeTarget(s *core.Snapshot, node, from string) string {
	_, pool, hasPool := strings.Cut(from, "#")
	var found []string
	for _, all := range s.VolumeServices {
		for _, v := range all {
			if v.Enabled && v.Up && v.Machine() != core.VolumeMachine(from) && core.VolumeBackend(v.Host) == core.VolumeBackend(from) &&
				s.Deletions[v.Machine()] == nil {
				found = append(found, v.Host)
			}
		}
	}
	if len(found) == 0 || !hasPool {
		return ""
	}
	return slices.Min(found) + "#" + pool
}
