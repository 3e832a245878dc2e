package tui

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/tui/sanitise"
)

// describe says exactly what is changed on which object. It names the object of the change, since a step of a played controller
// is granted for its lock, whatever it writes.
func describe(s *core.Snapshot, step core.Step) []string {
	on := object(step.Target, step.Label)
	switch c := step.Change.(type) {
	case core.SetNodeAnnotation:
		if c.New == nil {
			return []string{"Remove " + word(c.Key) + " (now " + quoted(c.Old) + ") from " + on + "."}
		}
		return []string{"Set " + word(c.Key) + " from " + quoted(c.Old) + " to " + quoted(c.New) + " on " + on + "."}
	case core.InstanceAction:
		text := doing(c) + " " + on
		if c.Host != "" {
			text += ", on " + word(s.Label(c.Host))
		}
		if c.Status != "" {
			text += ", " + word(c.Status)
		}
		return []string{text + "."}
	case core.SetMaintenanceTags:
		return []string{"Set the maintenance tags of " + on + " from " + actionsText(c.Old) + " to " + actionsText(c.New) +
			"; its other tags stay."}
	case core.SetComputeService:
		service := object(c.Service, step.Label)
		if c.Enabled {
			return []string{"Enable " + service + " (disabled with " + quote(c.WasReason) + ")."}
		}
		return []string{"Disable " + service + " with the reason " + quote(c.Reason) + "."}
	case core.SetVolumeService:
		service := "cinder-volume " + word(c.Service.Name)
		if c.Enabled {
			return []string{"Enable " + service + " (disabled with " + quote(c.WasReason) + ")."}
		}
		return []string{"Disable " + service + " with the reason " + quote(c.Reason) + "."}
	case core.RestartPod:
		return []string{"Delete " + on + ", on " + word(s.Label(c.Node)) + "; " + word(c.Set.Namespace+"/"+c.Set.Name) + " makes a new one."}
	case core.SetTempest:
		if c.Add {
			return []string{"Add \"tempest\" to spec.features.services of " + on + "."}
		}
		return []string{"Remove \"tempest\" from spec.features.services of " + on + "."}
	case core.SetLock:
		return []string{"Set the state of " + object(c.Lock, step.Label) + " from " + orNotSet(string(c.Was)) + " to " +
			word(string(c.To.State)) + ", " + bears(c.To) + "."}
	case core.SetInnerState:
		return []string{"Set inner_state from " + orNotSet(c.Was) + " to " + orNotSet(c.To) + " on " + object(c.Lock, step.Label) + "."}
	case core.CreateLock:
		text := "Create " + object(c.Lock.Ref(), "") + " of the controller " + word(c.Lock.Controller)
		if c.Lock.Node != "" {
			text += " for " + word(s.Label(c.Lock.Node))
		}
		return []string{text + inRelease(c.Lock.Release) + "."}
	case core.CreateRequest:
		text := "Create " + object(c.Request.Ref(), "")
		if c.Request.Node != "" {
			text += " for " + word(s.Label(c.Request.Node))
		}
		if c.Request.Scope != "" {
			text += ", scope " + word(string(c.Request.Scope))
		}
		return []string{text + inRelease(c.Request.Release) + "."}
	case core.DeleteObject:
		return []string{"Delete " + object(c.Object, step.Label) + "."}
	case core.DeleteClaim:
		return []string{"Delete " + object(c.Claim, "") + ", in the namespace " + word(c.Claim.Namespace) + ": the claim of " + word(c.Pod) + "."}
	case core.DeletePod:
		return []string{"Delete " + object(c.Pod, s.Label(c.Node)) + ", in namespace " + word(c.Pod.Namespace) + ", which has ended."}
	case core.AddFinalizer:
		return []string{"Add the finalizer " + word(c.Finalizer) + " to " + object(c.Object, step.Label) + "."}
	case core.RemoveFinalizer:
		return []string{"Remove the finalizer " + word(c.Finalizer) + " from " + object(c.Object, step.Label) + "."}
	case core.SetMaintenance:
		return []string{fmt.Sprintf("Set spec.providerSpec.value.maintenance from %s to %t on %s.", truth(c.Old), c.On,
			object(c.Object, step.Label))}
	case core.SetAutoPause:
		switch {
		case c.Pause.UID == "":
			return []string{"Create " + object(c.Pause, "") + " with the alerts " + words(c.New) + "."}
		case len(c.New) == 0:
			return []string{"Delete " + object(c.Pause, "") + ", which has the alerts " + words(c.Old) + "."}
		}
		return []string{"Set the alerts of " + object(c.Pause, "") + " from " + words(c.Old) + " to " +
			words(c.New) + "."}
	case core.SetRelease:
		return []string{"Set spec.providerSpec.value.release from " + orNotSet(c.Old) + " to " + word(c.New) + " on " +
			object(c.Cluster, "") + "."}
	case core.SetGroup:
		return []string{describeGroup(c)}
	case core.MakeSilence:
		return []string{"Make a silence in Alertmanager until " + progress.MomentText(s, c.Until) + ": " + matchers(c.Matchers) + ".",
			"By " + word(c.By) + ", with the comment " + quote(c.Comment) + "."}
	case core.ExpireSilence:
		return []string{"Expire the silence " + word(c.Silence.ID) + " in Alertmanager, which is " + word(c.Silence.State) + " until " +
			progress.MomentText(s, c.Silence.Ends) + ": " + matchers(c.Silence.Matchers) + "."}
	case core.SetMachineGroup:
		return []string{"Set the label " + core.LabelUpdateGroup + " from " + orNotSet(c.Old) + " to " + word(c.New) + " on " +
			object(c.Machine, step.Label) + "."}
	case core.SetUpgradeIndex:
		to := "Remove spec.providerSpec.value.upgradeIndex, which is " + number(c.Old) + ","
		if c.New != nil {
			to = "Set spec.providerSpec.value.upgradeIndex from " + number(c.Old) + " to " + number(c.New)
		}
		return []string{to + " on " + object(c.Machine, step.Label) + "."}
	case core.SetCommence:
		if !c.On {
			return []string{"Take commence away from the step " + planStepName(c) + " of " + object(c.Plan, "") + "."}
		}
		return []string{"Set commence of the step " + planStepName(c) + " of " + object(c.Plan, "") + "."}
	case core.RequestReboot:
		return []string{"Create the GracefulRebootRequest of " + object(c.Cluster, "") + ", for " + words(c.Machines) + "."}
	case core.Batch:
		out := []string{fmt.Sprintf("%s for %s, %d at a time:", counted(len(c.Items), "change"), on, max(c.AtOnce, 1))}
		for i, item := range c.Items {
			out = append(out, fmt.Sprintf("  %2d  %s", i+1, sanitise.Text(item.Label, mostOfItem)))
		}
		return out
	}
	if step.Target.Name == "" {
		return nil
	}
	return []string{"On " + on + "."}
}

// matchers are those of a silence: name, sign and quoted value.
func matchers(all []core.Matcher) string {
	out := make([]string, len(all))
	for i, m := range all {
		sign := strings.TrimSuffix(strings.TrimPrefix(m.String(), m.Name), strconv.Quote(m.Value))
		out[i] = word(m.Name) + sign + quote(m.Value)
	}
	return strings.Join(out, ", ")
}

// describeGroup says what is written to an UpdateGroup.
func describeGroup(c core.SetGroup) string {
	settings := func(s core.GroupSettings) string {
		return fmt.Sprintf("index %d, concurrentUpdates %d, rebootIfUpdateRequires %t", s.Index, s.Concurrent, s.Reboot)
	}
	switch {
	case c.Old == nil && c.New == nil:
		return ""
	case c.Old == nil:
		return "Create " + object(c.Group, "") + " of the cluster " + word(c.Cluster) + ": " + settings(*c.New) + "."
	case c.New == nil:
		return "Delete " + object(c.Group, "") + ": " + settings(*c.Old) + "."
	}
	var sets []string
	if c.Old.Index != c.New.Index {
		sets = append(sets, fmt.Sprintf("spec.index from %d to %d", c.Old.Index, c.New.Index))
	}
	if c.Old.Concurrent != c.New.Concurrent {
		sets = append(sets, fmt.Sprintf("spec.concurrentUpdates from %d to %d", c.Old.Concurrent, c.New.Concurrent))
	}
	if c.Old.Reboot != c.New.Reboot {
		sets = append(sets, fmt.Sprintf("spec.rebootIfUpdateRequires from %t to %t", c.Old.Reboot, c.New.Reboot))
	}
	return "Set " + strings.Join(sets, ", ") + " on " + object(c.Group, "") + "."
}

// number is a number, or "(not set)" for nil.
func number(n *int) string {
	if n == nil {
		return "(not set)"
	}
	return strconv.Itoa(*n)
}

// planStepName is what the plan calls the step: its ID, or its name where there are no IDs.
func planStepName(c core.SetCommence) string {
	if c.ID != "" {
		return word(c.ID)
	}
	return word(c.Name)
}

// object names an object so that it can be told from every other: "NodeWorkloadLock openstack-kaas-node-1 (cmp-01), uid 5f2c".
func object(ref core.Ref, label string) string {
	text := kindWord(ref.Kind) + " " + word(ref.Name)
	if label != "" && label != ref.Name {
		text += " (" + word(label) + ")"
	}
	if ref.UID != "" && ref.UID != ref.Name {
		text += ", uid " + word(ref.UID)
	}
	return text
}

// bears is what a lock's status holds besides its state.
func bears(to core.LockStatus) string {
	text := "without a text"
	if to.Message != "" {
		text = "with the text " + quote(to.Message)
	}
	if to.Release != "" {
		text += ", at release " + word(to.Release)
	}
	return text
}

func inRelease(release string) string {
	if release == "" {
		return ""
	}
	return ", release " + word(release)
}

// atFailure says what a batch does when an item fails, and which key changes that.
func atFailure(past bool, key string) string {
	does, otherwise := "it pauses", "it goes on with the next"
	if past {
		does, otherwise = otherwise, does
	}
	if key == "" {
		return "When one fails: " + does + "."
	}
	return "When one fails: " + does + " (" + key + ": " + otherwise + ")."
}

// actionsText are maintenance actions in a sentence.
func actionsText(actions []core.MaintenanceAction) string {
	if len(actions) == 0 {
		return "none"
	}
	list := make([]string, len(actions))
	for i, a := range actions {
		list[i] = string(a)
	}
	return words(list)
}

func kindWord(k core.Kind) string {
	switch k {
	case core.KindNode:
		return "node"
	case core.KindInstance:
		return "instance"
	case core.KindComputeService:
		return "nova-compute of"
	case core.KindVolumeService:
		return "cinder-volume"
	case core.KindPod:
		return "pod"
	}
	return string(k)
}

// doing is what is done with an instance, as the beginning of a sentence.
func doing(c core.InstanceAction) string {
	switch c.Do {
	case core.IntentLiveMigrate:
		return "Live-migrate"
	case core.IntentColdMigrate:
		return "Cold-migrate"
	case core.IntentConfirmResize:
		return "Confirm the cold migration of"
	case core.IntentRevertResize:
		return "Revert the cold migration of"
	case core.IntentStop:
		return "Stop"
	case core.IntentStart:
		return "Start"
	case core.IntentResume:
		return "Resume"
	case core.IntentResetState:
		return "Write ACTIVE into Nova's record of"
	case core.IntentEvacuate:
		return "Evacuate"
	case core.IntentShelve:
		return "Shelve"
	case core.IntentUnshelve:
		return "Unshelve"
	case core.IntentAbortMigration:
		return fmt.Sprintf("Abort migration %d of", c.MigrationID)
	case core.IntentForceComplete:
		return fmt.Sprintf("Force migration %d to complete of", c.MigrationID)
	}
	return string(c.Do)
}

func quoted(s *string) string {
	if s == nil {
		return "(not set)"
	}
	return quote(*s)
}

func orNotSet(s string) string {
	if s == "" {
		return "(not set)"
	}
	return word(s)
}

// mostOfName is how much of a name or of a value a sentence takes, in bytes: the longest name that Kubernetes and Nova allow fits.
const mostOfName = 256

// mostOfItem is how much is shown of an item of a batch, in bytes: a name, and what is done.
const mostOfItem = 2 * mostOfName

// word is a name in a sentence. One that is not plain is in quotes: whoever may name an instance must not be able to end the sentence,
// nor begin another.
func word(s string) string {
	if len(s) > mostOfName || strings.ContainsFunc(s, notOfNames) {
		return quote(s)
	}
	return s
}

func notOfNames(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:/@+~#", r)
}

func words(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = word(n)
	}
	return strings.Join(out, ", ")
}

// quote is a value in quotes. What is in it and cannot be seen, or would end it, is written as an escape; what is too long is cut, and its
// length is said.
func quote(s string) string {
	if len(s) <= mostOfName {
		return strconv.Quote(s)
	}
	n := mostOfName
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strconv.Quote(s[:n]) + "… (" + strconv.Itoa(len(s)) + " bytes)"
}

func truth(b *bool) string {
	if b == nil {
		return "(not set)"
	}
	return fmt.Sprint(*b)
}
